"""Why a job waits, or why it started, from a snapshot alone, in three levels.

First a sentence or a few, the first of which says most; then the numbers behind it, as data (`sim.facts`); then the log
of what the policy considered in this pass. That a job was rejected is one thing, that nobody came to look at it another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple, TypeAlias

from sim import facts as f
from sim.decisions import Backfill, Decision, Keep, Resume, Start, Suspend
from sim.matrix import Cell
from sim.matrix_decisions import Place
from sim.profile import Profile
from sim.sentences import say
from sim.snapshot import Queued, Running, Snapshot, Suspended
from sim.standing import considered_in, is_suspended, runs, waits
from sim.words import Clock, clock_near
from sim.workload.model import Job

Status = Literal["started", "runs", "rejected", "planned", "not considered"]
Entry: TypeAlias = Queued | Suspended | Running
_LOOKED_AT = 200
"""Of so many jobs with a planned start it is found out whether they would be delayed."""
_OF_THE_MACHINE = {"free", "rows"}
"""Fields of reasons that facts say better."""


class Considered(NamedTuple):
    """A decision of this pass, and what it has to do with the job: it is about it, it went ahead of it or names it."""

    decision: Decision
    is_own: bool
    touches: bool


@dataclass(frozen=True)
class Evidence:
    """The three levels; each is made when somebody looks at it."""

    snapshot: Snapshot
    entry: Entry
    at: Clock
    """How moments are written."""
    passed: int
    """How many jobs came later and started while this one waited, as far as the caller knows."""

    @property
    def job(self) -> Job:
        return self.entry.job

    @cached_property
    def status(self) -> Status:
        """What the policy did about the job in this pass."""
        if self._began is not None:
            return "started"
        match self.entry:
            case Running():
                return "runs"
            case Queued(why=None, planned=None):
                return "not considered"
            case Queued(why=why):
                return "planned" if why is None else "rejected"
            case Suspended(job=job):
                if job.rank == self.snapshot.awaited:
                    return "planned"
                return "not considered" if self._kept is None else "rejected"

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """The first level; the last clauses may be left out."""
        began = () if self._began is None else (f"{say(self._began, self.at)}.",)
        return (*began, *self._standing())

    @cached_property
    def facts(self) -> tuple[f.Fact, ...]:
        """The second level."""
        match self.entry:
            case Queued() as queued:
                return tuple(_of_waiting(self.snapshot, queued, self._enough, self.passed))
            case Suspended() as halted:
                return tuple(_of_suspended(self.snapshot, halted, self._kept))
            case Running() as running:
                return tuple(_of_running(self.snapshot, running, self._began))

    @cached_property
    def log(self) -> tuple[Considered, ...]:
        """The third level: everything, in order."""
        return tuple(Considered(d, _rank(d) == self.job.rank, _touches(d, self.job)) for d in self._considered)

    def _standing(self) -> Iterator[str]:
        match self.entry:
            case Queued() as queued:
                before = len(_ahead(self.snapshot, queued))
                return waits(self.snapshot, queued, before, self._enough, self.passed, self.at)
            case Suspended() as halted:
                return is_suspended(self.snapshot, halted, _sitters(self.snapshot, halted), self._kept, self.at)
            case Running() as running:
                return runs(running, self.at)

    @property
    def _considered(self) -> Iterable[Decision]:
        return considered_in(self.snapshot)

    @cached_property
    def _began(self) -> Start | Backfill | Place | Resume | None:
        """How it came to run in this step, if it did."""
        if not isinstance(self.entry, Running):
            return None
        begun = (d for d in self.snapshot.decisions if isinstance(d, Start | Backfill | Place | Resume))
        return next((d for d in begun if d.job.rank == self.job.rank), None)

    @cached_property
    def _kept(self) -> Keep | None:
        kept = (d for d in self._considered if isinstance(d, Keep))
        return next((d for d in kept if d.job.rank == self.job.rank), None)

    @cached_property
    def _enough(self) -> f.Enough | None:
        return _enough(self.snapshot, self.job)


def evidence_of(snapshot: Snapshot, rank: int, at: Clock | None = None, passed: int = 0) -> Evidence | None:
    """What there is to say of the job of this rank; None if it has ended or is still to come."""
    entry = _entry(snapshot, rank)
    return None if entry is None else Evidence(snapshot, entry, at or clock_near(snapshot.time or 0), passed)


def _entry(snapshot: Snapshot, rank: int) -> Entry | None:
    place = snapshot.queue.place_of(rank)
    if place is not None:
        return snapshot.queue[place]
    begun: tuple[Suspended | Running, ...] = (*snapshot.suspended, *snapshot.running)
    return next((entry for entry in begun if entry.job.rank == rank), None)


# The numbers behind a wait


def _of_waiting(snapshot: Snapshot, queued: Queued, enough: f.Enough | None, passed: int) -> Iterator[f.Fact]:
    job = queued.job
    yield f.Needs(job.procs, job.estimate)
    yield _free(snapshot)
    if queued.why is not None:
        yield from _reasoned(queued.why, said=queued.planned)
    if enough is not None:
        yield enough
    if ahead := _ahead(snapshot, queued):
        yield f.Ahead(len(ahead), sum(other.procs for other in ahead))
    if passed:
        yield f.PassedBy(passed)
    if job.reserve is not None:
        yield f.AskedFor(job.reserve, queued.granted)
    if queued.planned is not None:
        yield f.PlannedFor(queued.planned, queued.moved, queued.row, anew=not queued.reserved)
    if snapshot.matrix is None and job.procs <= snapshot.free:
        yield from _delays(snapshot, job)
    yield f.Grown(queued.xfactor)


def _free(snapshot: Snapshot) -> f.Free | f.FreeInRow:
    """On the machine or, where rows take turns, in the row that has most."""
    rows = _rows(snapshot)
    if not rows:
        return f.Free(snapshot.free)
    free, row = max(((snapshot.procs - _held(cells), -row) for row, cells in rows.items()))
    return f.FreeInRow(free, -row, len(rows), snapshot.rules.most_rows())


def _rows(snapshot: Snapshot) -> dict[int, list[Cell]]:
    """row -> who is at home in it: replicas make way."""
    picture = () if snapshot.matrix is None else snapshot.matrix.rows
    return {row: [cell for cell in cells if cell.is_home] for row, cells in picture}


def _held(cells: Iterable[Cell]) -> int:
    return sum(cell.columns.bit_count() for cell in cells)


def _reasoned(reason: NamedTuple, said: float | None = None) -> Iterator[f.Reasoned]:
    """The fields of a reason, but for what is said anyway."""
    for field, value in reason._asdict().items():
        if field not in _OF_THE_MACHINE and isinstance(value, Job | int | float) and (field != "at" or value != said):
            yield f.Reasoned(field, value)


def _ahead(snapshot: Snapshot, queued: Queued) -> list[Job]:
    """Who stands before it in its own queue."""
    before = snapshot.queue.jobs[: snapshot.queue.place_of(queued.job.rank)]
    if len(snapshot.queues) < 2:
        return list(before)
    return [job for job in before if snapshot.rules.queue_of(job) == queued.place]


def _enough(snapshot: Snapshot, job: Job) -> f.Enough | None:
    """When jobs enough will have ended, in the row where that is first."""
    rows = _rows(snapshot)
    if not rows:
        return _enough_of(snapshot.running, snapshot.free, job.procs)
    found = []
    for row, cells in rows.items():
        at_home = {cell.rank for cell in cells}
        stay = [running for running in snapshot.running if running.job.rank in at_home]
        if enough := _enough_of(stay, snapshot.procs - _held(cells), job.procs):
            found.append(enough._replace(row=row))
    return min(found, key=lambda enough: enough.at) if len(found) == len(rows) else None


def _enough_of(running: Iterable[Running], free: int, needed: int) -> f.Enough | None:
    """None if there is enough already; those that run are given by expected end."""
    ending: list[Job] = []
    for run in running:
        if free >= needed:
            break
        free += run.processors.bit_count()
        ending.append(run.job)
        at = run.expected_end
    return f.Enough(at, tuple(ending)) if ending and free >= needed else None


def _delays(snapshot: Snapshot, job: Job) -> Iterator[f.Fact]:
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
        yield f.Delays(other, later, len(delayed) - 1)
    elif len(snapshot.queue) <= _LOOKED_AT:
        yield f.DelaysNobody()


# The numbers behind a suspension


def _of_suspended(snapshot: Snapshot, halted: Suspended, kept: Keep | None) -> Iterator[f.Fact]:
    yield f.Needs(halted.job.procs, halted.job.estimate - halted.ran)
    yield f.Ran(halted.ran, halted.job.estimate)
    if kept is not None:
        yield from _reasoned(kept.because)
    if sitters := _sitters(snapshot, halted):
        yield sitters
    if snapshot.awaited == halted.job.rank:
        yield f.Kept()
    yield f.Grown(halted.xfactor)


def _sitters(snapshot: Snapshot, halted: Suspended) -> f.Sitters | None:
    """Who is on its processors; where rows take turns, in the row where they leave first. None: nobody."""
    rows = _rows(snapshot)
    if not rows:
        return _sitters_of(snapshot.running, halted)
    found = []
    for row, cells in rows.items():
        at_home = {cell.rank for cell in cells}
        sitting = _sitters_of((run for run in snapshot.running if run.job.rank in at_home), halted)
        if sitting is None:
            return None
        found.append(sitting._replace(row=row))
    return min(found, key=lambda sitting: sitting.sitters[-1].until)


def _sitters_of(running: Iterable[Running], halted: Suspended) -> f.Sitters | None:
    shared = ((run, (run.processors & halted.processors).bit_count()) for run in running)
    sitters = tuple(f.Sitter(run.job, procs, run.expected_end) for run, procs in shared if procs)
    return f.Sitters(sitters) if sitters else None


# The numbers behind a start


def _of_running(snapshot: Snapshot, running: Running, began: Decision | None) -> Iterator[f.Fact]:
    if began is None:
        yield f.Ran(running.ran, running.job.estimate)
        return
    if snapshot.completed:
        yield f.Freed(snapshot.completed)
    if isinstance(began, Backfill) or (isinstance(began, Place) and began.passes):
        passed = tuple(job for job in snapshot.queue.jobs if job.rank < began.job.rank)
        if passed:
            yield f.Passes(passed)


# What was considered


def _rank(decision: Decision) -> int | None:
    job = getattr(decision, "job", None)
    return job.rank if isinstance(job, Job) else None


def _touches(decision: Decision, job: Job) -> bool:
    """Did it let another job go ahead, or does its reason name this one?"""
    if _rank(decision) in (job.rank, None):
        return False
    if isinstance(decision, Start | Backfill | Resume | Suspend | Place):
        return True
    reason = getattr(decision, "because", None)
    return reason is not None and any(isinstance(field, Job) and field.rank == job.rank for field in reason)
