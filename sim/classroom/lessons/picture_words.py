"""Words for the picture of a run or of an observed cluster at one moment, for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import TypeVar

import numpy as np

from sim.classroom.lessons.polls import PollSeen
from sim.decisions.decisions import job_of
from sim.decisions.sentences import say as decision_sentence
from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.live.cluster.reasons import say as reason_sentence
from sim.support.formatting import clock_near, count, name, processors, span
from sim.why.evidence import considered_in, ended, evidence_of, runs
from sim.workload.model import Job, Workload

T = TypeVar("T")
MOST = 12
"""Largest number of sentences of one kind; a last one counts the others."""


def run_words(
    workload: Workload, shown: Snapshot, past: Past, now: float, is_veiled: bool = False, since: float = -inf,
    most: int = MOST,
) -> Iterator[str]:  # fmt: skip
    """Yield sentences about a run at the time `now`: what was decided, runs and waits, and what ended after `since`.

    With `is_veiled` plans, reasons and decisions are left out, because they would answer a question.
    """
    at = clock_near(now)
    yield f"At {at(now)}: {shown.free:,} of {processors(shown.procs)} {'is' if shown.free == 1 else 'are'} free."
    if not is_veiled:
        then, idle = at(shown.time or 0), {job.rank for job in shown.queue.jobs}  # why these wait follows below
        made = [each for each in considered_in(shown) if (job := job_of(each)) is None or job.rank not in idle]
        yield from _at_most(made, most, lambda each: f"At {then}: {decision_sentence(each, at)}.", "decision")
    yield from _at_most(shown.running, most, lambda each: next(runs(each, at)), "running job")
    yield from _at_most(shown.suspended, most, lambda each: _clauses(shown, each.job, now), "suspended job")
    waits = _asks if is_veiled else lambda job: _clauses(shown, job, now)
    yield from _at_most(shown.queue.jobs, most, waits, "waiting job")
    ends = np.asarray(past.ends(len(workload)))

    def told(rank: int) -> str:
        is_killed = bool(workload.killed[rank])
        return ended(workload.jobs[rank], past.start_of(rank), float(ends[rank]), at, is_killed)

    yield from _at_most(np.flatnonzero((ends > since) & (ends <= now)).tolist(), most, told, "ended job")


def poll_words(seen: PollSeen) -> Iterator[str]:
    """Yield sentences about an observed cluster at one poll: how much is free, what runs, and why jobs wait."""
    yield f"{seen.written('free')} of {seen.written('cores')} cores are free at {seen.written('now')}."
    for what, jobs in (("running job", seen.cluster.running), ("waiting job", seen.cluster.queue)):
        yield from _at_most(jobs, MOST, lambda job: f"{name(job)} {reason_sentence(seen.cluster, job)}.", what)


def _asks(job: Job) -> str:
    return f"{name(job)} waits for {processors(job.procs)}, for at most {span(job.estimate)}."


def _clauses(shown: Snapshot, job: Job, now: float) -> str:
    found = evidence_of(shown, job.rank, clock_near(now))
    return "" if found is None else " ".join(found.clauses[:2])


def _at_most(things: Sequence[T], most: int, told: Callable[[T], str], what: str) -> Iterator[str]:
    yield from map(told, things[:most])
    if more := things[most:]:
        yield f"{count(len(more), f'more {what}')}."
