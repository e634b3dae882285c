"""Evidence for why a job waits or has started, from one snapshot, in three levels.

First a few sentences, the most important first. Then the numbers behind them
(`sim.why.facts`). Last all decisions of this pass. A job that the policy rejected is told apart from a job that it did
not consider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from sim.decisions.decisions import Backfill, Decision, Keep, Resume, Start, Suspend, job_of
from sim.decisions.matrix import Place
from sim.decisions.reasons_to_wait import OwnGone
from sim.decisions.sentences import details, fields_of, jobs_in, say, why
from sim.engine.snapshot import Entry, Queued, Running, Snapshot, Suspended
from sim.machine.ousterhout_matrix import Cell
from sim.machine.profile import Profile
from sim.support.formatting import Clock, clock_near, count, listed, name, processors, span
from sim.why import facts as f
from sim.why.facts import Enough, PassedBy, Sitters
from sim.why.wait_reasons import (
    Holder,
    NodesNow,
    PlannedStart,
    delayed_by,
    free_now,
    frees_nodes,
    most_free,
    must_end,
    nodes_now,
    why_it_waits,
)
from sim.workload.model import Job

Status = Literal["started", "runs", "rejected", "planned", "not considered"]


class Considered(NamedTuple):
    """Decision of this pass: `is_own` if it is about the job of the evidence, `touches` if it concerns it otherwise."""

    decision: Decision
    is_own: bool
    touches: bool


@dataclass(frozen=True)
class Evidence:
    """Three levels of evidence about one job: sentences, facts and decisions; each is computed when needed."""

    snapshot: Snapshot
    entry: Entry
    at: Clock
    """Function that returns a time as text."""
    passed: f.PassedBy
    """Number of jobs that arrived later and started while this job waited, as far as the caller knows it."""

    @property
    def job(self) -> Job:
        return self.entry.job

    @cached_property
    def status(self) -> Status:
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
        """Return clauses, the most important first: the last ones can be left out if space is short."""
        began = () if self._began is None else (f"{say(self._began, self.at)}.",)
        return (*began, *self._present_clauses())

    @cached_property
    def facts(self) -> tuple[f.Fact, ...]:
        match self.entry:
            case Queued() as queued:
                return tuple(facts_of_waiting(self.snapshot, queued, self._enough, self.passed))
            case Suspended() as halted:
                return tuple(facts_of_suspended(self.snapshot, halted, self._kept))
            case Running() as running:
                return tuple(facts_of_running(self.snapshot, running, self._began))

    @cached_property
    def log(self) -> tuple[Considered, ...]:
        return tuple(Considered(d, job_of(d) == self.job, _touches(d, self.job)) for d in self._considered)

    def _present_clauses(self) -> Iterator[str]:
        match self.entry:
            case Queued() as queued:
                before = len(self.snapshot.queue.ahead_of(queued.job.rank))
                return waits(self.snapshot, queued, before, self._enough, self.passed, self.at)
            case Suspended() as halted:
                return is_suspended(self.snapshot, halted, sitters_of(self.snapshot, halted), self._kept, self.at)
            case Running() as running:
                return runs(running, self.snapshot.time or 0.0, self.at)

    @property
    def _considered(self) -> Iterable[Decision]:
        return considered_in(self.snapshot)

    @cached_property
    def _began(self) -> Start | Backfill | Place | Resume | None:
        if not isinstance(self.entry, Running):
            return None
        begun = (d for d in self.snapshot.decisions if isinstance(d, Start | Backfill | Place | Resume))
        return next((d for d in begun if d.job.rank == self.job.rank), None)

    @cached_property
    def _kept(self) -> Keep | Suspend | None:
        kept = (d for d in self._considered if isinstance(d, Keep | Suspend))
        return next((d for d in kept if d.job.rank == self.job.rank), None)

    @cached_property
    def _enough(self) -> f.Enough | None:
        return enough_for(self.snapshot, self.job)


def evidence_of(
    snapshot: Snapshot, rank: int, at: Clock | None = None, passed: f.PassedBy = f.NOBODY
) -> Evidence | None:
    """Return the evidence about a job, None if it has ended or not arrived; `at` writes times."""
    entry = snapshot.entry(rank)
    return None if entry is None else Evidence(snapshot, entry, at or clock_near(snapshot.time or 0), passed)


# Decisions of the pass


def _touches(decision: Decision, job: Job) -> bool:
    if job_of(decision) in (job, None):
        return False
    if isinstance(decision, Start | Backfill | Resume | Suspend | Place):
        return True
    return job in jobs_in(getattr(decision, "because", None))


# Sentences.


_RUNS = {"run": "runs", "speculative": "runs speculatively", "gang": "takes turns"}


def considered_in(snapshot: Snapshot) -> Sequence[Decision]:
    """Return the decisions of this step or, where rows take turns, of the last time that the matrix was rebuilt."""
    return snapshot.decisions if snapshot.matrix is None else snapshot.rebuild


# Waiting jobs


def obstacle(snapshot: Snapshot, queued: Queued, at: Clock) -> str:
    """Return why a job waits, without its name; with the free processors if they changed since the policy looked."""
    because = why_it_waits(snapshot, queued, considered_in(snapshot))
    told, then, now = why(because, queued.job, at), fields_of(because).get("free"), free_now(snapshot)
    if queued.why is None or snapshot.matrix is not None or then in (None, now.procs, now.procs - now.kept):
        return told
    return f"{told}; {now.procs:,} free after this step's decisions"


def waits(
    snapshot: Snapshot, queued: Queued, before: int, enough: Enough | None, passed: PassedBy, at: Clock
) -> Iterator[str]:
    """Yield sentences: why it waits, until when, which jobs passed it, and how many (`before`) are ahead."""
    queue = "its queue" if len(snapshot.queues) > 1 else "the queue"
    heads = queued.in_line and not before
    stands = f"is first in {queue}" if heads else f"has waited {span(queued.waited)}"
    yield f"{name(queued.job)} {stands}: {obstacle(snapshot, queued, at)}."
    if queued.planned is not None:
        yield f"Planned for {at(queued.planned)}."
        if enough is not None and enough.at == queued.planned:
            yield f"{listed(map(name, enough.ending))} will have ended by then."
    if passed.jobs:
        yield f"{count(passed.jobs, 'job')} passed it{passed.told}."
    if before:
        yield f"{count(before, 'job')} {'is' if before == 1 else 'are'} ahead of it in {queue}."


# Suspended and running jobs, and the end


def is_suspended(
    snapshot: Snapshot, halted: Suspended, sitters: Sitters | None, kept: Keep | Suspend | None, at: Clock
) -> Iterator[str]:
    """Yield sentences on since when the job is suspended, which jobs run on its processors, and why it is."""
    now = snapshot.time or 0
    yield f"{name(halted.job)} has been suspended for {span(now - halted.since)}, after {span(halted.ran)} of running."
    if sitters is not None:
        names = listed(name(sitter.job) for sitter in sitters.sitters)
        verb = "runs" if len(sitters.sitters) == 1 else "run"
        yield f"{names} {verb} on its processors, until {at(sitters.sitters[-1].until)} at most."
    if gone := (halted.processors & snapshot.absent).bit_count():
        told = why(OwnGone(gone, 0), halted.job)
        yield f"{told[:1].upper()}{told[1:]}."
    elif sitters is None:
        yield "Its processors are free."
    if snapshot.awaited == halted.job.rank:
        yield "They are kept free for it: it is the next job to resume."
    elif kept is not None:
        yield f"It has to wait: {why(kept.because, halted.job, at)}."


def runs(running: Running, now: float, at: Clock) -> Iterator[str]:
    """Yield sentences about a running job; without its end where that is hidden (`Snapshot.unplanned`)."""
    job, doing = running.job, _RUNS.get(running.kind, f"is {running.kind}")
    if running.row is not None:
        yield f"{name(job)} has not run yet: its row (row {running.row}) has not had a turn."
        return
    until = f", until {at(running.expected_end)} {'if the rows do not change' if running.kind == 'gang' else 'at most'}"
    until = until if running.expected_end > now else ""
    yield f"{name(job)} {doing} on {processors(job.procs)} since {at(running.since)}{until}."
    yield f"It has run for {span(running.ran)} of at most {span(job.estimate)}."


def ended(job: Job, start: float | None, end: float, at: Clock, killed: bool = False) -> str:
    """Return a sentence on when the job ended (`killed`: was killed at its estimate), and on how long it had waited."""
    waited = 0 if start is None else job.waited(start)
    after = f"after waiting {span(waited)}" if waited else "without waiting"
    how = "was killed at its estimate" if killed else "ended"
    return f"{name(job)} {how} at {at(end)} {after}."


def to_come(job: Job, at: Clock, submit: float | None) -> str:
    """Return a sentence on the coming submission (None: after other jobs) and request of the job."""
    when = "when the jobs that it waits for allow it" if submit is None else f"at {at(submit)}"
    return f"{name(job)} will be submitted {when}: {processors(job.procs)} for at most {span(job.estimate)}."


_LOOKED_AT = 200
"""Number of jobs, from the front of the queue, whose plans are checked for a delay."""

# Waiting jobs


def facts_of_waiting(
    snapshot: Snapshot, queued: Queued, enough: f.Enough | None, passed: f.PassedBy
) -> Iterator[f.Fact]:
    job = queued.job
    nodes = snapshot.nodes
    yield f.Needs(job.procs, job.estimate, "" if nodes is None else nodes.shape.asked(nodes.requests[job.rank]))
    yield _free(snapshot)
    if queued.why is not None:
        yield from (d for d in details(queued.why) if d.field != "at" or d.value != queued.planned)
    if enough is not None:
        yield enough
    if ahead := snapshot.queue.ahead_of(job.rank):
        yield f.Ahead(len(ahead), sum(other.procs for other in ahead))
    if passed.jobs:
        yield passed
    if job.reserve is not None:
        yield f.AskedStart(job.reserve, queued.granted)
    if queued.planned is not None:
        yield f.PlannedFor(queued.planned, queued.moved, queued.row, anew=not queued.reserved)
    if snapshot.matrix is None and nodes is None and snapshot.awaited is None and job.procs <= snapshot.free:
        yield from _delays(snapshot, job)
    yield f.Grown(queued.xfactor)


def _free(snapshot: Snapshot) -> f.Free | f.FreeInRow:
    """Return the free processors of the machine or, where rows take turns, of the row with most free columns."""
    picture = snapshot.matrix
    if picture is None or not picture.rows:
        return free_now(snapshot)
    free, row = most_free(snapshot.there, picture)
    return f.FreeInRow(free, row, len(picture.rows), snapshot.rules.most_rows())


def _rows(snapshot: Snapshot) -> dict[int, list[Cell]]:
    """Return the cells of each row of the matrix (by id) without replicas, which give way to jobs."""
    picture = () if snapshot.matrix is None else snapshot.matrix.rows
    return {row: [cell for cell in cells if cell.is_home] for row, cells in picture}


def _at_home(snapshot: Snapshot, cells: Iterable[Cell]) -> list[Running]:
    ranks = {cell.rank for cell in cells}
    return [running for running in snapshot.running if running.job.rank in ranks]


def enough_for(snapshot: Snapshot, job: Job) -> f.Enough | None:
    """Return when enough jobs will have ended for this job to fit, in the earliest row; None if it fits already."""
    rows = _rows(snapshot)
    if snapshot.awaited is not None:
        return None
    if nodes := nodes_now(snapshot):
        return _enough_nodes(nodes, snapshot.running, job)
    if not rows:
        return _enough_in(snapshot.running, snapshot.free, job.procs)
    found = []
    for row, cells in rows.items():
        free = snapshot.there - sum(cell.columns.bit_count() for cell in cells)
        if enough := _enough_in(_at_home(snapshot, cells), free, job.procs):
            found.append(enough._replace(row=row))
    return min(found, key=lambda enough: enough.at) if len(found) == len(rows) else None


def _enough_nodes(nodes: NodesNow, running: Iterable[Running], job: Job) -> f.Enough | None:
    found = frees_nodes(nodes, job)
    if found is None:
        return None
    at, ranks = found
    return f.Enough(at, tuple(run.job for run in running if run.job.rank in ranks))


def _enough_in(running: Iterable[Running], free: int, needed: int) -> f.Enough | None:
    ending = must_end((Holder(run.job, run.expected_end) for run in running), free, needed)
    if not ending or free + sum(holder.job.procs for holder in ending) < needed:
        return None
    return f.Enough(ending[-1].until, tuple(holder.job for holder in ending))


def _delays(snapshot: Snapshot, job: Job) -> Iterator[f.Fact]:
    """Yield facts about planned jobs that a start now would delay, by new plans with this job running."""
    now, looked_at, keeps = snapshot.time or 0, snapshot.queue[:_LOOKED_AT], snapshot.rules.keeps_reservations
    planned = [
        PlannedStart(q.job, q.planned, q.lasts, stands=q.granted or (q.reserved and keeps))
        for q in looked_at
        if q.planned is not None and q.job != job
    ]
    if not planned or (not keeps and any(q.granted for q in looked_at)):
        return  # no plans, or plans of heads that ignore reserved starts
    if snapshot.rules.plans_by_rank:
        planned.sort(key=lambda plan: (False, -1) if plan.stands else (not plan.job.high, plan.job.rank))
    free, ends = snapshot.outlook
    plan = Profile.of_changes(now, free, sorted(ends))
    if len(snapshot.queue) > _LOOKED_AT:
        if first := next(delayed_by(job, now, plan, planned), None):
            yield f.Delays(first.other, first.seconds, None)
    elif delayed := list(delayed_by(job, now, plan, planned)):
        yield f.Delays(delayed[0].other, delayed[0].seconds, len(delayed) - 1)
    else:
        yield f.DelaysNobody()


# Suspended jobs


def facts_of_suspended(snapshot: Snapshot, halted: Suspended, kept: Keep | Suspend | None) -> Iterator[f.Fact]:
    yield f.Needs(halted.job.procs, halted.job.estimate - halted.ran)
    yield f.Ran(halted.ran, halted.job.estimate)
    if kept is not None:
        yield from details(kept.because)
    if sitters := sitters_of(snapshot, halted):
        yield sitters
    if snapshot.awaited == halted.job.rank:
        yield f.KeptFree()
    yield f.Grown(halted.xfactor)


def sitters_of(snapshot: Snapshot, halted: Suspended) -> f.Sitters | None:
    """Return the jobs that run on a suspended job's processors, in a matrix those of one row, or None."""
    rows = _rows(snapshot)
    if not rows:
        return _on_its(snapshot.running, halted)
    found = []
    for row, cells in rows.items():
        sitting = _on_its(_at_home(snapshot, cells), halted)
        if sitting is None:
            return None
        found.append(sitting._replace(row=row))
    return min(found, key=lambda sitting: sitting.sitters[-1].until)


def _on_its(running: Iterable[Running], halted: Suspended) -> f.Sitters | None:
    shared = ((run, (run.processors & halted.processors).bit_count()) for run in running)
    sitters = tuple(f.Sitter(run.job, procs, run.expected_end) for run, procs in shared if procs)
    return f.Sitters(sitters) if sitters else None


# Running jobs


def facts_of_running(snapshot: Snapshot, running: Running, began: Decision | None) -> Iterator[f.Fact]:
    if began is None:
        yield f.Ran(running.ran, running.job.estimate)
        return
    if snapshot.completed:
        yield f.Freed(snapshot.completed)
    if isinstance(began, Backfill) or (isinstance(began, Place) and began.passes):
        came = began.job.submit, began.job.rank
        passed = tuple(job for job in snapshot.queue.jobs if (job.submit, job.rank) < came)
        if passed:
            yield f.PassesJobs(passed)
