"""Watching one job beside the engine: what each step does to it, as moments.

Only while the job waits is the policy asked for its reasons (`engine.curious`), and only what changes for this job is
looked at: it may be suspended for a hundred thousand steps, or take as many turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias

from sim.decisions import (
    Backfill,
    Decision,
    Expect,
    Keep,
    MadeRoom,
    Reason,
    Reserve,
    Resume,
    Start,
    Suspend,
    WhenFree,
)
from sim.engine import Engine
from sim.history import SPECULATIVE
from sim.matrix_decisions import Migrate, Phase, Place, Rehome, Replicate, ReserveRow, Stall
from sim.moments import (
    AwaitsTurn,
    Ended,
    Entered,
    Holder,
    Moment,
    Pass,
    Paused,
    Planned,
    Requeued,
    Started,
    Submitted,
    Told,
    Unplanned,
    Waited,
)
from sim.policies.orders import Order
from sim.stays import Stay
from sim.waits import Waits, room, state_of
from sim.workload.model import Job

Where: TypeAlias = Literal["queue", "machine", "aside", "matrix"]
_HAS_MOMENT = (Start, Backfill, Reserve, Keep, Expect, Suspend, Resume, Place, Rehome, Replicate, Stall, ReserveRow)


class Observer:
    """Takes notes beside the engine."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self.engine, self.job = engine, job
        self.ended = False
        self.passes: list[Pass] = []
        self._moments: list[Moment] = []
        self._where: Where = "queue"
        self._since = job.submit
        """Since when it waits."""
        self._decisions: Sequence[Decision] = ()
        self._freed: tuple[Holder, ...] = ()
        self._waits = Waits(engine, job)
        self._stay: Stay | None = None
        # What the policy plans
        self._since_plan: list[Pass] = []
        """Those that passed after the pass of the policy had come to this job's plan."""
        self._planned: float | None = None
        self._why_planned: Reason | None = None
        self._head: Job | None = None
        self._victims: tuple[Job, ...] = ()
        """Those that were suspended for this job."""
        engine.curious = True

    def see_step(self) -> bool:
        """One step; False when the job has ended, or nothing happens any more."""
        engine, job, was = self.engine, self.job, self._where
        running = engine.running.copy() if was == "queue" else {}
        if self.ended or not engine.step():
            return False
        self._decisions = engine.decisions if engine.curious else engine.history.decisions(engine.history.steps - 1)
        self._where = self._whereabouts()
        if job in engine.killed:
            self._see_loss()
            was = "queue"
        if job in engine.completed:
            self._see_end()
        elif was == "queue":
            expected = {done.rank: running[done.rank].expected_end for done in engine.completed if done.rank in running}
            self._freed = tuple(Holder(done, expected.get(done.rank, engine.now)) for done in engine.completed)
            self._see_queue()
        elif self._decisions or self._where == "matrix":
            self._see_others()
            self._see_suspension()
        if self._where == "matrix" and not self.ended:
            self._see_matrix()
        engine.curious = self._where == "queue" or self._is_tried()
        return True

    def told(self) -> tuple[Moment, ...]:
        """Everything up to now."""
        self._close()
        if self._stay:
            self._insert(self._stay.until(self.engine.now))
            self._stay = None
        return tuple(self._moments)

    # Where it is

    def _whereabouts(self) -> Where:
        engine, rank = self.engine, self.job.rank
        if engine.sharing and rank in engine.sharing.remaining:
            return "matrix"
        if rank in engine.suspended:
            return "aside"
        return "machine" if rank in engine.running else "queue"

    def _is_tried(self) -> bool:
        run = self.engine.running.get(self.job.rank)
        return run is not None and run.kind == SPECULATIVE

    def _own(self) -> Iterator[Decision]:
        """What was decided about this job."""
        return (decision for decision in self._decisions if getattr(decision, "job", None) is self.job)

    # In the queue

    def _see_queue(self) -> None:
        engine = self.engine
        if engine.now == self.job.submit and not self._moments:
            self._moments.append(self._submission())
        if engine.sharing and not any(isinstance(d, Phase) for d in self._decisions) and self._waits.go_on():
            return  # the matrix was not rebuilt: nobody has thought of the queue
        self._see_head()
        self._see_plan(self._see_passers())
        self._see_others()
        if self._where != "queue":
            self._see_start()
            return
        for d in self._decisions:
            if isinstance(d, Suspend) and getattr(d.because, "by", None) is self.job:
                self._victims += (d.job,)
        planned = self._planned, self._why_planned
        state = state_of(engine, self.job, self._decisions, planned, self._victims)
        self._insert(self._waits.note(state, self._head))

    def _stands_before(self, other: Job) -> bool:
        order, now = self.engine.policy.queue_order(), self.engine.now
        return _place(order, other, now) < _place(order, self.job, now)

    def _submission(self) -> Submitted:
        engine = self.engine
        free = room(engine) + (self.job.procs if self._where == "machine" else 0)
        ahead = [other for other in engine.queue if other is not self.job and self._stands_before(other)]
        return Submitted(engine.now, len(ahead), sum(other.procs for other in ahead), free)

    def _see_passers(self) -> list[Pass]:
        """Note who started though they stood behind this job, or came later; those that its plan may be due to."""
        since, self._since_plan = self._since_plan, []
        before: list[Pass] = []
        for decision in self._decisions:
            if isinstance(decision, Reserve | ReserveRow) and decision.job is self.job:
                before += since + self._since_plan
                since, self._since_plan = [], []
            elif isinstance(decision, Start | Backfill | Place) and self._where == "queue":
                passing = Pass(self.engine.now, decision.job, not self._stands_before(decision.job))
                if passing.behind or decision.job.rank > self.job.rank:
                    self._since_plan.append(passing)
                    self.passes.append(passing)
        return before

    def _see_head(self) -> None:
        for decision in self._decisions:
            if isinstance(decision, Reserve) and isinstance(decision.because, WhenFree):
                self._head = decision.job
        reserved, stand = self.engine.reserved, self.engine.policy.keeps_reservations
        if self._head is None and len(reserved) == 1 and self.job.rank not in reserved and not stand:
            self._head = self.engine.job(next(iter(reserved)))  # since before this job came
        if self._head is not None and self._head.rank not in reserved:
            self._head = None

    def _see_plan(self, passes: list[Pass]) -> None:
        engine, was = self.engine, self._planned
        rank = self.job.rank
        at = engine.reserved.get(rank)
        if at is None:
            at, self._why_planned = engine.expected.get(rank), None
        for decision in self._own():
            if isinstance(decision, Reserve | ReserveRow):
                at, self._why_planned = decision.at, decision.because
        if at == was or (at is None and self._where != "queue"):
            return
        self._planned = at
        if at is None:
            if was is not None:
                self._moments.append(Unplanned(engine.now, was, self._head))
            return
        early = tuple(holder for holder in self._freed if holder.until > engine.now)
        newcomers = tuple(other for other in engine.arrived if other is not self.job and self._stands_before(other))
        passers = tuple(p.job for p in passes if was is not None and p.time + p.job.estimate > was)
        if isinstance(self._why_planned, MadeRoom):
            passers = (self._why_planned.passer,)
        self._moments.append(Planned(engine.now, at, was, self._why_planned, early, passers, newcomers))

    def _see_others(self) -> None:
        """What else was decided about this job."""
        for decision in self._own():
            if not isinstance(decision, _HAS_MOMENT):
                self._moments.append(Told(self.engine.now, decision))

    def _see_start(self) -> None:
        """It waits no longer: it starts, or comes into the matrix."""
        self._close()
        now = self.engine.now
        for d in self._own():
            if isinstance(d, Start | Backfill):
                backfilled = isinstance(d, Backfill)
                self._moments.append(Started(now, d.because, backfilled, self._freed, self._since, d.limit))
            elif isinstance(d, Place):
                self._see_entry(d)

    # On processors, and losing them

    def _see_loss(self) -> None:
        """A speculative run reached its limit."""
        started = next(m for m in reversed(self._moments) if isinstance(m, Started))
        now = self.engine.now
        self._moments.append(Requeued(now, now - started.time))
        self._since, self._planned, self._why_planned = now, None, None

    def _see_suspension(self) -> None:
        for d in self._own():
            if isinstance(d, Suspend):
                self._pause(d)
            elif isinstance(d, Resume):
                self._end_pause(d.because)
            elif isinstance(d, Place):
                self._end_pause(d.because)
                self._see_entry(d)

    def _pause(self, decision: Suspend) -> None:
        engine, rank = self.engine, self.job.rank
        own = engine.suspended.get(rank, 0)
        by = tuple(engine.job(other) for other, held in engine.machine.held.items() if held & own and other != rank)
        ran = engine.ran(rank)
        self._moments.append(Paused(engine.now, None, decision.because, decision.overhead, ran, by))

    def _end_pause(self, back: Reason) -> None:
        for place in reversed(range(len(self._moments))):
            pause = self._moments[place]
            if isinstance(pause, Paused):
                self._moments[place] = replace(pause, until=self.engine.now, back=back)
                return

    # In the matrix

    def _see_entry(self, d: Place) -> None:
        engine = self.engine
        rows = len(engine.matrix.rows)
        self._moments.append(Entered(engine.now, d.row, d.columns, rows, d.because, d.passes))

    def _see_matrix(self) -> None:
        engine, job = self.engine, self.job
        if engine.start_of(job.rank) is None:
            if not self._waits.go_on():
                self._waits.note(AwaitsTurn(len(engine.matrix.rows)), None)
            return
        self._close()
        if self._stay is None:
            self._stay = Stay(engine, job)
        self._stay.see_step(d for d in self._own() if isinstance(d, Migrate | Stall))

    # The end, and the order of what is told

    def _see_end(self) -> None:
        engine = self.engine
        self.ended = True
        self.told()
        self._moments.append(Ended(engine.now, bool(engine.workload.killed[self.job.rank])))

    def _close(self) -> None:
        self._insert(self._waits.close())

    def _insert(self, stretch: Moment | None) -> None:
        """Where it began: after all that happened up to that moment."""
        if stretch is None or (isinstance(stretch, Waited) and not stretch.seconds):
            return
        place = len(self._moments)
        while place and self._moments[place - 1].time > stretch.time:
            place -= 1
        self._moments.insert(place, stretch)


def _place(order: Order, job: Job, now: float) -> tuple[float, int]:
    return order.key(job, now if order.by_clock else job.submit), job.rank
