"""How one job stands now, in sentences: the selected job's line under the chart, and the first of its details."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from sim.sentences import why
from sim.snapshot import Queued, Running, Snapshot, Suspended
from sim.words import listed, name, processors, span
from tui import text
from tui.panels.parts import Context
from tui.scene import JobScene

Entry = TypeVar("Entry", Running, Suspended)


def standing(context: Context, job: JobScene) -> Iterator[str]:
    """What the job does now and why; the first sentence says most."""
    shown = context.scene.snapshot
    if queued := waiting_entry(shown, job):
        yield from _waits(context, queued, job)
    elif halted := _entry(shown.suspended, job.rank):
        yield from _is_suspended(context, halted)
    elif running := _entry(shown.running, job.rank):
        yield from _runs(context, running)
    elif job.end is not None:
        yield from _ended(context, job)
    else:
        it = context.about.workload.jobs[job.rank]
        yield f"{name(it)} comes at {context.at(it.submit)}: {processors(it.procs)} for at most {span(it.estimate)}."


def waiting_entry(shown: Snapshot, job: JobScene) -> Queued | None:
    """The job's entry in the queue, if it waits."""
    if job.ahead is None or job.ahead >= len(shown.queue):
        return None
    entry = shown.queue[job.ahead]
    return entry if entry.job.rank == job.rank else None


def _entry(entries: tuple[Entry, ...], rank: int) -> Entry | None:
    return next((entry for entry in entries if entry.job.rank == rank), None)


def obstacle(context: Context, queued: Queued) -> str:
    """Why a job waits, without its name: as the policy says, or as its planned start tells."""
    shown = context.scene.snapshot
    if queued.why is not None:
        return why(queued.why, queued.job, context.at)
    if queued.planned is None:
        return "the policy did not come to it in this step"
    if queued.row is not None:
        return f"no row has room for it before, row {queued.row} does then"
    if queued.job.procs > shown.free:
        return f"needs {queued.job.procs:,}, {shown.free:,} free"
    return f"needs {queued.job.procs:,}, {shown.free:,} free, but not for its whole estimate beside what is planned"


def _waits(context: Context, queued: Queued, job: JobScene) -> Iterator[str]:
    place = job.ahead or 0
    who, heads = name(queued.job), "heads the queue" if place == 0 else f"has waited {span(queued.waited)}"
    yield f"{who} {heads}: {obstacle(context, queued)}."
    if queued.planned is not None:
        yield f"Planned for {context.at(queued.planned)}."
    if place:
        yield f"{text.count(place, 'job')} {'stands' if place == 1 else 'stand'} before it."


def _is_suspended(context: Context, halted: Suspended) -> Iterator[str]:
    now = context.scene.snapshot.time or 0
    yield f"{name(halted.job)} has been suspended for {span(now - halted.since)}, after {span(halted.ran)} of running."
    if halted.blocked_by:
        jobs = context.about.workload.jobs
        sitting = listed([name(jobs[rank]) for rank in halted.blocked_by])
        yield f"{sitting} {'runs' if len(halted.blocked_by) == 1 else 'run'} on its processors."
    else:
        yield "Its processors are free."


def _runs(context: Context, running: Running) -> Iterator[str]:
    job, at = running.job, context.at
    kind = {"run": "runs", "speculative": "runs on trial", "gang": "takes turns"}.get(
        running.kind, f"is {running.kind}"
    )
    until = f"until {at(running.expected_end)} at most"
    yield f"{name(job)} {kind} on {processors(job.procs)} since {at(running.since)}, {until}."
    yield f"It has run for {span(running.ran)} of at most {span(job.estimate)}."


def _ended(context: Context, job: JobScene) -> Iterator[str]:
    it = context.about.workload.jobs[job.rank]
    waited = (job.start if job.start is not None else it.submit) - it.submit
    after = f"after it had waited {span(waited)}" if waited else "and had not waited"
    yield f"{name(it)} ended at {context.at(job.end or 0)}, {after}."
