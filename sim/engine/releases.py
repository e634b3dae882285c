"""Submissions in a run in which some jobs are submitted only when other jobs have started or ended.

A job that waits for others in this way is submitted when its condition is met. Its `Job` then has this time as its
submit time, and all waits count from there. Ranks are those of the trace, so here they do not give the order of
submissions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from heapq import heappop, heappush
from math import inf

from sim.workload.follows import After, Follows, failing
from sim.workload.model import Floats, Job, Jobs, Workload


class Releases:
    """Times at which the jobs of a run are submitted, as far as they are known now. Each checkpoint has a copy of this
    object.
    """

    def __init__(self, workload: Workload) -> None:
        follows = workload.follows
        self._follows: Follows = follows
        self._submit: list[float] = workload.submit.tolist()
        self._own = [rank for rank, follow in enumerate(follows) if follow is None]
        """Ranks of the jobs with a fixed submit time, in order of these times"""
        self._behind: dict[int, list[tuple[int, After]]] = defaultdict(list)
        """For the rank of each awaited job: the jobs that wait for it, as (rank, part of the condition of the job with
        this rank)
        """
        for rank, follow in enumerate(follows):
            for part in {*follow.after} if follow else ():
                self._behind[part.job].append((rank, part))
        self._fails: list[bool] = failing(workload.killed, workload.status).tolist()
        self.came = 0
        """Number of jobs at the beginning of `_own` that have been submitted so far"""
        self._due: list[tuple[float, int]] = []
        """Heap of (submit time, rank) of the jobs whose condition is met but whose submit time is still in the
        future
        """
        self._left: dict[int, int] = {}
        """For the rank of each job whose condition is met in part: number of parts that are not met yet"""
        self._latest: dict[int, float] = {}
        """For the rank of each job in `_left`: latest time at which a part of its condition becomes true"""
        self._missed: dict[int, int] = defaultdict(int)
        """For the rank of each job: number of parts of its condition that cannot be met any more"""
        self.hopeless: set[int] = set()
        """Ranks of the jobs whose condition cannot be met any more. They are submitted at once, to be cancelled"""
        self._begun: set[int] = set()
        """Ranks of the jobs that have started and whose start other jobs waited for"""
        self.released: dict[int, float] = {}
        """For the rank of each job that was submitted because its condition was met: its submit time"""
        self.last: float = inf
        """Highest rank of a job that may be submitted, to stop the arrivals there; inf for all jobs"""

    def copy(self) -> Releases:
        twin = Releases.__new__(Releases)
        twin._follows, twin._submit, twin._own, twin._behind = self._follows, self._submit, self._own, self._behind
        twin.came, twin.last, twin._due = self.came, self.last, self._due.copy()
        twin._fails, twin._missed, twin.hopeless = self._fails, self._missed.copy(), self.hopeless.copy()
        twin._left, twin.released = self._left.copy(), self.released.copy()
        twin._latest, twin._begun = self._latest.copy(), self._begun.copy()
        return twin

    def next_time(self) -> float:
        """Return the earliest time of a submission that is known now; inf if none is known."""
        while self._due and (self._due[0][1] > self.last or self._due[0][1] in self.released):
            heappop(self._due)
        due = self._due[0][0] if self._due else inf
        if self.came < len(self._own) and (rank := self._own[self.came]) <= self.last:
            return min(due, self._submit[rank])
        return due

    @property
    def submitted(self) -> int:
        """Return the highest rank of a submitted job, plus 1; 0 before the first submission."""
        own = self._own[self.came - 1] if self.came else -1
        return max(own, max(self.released, default=-1)) + 1

    def has_come(self, rank: int) -> bool:
        return rank in self.released if self._follows[rank] else bisect_left(self._own, rank) < self.came

    def after(self, submit: float, rank: int) -> int:
        """Return how many jobs have been submitted after the job `rank`, whose submit time is `submit`; of jobs that
        were submitted at the same time, those of higher ranks.
        """
        before = bisect_right(self._own, (submit, rank), hi=self.came, key=lambda own: (self._submit[own], own))
        many = self.came - before
        for other in reversed(self.released):  # the last ones submitted come first
            if (time := self.released[other]) < submit:
                break
            many += (time, other) > (submit, rank)
        return many

    def come(self, now: float) -> list[tuple[int, float]]:
        """Submit the jobs that are due at `now`; return (rank, submit time) of each."""
        found = list[tuple[int, float]]()
        while (time := self.next_time()) <= now:
            if self._due and self._due[0][0] == time:
                found.append((heappop(self._due)[1], time))
                self.released[found[-1][0]] = time
            else:
                found.append((self._own[self.came], time))
                self.came += 1
        return sorted(found)

    def began(self, rank: int, now: float) -> None:
        if rank in self._behind and rank not in self._begun:
            self._begun.add(rank)
            for other, part in self._behind[rank]:
                if part.outcome == "start":
                    self._condition_met(other, now + part.delay)

    def ended(self, rank: int, now: float, is_cancelled: bool = False) -> None:
        """Note that a job has ended, or was cancelled and will never run, so that jobs that wait for it can be
        submitted. Jobs that wait for another outcome become hopeless.
        """
        is_bad = is_cancelled or self._fails[rank]
        for other, part in self._behind.get(rank, ()):
            if part.outcome == "start" and rank in self._begun:
                continue
            if part.is_met_by(is_bad):
                self._condition_met(other, now)
            else:
                self._miss(other, now)

    def _miss(self, other: int, now: float) -> None:
        follow = self._follows[other]
        assert follow is not None
        self._missed[other] += 1
        if other not in self.released and (not follow.is_any or self._missed[other] == len({*follow.after})):
            self.hopeless.add(other)
            heappush(self._due, (now, other))

    def _condition_met(self, other: int, time: float) -> None:
        follow = self._follows[other]
        assert follow is not None
        latest = max(self._latest.pop(other, time), time)
        left = 0 if follow.is_any else self._left.pop(other, len({*follow.after})) - 1
        if left:
            self._left[other], self._latest[other] = left, latest
        else:
            heappush(self._due, (max(follow.due(self._submit[other], latest), time), other))

    def jobs_of(self, jobs: Jobs) -> Jobs:
        own = jobs.copy()
        for rank, time in self.released.items():
            resubmit(own, rank, time)
        return own

    def submits(self, submit: Floats) -> Floats:
        """Return the submit times of all jobs, by rank: those of this run if known, otherwise `submit`."""
        times = submit.copy()
        times[[*self.released]] = [*self.released.values()]
        return times


def resubmit(jobs: Jobs, rank: int, time: float) -> Job:
    """Change the submit time of the job `rank` in `jobs` to `time`; return the changed job."""
    jobs.made[rank] = job = jobs[rank].replaced(submit=time)
    return job
