"""Columns of the job tables with numbers that a policy computes, such as a priority or a user's past usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from sim.decisions.sentences import Unit
from sim.support.formatting import Clock, clock, span
from sim.workload.model import Job


class Column(NamedTuple):
    """Column of the job tables: a number that a policy or an order of the queue writes into `view.notes` under the
    column's name.

    The number is stored under the job's rank, or under the job's field that `of` names:
    `view.notes["usage"][job.user]`.
    """

    name: str
    meaning: str = ""
    of: Literal["rank", "user", "group", "queue"] = "rank"
    unit: Unit | None = None
    """Unit of the number: a point in time, a duration, or None for a plain number."""

    def value(self, notes: Mapping[str, Mapping[int, float]], job: Job) -> float | None:
        """Return the number in this column for the job; None if the policy has not set it."""
        noted = notes.get(self.name)
        value = noted.get(getattr(job, self.of, -1)) if isinstance(noted, Mapping) else None
        return value if isinstance(value, int | float) else None

    def written(self, value: float | None, at: Clock = clock) -> str:
        """Return the number as shown on the screen, a dash for None; `at` writes a point in time as text."""
        if value is None:
            return "–"
        match self.unit:
            case Unit.MOMENT:
                return at(value)
            case Unit.SPAN:
                return span(value)
        return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:.3g}"
