"""Decisions of gang scheduling policies about the Ousterhout matrix, with a sentence each.

A rebuild of the matrix is a list of phases; each begins with a `Phase`, and the decisions after it belong to it. Rows
are named by their ids, columns are sets as in `sim.machine.processors`.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sim.decisions.sentences import Reason, why
from sim.machine.processors import written
from sim.support.formatting import Clock, name, span
from sim.workload.model import Job

PhaseName = Literal[
    "clean", "compact", "schedule", "compact with migration", "schedule again", "fill", "fill with migration"
]


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
