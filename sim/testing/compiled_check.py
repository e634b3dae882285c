"""Comparison of a compiled policy with its file: whether schedules are the same, and how much faster they are made."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import NamedTuple

from sim.comparison.comparison_sentences import how_it_differs
from sim.comparison.divergence import Side, part
from sim.core.engine import Engine
from sim.forecast.replay import read
from sim.formatting import clock
from sim.policies.policy import Policy
from sim.testing import trials
from sim.workload.model import Workload

TIMED = "lublin-320"
REPEATS = 3
COUNT = 100
"""Number of random workloads that are compared, besides the samples."""


class Speed(NamedTuple):
    """Processor time in seconds of a run of the workload `TIMED`, not compiled and compiled; each value is the least of
    several measurements.
    """

    plain: float
    compiled: float

    @property
    def gain(self) -> float:
        return self.plain / self.compiled


def different(plain: Policy, compiled: Policy, on_try: Callable[[], None] = lambda: None) -> str | None:
    """Return text on the first difference between the schedules of both policies; None if they agree.

    They are compared on random workloads and the samples; `on_try` is called before each.
    """
    for workload in trials(COUNT, 0):
        on_try()
        one, two = (_run(workload, policy) for policy in (plain, compiled))
        if (parting := part(Side.of(one), Side.of(two))) is not None:
            return f"{workload.name}, {clock(parting.time)}: {how_it_differs(parting, workload)}"
    return None


def measured_speed(plain: Policy, compiled: Policy) -> Speed:
    """Return the times of both policies; their runs alternate, so that other load on the machine affects both alike."""
    workload = read(TIMED)
    times = [(_seconds(workload, plain), _seconds(workload, compiled)) for _ in range(REPEATS)]
    return Speed(*map(min, zip(*times, strict=True)))


def _seconds(workload: Workload, policy: Policy) -> float:
    began = process_time()
    _run(workload, policy)
    return process_time() - began


def _run(workload: Workload, policy: Policy) -> Engine:
    engine = Engine(workload, policy, curious=False)
    engine.run()
    return engine
