"""Fast execution of many steps of an unwatched run by the loop of `sim.kernel`.

The engine itself makes the steps that the loop does not support. These are steps with policies that yield decisions,
user-defined orders, orders by past usage, or several queues with requested reservations. Suspended jobs are
supported under policies that suspend, without turns. After every batch of steps the state is as the engine
would have it.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from math import inf
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from sim.engine.allocation import Allocation
from sim.engine.express import dividing, gangs, ordering, preempting, seating
from sim.engine.express.calling import Calling
from sim.engine.express.columns import fill, numbers, times, values_of
from sim.engine.state import Future, State
from sim.engine.state_view import StateView
from sim.history.bulk_append import Extension
from sim.history.history import History
from sim.history.stretch import KINDS, RUN, SPECULATIVE
from sim.kernel.gang import RowsPass
from sim.kernel.known import Known, keys_of, known, line, tails_of
from sim.kernel.loop import ENOUGH, FULL, OVER, Loop
from sim.kernel.multiqueue import DividedPass
from sim.kernel.node_loop import NodeLoop
from sim.kernel.ordering import OrderedLoop
from sim.kernel.present import (
    GANG,
    MULTIQUEUE,
    RULES,
    SELECTIVE,
    SUSPENDING,
)
from sim.kernel.suspension import Suspension
from sim.kernel.tolls import TollLoop
from sim.machine.processors import ranges
from sim.machine.profile import Profile
from sim.policies.policy import Policy
from sim.workload.model import Ints, Job, Workload

ENDLESS = 1 << 60
_AT_ONCE = 4096
"""Largest number of steps that the loop makes before an interrupt is noticed"""
_LEAST_ROOM, _MUCH_ROOM = 1 << 9, 1 << 16
"""Least number of steps for which space is added to the history's columns at once: its first value, and the largest
value to which doubling raises it
"""


class Express:
    """Runner of the fast loop: it copies the state of the run into the loop, lets it make steps, and copies the state
    back.
    """

    def __init__(
        self,
        loops: ModuleType,
        workload: Workload,
        state: State,
        future: Future,
        history: History,
        shown: Callable[[], StateView],
    ) -> None:
        """Make the runner; `loops` is the module with the loop: `sim.kernel.loop`, or its compiled form. The function
        `shown` returns the view that the engine shows to the policy.
        """
        self._loops, self._workload, self._shown = loops, workload, shown
        self._state, self._future, self._history = state, future, history
        self._policy: Policy | None = None
        self._known: Known | None = None
        self._loop: Loop | None = None
        self._calling: Calling | None = None
        """Calls of the policy, if it is not compiled"""
        self.is_within = False
        """True if the last call of `go` has left the end of a step to the engine"""
        self.in_vain = 0, 0.0
        """Number of steps in a row before this end without an arrival or an end of a job, and the time of the first; 0
        if `is_within` is False
        """
        self._at = -1
        """Number of steps made when the state was last copied into the loop or back"""
        self._asked = not np.isnan(workload.reserve).all()
        """True if any user requested a reservation."""
        self._late = float(workload.submit.max(initial=0) + workload.runtime.max(initial=0))
        """Upper bound for the end of any run: the jobs run one after another from the last arrival on"""

    @property
    def _copied(self) -> Loop:
        """Return the loop; it must exist and have a copy of the state."""
        assert self._loop is not None
        return self._loop

    def go(self, until: float = inf, steps: int = ENDLESS, credit: int = ENDLESS, a_step: int = 1) -> int:
        """Make at most `steps` steps until the time `until`, while credit (a measure of the work) is left; return the
        credit used.

        A step uses `a_step` credit, and 1 more for every job that waits then. A result of 0 means that the engine has
        to make the next step itself; it is not 0 if the engine has only the end of a step left to make (`is_within`).
        """
        self.is_within, self.in_vain = False, (0, 0.0)
        if not self._is_ready():
            return 0
        loop, goal, reason, least = self._copied, self._copied.step + steps, FULL, _LEAST_ROOM
        loop.credit = credit
        come = int(self._workload.submit.searchsorted(until, "right"))
        extension = Extension(self._history, len(self._workload))
        while reason == FULL and not self.is_within:
            made, left = loop.step, come - loop.finished
            more = max(min(goal - made, loop.credit // a_step, 2 * left, extension.most), least)
            reason = self._make_steps(extension, until, goal, a_step, more)
            least = 2 * more if loop.step == made else min(2 * least, _MUCH_ROOM)
            if self._history.is_too_large:
                break
        if not self.is_within:
            extension.cut()
            if loop.kind == GANG:
                self._history.stand(cast(RowsPass, loop).places())
            if loop.credit < credit:
                self._settle()
        if reason == OVER:
            self._loop = None  # it holds as much as the history
        self._history.check_size()
        return max(credit - int(loop.credit), int(self.is_within))

    def _make_steps(self, extension: Extension, until: float, goal: int, a_step: int, more: int) -> int:
        """Let the loop make steps until step `goal`, with space in the history for about `more` steps. Return the
        number of the reason why it stopped (`ENOUGH`, `FULL`, ...).
        """
        loop, ledger, reason = self._copied, self._state.ledger, ENOUGH
        columns = (ledger.start, ledger.end, ledger.promised, ledger.ran, ledger.backfilled)
        room = extension.grow(more)
        loop.open(extension.columns, columns, room)
        if loop.kind in _OWN_LOOPS:
            _choosing_loop(loop).whole_sets = extension.whole_sets
        if loop.kind == MULTIQUEUE:
            divided = cast(DividedPass, loop)
            divided.boundaries, divided.boundary_step = extension.boundaries
            divided.kinds = extension.kinds
        if loop.kind == GANG:
            gangs.begin(cast(RowsPass, loop), self._state, self._history, extension)
        if self._calling is not None:
            reason = self._calling.run(until, goal, a_step, extension, self._settle_within)
            if self._calling.has_ended:
                self.is_within, self._known, self.in_vain = True, None, self._calling.in_vain
            return reason
        is_collected = gc.isenabled()
        gc.disable()  # nothing that a loop writes refers to itself
        try:
            while reason == ENOUGH and loop.step < goal and loop.credit > 0:
                reason = loop.run(until, min(goal - loop.step, _AT_ONCE), loop.credit, a_step)
        finally:
            if is_collected:
                gc.enable()
        extension.written = loop.step, loop.begun, loop.decided, loop.ranged
        loop.close()
        return int(reason)

    # From the state to the loop

    def _is_ready(self) -> bool:
        """Return True if the loop supports the policy and the current state, and has a copy of it."""
        state = self._state
        if state.curious:
            return False
        if state.policy is not self._policy:
            self._policy, self._known, self._at = state.policy, self._as_known(state.policy), -1
        if self._known is None or (self._at != state.step_count and not self._is_plain(self._known)):
            return False
        if self._at != state.step_count:
            self._enter(self._known)
        return self._loop is not None

    def _as_known(self, policy: Policy) -> Known | None:
        """Return the policy as the loop needs it; None if the loop does not support the policy on this machine."""
        shape = self._workload.shape
        if shape is not None and not (seating.is_known(policy) and seating.can_be_told(shape)):
            return None
        return known(policy, self._loops)

    def _is_plain(self, policy: Known) -> bool:
        """Return True if the loop for this policy supports everything in the current state."""
        state, machine, kind = self._state, self._state.machine, policy.kind
        noted = state.notes and not policy.is_called
        begun = (*state.waiting.jobs, *(state.running if kind == MULTIQUEUE else ()))  # before a failure
        unknown = (
            bool(state.sharing) != (kind == GANG), state.granted, machine.kept,
            bool(machine.owners) != (kind == MULTIQUEUE),
            self._asked if kind == MULTIQUEUE else state.lasts,
            not _OWN_LOOPS[kind].beside.can_go_on(state) if kind in _OWN_LOOPS else state.suspended or noted,
            kind == GANG and self._late > gangs.latest(state), not seating.can_go_on(state),
            kind not in (RULES, MULTIQUEUE) and state.kept_plan,
            kind in (RULES, MULTIQUEUE) and state.policy.keeps_reservations and not state.kept_plan and state.reserved,
            state.promises != state.policy.promises(),
            state.tally.interruptions and any(state.ledger.ran[rank] for rank in begun),
            self._history.steps != state.step_count,
            any(allocation.kind not in (RUN, SPECULATIVE) for allocation in state.running.values()),
        )  # fmt: skip
        return not any(unknown)

    def _enter(self, policy: Known) -> None:
        """Copy the state of the run into the loop."""
        state, workload = self._state, self._workload
        order = state.policy.queue_order()
        loop: Loop
        if workload.shape is not None:
            loop = seating.loop_of(self._loops, state, workload.shape, len(workload))
        else:
            kind = policy.kind
            cls = _OWN_LOOPS[kind].made if kind in _OWN_LOOPS else OrderedLoop if order.by_clock else Loop
            loop = vars(self._loops)[cls.__name__](len(workload), state.procs, min(len(workload), state.procs))
        self._loop = loop
        loop.kind, loop.rules, loop.tails = policy.kind, policy.rules, tails_of(self._loops)
        loop.is_reserved = policy.kind == RULES and state.policy.keeps_reservations
        _tell_jobs(loop, workload, line(state.policy, workload))
        if order.by_clock and (keys := keys_of(order, self._loops)) is not None:
            ordering.enter(cast(OrderedLoop, loop), order, keys, workload)
        loop.promises = state.promises
        loop.now, loop.step, loop.arriving = state.now, state.step_count, state.submitted
        waiting = sorted(loop.place_of[rank] for rank in state.waiting.jobs)
        fill(loop.queue, waiting)
        loop.waiting = len(waiting)
        if policy.kind == GANG:
            for rank, stretch in self._history.open_stretches().items():
                cast(RowsPass, loop).set_at[rank] = self._history.processor_sets.place[stretch]
        self._tell_running(loop)
        if workload.shape is not None:
            seating.enter(cast(NodeLoop, loop), state)
        self._tell_plans(loop, policy.kind)
        for name in _TALLY:
            setattr(loop, name, getattr(state.tally, name))
        loop.wanted = state.waiting.wanted
        if policy.kind in _OWN_LOOPS:
            _OWN_LOOPS[policy.kind].beside.enter(loop, state, workload)
        self._calling = None
        if policy.is_called:
            self._calling = Calling(self._loops, loop, policy, state, self._shown)
        self._at = state.step_count

    def _tell_running(self, loop: Loop) -> None:
        state, sets = self._state, self._history.processor_sets
        ends = state.ends
        leaving = sorted((-time, rank) for rank, time in self._future.leaves.items())
        fill(loop.end_at, [end for end, _, _ in ends])
        fill(loop.end_rank, [rank for _, rank, _ in ends])
        fill(loop.end_procs, [procs for _, _, procs in ends])
        fill(loop.leave_at, [time for time, _ in leaving])
        fill(loop.leave_rank, [rank for _, rank in leaving])
        for end, rank, _ in ends:
            loop.expected[rank] = end
            if loop.kind not in _OWN_LOOPS:
                loop.held_at[rank] = sets.write(state.machine.held[rank])
                loop.pieces += sets.ranges[loop.held_at[rank]]
        holes = list(ranges(state.machine.free_set))
        fill(loop.hole_first, [first for first, _ in holes])
        fill(loop.hole_last, [last for _, last in holes])
        loop.running, loop.holes, loop.free = len(ends), len(holes), state.free

    def _tell_plans(self, loop: Loop, kind: int) -> None:
        state = self._state
        if state.kept_plan is not None:
            steps = list(state.kept_plan.steps())
            fill(loop.plan.at, [time for time, _ in steps])
            fill(loop.plan.free, [free for _, free in steps])
            loop.plan.count = len(steps)
        for rank, at in state.reserved.items():
            loop.planned[rank], loop.planned_in[rank] = at, 1 if kind == MULTIQUEUE else state.step_count
        if loop.is_reserved or kind == MULTIQUEUE:
            stand = sorted((at, rank) for rank, at in state.reserved.items())
            fill(loop.reserved_at, [at for at, _ in stand])
            fill(loop.reserved_rank, [rank for _, rank in stand])
            loop.reservations = len(stand)
            loop.is_due = any(at <= state.now and state.reserved.get(rank) == at for at, rank, _ in state.timers)
        elif kind == RULES:
            loop.wake(state.wake_at)

    # From the loop to the state

    def _settle_within(self) -> None:
        """Copy the loop's state back into the run before the step has ended."""
        self._settle(is_within=True)

    def _settle(self, is_within: bool = False) -> None:
        """Copy the loop's state back into the run; `is_within` is True if the present step has not ended."""
        state, loop, jobs = self._state, self._copied, self._workload.jobs
        state.now, state.step_count, self._at = loop.now, loop.step, loop.step
        state.submitted = loop.arriving
        state.arrived[:] = jobs[loop.arriving - loop.arrived : loop.arriving]
        state.completed[:] = [self._job(rank) for rank in values_of(loop.done, loop.completed)]
        state.killed.clear()
        state.decisions.clear()
        if self._calling is None:
            state.printed.clear()
        state.ended_early = bool(loop.ended_early)
        state.resized = state.upset = False
        state.interrupted, state.ousted, state.renewed = [], [], []
        by = values_of(loop.moved_by, loop.moves)
        state.moved.clear()
        state.moved.update(zip(values_of(loop.moved_rank, loop.moves), by, strict=True))
        for name in _TALLY:
            setattr(state.tally, name, getattr(loop, name))
        self._settle_waiting(is_within)
        self._settle_running()
        self._settle_plans(loop.step + is_within)

    def _job(self, rank: int) -> Job:
        """Return the job `rank`. If its object is not made yet, make it alone; the engine would make those of the
        following ranks as well.
        """
        jobs = self._workload.jobs
        return jobs.made[rank] or jobs.next(rank, 1)

    def _settle_waiting(self, is_within: bool) -> None:
        state, loop = self._state, self._copied
        waiting = {loop.rank_at[place] for place in values_of(loop.queue, loop.waiting)}
        for rank in state.waiting.jobs.keys() - waiting:
            state.waiting.remove(self._job(rank))
        for rank in sorted(waiting - state.waiting.jobs.keys()):
            state.waiting.add(self._job(rank))
        state.waiting.step = state.step_count - (not is_within)

    def _settle_running(self) -> None:
        state, future, loop = self._state, self._future, self._copied
        running, machine, history = state.running, state.machine, self._history
        many = loop.running
        ranks = values_of(loop.end_rank, many)
        ends = values_of(loop.end_at, many)
        expected, is_open = dict(zip(ranks, ends, strict=True)), history.open_stretches()
        for rank in [rank for rank, stay in running.items() if is_open.get(rank) != stay.stretch]:
            del running[rank], machine.held[rank], future.leaves[rank]
        for rank in sorted(expected.keys() - running.keys(), key=is_open.__getitem__):
            stretch = history.stretch(is_open[rank])
            ran = state.ledger.ran[rank]
            kind = KINDS.index(stretch.kind)
            running[rank] = Allocation(self._job(rank), stretch.start, expected[rank], kind, is_open[rank], ran)
            machine.held[rank] = stretch.processors
        state.ends[:] = list(zip(ends, ranks, values_of(loop.end_procs, many), strict=True))
        leaves = [-time for time in values_of(loop.leave_at, many)]
        future.leaving[:] = sorted(zip(leaves, values_of(loop.leave_rank, many), strict=True))
        future.leaves.update((rank, time) for time, rank in future.leaving)
        if machine.has_nodes:
            seating.settle(cast(NodeLoop, loop), state)
        elif loop.kind in _OWN_LOOPS:
            machine.free_set = _choosing_loop(loop).free_set()
        else:
            holes = zip(values_of(loop.hole_first, loop.holes), values_of(loop.hole_last, loop.holes), strict=True)
            machine.free_set = sum((2 << last) - (1 << first) for first, last in holes)
        state.free = machine.free = loop.free

    def _settle_plans(self, step: int) -> None:
        state, loop = self._state, self._copied
        kind, reserved, rank_at = loop.kind, state.reserved, loop.rank_at
        state.before, state.expected, state.expected_row = {}, {}, {}
        if self._calling is None:  # otherwise they are up to date, in the order in which they were made
            reserved.clear()
        state.timers.clear()
        state.wakes.clear()
        if loop.is_reserved:
            stand = loop.reservations
            at = values_of(loop.reserved_at, stand)
            reserved.update(zip(values_of(loop.reserved_rank, stand), at, strict=True))
            ahead = (rank for rank, at in reserved.items() if at > loop.now or loop.planned_in[rank] == step)
            state.timers.extend((reserved[rank], rank, inf) for rank in ahead)
        elif kind == RULES:
            if self._calling is None:
                ranks = [rank_at[place] for place in values_of(loop.queue, loop.waiting)]
                reserved.update((rank, loop.planned[rank]) for rank in ranks if loop.planned_in[rank] == step)
            state.wake_at = loop.reserved_at[0] if loop.reservations else inf
        elif kind in _OWN_LOOPS:
            _OWN_LOOPS[kind].beside.settle(loop, state)
        count = loop.plan.count
        steps = zip(values_of(loop.plan.at, count), values_of(loop.plan.free, count), strict=True)
        state.kept_plan = Profile.of_steps(steps) if count else None


