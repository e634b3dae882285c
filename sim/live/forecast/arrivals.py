"""Jobs that will still arrive: how much of its nodes others took in the last hour that would start before a job."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from itertools import accumulate
from math import inf

from sim.live.cluster.queue_order import tier_of
from sim.live.cluster.values import Cluster, ClusterJob

HOUR = 3600.0
"""Seconds of the past whose arrivals are expected to come again."""
LEAST = 300.0
"""Smallest number of seconds in which arrivals are counted, so that the first few are not taken for many."""


class Arrivals:
    """Jobs that arrived in the last hour, each as it was when it was first known with a priority."""

    def __init__(self) -> None:
        self._came: dict[str, ClusterJob] = {}
        self._first = inf
        """Time of the first picture. Not all jobs that arrived before it are known."""

    def add(self, job: ClusterJob) -> None:
        if job.priority and job.submit > self._first:
            self._came.setdefault(job.id, job)

    def see(self, cluster: Cluster) -> None:
        """Note the time of the next picture, in order of time, and forget jobs that arrived over an hour before."""
        self._first = min(self._first, cluster.at)
        self._came = {id: job for id, job in self._came.items() if job.submit > cluster.at - HOUR}

    def overtaking(self, cluster: Cluster, length: Callable[[ClusterJob], float]) -> dict[str, float]:
        """Return the share (0 to 1) of its partitions' core time that arrivals take before each waiting job, by id.

        The arrivals are those of the last hour with a higher tier or priority. Each runs for `length` seconds.
        """
        since, came = max(cluster.at - HOUR, self._first), tuple(self._came.values())
        asked = [(job, (tier_of(cluster, job), job.priority), job.cpus * length(job)) for job in came]
        known, shares = dict[str, tuple[list[tuple[int, int]], list[float], float]](), dict[str, float]()
        for job in cluster.queue:
            if job.partition not in known:
                names = job.partition.split(",")
                near = {other for name in names for other in cluster.sharing.get(name, (name,))}
                there = sorted((rank, work) for each, rank, work in asked if near & {*each.partition.split(",")})
                nodes = {node for each in cluster.partitions if each.name in names for node in each.nodes}
                cores = sum(node.cpus for node in cluster.nodes if node.name in nodes and not node.is_gone)
                sums = [*accumulate((work for _, work in there), initial=0.0)]
                known[job.partition] = [rank for rank, _ in there], sums, cores * max(cluster.at - since, LEAST)
            ranks, sums, whole = known[job.partition]
            later = sums[-1] - sums[bisect_right(ranks, (tier_of(cluster, job), job.priority))]
            shares[job.id] = min(later / whole, 1.0) if whole else 0.0
        return shares
