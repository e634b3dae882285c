"""What a policy can do, and why: decisions and reasons, all of them plain immutable data.

A policy yields decisions; the engine checks and applies them one by one. A reason carries the numbers that made the
difference; `sim.decisions.sentences` turns it into words. Times are seconds, `needs`/`free`/`extra` processors.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from sim.decisions.matrix import MatrixDecision, MatrixReason
from sim.workload.model import Job

# Why a job starts


class InOrder(NamedTuple):
    """Its turn has come and it fits."""

    free: int


class Fits(NamedTuple):
    """It fits, and the policy asks nothing else."""

    free: int


class EndsBefore(NamedTuple):
    """It will have ended when the head needs its processors."""

    head: Job
    shadow: float
    ends: float


class FitsExtra(NamedTuple):
    """It takes only processors that the head will not need."""

    head: Job
    shadow: float
    extra: int


class Due(NamedTuple):
    """Its reserved start is now."""


class Planned(NamedTuple):
    """The plan that was just made starts it now."""


class InWindow(NamedTuple):
    """It ends before the relaxed window closes; the head may slip to there."""

    head: Job
    ends: float
    closes: float


class WithinBounds(NamedTuple):
    """Every waiting job can still start within its bound; `tightest` has the least room left."""

    tightest: Job | None
    margin: float


class AsRecorded(NamedTuple):
    """The trace says that it started at `recorded` (None: it does not say); `late` seconds ago."""

    recorded: float | None
    late: float


class OwnFree(NamedTuple):
    """A suspended job: all of its own processors are free."""


class Preempts(NamedTuple):
    """It takes the place of the jobs that were suspended for it."""

    victims: tuple[Job, ...]


class Claimed(NamedTuple):
    """The jobs that were suspended for it have left."""


class PivotDue(NamedTuple):
    """It is the pivot, the first of its partition's queue, and its planned start is now; so many were borrowed."""

    partition: int
    borrowed: int


class EndsBeforePivot(NamedTuple):
    """Rule a: its partition has `idle` processors, and it ends before the pivot's planned start."""

    pivot: Job
    start: float
    ends: float
    idle: int


class SparesPivot(NamedTuple):
    """Rule b: of its partition's `idle` processors the pivot leaves `extra` when it starts."""

    pivot: Job
    start: float
    idle: int
    extra: int


class DelaysNoPivot(NamedTuple):
    """Rule c: it delays no pivot of any queue; its partition has `idle` processors and borrowed so many."""

    idle: int
    borrowed: int


class TrialDue(NamedTuple):
    """The reserved start of its speculative run, for at most `limit` seconds, is now."""

    limit: float


class TrialEarly(NamedTuple):
    """Its speculative run was reserved for `reserved`; now it moves no pivot and no reservation either."""

    limit: float
    reserved: float


# Why a job is suspended


class ReservationDue(NamedTuple):
    """It is in the way of the granted reservation of `by`."""

    by: Job


class Outranked(NamedTuple):
    """`by` has an xfactor at least `factor` times as large."""

    by: Job
    xfactor: float
    own_xfactor: float
    factor: float


class MadeWay(NamedTuple):
    """It has had its slice, `by` has never run; of those that had, it has suffered least."""

    by: Job
    suffering: float
    slice: float


# Why a start is planned when it is


class WhenFree(NamedTuple):
    """The head of the queue: `free` processors are not enough, at the planned time there are `then`."""

    free: int
    then: int


class EarliestHole(NamedTuple):
    """The first hole in the plan that holds it whole."""

    free: int


class Compressed(NamedTuple):
    """Another job ended early and the plan was pulled forward."""

    was: float


class NewPlan(NamedTuple):
    """The plan was made from nothing."""


class MadeRoom(NamedTuple):
    """Another job started and everybody was placed again, within their bounds."""

    passer: Job
    was: float


class AskedFor(NamedTuple):
    """The user asked to have a start reserved for `wanted`: this is the first place from then on."""

    wanted: float


class PlannedTrial(NamedTuple):
    """A speculative run of at most `limit` seconds comes first: this is where it delays nobody."""

    limit: float


# Why a job is kept waiting


class TooFewFree(NamedTuple):
    """It needs more than is free."""

    free: int


class WouldDelay(NamedTuple):
    """It would end after the head's start and needs more than the extra processors."""

    head: Job
    shadow: float
    ends: float
    extra: int


class PlannedLater(NamedTuple):
    """It fits now but not for its whole estimate beside what is planned before it."""

    at: float
    free: int


class WindowCloses(NamedTuple):
    """It would end after the relaxed window closes."""

    head: Job
    ends: float
    closes: float