AnyLoop = TypeVar("AnyLoop", bound=Loop, contravariant=True)


class _Beside(Protocol[AnyLoop]):
    """Module that copies the additional state of a kind of policy to its loop and back."""

    def can_go_on(self, state: State) -> bool:
        """Return True if the loop supports this state."""

    def enter(self, loop: AnyLoop, state: State, workload: Workload) -> None:
        """Copy the state into the loop."""

    def settle(self, loop: AnyLoop, state: State) -> None:
        """Copy the state from the loop back."""


class _OwnLoop(NamedTuple):
    """Loop of a kind of policy that chooses processors itself."""

    made: type[Loop]
    """Class of the loop"""
    beside: _Beside[Loop]
    """Module that copies the additional state of such a policy to the loop and back"""


def _own_loop(made: type[AnyLoop], beside: _Beside[AnyLoop]) -> _OwnLoop:
    """Return the class of a loop with the module that copies state to a loop of this class (or of its compiled one)."""
    return _OwnLoop(made, cast(_Beside[Loop], beside))


_OWN_LOOPS = {
    SELECTIVE: _own_loop(TollLoop, preempting),
    SUSPENDING: _own_loop(Suspension, preempting),
    MULTIQUEUE: _own_loop(DividedPass, dividing),
    GANG: _own_loop(RowsPass, gangs),
}
"""For each kind of policy that chooses processors itself: its loop"""
_TALLY = ("started", "finished", "backfilled", "killed", "wait", "slowdown", "area", "worst_wait", "worst")


