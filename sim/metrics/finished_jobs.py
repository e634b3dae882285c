"""Columns of the finished jobs, from which every metric of jobs is computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sim.engine.schedule import Schedule
from sim.workload.categories import TAU
from sim.workload.model import Bools, Floats, Ints, Workload

T = TypeVar("T", np.float64, np.int64, np.bool_)


@dataclass(frozen=True, eq=False)
class FinishedJobs:
    """The jobs with these ranks, all of them finished: waits, turnarounds and slowdowns, one entry a job."""

    schedule: Schedule
    ranks: Ints
    tau: float = TAU

    @classmethod
    def of(cls, source: Schedule | FinishedJobs, killed: bool = True, tau: float = TAU) -> FinishedJobs:
        """Return the finished jobs of a schedule, including killed ones; finished jobs are returned unchanged."""
        if isinstance(source, FinishedJobs):
            return source
        counts = ~np.isnan(source.end)
        if not killed:
            counts = counts & ~source.workload.killed
        return cls(source, np.flatnonzero(counts), tau)

    def where(self, chosen: Bools) -> FinishedJobs:
        """Return only the jobs for which `chosen`, one entry a job of these, is true."""
        return FinishedJobs(self.schedule, self.ranks[chosen], self.tau)

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def workload(self) -> Workload:
        return self.schedule.workload

    def column(self, of_all: NDArray[T]) -> NDArray[T]:
        """Return the entries of these jobs in a column that has one entry for every job of the workload."""
        return of_all[self.ranks]

    @cached_property
    def submit(self) -> Floats:
        return self.column(self.workload.submit)

    @cached_property
    def width(self) -> Ints:
        return self.column(self.workload.width)

    @cached_property
    def run(self) -> Floats:
        """Run times after the overrun rule."""
        return self.column(self.workload.runtime)

    @cached_property
    def estimate(self) -> Floats:
        return self.column(self.workload.estimate)

    @cached_property
    def wait(self) -> Floats:
        return self.column(self.schedule.wait)

    @cached_property
    def lead(self) -> Floats:
        """Return how long before its requested start the job was submitted."""
        return self.column(self.workload.due) - self.submit

    @cached_property
    def turnaround(self) -> Floats:
        return self.column(self.schedule.end) - self.submit

    @cached_property
    def idle(self) -> Floats:
        """Time in the system without progress: the wait, and for preempted jobs all later stops too."""
        return self.turnaround - self.run

    @cached_property
    def slowdown(self) -> Floats:
        return self.turnaround / self.run

    @cached_property
    def bounded_slowdown(self) -> Floats:
        """Return the bounded slowdown as ZKP and K define it; 1 for every job that never idles."""
        return 1 + self.idle / np.maximum(self.run, self.tau)

    @cached_property
    def bounded_slowdown_z(self) -> Floats:
        """Return the bounded slowdown as Z defines it: jobs shorter than tau may idle for a while."""
        return np.maximum(self.turnaround, self.tau) / np.maximum(self.run, self.tau)

    @cached_property
    def width_weighted_slowdown(self) -> Floats:
        """Return ZKP's equation 2: jobs of equal work that end together count the same, whatever their shape."""
        return self.turnaround / (self.width * np.maximum(self.run, self.tau))

    @cached_property
    def recorded_wait(self) -> Floats:
        """Wait of each job as recorded in the trace, in seconds; nan where the trace has none."""
        wait = self.column(self.workload.wait)
        return np.where(wait >= 0, wait, np.nan)
