"""Tiers and factors of jobs in Slurm's priority, from their partitions and qualities of service."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any


class Ranked:
    """Part of a machine's shape that knows which jobs come before others."""

    groups: tuple[Any, ...]
    requests: tuple[Any, ...]
    qos: tuple[tuple[str, int], ...]

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """Return the highest tier (`priority`) of each job's partitions, by rank, 0 without a partition; empty if all
        jobs have the same. Jobs that must start in a reservation come before all others, as in Slurm.
        """
        confined = [request.admitted.within >= 0 for request in self.requests]
        tiers = [*map(int, self._best([group.priority for group in self.groups]))]
        if not any(confined):
            return tuple(tiers)
        first = max(tiers, default=0) + 1
        return tuple(first if own else tier for own, tier in zip(confined, tiers or [0] * len(confined), strict=True))

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """Return the highest factor of each job's partitions, divided by the highest of all partitions, by rank, 0
        without a partition; empty if all jobs have the same.
        """
        most = max((group.factor for group in self.groups), default=0)
        return self._best([group.factor / most for group in self.groups]) if most else ()

    @cached_property
    def qos_factors(self) -> tuple[float, ...]:
        """Return the priority of each job's quality of service, divided by the highest of all, by rank; empty if all
        jobs have the same.
        """
        known = dict(self.qos)
        most = max(known.values(), default=0)
        found = tuple(known.get(request.qos, 0) / most for request in self.requests) if most else ()
        return found if len({*found}) > 1 else ()

    def _best(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return the highest of its partitions' values for each job; empty if all jobs have the same."""
        if not values or (len({*values}) < 2 and all(bool(request.groups) for request in self.requests)):
            return ()
        found = tuple(max((values[n] for n in request.groups), default=0.0) for request in self.requests)
        return found if len({*found}) > 1 else ()
