"""Reasons of a job's wait, step by step: successive steps with the same kind of reason form one stretch.

A stretch is a `Waited` with the ranges of its numbers. The stretches of one wait have no gaps between them.
"""

from __future__ import annotations

from dataclasses import replace

from sim.core.engine import Engine
from sim.decisions.reasons_to_wait import NoVictims, TooFewFree
from sim.decisions.sentences import Reason
from sim.life.moments import Range, Waited, job_in_reason, numbers_of
from sim.why.wait_reasons import Holder, must_end, room
from sim.workload.model import Job


class Waits:
    """Observer of the job's reasons to wait, which joins successive steps with the same kind of reason to a stretch."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._engine, self._job = engine, job
        self._open: Waited | None = None
        self._fits = False
        """True if enough processors were free for the job after the last step."""

    def note(self, state: Reason, head: Job | None, switched: bool = False) -> Waited | None:
        """Record the reason after a step; return the stretch before if a new one begins, otherwise None. `head` is the
        first in the queue if the policy plans for it only; `switched`: the step switched the policy.
        """
        moment, job = self._engine.moment, self._job
        free, ahead = room(moment), len(moment.queue.ahead_of(job.rank))
        last = self._until_now()
        self._fits = free >= job.procs
        numbers = {"free": Range(free, free), **numbers_of(state)}
        if last and isinstance(last.state, NoVictims) and isinstance(state, TooFewFree) and not switched:
            state = last.state  # it looks for victims at its ticks only
        if last and (type(last.state), last.blocker, last.head) == (type(state), job_in_reason(state), head):
            both = {key: value.also(numbers.get(key, value)) for key, value in last.numbers.items()}
            self._open = replace(last, steps=last.steps + 1, numbers=both, ahead=(last.ahead[0], ahead))
            return None
        now, lacking = self._engine.now, max(0, job.procs - free)
        running = (Holder(moment.jobs[rank], end) for end, rank, _ in moment.ends)
        missing = must_end(running, moment.free, job.procs)
        self._open = Waited(now, now, 1, state, numbers, (ahead, ahead), 0, head, lacking, missing)
        return last

    def go_on(self) -> bool:
        """Extend the open stretch by a step in which the reason has not changed; return False if no stretch is open."""
        last = self._until_now()
        if last is None:
            return False
        self._open = replace(last, steps=last.steps + 1)
        self._fits = room(self._engine.moment) >= self._job.procs
        return True

    def close(self) -> Waited | None:
        """End the open stretch, as the job no longer waits, and return it; None if no stretch is open."""
        last, self._open = self._until_now(), None
        return last

    def _until_now(self) -> Waited | None:
        last, now = self._open, self._engine.now
        if last is None:
            return None
        return replace(last, until=now, fitting=last.fitting + (now - last.until if self._fits else 0))
