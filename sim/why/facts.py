"""The numbers behind a wait or a start, as data (`Fact`), and what each is called and says (`fact_row`)."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from sim.decisions.sentences import Detail
from sim.words import Clock, clock, count, listed, name, processors, span
from sim.workload.model import Job

# What it needs, and what there is


class Needs(NamedTuple):
    """How many processors it needs, and for how long by its estimate."""

    procs: int
    seconds: float


class Free(NamedTuple):
    """Processors that are free; of these some may be kept, so that a suspended job goes on there."""

    procs: int
    kept: int = 0
    kept_for: Job | None = None


class FreeInRow(NamedTuple):
    """The row of the matrix with the most free columns, replicas left aside; there are `rows` of at most `most`."""

    columns: int
    row: int
    rows: int
    most: int | None


class Enough(NamedTuple):
    """When enough will be free if nobody else takes them, and the jobs that end until then, by their estimates."""

    at: float
    ending: tuple[Job, ...]
    row: int | None = None
    """The row of the matrix, where there is one."""


# Who else waits, and what is planned


class Ahead(NamedTuple):
    """Who stands before it in its queue, and how many processors they want together."""

    jobs: int
    wanted: int


class PassedBy(NamedTuple):
    """So many jobs came later and started while it waited.

    Those were in its way that held processors at a moment at which enough had been free, had nobody passed it.
    """

    jobs: int
    in_its_way: int | None = None
    """How many of them were; None: nobody can say."""

    @property
    def told(self) -> str:
        """Whether that mattered.

        >>> (PassedBy(5, 2).told, PassedBy(1, 1).told, PassedBy(5).told)
        (', 2 of which held processors it needed', ', which held processors it needed', '')
        """
        if self.in_its_way is None:
            return ""
        if self.jobs == 1:
            return f", which {'held' if self.in_its_way else 'did not hold'} processors it needed"
        many = "all" if self.in_its_way == self.jobs else f"{self.in_its_way:,}" if self.in_its_way else "none"
        return f", {many} of which held processors it needed"


NOBODY = PassedBy(0, 0)


class PlannedFor(NamedTuple):
    """Its planned start, and by how much that moved in this step."""

    at: float
    moved: float
    row: int | None = None
    anew: bool = False
    """Is it made anew at each pass, as nothing but a plan?"""


class AskedFor(NamedTuple):
    """The start that its user asked for; was it granted?"""

    at: float
    granted: bool


class Delays(NamedTuple):
    """If it started now, the planned start of `job` would be so much later, and those of some `others` later, too."""

    job: Job
    seconds: float
    others: int | None = 0
    """None: there are too many to look at them all."""


class DelaysNobody(NamedTuple):
    """If it started now, nobody with a planned start would be delayed."""


class Grown(NamedTuple):
    """Its expansion factor."""

    xfactor: float


# What it has done, and who is in its place


class Ran(NamedTuple):
    """So many seconds of progress of the estimated ones."""

    seconds: float
    estimate: float


class Sitter(NamedTuple):
    """A job on so many of a suspended job's processors, until it ends by its estimate."""

    job: Job
    procs: int
    until: float


class Sitters(NamedTuple):
    """Who is on a suspended job's processors, the first to end first."""

    sitters: tuple[Sitter, ...]
    row: int | None = None
    """Where rows take turns: the row in which they leave first."""


class Kept(NamedTuple):
    """A suspended job's processors are kept for it."""


# Why it could start


class Passes(NamedTuple):
    """The jobs that came before it and go on waiting."""

    jobs: tuple[Job, ...]


class Freed(NamedTuple):
    """The jobs that ended in this step."""

    jobs: tuple[Job, ...]


Fact: TypeAlias = (
    Needs
    | Free
    | FreeInRow
    | Enough
    | Detail
    | Ahead
    | PassedBy
    | PlannedFor
    | AskedFor
    | Delays
    | DelaysNobody
    | Grown
    | Ran
    | Sitters
    | Kept
    | Passes
    | Freed
)

# In words


def fact_row(fact: Fact, at: Clock = clock) -> tuple[str, str]:
    """What the number is, and the number.

    >>> fact_row(Needs(64, 7200)), fact_row(Ahead(1, 8))
    (('needs', '64 for 2h00'), ('ahead of it', '1 job, 8 processors'))
    """
    match fact:
        case Needs(procs, seconds):
            return "needs", f"{procs:,} for {span(seconds)}"
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
                f"{at(time)}{_in_row(row)}{_moved(moved)}{' (recomputed at every step, not a promise)' * anew}",
            )
        case AskedFor(time, granted):
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
        case Kept():
            return "its procs", "kept free for it: no other job starts on them"
        case Passes(passed):
            return "passes", listed(map(name, passed))
        case Freed(freed):
            return "ended now", listed(map(name, freed))


def _in_row(row: int | None) -> str:
    return "" if row is None else f" in row {row}"


def _moved(seconds: float) -> str:
    return f", {span(abs(seconds))} {'later' if seconds > 0 else 'earlier'} than before" if seconds else ""
