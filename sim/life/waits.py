"""Why a job waits, step by step: steps of one kind of reason and the same other job become one stretch.

A stretch is a `Waited` with the ranges of its numbers; together they cover the wait without a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import FitsNoRow
from sim.decisions.obstacles import NoVictims, PlannedLater, TooFewFree
from sim.decisions.reasons import WhenFree
from sim.decisions.sentences import Reason
from sim.engine.engine import Engine
from sim.life.moments import AwaitsVictims, Heads, Holder, NotConsidered, Range, State, Waited, named, numbers_of
from sim.workload.model import Job


class Waits:
    """The stretch that goes on, if the job waits."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._engine, self._job = engine, job
        self._open: Waited | None = None
        self._fits = False
        """Did it fit after the last step?"""

    def note(self, state: State, head: Job | None) -> Waited | None:
        """It waits after this step; the stretch that is over, if there is one."""
        engine, job = self._engine, self._job
        free, queue = room(engine), engine.state.queue
        ahead = queue.index(job) if job in queue else 0
        last = self._until_now()
        self._fits = free >= job.procs
        numbers = {"free": Range(free, free), **numbers_of(state)}
        if last and isinstance(last.state, NoVictims) and isinstance(state, TooFewFree):
            state = last.state  # it looks for victims at its ticks only
        if last and (type(last.state), last.blocker, last.head) == (type(state), named(state), head):
            both = {key: value.also(numbers.get(key, value)) for key, value in last.numbers.items()}
            self._open = replace(last, steps=last.steps + 1, numbers=both, ahead=(last.ahead[0], ahead))
            return None
        now, lacking = engine.now, max(0, job.procs - free)
        missing = awaited(engine, job.procs)
        self._open = Waited(now, now, 1, state, numbers, (ahead, ahead), 0, head, lacking, missing)
        return last

    def go_on(self) -> bool:
        """Nothing was decided in this step: it waits as before, if it has been told why."""
        last = self._until_now()
        if last is None:
            return False
        self._open = replace(last, steps=last.steps + 1)
        return True

    def close(self) -> Waited | None:
        """It waits no longer."""
        last, self._open = self._until_now(), None
        return last

    def _until_now(self) -> Waited | None:
        last, now = self._open, self._engine.now
        if last is None:
            return None
        return replace(last, until=now, fitting=last.fitting + (now - last.until if self._fits else 0))


def state_of(
    engine: Engine,
    job: Job,
    decisions: Sequence[Decision],
    planned: tuple[float | None, Reason | None],
    victims: tuple[Job, ...],
) -> State:
    """Why a job in the queue waits: what the policy says, or else what its decisions and its plan amount to."""
    kept = [d for d in decisions if isinstance(d, Keep)]
    if own := [d.because for d in kept if d.job is job]:
        return own[-1]
    at, why = planned
    free = room(engine)
    if victims:
        return AwaitsVictims(victims)
    if at is None:
        return NotConsidered(kept[-1].job if kept else None, free)
    if isinstance(why, WhenFree):
        return Heads(free)
    if free < job.procs:
        return FitsNoRow(free, len(engine.state.matrix.rows)) if engine.state.sharing else TooFewFree(free)
    return PlannedLater(at, free)


def room(engine: Engine) -> int:
    """The free processors; in a matrix, those of the row with most, where replicas stand in nobody's way."""
    if engine.state.sharing is None:
        return engine.state.free
    matrix = engine.state.sharing.matrix
    held = dict.fromkeys(matrix.rows, 0)
    for rank in engine.state.sharing.ran:
        held[matrix.home(rank)] += engine.state.jobs[rank].procs
    return engine.state.procs - min(held.values(), default=0)


def awaited(engine: Engine, procs: int) -> tuple[Holder, ...]:
    """The running jobs that must end, by their estimates, before `procs` processors are free."""
    free = engine.state.free
    found: list[Holder] = []
    for end, rank, held in engine.state.ends:
        if free >= procs:
            break
        found.append(Holder(engine.state.jobs[rank], end))
        free += held
    return tuple(found)
