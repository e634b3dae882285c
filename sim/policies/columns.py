"""Numbers of a policy shown in the job tables, such as a priority or a user's past usage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from sim.decisions.sentences import Unit
from sim.formatting import Clock, clock, span
from sim.workload.model import Job


class Column(NamedTuple):
    """A kind of number that a policy, or an order of the queue, writes into `view.notes` under this name.

    Its key is the job's rank, or the number of what it is `of`: `view.notes["usage"][job.user]`.
    """

    name: str
    meaning: str = ""
    of: Literal["rank", "user", "group", "queue"] = "rank"
    unit: Unit | None = None
    """A time, a length of time, or just a number."""

    def value(self, notes: Mapping[str, Mapping[int, float]], job: Job) -> float | None:
        """Return the number of that job, if it has one."""
        noted = notes.get(self.name)
        value = noted.get(getattr(job, self.of, -1)) if isinstance(noted, Mapping) else None
        return value if isinstance(value, int | float) else None

    def written(self, value: float | None, at: Clock = clock) -> str:
        """Return the number as shown, a dash for None."""
        if value is None:
            return "–"
        match self.unit:
            case Unit.MOMENT:
                return at(value)
            case Unit.SPAN:
                return span(value)
        return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) < 1e15 else f"{value:.3g}"
