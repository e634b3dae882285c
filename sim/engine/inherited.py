"""Passes of a policy that does not support all that is there: jobs that an earlier policy suspended, reservations that
users requested, maintenance, or limits of users (sim/RULES.md).

They are handled here in the same way for every policy, before and around its own decisions. As soon as none is left,
the policy is called alone.

**Suspended jobs**, if the policy never suspends. They resume in the order of their suspension, before other jobs start.
The first that cannot resume is the awaited job. Its processors are reserved from then on: no other job starts there,
and the awaited job resumes as soon as the jobs on them have left. To the policy it looks like a job running there until
its estimated end, so all rules for running jobs hold unchanged. Suspended jobs behind it resume if they delay neither
it nor any plan. A policy with lasting reservations replans whenever the awaited job changes, and makes no promises
until the last suspended job resumes.

**Granted reservations** (starts that users requested), if the policy grants none. The jobs are not in its queue, and
start when they are due. A policy that never suspends starts or resumes no job that by the estimates would delay such a
reservation; the job is passed over. If such a policy takes over, running jobs that would delay a granted reservation
are suspended, the last by rank first. A policy that suspends makes room when a granted reservation is due: running jobs
are suspended, the last by rank first, at no cost to them. Only a transfer of memory already in progress delays the
start. If rows take turns, the job gets its own row, which becomes active at once.

**Limits**: when a start makes a limit hold back other jobs, the pass is repeated without these jobs. So a job that is
held back is never the head of the queue and delays no other job.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from operator import itemgetter
from typing import Any, TypeAlias

from sim.decisions.decisions import Await, Keep
from sim.decisions.matrix import TurnTo
from sim.decisions.reasons import Due, OwnFree, ReservationDue
from sim.decisions.reasons_to_wait import (
    BeforeOthers,
    MachineGoesDown,
    TooFewFree,
    TouchesReservation,
    WaitsForReserved,
    waits_for_own,
)
from sim.decisions.sentences import Reason
from sim.engine.acting import PassAgainError
from sim.engine.moment import Moment
from sim.machine.moment import MOMENT
from sim.machine.plan import by_number
from sim.policies.preempt.preemption import enough
from sim.workload.model import Job

Decide: TypeAlias = Callable[[Moment], Any]


def decide_with_inherited(moment: Moment, decide: Decide) -> None:
    """Make one pass: resume inherited jobs and start reserved ones, then let the policy decide."""
    policy = moment._policy
    if not policy.suspends:
        _resume_suspended(moment)
    is_foreign = bool(moment._granted) and not policy.grants
    moment._is_around = True
    try:
        if moment._closes < inf and moment._sharing is None and not is_foreign:
            _decide_around_reservations(moment, decide)
        elif not is_foreign:
            decide(moment)
        elif policy.turns():
            decide(moment)
            _give_a_row(moment)
        else:
            _start_granted(moment)
            if policy.suspends or policy.keeps_reservations:
                decide(moment)
            else:
                _decide_around_reservations(moment, decide)
    finally:
        moment._is_around = False
        moment._passed_over.clear()


def decide_within_limits(moment: Moment, decide: Decide) -> None:
    """Make one pass; repeat it whenever a start makes a limit hold back other jobs (`PassAgainError`)."""
    completed = moment._completed.copy()
    try:
        while True:
            moment._held_back = moment.held_back()
            try:
                decide(moment)
                return
            except PassAgainError:
                moment._is_ended = False
                moment._completed.clear()  # a policy that learns from completed jobs counts each once
                moment._reserved.clear()
                moment._kept.clear()
                moment._decisions[:] = [told for told in moment._decisions if not isinstance(told, Keep)]
    finally:
        moment._held_back = None
        moment._completed[:] = completed


# Suspended jobs


def _resume_suspended(moment: Moment) -> None:
    """Resume suspended jobs, in order of their suspension. The processors of the first job that cannot resume are
    reserved.
    """
    head: Job | None = None
    for rank, own in list(moment._suspended.items()):
        job, now = moment._jobs[rank], moment._time
        lasts = moment.remaining_estimate(rank)
        kept = moment.kept_processors(rank)
        can_go = rank not in moment._running and not own & ~(moment._machine.free_set & ~kept)
        is_awaited = rank == moment._awaited
        if head is None and not is_awaited and not (can_go and moment._present_plan().admits(job, now, lasts)):
            head = job
            if not _can_keep(moment, rank):
                continue
            _await(moment, job)
            if can_go:
                head = None
                moment.resume(job, OwnFree())
        elif can_go and (is_awaited or moment._present_plan().admits(job, now, lasts)):
            moment.resume(job, OwnFree())
        elif head is None:
            head = job
        elif moment._curious:
            moment.keep(job, _in_its_way(moment, job, own, lasts))


def _await(moment: Moment, job: Job) -> None:
    """Reserve the processors of a suspended job, so that it resumes next. Lasting reservations were made without regard
    to this job, so all of them but granted ones are dropped.
    """
    moment._keep_processors(job.rank)
    if moment._policy.keeps_reservations:
        anew = {job.rank for job in moment._arrived} | moment._reserved.keys() - moment._granted.keys()
        moment._forget_promises()
        moment._arrived = [job for job in moment._waiting.in_order(moment._time) if job.rank in anew]
    moment._log(Await(job))


def _in_its_way(moment: Moment, job: Job, own: int, lasts: float) -> Reason:
    """Return the reason why a suspended job behind the awaited one (which resumes next) cannot resume. Its processors
    (`own`, bits) are taken, or reserved for other jobs within the `lasts` seconds for which it would need them.
    """
    if lacks := waits_for_own(own, moment._machine.free_set, moment._machine.there):
        return lacks
    now = moment._time
    starts = [(max(at, now), moment._jobs[rank]) for rank, at in moment._reserved.items()]
    if moment._awaited is not None:
        starts.append((now, moment._jobs[moment._awaited]))
        if own & moment.kept_processors(job.rank):
            return BeforeOthers(moment._jobs[moment._awaited], now, now + lasts)
    plan = by_number(moment._present_plan()).copy()
    plan.take(now, now + lasts, job.procs)
    then = plan.shortage()
    known = [start for start in starts if then is None or start[0] <= then + MOMENT]
    if not known or not moment.in_time(job):
        return MachineGoesDown(moment._closes, now + lasts)
    at, other = max(known, key=itemgetter(0))
    return BeforeOthers(other, at, now + lasts)


def _can_keep(moment: Moment, rank: int) -> bool:
    """Return True if the job's processors can be reserved from now on without delaying reservations granted earlier."""
    plan = by_number(moment._running_plan(rank))
    moment.take_granted(plan)
    return plan.shortage() is None


