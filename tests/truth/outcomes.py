"""The numbers of a run from which its metrics follow, recomputed from starts, ends, stretches and decisions."""

from bisect import bisect_right
from functools import cached_property, partial
from itertools import pairwise
from math import isnan

import numpy as np

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.workload.outages import absent
from tests.truth.runs import Run, Step


class Told:
    """A run, and its numbers."""

    def __init__(self, run: Run) -> None:
        self.run, self.jobs = run, run.workload.jobs
        schedule = run.engine.schedule()
        self.ran: list[float] = run.workload.runtime.tolist()
        self.start, self.end = schedule.start.tolist(), schedule.end.tolist()
        self.done = [rank for rank, end in enumerate(self.end) if not isnan(end)]
        due = [max(job.submit, job.submit if job.reserve is None else job.reserve) for job in self.jobs]
        self.wait = {rank: max(0.0, self.start[rank] - due[rank]) for rank in self.done}
        self.turnaround = {rank: self.end[rank] - self.jobs[rank].submit for rank in self.done}
        self.slowdown = {rank: took / self.ran[rank] for rank, took in self.turnaround.items()}
        self.bounded = {r: 1 + (took - self.ran[r]) / max(self.ran[r], 10) for r, took in self.turnaround.items()}
        self.work = sum(self.jobs[rank].procs * self.ran[rank] for rank in self.done)
        begin, self.finish = (
            self.jobs[0].submit,
            max((self.end[rank] for rank in self.done), default=self.jobs[0].submit),
        )
        self.makespan, self.capacity = self.finish - begin, self.there(begin, self.finish)

    def there(self, begin: float, end: float) -> float:
        """Return the processor seconds that are available between two times."""
        outages, procs = self.run.workload.outages, self.run.workload.procs
        times = sorted({begin, end, *(time for outage in outages for time in outage[:2] if begin < time < end)})
        return sum((procs - absent(outages, since).bit_count()) * (until - since) for since, until in pairwise(times))

    @cached_property
    def held(self) -> list[tuple[float, float, bool]]:
        """Return for the time from each step or requested start to the next one: (available processor seconds, occupied
        ones, True if a job waited)."""
        steps = [step for step in self.run.steps if step.now <= self.finish]
        asked = {job.due for job in self.jobs if job.reserve is not None and steps[0].now < job.due < self.finish}
        times = np.array(sorted(asked.union(step.now for step in steps)))
        held = np.zeros(len(times) - 1)
        for stretch in self.run.engine.history.segments():
            assert stretch.end is not None
            inside = np.minimum(times[1:], stretch.end) - np.maximum(times[:-1], stretch.start)
            held += stretch.processors.bit_count() * np.maximum(inside, 0)
        there = [self.there(since, until) for since, until in pairwise(times.tolist())]
        last = partial(bisect_right, [step.now for step in steps])
        waits = [self._waits(steps[last(time) - 1], time) for time in times[:-1].tolist()]
        return list(zip(there, held.tolist(), waits, strict=True))

    def _waits(self, step: Step, now: float) -> bool:
        waiting = [each.job for each in step.shown.queue]
        ahead = (now < job.due and not self.start[job.rank] <= now for job in waiting)
        return not all(ahead) or bool(step.shown.suspended)

    @property
    def utilization(self) -> float | None:
        return self.work / self.capacity if self.capacity else None

    @property
    def lost(self) -> float | None:
        empty = sum(there - held for there, held, waits in self.held if waits)
        return _more_than_rounding(empty / self.capacity) if self.capacity else None

    @property
    def overhead(self) -> float | None:
        if not self.capacity:
            return None
        return _more_than_rounding((sum(held for _, held, _ in self.held) - self.work) / self.capacity)

    def count(self, *kinds: type) -> int:
        return sum(isinstance(decision, kinds) for step in self.run.steps for decision in step.decisions)

    @property
    def interruptions(self) -> int:
        return interruptions(self.run, len(self.run.steps))

    def backfilled(self) -> int:
        """Return how many jobs were backfilled ahead of others, at their last start."""
        last: dict[int, bool] = {}
        for step in self.run.steps:
            for decision in step.decisions:
                if isinstance(decision, d.Backfill | d.Start):
                    last[decision.job.rank] = last.get(decision.job.rank, False) or isinstance(decision, d.Backfill)
                elif isinstance(decision, m.Place):
                    last.setdefault(decision.job.rank, decision.passes)
                elif isinstance(decision, d.Interrupt):
                    last.pop(decision.job.rank, None)
        return sum(last.values())

    @property
    def late(self) -> list[float]:
        """Return for each job whose user requested a start: by how much later it started, in seconds, at least 0."""
        pairs = [(job.reserve, at) for job, at in zip(self.jobs, self.start, strict=True) if not isnan(at)]
        return [max(0.0, at - asked) for asked, at in pairs if asked is not None]


def _more_than_rounding(share: float) -> float:
    return share if share > 1e-9 else 0.0


def interruptions(run: Run, steps: int) -> int:
    sent_back = {(s.rank, s.end) for s in run.engine.history.stretches() if s.ended_by == "queued"}
    told = [(e.job.rank, step.now) for step in run.steps[:steps] for e in step.decisions if isinstance(e, d.Interrupt)]
    return sum(each not in sent_back for each in told)
