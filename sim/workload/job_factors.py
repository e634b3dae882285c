"""Tiers and factors of jobs in Slurm's priority, from their partitions and qualities of service."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any


class Ranked:
    """Base class of a machine's shape, with the properties that decide which jobs come before others in Slurm's
    priority.
    """

    nodes: tuple[Any, ...]
    groups: tuple[Any, ...]
    requests: tuple[Any, ...]
    qos: tuple[tuple[str, int], ...]

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """Return, for each job by rank, the highest tier (`priority`) of its partitions, 0 without a partition. Jobs
        that must start in a reservation get a higher tier than all others, as in Slurm. Empty if all tiers are equal.
        """
        confined = [request.admitted.within >= 0 for request in self.requests]
        tiers = [*map(int, self._best([group.priority for group in self.groups]))]
        if not any(confined):
            return tuple(tiers)
        first = max(tiers, default=0) + 1
        return tuple(first if own else tier for own, tier in zip(confined, tiers or [0] * len(confined), strict=True))

    @property
    def confines(self) -> bool:
        """Return True if some jobs must start in a reservation of nodes."""
        return any(request.admitted.within >= 0 for request in self.requests)

    @cached_property
    def has_choice(self) -> bool:
        """Return True if some job may use several partitions."""
        return any(len(request.groups) > 1 for request in self.requests)

    @cached_property
    def parts(self) -> tuple[float, ...]:
        """Return, for each partition by number, its factor divided by the highest of all; 0 if it is negative."""
        most = max((group.factor for group in self.groups), default=0)
        return tuple(max(group.factor, 0) / most if most > 0 else 0.0 for group in self.groups)

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """Return, for each job by rank, the highest factor of its partitions, divided by the highest factor of all
        partitions; 0 for a job without a partition, or if the factor is negative. Empty if all jobs have the same
        value and none has a choice.
        """
        return self._best(self.parts) if any(self.parts) else ()

    @cached_property
    def qos_factors(self) -> tuple[float, ...]:
        """Return, for each job by rank, the priority of its quality of service, divided by the highest priority of all;
        0 if it is negative. Empty if all jobs have the same value.
        """
        known = {name: max(priority, 0) for name, priority in self.qos}
        most = max(known.values(), default=0)
        found = tuple(known.get(request.qos, 0) / most for request in self.requests) if most else ()
        return found if len({*found}) > 1 else ()

    @cached_property
    def node_parts(self) -> tuple[float, ...]:
        """Return, for each job by rank, the least number of nodes that it asks for, divided by the number of nodes."""
        nodes: int = len(self.nodes)
        return tuple((r.nodes if r.nodes is not None else r.least) / nodes for r in self.requests)

    def _best(self, values: Sequence[float]) -> tuple[float, ...]:
        """Return, for each job by rank, the highest of `values` (one for each partition) over the job's partitions.
        Empty if all jobs have the same and none has a choice of partitions.
        """
        if not values or (len({*values}) < 2 and all(bool(request.groups) for request in self.requests)):
            return ()
        found = tuple(max((values[n] for n in request.groups), default=0.0) for request in self.requests)
        return found if len({*found}) > 1 or self.has_choice else ()
