"""Decisions of gang scheduling policies about the Ousterhout matrix, and their reasons, with a sentence each.

A rebuild of the matrix is a list of phases; each begins with a `Phase`, and the decisions after it belong to it. Rows
are named by their ids, columns are sets as in `sim.machine.processors`, costs are processor-seconds.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple, TypeAlias

from sim.decisions.sentences import UNTOLD, Brief, Others, Reason, Span, tells, why
from sim.formatting import Clock, count, name, processors, span
from sim.machine.processors import written
from sim.workload.model import Job

PhaseName = Literal[
    "clean", "compact", "schedule", "compact with migration", "schedule again", "fill", "fill with migration"
]

# Reasons


class BestFit(NamedTuple):
    """Reason for placing a job in a row: of all rows where it fits, this one has the smallest number of `free` columns.

    If `span` is given, only rows count where the columns stay free for `span` seconds.
    """

    free: int
    span: Span | None = None

    def sentence(self, job: Job, at: Clock) -> str:
        room = "enough room" if self.span is None else f"room for its {span(self.span)}"
        return f"needs {job.procs:,}, {self.free:,} free in this row, the fullest row with {room}"


class NewRow(NamedTuple):
    """Reason for a new row: no existing row has enough free columns. If `own` is True: every existing row has other
    jobs in the suspended job's own columns.
    """

    rows: int
    mpl: int
    own: Annotated[bool, UNTOLD] = False
    span: Annotated[Span | None, UNTOLD] = None
    """Seconds for which the job needs its columns, and for which no row has enough of them free; None if only columns
    that are free now count
    """

    def sentence(self, job: Job, at: Clock) -> str:
        wanted = f"no row has {count(job.procs, 'column')} free"
        if self.span is not None:
            wanted = f"no row has {count(job.procs, 'column')} free for {span(self.span)}"
        elif self.own:
            wanted = "its own columns are taken in every row"
        wanted = wanted if self.rows else "the matrix is empty"
        return f"{wanted}; {self.rows:,} of at most {self.mpl:,} rows {'exists' if self.rows == 1 else 'exist'}"


class GoesOn(NamedTuple):
    def sentence(self, job: Job, at: Clock) -> str:
        return "it was suspended, and its own columns are free there"


class Fuller(NamedTuple):
    was: int
    held: int

    def sentence(self, job: Job, at: Clock) -> str:
        if self.was == self.held:
            return f"its columns are free in an earlier row that is as full: {self.held:,} columns taken in each"
        return f"its columns are free in a fuller row: {self.held:,} columns taken there, {self.was:,} in its old row"


class MakesWay(NamedTuple):
    """Reason for a migration: the job moves to make its columns free for `job`. This costs `cost` processor-seconds in
    all; moving `job` to other columns instead would cost `other` (None if impossible or not considered).
    """

    job: Job
    cost: float
    other: float | None

    def sentence(self, job: Job, at: Clock) -> str:
        if self.job == job:
            moves = f"jobs in {name(job)}'s columns of that row move to other columns"
        else:
            moves = f"moves aside for {name(self.job)}"
        return f"{moves}; {_costs(self.cost, self.other)}"


class OtherColumns(NamedTuple):
    """Reason for a migration: the job's columns are taken in its new row. Its move costs `cost` processor-seconds;
    moving the jobs in its columns instead would cost `other` (None if impossible).
    """

    cost: float
    other: float | None

    def sentence(self, job: Job, at: Clock) -> str:
        taken = "the new job's own columns are taken in that row, others are free"
        return f"{taken}; {_costs(self.cost, self.other)}"


class EarliestInRow(NamedTuple):
    span: Span

    def sentence(self, job: Job, at: Clock) -> str:
        return f"the earliest time at which a row has {count(job.procs, 'column')} free for {span(self.span)}"


@tells(ranges="at most {free} in any of {rows} rows", of_all="each needs more than is free in any row")
class FitsNoRow(NamedTuple):
    free: Annotated[int, UNTOLD]
    rows: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"needs {job.procs:,}, at most {self.free:,} free in any of the {self.rows:,} rows"

    def brief(self, job: Job, at: Clock) -> Brief:
        free = f"{job.procs:,} > {self.free:,}"
        return f"{free} free in any row", f"{free} free", free

    def past(self, job: Job, others: Others) -> str:
        return f"no row of the matrix had {processors(job.procs)} free"


class OwnColumnsTaken(NamedTuple):
    rows: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its own columns are taken in each of the {self.rows:,} rows"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "its columns are taken", "columns busy"

    def past(self, job: Job, others: Others) -> str:
        return "its own columns were taken in every row of the matrix"


# Decisions


class Phase(NamedTuple):
    """Beginning of a phase of the rebuild; the decisions that follow belong to this phase."""

    name: PhaseName

    def say(self, at: Clock) -> str:
        return f"rebuild phase: {self.name}"


class Clean(NamedTuple):
    """Removal of all replicas, which are copies of jobs in further rows: every job stays in its home row only."""

    def say(self, at: Clock) -> str:
        return "replicas are removed: every job stays in its home row only"


class DropRows(NamedTuple):
    """Removal of empty rows."""

    def say(self, at: Clock) -> str:
        return "empty rows are removed"


class OpenRow(NamedTuple):
    """New row after the last; its id is the next unused one."""

    def say(self, at: Clock) -> str:
        return "a new row is opened"


class Place(NamedTuple):
    """Placement of a waiting or suspended job in the matrix; `row` becomes its home row."""

    job: Job
    row: int
    columns: int
    because: Reason
    passes: bool = False
    """True if the job passes a job ahead of it in the queue; then it counts as backfilled."""

    def say(self, at: Clock) -> str:
        comes = f"{name(self.job)} is placed in row {self.row}, columns {written(self.columns)}"
        return f"{comes}: {why(self.because, self.job, at)}"


class Rehome(NamedTuple):
    """Move of the job's home row: another row becomes its home, and its columns stay the same."""

    job: Job
    row: int
    because: Reason

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} moves to row {self.row} and keeps its columns: {why(self.because, self.job, at)}"


