"""Check of all rules that must always hold, made after each step for the option `--check`. It reads the stretches in
the history.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NoReturn

from sim.decisions.decisions import Resume
from sim.decisions.matrix import Migrate
from sim.engine.moment import Moment
from sim.history.history import History
from sim.history.stretch import SUSPENDING, Stretch
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.processors import written
from sim.machine.turns import Turns
from sim.support.errors import InvariantError
from sim.support.formatting import exact_clock
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

    def __init__(self, moment: Moment, workload: Workload, history: History) -> None:
        """Make a checker for all steps made from now on; earlier steps are not checked."""
        self._moment, self._workload, self._history = moment, workload, history
        self._promised = dict(moment._reserved) if moment._promises else {}
        self._settled, self._seen_at = self._promised, moment._time
        self._granted = dict(moment._granted)
        unfinished = {*moment._waiting.jobs, *moment.under_way, *moment._suspended, *moment._dropped}
        self._finished = _come(moment) - unfinished
        self._progress = _progress_so_far(moment, history)
        self._pins = dict(moment._suspended)
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
        moment = self._moment
        job = None if rank is None else self._workload.ids[rank]
        raise InvariantError(rule, moment._step, moment._time, job, exact_clock(moment._time))

    def _processors(self) -> None:
        moment, machine, seen = self._moment, self._moment._machine, 0
        for rank, held in machine.held.items():
            if held & seen:
                self._fail("a processor is held twice", rank)
            if not machine.has_nodes and held.bit_count() != self._workload.width[rank]:
                self._fail("it holds more or fewer processors than it requested", rank)
            seen |= held
        if isinstance(machine, NodeMachine) and (fault := machine.faults()):
            self._fail(fault)
        if machine.absent != absent(moment._outages, moment._time):
            self._fail("the available processors differ from what the outages allow")
        if seen & machine.free_set or seen | machine.free_set != machine.there:
            self._fail("free and held processors together are not the available processors")
        if machine.free != machine.free_set.bit_count() or moment._free != machine.free:
            self._fail("the count of free processors is wrong")

    def _limits(self) -> None:
        limits, used = self._workload.limits, Counter[int]()
        if limits is None:
            return
        for rank in self._moment._running:
            for number, amount in limits.demands[rank]:
                used[number] += amount
                if used[number] > (bound := limits.bounds[number]).most:
                    self._fail(f"{bound.owner} may hold {bound.most:,} {bound.unit} and holds more", rank)

    def _submitted(self) -> None:
        limits, moment = self._workload.limits, self._moment
        if limits is None or not limits.submits:
            return
        here = {*moment._waiting.jobs, *moment._running, *moment._suspended}
        for number, many in Counter(number for rank in here for number in limits.submits[rank]).items():
            if many > (bound := limits.bounds[number]).most:
                self._fail(f"{bound.owner} may have {bound.most:,} jobs submitted and has {many:,}")

    def _reservations(self) -> None:
        """Check that no job has started on nodes that a reservation keeps from it. Under the policy `recorded`, which
        repeats the recorded starts, nothing is checked.
        """
        moment, shape = self._moment, self._workload.shape
        if shape is None or not shape.reservations or moment._policy.name == "recorded":
            return
        for rank in moment._running:
            if moment.start_of(rank) == moment._time and isinstance(moment._machine, NodeMachine):
                until = moment._time + self._workload.jobs[rank].estimate
                open_to = shape.left_open(shape.requests[rank].admitted, shape.has, moment._time, until, moment._time)
                nodes = list(moment._machine.seats[rank].nodes)
                if not (open_to[nodes, 0] > 0).all():
                    self._fail("it started on nodes that a reservation keeps from it", rank)

    def _check_one_place_each(self) -> None:
        moment = self._moment
        queue, sharing = moment._waiting.in_order(moment._time), moment._sharing
        running, suspended = set(moment.under_way), set(moment._suspended)
        leaving = {rank for rank in suspended & running if not moment._running[rank].runs}
        places = [{job.rank for job in queue}, running, suspended - leaving, set(self._finished), set(moment._dropped)]
        here = set().union(*places)
        self._finished.update(job.rank for job in moment._completed)
        if sum(map(len, places)) != len(here) or {job.rank for job in moment._completed} & here:
            self._fail("a job is in two places")
        if here | self._finished != (come := _come(moment)):
            found = len(here | self._finished)
            self._fail(f"{len(come)} jobs were submitted, but {found} wait, run, are suspended or ended")
        if queue and max(job.procs for job in queue) > moment.most:
            self._fail("a job waits for more processors than will ever be available")
        listed = {stay.rank: stay for stay in moment._stays.in_order}
        if sharing is None and not (listed == moment._running and running == set(moment._machine.held)):
            self._fail("the list of expected ends does not name the running jobs")

    def _run_times(self) -> None:
        """Check that no work is lost: what a finished job had left after its last interruption, and its progress added
        up over its stretches since then, are together its run time.

        Besides interruptions, only the kill of a speculative run discards work.
        """
        moment = self._moment
        killed = {job.rank for job in moment._killed}
        for job in moment._interrupted:
            self._progress[job.rank] = moment._ledger.ran[job.rank]  # the rest is lost
        for stretch in self._closed_stretches():
            rank = stretch.rank
            makes = stretch.kind == "run" or (stretch.kind == "speculative" and rank not in killed)
            if makes and stretch.end is not None and stretch.ended_by != "interrupted":
                self._progress[rank] = self._progress.get(rank, 0) + stretch.end - stretch.start
        self._shared_progress()
        for job in moment._completed:
            rank = job.rank
            start, run = moment.start_of(rank), self._workload.runtimes[rank]
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
        ends, latest = self._moment._ledger.end, start - (follow.think or 0) + self._tolerance()
        early = [
            one for one in follow.after
            if one.job not in self._moment._dropped
            and not (self._moment._ledger.start if one.outcome == "start" else ends)[one.job] + one.delay <= latest
        ]  # fmt: skip
        if not early or (follow.is_any and len(early) < len(follow.after)):
            return ""
        what = "started" if early[0].outcome == "start" else "ended"
        return f"it started before job {self._workload.ids[early[0].job]} had {what}, which it waits for"

    def _tolerance(self) -> float:
        """Return the tolerance in seconds for times, as events less than this apart may count as one instant."""
        return MOMENT * (1 + len(self._moment._completed) + len(self._moment._arrived))

    def _shared_progress(self) -> None:
        """Add to each job in the matrix the progress that it should have made since the last step: the turns of its
        rows, without the time that switches of rows and migrations cost.
        """
        moment, clock = self._moment, self._clock
        if clock is None or self._last is None:
            return
        worked: dict[int, float] = dict.fromkeys(clock.rows, 0)
        for turn in clock.window(self._last, moment._time):
            worked[turn.row] += turn.end - max(turn.begin, turn.overhead_until)
        lost = {job.rank for job in moment._interrupted}
        for rank, (rows, stall) in self._stood.items():
            if rank in lost:
                continue
            made = sum(worked[row] for row in rows)
            self._progress[rank] = self._progress.get(rank, 0) + made - min(made, stall)

    def _remember_matrix(self) -> None:
        """Store the matrix for `_shared_progress` after the next step."""
        moment = self._moment
        if moment._sharing is not None:
            matrix, stall = moment._sharing.matrix, moment._sharing.stall
            self._stood = {rank: (matrix.rows_of(rank), stall[rank]) for rank in matrix.jobs}
            self._clock, self._last = moment._sharing.turns.copy(), moment._time
        else:
            self._clock = self._last = None

    def _matrix(self) -> None:
        """Check that no cell of the matrix is held twice, each job has its columns, and jobs of the active row run."""
        moment = self._moment
        if moment._sharing is None:
            return
        matrix, turns = moment._sharing.matrix, moment._sharing.turns
        for row, columns in matrix.held_twice():
            self._fail(f"in row {row} of the matrix columns {written(columns)} are held twice")
        if tuple(matrix.rows) != turns.rows or (turns.row is None) != (not matrix.rows):
            self._fail("the row clock and the matrix have different rows")
        for rank in matrix.jobs:
            if matrix.columns(rank) & moment._machine.absent:
                self._fail("it stands in columns that are not there", rank)
            if matrix.columns(rank).bit_count() != self._workload.width[rank]:
                self._fail("it stands in another number of columns than it asked for", rank)
            if matrix.rows_of(rank)[0] != matrix.home(rank):
                self._fail("its home row is not the first of its rows", rank)
        decided = self._history.decisions(moment._step - 1)
        tasks, most = sum(d.job.procs for d in decided if isinstance(d, Migrate)), moment._policy.most_migrated()
        if most is not None and tasks > most:
            self._fail(f"{tasks} tasks migrated, {most} may")
        here = {rank for rank in matrix.jobs if turns.row in matrix.rows_of(rank)}
        if here != set(moment._machine.held):
            self._fail("the processors are not held by the row on turn")

    def _closed_stretches(self) -> Iterator[Stretch]:
        history = self._history
        self._open.update(range(self._seen, many := len(history)))
        self._seen = many
        for index in history.over_among(self._open):
            self._open.remove(index)
            yield history.stretch(index)

    def _check_resumed_in_place(self) -> None:
        """Check that a job resumes on the processors or columns that it had before its suspension, unless the policy
        chose others.
        """
        moment = self._moment
        resumed = (d for d in self._history.decisions(moment._step - 1) if isinstance(d, Resume))
        sent = {d.job.rank: d.on for d in resumed if d.on is not None}
        for job in moment._interrupted:
            self._pins.pop(job.rank, None)
        for rank, processors in moment._suspended.items():
            if self._pins.get(rank, processors) != processors and rank not in sent:
                self._fail("a suspended job's processors changed", rank)
            self._pins[rank] = processors
        for rank in [rank for rank in self._pins if rank not in moment._suspended]:
            was = self._pins.pop(rank)
            pinned = sent.get(rank, was)
            held = moment._machine.held.get(rank, pinned)
            if moment._sharing and rank in moment._sharing.matrix:
                held = pinned  # it may have migrated since
            if held != pinned:
                self._fail("it was resumed on other processors than its own", rank)

    def _partitions(self) -> None:
        owners = self._moment._machine.owners
        if not owners:
            return
        seen = 0
        for owned in owners:
            if owned & seen:
                self._fail("a processor has two owners")
            seen |= owned
        if seen != self._moment._machine.there:
            self._fail("a processor has no owner, or is owned and not there")

    def _promises(self) -> None:
        moment, granted = self._moment, self._granted
        is_switch = bool(moment._switches) and moment._switches[-1].step == moment._step
        if moment._upset or (is_switch and self._is_held_up()):
            granted = dict(moment._granted)  # reservations broken by a failure are no violation
        for rank, at in granted.items():
            start = moment.start_of(rank)
            if (moment._time if start is None else start) > at + self._tolerance() and not moment._policy.suspends:
                self._fail(f"it starts later than {exact_clock(at)}, the start reserved by its user", rank)
        self._granted = dict(moment._granted)
        if not moment._promises:
            self._promised = {}
            return
        if moment._upset:
            self._promised = {}
        elif is_switch:
            self._promised = {rank: granted[rank] for rank in self._promised if rank in granted}
        elif moment._arrived and moment._time == self._seen_at:
            self._promised = self._settled  # a job released just now may stand ahead of others
        if moment._time != self._seen_at:
            self._settled, self._seen_at = self._promised, moment._time
        for rank, promised in self._promised.items():
            if self._may_move(rank):
                continue
            start = moment.start_of(rank)
            if start is not None and start > promised + self._tolerance():
                self._fail(f"it was promised {exact_clock(promised)} and started at {exact_clock(start)}", rank)
            if rank in moment._reserved and moment._reserved[rank] > promised + self._tolerance():
                moved = moment._reserved[rank]
                self._fail(f"its promised start moved from {exact_clock(promised)} to {exact_clock(moved)}", rank)
        self._promised = dict(moment._reserved)

    def _may_move(self, rank: int) -> bool:
        """Return True if the policy may move the promised start of the job later. The start is planned again at each
        pass, and the request may fit beside more jobs but not beside fewer.
        """
        machine = self._moment._machine
        if not isinstance(machine, NodeMachine) or self._moment._policy.keeps_reservations:
            return False
        return not machine.requests[rank].more_always_fits

    def _is_held_up(self) -> bool:
        """Return True if a job with a requested reservation may start late without a fault of the policy.

        Causes are a suspension in progress, unavailable processors, or a granted start that is already late.
        """
        moment = self._moment
        writes = any(stay.kind == SUSPENDING for stay in moment._running.values())
        return writes or bool(moment._machine.absent) or any(at < moment._time for at in self._granted.values())

    def _plan(self) -> None:
        moment = self._moment
        if not moment._policy.keeps_reservations:
            return
        anew = moment._running_plan()
        for rank, at in moment._reserved.items():
            job = moment._jobs[rank]
            anew.hold(job, at, at + moment.reserved_for(job), moment._machine.due(rank, at))
        if anew.shortage() is not None:
            self._fail("the plan gives away more processors than there are")
        kept = anew if moment._kept_plan is None else moment._kept_plan.copy()
        kept.advance(moment._time)
        if kept != anew:
            self._fail("the incrementally updated plan differs from one computed from scratch")


def _come(moment: Moment) -> set[int]:
    return set(filter(moment.has_come, range(moment._submitted)))


def _progress_so_far(moment: Moment, history: History) -> dict[int, float]:
    """Return a mapping from rank to the seconds that the job has run in stretches that have ended.

    This includes the stretch that ends when a speculative run becomes an ordinary one.
    """
    progress = {rank: moment.ran(rank) for rank in {*moment.under_way, *moment._suspended}}
    for rank, stay in moment._running.items():
        progress[rank] = stay.ran_before + stay.runs * (history.stretch(stay.stretch).start - stay.since)
    return progress
