"""Numbers of a policy's own that are shown beside the jobs: a priority, what a user has had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from sim.decisions.sentences import Unit
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
        value = notes.get(self.name, {}).get(getattr(job, self.of))
        return value if isinstance(value, int | float) else None