class Replicate(NamedTuple):
    """Addition of a replica: a copy of the job in another row, in the same columns."""

    job: Job
    row: int

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} also gets row {self.row}"


class Migrate(NamedTuple):
    """Move of the job to `columns` (bits), with `row` as its home row. During the move the job makes no progress for
    `stall` seconds of its turns.
    """

    job: Job
    row: int
    columns: int
    stall: float
    because: Reason

    def say(self, at: Clock) -> str:
        costs = f", losing {span(self.stall)} of its own turns" if self.stall else ""
        goes = f"{name(self.job)} migrates to columns {written(self.columns)} of row {self.row}"
        return f"{goes}{costs}: {why(self.because, self.job, at)}"


class Stall(NamedTuple):
    """Loss of seconds of a job's turns because another job migrates. The job that loses them keeps its columns."""

    job: Job
    seconds: float
    because: Reason

    def say(self, at: Clock) -> str:
        loses = (
            f"{name(self.job)} keeps its columns and loses {span(self.seconds)} of its turns to another job's migration"
        )
        return f"{loses}: {why(self.because, self.job, at)}"


class TurnTo(NamedTuple):
    """Change of the active row ahead of its turn: `row` becomes active, because a reservation of a job in it is due."""

    row: int

    def say(self, at: Clock) -> str:
        return f"row {self.row} gets its turn now because a reservation in it is due"


class ReserveRow(NamedTuple):
    """Planned start of a waiting job in a row of the matrix. The plan is valid until the next rebuild."""

    job: Job
    row: int
    at: float
    because: Reason

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is planned for {at(self.at)} in row {self.row}: {why(self.because, self.job, at)}"


MatrixDecision: TypeAlias = (
    Phase | Clean | DropRows | OpenRow | Place | Rehome | Replicate | Migrate | Stall | ReserveRow | TurnTo
)


def _costs(cost: float, other: float | None) -> str:
    """Return the cost (processor-seconds) as text, followed by the cost `other` of the alternative if there is one."""
    alternative = f", the alternative {other:,.12g}" if other is not None else ""
    return f"costs {cost:,.12g} processor-seconds{alternative}"
