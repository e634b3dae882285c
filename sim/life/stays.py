"""A job's stay in the matrix, summed up: with how many rows it shared the time, and for how long."""

from __future__ import annotations

from collections.abc import Iterable

from sim.decisions.matrix import Migrate, Stall
from sim.engine.engine import Engine
from sim.life.moments import Range, Shared
from sim.workload.model import Job


class Stay:
    """Notes of the steps since the first turn of the job."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._matrix, self._engine, self._rank = engine.state.matrix, engine, job.rank
        self._begin = self._since = engine.now
        self._rows, self._own = self._count()
        self._home = self._matrix.home(self._rank)
        self._most = Range(self._rows, self._rows), Range(self._own, self._own)
        self._alone: float = 0
        self._replicated: float = 0
        self._lost: float = 0
        self._moved = self._migrated = 0

    def see_step(self, decisions: Iterable[Migrate | Stall]) -> None:
        """The matrix after a step; `decisions` are those about this job."""
        self._pass_time(self._engine.now)
        self._rows, self._own = self._count()
        rows, own = self._most
        self._most = rows.also(Range(self._rows, self._rows)), own.also(Range(self._own, self._own))
        migrated = self._migrated
        for decision in decisions:
            if isinstance(decision, Migrate):
                self._migrated += 1
                self._lost += decision.stall
            else:
                self._lost += decision.seconds
        home, self._home = self._home, self._matrix.home(self._rank)
        if home != self._home and migrated == self._migrated:
            self._moved += 1

    def until(self, now: float) -> Shared:
        """What it came to."""
        self._pass_time(now)
        rows, own = self._most
        return Shared(
            time=self._begin,
            until=now,
            rows=rows,
            own=own,
            alone=self._alone,
            replicated=self._replicated,
            moved=self._moved,
            migrated=self._migrated,
            lost=self._lost,
        )

    def _count(self) -> tuple[int, int]:
        """How many rows there are, and in how many of them the job stands."""
        return len(self._matrix.rows), len(self._matrix.rows_of(self._rank))

    def _pass_time(self, now: float) -> None:
        passed, self._since = now - self._since, now
        if self._own == self._rows:
            self._alone += passed
        elif self._own > 1:
            self._replicated += passed