def _choosing_loop(loop: Loop) -> Suspension | DividedPass | RowsPass:
    """Return the loop, which is of a kind that chooses processors itself. Its class may be the compiled one of this
    name.
    """
    return cast(Suspension | DividedPass | RowsPass, loop)


def _tell_jobs(loop: Loop, workload: Workload, rank_at: Ints | None) -> None:
    """Copy the jobs into the loop; `rank_at` lists the ranks in the order of the queue."""
    submit: Any = np.append(workload.submit, inf)
    loop.submit = times(submit)
    loop.procs = loop.width = numbers(workload.width)
    loop.estimate = loop.length = times(workload.estimate)
    loop.runtime = loop.whole_runtime = times(workload.runtime)
    loop.due = times(workload.due)
    none = np.zeros(len(workload), np.int32)  # takes no memory, as nothing is written to it
    loop.overruns = numbers(workload.killed if workload.killed.any() else none)
    loop.recorded = times(workload.recorded_start)
    loop.in_order_of_arrival = rank_at is None
    every = np.arange(len(workload), dtype=np.int32)
    loop.place_of = loop.rank_at = numbers(every)
    if rank_at is not None:
        loop.width, loop.length = numbers(workload.width[rank_at]), times(workload.estimate[rank_at])
        loop.place_of, loop.rank_at = numbers(np.argsort(rank_at)), numbers(rank_at)
