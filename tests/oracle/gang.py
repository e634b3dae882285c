"""A second implementation of gang and gang-backfill, one simulated second after another, without overhead.

Shares nothing with the engine; slow, for some dozens of jobs in whole seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.oracle.jobs import Job
from tests.oracle.space import Slot, earliest


@dataclass(eq=False)
class Placed:
    """A job in the matrix, with its columns and its home row."""

    job: Job
    columns: frozenset[int]
    home: Row
    left: float
    spent: float = 0


@dataclass(eq=False)
class Row:
    jobs: list[Placed] = field(default_factory=list)
    booked: dict[Job, float] = field(default_factory=dict)
    """Reservations of the last rebuild under gang-backfill: mapping from job to start."""

    def taken(self) -> frozenset[int]:
        return frozenset().union(*(placed.columns for placed in self.jobs))


class Gang:
    """Ousterhout matrix whose rows take turns, and its jobs."""

    def __init__(self, procs: int, jobs: list[Job], mpl: int, slice: int, backfill: bool) -> None:
        self.procs, self.mpl, self.slice, self.backfill = procs, mpl, slice, backfill
        self.coming, self.queue = sorted(jobs), list[Job]()
        self.rows: list[Row] = []
        self.placed: list[Placed] = []
        self.turn: Row | None = None
        self.turn_ends = 0
        self.now = 0
        self.start: dict[int, float] = {}
        self.end: dict[int, float] = {}

    def run(self) -> list[tuple[float, float]]:
        """Simulate to the end; return (start, end) of each job, in order of rank."""
        self.now = int(self.coming[0].submit)
        while self.coming or self.queue or self.placed:
            self.instant()
            for placed in self.turn.jobs if self.turn else ():
                self.start.setdefault(placed.job.rank, self.now)
                placed.left -= 1
                placed.spent += 1
            self.now += 1
        return [(self.start[rank], self.end[rank]) for rank in sorted(self.end)]

    def instant(self) -> None:
        ended = [placed for placed in self.placed if placed.left <= 0]
        for placed in ended:
            self.end[placed.job.rank] = self.now
            self.placed.remove(placed)
            for row in self.rows:
                row.jobs = [other for other in row.jobs if other is not placed]
        if len(self.rows) > 1 and self.now == self.turn_ends:
            self.next_turn()
        arrived = [job for job in self.coming if job.submit == self.now]
        self.coming = self.coming[len(arrived) :]
        self.queue += arrived
        if ended or arrived:
            self.rebuild()

    def next_turn(self) -> None:
        """Make the next row that has jobs, after the row whose turn it was, the active one."""
        at = self.rows.index(self.turn) if self.turn in self.rows else -1
        after = [*self.rows[at + 1 :], *self.rows[: at + 1]]
        self.turn = next((row for row in after if row.jobs), None)
        self.turn_ends = self.now + self.slice

    def rebuild(self) -> None:
        old = list(self.rows)
        for row in self.rows:
            row.jobs = [placed for placed in row.jobs if placed.home is row]
        self.compact()
        self.rows = [row for row in self.rows if row.jobs]
        alone = len(old) == 1
        self.backfill_queue() if self.backfill else self.schedule()
        self.fill()
        if self.turn not in self.rows:
            at = old.index(self.turn) if self.turn in old else -1
            after = [row for row in (*old[at + 1 :], *old[: at + 1]) if row in self.rows]
            self.turn = next(iter(after or self.rows), None)
            self.turn_ends = self.now + self.slice
        elif alone and len(self.rows) > 1:
            self.turn_ends = self.now + self.slice

    def compact(self) -> None:
        number = {id(row): at for at, row in enumerate(self.rows)}
        order = sorted(self.rows, key=lambda row: (len(row.taken()), -number[id(row)]))
        for at, row in enumerate(order):
            for target in reversed(order[at + 1 :]):
                for placed in [each for each in self.placed if each in row.jobs]:
                    if not placed.columns & target.taken() and self.may_move(placed, target):
                        row.jobs.remove(placed)
                        target.jobs.append(placed)
                        placed.home = target

    def may_move(self, placed: Placed, target: Row) -> bool:
        if not self.backfill:
            return True
        slots = self.plan(target)
        for job, at in target.booked.items():
            if job in self.queue:
                slots.append(Slot(max(at, self.now), max(at, self.now) + self.span(job), job.procs))
        moving = Job(*placed.job[:4], self.span(placed.job, placed.spent))
        return earliest(moving, slots, self.procs, self.now) == self.now

    def span(self, job: Job, spent: float = 0) -> float:
        return (job.estimate - spent) * self.mpl

    def plan(self, row: Row) -> list[Slot]:
        home = [placed for placed in row.jobs if placed.home is row]
        return [Slot(self.now, self.now + self.span(p.job, p.spent), p.job.procs) for p in home]

    def place(self, job: Job, row: Row) -> None:
        columns = sorted(set(range(self.procs)) - row.taken())[: job.procs]
        placed = Placed(job, frozenset(columns), row, job.run)
        row.jobs.append(placed)
        self.placed.append(placed)
        self.queue.remove(job)

    def new_row(self) -> Row:
        self.rows.append(Row())
        return self.rows[-1]

    def fitting(self, job: Job) -> list[Row]:
        rows = [row for row in self.rows if job.procs <= self.procs - len(row.taken())]
        return sorted(rows, key=lambda row: self.procs - len(row.taken()))

    def schedule(self) -> None:
        for job in list(self.queue):
            if rows := self.fitting(job):
                self.place(job, rows[0])
            elif len(self.rows) < self.mpl:
                self.place(job, self.new_row())
            else:
                return

    def backfill_queue(self) -> None:
        for row in self.rows:
            row.booked = {}
        for job in list(self.queue):
            wide = Job(*job[:4], self.span(job))
            at = {id(row): earliest(wide, self.booked_plan(row), self.procs, self.now) for row in self.rows}
            if rows := [row for row in self.fitting(job) if at[id(row)] == self.now]:
                self.place(job, rows[0])
            elif len(self.rows) < self.mpl:
                self.place(job, self.new_row())
            else:
                row = min(self.rows, key=lambda row: at[id(row)])
                row.booked[job] = at[id(row)]

    def booked_plan(self, row: Row) -> list[Slot]:
        return self.plan(row) + [Slot(at, at + self.span(job), job.procs) for job, at in row.booked.items()]

    def fill(self) -> None:
        moved = True
        while moved:
            moved = False
            for placed in self.placed:
                for row in self.rows:
                    if placed not in row.jobs and not placed.columns & row.taken():
                        row.jobs.append(placed)
                        moved = True
                        break
