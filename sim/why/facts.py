"""Facts: the numbers behind a wait or a start, as data; `fact_row` returns the label and text of each."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from sim.decisions.sentences import Detail
from sim.support.formatting import Clock, clock, count, listed, name, processors, span
from sim.workload.model import Job

# Processors


class Needs(NamedTuple):
    """Fact of what the job requests: processors, and seconds by its estimate; on nodes also its request as text."""

    procs: int
    seconds: float
    asked: str = ""


class Free(NamedTuple):
    """Fact of the free processors: `procs` in all, of which `kept` are kept for the suspended job `kept_for`."""

    procs: int
    kept: int = 0
    kept_for: Job | None = None


class FreeInRow(NamedTuple):
    """Fact of the row with the most free columns, as replicas are; `most` rows are allowed (None: no limit)."""

    columns: int
    row: int
    rows: int
    most: int | None


class Enough(NamedTuple):
    """Fact that from time `at` on enough processors will be free for the job; `ending` end by then."""

    at: float
    ending: tuple[Job, ...]
    row: int | None = None
    """Row of the matrix in which the processors will be free; None if there is no matrix."""


# The other jobs and the plan


class Ahead(NamedTuple):
    """Fact of the jobs in front of the job in its queue: their number, and the processors that they need together."""

    jobs: int
    wanted: int


class PassedBy(NamedTuple):
    """Fact: jobs that arrived later and started while this job waited. One was in its way if it held processors when
    this job could have started without such jobs.
    """

    jobs: int
    in_its_way: int | None = None
    """Number of these jobs that were in this job's way; None if unknown."""

    @property
    def told(self) -> str:
        """Return a clause about how many of these jobs held processors that this job needed; "" if unknown."""
        if self.in_its_way is None:
            return ""
        if self.jobs == 1:
            return f", which {'held' if self.in_its_way else 'did not hold'} processors it needed"
        many = "all" if self.in_its_way == self.jobs else f"{self.in_its_way:,}" if self.in_its_way else "none"
        return f", {many} of which held processors it needed"


NOBODY = PassedBy(0, 0)


class PlannedFor(NamedTuple):
    """Fact of the planned start `at`, and of the seconds by which it moved in this step (positive: later)."""

    at: float
    moved: float
    row: int | None = None
    anew: bool = False
    """True if the plan is recomputed at each pass, so that the planned start is no promise."""


class AskedStart(NamedTuple):
    """Fact of the start `at` that the user requested; `granted` is True if this start was reserved."""

    at: float
    granted: bool


class Delays(NamedTuple):
    """Fact that a start now would delay the planned start of `job` by `seconds`, and of `others` jobs."""

    job: Job
    seconds: float
    others: int | None = 0
    """Number of other jobs that would be delayed; None if there are too many jobs to check."""


class DelaysNobody(NamedTuple):
    """Fact that no planned start would be delayed if this job started now."""


class Grown(NamedTuple):
    """Fact of the expansion factor (xfactor) of the job, which grows while the job waits."""

    xfactor: float


# Progress, and the jobs on its processors


class Ran(NamedTuple):
    """Fact of how long the job has run, and of its estimate, both in seconds."""

    seconds: float
    estimate: float


class Sitter(NamedTuple):
    """Job that runs on `procs` of a suspended job's processors until its expected end `until`."""

    job: Job
    procs: int
    until: float


class Sitters(NamedTuple):
    """Fact of the jobs that run on a suspended job's processors, in order of expected end."""

    sitters: tuple[Sitter, ...]
    row: int | None = None
    """Row of the matrix in which these jobs run, the one where they end first; None if no rows take turns."""


class KeptFree(NamedTuple):
    """Fact that the processors of a suspended job are kept for it."""


# Why it could start


class PassesJobs(NamedTuple):
    jobs: tuple[Job, ...]


class Freed(NamedTuple):
    jobs: tuple[Job, ...]


Fact: TypeAlias = (
    Needs | Free | FreeInRow | Enough | Detail | Ahead | PassedBy | PlannedFor | AskedStart | Delays | DelaysNobody
    | Grown | Ran | Sitters | KeptFree | PassesJobs | Freed
)  # fmt: skip

# In words


def fact_row(fact: Fact, at: Clock = clock) -> tuple[str, str]:
    """Return the label and the text of a fact; `at` writes a time as text."""
    match fact:
        case Needs(procs, seconds, asked):
            return "needs", f"{asked or f'{procs:,}'} for {span(seconds)}"
        case Free(procs, kept, kept_for):
            return "free now", f"{procs:,}" + (f", {kept:,} of them kept for {name(kept_for)}" if kept_for else "")
        case FreeInRow(columns, row, rows, most):
            limit = "" if most is None else f" of at most {most:,}"
            return "most free", f"{columns:,} in row {row}; rows: {rows:,}{limit}"
        case Enough(time, ending, row):
            have = "has" if len(ending) == 1 else "have"
            return "enough free", f"by {at(time)}{_in_row(row)}, when {listed(map(name, ending))} {have} ended"
        case Detail():
            return fact.called, fact.written(at)
        case Ahead(jobs, wanted):
            return "ahead of it", f"{count(jobs, 'job')}, {processors(wanted)}"
        case PassedBy(jobs):
            return "passed by", f"{jobs:,} job{'s' * (jobs > 1)} that arrived later{fact.told}"
        case PlannedFor(time, moved, row, anew):
            return (
                "planned for",
                f"{at(time)}{_in_row(row)}{_moved_clause(moved)}{' (recomputed at every step, not a promise)' * anew}",
            )
        case AskedStart(time, granted):
            return "asked for", f"{at(time)}{', granted' * granted}"
        case Delays(job, seconds, others):
            more = f", and {count(others, 'other')}" if others else ", and perhaps others" if others is None else ""
            return "if started", f"it would delay {name(job)} by {span(seconds)}{more}"
        case DelaysNobody():
            return "if started", "it would delay no planned job"
        case Grown(xfactor):
            return "xfactor", f"{xfactor:,.2f}"
        case Ran(seconds, estimate):
            return "has run", f"{span(seconds)} of at most {span(estimate)}"
        case Sitters(sitters, row):
            told = [f"{name(job)} ({procs:,}, until {at(until)})" for job, procs, until in sitters]
            return "on its procs", f"{listed(told)}{_in_row(row)}"
        case KeptFree():
            return "its procs", "kept free for it: no other job starts on them"
        case PassesJobs(passed):
            return "passes", listed(map(name, passed))
        case Freed(freed):
            return "ended now", listed(map(name, freed))


def _in_row(row: int | None) -> str:
    return "" if row is None else f" in row {row}"


def _moved_clause(seconds: float) -> str:
    return f", {span(abs(seconds))} {'later' if seconds > 0 else 'earlier'} than before" if seconds else ""
