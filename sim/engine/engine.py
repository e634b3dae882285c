"""The engine, which advances a run from one instant to the next.

Events less than a microsecond apart belong to one instant. At an instant, completions come first, in rank order; a run
that reaches its limit counts as one. The policy's timers follow, then arrivals in rank order, and then one pass of the
policy, whose decisions are checked and applied one by one. One instant is one step.

The state is in `state`, the effects of decisions in `transitions`, switches of policies in `policy_switch`, and changes
of the machine in `machine_changes`. The engine never names a policy. It relies on what each policy declares:
lasting reservations (`keeps_reservations`) wake the policy when they are due and are part of `view.plan`; others are
dropped before each pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import partial
from heapq import heappop
from math import inf
from typing import TypeAlias
from weakref import proxy

import numpy as np

from sim.captured_output import hear, may_be_heard
from sim.decisions.decisions import Decision
from sim.decisions.matrix import Phase
from sim.engine.arrivals import admit_arrivals, admit_released
from sim.engine.checkpoint import Checkpoint
from sim.engine.express.express import ENDLESS, Express
from sim.engine.inherited_jobs import adopting
from sim.engine.machine_changes import MachineChanges
from sim.engine.matrix_transitions import MatrixTransitions
from sim.engine.moment import LiveMoment, take_snapshot
from sim.engine.next_event import NextEvent
from sim.engine.policy_calls import after_step, beginning, blame, first_of, leaves_waiting, run_pass
from sim.engine.policy_switch import PolicySwitch, has_adopted, promise_again
from sim.engine.schedule import Schedule, schedule_of
from sim.engine.sharing import Sharing
from sim.engine.snapshot import Snapshot
from sim.engine.state import Future, State
from sim.engine.state_moment import StateMoment
from sim.engine.state_view import StateView, renew, shown_view
from sim.engine.within_limits import decide_within_limits
from sim.errors import ParameterError, PolicyError
from sim.formatting import clock, exact_clock
from sim.history.history import History, Unwritten
from sim.history.past import Switch
from sim.kernel import choice
from sim.machine.moment import MOMENT
from sim.machine.processors import Placement
from sim.policies.policy import Policy
from sim.policies.registry import policy_of
from sim.workload.model import Workload
from sim.workload.outages import Outage

IN_VAIN, IN_VAIN_AT_THE_END = 1_000_000, 10_000
"""Largest number of steps in a row without an arrival or an end of a job, after which the run is stopped. The second
number holds when only the policy can still cause steps
"""

Watcher: TypeAlias = Callable[[State, Workload, History], Callable[[], None]]
"""Function that begins to observe a run. It returns another function, which the engine calls after every step."""


class Engine:
    """Simulation of one workload under one policy.

    If `curious` is True, reasons to wait are kept for the last step, and all reservations in rows of the Ousterhout
    matrix for every step. This costs time on long queues. `watchers` are called after every step.
    """

    def __init__(
        self,
        workload: Workload,
        policy: Policy | str,
        *,
        placement: Placement = "lowest",
        watchers: Sequence[Watcher] = (),
        curious: bool = True,
    ) -> None:
        if np.any(workload.runtime > workload.estimate):
            raise ParameterError("a job runs longer than its estimate: apply Workload.with_overruns first")
        self.workload = workload
        self._loops = choice.chosen() if placement == "lowest" or workload.shape is not None else None
        if workload.follows or workload.limits is not None or (workload.shape and workload.shape.turns):
            self._loops = None  # the loop counts on jobs that come by rank, without limits and reservations
        self._jobs, self._killed = workload.jobs, workload.killed.tobytes()
        self._runtimes: Sequence[float] = np.ascontiguousarray(workload.runtime).data
        self._submits: Sequence[float] = np.append(workload.submit, inf).data
        chosen = policy_of(policy)
        try:
            state = State(workload, chosen, placement, curious)
        except (Exception, SystemExit) as error:
            blame(chosen, error, "at the beginning")
            raise
        self._jobs = state.jobs
        self._begin(state, Future(workload.outages), History(state.jobs), watchers)

    def _begin(self, state: State, future: Future, history: History, watchers: Sequence[Watcher]) -> None:
        self.state, self.history, self._future = state, history, future
        self._in_vain, self._in_vain_since, self._hears = 0, 0.0, may_be_heard()
        self._most: int | None = None
        """Number of decisions after which the current pass is stopped, to show its state; None for a complete pass"""
        self._upcoming = NextEvent(state, future, self._submits, self._runtimes)
        self._transitions = MatrixTransitions(self._runtimes, self._killed, state, future, history)
        self._view = StateView(state)
        self.moment: LiveMoment = StateMoment(state, self.workload)
        """All that may be asked of the run after its last step; each step makes another moment of it"""
        self._prepare_passes()
        self._after_step = [watcher(state, self.workload, history) for watcher in watchers]
        beside = (
            state.sharing, state.has_limits and not state.policy.asks_limits, state.switches, state.leader,
            state.waiting.looks, future.outages, watchers, self._hears, state.node_times,
        )  # fmt: skip
        self._is_plain = not any(beside)
        """True if only arrivals, ends and timers can happen in this run, without any watcher or other callback."""
        self._express: Express | None = None

    # Another engine in the same state

    def checkpoint(self) -> Checkpoint:
        """Return a copy of the present state, between two steps. `Engine.at` continues from it."""
        return Checkpoint.of(self.state, self._future)

    def at(
        self, checkpoint: Checkpoint, history: History, *, watchers: Sequence[Watcher] = (), last: int | None = None
    ) -> Engine:
        """Return another engine that continues from an earlier checkpoint of this run, and writes to `history`.

        Jobs with a rank above `last` never arrive; None lets all jobs arrive.
        """
        is_copied = not isinstance(history, Unwritten)  # the fast loop needs columns, and makes no unwritten steps
        twin, state = copy(self), checkpoint.state(self.state, self.workload, is_copied=is_copied)
        twin._jobs = state.jobs
        for rank, stretch in history.open_stretches().items():
            if rank in state.running:
                state.running[rank] = state.running[rank]._replace(stretch=stretch)
        if last is not None:
            twin._submits, twin._loops = [*self._submits[: last + 1], inf], None
            if state.releases is not None:
                state.releases.last = last
        twin._begin(state, checkpoint.future.copy(), history, watchers)
        return twin

    # Time

    @property
    def now(self) -> float:
        """Return the time of the last step."""
        return self.state.now

    @property
    def step_count(self) -> int:
        """Return the number of steps made so far."""
        return self.state.step_count

    @property
    def curious(self) -> bool:
        """Return True if a user watches the run, so that reasons to wait are recorded."""
        return self.state.curious

    @curious.setter
    def curious(self, curious: bool) -> None:
        self.state.curious = curious
        renew(self.state, self._view, self._shown)

    def next_time(self) -> float | None:
        """Return the time of the next step; None when no event is left."""
        return self._upcoming.time()

    def switch(self, policy: Policy | str, at: float | None = None) -> None:
        """Switch to another policy in a separate step at the time `at` (default: the time of the last step).

        Other events of that time come first. Then the new policy, to which all waiting jobs are new, makes a pass.
        """
        due, now = self.next_time(), self.now
        if at is None:
            at = now if self.step_count or due is None else due
        if due is not None and abs(at - due) <= MOMENT:
            at = max(at, due)
        elif at < now or (due is not None and at > due):
            within = f"from {exact_clock(now)}" + ("" if due is None else f" to {exact_clock(due)}")
            raise ParameterError(f"the next policy switch must be at a time {within}, got {exact_clock(at)}")
        successor, state = policy_of(policy), self.state
        state.refuse_unsupported(successor)
        state.leader, state.led, state.successor = successor if successor.leads() else None, {}, None
        self._hears, self._is_plain = may_be_heard(), False
        self._happen(at, successor.first())

    def take_away(self, processors: int, until: float = inf, at: float | None = None) -> None:
        """Let these processors (bits) fail in a separate step at the time `at` (None: now), until `until`."""
        at = self.now if at is None else at
        if processors <= 0 or processors >> self.state.procs:
            raise ParameterError(f"no such processors: they are numbered 0 to {self.state.procs - 1:,}")
        if not at < until:
            raise ParameterError(
                f"processors that fail at {exact_clock(at)} must come back later, got {exact_clock(until)}"
            )
        due = self.next_time()
        if at < self.now or (due is not None and at > due):
            within = f"from {exact_clock(self.now)}" + ("" if due is None else f" to {exact_clock(due)}")
            raise ParameterError(f"processors can fail {within} now, got {exact_clock(at)}")
        state, self._is_plain = self.state, False
        self._future.add(Outage(at, until, processors))
        self.history.switch(Switch(state.step_count + 1, at, state.policy, state.spec, breaks=(processors, until)))
        self._happen(at, changes=True)

    def step(self) -> bool:
        """Advance to the next instant and apply all its events; return False if there is no further instant."""
        now = self.next_time()
        if now is None:
            return False
        self._happen(now)
        return True

    def step_within(self, decisions: int) -> None:
        """Advance to the next instant; stop its pass after `decisions` decisions, to show the state then."""
        self._most, self._is_plain, self._shown = decisions, False, self._view
        self.step()

    def run(self, until: float = inf) -> None:
        """Make all steps up to the time `until`, including a step at that time."""
        self.hurry(until)
        next_time = self._upcoming.time
        while (time := next_time()) is not None and time <= until:
            self._happen(time)
            if self._loops is not None:
                self.hurry(until)
        if until == inf:
            self.check_all_done()

    def advance(self, steps: int) -> bool:
        """Make at most `steps` steps; return False if the run has ended."""
        goal = self.step_count + steps
        while self.step_count < goal:
            if not self.hurry(steps=goal - self.step_count) and not self.step():
                self.check_all_done()
                return False
        return True

    def hurry(self, until: float = inf, steps: int = ENDLESS, credit: int = ENDLESS, a_step: int = 1) -> int:
        """Make many steps with the fast loop; return the credit used (see `Express.go`), 0 if the loop is unusable."""
        state = self.state
        if self._loops is None or state.curious or self._after_step or state.leader:
            return 0
        if state.outages or self._future.outages:
            if state.machine.absent or state.closes < inf:
                return 0  # the loop knows of no machine that changes
            until = min(until, self._future.next_change() - 1)
        if self._express is None:  # a proxy, so that an unused engine is freed at once
            run, me = (self.workload, self.state, self._future, self.history), proxy(self)
            self._express = Express(self._loops, *run, shown=lambda: me._shown)
        if spent := self._express.go(until, steps, credit, a_step):
            self._in_vain, self._in_vain_since = self._express.in_vain
        if self._express.is_within:
            self._end_step()
        return spent

    def check_all_done(self) -> None:
        """Raise an error if some jobs are unfinished when no event is left."""
        if self.state.left:
            raise leaves_waiting(self.state, self._jobs[min([*self.state.suspended, *self.state.waiting.jobs])])

    # One instant

    def _happen(self, now: float, successor: Policy | None = None, changes: bool = False) -> None:
        """Apply all events of the instant `now`; if `successor` is given, the policy is also switched to it.

        `changes` is True if the machine changes at this instant, by maintenance or by a failure.
        """
        state, future, is_plain, by_rule, is_awake = self.state, self._future, self._is_plain, False, False
        try:
            state.now = now
            if not is_plain:
                if self._hears:
                    hear(state)
                if by_rule := state.successor is not None:
                    successor, state.successor = state.successor, None
            if state.moved:
                state.moved.clear()
            if state.completed:
                state.completed.clear()
            if state.arrived:
                state.arrived.clear()
            if state.killed or state.decisions or not is_plain:
                self._reset_events()
            state.ended_early = False
            if not is_plain and state.sharing:
                self._take_turns_until(state.sharing, now)
            if future.leaving and future.leaving[0][0] <= now:
                self._complete_jobs(now)
            if state.timers:
                is_awake = self._drop_timers(now)
            if state.wake_at < inf:
                is_awake = is_awake or state.wake_at <= now
                state.wake_at = inf
            if not is_plain and (changes or future.next_change() <= now):
                future.applied = now
                MachineChanges(self._transitions).happen()
                renew(state, self._view, self._shown)
            if state.releases is not None:
                admit_released(self._transitions, state.releases)
            elif self._submits[state.submitted] <= now:
                admit_arrivals(self._transitions, self._submits)
            if not is_plain and state.node_times:
                MachineChanges(self._transitions).reserve_nodes()
            if successor is not None:
                PolicySwitch(self._transitions).hand_over(successor, by_rule)
                self._prepare_passes()
            if is_plain or self._is_pass_due(is_awake, successor is not None):
                state.waiting.step = state.step_count
                if self._transitions.kept:
                    self._transitions.kept.clear()
                if state.expected or state.before:  # in rows plans stand until the next rebuild
                    state.before, state.expected = ({}, state.expected) if state.sharing else (state.expected, {})
                if state.reserved and not state.policy.keeps_reservations:
                    state.before = state.reserved | state.before if state.before else state.reserved.copy()
                    state.reserved.clear()
                if is_plain:
                    run_pass(state, self._act or state.policy.decide, self._shown, self._apply)
                else:
                    self._make_general_pass(successor is not None)
            if not is_plain and state.sharing:
                self._rows_go_on(state.sharing)
            self._end_step(by_rule)
        except (Exception, SystemExit) as error:
            blame(state.policy, error, after_step(state))
            raise
        finally:
            if self._hears:
                hear(None)

    def _end_step(self, by_rule: bool = False) -> None:
        """Write the step to the history; `by_rule` is True if an adaptive policy's choice was made in it."""
        state = self.state
        state.step_count += 1
        self.history.close_step(state.now, state.free, len(state.waiting.jobs), state.waiting.wanted)
        if not self._is_plain:
            self._call_watchers(by_rule)
        if state.arrived or state.completed or state.killed:
            self._in_vain = 0
        else:
            self._check_progress()

    def _reset_events(self) -> None:
        """Reset what the state records about the last instant only, such as the jobs that arrived or completed."""
        state = self.state
        for told in (state.decisions, state.not_passed, state.printed, state.killed):
            told.clear()
        if state.resized:
            state.resized = state.upset = False
            state.interrupted, state.ousted, state.renewed = [], [], []

    def _call_watchers(self, by_rule: bool) -> None:
        """Let an adaptive policy choose a successor, unless this step switches to one (`by_rule`); call watchers."""
        state = self.state
        if state.leader is not None and not by_rule and (state.left or self.next_time() is not None):
            wanted = state.leader.next_policy(state.policy, self._view, state.led)
            state.successor = wanted if wanted != state.policy else None
        for look in self._after_step:
            look()

    def _check_progress(self) -> None:
        state = self.state
        if not self._in_vain:
            self._in_vain_since = state.now
        self._in_vain += 1
        if self._in_vain > IN_VAIN_AT_THE_END:
            goes_on = state.under_way or state.releases or state.submitted < len(self._jobs)
            stands = state.now - self._in_vain_since < self._in_vain * MOMENT
            most = IN_VAIN if goes_on and not stands else IN_VAIN_AT_THE_END
            if self._in_vain > most:
                at = f"step {state.step_count}, at {exact_clock(state.now)} ({beginning(state)})"
                what = f"{state.spec} keeps setting timers without deciding anything: {most:,} in a row at {at}"
                raise PolicyError(what, beginning(state))

    def _complete_jobs(self, now: float) -> None:
        leaves, leaving, allocation_ends = self._future.leaves, self._future.leaving, self._transitions.allocation_ends
        due: list[int] = []
        while leaving and leaving[0][0] <= now:
            time, rank = heappop(leaving)
            if leaves.get(rank) == time:
                due.append(rank)
        for rank in due if len(due) < 2 else sorted(set(due)):
            allocation_ends(rank)
        if due:
            self.state.free = self.state.machine.free

    def _drop_timers(self, now: float) -> bool:
        """Remove the timers (requests for a pass) that are due by `now`; return True if any was removed."""
        timers, wakes, dropped = self.state.timers, self.state.wakes, False
        while timers and timers[0][0] <= now:
            timer, dropped = heappop(timers), True
            if wakes:
                wakes.discard(timer)
        return dropped

    def _take_turns_until(self, sharing: Sharing, now: float) -> None:
        """Let the rows of the matrix take their turns from the last step until `now`; add the jobs' progress."""
        if self.step_count and now > sharing.since:
            self.history.mend_free(sharing.empty_until(now) / (now - sharing.since))
        for rank in sharing.elapse(now, self._runtimes):
            self.history.leave_matrix(rank, now, self._transitions.ending(rank))
            self._transitions.done(self._jobs[rank])

    def _rows_go_on(self, sharing: Sharing) -> None:
        """Update the clock of the rows at the end of a step, when all changes of the matrix are made."""
        state = self.state
        for rank in sharing.settle(state.now):
            self._transitions.started(rank)
        state.machine.hold_only(sharing.on_turn())
        state.free = state.machine.free
        self.history.share(state.now, sharing.turns, sharing.places())

    # The pass

    def _is_pass_due(self, is_awake: bool, is_new: bool) -> bool:
        """Return True if a pass is due. If rows do not take turns, it always is.

        If rows take turns, it is due for a new policy (`is_new`), at a timer (`is_awake`), or with an empty matrix. It
        is also due after an arrival, an end of a job or a change of the machine.
        """
        state, sharing = self.state, self.state.sharing
        if sharing is None or is_awake or is_new:
            return True
        return bool(state.arrived or state.completed or state.resized or not sharing.ran)

    def _update_order(self) -> None:
        """Update the order of the queue before a pass; after a switch all waiting jobs count as arrivals."""
        state, came = self.state, self.state.arrived
        if state.switches and state.switches[-1].step > state.step_count:
            state.arrived = [*state.waiting.jobs.values()]
        run_pass(state, state.waiting.look, self._view, self._apply)
        state.arrived = came

    def _make_general_pass(self, is_new: bool) -> None:
        """Make a pass that may involve turns of rows, an order that uses the state, a changed machine, a switch of
        policies, or an early stop. `is_new` is True for the first pass after a switch.
        """
        state = self.state
        if state.waiting.looks:
            self._update_order()
        came = state.arrived
        if state.resized:
            state.arrived = [*state.renewed, *sorted(state.interrupted), *came]
        if state.switches:
            self._make_first_pass()
        elif state.closes < inf and state.policy.code is not None and not state.sharing:
            run_pass(state, adopting, state, self._apply)
        else:
            run_pass(state, self._decide, self._shown, self._apply)
        state.arrived = came
        if state.sharing and (not state.curious or is_new or any(isinstance(told, Phase) for told in state.decisions)):
            state.rebuild = tuple(state.decisions)

    def _prepare_passes(self) -> None:
        """Find the functions that apply the decisions of the policy, the view shown to it, and how it acts on that."""
        self._appliers = self._transitions.may_decide()  # in a circle with those it would outlive them
        self._shown, self._act = shown_view(self._view, self.state, self._appliers)

    def _apply(self, shown: object, decision: Any) -> None:
        self._appliers[type(decision)](decision)

    @property
    def _decide(self) -> Callable[[StateView], Iterable[Decision]]:
        """Return the function that yields the policy's decisions; only the first ones if the pass stops early."""
        decide: Callable[[StateView], Iterable[Decision]] = self.state.policy.decide
        if self.state.has_limits and not self.state.policy.asks_limits:
            decide = partial(decide_within_limits, self._transitions)
        return decide if self._most is None else partial(first_of, self.state, self._most)

    def _make_first_pass(self) -> None:
        """Make the first pass of a policy after a switch, in which all waiting jobs count as arrivals."""
        state, arrived = self.state, self.state.arrived
        if not state.policy.keeps_reservations:
            self._transitions.forget_reservations()
        if state.switches[-1].step > state.step_count:
            state.arrived = [job for job in state.queue if job.rank not in state.granted]
        if state.awaited is not None:
            state.kept_plan = None  # it changes with everything that leaves the processors that are kept
        if has_adopted(state):
            run_pass(state, adopting, state, self._apply)
        else:
            run_pass(state, self._decide, self._shown, self._apply)
        state.arrived = arrived
        promise_again(state)

    # Results

    def __repr__(self) -> str:
        state, of = self.state, self.workload
        jobs = f"{state.tally.finished:,} of {len(of):,} jobs of {of.name} ended"
        return f"<Engine {state.spec}: step {state.step_count:,}, {clock(state.now)}, {jobs}>"

    def snapshot(self) -> Snapshot:
        """Return the current state as an immutable snapshot."""
        return take_snapshot(self.moment, self.next_time())

    def schedule(self, is_last: bool = False) -> Schedule:
        """Return the results so far as columns. With `is_last` they share the run's memory, and the run must end."""
        return schedule_of(self.state, self.workload, self.history, is_last)
