"""Words for the picture of a run or of an observed cluster at one moment, for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import TypeVar

import numpy as np

from sim.classroom.lessons.polls import PollSeen
from sim.decisions.decisions import job_of
from sim.decisions.sentences import say
from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.live.cluster.reasons import say as say_of_cluster
from sim.support.formatting import clock_near, count, name, processors, span
from sim.why.evidence import considered_in, ended, evidence_of, runs
from sim.workload.model import Job, Workload

T = TypeVar("T")
MOST = 12
"""Largest number of sentences of one kind; a last one counts the others."""


def run_words(
    jobs: Workload, shown: Snapshot, past: Past, now: float, is_veiled: bool = False, since: float = -inf,
    most: int = MOST,
) -> Iterator[str]:  # fmt: skip
    """Yield sentences about a run at the time `now`: what was decided, runs and waits, and what ended after `since`.

    With `is_veiled` plans, reasons and decisions are left out, because they would answer a question.
    """
    at = clock_near(now)
    yield f"At {at(now)}: {shown.free:,} of {processors(shown.procs)} {'is' if shown.free == 1 else 'are'} free."
    then, idle = at(shown.time or 0), {job.rank for job in shown.queue.jobs}  # why these wait follows below
    made = [each for each in considered_in(shown) if (job := job_of(each)) is None or job.rank not in idle]
    yield from _at_most(made, most * (not is_veiled), lambda each: f"At {then}: {say(each, at)}.", "decision")
    yield from _at_most(shown.running, most, lambda each: next(runs(each, at)), "running job")

    def waits(job: Job) -> str:
        found = None if is_veiled else evidence_of(shown, job.rank, at)
        asks = f"{name(job)} waits for {processors(job.procs)}, for at most {span(job.estimate)}."
        return asks if found is None else " ".join(found.clauses[:2])

    idle_jobs = [*(each.job for each in shown.suspended), *shown.queue.jobs]
    yield from _at_most(idle_jobs, most, waits, "waiting job")
    ends = np.asarray(past.ends(len(jobs)))
    over = [(jobs.jobs[rank], float(ends[rank])) for rank in np.flatnonzero((ends > since) & (ends <= now)).tolist()]
    yield from _at_most(over, most, lambda each: ended(
        each[0], past.start_of(each[0].rank), each[1], at, bool(jobs.killed[each[0].rank])), "ended job")  # fmt: skip


def poll_words(seen: PollSeen) -> Iterator[str]:
    """Yield sentences about an observed cluster at one poll: how much is free, what runs, and why jobs wait."""
    yield f"{seen.written('free')} of {seen.written('cores')} cores are free at {seen.written('now')}."
    for what, jobs in (("running job", seen.cluster.running), ("waiting job", seen.cluster.queue)):
        yield from _at_most(jobs, MOST, lambda job: f"{name(job)} {say_of_cluster(seen.cluster, job)}.", what)


def _at_most(things: Sequence[T], most: int, told: Callable[[T], str], what: str) -> Iterator[str]:
    yield from map(told, things[:most])
    if most and (more := things[most:]):
        yield f"{count(len(more), f'more {what}')}."
