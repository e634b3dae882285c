"""Recorder of the events of one job, which runs the engine step by step.

The policy is asked for its reasons (`engine.curious`) only while the job waits, and in other steps only changes of this
job are examined. Otherwise a job that is suspended or has turns for a hundred thousand steps would take too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from sim.decisions.decisions import (
    Backfill,
    Decision,
    Expect,
    Interrupt,
    Keep,
    Reserve,
    Resume,
    Start,
    Suspend,
    Switched,
)
from sim.decisions.matrix import Migrate, Phase, Place, Rehome, Replicate, ReserveRow, Stall
from sim.decisions.reasons import MadeRoom, OfTheHead
from sim.decisions.reasons_inferred import AwaitsTurn, RowStopped
from sim.decisions.reasons_to_wait import NoVictims, TooFewFree
from sim.decisions.sentences import Reason
from sim.engine.engine import Engine
from sim.engine.snapshot import Running, Suspended
from sim.engine.view import Where
from sim.history.stretch import KINDS, SPECULATIVE
from sim.life.moments import (
    Ended,
    Entered,
    Foreseen,
    Interrupted,
    Moment,
    Ousted,
    Pass,
    Paused,
    Requeued,
    Shared,
    Started,
    Submitted,
    Told,
    Unplanned,
    ValueRange,
    Waited,
    job_in_reason,
    numbers_of,
)
from sim.machine.moment import MOMENT
from sim.why.wait_reasons import Holder, must_end, room, why_it_waits_now
from sim.workload.model import Job

_HAS_MOMENT = (
    Interrupt,
    Start,
    Backfill,
    Reserve,
    Keep,
    Expect,
    Suspend,
    Resume,
    Place,
    Rehome,
    Replicate,
    Stall,
    ReserveRow,
)


class JobRecorder:
    """Recorder of the events of one job. It calls the given function `step` to make each step of the engine."""

    def __init__(self, engine: Engine, job: Job, step: Callable[[], bool]) -> None:
        self.engine, self._step_on = engine, step
        self.ended = False
        self.passes: list[Pass] = []
        self._moments: list[Moment] = []
        self._where: Where = "queue"
        self._in_rows: Literal["", "new", "known"] = ""
        """"" if the job is not in the matrix, "new" before its first turn there, "known" after it"""
        self._begin_with(job)
        self._decisions: Sequence[Decision] = ()
        self._freed: tuple[Holder, ...] = ()
        self._came = 0
        self._failures = {outage.begins for outage in engine.workload.outages}
        self._stay: MatrixStay | None = None
        engine.curious = True

    def _begin_with(self, job: Job) -> None:
        """Follow this job: a job that waits for others is replaced, with another submit time, when submitted."""
        self.job, self._waits, self._plans = job, WaitObserver(self.engine, job), Plans(self.engine, job)
        self._since = job.submit
        """Begin of the current wait: the job's submission, or the end of a run whose work was lost"""

    def _has_come(self) -> bool:
        moment, rank = self.engine.moment, self.job.rank
        if not moment.has_come(rank):
            return False
        if moment.jobs[rank] is not self.job:
            self._begin_with(moment.jobs[rank])
        return True

    def see_step(self) -> bool:
        """Make one step and record the job's events. Return False if the job has ended or no step is left."""
        engine, moment, was = self.engine, self.engine.moment, self._where
        ends = {rank: end for end, rank, _ in moment.ends} if was == "queue" else {}
        absent, then = moment.absent, engine.now
        if self.ended or not self._step_on():
            return False
        if not self._has_come():
            return True  # a switch before the job arrives, or a step of the jobs that it waits for
        job = self.job
        self._decisions = moment.decisions if engine.curious else engine.history.decisions(engine.history.steps - 1)
        self._where = moment.where(job.rank) or "queue"
        before = self._came if engine.now == then else 0  # a switch makes a second step at the same instant
        self._came = before + (absent & ~moment.absent).bit_count()
        self._freed = tuple(Holder(done, self._was_to_end(done, ends)) for done in moment.completed)
        if job in moment.killed:
            self._see_loss()
            was = "queue"
        for d in self._decisions_on_it():
            if isinstance(d, Interrupt):
                self._see_interruption(d)
                was = "queue"
        if job.rank in moment.dropped:
            self._see_own()
            self._close()
            self.ended = True
        elif job in moment.completed:
            self._see_end()
        elif was == "queue" or (was == "matrix" and self._where == "queue"):
            self._see_queue()
        elif self._decisions or self._where != was:
            self._see_own()
        if self._where == "matrix" and not self.ended:
            self._see_matrix()
        run = self._running()
        is_new = run is not None and run.row is not None
        self._in_rows = ("new" if is_new else "known") if self._where == "matrix" else ""
        asks = is_new or (run is not None and run.kind == KINDS[SPECULATIVE])  # it may return to the queue
        asks |= bool(self._failures) and engine.next_time() in self._failures  # an outage may, too
        engine.curious = asks or self._where == "queue"
        return True

    def _was_to_end(self, done: Job, ends: Mapping[int, float]) -> float:
        """Return when the job that has just ended was expected to end, by `ends` before the step or in a matrix."""
        end = ends.get(done.rank)
        return self.engine.now + done.estimate - self.engine.moment.ran(done.rank) if end is None else end

    def told(self) -> tuple[Moment, ...]:
        self._close()
        self._close_stay()
        return tuple(self._moments)

    # Place of the job

    def _running(self) -> Running | None:
        entry = None if self._where == "queue" else self.engine.moment.entry(self.job.rank)
        return entry if isinstance(entry, Running) else None

    def _decisions_on_it(self) -> Iterator[Decision]:
        return (decision for decision in self._decisions if getattr(decision, "job", None) is self.job)

    # In the queue

    def _see_queue(self) -> None:
        engine = self.engine
        if engine.now == self.job.submit and not self._moments:
            self._moments.append(self._submission())
        self._note_passers()
        switched = any(isinstance(d, Switched) for d in self._decisions)
        rebuilt = switched or any(isinstance(d, Phase) for d in self._decisions)
        if engine.moment.takes_turns and self._where == "queue" and not rebuilt and self._waits.go_on():
            return  # the matrix was not rebuilt, so the policy has not considered the queue
        waits = self._where == "queue"
        if engine.curious or self.job.rank in engine.moment.reserved:
            moment = self._plans.see_step(self._decisions, self._freed, waits)
            self._moments += [moment] if moment else []
        self._see_own()
        if self._where != "queue":
            self._close()
            return
        planned = self._plans.at, self._plans.why
        state = why_it_waits_now(engine.moment, self.job, self._decisions, planned)
        self._insert(self._waits.note(state, self._plans.head, switched))

    def _submission(self) -> Submitted:
        moment = self.engine.moment
        ahead = moment.ahead_of(self.job)
        free = room(moment) if self._where == "queue" else None
        return Submitted(self.engine.now, len(ahead), sum(other.procs for other in ahead), free, moment.takes_turns)

    def _note_passers(self) -> None:
        known = {p.job.rank for p in self.passes}
        self.passes += [p for p in self._plans.see_passers(self._decisions) if p.job.rank not in known]

    def _see_own(self) -> None:
        now = self.engine.now
        for d in self._decisions:
            if isinstance(d, Switched):
                self._moments.append(Told(now, d))
                if self._in_rows:
                    self._see_leaving()
            elif getattr(d, "job", None) is not self.job:
                continue
            elif isinstance(d, Start | Backfill):
                self._close()
                backfilled = isinstance(d, Backfill)
                freed, came = self._freed, self._came
                self._moments.append(Started(now, d.because, backfilled, freed, self._since, d.limit, came))
            elif isinstance(d, Suspend):
                self._pause(d.because, d.overhead)
            elif isinstance(d, Resume | Place):
                self._close()
                self._end_pause(d.because)
                if isinstance(d, Place):
                    self._see_entry(d)
                    self._plans.forget()
            elif not isinstance(d, _HAS_MOMENT):
                self._moments.append(Told(now, d))

    # On processors, and losing them

    def _see_loss(self) -> None:
        started = next(m for m in reversed(self._moments) if isinstance(m, Started))
        now = self.engine.now
        self._moments.append(Requeued(now, now - started.time))
        self._since = now
        self._plans.forget()

    def _see_interruption(self, d: Interrupt) -> None:
        self._close()
        self._close_stay(d.ran)
        self._end_pause(None)
        self._moments.append(Interrupted(self.engine.now, d.ran))
        self._since = self.engine.now
        self._plans.forget()

    def _see_leaving(self) -> None:
        """Record that a switch dissolves the matrix: the job runs on, is suspended or, without a turn, waits again."""
        self._close()
        self._close_stay()
        own = tuple(map(type, self._decisions_on_it()))
        if self._where == "queue" or (self._in_rows == "new" and {Start, Backfill, Place} & {*own}):
            self._moments.append(Ousted(self.engine.now))
            if self._where != "queue":
                self._note_passers()
        elif (self._where == "suspended" or {Resume, Place} & {*own}) and Suspend not in own:
            self._pause(RowStopped(), 0)

    def _pause(self, because: Reason, overhead: float) -> None:
        now, moment, rank = self.engine.now, self.engine.moment, self.job.rank
        halted = moment.entry(rank)
        by = tuple(moment.jobs[other] for other in halted.blocked_by) if isinstance(halted, Suspended) else ()
        self._moments.append(Paused(now, None, because, overhead, moment.ran(rank), by))

    def _end_pause(self, back: Reason | None) -> None:
        for place in reversed(range(len(self._moments))):
            pause = self._moments[place]
            if isinstance(pause, Paused):
                if pause.until is None:
                    self._moments[place] = replace(pause, until=self.engine.now, back=back)
                return

    # In the matrix

    def _see_entry(self, d: Place) -> None:
        engine = self.engine
        rows = len(engine.moment.rows.rows)
        self._moments.append(Entered(engine.now, d.row, d.columns, rows, d.because, d.passes))

    def _see_matrix(self) -> None:
        engine, job = self.engine, self.job
        if self._stay is None:
            self._stay = MatrixStay(engine, job)
        if (run := self._running()) is not None and run.row is not None:
            if not self._waits.go_on():
                self._waits.note(AwaitsTurn(len(engine.moment.rows.rows)), None)
        else:
            self._close()
            self._stay.begin()
        self._stay.see_step(d for d in self._decisions_on_it() if isinstance(d, Migrate | Stall))

    # End of the job, order of the moments

    def _see_end(self) -> None:
        engine = self.engine
        self.ended = True
        self.told()
        self._moments.append(Ended(engine.now, bool(engine.workload.killed[self.job.rank])))

    def _close(self) -> None:
        self._insert(self._waits.close())

    def _close_stay(self, ran: float | None = None) -> None:
        """Record the job's stay in the matrix if it had a turn; `ran`: total progress in seconds (None: present)."""
        if self._stay and (shared := self._stay.until(self.engine.now, ran)):
            self._insert(shared)
        self._stay = None

    def _insert(self, stretch: Moment | None) -> None:
        if stretch is None or (isinstance(stretch, Waited) and not stretch.seconds):
            return
        place = len(self._moments)
        while place and self._moments[place - 1].time > stretch.time:
            place -= 1
        self._moments.insert(place, stretch)


