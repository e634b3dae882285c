"""Events in the life of a job (`sim.life.life`), recorded by `sim.life.job_recorder`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sim.decisions.decisions import Decision
from sim.decisions.sentences import Reason, fields_of, jobs_in
from sim.why.wait_reasons import Holder
from sim.workload.model import Job

# Moments


class Range(NamedTuple):
    """Range from the smallest to the largest value of a number over some steps."""

    low: float
    high: float

    def also(self, value: Range) -> Range:
        return Range(min(self.low, value.low), max(self.high, value.high))


@dataclass(frozen=True)
class Submitted:
    """Submission of the job; after that pass `ahead` waiting jobs are ahead of it and need `wanted` processors."""

    time: float
    ahead: int
    wanted: int
    free: int | None
    """Free processors after that pass (in a matrix, of the emptiest row); None if the job has started by then."""
    in_rows: bool = False
    """True if there was a matrix."""


@dataclass(frozen=True)
class Waited:
    """Wait from `time` to `until` for one kind of reason, `state`, with the ranges of its numbers."""

    time: float
    until: float
    steps: int
    state: Reason
    """Reason of the last step; two reasons are of one kind if their type and the job they name are equal."""
    numbers: dict[str, Range]
    """Range of each number of the reason and of the `free` processors, by name."""
    ahead: tuple[int, int]
    """Numbers of jobs ahead of the job at the beginning and at the end of the stretch."""
    fitting: float
    """Seconds in which enough processors were free for the job although it waited."""
    head: Job | None
    """First job in the queue if the policy plans for one job only, otherwise None."""
    lacking: int
    """Number of processors that the job lacked at the beginning of the stretch."""
    missing: tuple[Holder, ...]
    """Jobs that must end before the job fits, by expected end, as of the beginning of the stretch."""

    @property
    def seconds(self) -> float:
        return self.until - self.time

    @property
    def blocker(self) -> Job | None:
        """Return the job that the reason names, or None."""
        return named(self.state)


@dataclass(frozen=True)
class Planned:
    """New planned start (`was` is None) or a moved one, with possible causes at that instant."""

    time: float
    at: float
    was: float | None
    because: Reason | None
    """Reason of the plan; None if the policy gives only an expected start."""
    early: tuple[Holder, ...] = ()
    """Jobs that ended at that instant, before their expected end."""
    passers: tuple[Job, ...] = ()
    """Jobs that passed the job since the previous plan, and still run at its previously planned start."""
    newcomers: tuple[Job, ...] = ()
    """Jobs that arrived at that instant and are ahead of the job."""
    promised: bool = False
    """True if the policy promised not to move the start later."""

    @property
    def moved(self) -> float:
        """Return by how many seconds the start moved; negative is earlier."""
        return 0 if self.was is None else self.at - self.was


@dataclass(frozen=True)
class Unplanned:
    """End of a planned start; `ahead` is the job that the policy plans for instead, if known."""

    time: float
    was: float
    ahead: Job | None


@dataclass(frozen=True)
class Started:
    """Start of the job; `freed` are the jobs that ended at that instant."""

    time: float
    because: Reason
    backfilled: bool
    freed: tuple[Holder, ...]
    since: float
    """Beginning of the wait: submission, or the end of a run whose work was lost."""
    limit: float | None = None
    """Longest time of a speculative run in seconds."""
    came: int = 0
    """Processors that became available at that instant."""


@dataclass(frozen=True)
class Requeued:
    """Speculative run killed at its limit: `lost` seconds of work are lost, and it waits again."""

    time: float
    lost: float


@dataclass(frozen=True)
class Interrupted(Requeued):
    """Interruption because processors of the job went down: `lost` seconds of work are lost, and it waits again."""


@dataclass(frozen=True)
class Returned:
    """Removal of the matrix before the job's row had a turn: the job waits again."""

    time: float


@dataclass(frozen=True)
class Paused:
    """Suspension from `time` until the job resumed or lost its work at `until` (None: never)."""

    time: float
    until: float | None
    because: Reason
    """Reason of the suspension."""
    overhead: float
    """Seconds for which the suspended job still kept its processors."""
    ran: float
    """Run time before the suspension, in seconds."""
    by: tuple[Job, ...]
    """Jobs that took the suspended job's processors."""
    back: Reason | None = None
    """Reason of the resumption; None if the job did not resume."""

    @property
    def seconds(self) -> float:
        return 0 if self.until is None else self.until - self.time


@dataclass(frozen=True)
class Entered:
    """Placement in the matrix, which then has `rows` rows."""

    time: float
    row: int
    columns: int
    rows: int
    because: Reason
    backfilled: bool


@dataclass(frozen=True)
class Shared:
    """Time in the matrix from the first turn on: the job ran whenever one of its rows had its turn.

    Changes of its place are counted from its placement in the matrix.

    """

    time: float
    until: float
    ran: float
    """Seconds of progress in that time."""
    first: bool
    """True if the job started with this time; False if it had run before."""
    rows: Range
    """Number of rows of the matrix."""
    own: Range
    """Number of rows that the job was in."""
    alone: float = 0
    """Seconds in which the job was in all rows of the matrix."""
    replicated: float = 0
    """Seconds in which the job was in more than one row, but not in all."""
    moved: int = 0
    """Number of steps after which the job had another home row than before."""
    migrated: int = 0
    owed: float = 0
    """Seconds of its own turns that the job lost to migrations, its own and those of other jobs.

    Losses that it had not made up for when it left do not count.
    """


@dataclass(frozen=True)
class Told:
    """Decision of the policy about the job that is no other event here."""

    time: float
    decision: Decision


@dataclass(frozen=True)
class Ended:
    """End of the job; `killed` if its estimate ran out before it was finished."""

    time: float
    killed: bool


Moment: TypeAlias = (
    Submitted | Waited | Planned | Unplanned | Started | Requeued | Returned | Paused | Entered | Shared | Told | Ended
)


class Pass(NamedTuple):
    """Pass by a job that arrived later and started; `behind` if it was behind this one in queue order."""

    time: float
    job: Job
    behind: bool


def named(state: Reason) -> Job | None:
    """Return the other job that a reason names, or None."""
    return next(iter(jobs_in(state)), None)


def numbers_of(state: Reason) -> dict[str, Range]:
    """Return the numbers of a reason by name, each as a range of one value."""
    fields = fields_of(state).items()
    return {key: Range(value, value) for key, value in fields if isinstance(value, int | float)}
