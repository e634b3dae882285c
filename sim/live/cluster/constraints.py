"""Constraints of a job: the nodes that its partitions, features and lists of nodes leave it, its licenses, and requests
that none of its partitions can meet.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from sim.live.cluster.dates import until
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


_GROUP = re.compile(r"\[([^][()]*)\]|\(([^][()]*)\)")
_COUNT = re.compile(r"\*\d+")
_LICENSE = re.compile(r"([^:,]+)(?::(\d{1,9}))?(?=,|$)")
YES, NO = "+", "-"
"""Words that stand for a part of an expression that a node meets, or does not meet."""


def admits(features: Collection[str], wanted: str) -> bool:
    """Return True if a node with these features can be one of the nodes of a job that asks for `wanted`. Of features in
    brackets or with counts, one node needs one.

    >>> [admits(("a", "b"), wanted) for wanted in ("a&b", "c|b", "a&(c|b)", "[a*2&c*1]", "a&c", "c")]
    [True, True, True, True, False, False]
    """
    own = {*features, YES}
    while group := _GROUP.search(wanted):
        inner = group[2] if group[1] is None else group[1].replace("&", "|")
        wanted = f"{wanted[: group.start()]}{YES if _is_met(inner, own) else NO}{wanted[group.end() :]}"
    return _is_met(wanted, own)


def _is_met(wanted: str, own: set[str]) -> bool:
    plain = _COUNT.sub("", wanted)
    wanted = plain if plain == wanted else plain.replace("&", "|")
    return any(own.issuperset(each.split("&")) for each in wanted.split("|"))


def allowed(cluster: Cluster, job: ClusterJob) -> list[Node]:
    """Return the nodes of the job's partitions that its constraints allow, including nodes that take no jobs now."""
    names = {name for each in partitions_of(cluster, job) for name in each.nodes}
    if len(job.required) >= max(job.nodes_wanted, 1):
        names = names.intersection(job.required) if names else set(job.required)
    return [
        node
        for node in cluster.nodes
        if (node.name in names or not names)
        and node.name not in job.excluded
        and (not job.features or admits(node.features, job.features))
    ]


def gone(cluster: Cluster, job: ClusterJob) -> list[Node]:
    return [node for node in cluster.nodes if node.is_gone and node.name in job.required]


def in_words(job: ClusterJob) -> str:
    """Return the job's constraints as text after a noun, such as ` with features fast without n1`; "" for none."""
    features = f" with features {job.features}" if job.features else ""
    required = f" with nodes {listed(job.required)}" if job.required else ""
    return f"{features}{required}" + (f" without {listed(job.excluded)}" if job.excluded else "")


def licenses_of(job: ClusterJob) -> dict[str, int]:
    """Return how many of each license the job requests or holds; nothing if it accepts one of several (`a|b`).

    >>> licenses_of(ClusterJob("1", "1", "PENDING", licenses="matlab:2,ansys"))
    {'matlab': 2, 'ansys': 1}
    """
    found = () if "|" in job.licenses else _LICENSE.findall(job.licenses)
    return {name: int(many or 1) for name, many in found}


def lacking_license(cluster: Cluster, job: ClusterJob) -> str:
    """Return text on a license of which fewer are free than the job requests, and on its holders; "" if none."""
    limits = {limit.name: limit for limit in cluster.limits if limit.kind == "license"}
    for name, wanted in licenses_of(job).items():
        if (limit := limits.get(name)) is not None:
            holders = [(other, held) for other in cluster.running if (held := licenses_of(other).get(name))]
            free = max(limit.most - max(limit.used, sum(held for _, held in holders)), 0)
            if wanted > free:
                told = f"needs {wanted:,} of license {name} > {free:,.0f} free of {limit.most:,.0f}"
                holders.sort(key=lambda each: each[0].end or float("inf"))
                return "; ".join(filter(None, (told, listed(_holding(cluster, holders), 3))))
    return ""


def licenses_in_words(cluster: Cluster, job: ClusterJob) -> str:
    """Return text on the licenses of a job for which Slurm said at its last pass that too few are free."""
    if lacks := lacking_license(cluster, job):
        return lacks
    asked, known = licenses_of(job).keys(), {limit.name for limit in cluster.limits if limit.kind == "license"}
    if asked and asked <= known:
        return f"at Slurm's last pass too few licenses were free; by now there are enough ({job.licenses})"
    return "too few of the licenses that it asks for are free" + (f" ({job.licenses})" if job.licenses else "")


def _holding(cluster: Cluster, holders: list[tuple[ClusterJob, int]]) -> Iterator[str]:
    for other, held in holders:
        yield f"J{other.id} holds {held:,} of it{until(other.end, cluster.at)}"