class WaitObserver:
    """Observer of the job's reasons to wait, which joins successive steps with the same kind of reason to a stretch."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._engine, self._job = engine, job
        self._open: Waited | None = None
        self._fits = False
        """True if enough processors were free for the job after the last step."""

    def note(self, state: Reason, head: Job | None, switched: bool = False) -> Waited | None:
        """Record the reason after a step; return the stretch before if a new one begins, otherwise None."""
        moment, job = self._engine.moment, self._job
        free, ahead = room(moment), len(moment.queue.ahead_of(job.rank))
        last = self._until_now()
        self._fits = free >= job.procs
        numbers = {"free": ValueRange(free, free), **numbers_of(state)}
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


# The job in the matrix.


class MatrixStay:
    """Totals of the job in the matrix, updated after each step; most of them begin with its first turn."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._matrix, self._engine, self._rank = engine.moment.rows, engine, job.rank
        self._begin: float | None = None
        self._since, self._ran = engine.now, 0.0
        self._rows, self._own = self._count()
        self._home = self._matrix.home(self._rank)
        self._most = ValueRange(self._rows, self._rows), ValueRange(self._own, self._own)
        self._alone: float = 0
        self._replicated: float = 0
        self._owed: float = 0
        self._moved = self._migrated = 0

    def see_step(self, decisions: Iterable[Migrate | Stall]) -> None:
        """Update the totals after a step with this job's migrations and stalls (lost time of its turns)."""
        self._pass_time(self._engine.now)
        self._rows, self._own = self._count()
        if self._begin is None:
            self._most = ValueRange(self._rows, self._rows), ValueRange(self._own, self._own)
        rows, own = self._most
        self._most = rows.also(ValueRange(self._rows, self._rows)), own.also(ValueRange(self._own, self._own))
        for decision in decisions:
            if isinstance(decision, Migrate):
                self._migrated += 1
                self._owed += decision.stall
            else:
                self._owed += decision.seconds
        home, self._home = self._home, self._matrix.home(self._rank)
        self._moved += home != self._home

    def begin(self) -> None:
        """Record that the job has its first turn now; later calls do nothing."""
        if self._begin is None:
            self._begin = self._since = self._engine.now
            self._ran = self._engine.moment.ran(self._rank)
            self._first = self._engine.moment.start_of(self._rank) == self._begin
            self._alone = self._replicated = 0
            self._rows, self._own = self._count()
            self._most = ValueRange(self._rows, self._rows), ValueRange(self._own, self._own)

    def until(self, now: float, ran: float | None = None) -> Shared | None:
        """Return the stay up to `now`, None if the job had no turn; `ran`: total progress (None: until now)."""
        if self._begin is None:
            return None
        self._pass_time(now)
        rows, own = self._most
        return Shared(
            time=self._begin,
            until=now,
            ran=(self._engine.moment.ran(self._rank) if ran is None else ran) - self._ran,
            first=self._first,
            rows=rows,
            own=own,
            alone=self._alone,
            replicated=self._replicated,
            moved=self._moved,
            migrated=self._migrated,
            owed=self._owed,
        )

    def _count(self) -> tuple[int, int]:
        return len(self._matrix.rows), len(self._matrix.rows_of(self._rank))

    def _pass_time(self, now: float) -> None:
        passed, self._since = now - self._since, now
        if self._own == self._rows:
            self._alone += passed
        elif self._own > 1:
            self._replicated += passed