# Granted reservations


def _start_granted(moment: Moment) -> None:
    """Start jobs whose granted reservations are due; a policy that suspends makes room for them."""
    for rank, at in sorted(moment._granted.items(), key=lambda item: (item[1], item[0])):
        job = moment._jobs[rank]
        if at > moment._time:
            moment.keep(job, WaitsForReserved(at))
            continue
        room = (moment._machine.free_set & ~moment.kept_processors(None)).bit_count()
        if job.procs > room and moment._policy.suspends:
            running = sorted((stay.job for stay in moment._running.values() if stay.runs), key=lambda job: -job.rank)
            for victim in enough(job.procs - room, running) or []:
                moment.suspend(victim, ReservationDue(job))
            room = moment._free
        if job.procs <= room:
            moment.begin(job, Due())


def _give_a_row(moment: Moment) -> None:
    """Place each job with a due reservation in a new row of the matrix, and make this row active."""
    row: int | None = None
    for rank, at in sorted(moment._granted.items()):
        job, there = moment._jobs[rank], moment._machine.there.bit_count()
        if at > moment._time:
            moment.keep(job, WaitsForReserved(at))
        elif job.procs > there:
            moment.keep(job, TooFewFree(there))
        else:
            if row is None or moment.free_in(row) < job.procs:
                row = moment.open_row()
                moment._shared().to_turn = row
                moment._log(TurnTo(row))
            moment._place(job, row, moment.matrix.lowest_free(row, job.procs), Due(), False)


def _decide_around_reservations(moment: Moment, decide: Decide) -> None:
    """Let the policy decide, but start no job that would delay a granted reservation or run into maintenance.

    At such a start the pass ends (`PassAgainError`). The policy is called again with a moment in which this job and the
    completed jobs are missing. Completed jobs are left out so that each is counted only once. New plans replace those
    of the first call.
    """
    moment._said = set()
    try:
        while True:
            moment._planned_again = set(moment._granted)
            try:
                decide(moment)
                break
            except PassAgainError as again:
                job, moment._is_ended = again.job, False
            moment._passed_over.add(job.rank)
            if moment._curious:
                moment._kept.add(job.rank)
                moment._show(Keep(job, _why_not_started(moment, job)))
        if not moment._policy.keeps_reservations:  # otherwise the current plan is not from this call
            for plans in (moment._reserved, moment._expected):
                for rank in plans.keys() - moment._planned_again:
                    del plans[rank]
    finally:
        moment._said = None


def _why_not_started(moment: Moment, job: Job) -> Reason:
    """Return the reason to keep the job: maintenance, or the granted reservation that it would touch."""
    if not moment.in_time(job) or not moment._granted:
        return MachineGoesDown(moment._closes, moment._time + moment.remaining_estimate(job.rank))
    now, plan = moment._time, by_number(moment._present_plan()).copy()
    plan.take(now, now + job.estimate, job.procs)
    short = plan.shortage() or now
    starting = [(at, rank) for rank, at in moment._granted.items() if at <= short + MOMENT]
    at, rank = max(starting, default=min((at, rank) for rank, at in moment._granted.items()))
    return TouchesReservation(moment._jobs[rank], at, now + job.estimate)
