"""Search for a small and simple workload on which something happens: a rule is broken, or two policies differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic

import numpy as np

from sim.authoring.workloads import random_workload
from sim.comparison.divergence import Side, part
from sim.engine.engine import Engine
from sim.engine.policy_calls import patience
from sim.policies.policy import Policy
from sim.support.errors import SchedscopeError
from sim.workload.model import Workload


def fewest(workload: Workload, happens: Callable[[Workload], bool], seconds: float = 10.0) -> Workload:
    """Return the smallest workload found within `seconds` seconds for which `happens` still returns True."""
    over = monotonic() + seconds
    found, size = workload, max(1, len(workload) // 2)
    while monotonic() < over:
        smaller = next((less for less in _copies_without(found, size) if monotonic() < over and happens(less)), None)
        if smaller is not None:
            found, size = smaller, min(size, max(1, len(smaller) // 2))
        elif size > 1:
            size //= 2
        else:
            break
    for simpler in _SIMPLER:
        made = simpler(found)
        if monotonic() < over and happens(made):
            found = made
    return replace(found, ids=tuple(str(rank + 1) for rank in range(len(found))))


def _copies_without(workload: Workload, size: int) -> Iterator[Workload]:
    """Yield copies that each lack `size` successive jobs, the one without the last jobs first."""
    many = len(workload)
    for begin in range(many - size, -size, -size):
        keep = np.array([rank for rank in range(many) if not max(begin, 0) <= rank < begin + size], dtype=int)
        if 0 < len(keep) < many:
            yield workload.take(keep)


def _whole_times(workload: Workload) -> Workload:
    runtime, estimate = np.ceil(workload.runtime), np.ceil(workload.estimate)
    return replace(workload, submit=np.floor(workload.submit), runtime=runtime, estimate=estimate)


_SIMPLER: tuple[Callable[[Workload], Workload], ...] = (
    lambda w: replace(w, reserve=np.full(len(w), np.nan)),
    lambda w: replace(w, high=np.zeros(len(w), dtype=bool)),
    lambda w: replace(w, user=np.full(len(w), -1), group=np.full(len(w), -1), queue=np.full(len(w), -1)),
    lambda w: replace(w, submit=w.submit - w.submit[0]),
    _whole_times,
    lambda w: replace(w, procs=int(w.width.max(initial=1))),
    lambda w: replace(w, estimate=w.runtime, killed=np.zeros(len(w), dtype=bool)),
    lambda w: replace(w, submit=np.zeros(len(w))),
    lambda w: replace(w, runtime=np.full(len(w), 10.0), estimate=np.full(len(w), 10.0)),
)


TRIED, SHRUNK = 200, 3
"""Largest number of random workloads that are tried, and of workloads with a difference that are made smaller."""


def smallest_difference(first: Policy, second: Policy, seed: int = 0) -> Workload | None:
    """Return the smallest workload found on which the runs of the policies differ, or None."""

    def differ(workload: Workload) -> bool:
        return _differ(first, second, workload)

    drawn = (random_workload(number, seed) for number in range(TRIED))
    found: list[Workload] = []
    for workload in drawn:
        if differ(workload):
            found.append(fewest(workload, differ))
            if len(found) == SHRUNK:
                break
    return min(found, key=len, default=None)


def _differ(first: Policy, second: Policy, workload: Workload) -> bool:
    """Return True if the runs differ; False if they agree or one of the policies fails."""
    try:
        with patience(1.0):
            engines = [Engine(workload, policy, curious=False) for policy in (first, second)]
            for engine in engines:
                engine.run()
    except SchedscopeError:
        return False
    return part(Side.of(engines[0]), Side.of(engines[1])) is not None
