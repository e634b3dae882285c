"""What can happen to a job, moment by moment: the data of a life (`sim.life.life`), gathered by `sim.life.watching`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sim.decisions.decisions import Decision
from sim.decisions.sentences import Reason, fields_of, jobs_in
from sim.why.waiting import Holder
from sim.workload.model import Job

# Moments


class Range(NamedTuple):
    """The least and the greatest value of a number over some steps."""

    low: float
    high: float

    def also(self, value: Range) -> Range:
        return Range(min(self.low, value.low), max(self.high, value.high))


@dataclass(frozen=True)
class Submitted:
    """It came; after the pass of that instant `ahead` jobs that stand before it wait and want `wanted` processors."""

    time: float
    ahead: int
    wanted: int
    free: int | None
    """Processors after that pass; in a matrix, of the row with most. None: it waits no longer."""
    in_rows: bool = False
    """Was there a matrix?"""


@dataclass(frozen=True)
class Waited:
    """It waited from `time` to `until` for one kind of reason: `state` with the ranges of its numbers."""

    time: float
    until: float
    steps: int
    state: Reason
    """Two are of one kind if their type and the job they name are the same."""
    numbers: dict[str, Range]
    """The numbers of the reason, and how many processors were `free`."""
    ahead: tuple[int, int]
    """How many jobs stood ahead of it, at first and at last."""
    fitting: float
    """For so many seconds of it enough processors were free, none the less."""
    head: Job | None
    """Who headed the queue, where the policy plans for one job only."""
    lacking: int
    """Processors that it lacked at the beginning."""
    missing: tuple[Holder, ...]
    """The jobs that held them then, as many as must end before it fits, by expected end."""

    @property
    def seconds(self) -> float:
        return self.until - self.time

    @property
    def blocker(self) -> Job | None:
        """The job that is named as the reason."""
        return named(self.state)


@dataclass(frozen=True)
class Planned:
    """Its start was planned (`was` is None) or moved. What happened at that instant may be why."""

    time: float
    at: float
    was: float | None
    because: Reason | None
    """None: the policy only expects it."""
    early: tuple[Holder, ...] = ()
    """Jobs that ended then, before their expected end."""
    passers: tuple[Job, ...] = ()
    """Jobs that passed it since the plan before, and that will still run at the start that was planned."""
    newcomers: tuple[Job, ...] = ()
    """Jobs that came then and stand before it."""
    promised: bool = False
    """Did the policy promise not to move it later?"""

    @property
    def moved(self) -> float:
        """By how much; negative is earlier."""
        return 0 if self.was is None else self.at - self.was


@dataclass(frozen=True)
class Unplanned:
    """Its planned start was given up: another job is `ahead` now, if the policy says so."""

    time: float
    was: float
    ahead: Job | None


@dataclass(frozen=True)
class Started:
    """It started at last; `freed` are the jobs that ended at that instant."""

    time: float
    because: Reason
    backfilled: bool
    freed: tuple[Holder, ...]
    since: float
    """Since when it waited: its submission, or the end of a run that was lost."""
    limit: float | None = None
    """A speculative run of at most so many seconds."""
    came: int = 0
    """So many processors came at that instant, because the machine grew or got some back."""


@dataclass(frozen=True)
class Requeued:
    """Its speculative run reached its limit: `lost` seconds of work are lost, and it waits again."""

    time: float
    lost: float


@dataclass(frozen=True)
class Interrupted(Requeued):
    """Its processors went: `lost` seconds of work are lost, and it waits again."""


@dataclass(frozen=True)
class Returned:
    """Its matrix was given up before its row had been on turn: it waits again."""

    time: float


@dataclass(frozen=True)
class Paused:
    """It was suspended at `time` and went on, or its work was lost, at `until` (None: never)."""

    time: float
    until: float | None
    because: Reason
    """Why it was suspended."""
    overhead: float
    """Seconds in which it still kept its processors."""
    ran: float
    """How long it had run by then."""
    by: tuple[Job, ...]
    """Who was on its processors then."""
    back: Reason | None = None
    """Why it could go on, if it did."""

    @property
    def seconds(self) -> float:
        return 0 if self.until is None else self.until - self.time


@dataclass(frozen=True)
class Entered:
    """It came into the matrix, which has so many `rows` then."""

    time: float
    row: int
    columns: int
    rows: int
    because: Reason
    backfilled: bool


@dataclass(frozen=True)
class Shared:
    """From its first turn on it shared processors in time: it ran whenever one of its rows was on turn.

    What became of its place is told from when it came into the matrix.
    """

    time: float
    until: float
    ran: float
    """Seconds of progress in that time."""
    first: bool
    """Did it start with it? Else it had run before."""
    rows: Range
    """How many rows there were."""
    own: Range
    """In how many of them it stood."""
    alone: float = 0
    """For so many seconds it stood in all rows."""
    replicated: float = 0
    """For so many seconds it stood in more than one row, but not in all."""
    moved: int = 0
    """After how many steps its home was another row than before."""
    migrated: int = 0
    owed: float = 0
    """Seconds of its own turns that migrations were to cost it, its own and those of others.

    What it had not paid when it left was forgiven.
    """


@dataclass(frozen=True)
class Told:
    """The policy decided something else about it."""

    time: float
    decision: Decision


@dataclass(frozen=True)
class Ended:
    """It ended; `killed`: at the end of its estimate, though it was not done."""

    time: float
    killed: bool


Moment: TypeAlias = (
    Submitted | Waited | Planned | Unplanned | Started | Requeued | Returned | Paused | Entered | Shared | Told | Ended
)


class Pass(NamedTuple):
    """A job that came later began while this one waited: from `behind` it in the queue's order, or from ahead of it."""

    time: float
    job: Job
    behind: bool


def named(state: Reason) -> Job | None:
    """The other job that a reason names."""
    return next(iter(jobs_in(state)), None)


def numbers_of(state: Reason) -> dict[str, Range]:
    """The numbers of a reason by name, each as a range of one value."""
    fields = fields_of(state).items()
    return {key: Range(value, value) for key, value in fields if isinstance(value, int | float)}
