"""Decisions that a policy can make, as immutable data with a sentence each.

A policy yields decisions; the engine checks and applies them one by one. Each has its reason
(`sim.decisions.sentences.Reason`); decisions about an Ousterhout matrix are in `sim.decisions.matrix`.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple, TypeAlias

from sim.decisions.matrix import MatrixDecision
from sim.decisions.sentences import Reason, why
from sim.errors import DecisionError
from sim.formatting import LATEST, Clock, listed, name, processors, span
from sim.machine.processors import written
from sim.workload.model import Job
from sim.workload.shape import Seats


class Start(NamedTuple):
    """Start of a job now; `on` are the processors (bits) or nodes that the policy chooses, None if the placement rule
    chooses them.
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
    """New reserved start of a job."""

    job: Job
    at: float
    because: Reason
    lasts: float | None = None
    """Length of the reservation in seconds; None for the job's estimate."""
    on: Seats | None = None
    """Nodes that the policy chooses; None if the placement rule chooses them."""

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is planned for {at(self.at)}: {why(self.because, self.job, at)}"


class Expect(NamedTuple):
    """Expected start of a job by the plan of this pass, which reserves nothing."""

    job: Job
    at: float

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is expected to start at {at(self.at)} (not reserved)"


class Suspend(NamedTuple):
    """Suspension of a running job, which keeps its progress; its processors are free after `overhead` seconds."""

    job: Job
    because: Reason
    overhead: float = 0

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is suspended{_taking(self.overhead)}: {why(self.because, self.job, at)}"


class Resume(NamedTuple):
    """Resumption of a suspended job, which makes progress after `overhead` seconds; `on` are its new processors, None
    for its own.
    """

    job: Job
    because: Reason
    overhead: float = 0
    on: int | None = None

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} resumes{_taking(self.overhead)}: {why(self.because, self.job, at)}"


class Await(NamedTuple):
    """Choice of the suspended job that resumes next; until then its processors are kept free."""

    job: Job

    def say(self, at: Clock) -> str:
        return f"the processors of {name(self.job)} are kept free for it: it is the next to resume"


class Switched(NamedTuple):
    """Switch of the policy from `was` to `now`, made by the user, not by a policy."""

    was: str
    now: str

    def say(self, at: Clock) -> str:
        return f"the policy is switched from {self.was} to {self.now}"


class Gone(NamedTuple):
    """Record that processors go down now. Like the next three classes it has the form of a decision, but no policy
    decides it.
    """

    processors: int
    until: float
    """Time at which the processors return; inf if they never do."""
    announced: bool
    again: bool = False
    """True if the processors were down already and only the expected time of their return changes."""

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
    """Record that a job is interrupted because its processors went down: `ran` seconds of work are lost, and it waits
    again.
    """

    job: Job
    ran: float

    def say(self, at: Clock) -> str:
        ran = span(self.ran)
        return f"{name(self.job)} is interrupted after {ran}: its processors went down; it returns to the queue"


class Drop(NamedTuple):
    """Record that a job is cancelled, because it needs more processors than will ever be available."""

    job: Job
    most: int

    def say(self, at: Clock) -> str:
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

    With `during` the request expires when this job leaves its present processors. With `is_renewed` it expires at the
    next pass, which may make another request; of several such requests in one pass the earliest counts.
    """

    at: float
    during: Job | None = None
    is_renewed: bool = False

    def say(self, at: Clock) -> str:
        return f"the policy runs again at {at(self.at)}"


class Keep(NamedTuple):
    """Statement that a considered job waits, with the reason. It has no effect, and is yielded only if `view.curious`
    is True.
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
    """Return the job that a decision is about, or None for a decision about the machine or the policy."""
    job = getattr(decision, "job", None)
    return job if isinstance(job, Job) else None


def check_span(job: Job, to_do: str, seconds: float | None) -> None:
    """Raise a `DecisionError` if the seconds of a decision are out of range or not a number; `to_do` is the decision's
    verb.
    """
    if seconds is not None and not 0 <= seconds <= LATEST:
        raise DecisionError(f"job {job.id} cannot {to_do} for {seconds:.12g} s: expected 0 to {LATEST:,.0f}")


def _runs(begins: Start | Backfill, verb: str) -> str:
    limit = "" if begins.limit is None else f" for at most {span(begins.limit)}"
    return f"{name(begins.job)} {verb} on {processors(begins.job.procs)}{limit}"


def _taking(overhead: float) -> str:
    return f", which takes {span(overhead)}" if overhead else ""
