"""Text on requests that none of a job's partitions can meet, and on other partitions that could."""

from __future__ import annotations

from collections.abc import Iterator

from sim.live.cluster.values import Cluster, ClusterJob, Node, Partition
from sim.support.formatting import count, listed, span


def partitions_of(cluster: Cluster, job: ClusterJob) -> list[Partition]:
    names = job.partition.split(",")
    return [each for each in cluster.partitions if each.name in names]


def misfit(cluster: Cluster, job: ClusterJob) -> str:
    """Return text on the requests that the job's partitions cannot meet; "" if one of them can meet all requests."""
    told = [list(_misfits(cluster, job, each)) for each in partitions_of(cluster, job)]
    if not told or not all(told):
        return ""
    others = [each for each in cluster.partitions if each.state == "UP" and not list(_misfits(cluster, job, each))]
    hint = f"; {listed(each.name for each in others)} would allow it" if others else ""
    return f"asks for {listed(part for each in told for part in each)}{hint}"


def _misfits(cluster: Cluster, job: ClusterJob, partition: Partition) -> Iterator[str]:
    name = partition.name
    nodes = [cluster.node_of[each] for each in partition.nodes if each in cluster.node_of]
    cpus, many = sum(node.cpus for node in nodes), len(nodes)
    if partition.max_time is not None and job.limit is not None and job.limit > partition.max_time:
        yield f"{span(job.limit)} > {span(partition.max_time)}, the limit of partition {name}"
    if job.nodes_wanted > (most := min(partition.max_nodes or many, many)) > 0:
        yield f"{count(job.nodes_wanted, 'node')} > {most:,} of partition {name}"
    elif job.cpus > cpus > 0:
        yield f"{count(job.cpus, 'core')} > {cpus:,} of partition {name}"
    if nodes and job.memory > (memory := max(node.memory for node in nodes)) > 0:
        yield f"{job.memory:,} MB of memory > {memory:,} MB, the most of a node of partition {name}"
    if nodes and job.gpus > (gpus := _gpus(nodes, job)):
        yield f"{count(job.gpus, 'GPU')} > {gpus:,} of partition {name}"
    if partition.allowed_accounts and job.account not in partition.allowed_accounts:
        yield f"account {job.account}, which partition {name} does not allow"


def _gpus(nodes: list[Node], job: ClusterJob) -> int:
    return sum(sorted((node.gpus for node in nodes), reverse=True)[: max(job.nodes_wanted, 1)])
