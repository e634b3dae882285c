"""Why a job waits, or why it started, from a snapshot alone, in three levels.

First one sentence; then the numbers behind it, as data (`Fact`) that `say_fact` puts into words; then the log of what
the policy considered in this step. That a job was rejected is one thing, that nobody came to look at it another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from sim.decisions import Backfill, Decision, Keep, PlannedLater, Start
from sim.matrix_decisions import Place
from sim.profile import Profile
from sim.sentences import say, why
from sim.snapshot import Queued, Snapshot
from sim.words import Clock, clock, clock_near, listed, name, processors, span
from sim.workload.model import Job

Status = Literal["started", "rejected", "planned", "not considered"]
_LOOKED_AT = 200
"""Of so many jobs with a planned start it is found out whether they would be delayed."""


# The numbers


class Needs(NamedTuple):
    """Processors that it needs and that are free."""

    procs: int
    free: int


class Enough(NamedTuple):
    """When enough will be free if nobody else takes them, and the jobs that end until then, by their estimates."""

    at: float
    ending: tuple[Job, ...]


class Ahead(NamedTuple):
    """Who stands before it, and how many processors they want together."""

    jobs: int
    wanted: int


class PlannedFor(NamedTuple):
    """Its planned start, and by how much that moved in this step."""

    at: float
    moved: float


class Delays(NamedTuple):
    """If it started now, the planned start of `job` would be so much later, and those of some `others` later, too."""

    job: Job
    seconds: float
    others: int = 0


class DelaysNobody(NamedTuple):
    """If it started now, nobody with a planned start would be delayed."""


class Passes(NamedTuple):
    """The jobs that stood before it and go on waiting."""

    jobs: tuple[Job, ...]


class Freed(NamedTuple):
    """The jobs that ended in this step."""

    jobs: tuple[Job, ...]


Fact: TypeAlias = Needs | Enough | Ahead | PlannedFor | Delays | DelaysNobody | Passes | Freed


class Considered(NamedTuple):
    """A decision of this step, and whether it is about the job in question."""

    decision: Decision
    is_own: bool


@dataclass(frozen=True)
class Evidence:
    """The three levels."""

    job: Job
    status: Status
    sentence: str
    facts: tuple[Fact, ...]
    log: tuple[Considered, ...]


def evidence_of(snapshot: Snapshot, rank: int) -> Evidence | None:
    """Why this job waits or, if it started in this step, why it did; None if it does neither."""
    queued = next((queued for queued in snapshot.queue if queued.job.rank == rank), None)
    at = clock_near(snapshot.time or 0)
    if queued is not None:
        status, sentence = _why_it_waits(snapshot, queued, at)
        return Evidence(queued.job, status, sentence, tuple(_waiting_facts(snapshot, queued)), _log(snapshot, rank))
    start = next((d for d in snapshot.decisions if _is_start(d) and _rank(d) == rank), None)
    if isinstance(start, Start | Backfill | Place):
        facts = tuple(_starting_facts(snapshot, start))
        return Evidence(start.job, "started", say(start, at), facts, _log(snapshot, rank))
    return None


def _is_start(decision: Decision) -> bool:
    return isinstance(decision, Start | Backfill | Place)


def _rank(decision: Decision) -> int | None:
    job = getattr(decision, "job", None)
    return job.rank if isinstance(job, Job) else None


def _log(snapshot: Snapshot, rank: int) -> tuple[Considered, ...]:
    return tuple(Considered(decision, _rank(decision) == rank) for decision in snapshot.decisions)


# In one sentence


def _why_it_waits(snapshot: Snapshot, queued: Queued, at: Clock) -> tuple[Status, str]:
    job = queued.job
    if queued.why is not None:
        return "rejected", f"{name(job)} waits: {why(queued.why, job, at)}"
    if queued.planned is not None:
        return "planned", f"{name(job)} waits: {_planned_later(snapshot, job, queued.planned, at)}"
    last = next((d.job for d in reversed(snapshot.decisions) if isinstance(d, Keep)), None)
    if last is not None:
        return "not considered", f"{name(job)} was not considered in this step: the policy stopped at {name(last)}"
    head = snapshot.queue[0].job
    if head == job:
        return "not considered", f"{name(job)} heads the queue and was not considered in this step"
    return "not considered", f"{name(job)} was not considered in this step; {name(head)} heads the queue"


def _planned_later(snapshot: Snapshot, job: Job, planned: float, at: Clock) -> str:
    if snapshot.matrix is None and job.procs <= snapshot.free:
        return why(PlannedLater(planned, snapshot.free), job, at)
    return f"needs {job.procs}, {snapshot.free} free; planned for {at(planned)}"


# The numbers behind it


def _waiting_facts(snapshot: Snapshot, queued: Queued) -> Iterator[Fact]:
    job = queued.job
    yield Needs(job.procs, snapshot.free)
    if snapshot.matrix is None and job.procs > snapshot.free:
        yield from _enough(snapshot, job)
    ahead = _ahead(snapshot, job)
    if ahead:
        yield Ahead(len(ahead), sum(other.procs for other in ahead))
    if queued.planned is not None:
        yield PlannedFor(queued.planned, queued.moved)
    if snapshot.matrix is None and job.procs <= snapshot.free:
        yield from _delays(snapshot, job)


def _ahead(snapshot: Snapshot, job: Job) -> list[Job]:
    """Those who stand before it in its own queue."""
    own = next(queued.place for queued in snapshot.queue if queued.job.rank == job.rank)
    before = [queued for queued in snapshot.queue if queued.place == own]
    ranks = [queued.job.rank for queued in before]
    return [queued.job for queued in before[: ranks.index(job.rank)]]


def _enough(snapshot: Snapshot, job: Job) -> Iterator[Enough]:
    free, ending = snapshot.free, []
    for run in snapshot.running:
        free += run.processors.bit_count()
        ending.append(run.job)
        if free >= job.procs:
            yield Enough(run.expected_end, tuple(ending))
            return


def _delays(snapshot: Snapshot, job: Job) -> Iterator[Fact]:
    """Whom it would delay if it started now: every planned job is placed again around it."""
    now = snapshot.time or 0
    planned = [(q.planned, q.job) for q in islice(snapshot.queue, _LOOKED_AT) if q.planned is not None and q.job != job]
    if not planned:
        return
    ends = [(run.expected_end, run.job.rank, run.processors.bit_count()) for run in snapshot.running]
    plan = Profile.of_running(now, snapshot.free, ends)
    plan.take(now, now + job.estimate, job.procs)
    placed = [(plan.place(other.procs, other.estimate, at) - at, other) for at, other in sorted(planned)]
    delayed = [(later, other) for later, other in placed if later > 0]
    if delayed:
        later, other = delayed[0]
        yield Delays(other, later, len(delayed) - 1)
    elif len(snapshot.queue) <= _LOOKED_AT:
        yield DelaysNobody()


def _starting_facts(snapshot: Snapshot, start: Start | Backfill | Place) -> Iterator[Fact]:
    if snapshot.completed:
        yield Freed(snapshot.completed)
    if isinstance(start, Backfill):
        passed = tuple(queued.job for queued in snapshot.queue if queued.job.submit <= start.job.submit)
        if passed:
            yield Passes(passed)


# In words


def say_fact(fact: Fact, at: Clock = clock) -> str:
    """A number with what it means.

    >>> say_fact(Needs(64, 40)), say_fact(Ahead(1, 8)), say_fact(DelaysNobody())
    ('needs 64, 40 free', '1 job stands before it and wants 8 processors', 'starting it now would delay no planned job')
    """
    match fact:
        case Needs(procs, free):
            return f"needs {procs:,}, {free:,} free"
        case Enough(time, ending):
            verb = "ends" if len(ending) == 1 else "end"
            return f"enough will be free at {at(time)}, when {listed(map(name, ending))} {verb} by their estimates"
        case Ahead(jobs, wanted):
            who = "1 job stands before it and wants" if jobs == 1 else f"{jobs:,} jobs stand before it and want"
            return f"{who} {processors(wanted)}"
        case PlannedFor(time, moved):
            return f"planned for {at(time)}{_moved(moved)}"
        case Delays(job, seconds, others):
            more = f", and {others:,} other{'s' * (others > 1)}" if others else ""
            return f"starting it now would delay {name(job)} by {span(seconds)}{more}"
        case DelaysNobody():
            return "starting it now would delay no planned job"
        case Passes(passed):
            return f"passes {listed(map(name, passed))}"
        case Freed(freed):
            return f"{listed(map(name, freed))} ended just now"


def _moved(seconds: float) -> str:
    if not seconds:
        return ""
    return f", {span(abs(seconds))} {'later' if seconds > 0 else 'earlier'} than before"
