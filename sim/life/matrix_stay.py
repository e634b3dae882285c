"""Stay of a job in the matrix: with how many rows the job shared the time, and how long it was in several rows."""

from __future__ import annotations

from collections.abc import Iterable

from sim.decisions.matrix import Migrate, Stall
from sim.engine.engine import Engine
from sim.life.moments import Range, Shared
from sim.workload.model import Job


class Stay:
    """Totals of the job in the matrix, updated after each step; most of them begin with its first turn."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._matrix, self._engine, self._rank = engine.moment.rows, engine, job.rank
        self._begin: float | None = None
        self._since, self._ran = engine.now, 0.0
        self._rows, self._own = self._count()
        self._home = self._matrix.home(self._rank)
        self._most = Range(self._rows, self._rows), Range(self._own, self._own)
        self._alone: float = 0
        self._replicated: float = 0
        self._owed: float = 0
        self._moved = self._migrated = 0

    def see_step(self, decisions: Iterable[Migrate | Stall]) -> None:
        """Update the totals after a step with this job's migrations and stalls (lost time of its turns)."""
        self._pass_time(self._engine.now)
        self._rows, self._own = self._count()
        if self._begin is None:
            self._most = Range(self._rows, self._rows), Range(self._own, self._own)
        rows, own = self._most
        self._most = rows.also(Range(self._rows, self._rows)), own.also(Range(self._own, self._own))
        for decision in decisions:
            if isinstance(decision, Migrate):
                self._migrated += 1
                self._owed += decision.stall
            else:
                self._owed += decision.seconds
        home, self._home = self._home, self._matrix.home(self._rank)
        self._moved += home != self._home

    def begin(self) -> None:
        """Record that the job has its first turn now; later calls do nothing."""
        if self._begin is None:
            self._begin = self._since = self._engine.now
            self._ran = self._engine.moment.ran(self._rank)
            self._first = self._engine.moment.start_of(self._rank) == self._begin
            self._alone = self._replicated = 0
            self._rows, self._own = self._count()
            self._most = Range(self._rows, self._rows), Range(self._own, self._own)

    def until(self, now: float, ran: float | None = None) -> Shared | None:
        """Return the stay up to `now`, None if the job had no turn; `ran`: total progress (None: until now)."""
        if self._begin is None:
            return None
        self._pass_time(now)
        rows, own = self._most
        return Shared(
            time=self._begin,
            until=now,
            ran=(self._engine.moment.ran(self._rank) if ran is None else ran) - self._ran,
            first=self._first,
            rows=rows,
            own=own,
            alone=self._alone,
            replicated=self._replicated,
            moved=self._moved,
            migrated=self._migrated,
            owed=self._owed,
        )

    def _count(self) -> tuple[int, int]:
        return len(self._matrix.rows), len(self._matrix.rows_of(self._rank))

    def _pass_time(self, now: float) -> None:
        passed, self._since = now - self._since, now
        if self._own == self._rows:
            self._alone += passed
        elif self._own > 1:
            self._replicated += passed