# The plan.


class Plans:
    """Observer of one job's planned start, which is called after each step."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._engine, self._job = engine, job
        self.at: float | None = None
        self.why: Reason | None = None
        """Reason of the plan; None if the policy gives only an expected start."""
        self.head: Job | None = None
        """First job in the queue if the policy plans for one job only, otherwise None."""
        self._since_plan: list[Pass] = []
        """Starts of other jobs since the policy last planned this job."""
        self._before_plan: list[Pass] = []
        """Starts of other jobs between the last two plans that the policy made for this job."""

    def forget(self) -> None:
        self.at = self.why = self.head = None

    def see_passers(self, decisions: Sequence[Decision]) -> list[Pass]:
        """Return the starts of later jobs in this step; remember all starts, which may explain moves of the plan."""
        since, self._since_plan, self._before_plan = self._since_plan, [], []
        passes: list[Pass] = []
        for decision in decisions:
            if isinstance(decision, Reserve | ReserveRow) and decision.job is self._job:
                self._before_plan += since + self._since_plan
                since, self._since_plan = [], []
            elif isinstance(decision, Start | Backfill | Place | Resume):
                if decision.job is self._job:
                    break
                behind = not self._engine.moment.is_before(decision.job, self._job)
                began = Pass(self._engine.now, decision.job, behind)
                self._since_plan.append(began)
                if (decision.job.submit, decision.job.rank) > (self._job.submit, self._job.rank):
                    passes.append(began)
        return passes

    def see_step(
        self, decisions: Sequence[Decision], freed: tuple[Holder, ...], waits: bool
    ) -> Foreseen | Unplanned | None:
        """Return the change of the planned start in this step, or None; `freed` jobs ended, `waits`: still waiting."""
        self._see_head(decisions)
        engine, was, at = self._engine, self.at, self._planned_in(decisions)
        if at == was or (at is None and not waits):
            return None
        self.at = at
        if at is None:
            return None if was is None else Unplanned(engine.now, was, self.head)
        early = tuple(holder for holder in freed if holder.until > engine.now)
        promised = engine.moment.promises and self.why is not None
        return Foreseen(engine.now, at, was, self.why, early, self._passers(was), self._newcomers(), promised)

    def _see_head(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Switched):
                self.head = None
            elif isinstance(decision, Reserve) and isinstance(decision.because, OfTheHead):
                self.head = decision.job
        moment, stand = self._engine.moment, self._engine.moment.rules.keeps_reservations
        reserved = moment.reserved.keys() - moment.granted.keys()
        if self.head is None and len(reserved) == 1 and self._job.rank not in reserved and not stand:
            self.head = moment.jobs[next(iter(reserved))]  # was planned before this job arrived
        if self.head is not None and self.head.rank not in reserved:
            self.head = None

    def _planned_in(self, decisions: Sequence[Decision]) -> float | None:
        rank = self._job.rank
        at = self._engine.moment.reserved.get(rank)
        if at is None:
            at, self.why = self._engine.moment.expected.get(rank), None
        for decision in decisions:
            if isinstance(decision, Reserve | ReserveRow) and decision.job is self._job:
                at, self.why = decision.at, decision.because
        return at

    def _passers(self, was: float | None) -> tuple[Job, ...]:
        """Return the jobs that passed and delay this one: without them it would fit at `was`, its previous plan."""
        if isinstance(self.why, MadeRoom):
            return (self.why.passer,)
        moment, job = self._engine.moment, self._job
        if was is None or moment.takes_turns:
            return ()
        then = {rank: procs for end, rank, procs in moment.ends if end > was + MOMENT}
        passers = {p.job.rank: p.job for p in self._before_plan if p.job.rank in then}
        lacking = sum(then.values()) + job.procs - moment.procs
        return tuple(passers.values()) if 0 < lacking <= sum(then[rank] for rank in passers) else ()

    def _newcomers(self) -> tuple[Job, ...]:
        moment, job = self._engine.moment, self._job
        return tuple(other for other in moment.arrived if other is not job and moment.is_before(other, job))
