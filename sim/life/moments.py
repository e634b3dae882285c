"""Events in the life of a job (`sim.life.life`), recorded by `sim.life.job_recorder`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sim.decisions.decisions import Decision
from sim.decisions.sentences import Reason, fields_of, jobs_in
from sim.why.wait_reasons import Holder
from sim.workload.model import Job

# Moments


class ValueRange(NamedTuple):
    """Smallest and largest value of a number over several steps."""

    low: float
    high: float

    def also(self, value: ValueRange) -> ValueRange:
        return ValueRange(min(self.low, value.low), max(self.high, value.high))


@dataclass(frozen=True)
class Submitted:
    """Submission; after the pass at that time, `ahead` jobs with `wanted` processors wait in front of it."""

    time: float
    ahead: int
    wanted: int
    free: int | None
    """Free processors after that pass (in a matrix, columns of the emptiest row); None if it has started."""
    in_rows: bool = False
    """True if the rows of the matrix took turns at that time."""


@dataclass(frozen=True)
class Waited:
    """Stretch of the wait with reasons of one kind: same type, same job; `numbers` has their ranges."""

    time: float
    until: float
    steps: int
    state: Reason
    numbers: dict[str, ValueRange]
    """Range of each number of the reason, by name, and of the free processors (`free`)."""
    ahead: tuple[int, int]
    """Number of jobs in front of the job at the beginning of the stretch, and at its end."""
    fitting: float
    """Seconds of the stretch in which the job would have fitted although it waited."""
    head: Job | None
    """First job in the queue if the policy plans for one job only, otherwise None."""
    lacking: int
    """Requested minus free processors at the beginning of the stretch, at least 0."""
    missing: tuple[Holder, ...]
    """Running jobs that had to end before the job fitted, by expected end, at the beginning of the stretch."""

    @property
    def seconds(self) -> float:
        return self.until - self.time

    @property
    def blocker(self) -> Job | None:
        return job_in_reason(self.state)


@dataclass(frozen=True)
class Foreseen:
    """Plan of the start, made at `time`, with possible causes of a move from `was` (None: first plan)."""

    time: float
    at: float
    was: float | None
    because: Reason | None
    """Reason that the policy gives for the plan; None if the policy only expects the start and reserves nothing."""
    early: tuple[Holder, ...] = ()
    """Jobs that ended when the plan was made, earlier than expected."""
    passers: tuple[Job, ...] = ()
    """Jobs that passed since the previous plan, and will still be running at its start."""
    newcomers: tuple[Job, ...] = ()
    """Jobs that arrived when the plan was made, and were placed in front of this job in the queue."""
    promised: bool = False
    """True if the policy promised not to move the start later."""

    @property
    def moved(self) -> float:
        """Return by how many seconds the planned start moved; negative if to an earlier time."""
        return 0 if self.was is None else self.at - self.was


@dataclass(frozen=True)
class Unplanned:
    """End of the plan `was`: the policy now plans for `ahead`, the first in the queue (None: unknown)."""

    time: float
    was: float
    ahead: Job | None


@dataclass(frozen=True)
class Started:
    """Start of the job; `freed` are the jobs that ended at that time. This job may use some of their processors."""

    time: float
    because: Reason
    backfilled: bool
    freed: tuple[Holder, ...]
    since: float
    """Begin of the wait that ends now: the submission, or the end of a run whose work was lost."""
    limit: float | None = None
    """Longest run time in seconds of a speculative run; None for any other run."""
    came: int = 0
    """Number of processors that became available again at the time of the start."""


@dataclass(frozen=True)
class Requeued:
    """End of a speculative run at its limit: `lost` seconds of work are lost, and the job waits again."""

    time: float
    lost: float


@dataclass(frozen=True)
class Interrupted(Requeued):
    """Loss of `lost` seconds of work because processors of the job went down: the job waits again."""


@dataclass(frozen=True)
class Ousted:
    """Return of the job to the queue, because a switch of the policy dissolved the matrix before the job had a turn."""

    time: float


@dataclass(frozen=True)
class Paused:
    """Suspension from `time` until the job resumes or loses its work, `until` (None: neither happened)."""

    time: float
    until: float | None
    because: Reason
    overhead: float
    """Seconds after the suspension in which the job still held its processors, to write its memory."""
    ran: float
    """Run time of the job up to the suspension, in seconds."""
    by: tuple[Job, ...]
    """Jobs that took the suspended job's processors."""
    back: Reason | None = None

    @property
    def seconds(self) -> float:
        return 0 if self.until is None else self.until - self.time


@dataclass(frozen=True)
class Entered:
    """Placement of the job in the matrix: in `row` and `columns` (as bits), when the matrix had `rows` rows."""

    time: float
    row: int
    columns: int
    rows: int
    because: Reason
    backfilled: bool


@dataclass(frozen=True)
class Shared:
    """Stay in the matrix from the first turn on, with totals; `moved` and `migrated` count from the placement on."""

    time: float
    until: float
    ran: float
    """Seconds for which the job ran during this stay."""
    first: bool
    rows: ValueRange
    """Smallest and largest number of rows that the matrix had during the stay."""
    own: ValueRange
    """Smallest and largest number of rows that the job was in at once."""
    alone: float = 0
    """Seconds in which the job was in all rows of the matrix."""
    replicated: float = 0
    """Seconds in which the job was in more than one row, but not in all."""
    moved: int = 0
    """Number of times that the job moved to another home row."""
    migrated: int = 0
    owed: float = 0
    """Seconds of its turns that migrations cost the job, also losses ahead when it left the matrix."""


@dataclass(frozen=True)
class Told:
    """Any other event: a decision about the job for which there is no class of its own, or a switch of the policy."""

    time: float
    decision: Decision


@dataclass(frozen=True)
class Ended:
    """End of the job; `killed` is True if it had reached its estimate before it was finished."""

    time: float
    killed: bool


Moment: TypeAlias = (
    Submitted | Waited | Foreseen | Unplanned | Started | Requeued | Ousted | Paused | Entered | Shared | Told | Ended
)


class Pass(NamedTuple):
    """Start of a job submitted later than this waiting job; `behind`: behind it in the queue."""

    time: float
    job: Job
    behind: bool


def job_in_reason(state: Reason) -> Job | None:
    return next(iter(jobs_in(state)), None)


def numbers_of(state: Reason) -> dict[str, ValueRange]:
    fields = fields_of(state).items()
    return {key: ValueRange(value, value) for key, value in fields if isinstance(value, int | float)}
