"""Effects of decisions and events on the state, each checked before it is applied.

The policy is not trusted: an impossible decision raises a `DecisionError`, and changes nothing.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Sequence
from heapq import heappush
from math import inf
from typing import Any, TypeAlias

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
    Wake,
    check_reason,
    check_span,
)
from sim.decisions.matrix import (
    Phase,
)
from sim.decisions.reasons import AskedFor, MadeRoom
from sim.engine.allocation import Allocation, allocated
from sim.engine.state import Future, State
from sim.errors import DecisionError
from sim.formatting import exact_clock
from sim.history.history import History
from sim.history.stretch import CUT, DONE, KILLED, MOVED, RESUMING, RUN, SPECULATIVE, SUSPENDED, SUSPENDING
from sim.machine.moment import MOMENT
from sim.workload.model import Job

Table: TypeAlias = dict[type, Callable[[Any], None]]


class Appliers(dict[type, Callable[[Any], None]]):
    """Mapping from each type of decision that a policy may make now to the function that applies it. Any other type
    raises an error.
    """

    def __missing__(self, kind: type) -> Callable[[Any], None]:
        known = ", ".join(each.__name__ for each in self)
        raise DecisionError(f"a policy cannot decide an object of type {kind.__name__}; it can decide {known}")


class Transitions:
    """Effects of decisions and events on a machine without a matrix. `sim.engine.matrix_transitions` has those with a
    matrix.
    """

    def __init__(
        self, runtimes: Sequence[float], killed: bytes, state: State, future: Future, history: History
    ) -> None:
        """Make the object. For each job, by rank, `runtimes` has the true run time and `killed` has 1 if the job is
        killed at its estimate, else 0.
        """
        self.runtimes, self._killed = runtimes, killed
        self.state, self.future, self.history = state, future, history
        self.kept: set[int] = set()
        """Ranks of the jobs for which the policy has stated in this pass that they wait"""

    def may_decide(self) -> Appliers:
        """Return a mapping from each type of decision that is allowed now to the function that applies it."""
        always: Table = {
            Expect: self._expect,
            Wake: self._wake,
            Keep: self._keep,
            Phase: self._come_to,
        }
        return Appliers(always | self._about_jobs())

    def _about_jobs(self) -> Table:
        return {
            Start: self._start,
            Backfill: self._start,
            Reserve: self._reserve,
            Suspend: self._suspend,
            Resume: self._resume,
            Await: self._await,
            Divide: self._divide,
            Borrow: self._borrow,
        }

    # Starting and ending

    def _must_wait(self, job: Job, to_do: str) -> None:
        """Raise an error unless the job is waiting and is the same object that was submitted. `to_do` is a verb for the
        message.
        """
        waiting = self.state.waiting.jobs.get(job.rank)
        if job is waiting:
            return
        if waiting is None:
            raise DecisionError(f"job {job.id} cannot {to_do}: it is not waiting")
        if job != waiting:
            raise DecisionError(f"job {job.id} cannot {to_do}: this Job differs from the one submitted")

    def _start(self, decision: Start | Backfill) -> None:
        state, future = self.state, self.future
        job, _, on, limit = decision
        now, machine, rank, procs, estimate = state.now, state.machine, job.rank, job.procs, job.estimate
        if state.waiting.jobs.get(rank) is not job:
            self._must_wait(job, "start")
        check_reason(job, decision.because)
        if rank in self.kept and not isinstance(decision.because, MadeRoom):  # the start of another made its room
            raise DecisionError(f"job {job.id} cannot start: this pass has said that it waits")
        kind, ran = RUN, state.ledger.ran[rank]  # work that an interruption has left
        runtime, estimate = self.runtimes[rank] - ran, estimate - ran
        if limit is not None:
            check_span(job, "start", limit)
            kind, runtime, estimate = SPECULATIVE, min(runtime, limit), min(estimate, limit)
        if on is None and machine.has_nodes:
            on = machine.due(rank, now)
        if on is None:
            if procs > state.free:
                raise DecisionError(f"job {job.id} cannot start: it needs {procs}, {state.free} are free")
            held = machine.take(rank, procs)
        else:
            held = machine.take_exactly(rank, on, procs)
        state.free = machine.free
        state.waiting.remove(job)
        if state.releases is not None:
            state.releases.began(rank, now)
        if state.limits is not None:
            state.limits.add(rank)
        if state.granted and state.granted.pop(rank, None) is not None:
            state.kept_plan = None
        planned = state.reserved.pop(rank, None) if state.reserved else None
        expected_end = now + estimate
        if expected_end > state.closes + MOMENT:
            machine.give_back(rank)
            what = f"it would run past the maintenance at {exact_clock(state.closes)}"
            raise DecisionError(f"job {job.id} cannot start: {what}")
        if plan := state.kept_plan:
            if planned is not None and state.policy.keeps_reservations and (ran or abs(planned - now) > MOMENT):
                plan.let_go(job, max(planned, now), planned + state.reserved_for(job))
                planned = None
            if planned is None or not state.policy.keeps_reservations:
                plan.advance(now)
                plan.hold(job, now, expected_end, machine.seats_of(rank))
        if state.lasts:
            state.lasts.pop(rank, None)
        insort(state.ends, (expected_end, rank, procs))
        future.leaves[rank] = leaves = now + runtime
        heappush(future.leaving, (leaves, rank))
        state.running[rank] = allocated((job, now, expected_end, kind, self.history.begin(rank, now, held, kind), ran))
        starts = state.ledger.start
        if (start := starts[rank]) != start:
            starts[rank] = now
            state.tally.started += 1
        if type(decision) is Backfill:
            state.ledger.backfilled[rank] = 1
            state.tally.backfilled += 1
        self.history.decided(decision)
        if state.curious:
            state.decisions.append(decision)

    def started(self, rank: int) -> None:
        """Record that the job `rank` starts to run now; its start is recorded only the first time."""
        state = self.state
        if state.ledger.start[rank] != state.ledger.start[rank]:
            state.ledger.start[rank] = state.now
            if state.releases is not None:
                state.releases.began(rank, state.now)
            state.tally.started += 1

    def allocation_ends(self, rank: int) -> None:
        """Apply the event that the job's present stay on its processors ends.

        The job has finished, or its speculative run is cut short, or its memory is written (it is suspended now) or
        read (it makes progress again).
        """
        state, allocation = self.state, self.state.running[rank]
        job, since, expected_end, kind, _, ran = allocation
        if kind == RUN or (kind == SPECULATIVE and since + self.runtimes[rank] - ran <= state.now + MOMENT):
            if expected_end > state.now + MOMENT:
                state.ended_early = True
            self.leave(allocation, KILLED if self._killed[rank] else DONE)
            self.done(job)
        elif kind == SPECULATIVE:
            self.leave(allocation, CUT)
            state.killed.append(job)
            state.tally.speculative_kills += 1
            state.waiting.add(job)
        elif kind == RESUMING:
            self._progress_begins(allocation)
        else:
            self.leave(allocation, SUSPENDED)

    def ending(self, rank: int) -> int:
        """Return how the job's run ends, as index into `ENDINGS`: done, or killed at its estimate."""
        return KILLED if self._killed[rank] else DONE

    def leave(self, allocation: Allocation, because: int) -> None:
        """Remove the job from its processors. `because` says why its stay there ends, as an index into `ENDINGS`."""
        state, (job, _, expected_end, _, stretch, _) = self.state, allocation
        now, rank = state.now, job.rank
        del state.running[rank], self.future.leaves[rank]
        del state.ends[bisect_left(state.ends, (expected_end, rank))]
        if plan := state.kept_plan:
            if not state.running and not (state.policy.keeps_reservations and state.reserved):
                state.kept_plan = None  # all is free: nothing is left of ends that were a part of a moment apart
            elif expected_end > now:
                plan.advance(now)
                plan.let_go(job, now, expected_end if expected_end < state.closes else state.closes)
        state.machine.give_back(rank)
        if state.limits is not None:
            state.limits.add(rank, -1)
        self.history.finish(stretch, now, because)

    def done(self, job: Job) -> None:
        """Record that the job has finished."""
        state, rank = self.state, job.rank
        run, ledger, now, submit = self.runtimes[rank], state.ledger, state.now, job.submit
        ledger.end[rank], ledger.ran[rank] = now, run
        wait = ledger.start[rank] - submit if job.reserve is None else job.waited(ledger.start[rank])
        state.tally.finish(now - submit, wait, run, job.procs)
        state.tally.killed += self._killed[rank]
        state.completed.append(job)
        if state.limits is not None:
            state.limits.leave(rank)
        if state.releases is not None:
            state.releases.ended(rank, now)

    # Plans

    def _reserve(self, decision: Reserve) -> None:
        state, (job, at, because, lasts, on) = self.state, decision
        now, rank = state.now, job.rank
        if state.waiting.jobs.get(rank) is not job:
            self._must_wait(job, "get a reservation")
        check_reason(job, because)
        if not now <= at < inf:
            raise DecisionError(
                f"job {job.id} cannot get a reservation for {exact_clock(at)}: the time is already {exact_clock(now)}"
            )
        if lasts is not None:
            check_span(job, "get a reservation", lasts)
        if state.policy.keeps_reservations:
            was = state.reserved.get(rank)
            if lasts is not None:
                state.lasts[rank] = lasts
            if plan := state.plan if state.machine.has_nodes else state.kept_plan:
                lasts = state.lasts.get(rank, job.estimate)
                plan.advance(now)
                if was is not None:
                    plan.let_go(job, was, was + lasts)
                state.machine.promise(rank, at, plan.hold(job, at, at + lasts, on))
            heappush(state.timers, (at, rank, inf))
            if isinstance(because, AskedFor):
                state.granted[rank] = at
        else:
            before = state.before.get(rank)
            was = before if before is None else state.reserved.get(rank, before)
        state.reserved[rank] = at
        if state.promises and (promised := state.ledger.promised[rank]) != promised:
            state.ledger.promised[rank] = at
        if at != was:
            if was is not None and job not in state.arrived:
                state.moved[rank] = state.moved.get(rank, 0) + at - was
            self.log(decision)

    def _expect(self, decision: Expect) -> None:
        state, (job, at) = self.state, decision
        rank = job.rank
        if state.waiting.jobs.get(rank) is not job:
            self._must_wait(job, "be expected")
        if not at >= state.now:
            raise DecisionError(
                f"job {job.id} cannot be expected at {exact_clock(at)}: the time is already {exact_clock(state.now)}"
            )
        state.expected[rank] = at
        if state.before.get(rank) != at:
            self.history.decided(decision)

    def _wake(self, decision: Wake) -> None:
        state, at = self.state, decision.at
        if not state.now < at < inf:
            raise DecisionError(
                f"a timer must be in the future: got {exact_clock(at)} at time {exact_clock(state.now)}"
            )
        if decision.is_renewed:
            state.wake_at = min(state.wake_at, at)
            return
        allocation = state.running.get(decision.during.rank) if decision.during else None
        timer = (at, allocation.job.rank, allocation.since) if allocation else (at, -1, inf)
        if timer not in state.wakes:
            state.wakes.add(timer)
            heappush(state.timers, timer)

    # Suspending

    def _suspend(self, decision: Suspend) -> None:
        """Suspend the job. It keeps its processors for `overhead` seconds, in which its memory is written, and later
        resumes on the same ones.
        """
        state, job, now = self.state, decision.job, self.state.now
        allocation = state.running.get(job.rank)
        if allocation is None or allocation.kind != RUN:
            raise DecisionError(f"job {job.id} cannot be suspended: it is not running")
        check_reason(job, decision.because)
        check_span(job, "be suspended", decision.overhead)
        processors = self.set_aside(allocation)
        if decision.overhead > 0:
            done = now + decision.overhead
            self.occupy(allocation.job, processors, SUSPENDING, done, done)
        state.free = state.machine.free
        self.log(decision)

    def set_aside(self, allocation: Allocation) -> int:
        """Suspend a running job at once: take it off its processors, and return these processors as bits."""
        state, rank = self.state, allocation.job.rank
        processors, state.ledger.ran[rank] = state.machine.held[rank], allocation.ran_by(state.now)
        self.leave(allocation, SUSPENDED)
        self.put_aside(rank, processors)
        return processors

    def put_aside(self, rank: int, processors: int) -> None:
        """Record that the job is suspended, and that it will resume on these processors (bits)."""
        state = self.state
        state.suspended[rank], state.suspended_since[rank] = processors, state.now
        state.ledger.preemptions[rank] += 1
        state.tally.preemptions += 1

    def _resume(self, decision: Resume) -> None:
        """Resume the job on its own processors, or on others if the policy chose them. It makes progress after
        `overhead` seconds, in which its memory is read.
        """
        state, job, rank = self.state, decision.job, decision.job.rank
        if rank not in state.suspended or rank in state.running:
            raise DecisionError(f"job {job.id} cannot be resumed: it is not suspended")
        check_reason(job, decision.because)
        held = state.suspended[rank] if decision.on is None else decision.on
        if held & ~state.free_set:
            raise DecisionError(f"job {job.id} cannot be resumed: its processors are not free")
        if held.bit_count() != job.procs:
            raise DecisionError(f"job {job.id} cannot be resumed on {held.bit_count()} processors")
        check_span(job, "be resumed", decision.overhead)
        del state.suspended[rank], state.suspended_since[rank]
        if rank == state.awaited:
            self.keep_processors(None)
        self.go_on(state.jobs[rank], held, decision.overhead)
        state.free = state.machine.free
        self.log(decision)

    def go_on(self, job: Job, processors: int, overhead: float = 0) -> None:
        """Put a suspended job on these processors (bits). It makes progress after `overhead` seconds, in which its
        memory is read.
        """
        rank, begins, ran = job.rank, self.state.now + overhead, self.state.ledger.ran[job.rank]
        expected_end = begins + job.estimate - ran
        if overhead > 0:
            self.occupy(job, processors, RESUMING, begins, expected_end)
        else:
            self.occupy(job, processors, RUN, begins + self.runtimes[rank] - ran, expected_end)

    def occupy(self, job: Job, processors: int, kind: int, leaves: float, expected_end: float) -> None:
        """Put the job on these processors (bits) for a stay of the kind `kind`. `leaves` is the true end of the stay,
        `expected_end` the end that the policy knows.
        """
        state, rank = self.state, job.rank
        now = state.now
        state.machine.take_exactly(rank, processors, job.procs)
        if state.kept_plan:
            state.kept_plan.advance(now)
            state.kept_plan.hold(job, now, min(expected_end, state.closes), state.machine.seats_of(rank))
        insort(state.ends, (expected_end, rank, job.procs))
        stretch = self.history.begin(rank, now, processors, kind)
        self.stay(rank, allocated((job, now, expected_end, kind, stretch, state.ledger.ran[rank])), leaves)

    def stay(self, rank: int, allocation: Allocation, leaves: float) -> None:
        """Record the job's stay on its processors; `leaves` is the true end of the stay."""
        self.state.running[rank], self.future.leaves[rank] = allocation, leaves
        heappush(self.future.leaving, (leaves, rank))

    def _progress_begins(self, allocation: Allocation) -> None:
        """Let a resumed job make progress from now on, because its memory has been read."""
        state, rank = self.state, allocation.job.rank
        now = state.now
        self.history.finish(allocation.stretch, now, MOVED)
        stretch = self.history.begin(rank, now, state.machine.held[rank], RUN)
        leaves = now + self.runtimes[rank] - state.ledger.ran[rank]
        self.stay(rank, allocation._replace(kind=RUN, since=now, stretch=stretch), leaves)

    def _await(self, decision: Await) -> None:
        """Reserve the processors of a suspended job, so that it resumes next. Lasting reservations were made without
        regard to this job, so all of them but granted ones are dropped.
        """
        state, rank = self.state, decision.job.rank
        if rank not in state.suspended:
            raise DecisionError(f"job {decision.job.id} cannot be awaited: it is not suspended")
        self.keep_processors(rank)
        if state.policy.keeps_reservations:
            anew = {job.rank for job in state.arrived} | state.reserved.keys() - state.granted.keys()
            self.forget_reservations()
            state.arrived = [job for job in state.queue if job.rank in anew]
        self.log(decision)

    def keep_processors(self, rank: int | None) -> None:
        """Reserve the processors on which the suspended job `rank` will resume; if `rank` is None, reserve none any
        more.
        """
        state = self.state
        state.awaited, state.kept_plan = rank, None
        state.machine.kept = 0 if rank is None else state.suspended[rank]

    def forget_reservations(self) -> None:
        """Drop all reservations except granted ones (starts that users requested)."""
        self.state.reserved.clear()
        self.state.machine.forget_promises()
        self.state.reserved.update(self.state.granted)

    # Partitions

    def _divide(self, decision: Divide) -> None:
        """Divide the machine into partitions as decided."""
        state = self.state
        state.machine.divide(decision.owners)
        self.history.boundaries(state.now, state.machine.owners)
        self.log(decision)

    def _borrow(self, decision: Borrow) -> None:
        """Give idle processors of one partition to another, which becomes their owner."""
        state = self.state
        state.machine.hand_over(decision.to, decision.processors)
        state.tally.borrowed += decision.processors.bit_count()
        self.history.boundaries(state.now, state.machine.owners)
        self.log(decision)

    # Recording

    def _come_to(self, decision: Phase) -> None:
        """Begin a phase of a rebuild of the matrix. At the beginning of the phase `schedule`, which plans waiting jobs,
        drop the old plans in rows.
        """
        state = self.state
        state.not_passed.clear()
        if decision.name == "clean" and state.sharing is not None:
            state.sharing.migrated = 0
        if decision.name == "schedule":
            state.before, state.expected, state.expected_row = state.expected, {}, {}
        self._note(decision)

    def _keep(self, decision: Keep) -> None:
        check_reason(*decision)
        self.kept.add(decision[0].rank)
        if self.state.curious:
            self.state.decisions.append(decision)

    def _note(self, decision: Decision) -> None:
        """Record a decision that changes nothing in the run, so that this step shows it to a user who watches the
        run.
        """
        if self.state.curious:
            self.state.decisions.append(decision)

    def log(self, decision: Decision) -> None:
        """Add a decision to the history and, if a user watches the run, to the decisions of this step."""
        self.history.decided(decision)
        if self.state.curious:
            self.state.decisions.append(decision)
