"""Computation of the facts (numbers behind a sentence) about one job of a snapshot, for `sim.why.evidence`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sim.decisions.decisions import Backfill, Decision, Keep, Suspend
from sim.decisions.matrix import Place
from sim.decisions.sentences import details
from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.machine.ousterhout_matrix import Cell
from sim.machine.profile import Profile
from sim.why import facts as f
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
)
from sim.workload.model import Job

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


def _columns_of(cells: Iterable[Cell]) -> int:
    return sum(cell.columns.bit_count() for cell in cells)


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
        if enough := _enough_in(_at_home(snapshot, cells), snapshot.there - _columns_of(cells), job.procs):
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
