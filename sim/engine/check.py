"""`--check`: every rule that must always hold, verified after every step without trusting the engine's sums."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from sim.decisions.decisions import Resume
from sim.decisions.matrix import Migrate
from sim.errors import InvariantError
from sim.history.history import Stretch
from sim.machine.processors import written
from sim.machine.turns import Turns

if TYPE_CHECKING:
    from sim.engine.engine import Engine


class Checker:
    """Looks at an engine after each step and raises `InvariantError` at the first broken rule.

    - no processor is held twice, none is lost, a job holds as many as it asked for;
    - every job is in one place: to come, waiting, running, suspended or finished;
    - a job starts no earlier than it was submitted and makes exactly the progress it must;
    - a suspended job goes on where it was, or where it was told to; partitions own every processor once;
    - no cell of a matrix is held twice, only the row on turn makes progress, no more tasks migrate than may;
    - a promised start never moves later while it stands, and is kept;
    - the plan is what running jobs and standing reservations make it.
    """

    def __init__(self, engine: Engine) -> None:
        """From here on: what came before is taken as it is."""
        self._engine = engine
        self._promised = dict(engine.reserved) if engine.promises else {}
        self._granted = dict(engine.granted)
        self._finished = _finished(engine)
        self._progress = _progress_so_far(engine)
        self._pins = dict(engine.suspended)
        self._open = set(engine.history.open_stretches().values())
        self._seen = len(engine.history)
        self._stood: dict[int, tuple[tuple[int, ...], float]] = {}
        self._clock: Turns | None = None
        self._last: float | None = None
        self._remember_matrix()

    def after_step(self) -> None:
        """Verify everything about the step that was just made."""
        self._processors()
        self._whereabouts()
        self._run_times()
        self._matrix()
        self._remember_matrix()
        self._pinned()
        self._partitions()
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
        sharing = engine.sharing
        running = set(engine.running if sharing is None else sharing.remaining)
        suspended = set(engine.suspended)
        leaving = {rank for rank in suspended & running if not engine.running[rank].runs}
        places = [waiting, running, suspended - leaving, set(self._finished)]
        here = set().union(*places)
        self._finished.update(job.rank for job in engine.completed)
        if sum(map(len, places)) != len(here) or {job.rank for job in engine.completed} & here:
            self._fail("a job is in two places")
        if here | self._finished != set(range(engine.submitted)):
            self._fail(f"{engine.submitted} jobs were submitted, {len(here | self._finished)} are somewhere")
        if sharing is None and not running == {rank for _, rank, _ in engine.ends} == set(engine.machine.held):
            self._fail("the list of expected ends does not name the running jobs")

    def _run_times(self) -> None:
        """Work is conserved: stretches of progress add up to the run time, whatever came between them.

        What a speculative run has done is lost if it is killed, and only then.
        """
        engine = self._engine
        killed = {job.rank for job in engine.killed}
        for stretch in self._closed_stretches():
            rank = stretch.rank
            makes = stretch.kind == "run" or (stretch.kind == "speculative" and rank not in killed)
            if makes and stretch.end is not None:
                self._progress[rank] = self._progress.get(rank, 0) + stretch.end - stretch.start
        self._shared_progress()
        for job in engine.completed:
            rank = job.rank
            start, run = engine.start_of(rank), engine.workload.runtimes[rank]
            if start is None or start < job.submit:
                self._fail("it ran before it was submitted", rank)
            made = self._progress.pop(rank, 0)
            if abs(made - run) > 1e-6 * max(1, run):
                self._fail(f"it made {made:.12g} s of progress and must make {run:.12g} s", rank)

    def _shared_progress(self) -> None:
        """In a matrix progress is made only on turn, outside overhead and stalls: turn by turn."""
        engine, clock = self._engine, self._clock
        if clock is None or self._last is None:
            return
        worked: dict[int, float] = dict.fromkeys(clock.rows, 0)
        for turn in clock.window(self._last, engine.now):
            worked[turn.row] += turn.end - max(turn.begin, turn.overhead_until)
        for rank, (rows, stall) in self._stood.items():
            made = sum(worked[row] for row in rows)
            self._progress[rank] = self._progress.get(rank, 0) + made - min(made, stall)

    def _remember_matrix(self) -> None:
        """What `_shared_progress` needs at the next step."""
        engine = self._engine
        if engine.sharing is not None:
            matrix, stall = engine.sharing.matrix, engine.sharing.stall
            self._stood = {rank: (matrix.rows_of(rank), stall[rank]) for rank in matrix.jobs}
            self._clock, self._last = engine.sharing.turns.copy(), engine.now
        else:
            self._clock = self._last = None

    def _matrix(self) -> None:
        """No cell is held twice; a job has as many columns as processors; the row on turn is what runs."""
        engine = self._engine
        if engine.sharing is None:
            return
        matrix, turns = engine.sharing.matrix, engine.sharing.turns
        for row, columns in matrix.held_twice():
            self._fail(f"in row {row} of the matrix columns {written(columns)} are held twice")
        if tuple(matrix.rows) != turns.rows or (turns.row is None) != (not matrix.rows):
            self._fail("the clock does not know the rows of the matrix")
        for rank in matrix.jobs:
            if matrix.columns(rank).bit_count() != engine.workload.width[rank]:
                self._fail("it stands in another number of columns than it asked for", rank)
            if matrix.rows_of(rank)[0] != matrix.home(rank):
                self._fail("its home row is not the first of its rows", rank)
        decided = engine.history.decisions(engine.step_count - 1)
        tasks, most = sum(d.job.procs for d in decided if isinstance(d, Migrate)), engine.policy.most_migrated()
        if most is not None and tasks > most:
            self._fail(f"{tasks} tasks migrated, {most} may")
        here = {rank for rank in matrix.jobs if turns.row in matrix.rows_of(rank)}
        if here != set(engine.machine.held):
            self._fail("the processors are not held by the row on turn")

    def _closed_stretches(self) -> Iterator[Stretch]:
        """Those that ended in this step."""
        history = self._engine.history
        self._open.update(range(self._seen, len(history)))
        self._seen = len(history)
        for index in sorted(self._open):
            stretch = history.stretch(index)
            if stretch.end is not None:
                self._open.remove(index)
                yield stretch

    def _pinned(self) -> None:
        """A resumed job is on its own processors, unless it was resumed on others; in a matrix in its own columns."""
        engine = self._engine
        resumed = (d for d in engine.history.decisions(engine.step_count - 1) if isinstance(d, Resume))
        sent = {d.job.rank: d.on for d in resumed if d.on is not None}
        for rank, processors in engine.suspended.items():
            if self._pins.get(rank, processors) != processors and rank not in sent:
                self._fail("a suspended job's processors changed", rank)
            self._pins[rank] = processors
        for rank in [rank for rank in self._pins if rank not in engine.suspended]:
            was = self._pins.pop(rank)
            pinned = sent.get(rank, was)
            held = engine.machine.held.get(rank, pinned)
            if engine.sharing and rank in engine.sharing.matrix:
                held = pinned  # it may have migrated since
            if held != pinned:
                self._fail("it was resumed on other processors than its own", rank)

    def _partitions(self) -> None:
        """Every processor has exactly one owner."""
        owners = self._engine.machine.owners
        if not owners:
            return
        seen = 0
        for owned in owners:
            if owned & seen:
                self._fail("a processor has two owners")
            seen |= owned
        if seen != (1 << self._engine.procs) - 1:
            self._fail("a processor has no owner")

    def _promises(self) -> None:
        engine = self._engine
        for rank, at in self._granted.items():
            start = engine.start_of(rank)
            if (engine.now if start is None else start) > at and not engine.policy.suspends:
                self._fail(f"its start was reserved for {at:.12g}, as its user asked, and it is late", rank)
        self._granted = dict(engine.granted)
        if not engine.promises:
            self._promised = {}
            return
        if engine.switches and engine.switches[-1].step == engine.step_count:
            self._promised = {rank: at for rank, at in self._promised.items() if rank in engine.granted}
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
        anew = engine.running_plan()
        for rank, at in engine.reserved.items():
            job = engine.job(rank)
            anew.take(at, at + engine.reserved_for(job), job.procs)
        if anew.shortage() is not None:
            self._fail("the plan gives away more processors than there are")
        if engine.plan != anew:
            self._fail("the plan that is kept up to date differs from one that is made anew")


def _finished(engine: Engine) -> set[int]:
    here = {job.rank for job in engine.queue} | engine.running.keys() | engine.suspended.keys()
    here |= engine.sharing.remaining.keys() if engine.sharing else set()
    return set(range(engine.submitted)) - here


def _progress_so_far(engine: Engine) -> dict[int, float]:
    """rank -> seconds of progress in stretches that are closed."""
    running = {rank: run.ran_before for rank, run in engine.running.items()}
    shared = engine.sharing.remaining if engine.sharing else ()
    return {rank: engine.ran(rank) for rank in {*engine.suspended, *shared}} | running
