"""Columns with the data of the finished jobs, from which all metrics of jobs are computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sim.engine.schedule import Schedule
from sim.workload.categories import TAU
from sim.workload.columns import narrow
from sim.workload.model import Bools, Floats, Ints, Workload

T = TypeVar("T", np.float64, np.int64, np.bool_)


@dataclass(frozen=True, eq=False)
class FinishedJobs:
    """Finished jobs, in order of rank, with a column for each quantity, such as wait, turnaround and slowdown."""

    schedule: Schedule
    ranks: Ints
    tau: float = TAU

    @classmethod
    def of(cls, source: Schedule | FinishedJobs, killed: bool = True, tau: float = TAU) -> FinishedJobs:
        """Return the finished jobs of a schedule, without killed ones if `killed=False`; finished jobs as they are."""
        if isinstance(source, FinishedJobs):
            return source
        counts = ~np.isnan(source.end)
        if not killed:
            counts = counts & ~source.workload.killed
        return cls(source, narrow(np.flatnonzero(counts)), tau)

    def where(self, chosen: Bools) -> FinishedJobs:
        return FinishedJobs(self.schedule, self.ranks[chosen], self.tau)

    def __len__(self) -> int:
        return len(self.ranks)

    @property
    def workload(self) -> Workload:
        return self.schedule.workload

    def column(self, of_all: NDArray[T]) -> NDArray[T]:
        return of_all if len(self.ranks) == len(of_all) else of_all[self.ranks]

    @cached_property
    def submit(self) -> Floats:
        return self.column(self.workload.submit)

    @cached_property
    def width(self) -> Ints:
        return self.column(self.workload.width)

    @cached_property
    def run(self) -> Floats:
        """Return the run times in seconds, at most the estimates if jobs are killed at these."""
        return self.column(self.workload.runtime)

    @cached_property
    def estimate(self) -> Floats:
        return self.column(self.workload.estimate)

    @cached_property
    def wait(self) -> Floats:
        return self.column(self.schedule.wait)

    @cached_property
    def lead(self) -> Floats:
        """Return the seconds from each job's submission to its requested start, 0 if it requested none."""
        return self.column(self.workload.due) - self.submit

    @cached_property
    def turnaround(self) -> Floats:
        return self.column(self.schedule.end) - self.submit

    @cached_property
    def idle(self) -> Floats:
        """Return the seconds in the system beyond the run time: waiting, suspended, in the matrix without progress."""
        return self.turnaround - self.run

    @cached_property
    def slowdown(self) -> Floats:
        return self.turnaround / self.run

    @cached_property
    def bounded_slowdown(self) -> Floats:
        """Return the bounded slowdowns after Zotkin et al. and Kettimuthu; 1 for a job that never waits."""
        return 1 + self.idle / np.maximum(self.run, self.tau)

    @cached_property
    def bounded_slowdown_z(self) -> Floats:
        """Return the bounded slowdowns after Zhang et al. (2000); 1 for a turnaround up to tau, even with a wait."""
        return np.maximum(self.turnaround, self.tau) / np.maximum(self.run, self.tau)

    @cached_property
    def width_weighted_slowdown(self) -> Floats:
        """Return turnaround / (processors * max(run time, tau)) after Zotkin et al., equation 2."""
        return self.turnaround / (self.width * np.maximum(self.run, self.tau))

    @cached_property
    def recorded_wait(self) -> Floats:
        """Return the wait of each job in seconds as recorded in the trace; nan if it is not recorded."""
        wait = self.column(self.workload.wait)
        return np.where(wait >= 0, wait, np.nan)
