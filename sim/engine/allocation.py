"""Data of a job that is on processors (a stay), as the engine keeps it. A policy sees it as a `RunningJob`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeAlias

from sim.history.stretch import RUN, SPECULATIVE
from sim.workload.model import Job


class Allocation(NamedTuple):
    """Stay of a job on processors: its beginning, and its end as expected from the estimate. The true end is not stored
    here.
    """

    job: Job
    since: float
    expected_end: float
    kind: int
    """Kind of the stay, such as an ordinary or a speculative run, as index into `sim.history.stretch.KINDS`."""
    stretch: int
    """Number of the stretch that records this stay in the history."""
    ran_before: float = 0.0

    def ran_by(self, now: float) -> float:
        return self.ran_before + now - self.since if self.kind in (RUN, SPECULATIVE) else self.ran_before

    @property
    def runs(self) -> bool:
        return self.kind == RUN


_Values: TypeAlias = tuple[Job, float, float, int, int, float]
allocated: Callable[[_Values], Allocation] = partial(tuple.__new__, Allocation)
"""Fast constructor of an `Allocation` from a tuple with all its values. It is fast because it is called at every
start
"""
