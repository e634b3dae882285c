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
    """Smallest and largest value of a number over some steps."""

    low: float
    high: float

    def also(self, value: Range) -> Range:
        return Range(min(self.low, value.low), max(self.high, value.high))


@dataclass(frozen=True)
class Submitted:
    """Submission of the job. After the pass at that instant, `ahead` jobs wait in front of it, which need `wanted`
    processors.
    """

    time: float
    ahead: int
    wanted: int
    free: int | None
    """Processors free after that pass (in a matrix, in the emptiest row); None if the job has started by then."""
    in_rows: bool = False
    """True if rows took turns at that time."""


@dataclass(frozen=True)
class Waited:
    """Wait of the job from `time` to `until` for one kind of reason (`state`), with the ranges of its numbers."""

    time: float
    until: float
    steps: int
    state: Reason
    """Reason at the last step. Reasons are of one kind if they have the same type and name the same job."""
    numbers: dict[str, Range]
    """Range of each number of the reason and of the `free` processors, by name."""
    ahead: tuple[int, int]
    """Number of jobs in front of the job at the beginning of the stretch, and at its end."""
    fitting: float
    """Seconds in which enough processors were free for the job although it waited."""
    head: Job | None
    """First job in the queue if the policy plans for one job only, otherwise None."""
    lacking: int
    """Number of processors that the job lacked in addition to the free ones at the beginning of the stretch."""
    missing: tuple[Holder, ...]
    """Jobs that had to end before the job could fit, by expected end, as of the beginning of the stretch."""

    @property
    def seconds(self) -> float:
        return self.until - self.time

    @property
    def blocker(self) -> Job | None:
        """Return the job that the reason names, or None."""
        return named(self.state)


@dataclass(frozen=True)
class Planned:
    """Planned start, a first one (`was` is None) or one that moved, and what at that instant may have caused it."""

    time: float
    at: float
    was: float | None
    because: Reason | None
    """Reason for the plan; None if the policy only expects the start."""
    early: tuple[Holder, ...] = ()
    """Jobs that ended at that instant, before their expected end."""
    passers: tuple[Job, ...] = ()
    """Jobs that passed the job since the previous plan, and still run at its previously planned start."""
    newcomers: tuple[Job, ...] = ()
    """Jobs that arrived at that instant and got a place in front of the job."""
    promised: bool = False
    """True if the policy promised not to move the start later."""

    @property
    def moved(self) -> float:
        """Return by how many seconds the planned start moved; negative if to an earlier time."""
        return 0 if self.was is None else self.at - self.was


@dataclass(frozen=True)
class Unplanned:
    """Removal of the job's planned start; `ahead` is the job that the policy plans for instead, if known."""

    time: float
    was: float
    ahead: Job | None


@dataclass(frozen=True)
class Started:
    """Start of the job; `freed` are jobs that ended at that instant, whose processors it may use."""

    time: float
    because: Reason
    backfilled: bool
    freed: tuple[Holder, ...]
    since: float
    """Beginning of the wait: submission, or the end of a run whose work was lost."""
    limit: float | None = None
    """Longest time of a speculative run in seconds."""
    came: int = 0
    """Number of processors that became available at that instant."""


@dataclass(frozen=True)
class Requeued:
    """End of a speculative run at its limit: `lost` seconds of work are lost, and the job waits again."""

    time: float
    lost: float


@dataclass(frozen=True)
class Interrupted(Requeued):
    """Interruption because processors of the job went down: `lost` seconds of work are lost, and the job waits
    again.
    """


@dataclass(frozen=True)
class Returned:
    """Return to the queue, because the matrix was dissolved before the job's row had a turn."""

    time: float


@dataclass(frozen=True)
class Paused:
    """Suspension from `time` until the job resumes or loses its work at `until`; None if neither happens."""

    time: float
    until: float | None
    because: Reason
    """Reason of the suspension."""
    overhead: float
    """Seconds for which the job still kept its processors after the suspension."""
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
    """Placement of the job in the matrix, which then has `rows` rows."""

    time: float
    row: int
    columns: int
    rows: int
    because: Reason
    backfilled: bool


@dataclass(frozen=True)
class Shared:
    """Time of the job in the matrix, from its first turn on; it ran whenever one of its rows was active.

    Changes of its rows and columns are counted from its placement in the matrix.
    """

    time: float
    until: float
    ran: float
    """Seconds for which the job ran in that time."""
    first: bool
    """True if the job first ran in that time; False if it had run before."""
    rows: Range
    """Smallest and largest number of rows in the matrix."""
    own: Range
    """Smallest and largest number of rows that the job was in."""
    alone: float = 0
    """Seconds in which the job was in all rows of the matrix."""
    replicated: float = 0
    """Seconds in which the job was in more than one row, but not in all."""
    moved: int = 0
    """Number of times that the job got another home row."""
    migrated: int = 0
    owed: float = 0
    """Seconds of its own turns that the job lost to migrations, its own and those of other jobs.

    Losses that it had not made up for when it left do not count.
    """


@dataclass(frozen=True)
class Told:
    """Decision about the job that none of the other classes describes."""

    time: float
    decision: Decision


@dataclass(frozen=True)
class Ended:
    """End of the job; `killed` if its estimate was over before it was finished."""

    time: float
    killed: bool


Moment: TypeAlias = (
    Submitted | Waited | Planned | Unplanned | Started | Requeued | Returned | Paused | Entered | Shared | Told | Ended
)


class Pass(NamedTuple):
    """Start of a job that arrived later, while this one waits; `behind` if it was behind this one in the queue."""

    time: float
    job: Job
    behind: bool


def named(state: Reason) -> Job | None:
    """Return the job that a reason names, or None."""
    return next(iter(jobs_in(state)), None)


def numbers_of(state: Reason) -> dict[str, Range]:
    """Return the numbers of a reason by name, each as a range of this one value."""
    fields = fields_of(state).items()
    return {key: Range(value, value) for key, value in fields if isinstance(value, int | float)}
