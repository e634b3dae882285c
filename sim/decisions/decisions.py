"""Decisions that a policy can make, as immutable data with a sentence each.

A policy yields decisions; the engine checks and applies them one by one. Each has its reason
(`sim.decisions.sentences.Reason`); decisions about an Ousterhout matrix are in `sim.decisions.matrix`.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple, TypeAlias

from sim.decisions.matrix import MatrixDecision
from sim.decisions.sentences import Reason, in_words, why
from sim.machine.processors import written
from sim.support.errors import DecisionError
from sim.support.formatting import LATEST, Clock, listed, name, processors, shortened, span
from sim.workload.model import Job
from sim.workload.shape import Seats


class Start(NamedTuple):
    """Start of a job now. `on` has the processors (bits) or nodes that the policy chooses; None lets the placement rule
    choose them.
    """

    job: Job
    because: Reason
    on: int | Seats | None = None
    limit: float | None = None
    """Longest time in seconds of a speculative run, after which the job is killed and queued again; None for an
    ordinary run.
    """

    def say(self, at: Clock) -> str:
        return f"{_runs(self, 'starts')}: {why(self.because, self.job, at)}"


class Backfill(NamedTuple):
    """Start of a job now, before a job ahead of it in the queue."""

    job: Job
    because: Reason
    on: int | Seats | None = None
    limit: float | None = None

    def say(self, at: Clock) -> str:
        return f"{_runs(self, 'is backfilled')}: {why(self.because, self.job, at)}"


class Reserve(NamedTuple):
    """Reservation for a job: a start at the time `at`, which is kept free for it."""

    job: Job
    at: float
    because: Reason
    lasts: float | None = None
    """Length of the reservation in seconds; None for the job's estimate."""
    on: Seats | None = None
    """Nodes that the policy chooses for the start; None lets the placement rule choose them."""

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is planned for {at(self.at)}: {why(self.because, self.job, at)}"


class Expect(NamedTuple):
    """Expected start of a job, as computed in this pass. It reserves nothing."""

    job: Job
    at: float

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is expected to start at {at(self.at)} (not reserved)"


class Suspend(NamedTuple):
    """Suspension of a running job, which keeps its progress. Its processors are free after `overhead` seconds, in which
    its memory is written.
    """

    job: Job
    because: Reason
    overhead: float = 0

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is suspended{_overhead_clause(self.overhead)}: {why(self.because, self.job, at)}"


class Resume(NamedTuple):
    """Resumption of a suspended job, which makes progress after `overhead` seconds. `on` are the processors on which it
    resumes; None for those it had before.
    """

    job: Job
    because: Reason
    overhead: float = 0
    on: int | None = None

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} resumes{_overhead_clause(self.overhead)}: {why(self.because, self.job, at)}"


class Await(NamedTuple):
    """Choice of the suspended job that resumes next; its processors are kept free until it resumes."""

    job: Job

    def say(self, at: Clock) -> str:
        return f"the processors of {name(self.job)} are kept free for it: it is the next to resume"


class Switched(NamedTuple):
    """Switch of the policy from `was` to `now` by the user. It is listed like a decision, but no policy made it."""

    was: str
    now: str

    def say(self, at: Clock) -> str:
        return f"this run changes from {self.was} to {self.now}"


class Gone(NamedTuple):
    """Record that processors go down now. Like `Returned`, `Interrupt` and `Drop`, this class has the form of a
    decision, but no policy decides it.
    """

    processors: int
    until: float
    """Time at which the processors become available again; inf if they never do."""
    announced: bool
    again: bool = False
    """True if the processors were already down and only the expected time of their return has changed."""

    def say(self, at: Clock) -> str:
        how = "go down for announced maintenance" if self.announced else "already down, fail" if self.again else "fail"
        until = "permanently" if self.until == inf else f"until {at(self.until)}"
        return f"processors {written(self.processors)}{',' if self.again else ''} {how}, {until}"


class Returned(NamedTuple):
    """Record that processors become available, again or for the first time."""

    processors: int

    def say(self, at: Clock) -> str:
        return f"processors {written(self.processors)} become available"


