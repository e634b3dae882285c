"""Sentences about one job: waiting, suspended, running, ended or not yet submitted; the most important first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.decisions.decisions import Decision, Keep, Suspend
from sim.decisions.reasons_to_wait import OwnGone
from sim.decisions.sentences import fields_of, why
from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.support.formatting import Clock, count, listed, name, processors, span
from sim.why.facts import Enough, PassedBy, Sitters
from sim.why.wait_reasons import free_now, why_it_waits
from sim.workload.model import Job

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


def runs(running: Running, at: Clock) -> Iterator[str]:
    job, doing = running.job, _RUNS.get(running.kind, f"is {running.kind}")
    if running.row is not None:
        yield f"{name(job)} has not run yet: its row (row {running.row}) has not had a turn."
        return
    until = f"until {at(running.expected_end)} {'if the rows do not change' if running.kind == 'gang' else 'at most'}"
    yield f"{name(job)} {doing} on {processors(job.procs)} since {at(running.since)}, {until}."
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