class BreaksBound(NamedTuple):
    """Starting it would push `other` to `start`, past its bound."""

    other: Job
    start: float
    bound: float


class WaitsForOwn(NamedTuple):
    """A suspended job: `busy` of its own processors are taken."""

    busy: int


class NoVictims(NamedTuple):
    """Too few running jobs have an xfactor so much smaller than its own."""

    xfactor: float
    factor: float


class NoSliceOver(NamedTuple):
    """Too few running jobs have had their slice."""

    slice: float


class PivotLater(NamedTuple):
    """It is the first of its queue and planned for `at`; until then too much is needed before it."""

    at: float
    free: int


class WouldDelayPivot(NamedTuple):
    """It would end at `ends` and push the start of the `pivot` of a queue from `start` to `later`."""

    pivot: Job
    start: float
    later: float
    ends: float


class TouchesReservation(NamedTuple):
    """It would end at `ends` and need processors that are reserved for `other` from `at` on."""

    other: Job
    at: float
    ends: float


class TrialLater(NamedTuple):
    """Its speculative run of at most `limit` seconds is reserved for `at`; before, it would move somebody."""

    at: float
    limit: float
    free: int


class WaitsForReserved(NamedTuple):
    """Its start is reserved for `at`, as the user asked."""

    at: float


class NotYet(NamedTuple):
    """The trace says that it starts later."""

    recorded: float


Reason: TypeAlias = (
    InOrder
    | Fits
    | EndsBefore
    | FitsExtra
    | Due
    | Planned
    | InWindow
    | WithinBounds
    | AsRecorded
    | OwnFree
    | Preempts
    | Claimed
    | ReservationDue
    | Outranked
    | MadeWay
    | WhenFree
    | EarliestHole
    | Compressed
    | NewPlan
    | MadeRoom
    | TooFewFree
    | WouldDelay
    | PlannedLater
    | WindowCloses
    | BreaksBound
    | WaitsForOwn
    | NoVictims
    | NoSliceOver
    | PivotDue
    | EndsBeforePivot
    | SparesPivot
    | DelaysNoPivot
    | TrialDue
    | TrialEarly
    | AskedFor
    | PlannedTrial
    | PivotLater
    | WouldDelayPivot
    | TouchesReservation
    | TrialLater
    | WaitsForReserved
    | NotYet
    | MatrixReason
)

# Decisions


class Start(NamedTuple):
    """The job starts now. `on`: the processors, where the policy chooses them itself."""

    job: Job
    because: Reason
    on: int | None = None
    limit: float | None = None
    """For at most so long: a speculative run, killed and queued again if it is not done by then."""


class Backfill(NamedTuple):
    """The job starts now and passes a job that stands before it in the queue."""

    job: Job
    because: Reason
    on: int | None = None
    limit: float | None = None


class Reserve(NamedTuple):
    """The job's reserved start becomes `at`."""

    job: Job
    at: float
    because: Reason
    lasts: float | None = None
    """For how long, if not for its estimate."""


class Expect(NamedTuple):
    """As things stand the job will start at `at`: a plan for this pass, not a reservation."""

    job: Job
    at: float


class Suspend(NamedTuple):
    """The running job stops and keeps its progress; its processors are free after `overhead` seconds."""

    job: Job
    because: Reason
    overhead: float = 0


class Resume(NamedTuple):
    """The suspended job goes on, on exactly its processors, with progress after `overhead` seconds."""

    job: Job
    because: Reason
    overhead: float = 0


class Await(NamedTuple):
    """The suspended job is the first that must go on and cannot: its processors are kept for it until it does."""

    job: Job


class Switched(NamedTuple):
    """The policy `now` took over from `was`. Decided by whoever watches, not by a policy."""

    was: str
    now: str


class Divide(NamedTuple):
    """The machine is divided into partitions: `owners[p]` are the processors of partition p."""

    owners: tuple[int, ...]


class Borrow(NamedTuple):
    """Idle processors change owner, for `job`: from partition `lender` to partition `to`."""

    job: Job
    to: int
    lender: int
    processors: int


class Wake(NamedTuple):
    """Ask this policy again at `at`, whatever else happens."""

    at: float


class Keep(NamedTuple):
    """The job was considered and goes on waiting. Yielded only where `view.curious`; changes nothing."""

    job: Job
    because: Reason


Decision: TypeAlias = (
    Start
    | Backfill
    | Reserve
    | Expect
    | Wake
    | Keep
    | Suspend
    | Resume
    | Await
    | Divide
    | Borrow
    | Switched
    | MatrixDecision
)
