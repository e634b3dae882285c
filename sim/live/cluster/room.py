"""Nodes with room for a waiting job now: which resource too few have, and how many are kept for jobs ahead."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sim.live.cluster.dates import date
from sim.live.cluster.values import Cluster, ClusterJob, Node
from sim.support.formatting import count

_MEMORY = re.compile(r"(?:^|,)mem=(\d{1,15})([KMGT]?)")
_IN_MB = {"K": 1 / 1024, "": 1, "M": 1, "G": 1024, "T": 1024**2}


class Amounts(NamedTuple):
    """Amounts of a node's resources: cores, memory in MB, GPUs."""

    cores: int
    memory: int
    gpus: int

    def holds(self, share: Amounts) -> bool:
        """Return True if `share`, which is what a job needs on one node, fits into these amounts."""
        return all(have >= need for have, need in zip(self, share, strict=True))


def share_of(job: ClusterJob) -> Amounts:
    """Return what a waiting job needs on each of its nodes, if it takes as few nodes as it may.

    >>> share_of(ClusterJob("1", "1", "PENDING", cpus=6, nodes_wanted=2, gpus=1, tres="cpu=6,mem=4G,node=2"))
    Amounts(cores=3, memory=2048, gpus=1)
    """
    nodes = max(job.nodes_wanted, 1)
    told = _MEMORY.search(job.tres)
    memory = job.memory if told is None else int(int(told[1]) * _IN_MB[told[2]] / nodes)
    return Amounts(max(job.cpus // nodes, 1), memory, job.gpus)


def free_on(cluster: Cluster, node: Node) -> Amounts:
    return Amounts(
        max(node.cpus - cluster.taken.get(node.name, 0), 0),
        max(node.memory - node.memory_taken, 0) if node.memory else 2**62,
        max(node.gpus - node.gpus_taken, 0),
    )


def fitting(cluster: Cluster, job: ClusterJob, nodes: Iterable[Node]) -> list[Node]:
    share = share_of(job)
    return [node for node in nodes if free_on(cluster, node).holds(share)]


def cores_for(cluster: Cluster, job: ClusterJob, node: Node) -> int:
    """Return the free cores of the node, with memory, that a job which accepts any number of nodes could use."""
    free, share = free_on(cluster, node), share_of(job)
    if 0 < job.memory < share.memory:  # it is for each core
        return min(free.cores, free.memory // job.memory)
    return free.cores if free.memory >= share.memory else 0


def shortage(cluster: Cluster, job: ClusterJob, nodes: Sequence[Node]) -> str:
    """Return text on the free cores and on the resource that too few of the nodes have, such as `19 cores are free on
    7 nodes, none with 4 GPUs`; "" if enough nodes have everything.
    """
    share, wanted = share_of(job), max(job.nodes_wanted, 1)
    free = [found for found in (free_on(cluster, node) for node in nodes) if found.cores]
    if sum(found.holds(share) for found in free) >= wanted:
        return ""
    if not free:
        return "no core is free on its nodes"
    if job.may_spread and not job.gpus:
        usable = sum(cores_for(cluster, job, node) for node in nodes)
        total, verb = sum(found.cores for found in free), "is" if sum(found.cores for found in free) == 1 else "are"
        some = f"{usable:,}" if usable else "none"
        what = f", {some} of them with the memory that it needs" if usable < min(total, job.cpus) else ""
        told = f"{count(total, 'core')} {verb} free on {count(len(free), 'node')}{what}"
        return "" if usable >= job.cpus else told
    wide = [found for found in free if found.cores >= share.cores]
    able = [len(wide), *(sum(found[kind] >= share[kind] for found in wide) for kind in (1, 2))]
    kind = min((kind for kind in (0, 2, 1) if share[kind]), key=lambda kind: able[kind] if kind else able[0] - 0.5)
    amount = (count(share.cores, "free core"), f"{share.memory:,} MB of memory", count(share.gpus, "GPU"))[kind]
    total, verb = sum(found.cores for found in free), "is" if sum(found.cores for found in free) == 1 else "are"
    short = f"{able[kind]:,} of {wanted:,} needed" if able[kind] else "none"
    return f"{count(total, 'core')} {verb} free on {count(len(free), 'node')}, {short} with {amount}"


def kept(cluster: Cluster, job: ClusterJob, nodes: Sequence[Node], before: Iterable[ClusterJob]) -> str:
    """Return text on the nodes that have room for the job now, but are planned for jobs ahead of it (`before`), such as
    `12 of 16 fitting nodes are kept for J17 from 14:05`.

    Only plans that begin before the job would end count. The text is "" if enough fitting nodes stay free. For a job
    that may spread over more nodes, cores are counted.
    """
    end = cluster.at + (job.limit or float("inf"))
    is_spread = job.may_spread and not job.gpus
    room = {node.name: cores_for(cluster, job, node) for node in nodes} if is_spread else {}
    able = {name for name, cores in room.items() if cores} or {node.name for node in fitting(cluster, job, nodes)}
    holders: dict[str, set[str]] = {}
    starts: dict[str, float] = {}
    for other in before:
        if other.is_planned and other.start is not None and other.start < end:
            own = able.intersection(other.planned_nodes).difference(*holders.values())
            if own:
                holders[other.id], starts[other.id] = own, other.start
    held = sum(map(len, holders.values()))
    cores, total = sum(room[name] for own in holders.values() for name in own) if room else 0, sum(room.values())
    left, needed = (total - cores, job.cpus) if room else (len(able) - held, max(job.nodes_wanted, 1))
    if not held or left >= needed:
        return ""
    first = max(holders, key=lambda id: (len(holders[id]), -starts[id]))
    more = f" and {count(len(holders) - 1, 'other job')}" if len(holders) > 1 else ""
    many = f"{held:,} of {count(len(able), 'fitting node')} {'is' if held == 1 else 'are'}"
    if held == len(able):
        many = {1: "the only fitting node is", 2: "both fitting nodes are"}.get(held, f"all {held:,} fitting nodes are")
    if room:
        whole = f"all {total:,} free cores" if cores == total else f"{cores:,} of {count(total, 'free core')}"
        many = f"{'the only free core' if total == 1 else whole} that it could use {'is' if cores == 1 else 'are'}"
    return f"{many} kept for J{first} from {date(starts[first], cluster.at)}{more}"


def barred(cluster: Cluster) -> dict[str, str]:
    """Return a mapping from node name to cause, for each available node whose free cores no waiting job can use; empty
    if no job waits.

    If jobs have different causes, the first of these is given: too little memory, too few GPUs, too few cores, other
    partitions. Features and reservations are not counted.
    """
    shares: dict[str, set[Amounts]] = {}
    for job in cluster.queue:
        for name in job.partition.split(","):
            shares.setdefault(name, set()).add(share_of(job))
    least = {name: _least(found) for name, found in shares.items()}
    if not least:
        return {}
    found: dict[str, str] = {}
    for node in cluster.nodes:
        free = free_on(cluster, node)
        if node.is_gone or not free.cores:
            continue
        own = [share for name in (node.partitions or tuple(least)) for share in least.get(name, ())]
        if any(free.holds(share) for share in own):
            continue
        causes = {_cause(free, share) for share in own}
        found[node.name] = next((cause for cause in CAUSES if cause in causes), CAUSES[-1])
    return found


CAUSES = ("too little memory is free", "too few GPUs are free", "too few cores are free", "all are of other partitions")


def _cause(free: Amounts, share: Amounts) -> str:
    if free.cores < share.cores:
        return CAUSES[2]
    return CAUSES[0] if free.memory < share.memory else CAUSES[1]


def _least(shares: set[Amounts]) -> list[Amounts]:
    found, stairs = list[Amounts](), list[tuple[int, int]]()  # GPUs and memory of those found: more GPUs, less memory
    for share in sorted(shares):
        first, last = bisect_left(stairs, (share.gpus,)), bisect_right(stairs, (share.gpus, share.memory))
        if last and stairs[last - 1][1] <= share.memory:
            continue
        found.append(share)
        while last < len(stairs) and stairs[last][1] >= share.memory:
            last += 1
        stairs[first:last] = [(share.gpus, share.memory)]
    return found
