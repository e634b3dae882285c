"""Search for a smaller and simpler workload on which something still happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from time import monotonic

import numpy as np

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
