"""Switch of policies in the middle of a run (sim/RULES.md): which state stays and which is replaced.

The state of the machine stays: waiting, running and suspended jobs. Plans, partitions, notes and turns belong to the
old policy. Suspended jobs and granted reservations that the new policy does not support are handled by
`sim.engine.inherited_jobs` in later passes.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from heapq import heappush
from math import inf

from sim.decisions.decisions import Reserve, Suspend, Switched
from sim.decisions.reasons import AskedFor, ReservationDue
from sim.engine.allocation import Allocation
from sim.engine.queue import Queue
from sim.engine.sharing import Sharing
from sim.engine.state import State
from sim.engine.transitions import Transitions
from sim.history.past import Switch
from sim.history.stretch import MOVED, QUEUED, RESUMING, RUN, SPECULATIVE, SUSPENDED, SUSPENDING
from sim.machine.moment import MOMENT
from sim.machine.plan import Plan
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.workload.model import Job


class PolicySwitch:
    """Switch of a run from one policy to the next: transfer of the state."""

    def __init__(self, transitions: Transitions) -> None:
        self._transitions, self._state, self._history = transitions, transitions.state, transitions.history
        self._runtimes = transitions.runtimes

    def hand_over(self, successor: Policy, by_rule: bool = False) -> None:
        """Hand the state over to the next policy, `successor`, before its first pass. `by_rule` is True if an adaptive
        policy chose it.
        """
        state, was, planned = self._state, written_policy(self._state.policy), self._state.planned
        for allocation in list(state.running.values()):
            if allocation.kind == SPECULATIVE:
                self._make_ordinary(allocation)
        if state.sharing:
            self._leave_matrix(state.sharing)
        state.policy = successor
        state.rebuild, state.notes = (), {}
        self._forget_plans()
        self._transitions.log(Switched(was, written_policy(successor)))
        if state.granted and not successor.suspends:
            self._clear_the_way()
        state.waiting = Queue.of(successor.queue_order(), state.waiting.jobs.values())
        if state.machine.owners:
            state.machine.owners, state.machine.division = [], []
            self._history.boundaries(state.now, ())
        if turns := successor.turns():
            self._enter_matrix(turns)
        state.free = state.machine.free
        state.promises = can_promise(state)
        asked = successor if by_rule or state.leader is None else state.leader
        switch = Switch(state.step_count + 1, state.now, asked, was, planned, by_rule)
        state.switches += (switch,)
        self._history.switch(switch)

    def _forget_plans(self) -> None:
        """Drop all reservations except granted ones."""
        state = self._state
        state.before = dict(state.reserved)
        self._transitions.forget_reservations()
        self._transitions.keep_processors(None)
        state.expected, state.expected_row, state.row_planned = {}, {}, {}
        state.lasts.clear()
        state.wakes.clear()
        state.wake_at = inf
        state.timers[:] = sorted((at, rank, inf) for rank, at in state.granted.items())

    def _clear_the_way(self) -> None:
        """Suspend running jobs that, by their estimates, would still run when a granted reservation begins; the last by
        rank first.

        There can be such jobs only after a policy that suspends, or when speculative runs become ordinary ones. A job
        whose memory is being written cannot be suspended; then the reservation is moved to a later time.
        """
        state = self._state
        while True:
            state.free = state.machine.free
            plan = state.running_plan()
            take_granted(state, plan)
            too_late = plan.shortage()
            if too_late is None:
                return
            reaching = [s for s in state.running.values() if s.expected_end > too_late and s.kind != SUSPENDING]
            if not reaching:
                keep_granted(self._transitions)
                return
            allocation = max(reaching, key=lambda allocation: allocation.job.rank)
            self._transitions.set_aside(allocation)
            _, asked = max((at, rank) for rank, at in state.granted.items() if at <= too_late + MOMENT)
            self._transitions.log(Suspend(allocation.job, ReservationDue(state.jobs[asked])))

    def _make_ordinary(self, allocation: Allocation) -> None:
        """Change the kind of a speculative run to an ordinary run, which has no time limit of its own."""
        state, job, now = self._state, allocation.job, self._state.now
        del state.ends[bisect_left(state.ends, (allocation.expected_end, job.rank))]
        expected_end = allocation.since + job.estimate
        insort(state.ends, (expected_end, job.rank, job.procs))
        self._history.finish(allocation.stretch, now, MOVED)
        stretch = self._history.begin(job.rank, now, state.machine.held[job.rank], RUN)
        allocation = allocation._replace(kind=RUN, stretch=stretch, expected_end=expected_end)
        self._transitions.stay(job.rank, allocation, allocation.since + self._runtimes[job.rank])

    # Into and out of the matrix

    def _leave_matrix(self, sharing: Sharing) -> None:
        """Dissolve the matrix: jobs of the active row keep running, other jobs that have had a turn are suspended, and
        the rest waits again.

        The time in which jobs would have made no progress because of migrations is cancelled, and not counted as lost.
        """
        state = self._state
        sharing.turns.settle(state.now, sharing.matrix.occupied_rows())
        on_turn = sharing.on_turn()
        state.sharing = None
        state.machine.hold_only({})
        for rank in sharing.matrix.jobs:
            job, columns = state.jobs[rank], sharing.matrix.columns(rank)
            state.ledger.ran[rank] = sharing.ran[rank]
            state.tally.stalled -= sharing.stall[rank] * job.procs
            ending = MOVED if rank in on_turn else QUEUED if rank in sharing.new else SUSPENDED
            self._history.leave_matrix(rank, state.now, ending)
            if ending == MOVED:
                self._transitions.go_on(job, columns)
                self._transitions.started(rank)
            elif ending == QUEUED:
                self._wait_again(job)
            else:
                self._transitions.put_aside(rank, columns)
        state.free = state.machine.free

    def _wait_again(self, job: Job) -> None:
        """Return a job to the queue that is in the matrix but has not had a turn."""
        state, rank = self._state, job.rank
        state.tally.backfilled -= state.ledger.backfilled[rank]
        state.ledger.backfilled[rank] = 0
        state.waiting.add(job)

    def _enter_matrix(self, turns: Turns) -> None:
        """Put all running jobs into one row of a new matrix.

        A suspension in progress is completed at once. A job that is still being resumed makes no progress in its turns
        until the rest of its resumption time has passed.
        """
        state, leaves = self._state, self._transitions.future.leaves
        sharing = Sharing(state.procs, turns, state.machine.there)
        sharing.since = state.now
        for rank, allocation in list(state.running.items()):
            owed = leaves[rank] - state.now if allocation.kind == RESUMING else 0
            processors = state.machine.held[rank]
            self._transitions.leave(allocation, SUSPENDED if allocation.kind == SUSPENDING else MOVED)
            if allocation.kind != SUSPENDING:
                row = sharing.matrix.rows[0] if sharing.matrix.rows else sharing.matrix.open_row()
                sharing.come_in(rank, row, processors, allocation.ran_by(state.now), is_new=False)
                sharing.stall[rank] = owed
        self._transitions.future.leaving.clear()
        state.sharing = sharing


def take_granted(state: State, plan: Plan) -> None:
    """Mark the processors of granted reservations as taken in `plan`, a plan that begins at the present time."""
    for rank, at in state.granted.items():
        job, start = state.jobs[rank], max(at, state.now)
        plan.take(start, start + job.estimate, job.procs)


def keep_granted(transitions: Transitions) -> None:
    """Keep granted reservations (starts that users requested) at their times. One that no longer fits is moved to the
    earliest later time at which it fits.
    """
    state = transitions.state
    plan = state.running_plan()
    for at, rank in sorted((at, rank) for rank, at in state.granted.items()):
        job = state.jobs[rank]
        later = plan.place(job.procs, job.estimate, max(at, state.now))
        if later > at + MOMENT and job.reserve is not None:
            state.granted[rank] = state.reserved[rank] = later
            heappush(state.timers, (later, rank, inf))
            transitions.log(Reserve(job, later, AskedFor(job.reserve)))
    state.kept_plan = None


def has_adopted(state: State) -> bool:
    """Return True if some suspended jobs or granted reservations remain from an earlier policy, and the current policy
    does not support them.
    """
    granted, suspended = state.granted and not state.policy.grants, state.suspended and not state.policy.suspends
    return bool(granted or suspended)


def promise_again(state: State) -> None:
    """Let the policy promise starts if `can_promise` returns True. If it could not before, its current reservations
    become promises.
    """
    promises = can_promise(state)
    if promises and not state.promises:
        for rank, at in state.reserved.items():
            if state.ledger.promised[rank] != state.ledger.promised[rank]:
                state.ledger.promised[rank] = at
    state.promises = promises


def can_promise(state: State) -> bool:
    """Return True if the policy may promise starts now: its reservations are promises in general, and it supports all
    that it inherited from earlier policies.

    Jobs must have no limits: a limit can hold a job back that then comes to stand ahead of others.
    """
    policy = state.policy
    plans_beside = not state.granted or policy.keeps_reservations
    is_alone = plans_beside and not state.has_limits
    return policy.promises() and (policy.suspends or not state.suspended) and is_alone
