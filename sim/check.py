"""`--check`: every rule that must always hold, verified after every step without trusting the engine's sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from sim.errors import InvariantError
from sim.profile import Profile

if TYPE_CHECKING:
    from sim.engine import Engine


class Checker:
    """Looks at an engine after each step and raises `InvariantError` at the first broken rule.

    - no processor is held twice, none is lost, a job holds as many as it asked for;
    - every job is in one place: to come, waiting, running or finished;
    - a job starts no earlier than it was submitted and runs exactly as long as it must;
    - a promised start never moves later while it stands, and is kept;
    - the plan is what running jobs and standing reservations make it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._promised: dict[int, float] = {}
        self._finished: set[int] = set()

    def after_step(self) -> None:
        """Verify everything about the step that was just made."""
        self._processors()
        self._whereabouts()
        self._run_times()
        self._promises()
        self._plan()

    def _fail(self, rule: str, rank: int | None = None) -> NoReturn:
        engine = self._engine
        job = None if rank is None else engine.workload.ids[rank]
        raise InvariantError(rule, engine.step_count, engine.now, job)

    def _processors(self) -> None:
        machine = self._engine.machine
        seen = 0
        for rank, held in machine.held.items():
            if held & seen:
                self._fail("a processor is held twice", rank)
            if held.bit_count() != self._engine.workload.width[rank]:
                self._fail("it holds another number of processors than it asked for", rank)
            seen |= held
        if seen & machine.free_set or seen | machine.free_set != (1 << machine.procs) - 1:
            self._fail("the free and the held processors are not the machine")
        if machine.free != machine.free_set.bit_count() or self._engine.free != machine.free:
            self._fail("the count of free processors is wrong")

    def _whereabouts(self) -> None:
        engine = self._engine
        waiting = {job.rank for job in engine.queue}
        running = set(engine.machine.held)
        submitted = range(engine.submitted)
        if waiting & running or running & self._finished or waiting & self._finished:
            self._fail("a job is in two places")
        self._finished.update(job.rank for job in engine.completed)
        here = (waiting | running | self._finished).__len__()
        if here != len(submitted):
            self._fail(f"{len(submitted)} jobs were submitted, {here} are somewhere")
        if running != {rank for _, rank, _ in engine.ends}:
            self._fail("the list of expected ends does not name the running jobs")

    def _run_times(self) -> None:
        engine = self._engine
        for job in engine.completed:
            start = engine.start_of(job.rank)
            if start is None or start < job.submit:
                self._fail("it ran before it was submitted", job.rank)
            if start + engine.workload.runtimes[job.rank] != engine.now:
                self._fail("it ran longer or shorter than it must", job.rank)

    def _promises(self) -> None:
        engine = self._engine
        if not engine.policy.promises():
            return
        for rank, promised in self._promised.items():
            start = engine.start_of(rank)
            if start is not None and start > promised:
                self._fail(f"it was promised {promised:.12g} and started at {start:.12g}", rank)
            if rank in engine.reserved and engine.reserved[rank] > promised:
                moved = engine.reserved[rank]
                self._fail(f"its promised start moved from {promised:.12g} to {moved:.12g}", rank)
        self._promised = dict(engine.reserved)

    def _plan(self) -> None:
        engine = self._engine
        if not engine.policy.keeps_reservations:
            return
        anew = Profile.of_running(engine.now, engine.free, engine.ends)
        for rank, at in engine.reserved.items():
            job = engine.job(rank)
            anew.take(at, at + job.estimate, job.procs)
        if min(anew.free) < 0:
            self._fail("the plan gives away more processors than there are")
        kept = engine.plan
        if (kept.times, kept.free) != (anew.times, anew.free):
            self._fail("the plan that is kept up to date differs from one that is made anew")
