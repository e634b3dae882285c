"""Switch of policies in the middle of a run (sim/RULES.md): which state stays and which is replaced.

The state of the machine stays: waiting, running and suspended jobs. Plans, partitions, notes and turns belong to the
old policy. Suspended jobs and granted reservations that the new policy does not support are handled by
`sim.engine.inherited` in later passes.
"""

from __future__ import annotations

from math import inf

from sim.decisions.decisions import Suspend, Switched
from sim.decisions.reasons import ReservationDue
from sim.engine.changes import keep_granted
from sim.engine.future import Future
from sim.engine.moment import Moment
from sim.engine.queue import Queue
from sim.engine.sharing import Sharing
from sim.engine.stay import Stay
from sim.history.past import Switch
from sim.history.stretch import MOVED, QUEUED, RESUMING, RUN, SPECULATIVE, SUSPENDED, SUSPENDING
from sim.machine.moment import MOMENT
from sim.machine.plan import by_number
from sim.machine.turns import Turns
from sim.policies.policy import Policy, written_policy
from sim.workload.model import Job


def hand_over(moment: Moment, future: Future, successor: Policy, by_rule: bool) -> None:
    """Hand the state over to the next policy, `successor`, before its first pass. `by_rule` is True if an adaptive
    policy chose it.
    """
    was, planned, machine = written_policy(moment._policy), moment.planned_starts(), moment._machine
    for stay in list(moment._running.values()):
        if stay.kind == SPECULATIVE:
            _make_ordinary(moment, stay)
    if moment._sharing is not None:
        _leave_matrix(moment, moment._sharing)
    moment._policy = successor
    moment._rebuild, moment._notes = (), {}
    _forget_plans(moment)
    moment._log(Switched(was, written_policy(successor)))
    if moment._granted and not successor.suspends:
        _clear_the_way(moment)
    moment._waiting = Queue.of(successor.queue_order(), moment._waiting.jobs.values())
    if machine.owners:
        machine.owners, machine.division = [], []
        moment._history.boundaries(moment._time, ())
    if turns := successor.turns():
        _enter_matrix(moment, future, turns)
    moment._free = machine.free
    moment._promises = can_promise(moment)
    asked = successor if by_rule or moment._leader is None else moment._leader
    switch = Switch(moment._step + 1, moment._time, asked, was, planned, by_rule)
    moment._switches += (switch,)
    moment._history.switch(switch)


def _forget_plans(moment: Moment) -> None:
    moment._before = moment._reserved.copy()
    moment._forget_promises()
    moment._keep_processors(None)
    moment._expected, moment._expected_row, moment._row_planned = {}, {}, {}
    moment._lasts.clear()
    moment._wakes.clear()
    moment._wake_at = inf
    moment._timers[:] = sorted((at, rank, inf) for rank, at in moment._granted.items())


def _clear_the_way(moment: Moment) -> None:
    """Suspend running jobs that, by their estimates, would still run when a granted reservation begins; the last by
    rank first.

    There can be such jobs only after a policy that suspends, or when speculative runs become ordinary ones. A job whose
    memory is being written cannot be suspended; then the reservation is moved to a later time.
    """
    while True:
        moment._free = moment._machine.free
        plan = by_number(moment._running_plan())
        moment.take_granted(plan)
        too_late = plan.shortage()
        if too_late is None:
            return
        stays = [stay for stay in moment._running.values() if stay.expected_end > too_late and stay.kind != SUSPENDING]
        if not stays:
            keep_granted(moment)
            return
        stay = max(stays, key=lambda stay: stay.rank)
        moment._set_aside(stay)
        _, asked = max((at, rank) for rank, at in moment._granted.items() if at <= too_late + MOMENT)
        moment._log(Suspend(stay.job, ReservationDue(moment._jobs[asked])))


def _make_ordinary(moment: Moment, stay: Stay) -> None:
    job, now, rank = stay.job, moment._time, stay.rank
    moment._stays.remove(stay)
    moment._collector.finish(stay.stretch, now, MOVED)
    held = moment._machine.held[rank]
    moment._stay(job, stay.since, stay.since + job.estimate, RUN, held, stay.ran_before, inf)


# Into and out of the matrix


def _leave_matrix(moment: Moment, sharing: Sharing) -> None:
    """Dissolve the matrix: jobs of the active row keep running, other jobs that have had a turn are suspended, and the
    rest waits again.

    The time in which jobs would have made no progress because of migrations is cancelled, and not counted as lost.
    """
    now = moment._time
    sharing.turns.settle(now, sharing.matrix.occupied_rows())
    on_turn = sharing.on_turn()
    moment._sharing = None
    moment._machine.hold_only({})
    for rank in sharing.matrix.jobs:
        job, columns = moment._jobs[rank], sharing.matrix.columns(rank)
        moment._ledger.ran[rank] = sharing.ran[rank]
        moment._tally.stalled -= sharing.stall[rank] * job.procs
        ending = MOVED if rank in on_turn else QUEUED if rank in sharing.new else SUSPENDED
        moment._history.leave_matrix(rank, now, ending)
        if ending == MOVED:
            moment._go_on(job, columns)
            moment._started(rank)
        elif ending == QUEUED:
            _wait_again(moment, job)
        else:
            moment._put_aside(rank, columns)
    moment._free = moment._machine.free


def _wait_again(moment: Moment, job: Job) -> None:
    rank, backfilled = job.rank, moment._ledger.backfilled
    moment._tally.backfilled -= backfilled[rank]
    backfilled[rank] = 0
    moment._waiting.add(job)


def _enter_matrix(moment: Moment, future: Future, turns: Turns) -> None:
    """Put all running jobs into one row of a new matrix.

    A suspension in progress is completed at once. A job that is still being resumed makes no progress in its turns
    until the rest of its resumption time has passed.
    """
    now, sharing = moment._time, Sharing(moment._procs, turns, moment._machine.there)
    sharing.since = now
    for rank, stay in list(moment._running.items()):
        owed = stay.progress_at - now if stay.kind == RESUMING else 0.0
        processors = moment._machine.held[rank]
        moment._leave(stay, SUSPENDED if stay.kind == SUSPENDING else MOVED)
        if stay.kind != SUSPENDING:
            row = sharing.matrix.rows[0] if sharing.matrix.rows else sharing.matrix.open_row()
            sharing.come_in(rank, row, processors, stay.ran_by(now), False)
            sharing.stall[rank] = owed
    future.leaving.clear()
    moment._sharing = sharing


# Promises


def promise_again(moment: Moment) -> None:
    """Let the policy promise starts if `can_promise` returns True. If it could not before, its current reservations
    become promises.
    """
    promises = can_promise(moment)
    if promises and not moment._promises:
        promised = moment._ledger.promised
        for rank, at in moment._reserved.items():
            if promised[rank] != promised[rank]:
                promised[rank] = at
    moment._promises = promises


def can_promise(moment: Moment) -> bool:
    """Return True if the policy may promise starts now: its reservations are promises in general, and it supports all
    that it inherited from earlier policies.

    Jobs must have no limits: a limit can hold a job back that then comes to stand ahead of others.
    """
    policy = moment._policy
    plans_beside = not moment._granted or policy.keeps_reservations
    is_alone = plans_beside and not moment._has_limits
    return policy.promises() and (policy.suspends or not moment._suspended) and is_alone
