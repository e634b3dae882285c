"""Text about one node of an observed cluster: what of it is taken, and by which jobs."""

from __future__ import annotations

from collections.abc import Iterator

from sim.live.cluster.dates import date
from sim.live.cluster.room import barred
from sim.live.cluster.values import Cluster, Node
from sim.support.formatting import count, name, printable

MOST_JOBS = 50
"""Largest number of jobs that are listed; of further jobs only the number is given."""


def taken_of(cluster: Cluster, node: Node) -> str:
    """Return text on how much of each resource of a node is taken, such as `3 of 4 cores, 6,000 of 16,000 MB`."""
    taken = [f"{cluster.taken.get(node.name, 0)} of {count(node.cpus, 'core')}"]
    taken += [f"{node.gpus_taken} of {count(node.gpus, 'GPU')}"] if node.gpus else []
    taken += [f"{node.memory_taken:,} of {node.memory:,} MB"] if node.memory else []
    return ", ".join(taken)


def state_of(cluster: Cluster, node: Node) -> str:
    """Return the node's state with the administrator's reason, or why no waiting job can use it."""
    told = printable(f"{'+'.join(sorted(node.states)).lower() or 'unknown state'} {node.reason}").strip()
    cause = barred(cluster).get(node.name)
    return told if cause is None else f"{told}; no waiting job has room here: {cause}"


def node_lines(cluster: Cluster, node_name: str) -> Iterator[str]:
    """Yield sentences about the node with this name: its resources, its state, and the jobs on it."""
    node = cluster.node_of.get(node_name)
    if node is None:
        yield "The picture on the screen does not list this node."
        return
    yield f"{taken_of(cluster, node)} taken; {state_of(cluster, node)}."
    if node.partitions:
        yield f"In {count(len(node.partitions), 'partition')}: {printable(', '.join(node.partitions))}."
    here = [job for job in cluster.running if node_name in job.nodes]
    for job in here[:MOST_JOBS]:
        cores = sum(held.mask.bit_count() for held in job.cores if held.node == node_name)
        much = count(cores, "core") if cores else f"some of {count(job.cpus, 'core')}"
        until = "" if job.end is None else f", until {date(job.end, cluster.at)} at most"
        whose = " ".join(filter(None, map(printable, (job.name, job.user and f"of {job.user}"))))
        yield f"{printable(name(job))} {whose}: {much}{until}."
    if len(here) > MOST_JOBS:
        yield f"And {count(len(here) - MOST_JOBS, 'other job')}."
    if not here:
        yield "No job runs here."
