"""Pairing of the jobs of two runs of one trace, in one of which jobs are withdrawn, changed or added, by their ids."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np

from sim.workload.columns import NumberIds
from sim.workload.model import Floats, Ints, Workload


class Pairing(NamedTuple):
    """Pairs of jobs with the same id in two workloads."""

    there: Ints
    """For each job of the first workload, by rank: its rank in the second one; -1 if it does not have the job."""
    here: Ints
    """For each job of the second workload, by rank: its rank in the first one, or -1."""

    @property
    def turned(self) -> Pairing:
        return Pairing(self.here, self.there)

    def on_first(self, values: Floats) -> Floats:
        """Return values by rank in the second workload by rank in the first one; nan for jobs only in the first."""
        found = np.full(len(self.there), np.nan)
        found[self.there >= 0] = values[self.there[self.there >= 0]]
        return found

    def rank(self, rank: int | None) -> int | None:
        """Return the rank in the second workload of a job of the first one, or None."""
        other = -1 if rank is None or rank >= len(self.there) else int(self.there[rank])
        return None if other < 0 else other


def paired(one: Workload, other: Workload) -> Pairing | None:
    """Return which jobs are the same; None if all are, with the same ranks.

    >>> from sim.workload.replay import read
    >>> paired(read("z-figure4"), read("z-figure4", without="J2", add="1x1m@0")).there.tolist()
    [0, -1, 2, 3, 4]
    """
    if one is other or one.ids is other.ids or one.ids == other.ids:
        return None
    there, here = np.full(len(one), -1, np.int64), np.full(len(other), -1, np.int64)
    if isinstance(one.ids, NumberIds) and isinstance(other.ids, NumberIds):
        first, second = (np.unique(ids.numbers, return_index=True) for ids in (one.ids, other.ids))
        if len(first[0]) == len(one) and len(second[0]) == len(other):
            _, own, other_one = np.intersect1d(first[0], second[0], assume_unique=True, return_indices=True)
            there[first[1][own]], here[second[1][other_one]] = second[1][other_one], first[1][own]
            return Pairing(there, here)
    seen: Counter[str] = Counter()
    places: dict[tuple[str, int], int] = {}
    for rank, job in enumerate(other.ids):  # an id may stand twice in a trace
        places[job, seen[job]] = rank
        seen[job] += 1
    seen.clear()
    for rank, job in enumerate(one.ids):
        if (found := places.get((job, seen[job]))) is not None:
            there[rank], here[found] = found, rank
        seen[job] += 1
    return Pairing(there, here)
