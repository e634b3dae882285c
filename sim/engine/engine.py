"""One instant after another. Everything that changes the state of a simulation is in this file.

At an instant t: completions at t in rank order (a run that reaches its limit counts as one); the policy's timers;
arrivals at t in rank order; one pass of the policy, whose decisions are checked and applied one by one. One instant
is one step.

The engine never names a policy. It holds them to what they declare: reservations that stand (`keeps_reservations`)
wake the policy when they are due and are part of `view.plan`; others are forgotten before each pass.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from copy import copy
from heapq import heappop, heappush
from math import inf, isnan
from typing import TYPE_CHECKING, Any

import numpy as np

from sim.decisions.decisions import (
    Await,
    Backfill,
    Borrow,
    Decision,
    Divide,
    Expect,
    Keep,
    Reserve,
    Resume,
    Start,
    Suspend,
    Switched,
    Wake,
)
from sim.decisions.matrix import (
    Clean,
    DropRows,
    Migrate,
    OpenRow,
    Phase,
    Place,
    Rehome,
    Replicate,
    ReserveRow,
    Stall,
    TurnTo,
)
from sim.decisions.reasons import AskedFor, ReservationDue
from sim.engine.checkpoint import Checkpoint, copied
from sim.engine.queue import Waiting
from sim.engine.schedule import Schedule, schedule_of
from sim.engine.sharing import Sharing
from sim.engine.snapshot import Snapshot, take_snapshot
from sim.engine.stint import Run
from sim.engine.succession import Switch, adopting, prospect
from sim.errors import DecisionError, ParameterError
from sim.history.history import (
    CUT,
    DONE,
    KILLED,
    MOVED,
    QUEUED,
    RESUMING,
    RUN,
    SPECULATIVE,
    SUSPENDED,
    SUSPENDING,
    History,
    whole,
)
from sim.history.ledger import Ledger
from sim.history.tally import Tally
from sim.machine.matrix import Matrix
from sim.machine.processors import Machine, Placement
from sim.machine.profile import Profile, shadow
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import policy_of
from sim.workload.model import Job, Workload

if TYPE_CHECKING:
    from sim.engine.check import Checker

_LIVE = (
    "_before", "_lasts", "_leaving", "_next_arrival", "_plan", "_promises", "_ran", "_row_planned", "_sharing",
    "_step_decisions", "_timers", "_wakes", "arrived", "awaited", "completed", "ended_early", "ends", "expected",
    "expected_row", "free", "granted", "killed", "machine", "moved", "notes", "now", "policy", "rebuild", "reserved",
    "running", "step_count", "suspended", "suspended_since", "switches", "tally",
)  # fmt: skip
"""What changes from step to step, beside the queue, the ledger and the history: what a checkpoint copies"""


def _checker(engine: Engine) -> Checker:
    """What verifies every step; imported where somebody wants it."""
    from sim.engine.check import Checker

    return Checker(engine)


class _Appliers(dict[type, Callable[[Any], None]]):
    """decision type -> what applies it; a policy may yield nothing else."""

    def __missing__(self, kind: type) -> Callable[[Any], None]:
        raise DecisionError(f"a policy cannot decide a {kind.__name__}; it can {', '.join(k.__name__ for k in self)}")


class Engine:
    """A simulation of one workload under one policy. It is also the `View` that its policy is shown.

    curious: keep, for the last step, why each considered job was kept waiting (costs time on long queues).
    check: verify every invariant after every step.
    """

    def __init__(
        self,
        workload: Workload,
        policy: Policy | str,
        *,
        placement: Placement = "lowest",
        check: bool = False,
        curious: bool = True,
    ) -> None:
        if np.any(workload.runtime > workload.estimate):
            raise ParameterError("a job runs longer than its estimate: apply Workload.with_overruns first")
        self.workload = workload
        self.policy = policy = policy_of(policy)
        self.history = History()
        self.machine = Machine(workload.procs, placement)
        self.step_count = 0
        # What the view shows
        self.now: float = 0
        self.procs = self.free = workload.procs
        self.arrived: list[Job] = []
        self.completed: list[Job] = []
        self.killed: list[Job] = []
        self.ended_early = False
        self.running: dict[int, Run] = {}
        self.suspended: dict[int, int] = {}
        self.ends: list[tuple[float, int, int]] = []
        self.reserved: dict[int, float] = {}
        self.expected: dict[int, float] = {}
        self.notes: dict[str, dict[int, float]] = {}
        self.curious = curious
        # What only the engine knows
        self._jobs, self._runtimes = workload.jobs, workload.runtimes
        self._killed = workload.killed.tolist()
        self._submits = [*(job.submit for job in workload.jobs), inf]
        self._next_arrival = 0
        self._waiting = Waiting(policy.queue_order())
        self._leaving: list[tuple[float, int]] = []
        """(when, rank): a run ends, or a suspending or resuming job is done with that"""
        self._timers: list[tuple[float, int]] = []
        """(when, rank of the reservation that is due then, or -1 for a wake-up the policy asked for)"""
        self._wakes: set[float] = set()
        self._lasts: dict[int, float] = {}
        """For how long a reservation is, where that is not the job's estimate"""
        self.suspended_since: dict[int, float] = {}
        self._ran: dict[int, float] = {}
        self._plan: Profile | None = None
        self._step_decisions: list[Decision] = []
        self._before: dict[int, float] = {}
        self.switches: tuple[Switch, ...] = ()
        self.granted: dict[int, float] = {}
        """rank -> start, of the waiting jobs whose users asked for a reservation and got it: it outlives its policy"""
        self.awaited: int | None = None
        """The suspended job for which its processors are kept, where a policy that never suspends took over"""
        self.moved: dict[int, float] = {}
        self.tally = Tally()
        self.ledger = Ledger(len(workload))
        turns = policy.turns()
        self._sharing = Sharing(workload.procs, turns) if turns is not None else None
        self.rebuild: tuple[Decision, ...] = ()
        """What the last rebuild of the matrix did, phase by phase; empty unless curious"""
        self.expected_row: dict[int, int] = {}
        """rank -> the row of the matrix in which the job is expected to start"""
        self._row_planned: dict[int, float] = {}
        """rank -> the start expected there as it was last written into the history: moves within a turn are not"""
        self._promises = policy.promises()
        self._apply = self._appliers()
        self._checker = _checker(self) if check else None

    def _appliers(self) -> _Appliers:
        apply = _Appliers()
        apply |= {
            Start: self._start_job,
            Backfill: self._backfill_job,
            Reserve: self._reserve,
            Expect: self._expect,
            Wake: self._wake,
            Keep: self._step_decisions.append,
            Suspend: self._suspend,
            Resume: self._resume,
            Divide: self._divide,
            Borrow: self._borrow,
            Phase: self._note,
            Clean: self._change_matrix,
            DropRows: self._change_matrix,
            OpenRow: self._change_matrix,
            Place: self._place,
            Rehome: self._change_matrix,
            Replicate: self._change_matrix,
            Migrate: self._migrate,
            Stall: self._stall,
            ReserveRow: self._reserve_row,
            Await: self._await,
            TurnTo: self._turn_to,
        }
        return apply

    # Another engine in the same state

    def checkpoint(self) -> Checkpoint:
        """The state between two steps, to go on from (`at`)."""
        under_way = {*self.running, *self.suspended, *(self._sharing.remaining if self._sharing else ())}
        waiting, ledger = self._waiting.ranks(), self.ledger
        entries = {rank: ledger.entry(rank) for rank in under_way}
        entries |= {rank: ledger.entry(rank) for rank in ledger.told(waiting)}
        return Checkpoint(
            step=self.step_count,
            time=self.now,
            state={name: copied(getattr(self, name)) for name in _LIVE},
            waiting=waiting,
            submitted=self._next_arrival,
            unfinished=tuple(under_way),
            entries=entries,
        )

    def at(self, checkpoint: Checkpoint, history: History, *, check: bool = False) -> Engine:
        """Another engine at a checkpoint of this run that this one has passed; it goes on writing that history."""
        twin = copy(self)
        twin.history, twin.ledger = history, checkpoint.ledger(self.ledger)
        for name, value in checkpoint.state.items():
            setattr(twin, name, copied(value))
        twin._waiting = Waiting.of(twin.policy.queue_order(), map(self._jobs.__getitem__, checkpoint.waiting))
        stretches = history.open_stretches()
        for rank, run in twin.running.items():
            run.stretch = stretches.get(rank, run.stretch)
        twin._apply = twin._appliers()
        twin._checker = _checker(twin) if check else None
        return twin

    # Time

    def next_time(self) -> float | None:
        """When the next step will be; None when everything has happened."""
        timers, reserved = self._timers, self.reserved
        while timers and timers[0][1] >= 0 and reserved.get(timers[0][1]) != timers[0][0]:
            heappop(timers)
        leaving = self._leaving
        while leaving and ((run := self.running.get(leaving[0][1])) is None or run.leaves != leaving[0][0]):
            heappop(leaving)
        time = leaving[0][0] if leaving else inf
        if self._submits[self._next_arrival] < time:
            time = self._submits[self._next_arrival]
        if timers and timers[0][0] < time:
            time = timers[0][0]
        if self._sharing:
            time = min(time, self._sharing.next_end(time), self._sharing.next_start())
        return time if time < inf else None

    def switch(self, policy: Policy | str, at: float | None = None) -> None:
        """Let another policy go on from here: a step of its own, at `at` (default: at the time of the last step).

        What is due at that moment happens first. Then the policy adopts the state, which belongs to the machine: all
        who wait are new to it, in its order, and it makes its first pass.
        """
        due = self.next_time()
        if at is None:
            at = self.now if self.step_count or due is None else due
        if at < self.now or (due is not None and at > due):
            raise ParameterError(f"the policy can be switched from {self.now:.12g} to {due} now, got {at:.12g}")
        self._happen(at, policy_of(policy))

    def step(self) -> bool:
        """Go to the next instant and let everything happen there; False when there is none."""
        now = self.next_time()
        if now is None:
            return False
        self._happen(now)
        return True

    def _happen(self, now: float, successor: Policy | None = None) -> None:
        """Everything that happens at one instant; then a successor takes over, if there is one."""
        self.now = now
        self._step_decisions.clear()
        self.moved.clear()
        self.completed.clear()
        if self._sharing:
            self._share_until(now)
        self._complete_jobs(now)
        is_awake = self._drop_timers(now)
        self._admit_arrivals(now)
        if successor is not None:
            self._hand_over(successor)
        if self._sharing is None:
            self._let_policy_decide()
        else:
            if self.arrived or self.completed or is_awake or successor or not self._sharing.remaining:
                self._let_policy_decide()
                self.rebuild = tuple(self._step_decisions)
            self._rows_go_on()
        self.step_count += 1
        self.history.close_step(now, self.free, len(self._waiting.jobs), self._waiting.wanted)
        if self._checker:
            self._checker.after_step()

    def run(self, until: float = inf) -> None:
        """Make all steps up to and including `until`."""
        while (time := self.next_time()) is not None and time <= until:
            self._happen(time)
        if until == inf:
            self.check_all_done()

    def advance(self, steps: int) -> bool:
        """Make at most so many steps; False when the run is over."""
        for _ in range(steps):
            if not self.step():
                self.check_all_done()
                return False
        return True

    def check_all_done(self) -> None:
        """When nothing happens any more, nobody may be left."""
        if left := self.left:
            first = self._jobs[min([*self.suspended, *(job.rank for job in self.queue)])]
            raise DecisionError(
                f"{written_policy(self.policy)} leaves {left} jobs waiting for ever, the first is job {first.id}"
            )

    # What happens by itself

    def _complete_jobs(self, now: float) -> None:
        self.ended_early = False
        self.killed.clear()
        leaving = self._leaving
        while leaving and leaving[0][0] == now:
            run = self.running.get(heappop(leaving)[1])
            if run is None or run.leaves != now:
                continue
            if run.kind == RESUMING:
                self._progress_begins(run)
            elif run.kind == SUSPENDING:
                self._leave(run, SUSPENDED)
            elif run.is_cut:
                self._leave(run, CUT)
                self.killed.append(run.job)
                self.tally.speculative_kills += 1
                self._waiting.add(run.job)
            else:
                self.ended_early |= run.expected_end > now
                self._leave(run, self._ending(run.job.rank))
                self._done(run.job)
        self.free = self.machine.free

    def _ending(self, rank: int) -> int:
        """Is the job done, or killed at its estimate?"""
        return KILLED if self._killed[rank] else DONE

    def _leave(self, run: Run, because: int) -> None:
        """The job gives its processors back."""
        now, job = self.now, run.job
        rank, expected_end = job.rank, run.expected_end
        del self.running[rank]
        del self.ends[bisect_left(self.ends, (expected_end, rank))]
        if expected_end > now and self._plan:
            self._plan.advance(now)
            self._plan.take(now, expected_end, -job.procs)
        self.machine.give_back(rank)
        self.history.finish(run.stretch, now, because)

    def _done(self, job: Job) -> None:
        """The job has completed."""
        rank = job.rank
        self.ledger.end[rank] = self.now
        if self._ran:
            self._ran.pop(rank, None)
        wait = self.ledger.start[rank] - job.submit
        self.tally.finish(self.now - job.submit, wait, self._runtimes[rank], job.procs)
        self.tally.killed += self._killed[rank]
        self.completed.append(job)

    def _drop_timers(self, now: float) -> bool:
        """Was there one?"""
        dropped = False
        while self._timers and self._timers[0][0] <= now:
            self._wakes.discard(heappop(self._timers)[0])
            dropped = True
        return dropped

    def _admit_arrivals(self, now: float) -> None:
        self.arrived.clear()
        while self._submits[self._next_arrival] == now:
            job = self._jobs[self._next_arrival]
            self.arrived.append(job)
            self._waiting.add(job)
            self._next_arrival += 1

    # Sharing in time

    def _share_until(self, now: float) -> None:
        """The rows of the matrix have taken their turns since the last step."""
        sharing = self._sharing
        assert sharing is not None
        if self.step_count and now > sharing.since:
            self.history.mend_free(sharing.empty_until(now) / (now - sharing.since))
        for rank in sharing.elapse(now):
            self.history.leave_matrix(rank, now, self._ending(rank))
            self._done(self._jobs[rank])

    def _rows_go_on(self) -> None:
        """The matrix is as it will be until the next step."""
        sharing = self._sharing
        assert sharing is not None
        for rank in sharing.settle(self.now):
            self._started(rank)
        self.machine.hold_only(sharing.on_turn())
        self.free = self.machine.free
        self.history.share(self.now, sharing.turns, sharing.places())

    # Decisions

    def _let_policy_decide(self) -> None:
        if not self.policy.keeps_reservations:
            self._before, self.reserved = self.reserved, {}
        if self.expected:
            self.expected, self.expected_row = {}, {}
        if self.switches:
            self._let_successor_decide()
            return
        apply = self._apply
        for decision in self.policy.decide(self):
            apply[type(decision)](decision)

    def _must_wait(self, job: Job, to_do: str) -> None:
        """Only a waiting job can do that, and it must be the job that was submitted, not one made up."""
        rank = job.rank
        if rank not in self._waiting.jobs:
            raise DecisionError(f"job {job.id} cannot {to_do} at {self.now}: it does not wait")
        if job is not self._jobs[rank] and job != self._jobs[rank]:
            raise DecisionError(f"job {job.id} cannot {to_do} at {self.now}: it is not as it was submitted")

    def _start_job(self, decision: Start | Backfill) -> None:
        job, now, limit = decision.job, self.now, decision.limit
        rank = job.rank
        self._must_wait(job, "start")
        if decision.on is None:
            if job.procs > self.free:
                raise DecisionError(f"job {job.id} cannot start at {now}: it needs {job.procs}, {self.free} are free")
            held = self.machine.take(rank, job.procs)
        else:
            held = self.machine.take_exactly(rank, decision.on, job.procs)
        self.free = self.machine.free
        self._waiting.remove(job)
        if self.granted and self.granted.pop(rank, None) is not None:
            self._plan = None
        planned = self.reserved.pop(rank, None)
        runtime, estimate, kind, is_cut = self._runtimes[rank], job.estimate, RUN, False
        if limit is not None:
            kind, is_cut = SPECULATIVE, runtime > limit
            runtime, estimate = min(runtime, limit), min(estimate, limit)
        expected_end = now + estimate
        if self._plan:
            if planned is not None and self.policy.keeps_reservations and planned != now:
                self._plan.take(planned, planned + self.reserved_for(job), -job.procs)
                planned = None
            if planned is None or not self.policy.keeps_reservations:
                self._plan.advance(now)
                self._plan.take(now, expected_end, job.procs)
        if planned is not None:
            self._lasts.pop(rank, None)
        insort(self.ends, (expected_end, rank, job.procs))
        heappush(self._leaving, (now + runtime, rank))
        stretch = self.history.begin(rank, now, held, kind)
        self.running[rank] = Run(job, now, now + runtime, expected_end, kind, stretch, 0, is_cut)
        if (start := self.ledger.start[rank]) != start:
            self.ledger.start[rank] = now
            self.tally.started += 1
        self.history.decided(decision)
        if self.curious:
            self._step_decisions.append(decision)

    def _started(self, rank: int) -> None:
        """The job runs; if it never has, this is its start."""
        if self.ledger.start[rank] != self.ledger.start[rank]:
            self.ledger.start[rank] = self.now
            self.tally.started += 1

    def _backfill_job(self, decision: Backfill) -> None:
        self._start_job(decision)
        self.ledger.backfilled[decision.job.rank] = 1
        self.tally.backfilled += 1

    def _reserve(self, decision: Reserve) -> None:
        job, at = decision.job, decision.at
        rank = job.rank
        self._must_wait(job, "get a reservation")
        if not at >= self.now:
            raise DecisionError(f"job {job.id} cannot get a reservation for {at}: it is {self.now}")
        if self.policy.keeps_reservations:
            was = self.reserved.get(rank)
            if decision.lasts is not None:
                self._lasts[rank] = decision.lasts
            if self._plan:
                lasts = self.reserved_for(job)
                self._plan.advance(self.now)
                if was is not None:
                    self._plan.take(was, was + lasts, -job.procs)
                self._plan.take(at, at + lasts, job.procs)
            heappush(self._timers, (at, rank))
            if isinstance(decision.because, AskedFor):
                self.granted[rank] = at
        else:
            was = self._before.get(rank)
        self.reserved[rank] = at
        if self._promises and (promised := self.ledger.promised[rank]) != promised:
            self.ledger.promised[rank] = at
        if at != was:
            if was is not None:
                self.moved[rank] = at - was
            self._log(decision)

    def _expect(self, decision: Expect) -> None:
        job, at = decision.job, decision.at
        self._must_wait(job, "be expected")
        self.expected[job.rank] = at

    def _wake(self, decision: Wake) -> None:
        if not decision.at > self.now:
            raise DecisionError(f"a timer for {decision.at} is not in the future: it is {self.now}")
        if decision.at not in self._wakes:
            self._wakes.add(decision.at)
            heappush(self._timers, (decision.at, -1))

    def _suspend(self, decision: Suspend) -> None:
        """The job keeps its processors in mind; it gives them back after `overhead` seconds."""
        job, now = decision.job, self.now
        rank = job.rank
        run = self.running.get(rank)
        if run is None or run.kind != RUN:
            raise DecisionError(f"job {job.id} cannot be suspended: it does not run")
        self.suspended[rank] = self.machine.held[rank]
        self.suspended_since[rank] = now
        self._ran[rank] = self.ran(rank)
        self.ledger.preemptions[rank] += 1
        self.tally.preemptions += 1
        self._leave(run, SUSPENDED)
        if decision.overhead > 0:
            self._occupy(job, self.suspended[rank], SUSPENDING, now + decision.overhead, now + decision.overhead)
        self.free = self.machine.free
        self._log(decision)

    def _resume(self, decision: Resume) -> None:
        """The job goes on, on the processors that it had or on others; after `overhead` seconds it makes progress."""
        job, now = decision.job, self.now
        rank = job.rank
        if rank not in self.suspended or rank in self.running:
            raise DecisionError(f"job {job.id} cannot be resumed: it is not suspended")
        held = self.suspended[rank] if decision.on is None else decision.on
        if held & ~self.machine.free_set:
            raise DecisionError(f"job {job.id} cannot be resumed: its processors are not free")
        del self.suspended[rank], self.suspended_since[rank]
        if rank == self.awaited:
            self._keep_processors(None)
        begins = now + decision.overhead
        expected_end = begins + job.estimate - self._ran[rank]
        leaves = begins + self._runtimes[rank] - self._ran[rank]
        if decision.overhead > 0:
            self._occupy(job, held, RESUMING, begins, expected_end)
        else:
            self._occupy(job, held, RUN, leaves, expected_end)
        self.free = self.machine.free
        self._log(decision)

    def _occupy(self, job: Job, processors: int, kind: int, leaves: float, expected_end: float) -> None:
        """From now on the job is on these processors."""
        rank, now = job.rank, self.now
        self.machine.take_exactly(rank, processors, job.procs)
        if self._plan:
            self._plan.advance(now)
            self._plan.take(now, expected_end, job.procs)
        insort(self.ends, (expected_end, rank, job.procs))
        heappush(self._leaving, (leaves, rank))
        stretch = self.history.begin(rank, now, processors, kind)
        self.running[rank] = Run(job, now, leaves, expected_end, kind, stretch, self._ran[rank])

    def _progress_begins(self, run: Run) -> None:
        """A resumed job has its memory back."""
        rank, now = run.job.rank, self.now
        self.history.finish(run.stretch, now, MOVED)
        run.stretch = self.history.begin(rank, now, self.machine.held[rank], RUN)
        run.kind, run.since = RUN, now
        run.leaves = now + self._runtimes[rank] - self._ran[rank]
        heappush(self._leaving, (run.leaves, rank))

    def _divide(self, decision: Divide) -> None:
        """The machine gets partitions."""
        self.machine.divide(decision.owners)
        self.history.boundaries(self.now, self.machine.owners)
        self._log(decision)

    def _borrow(self, decision: Borrow) -> None:
        """Idle processors change owner."""
        self.machine.hand_over(decision.to, decision.processors)
        self.tally.borrowed += decision.processors.bit_count()
        self.history.boundaries(self.now, self.machine.owners)
        self._log(decision)

    def _place(self, decision: Place) -> None:
        """A waiting or suspended job comes into the matrix."""
        job = decision.job
        rank = job.rank
        sharing = self._shared()
        if rank in self.suspended:
            sharing.come_in(rank, decision.row, decision.columns, self._runtimes[rank] - self._ran[rank], False)
            del self.suspended[rank], self.suspended_since[rank]
        else:
            self.granted.pop(rank, None)
            self.reserved.pop(rank, None)
            self._must_wait(job, "come into the matrix")
            self._row_planned.pop(rank, None)
            if decision.columns.bit_count() != job.procs:
                raise DecisionError(f"job {job.id} cannot stand in {decision.columns.bit_count()} columns")
            sharing.come_in(rank, decision.row, decision.columns, self._runtimes[rank], True)
            self._waiting.remove(job)
            self.ledger.backfilled[rank] = decision.passes
            self.tally.backfilled += decision.passes
        self._log(decision)

    def _shared(self) -> Sharing:
        if self._sharing is None:
            raise DecisionError("a policy without turns has no matrix")
        return self._sharing

    def _change_matrix(self, decision: Clean | DropRows | OpenRow | Rehome | Replicate) -> None:
        self._shared().change(decision)
        self._note(decision)

    def _migrate(self, decision: Migrate) -> None:
        sharing, rank = self._shared(), decision.job.rank
        sharing.matrix.move(rank, decision.row, decision.columns)
        sharing.stall[rank] += decision.stall
        self.tally.stalled += decision.stall * decision.job.procs
        self.ledger.migrations[rank] += 1
        self.tally.migrations += 1
        self._log(decision)

    def _stall(self, decision: Stall) -> None:
        self._shared().stall[decision.job.rank] += decision.seconds
        self.tally.stalled += decision.seconds * decision.job.procs
        self._log(decision)

    def _reserve_row(self, decision: ReserveRow) -> None:
        job, at = decision.job, decision.at
        rank = job.rank
        self._must_wait(job, "get a reservation")
        self.expected[rank], self.expected_row[rank] = at, decision.row
        was = self._row_planned.get(rank)
        if was is not None and abs(at - was) < self._shared().turns.slice:
            self._note(decision)  # as rows take turns, every plan shifts a little at every rebuild
            return
        if was is not None:
            self.moved[rank] = at - was
        self._row_planned[rank] = at
        self._log(decision)

    def _note(self, decision: Decision) -> None:
        """What a viewer of this step wants to see and a history has no room for."""
        if self.curious:
            self._step_decisions.append(decision)

    def _log(self, decision: Decision) -> None:
        self.history.decided(decision)
        if self.curious:
            self._step_decisions.append(decision)

    # Another policy takes over

    def _hand_over(self, successor: Policy) -> None:
        """What belongs to the machine stays; plans, partitions, notes and turns were the old policy's."""
        was, to = written_policy(self.policy), written_policy(successor)
        for run in self.running.values():
            if run.kind == SPECULATIVE:
                self._make_ordinary(run)
        if self._sharing:
            self._leave_matrix(self._sharing)
        self.policy = successor
        self.rebuild, self.notes = (), {}
        self._forget_plans()
        if self.granted and not successor.suspends:
            self._clear_the_way()
        self._waiting = Waiting.of(successor.queue_order(), self._waiting.jobs.values())
        if self.machine.owners:
            self.machine.owners, self.machine.division = [], []
            self.history.boundaries(self.now, ())
        if turns := successor.turns():
            self._enter_matrix(turns)
        self.free = self.machine.free
        self._promises = self._can_promise()
        self.switches += (Switch(self.step_count + 1, self.now, was, successor),)
        self.history.switch(self.now, was, to)
        self._log(Switched(was, to))

    def _forget_plans(self) -> None:
        """Reservations that were granted stand, all others fall."""
        self._before, self.reserved = self.reserved, self.granted.copy()
        self._plan = None
        self._keep_processors(None)
        self.expected, self.expected_row, self._row_planned = {}, {}, {}
        self._lasts.clear()
        self._wakes.clear()
        self._timers[:] = sorted((at, rank) for rank, at in self.granted.items())

    def _clear_the_way(self) -> None:
        """Running jobs that by their estimates reach into a granted reservation are suspended, the last by rank first.

        Only policies that suspend, and speculative runs that become ordinary ones, leave any in the way.
        """
        while True:
            plan = Profile.of_running(self.now, self.machine.free, self.ends)
            for rank, at in self.granted.items():
                plan.take(max(at, self.now), max(at, self.now) + self._jobs[rank].estimate, self._jobs[rank].procs)
            too_late = plan.shortage()
            if too_late is None:
                return
            reaching = [run for run in self.running.values() if run.expected_end > too_late and run.kind != SUSPENDING]
            if not reaching:
                return
            run = max(reaching, key=lambda run: run.job.rank)
            processors, self._ran[run.job.rank] = self.machine.held[run.job.rank], run.ran_by(self.now)
            self._leave(run, SUSPENDED)
            self._put_aside(run.job, processors)
            asked = min((at, rank) for rank, at in self.granted.items())[1]
            self._log(Suspend(run.job, ReservationDue(self._jobs[asked])))

    def _make_ordinary(self, run: Run) -> None:
        """A speculative run goes on to its end."""
        rank, now = run.job.rank, self.now
        del self.ends[bisect_left(self.ends, (run.expected_end, rank))]
        self.history.finish(run.stretch, now, MOVED)
        run.stretch = self.history.begin(rank, now, self.machine.held[rank], RUN)
        run.kind, run.is_cut = RUN, False
        run.leaves, run.expected_end = run.since + self._runtimes[rank], run.since + run.job.estimate
        insort(self.ends, (run.expected_end, rank, run.job.procs))
        heappush(self._leaving, (run.leaves, rank))

    def _leave_matrix(self, sharing: Sharing) -> None:
        """The row on turn keeps running, who has begun and stands elsewhere is suspended, all others wait again.

        What a job still owed for migrations is forgiven, and not counted as lost.
        """
        sharing.turns.settle(self.now, sharing.matrix.occupied_rows())
        on_turn = sharing.on_turn()
        self._sharing = None
        self.machine.hold_only({})
        for rank in sharing.matrix.jobs:
            job, columns = self._jobs[rank], sharing.matrix.columns(rank)
            self._ran[rank] = self._runtimes[rank] - sharing.remaining[rank]
            self.tally.stalled -= sharing.stall[rank] * job.procs
            ending = MOVED if rank in on_turn else QUEUED if rank in sharing.new else SUSPENDED
            self.history.leave_matrix(rank, self.now, ending)
            if ending == MOVED:
                self._begin_run(job, columns)
            elif ending == QUEUED:
                self._wait_again(job)
            else:
                self._put_aside(job, columns)
        self.free = self.machine.free

    def _begin_run(self, job: Job, processors: int) -> None:
        """The job has the processors to itself from now on."""
        rank, ran = job.rank, self._ran[job.rank]
        leaves = self.now + self._runtimes[rank] - ran
        self._occupy(job, processors, RUN, leaves, max(leaves, self.now + job.estimate - ran))
        self._started(rank)

    def _wait_again(self, job: Job) -> None:
        """The job was in the matrix and has never been on turn."""
        rank = job.rank
        del self._ran[rank]
        self.tally.backfilled -= self.ledger.backfilled[rank]
        self.ledger.backfilled[rank] = 0
        self._waiting.add(job)

    def _put_aside(self, job: Job, processors: int) -> None:
        """The job is suspended from now on."""
        self.suspended[job.rank], self.suspended_since[job.rank] = processors, self.now
        self.ledger.preemptions[job.rank] += 1
        self.tally.preemptions += 1

    def _enter_matrix(self, turns: Turns) -> None:
        """What runs stands in one row; who is still being suspended is, who is being resumed owes the rest."""
        sharing = Sharing(self.procs, turns)
        sharing.since = self.now
        row = sharing.matrix.open_row()
        for rank, run in list(self.running.items()):
            processors, ran = self.machine.held[rank], run.ran_by(self.now)
            self._leave(run, SUSPENDED if run.kind == SUSPENDING else MOVED)
            if run.kind != SUSPENDING:
                sharing.come_in(rank, row, processors, self._runtimes[rank] - ran, False)
                sharing.stall[rank] = run.leaves - self.now if run.kind == RESUMING else 0
        self._leaving.clear()
        sharing.change(DropRows())
        self._sharing = sharing

    def _let_successor_decide(self) -> None:
        """A policy that has taken over: in its first pass all who wait are new to it."""
        arrived = self.arrived
        if not self.policy.keeps_reservations:
            self.reserved = self.granted.copy()
        if self.switches[-1].step > self.step_count:
            self.arrived = [job for job in self.queue if job.rank not in self.granted]
        if self.awaited is not None:
            self._plan = None  # it changes with everything that leaves the processors that are kept
        apply = self._apply
        for decision in adopting(self.policy, self) if self._has_adopted() else self.policy.decide(self):
            apply[type(decision)](decision)
        self.arrived = arrived
        self._promise_again()

    def _has_adopted(self) -> bool:
        """Is something left of an earlier policy that the present one knows nothing of?"""
        granted, suspended = self.granted and not self.policy.grants, self.suspended and not self.policy.suspends
        return bool(granted or suspended)

    def _promise_again(self) -> None:
        """Promises are given when nothing is left of earlier policies that can be in their way."""
        promises = self._can_promise()
        if promises and not self._promises:
            for rank, at in self.reserved.items():
                if self.ledger.promised[rank] != self.ledger.promised[rank]:
                    self.ledger.promised[rank] = at
        self._promises = promises

    def _can_promise(self) -> bool:
        plans_beside = not self.granted or self.policy.keeps_reservations
        return self.policy.promises() and (self.policy.suspends or not self.suspended) and plans_beside

    @property
    def promises(self) -> bool:
        """Does a reservation that stands now never move later?"""
        return self._promises

    def _await(self, decision: Await) -> None:
        """Processors are kept for a suspended job; what was planned without knowing that is planned anew."""
        rank = decision.job.rank
        if rank not in self.suspended:
            raise DecisionError(f"job {decision.job.id} cannot be awaited: it is not suspended")
        self._keep_processors(rank)
        if self.policy.keeps_reservations:
            anew = {job.rank for job in self.arrived} | self.reserved.keys() - self.granted.keys()
            self.reserved = self.granted.copy()
            self.arrived = [job for job in self.queue if job.rank in anew]
        self._log(decision)

    def _keep_processors(self, rank: int | None) -> None:
        """For this suspended job, or for none."""
        self.awaited, self._plan = rank, None
        self.machine.kept = 0 if rank is None else self.suspended[rank]

    def _turn_to(self, decision: TurnTo) -> None:
        self._shared().to_turn = decision.row
        self._log(decision)

    # The view (what is not a plain attribute of it)

    @property
    def queue(self) -> list[Job]:
        return self._waiting.in_order(self.now)

    @property
    def plan(self) -> Profile:
        if self._plan is None:
            self._plan = self.running_plan()
            for rank, at in (self.reserved if self.policy.keeps_reservations else self.granted).items():
                job, start = self._jobs[rank], at if at > self.now else self.now
                self._plan.take(start, start + self.reserved_for(job), job.procs)
        self._plan.advance(self.now)
        return self._plan

    def running_plan(self) -> Profile:
        if self.awaited is not None:
            return Profile.of_running(self.now, *prospect(self, self.awaited))
        return Profile.of_running(self.now, self.free, self.ends)

    def reserved_for(self, job: Job) -> float:
        return self._lasts.get(job.rank, job.estimate)

    def shadow(self, job: Job) -> tuple[float, int]:
        time, free = shadow(self.free, self.ends, job.procs)
        return time, free - job.procs

    def job(self, rank: int) -> Job:
        return self._jobs[rank]

    def ran(self, rank: int) -> float:
        if run := self.running.get(rank):
            return run.ran_by(self.now)
        if self._sharing and rank in self._sharing.remaining:
            return self._runtimes[rank] - self._sharing.remaining[rank]
        return self._ran.get(rank, 0) if isnan(self.ledger.end[rank]) else self._runtimes[rank]

    @property
    def owners(self) -> list[int]:
        return self.machine.owners

    @property
    def free_set(self) -> int:
        return self.machine.free_set

    @property
    def matrix(self) -> Matrix:
        return self._shared().matrix

    def remaining_estimate(self, rank: int) -> float:
        return self._jobs[rank].estimate - self.ran(rank)

    def held(self, rank: int) -> int:
        return self.machine.held[rank]

    # What others see

    @property
    def submitted(self) -> int:
        """How many jobs have been submitted; they are the first so many by rank."""
        return self._next_arrival

    @property
    def left(self) -> int:
        """How many jobs wait or are suspended."""
        return len(self._waiting.jobs) + len(self.suspended)

    @property
    def wanted(self) -> int:
        """Processors that the waiting jobs ask for together."""
        return self._waiting.wanted

    @property
    def crowd(self) -> int:
        """How many jobs the policy may have to think about."""
        shared = len(self._sharing.remaining) if self._sharing else 0
        return len(self._waiting.jobs) + len(self.suspended) + shared

    @property
    def spec(self) -> str:
        """The policy as a person writes it."""
        return written_policy(self.policy)

    @property
    def sharing(self) -> Sharing | None:
        """Where jobs share processors in time: who stands where and what each still has to do."""
        return self._sharing

    @property
    def finished(self) -> int:
        """How many jobs have completed."""
        return self.tally.finished

    @property
    def decisions(self) -> Sequence[Decision]:
        """What was decided in the last step, and why jobs were kept, in order; empty unless curious."""
        return self._step_decisions

    def start_of(self, rank: int) -> float | None:
        """When the job first started; None if it has not."""
        start = self.ledger.start[rank]
        return None if isnan(start) else whole(start)

    def snapshot(self) -> Snapshot:
        """The present as an immutable value."""
        return take_snapshot(self)

    def schedule(self) -> Schedule:
        """What has come of it so far, as columns."""
        return schedule_of(self)
