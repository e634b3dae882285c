"""Numbers of a policy shown in the job tables, such as a priority or a user's past usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from sim.decisions.sentences import Unit
from sim.words import Clock, clock, span
from sim.workload.model import Job


class Column(NamedTuple):
    """One kind of number, which a policy, or an order of the queue, writes into `view.notes` under this name.

    There it stands by rank, or by the number of what it is `of`: `view.notes["usage"][job.user]`.
    """

    name: str
    meaning: str = ""
    of: Literal["rank", "user", "group", "queue"] = "rank"
    unit: Unit | None = None
    """A moment, a length of time, or just a number."""

    def value(self, notes: Mapping[str, Mapping[int, float]], job: Job) -> float | None:
        """The number of that job; None: it has none."""
        noted = notes.get(self.name)
        value = noted.get(getattr(job, self.of, -1)) if isinstance(noted, Mapping) else None
        return value if isinstance(value, int | float) else None

    def written(self, value: float | None, at: Clock = clock) -> str:
        """The number as it is shown; a dash where there is none."""
        if value is None:
            return "–"
        match self.unit:
            case Unit.MOMENT:
                return at(value)
            case Unit.SPAN:
                return span(value)
        return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:.3g}"
