"""A job as a policy may see it: facts that never change. Run times are not among them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Final, NoReturn


class Job:
    """Job as a policy may see it. Its run time is missing: only the engine knows it."""

    __slots__ = (
        "estimate", "group", "high", "id", "procs", "queue", "rank", "recorded_start", "reserve", "submit", "user",
    )  # fmt: skip

    rank: int
    id: str
    submit: float
    procs: int
    estimate: float
    user: int
    group: int
    queue: int
    high: bool
    reserve: float | None
    """Start time that the user asked to have reserved; None if the user requested no reservation."""
    recorded_start: float | None

    def __init__(
        self,
        rank: int,
        id: str,
        submit: float,
        procs: int,
        estimate: float,
        user: int = -1,
        group: int = -1,
        queue: int = -1,
        high: bool = False,
        reserve: float | None = None,
        recorded_start: float | None = None,
    ) -> None:
        self.rank, self.id, self.submit, self.procs, self.estimate = rank, id, submit, procs, estimate
        self.user, self.group, self.queue, self.high = user, group, queue, high
        self.reserve, self.recorded_start = reserve, recorded_start

    def __setattr__(self, name: str, value: Any) -> None:
        """Refuse to change the job. Compiled code makes jobs without this call."""
        if name not in FIELDS or hasattr(self, name):
            raise AttributeError(f"a job never changes: {name} cannot be set")
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a job never changes: {name} cannot be deleted")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Job) and self.rank == other.rank and self._values() == other._values()

    def __lt__(self, other: Job) -> bool:
        return self.rank < other.rank

    def __hash__(self) -> int:
        return self.rank

    def __repr__(self) -> str:
        return f"Job({', '.join(f'{name}={value!r}' for name, value in zip(FIELDS, self._values(), strict=True))})"

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in FIELDS)

    def __reduce__(self) -> tuple[type[Job], tuple[Any, ...]]:
        return Job, self._values()

    def replaced(self, **changes: Any) -> Job:
        return Job(*(changes.get(name, getattr(self, name)) for name in FIELDS))

    @property
    def due(self) -> float:
        """Return the time from which the job waits: its submission, or the later start that its user requested."""
        return self.submit if self.reserve is None else max(self.submit, self.reserve)

    def waited(self, time: float) -> float:
        """Return the seconds from the job's `due` time until `time`, at least 0, for a job that has not started."""
        return max(0.0, time - self.due)


COMPILED: Final = not __file__.endswith(".py")
FIELDS: Final = (
    "rank", "id", "submit", "procs", "estimate", "user", "group", "queue", "high", "reserve", "recorded_start",
)  # fmt: skip


def jobs_of(columns: Sequence[Sequence[Any]]) -> list[Job]:
    jobs: list[Job] = []
    if COMPILED:
        for rank, id, submit, procs, estimate, user, group, queue, high, reserve, start in zip(*columns, strict=True):
            jobs.append(Job(rank, id, submit, procs, estimate, user, group, queue, high, reserve, start))
        return jobs
    jobs = [object.__new__(Job) for _ in columns[0]]  # not compiled, each assignment would ask `__setattr__`
    for name, column in zip(FIELDS, columns, strict=True):
        deque(map(getattr(Job, name).__set__, jobs, column), 0)
    return jobs
