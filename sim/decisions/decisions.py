"""What a policy can do: decisions, all of them plain immutable data, each of which says itself.

A policy yields decisions; the engine checks and applies them one by one. Each has its reason
(`sim.decisions.sentences.Reason`); what can be done to a matrix is in `sim.decisions.matrix`.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple, TypeAlias

from sim.decisions.matrix import MatrixDecision
from sim.decisions.sentences import Reason, why
from sim.errors import DecisionError
from sim.machine.processors import written
from sim.words import LATEST, Clock, listed, name, processors, span
from sim.workload.model import Job


class Start(NamedTuple):
    """The job starts now. `on`: the processors, where the policy chooses them itself."""

    job: Job
    because: Reason
    on: int | None = None
    limit: float | None = None
    """For at most so long: a speculative run, killed and queued again if it is not done by then."""

    def say(self, at: Clock) -> str:
        return f"{_runs(self, 'starts')}: {why(self.because, self.job, at)}"


class Backfill(NamedTuple):
    """The job starts now and passes a job that stands before it in the queue."""

    job: Job
    because: Reason
    on: int | None = None
    limit: float | None = None

    def say(self, at: Clock) -> str:
        return f"{_runs(self, 'is backfilled')}: {why(self.because, self.job, at)}"


class Reserve(NamedTuple):
    """The job's reserved start becomes `at`."""

    job: Job
    at: float
    because: Reason
    lasts: float | None = None
    """For how long, if not for its estimate."""

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is planned for {at(self.at)}: {why(self.because, self.job, at)}"


class Expect(NamedTuple):
    """As things stand the job will start at `at`: a plan for this pass, not a reservation."""

    job: Job
    at: float

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is expected to start at {at(self.at)} (not reserved)"


class Suspend(NamedTuple):
    """The running job stops and keeps its progress; its processors are free after `overhead` seconds."""

    job: Job
    because: Reason
    overhead: float = 0

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} is suspended{_taking(self.overhead)}: {why(self.because, self.job, at)}"


class Resume(NamedTuple):
    """The suspended job goes on, with progress after `overhead` seconds; `on`: the processors, if not its own."""

    job: Job
    because: Reason
    overhead: float = 0
    on: int | None = None

    def say(self, at: Clock) -> str:
        return f"{name(self.job)} resumes{_taking(self.overhead)}: {why(self.because, self.job, at)}"


class Await(NamedTuple):
    """The suspended job is the next that must go on: its processors are kept for it until it does."""

    job: Job

    def say(self, at: Clock) -> str:
        return f"the processors of {name(self.job)} are kept free for it: it is the next to resume"


class Switched(NamedTuple):
    """The policy `now` took over from `was`. Decided by whoever watches, not by a policy."""

    was: str
    now: str

    def say(self, at: Clock) -> str:
        return f"the policy is switched from {self.was} to {self.now}"


class Gone(NamedTuple):
    """These processors are not there from now on. Nobody decided it, as all of the four that follow."""

    processors: int
    until: float
    """inf: for good."""
    announced: bool
    again: bool = False
    """Were they gone already?"""

    def say(self, at: Clock) -> str:
        how = "go down for announced maintenance" if self.announced else "already down, fail" if self.again else "fail"
        until = "permanently" if self.until == inf else f"until {at(self.until)}"
        return f"processors {written(self.processors)}{',' if self.again else ''} {how}, {until}"


class Returned(NamedTuple):
    """These processors are there again, or for the first time."""

    processors: int

    def say(self, at: Clock) -> str:
        return f"processors {written(self.processors)} become available"


class Interrupt(NamedTuple):
    """The job's processors are gone: what it had done, for so many seconds, is lost, and it waits again."""

    job: Job
    ran: float

    def say(self, at: Clock) -> str:
        ran = span(self.ran)
        return f"{name(self.job)} is interrupted after {ran}: its processors went down; it returns to the queue"


class Drop(NamedTuple):
    """The job is given up: there will never be as many processors again as it needs."""

    job: Job
    most: int

    def say(self, at: Clock) -> str:
        needs = processors(self.job.procs)
        return f"{name(self.job)} is cancelled: it needs {needs} and at most {self.most:,} will ever be available"


class Divide(NamedTuple):
    """The machine is divided into partitions: `owners[p]` are the processors of partition p."""

    owners: tuple[int, ...]

    def say(self, at: Clock) -> str:
        shares = listed((f"{owned.bit_count():,}" for owned in self.owners), 8)
        return f"the machine is divided into partitions of {shares} processors"


class Borrow(NamedTuple):
    """Idle processors change owner, for `job`: from partition `lender` to partition `to`."""

    job: Job
    to: int
    lender: int
    processors: int

    def say(self, at: Clock) -> str:
        borrowed = processors(self.processors.bit_count())
        return f"partition {self.to} borrows {borrowed} from partition {self.lender} for {name(self.job)}"


class Wake(NamedTuple):
    """Ask this policy again at `at`, even if nothing else happens then.

    With `during` it is void once that job's present stay on processors ends. With `is_renewed` it is void at the next
    pass, which asks again if there is still a reason; of several in one pass the earliest counts.
    """

    at: float
    during: Job | None = None
    is_renewed: bool = False

    def say(self, at: Clock) -> str:
        return f"the policy runs again at {at(self.at)}"


class Keep(NamedTuple):
    """The job was considered and goes on waiting. Yielded only where `view.curious`; changes nothing."""

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
    """The job that a decision is about, if it is about one."""
    job = getattr(decision, "job", None)
    return job if isinstance(job, Job) else None


def check_span(job: Job, to_do: str, seconds: float | None) -> None:
    """What is decided must take a time that can be; NaN is none."""
    if seconds is not None and not 0 <= seconds <= LATEST:
        raise DecisionError(f"job {job.id} cannot {to_do} for {seconds:.12g} s: expected 0 to {LATEST:,.0f}")


def _runs(begins: Start | Backfill, verb: str) -> str:
    limit = "" if begins.limit is None else f" for at most {span(begins.limit)}"
    return f"{name(begins.job)} {verb} on {processors(begins.job.procs)}{limit}"


def _taking(overhead: float) -> str:
    return f", which takes {span(overhead)}" if overhead else ""