class Interrupt(NamedTuple):
    """Record that a job is interrupted, as its processors went down: `ran` seconds are lost, and it waits again."""

    job: Job
    ran: float

    def say(self, at: Clock) -> str:
        ran = span(self.ran)
        return f"{name(self.job)} is interrupted after {ran}: its processors went down; it returns to the queue"


class Drop(NamedTuple):
    """Record that a job is cancelled, because it needs more processors than will ever be available, or because of
    `why`.
    """

    job: Job
    most: int
    why: str = ""

    def say(self, at: Clock) -> str:
        if self.why:
            return f"{name(self.job)} is cancelled: {self.why}"
        needs = processors(self.job.procs)
        return f"{name(self.job)} is cancelled: it needs {needs} and at most {self.most:,} will ever be available"


class Divide(NamedTuple):
    """Division of the machine into partitions; `owners[p]` are the processors of partition p, as bits."""

    owners: tuple[int, ...]

    def say(self, at: Clock) -> str:
        shares = listed((f"{owned.bit_count():,}" for owned in self.owners), 8)
        return f"the machine is divided into partitions of {shares} processors"


class Borrow(NamedTuple):
    """Loan of idle processors by the partition `lender` to the partition `to`, because `job` needs them."""

    job: Job
    to: int
    lender: int
    processors: int

    def say(self, at: Clock) -> str:
        borrowed = processors(self.processors.bit_count())
        return f"partition {self.to} borrows {borrowed} from partition {self.lender} for {name(self.job)}"


class Wake(NamedTuple):
    """Request of a policy to make another pass at the time `at`, even if nothing else happens then.

    If `during` is given, the request expires when this job leaves its present processors. If `is_renewed` is True, the
    request expires at the next pass, which may make a new request. If a pass makes several requests of the latter kind,
    only the earliest counts.
    """

    at: float
    during: Job | None = None
    is_renewed: bool = False

    def say(self, at: Clock) -> str:
        return f"the policy runs again at {at(self.at)}"


class Keep(NamedTuple):
    """Statement that a considered job waits, with the reason. It has no effect, and policies yield it only if
    `view.curious` is True (a user watches the run).
    """

    job: Job
    because: Reason

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} waits: {why(self.because, self.job, at)}"


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
    | Gone
    | Returned
    | Interrupt
    | Drop
    | MatrixDecision
)


def job_of(decision: Decision) -> Job | None:
    """Return the job that a decision is about; None if it is about the machine or the policy."""
    job = getattr(decision, "job", None)
    return job if isinstance(job, Job) else None


def check_span(job: Job, to_do: str, seconds: float | None) -> None:
    """Raise a `DecisionError` if `seconds`, the length that a decision gives, is out of range or not a number. `to_do`
    is a verb for the message.
    """
    if seconds is not None and not 0 <= seconds <= LATEST:
        raise DecisionError(f"job {job.id} cannot {to_do} for {seconds:.12g} s: expected 0 to {LATEST:,.0f}")


NO_REASONS = frozenset({type(None), bool, int, float, complex, bytes, tuple, list, dict, set, type})
"""Types of values that are no reason; a text or any other object is one"""


def check_reason(job: Job, because: object) -> None:
    """Raise a `DecisionError` if `because`, the reason of a decision about `job`, is of a type in `NO_REASONS`."""
    if type(because) in NO_REASONS:
        given = f"the class {because.__name__}" if isinstance(because, type) else shortened(in_words(because))
        wanted = "an object with a method `sentence`, such as InOrder(view.free), or a text"
        raise DecisionError(f"the reason of a decision about job {job.id} must be {wanted}; got {given}")


def _runs(begins: Start | Backfill, verb: str) -> str:
    limit = "" if begins.limit is None else f" for at most {span(begins.limit)}"
    return f"{name(begins.job)} {verb} on {processors(begins.job.procs)}{limit}"


def _overhead_clause(overhead: float) -> str:
    return f", which takes {span(overhead)}" if overhead else ""
