"""Earlier states of a cluster, made from its accounting, from which the errors of forecasts are measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from sim.live.cluster.values import Cluster, ClusterJob

MOST_LOOKS = 5_000_000
"""Largest number of jobs, counted once for each state, that are examined to make states."""


class Earlier:
    """States of a cluster before the picture `cluster`, made from the jobs of the picture and from `ended` jobs.

    A job that has started is taken to have waited for its priority, which is known as of its start. Nodes, partitions,
    reservations and limits are as in the picture.
    """

    def __init__(self, cluster: Cluster, ended: Iterable[ClusterJob]) -> None:
        self._cluster, self._ended = cluster, sorted(ended, key=lambda job: job.end or 0.0)
        self._jobs = {job.id: job for job in (*cluster.jobs, *self._ended)}.values()

    def times(self, since: float, most: int) -> list[float]:
        """Return at most `most` times from the first submission since `since` to the picture, at equal distances."""
        most = min(most, MOST_LOOKS // (len(self._jobs) + 1)) if self._ended else 0
        since = max(since, min((job.submit for job in self._jobs), default=since))
        return [since + (self._cluster.at - since) * place / most for place in range(most)]

    def at(self, time: float) -> Cluster:
        """Return the state of the cluster at a time, without jobs that had ended."""
        jobs = (_at(job, time) for job in self._jobs)
        return replace(self._cluster, at=time, jobs=tuple(job for job in jobs if job is not None))

    def ended(self, since: float, until: float) -> Iterator[ClusterJob]:
        """Yield the jobs that ran and ended after the time `since` and by `until`."""
        return (job for job in self._ended if job.start is not None and since < (job.end or 0.0) <= until)


def _at(job: ClusterJob, time: float) -> ClusterJob | None:
    if time < max(job.submit, job.eligible or 0.0) or (job.has_ended and time >= (job.end or 0.0)):
        return None
    if job.is_waiting:
        return replace(job, start=None, planned_nodes=())
    if job.start is None or time < job.start:
        return replace(job, state="PENDING", reason="Priority", start=None, end=None, nodes=(), cores=())
    return replace(job, state="RUNNING", end=None if job.limit is None else job.start + job.limit)
