"""Words for the picture of a run or of an observed cluster at one moment, for readers who cannot see it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import TypeVar

import numpy as np

from sim.classroom.lessons.polls import PollSeen
from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.live.cluster.reasons import say
from sim.support.formatting import clock_near, count, name, processors, span
from sim.why.explanation import explain
from sim.workload.model import Workload

T = TypeVar("T")
MOST = 20
"""Largest number of jobs with a sentence; a last one counts the others."""


def run_words(
    jobs: Workload, shown: Snapshot, past: Past, now: float, is_veiled: bool = False, since: float = -inf
) -> Iterator[str]:
    """Yield sentences about a run at the time `now`: what starts, runs or waits, and what has ended after `since`.

    With `is_veiled` the reasons of waiting jobs are left out, because they would answer a question.
    """
    ends, waiting = np.asarray(past.ends(len(jobs))), {job.rank for job in shown.queue.jobs}
    ended = np.flatnonzero((ends > since) & (ends <= now)).tolist()
    there = {*waiting, *ended, *(run.job.rank for run in shown.running), *(held.job.rank for held in shown.suspended)}

    def told(rank: int) -> str:
        job = jobs.jobs[rank]
        if is_veiled and rank in waiting:
            return f"{name(job)} waits for {processors(job.procs)}, for at most {span(job.estimate)}."
        return " ".join(explain(jobs, past, shown, rank).sentences[:2])

    at, step = clock_near(now), shown.time
    free = f"At {at(now)}: {shown.free:,} of {processors(shown.procs)} {'is' if shown.free == 1 else 'are'} free."
    last = f" What follows is of the last step, at {at(step)}." if step is not None and step < now else ""
    yield from _at_most(free + last, sorted(there), told)


def poll_words(seen: PollSeen) -> Iterator[str]:
    """Yield sentences about an observed cluster at one poll: how much is free, what runs, and why jobs wait."""
    free = f"{seen.written('free')} of {seen.written('cores')} cores are free at {seen.written('now')}."
    jobs = (*seen.cluster.running, *seen.cluster.queue)
    yield from _at_most(free, jobs, lambda job: f"{name(job)} {say(seen.cluster, job)}.")


def _at_most(first: str, jobs: Sequence[T], told: Callable[[T], str]) -> Iterator[str]:
    yield from (first, *map(told, jobs[:MOST]))
    if more := jobs[MOST:]:
        yield f"{count(len(more), 'more job')}."
