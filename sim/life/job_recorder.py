"""Recorder of the events of one job, which runs the engine step by step.

The policy is asked for its reasons (`engine.curious`) only while the job waits, and in other steps only changes of this
job are examined. Otherwise a job that is suspended or has turns for a hundred thousand steps would take too long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
from sim.decisions.reasons_inferred import AwaitsTurn, RowStopped
from sim.decisions.reasons_to_wait import NoVictims, TooFewFree
from sim.decisions.sentences import Reason
from sim.engine.engine import Engine
from sim.engine.snapshot import Running, Suspended
from sim.engine.view import Where
from sim.history.stretch import KINDS, SPECULATIVE
from sim.life.matrix_stay import Stay
from sim.life.moments import (
    Ended,
    Entered,
    Interrupted,
    Moment,
    Pass,
    Paused,
    Range,
    Requeued,
    Returned,
    Started,
    Submitted,
    Told,
    Waited,
    job_in_reason,
    numbers_of,
)
from sim.life.plans import Plans
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
        self._stay: Stay | None = None
        engine.curious = True

    def _begin_with(self, job: Job) -> None:
        """Follow this job: a job that waits for others is replaced, with another submit time, when submitted."""
        self.job, self._waits, self._plans = job, Waits(self.engine, job), Plans(self.engine, job)
        self._since = job.submit
        """Begin of the current wait: the job's submission, or the end of a run whose work was lost"""

    def _has_come(self) -> bool:
        """Return True if the job has been submitted."""
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
        """Record the decisions about the job, and switches of the policy, in the order in which they were made."""
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
        """Record that the job's speculative run was stopped at its limit, and its work is lost."""
        started = next(m for m in reversed(self._moments) if isinstance(m, Started))
        now = self.engine.now
        self._moments.append(Requeued(now, now - started.time))
        self._since = now
        self._plans.forget()

    def _see_interruption(self, d: Interrupt) -> None:
        """Record that processors of the job went down (`d` is the decision), and the work of its run is lost."""
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
            self._moments.append(Returned(self.engine.now))
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
            self._stay = Stay(engine, job)
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
        """Insert a stretch into the events at its begin, behind all events up to that time; None is ignored."""
        if stretch is None or (isinstance(stretch, Waited) and not stretch.seconds):
            return
        place = len(self._moments)
        while place and self._moments[place - 1].time > stretch.time:
            place -= 1
        self._moments.insert(place, stretch)


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
