"""Past of a cluster: run times of past jobs in proportion to limits, and earlier states, made from its accounting."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from sim.live.cluster.values import Cluster, ClusterJob

KEPT = 200
"""Largest number of the latest past jobs that are remembered for each user, and for all users together."""
MOST_KNOWN = 50_000
"""Largest number of past jobs whose ids are remembered, so that none counts twice; the latest ones are kept."""
ENOUGH = 5
"""Smallest number of past jobs from which a run time is learnt. If a user has fewer, past jobs of all users are taken;
if these are too few as well, the time limit is taken as the run time.
"""


class PastJobs:
    """Run times of jobs that have ended, for each user and for all users. A job that is added twice counts once."""

    def __init__(self, jobs: Iterable[ClusterJob] = ()) -> None:
        self._shares: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=KEPT))
        self._known: dict[str, None] = {}
        self._ran: Mapping[str, ClusterJob] = {}
        """Jobs that ran at the latest picture, by id."""
        self._at = 0.0
        for job in jobs:
            self.add(job)

    def __len__(self) -> int:
        return len(self._known)

    def see(self, cluster: Cluster) -> None:
        """Add the next picture (polled state) of the cluster, in order of time, and its jobs that have ended.

        A job that ran at the picture before and is no longer listed ended between the two, in the middle as a guess.
        """
        for job in cluster.jobs:
            self.add(job)
        for id, job in self._ran.items():
            if id not in cluster.job_of:
                end = (self._at + cluster.at) / 2
                self.add(replace(job, state="ENDED", end=min(end, job.end or end)))
        self._ran, self._at = {job.id: job for job in cluster.jobs if job.is_running}, cluster.at

    def add(self, job: ClusterJob) -> None:
        """Add a job if it ended by itself or at its time limit, so that its run time is known."""
        if not job.has_ended or job.id in self._known or job.start is None or job.end is None or not job.limit:
            return
        if job.state == "CANCELLED" or job.end <= job.start:
            return
        self._known[job.id] = None
        if len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        share = min((job.end - job.start) / job.limit, 1.0)
        self._shares[job.user].append(share)
        self._shares[""].append(share)

    def length(self, job: ClusterJob, quantile: float, so_far: float = 0.0) -> float | None:
        """Return a run time in seconds that the share `quantile` of comparable past jobs did not exceed. Run times are
        compared as shares of the jobs' time limits.

        A job that has already run for `so_far` seconds is compared only with past jobs that ran longer than that,
        relative to their limits. The result is None if the job has no limit, and the limit itself if too few past jobs
        are known.

        >>> from dataclasses import replace
        >>> done = ClusterJob("1", "1", "COMPLETED", user="a", limit=100, start=0)
        >>> jobs = [replace(done, id=str(n), end=10.0 * n) for n in range(1, 9)]
        >>> past, new = PastJobs(jobs), ClusterJob("9", "9", "PENDING", user="a", limit=1000)
        >>> past.length(new, 0.5), past.length(new, 0.5, so_far=250), past.length(new, 0.9, so_far=790)
        (500.0, 600.0, 1000)
        """
        if not job.limit:
            return None
        for user in (job.user, ""):
            known = tuple(self._shares.get(user, ()))  # copied at once: another thread may add to it
            shares = sorted(share for share in known if share * job.limit > so_far)
            if len(shares) >= ENOUGH:
                return shares[min(int(quantile * len(shares)), len(shares) - 1)] * job.limit
        return job.limit


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
