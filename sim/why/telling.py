"""How one job stands, in clauses of which the first says most: one that waits, is suspended, runs, ended or comes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.decisions.decisions import Decision, Keep, Suspend
from sim.decisions.reasons_to_wait import PlannedLater
from sim.decisions.sentences import why
from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.why.facts import Enough, Sitters
from sim.why.finding import free_now
from sim.words import Clock, count, listed, name, processors, span
from sim.workload.model import Job

_RUNS = {"run": "runs", "speculative": "runs on trial", "gang": "takes turns"}


def considered_in(snapshot: Snapshot) -> Sequence[Decision]:
    """What the policy last considered: in this step or, where rows take turns, at the last rebuild."""
    return snapshot.decisions if snapshot.matrix is None else snapshot.rebuild


# Who waits


def obstacle(snapshot: Snapshot, queued: Queued, at: Clock) -> str:
    """Why a job waits, without its name: as the policy says, or as its planned start tells."""
    job = queued.job
    if queued.why is not None:
        return why(queued.why, job, at)
    if queued.planned is None:
        return _not_considered(snapshot, job)
    if queued.row is not None:
        return f"no row has room for it before, row {queued.row} does then"
    free, kept, kept_for = free_now(snapshot)
    if snapshot.matrix is None and job.procs <= free - kept:
        return why(PlannedLater(queued.planned, free - kept), job, at)
    return f"needs {job.procs:,}, {free:,} free" + (f", {kept:,} of them kept for {name(kept_for)}" if kept_for else "")


def _not_considered(snapshot: Snapshot, job: Job) -> str:
    last = next((d.job for d in reversed(considered_in(snapshot)) if isinstance(d, Keep)), None)
    if last is None or last == job:
        return "the policy did not come to it in this step"
    return f"the policy stopped at {name(last)} and did not come to it"


def waits(
    snapshot: Snapshot, queued: Queued, before: int, enough: Enough | None, passed: int, at: Clock
) -> Iterator[str]:
    """Why the job waits, until when, and who is served before it."""
    queue = "its queue" if len(snapshot.queues) > 1 else "the queue"
    stands = f"has waited {span(queued.waited)}" if before else f"heads {queue}"
    yield f"{name(queued.job)} {stands}: {obstacle(snapshot, queued, at)}."
    if queued.planned is not None:
        yield f"Planned for {at(queued.planned)}."
        if enough is not None and enough.at == queued.planned:
            yield f"{listed(map(name, enough.ending))} will have ended by then."
    if passed:
        yield f"{count(passed, 'job')} passed it."
    if before:
        yield f"{count(before, 'job')} {'stands' if before == 1 else 'stand'} before it."


# Who has begun


def is_suspended(
    snapshot: Snapshot, halted: Suspended, sitters: Sitters | None, kept: Keep | Suspend | None, at: Clock
) -> Iterator[str]:
    """Since when, who is in its place until when, and what the policy says."""
    now = snapshot.time or 0
    yield f"{name(halted.job)} has been suspended for {span(now - halted.since)}, after {span(halted.ran)} of running."
    if sitters is not None:
        names = listed(name(sitter.job) for sitter in sitters.sitters)
        verb = "runs" if len(sitters.sitters) == 1 else "run"
        yield f"{names} {verb} on its processors, until {at(sitters.sitters[-1].until)} at most."
    else:
        yield "Its processors are free."
    if snapshot.awaited == halted.job.rank:
        yield "They are kept for it: it is the next to go on."
    elif kept is not None:
        yield f"It has to wait: {why(kept.because, halted.job, at)}."


def runs(running: Running, at: Clock) -> Iterator[str]:
    """Where and until when, and how far it has come."""
    job, doing = running.job, _RUNS.get(running.kind, f"is {running.kind}")
    until = f"until {at(running.expected_end)} at most"
    yield f"{name(job)} {doing} on {processors(job.procs)} since {at(running.since)}, {until}."
    yield f"It has run for {span(running.ran)} of at most {span(job.estimate)}."


def ended(job: Job, start: float | None, end: float, at: Clock, killed: bool = False) -> str:
    """When it ended, or was killed as its estimate was over, and what it had waited."""
    waited = 0 if start is None else job.waited(start)
    after = f"after it had waited {span(waited)}" if waited else "and had not waited"
    how = "was killed at its estimate" if killed else "ended"
    return f"{name(job)} {how} at {at(end)}, {after}."


def to_come(job: Job, at: Clock) -> str:
    """When it will be submitted, and what it will ask for."""
    return f"{name(job)} comes at {at(job.submit)}: {processors(job.procs)} for at most {span(job.estimate)}."
