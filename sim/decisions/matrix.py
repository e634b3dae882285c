"""What a gang scheduling policy can do to the matrix, and why (`sim.decisions.decisions`: those of all policies).

A rebuild is a list of phases; each begins with a `Phase`, and the decisions after it belong to it. Rows are named by
their ids, columns are sets as in `sim.machine.processors`, costs are processor-seconds.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sim.workload.model import Job

PhaseName = Literal[
    "clean", "compact", "schedule", "compact with migration", "schedule again", "fill", "fill with migration"
]

# Why


class BestFit(NamedTuple):
    """Of the rows that can hold it, this one has the fewest free columns: `free`."""

    free: int


class NewRow(NamedTuple):
    """No row can hold it, and there are `rows` of at most `mpl`."""

    rows: int
    mpl: int


class GoesOn(NamedTuple):
    """It was suspended, and its own columns are free in this row."""


class Fuller(NamedTuple):
    """Its columns are free in a fuller row: `held` columns were taken there, `was` where it stood."""

    was: int
    held: int


class MakesWay(NamedTuple):
    """It stands in the columns of `job`, which comes into the row; so costs `cost`, the other option `other`."""

    job: Job
    cost: float
    other: float | None


class OtherColumns(NamedTuple):
    """Its columns are taken in the target row, others are free; so costs `cost`, the other option `other`."""

    cost: float
    other: float | None


class EarliestInRow(NamedTuple):
    """No row has room for it from now on for `span` seconds; this one does first."""

    span: float


class FitsNoRow(NamedTuple):
    """It fits in none of the `rows` rows, the emptiest of which has `free` columns free, and there may be no more."""

    free: int
    rows: int


class OwnColumnsTaken(NamedTuple):
    """It was suspended and has to go on in its own columns, which are taken in all of the `rows` rows."""

    rows: int


MatrixReason: TypeAlias = (
    BestFit | NewRow | GoesOn | Fuller | MakesWay | OtherColumns | EarliestInRow | FitsNoRow | OwnColumnsTaken
)

# Decisions


class Phase(NamedTuple):
    """A phase of the rebuild begins."""

    name: PhaseName


class Clean(NamedTuple):
    """Every job leaves all rows but its home row."""


class DropRows(NamedTuple):
    """Empty rows vanish."""


class OpenRow(NamedTuple):
    """A new row after the last; its id is the next that was never used."""


class Place(NamedTuple):
    """The waiting (or suspended) job comes into the matrix; `row` is its home."""

    job: Job
    row: int
    columns: int
    because: MatrixReason
    passes: bool = False
    """Does it pass a job that stands before it in the queue? Then it counts as backfilled."""


class Rehome(NamedTuple):
    """The job's home moves to `row`, its columns stay."""

    job: Job
    row: int
    because: MatrixReason


class Replicate(NamedTuple):
    """The job stands in `row` too."""

    job: Job
    row: int


class Migrate(NamedTuple):
    """The job's tasks move to other columns, its home to `row`; it loses `stall` seconds of its own turns."""

    job: Job
    row: int
    columns: int
    stall: float
    because: MatrixReason


class Stall(NamedTuple):
    """The job stays in its columns and loses `seconds` of its own turns to the migration of another."""

    job: Job
    seconds: float
    because: MatrixReason


class TurnTo(NamedTuple):
    """The row comes on turn at once, for whom a reservation was granted."""

    row: int


class ReserveRow(NamedTuple):
    """The waiting job's reserved start becomes `at`, in `row`. It stands until the next rebuild."""

    job: Job
    row: int
    at: float
    because: MatrixReason


MatrixDecision: TypeAlias = (
    Phase | Clean | DropRows | OpenRow | Place | Rehome | Replicate | Migrate | Stall | ReserveRow | TurnTo
)
