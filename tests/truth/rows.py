"""The Ousterhout matrix rebuilt from the decisions, and checks of the reasons of its rebuilds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from sim.decisions import reasons_in_rows as in_rows
from tests.truth.words import Lasts, Tenths, demand, demand_equal, reads
from tests.truth.world import Slot, Work, World, earliest


@dataclass
class Row:
    """Row of the matrix, by its number: the jobs whose home row it is (`home`), and those with replicas in it
    (`guests`)."""

    number: int
    home: set[int] = field(default_factory=set)
    guests: set[int] = field(default_factory=set)


class Rows:
    """Ousterhout matrix with its active row and its turns."""

    def __init__(self, procs: int, slice: float, cs: float) -> None:
        self.there, self.slice, self.overhead = (1 << procs) - 1, slice, round(cs * slice, 9)
        self.rows: list[Row] = []
        self.gone: set[int] = set()
        """Numbers of the rows that were removed since the phase "clean" of the last rebuild"""
        self.columns: dict[int, int] = {}
        """For each job, by rank: its columns as bits; the jobs are in the order of their placement"""
        self.ran: dict[int, float] = {}
        self.stall: dict[int, float] = {}
        self.on_turn: Row | None = None
        self.turn_began = 0.0
        self.order: list[Row] = []
        """Rows in the order of their turns, as the last rebuild left them"""
        self.since = 0.0
        self.came_to = ""
        """Name of the phase that the rebuild at this instant has reached; "" before the first"""
        self.has_moved = False
        """True if a job changed its row in this phase of the rebuild"""
        self.tasks = 0
        """Number of tasks (processors of a job) that have migrated in this rebuild"""
        self.held: dict[int, int] = {}
        """For each row: the columns that were taken when the phase "compact" began"""
        self.in_the_way: dict[tuple[int, int], tuple[int, int]] = {}
        """For each (job to be placed, row): (number of tasks in the columns that it would get, number of tasks migrated
        until then)"""
        self.planned: dict[int, tuple[int, float]] = {}
        self.to_turn: Row | None = None
        self.new: set[int] = set()
        """Jobs that were placed from the queue and have not had a turn yet"""

    def row(self, number: int) -> Row:
        return next((row for row in self.rows if row.number == number), Row(number))

    def home_of(self, rank: int) -> Row:
        return next(row for row in self.rows if rank in row.home)

    def taken(self, row: Row) -> int:
        mask = 0
        for rank in row.home | row.guests:
            mask |= self.columns[rank]
        return mask

    def free(self, row: Row) -> int:
        return (self.there & ~self.taken(row)).bit_count()

    def tasks_in_the_way(self, rank: int, row: Row) -> int:
        return sum(
            self.columns[other].bit_count()
            for other in row.home | row.guests
            if other != rank and self.columns[other] & self.columns[rank]
        )

    # Time

    def elapse(self, to: float, runs: list[float]) -> list[int]:
        """Advance the turns to the time `to`; return the jobs that have reached their run time, which leave the
        matrix."""
        while self.since < to and self.on_turn is not None:
            alternate = len(self.order) > 1
            ends = self.turn_began + self.slice if alternate else to
            until = min(to, ends)
            begins = max(self.since, self.turn_began + (self.overhead if alternate else 0))
            for rank in self.on_turn.home | self.on_turn.guests:
                gain = max(0.0, until - begins)
                lost = min(self.stall[rank], gain)
                self.stall[rank] -= lost
                self.ran[rank] += gain - lost
            self.since = until
            if until == ends and alternate and until < to:
                self._next_turn(self.order)
        self.since = to
        done = sorted(r for r, ran in self.ran.items() if runs[r] - ran <= 1e-6 and self.stall[r] <= 1e-6)
        for rank in done:
            self.leave(rank)
        if self.on_turn is not None and len(self.order) > 1 and to - self.turn_began >= self.slice - 1e-6:
            self._next_turn([row for row in self.order if row.home or row.guests or row is self.on_turn])
        return done

    def _next_turn(self, rows: list[Row]) -> None:
        assert self.on_turn is not None
        self.on_turn = rows[(rows.index(self.on_turn) + 1) % len(rows)]
        self.turn_began += self.slice

    def settle(self, now: float) -> None:
        """Choose the row whose turn it is, after a step that may have changed the rows."""
        old, self.order = self.order, list(self.rows)
        if self.on_turn is not None and self.on_turn in self.rows:
            if len(old) == 1 and len(self.rows) > 1:
                self.turn_began = now
        else:
            at = old.index(self.on_turn) if self.on_turn in old else -1
            after = [row for row in (*old[at + 1 :], *old[: at + 1]) if row in self.rows]
            self.on_turn = next(iter(after or self.rows), None)
            self.turn_began = now
        if self.to_turn is not None:
            self.on_turn, self.turn_began, self.to_turn = self.to_turn, now, None

    # Effects of decisions

    def leave(self, rank: int) -> None:
        for row in self.rows:
            row.home.discard(rank)
            row.guests.discard(rank)
        del self.columns[rank], self.ran[rank], self.stall[rank]
        self.new.discard(rank)

    def open(self) -> Row:
        taken = self.gone | {row.number for row in self.rows}
        self.rows.append(Row(next(number for number in count(1) if number not in taken)))
        return self.rows[-1]

    def drop(self) -> None:
        self.gone |= {row.number for row in self.rows if not row.home | row.guests}
        self.rows = [row for row in self.rows if row.home | row.guests]

    def place(self, rank: int, row: Row, columns: int, ran: float) -> None:
        demand(not self.taken(row) & columns, "those columns are taken")
        row.home.add(rank)
        self.columns[rank], self.ran[rank], self.stall[rank] = columns, ran, 0.0

    def move(self, rank: int, row: Row, columns: int | None = None) -> None:
        self.has_moved = True
        self.home_of(rank).home.discard(rank)
        if columns is not None:
            self.columns[rank] = columns
        demand(not self.taken(row) & self.columns[rank], "those columns are taken")
        row.home.add(rank)

    def replicate(self, rank: int, row: Row) -> None:
        demand(not self.taken(row) & self.columns[rank], "those columns are taken")
        row.guests.add(rank)

    def next_phases(self, migrates: bool) -> Sequence[str]:
        """Return the names of the phases that may follow in the rebuild. Scheduling is repeated only if a job has
        moved."""
        match self.came_to:
            case "":
                return ("clean",)
            case "clean":
                return ("compact",)
            case "compact":
                return ("schedule",)
            case "schedule" if migrates:
                return ("compact with migration",)
            case "compact with migration" if self.has_moved:
                return ("schedule again",)
            case "fill":
                return ("fill with migration",) if migrates else ()
        return ("fill",)

    def phase(self, name: str) -> None:
        self.came_to, self.has_moved = name, False
        if name == "clean":
            self.tasks, self.in_the_way = 0, {}
        if name.startswith("compact"):
            self.held = {row.number: self.taken(row).bit_count() for row in self.rows}
        if name.startswith("schedule"):
            self.planned = {}

    def plan(self, world: World, row: Row) -> list[Slot]:
        """Return the processors in use in the row from now on: by jobs whose home it is, and by jobs planned in it."""
        mpl = world.rules["mpl"]
        closes = world.closes()
        spans = {r: (world.jobs[r].estimate - self.ran[r]) * mpl for r in row.home}
        home = [Slot(world.now, min(world.now + s, closes), self.columns[r].bit_count()) for r, s in spans.items()]
        planned = [
            Slot(at, at + world.jobs[r].estimate * mpl, world.jobs[r].procs)
            for r, (number, at) in self.planned.items()
            if number == row.number
        ]
        return [*world.missing(), *home, *planned]


def rows_of(world: World) -> Rows:
    rows = world.memo_rows
    demand(rows is not None, "there is no matrix")
    assert isinstance(rows, Rows)
    return rows


# Reasons: world, job, the row of the sentence, its values

_SO_FAR = ("{n} of at most {n} rows exist", "{n} of at most {n} rows exists")


@reads(in_rows.BestFit, "needs {n}, {n} free in this row, the fullest row with enough room")
def _(world: World, job: Work, row: Row, needs: int, free: int) -> None:
    rows = rows_of(world)
    demand_equal((needs, free), (job.procs, rows.free(row)), "needs, free")
    least = min(rows.free(other) for other in rows.rows if rows.free(other) >= needs)
    demand_equal(free, least, "the fewest that are enough")


@reads(in_rows.BestFit, "needs {n}, {n} free in this row, the fullest row with room for its {s}")
def _(world: World, job: Work, row: Row, needs: int, free: int, span: Lasts) -> None:
    rows, long = rows_of(world), job.estimate * world.rules["mpl"]
    demand_equal((needs, free), (job.procs, rows.free(row)), "needs, free")
    demand(span.is_about(long))
    fits = [
        other
        for other in rows.rows
        if rows.free(other) >= needs
        and earliest(world.procs, job.procs, long, rows.plan(world, other), world.now) == world.now
    ]
    demand_equal(free, min(map(rows.free, fits)), "the fewest that are enough")


@reads(in_rows.NewRow, "the matrix is empty; {n} of at most {n} rows exist")
def _(world: World, job: Work, row: Row, so_far: int, most: int) -> None:
    demand_equal((so_far, most, len(rows_of(world).rows)), (0, world.rules["mpl"], 1))


@reads(in_rows.NewRow, *(f"no row has {{n}} column{s} free; {so_far}" for s in ("", "s") for so_far in _SO_FAR))
def _(world: World, job: Work, row: Row, needs: int, so_far: int, most: int) -> None:
    others = new_row(world, row, so_far, most)
    demand_equal(needs, job.procs)
    demand(all(rows_of(world).free(other) < needs for other in others), "another row has room")


@reads(
    in_rows.NewRow, *(f"no row has {{n}} column{s} free for {{s}}; {so_far}" for s in ("", "s") for so_far in _SO_FAR)
)
def _(world: World, job: Work, row: Row, needs: int, span: Lasts, so_far: int, most: int) -> None:
    rows, long = rows_of(world), job.estimate * world.rules["mpl"]
    others = new_row(world, row, so_far, most)
    demand_equal(needs, job.procs)
    demand(span.is_about(long))
    demand(any(rows.free(other) >= needs for other in others), "none can hold it")
    for other in others:
        at = earliest(world.procs, job.procs, long, rows.plan(world, other), world.now)
        demand(at > world.now or rows.free(other) < needs, "another row has room")


@reads(in_rows.NewRow, *(f"its own columns are taken in every row; {so_far}" for so_far in _SO_FAR))
def _(world: World, job: Work, row: Row, so_far: int, most: int) -> None:
    others, columns = new_row(world, row, so_far, most), world.aside[job.rank].mask
    demand(all(rows_of(world).taken(other) & columns for other in others), "they are free in a row")


def new_row(world: World, row: Row, so_far: int, most: int) -> list[Row]:
    others = [other for other in rows_of(world).rows if other is not row]
    demand_equal((so_far, most), (len(others), world.rules["mpl"]), "rows so far, at most")
    demand(so_far < most)
    return others


@reads(in_rows.GoesOn, "it was suspended, and its own columns are free there")
def _(world: World, job: Work, row: Row) -> None:
    demand(not rows_of(world).taken(row) & world.aside[job.rank].mask)


@reads(in_rows.Fuller, "its columns are free in a fuller row: {n} columns taken there, {n} in its old row")
def _(world: World, job: Work, row: Row, there: int, was: int) -> None:
    taken(world, job, row, there, was)
    demand(there > was, "it was not fuller")


@reads(in_rows.Fuller, "its columns are free in an earlier row that is as full: {n} columns taken in each")
def _(world: World, job: Work, row: Row, there: int) -> None:
    taken(world, job, row, there, there)
    rows = rows_of(world)
    demand(rows.rows.index(row) < rows.rows.index(rows.home_of(job.rank)), "it is no earlier row")


def taken(world: World, job: Work, row: Row, there: int, was: int) -> None:
    rows = rows_of(world)
    demand_equal((there, was), (rows.held[row.number], rows.held[rows.home_of(job.rank).number]), "taken there, here")
    demand(not rows.taken(row) & rows.columns[job.rank])


def costs(world: World, rank: int, row: Row) -> tuple[float | None, float | None]:
    """Return (cost of moving other jobs out of the job's columns, cost of giving the job other columns); None for each
    that needs too many tasks."""
    rows, cost, most = rows_of(world), world.rules["cost"], world.rules["q"]
    size = rows.columns[rank].bit_count()
    aside, moved = rows.in_the_way.setdefault((rank, row.number), (rows.tasks_in_the_way(rank, row), rows.tasks))
    first = cost / 2 * size + cost * aside if aside <= most - moved else None
    second = cost * size + cost / 2 * aside if size <= most - moved else None
    return first, second


def is_cost(said: Tenths | None, true: float | None) -> bool:
    return said is None if true is None else said is not None and abs(float(said.text) - true) < 1e-6


@reads(
    in_rows.MakesWay,
    "jobs in {j}'s columns of that row move to other columns; costs {x} processor-seconds",
    "moves aside for {j}; costs {x} processor-seconds",
    "jobs in {j}'s columns of that row move to other columns; costs {x} processor-seconds, the alternative {x}",
    "moves aside for {j}; costs {x} processor-seconds, the alternative {x}",
)
def _(world: World, job: Work, row: Row, whom: str, cost: Tenths, other: Tenths | None = None) -> None:
    first, second = costs(world, world.by_name[whom].rank, row)
    demand(is_cost(cost, first), first)
    if other is not None:
        demand(is_cost(other, second), second)
        demand(float(cost.text) <= float(other.text))


@reads(
    in_rows.OtherColumns,
    *(
        f"the new job's own columns are taken in that row, others are free; costs {{x}} processor-seconds{other}"
        for other in ("", ", the alternative {x}")
    ),
)
def _(world: World, job: Work, row: Row, cost: Tenths, other: Tenths | None = None) -> None:
    newcomer = world.memo.setdefault("newcomer", job.rank)
    first, second = costs(world, newcomer, row)
    demand(is_cost(cost, second), second)
    if other is not None:
        demand(is_cost(other, first), first)


@reads(
    in_rows.EarliestInRow, *(f"the earliest time at which a row has {{n}} column{s} free for {{s}}" for s in ("", "s"))
)
def _(world: World, job: Work, row: Row, needs: int, span: Lasts) -> None:
    demand_equal(needs, job.procs)
    demand(span.is_about(job.estimate * world.rules["mpl"]))


def earliest_in_row(world: World, job: Work, row: Row, at: float) -> None:
    rows, long = rows_of(world), job.estimate * world.rules["mpl"]
    there = [*rows.rows, *([] if row in rows.rows or len(rows.rows) >= world.rules["mpl"] else [row])]
    starts = [earliest(world.procs, job.procs, long, rows.plan(world, other), world.now) for other in there]
    demand(abs(at - min(starts)) < 1e-6, at, min(starts))
    demand(abs(starts[there.index(row)] - at) < 1e-6)


@reads(in_rows.FitsNoRow, "needs {n}, at most {n} free in any of the {n} rows")
def _(world: World, job: Work, row: Row | None, needs: int, most: int, many: int) -> None:
    rows = rows_of(world)
    demand_equal((needs, most, many), (job.procs, max(map(rows.free, rows.rows), default=0), len(rows.rows)))
    demand(needs > most)


@reads(in_rows.OwnColumnsTaken, "its own columns are taken in each of the {n} rows")
def _(world: World, job: Work, row: Row | None, many: int) -> None:
    rows = rows_of(world)
    demand_equal(many, len(rows.rows))
    demand(all(rows.taken(other) & world.aside[job.rank].mask for other in rows.rows))
