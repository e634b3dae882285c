"""Tiers and factors of jobs in Slurm's priority, from their partitions and qualities of service."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any


class Ranked:
    """Properties of a machine's shape that decide which jobs come before others in Slurm's priority."""

    nodes: tuple[Any, ...]
    groups: tuple[Any, ...]
    requests: tuple[Any, ...]
    qos: tuple[tuple[str, int], ...]

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """Return each job's highest tier of its partitions (else 0); reservations are above all. Empty if equal."""
        confined = [request.admitted.within >= 0 for request in self.requests]
        tiers = [*map(int, self._best([group.priority for group in self.groups]))]
        if not any(confined):
            return tuple(tiers)
        first = max(tiers, default=0) + 1
        return tuple(first if own else tier for own, tier in zip(confined, tiers or [0] * len(confined), strict=True))

    @property
    def confines(self) -> bool:
        return any(request.admitted.within >= 0 for request in self.requests)

    @cached_property
    def has_choice(self) -> bool:
        return any(len(request.groups) > 1 for request in self.requests)

    @cached_property
    def parts(self) -> tuple[float, ...]:
        """Return, for each partition by number, its factor divided by the highest of all; 0 if it is negative."""
        most = max((group.factor for group in self.groups), default=0)
        return tuple(max(group.factor, 0) / most if most > 0 else 0.0 for group in self.groups)

    @cached_property
    def factors(self) -> tuple[float, ...]:
        """Return each job's highest factor of its partitions (else 0) over that of all; empty if equal, no choice."""
        return self._best(self.parts) if any(self.parts) else ()

    @cached_property
    def qos_factors(self) -> tuple[float, ...]:
        """Return the priority of each job's QOS over the highest of all, at least 0; empty if all are equal."""
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
        """Return each job's highest of `values` (by partition); empty if all are equal and none has a choice."""
        if not values or (len({*values}) < 2 and all(bool(request.groups) for request in self.requests)):
            return ()
        found = tuple(max((values[n] for n in request.groups), default=0.0) for request in self.requests)
        return found if len({*found}) > 1 or self.has_choice else ()
