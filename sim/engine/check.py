"""Check of all rules that must always hold, made after each step for the option `--check`. It reads the stretches in
the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

from sim.decisions.decisions import Resume
from sim.decisions.matrix import Migrate
from sim.engine.state import State
from sim.errors import InvariantError
from sim.formatting import exact_clock
from sim.history.history import History
from sim.history.stretch import SUSPENDING, Stretch
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.processors import written
from sim.machine.turns import Turns
from sim.workload.model import Workload
from sim.workload.outages import absent


class Checker:
    """Checker that examines a run after each step, and raises `InvariantError` at the first broken rule.

    - no processor is held twice, none is lost, a job holds as many as it requested;
    - no job starts on nodes that a reservation keeps from it;
    - no user, account or array holds more than its limits allow;
    - on nodes no core, byte or other resource is given twice, features and partitions are kept;
    - every job is in one place: future, waiting, running, suspended or finished;
    - a job starts no earlier than it was submitted and makes exactly the progress it must;
    - a suspended job resumes where it was, or where the policy decided; partitions own every processor once;
    - no cell of a matrix is held twice, only the active row makes progress, no more tasks migrate than allowed;
    - a promised start never moves later while it holds, and is kept, unless processors fail, or a job whose dependency
      ends at the same instant comes to stand ahead;
    - running jobs are on available processors, and waiting jobs can start eventually;
    - the plan agrees with the running jobs and the current reservations.
    """

    def __init__(self, state: State, workload: Workload, history: History) -> None:
        """Make a checker for all steps made from now on; earlier steps are not checked."""
        self._state, self._workload, self._history = state, workload, history
        self._promised = dict(state.reserved) if state.promises else {}
        self._settled, self._seen_at = self._promised, state.now
        self._granted = dict(state.granted)
        self._finished = _finished(state)
        self._progress = _progress_so_far(state, history)
        self._pins = dict(state.suspended)
        self._open = set(history.open_stretches().values())
        self._seen = len(history)
        self._stood: dict[int, tuple[tuple[int, ...], float]] = {}
        self._clock: Turns | None = None
        self._last: float | None = None
        self._remember_matrix()

    def __call__(self) -> None:
        """Check every rule for the step that was just made."""
        self._processors()
        self._limits()
        self._submitted()
        self._reservations()
        self._check_one_place_each()
        self._run_times()
        self._matrix()
        self._remember_matrix()
        self._check_resumed_in_place()
        self._partitions()
        self._promises()
        self._plan()

    def _fail(self, rule: str, rank: int | None = None) -> NoReturn:
        state = self._state
        job = None if rank is None else self._workload.ids[rank]
        raise InvariantError(rule, state.step_count, state.now, job, exact_clock(state.now))

    def _processors(self) -> None:
        machine = self._state.machine
        seen = 0
        for rank, held in machine.held.items():
            if held & seen:
                self._fail("a processor is held twice", rank)
            if not machine.has_nodes and held.bit_count() != self._workload.width[rank]:
                self._fail("it holds more or fewer processors than it requested", rank)
            seen |= held
        if isinstance(machine, NodeMachine) and (fault := machine.faults()):
            self._fail(fault)
        if machine.absent != absent(self._state.outages, self._state.now):
            self._fail("the available processors differ from what the outages allow")
        if seen & machine.free_set or seen | machine.free_set != machine.there:
            self._fail("free and held processors together are not the available processors")
        if machine.free != machine.free_set.bit_count() or self._state.free != machine.free:
            self._fail("the count of free processors is wrong")

    def _limits(self) -> None:
        """Check that the running jobs together do not exceed a limit of a user, account or array."""
        limits = self._workload.limits
        used: Counter[int] = Counter()
        for rank in self._state.running if limits else ():
            for number, amount in limits.demands[rank] if limits else ():
                used[number] += amount
                if limits and used[number] > (bound := limits.bounds[number]).most:
                    self._fail(f"{bound.owner} may hold {bound.most:,} {bound.unit} and holds more", rank)

    def _submitted(self) -> None:
        """Check that waiting and running jobs together exceed no limit on submitted jobs."""
        limits, state = self._workload.limits, self._state
        if limits is None or not limits.submits:
            return
        here = {*state.waiting.jobs, *state.running, *state.suspended}
        for number, many in Counter(number for rank in here for number in limits.submits[rank]).items():
            if many > (bound := limits.bounds[number]).most:
                self._fail(f"{bound.owner} may have {bound.most:,} jobs submitted and has {many:,}")

    def _reservations(self) -> None:
        """Check that no job has started on nodes that a reservation keeps from it. Under the policy `recorded`, which
        repeats the recorded starts, nothing is checked.
        """
        state, shape = self._state, self._workload.shape
        if shape is None or not shape.reservations or state.policy.name == "recorded":
            return
        for rank in state.running:
            if state.start_of(rank) == state.now and isinstance(state.machine, NodeMachine):
                until = state.now + self._workload.jobs[rank].estimate
                open_to = shape.left_open(shape.requests[rank].admitted, shape.has, state.now, until, state.now)
                nodes = list(state.machine.seats[rank].nodes)
                if not (open_to[nodes, 0] > 0).all():
                    self._fail("it started on nodes that a reservation keeps from it", rank)

    def _check_one_place_each(self) -> None:
        state = self._state
        waiting = {job.rank for job in state.queue}
        sharing = state.sharing
        running = set(state.running if sharing is None else sharing.ran)
        suspended = set(state.suspended)
        leaving = {rank for rank in suspended & running if not state.running[rank].runs}
        places = [waiting, running, suspended - leaving, set(self._finished), set(state.dropped)]
        here = set().union(*places)
        self._finished.update(job.rank for job in state.completed)
        if sum(map(len, places)) != len(here) or {job.rank for job in state.completed} & here:
            self._fail("a job is in two places")
        if here | self._finished != (come := state.come()):
            found = len(here | self._finished)
            self._fail(f"{len(come)} jobs were submitted, but {found} wait, run, are suspended or ended")
        if any(job.procs > state.most for job in state.queue):
            self._fail("a job waits for more processors than will ever be available")
        if sharing is None and not running == {rank for _, rank, _ in state.ends} == set(state.machine.held):
            self._fail("the list of expected ends does not name the running jobs")

    def _run_times(self) -> None:
        """Check that no work is lost: what a finished job had left after its last interruption, and its progress added
        up over its stretches since then, are together its run time.

        Besides interruptions, only the kill of a speculative run discards work.
        """
        state = self._state
        killed = {job.rank for job in state.killed}
        for job in state.interrupted:
            self._progress[job.rank] = state.ledger.ran[job.rank]  # the rest is lost
        for stretch in self._closed_stretches():
            rank = stretch.rank
            makes = stretch.kind == "run" or (stretch.kind == "speculative" and rank not in killed)
            if makes and stretch.end is not None and stretch.ended_by != "interrupted":
                self._progress[rank] = self._progress.get(rank, 0) + stretch.end - stretch.start
        self._shared_progress()
        for job in state.completed:
            rank = job.rank
            start, run = state.start_of(rank), self._workload.runtimes[rank]
            if start is None or start < job.submit:
                self._fail("it ran before it was submitted", rank)
            if fault := self._follows(rank, start):
                self._fail(fault, rank)
            made = self._progress.pop(rank, 0)
            if abs(made - run) > max(self._tolerance(), MOMENT * run):
                self._fail(f"it made {made:.12g} s of progress and must make {run:.12g} s", rank)

    def _follows(self, rank: int, start: float) -> str:
        """Return an error text if the job `rank` started at `start` before another job that it had to wait for had
        ended; otherwise "".
        """
        follow = self._workload.follows[rank] if self._workload.follows else None
        if follow is None:
            return ""
        ends, latest = self._state.ledger.end, start - (follow.think or 0) + self._tolerance()
        early = [
            one for one in follow.after
            if one.job not in self._state.dropped
            and not (self._state.ledger.start if one.outcome == "start" else ends)[one.job] + one.delay <= latest
        ]  # fmt: skip
        if not early or (follow.is_any and len(early) < len(follow.after)):
            return ""
        what = "started" if early[0].outcome == "start" else "ended"
        return f"it started before job {self._workload.ids[early[0].job]} had {what}, which it waits for"

    def _tolerance(self) -> float:
        """Return the tolerance in seconds for the times of events. Events less than this apart may count as one
        instant.
        """
        return MOMENT * (1 + len(self._state.completed) + len(self._state.arrived))

    def _shared_progress(self) -> None:
        """Add to each job in the matrix the progress that it should have made since the last step: the turns of its
        rows, without the time that switches of rows and migrations cost.
        """
        state, clock = self._state, self._clock
        if clock is None or self._last is None:
            return
        worked: dict[int, float] = dict.fromkeys(clock.rows, 0)
        for turn in clock.window(self._last, state.now):
            worked[turn.row] += turn.end - max(turn.begin, turn.overhead_until)
        lost = {job.rank for job in state.interrupted}
        for rank, (rows, stall) in self._stood.items():
            if rank in lost:
                continue
            made = sum(worked[row] for row in rows)
            self._progress[rank] = self._progress.get(rank, 0) + made - min(made, stall)

    def _remember_matrix(self) -> None:
        """Store the state of the matrix after this step; `_shared_progress` uses it after the next step."""
        state = self._state
        if state.sharing is not None:
            matrix, stall = state.sharing.matrix, state.sharing.stall
            self._stood = {rank: (matrix.rows_of(rank), stall[rank]) for rank in matrix.jobs}
            self._clock, self._last = state.sharing.turns.copy(), state.now
        else:
            self._clock = self._last = None

    def _matrix(self) -> None:
        """Check that no cell of the matrix is held twice, each job has its columns, and the jobs of the active
        row run.
        """
        state = self._state
        if state.sharing is None:
            return
        matrix, turns = state.sharing.matrix, state.sharing.turns
        for row, columns in matrix.held_twice():
            self._fail(f"in row {row} of the matrix columns {written(columns)} are held twice")
        if tuple(matrix.rows) != turns.rows or (turns.row is None) != (not matrix.rows):
            self._fail("the row clock and the matrix have different rows")
        for rank in matrix.jobs:
            if matrix.columns(rank) & state.machine.absent:
                self._fail("it stands in columns that are not there", rank)
            if matrix.columns(rank).bit_count() != self._workload.width[rank]:
                self._fail("it stands in another number of columns than it asked for", rank)
            if matrix.rows_of(rank)[0] != matrix.home(rank):
                self._fail("its home row is not the first of its rows", rank)
        decided = self._history.decisions(state.step_count - 1)
        tasks, most = sum(d.job.procs for d in decided if isinstance(d, Migrate)), state.policy.most_migrated()
        if most is not None and tasks > most:
            self._fail(f"{tasks} tasks migrated, {most} may")
        here = {rank for rank in matrix.jobs if turns.row in matrix.rows_of(rank)}
        if here != set(state.machine.held):
            self._fail("the processors are not held by the row on turn")

    def _closed_stretches(self) -> Iterator[Stretch]:
        """Yield the stretches that ended in this step."""
        history = self._history
        self._open.update(range(self._seen, len(history)))
        self._seen = len(history)
        for index in sorted(filter(history.is_over, self._open)):
            self._open.remove(index)
            yield history.stretch(index)

    def _check_resumed_in_place(self) -> None:
        """Check that a job resumes on the processors or columns that it had before its suspension, unless the policy
        chose others.
        """
        state = self._state
        resumed = (d for d in self._history.decisions(state.step_count - 1) if isinstance(d, Resume))
        sent = {d.job.rank: d.on for d in resumed if d.on is not None}
        for job in state.interrupted:
            self._pins.pop(job.rank, None)
        for rank, processors in state.suspended.items():
            if self._pins.get(rank, processors) != processors and rank not in sent:
                self._fail("a suspended job's processors changed", rank)
            self._pins[rank] = processors
        for rank in [rank for rank in self._pins if rank not in state.suspended]:
            was = self._pins.pop(rank)
            pinned = sent.get(rank, was)
            held = state.machine.held.get(rank, pinned)
            if state.sharing and rank in state.sharing.matrix:
                held = pinned  # it may have migrated since
            if held != pinned:
                self._fail("it was resumed on other processors than its own", rank)

    def _partitions(self) -> None:
        """Check that every processor belongs to exactly one partition."""
        owners = self._state.machine.owners
        if not owners:
            return
        seen = 0
        for owned in owners:
            if owned & seen:
                self._fail("a processor has two owners")
            seen |= owned
        if seen != self._state.machine.there:
            self._fail("a processor has no owner, or is owned and not there")

    def _promises(self) -> None:
        state, granted = self._state, self._granted
        is_switch = bool(state.switches) and state.switches[-1].step == state.step_count
        if state.upset or (is_switch and self._is_held_up()):
            granted = dict(state.granted)  # reservations broken by a failure are no violation
        for rank, at in granted.items():
            start = state.start_of(rank)
            if (state.now if start is None else start) > at + self._tolerance() and not state.policy.suspends:
                self._fail(f"it starts later than {exact_clock(at)}, the start reserved by its user", rank)
        self._granted = dict(state.granted)
        if not state.promises:
            self._promised = {}
            return
        if state.upset:
            self._promised = {}
        elif is_switch:
            self._promised = {rank: granted[rank] for rank in self._promised if rank in granted}
        elif state.arrived and state.now == self._seen_at:
            self._promised = self._settled  # a job released just now may stand ahead of others
        if state.now != self._seen_at:
            self._settled, self._seen_at = self._promised, state.now
        for rank, promised in self._promised.items():
            if self._may_move(rank):
                continue
            start = state.start_of(rank)
            if start is not None and start > promised + self._tolerance():
                self._fail(f"it was promised {exact_clock(promised)} and started at {exact_clock(start)}", rank)
            if rank in state.reserved and state.reserved[rank] > promised + self._tolerance():
                moved = state.reserved[rank]
                self._fail(f"its promised start moved from {exact_clock(promised)} to {exact_clock(moved)}", rank)
        self._promised = dict(state.reserved)

    def _may_move(self, rank: int) -> bool:
        """Return True if the policy may move the promised start of the job later. The start is planned again at each
        pass, and the request may fit beside more jobs but not beside fewer.
        """
        machine = self._state.machine
        if not isinstance(machine, NodeMachine) or self._state.policy.keeps_reservations:
            return False
        return not machine.requests[rank].more_always_fits

    def _is_held_up(self) -> bool:
        """Return True if a job with a requested reservation may start late without a fault of the policy.

        Causes are a suspension in progress, unavailable processors, or a granted start that is already late.
        """
        state = self._state
        writes = any(run.kind == SUSPENDING for run in state.running.values())
        return writes or bool(state.machine.absent) or any(at < state.now for at in self._granted.values())

    def _plan(self) -> None:
        state = self._state
        if not state.policy.keeps_reservations:
            return
        anew = state.running_plan()
        for rank, at in state.reserved.items():
            job = state.jobs[rank]
            anew.hold(job, at, at + state.reserved_for(job), state.machine.due(rank, at))
        if anew.shortage() is not None:
            self._fail("the plan gives away more processors than there are")
        if state.plan != anew:
            self._fail("the incrementally updated plan differs from one computed from scratch")


def _finished(state: State) -> set[int]:
    here = {job.rank for job in state.queue} | state.running.keys() | state.suspended.keys()
    here |= state.sharing.ran.keys() if state.sharing else set()
    return state.come() - here - set(state.dropped)


def _progress_so_far(state: State, history: History) -> dict[int, float]:
    """Return a mapping from rank to the seconds that the job has run in stretches that have ended.

    This includes the stretch that ends when a speculative run becomes an ordinary one.
    """
    running = {
        rank: run.ran_by(state.now) - (state.now - history.stretch(run.stretch).start) if run.runs else run.ran_before
        for rank, run in state.running.items()
    }
    shared = state.sharing.ran if state.sharing else ()
    return {rank: state.ran(rank) for rank in {*state.suspended, *shared}} | running
