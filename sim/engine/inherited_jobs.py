"""State that a policy inherits after a switch of policies in the middle of a run, and does not support (sim/RULES.md).

There are two kinds of such state. They are handled here in the same way for every policy, before the policy itself is
called. As soon as none is left, this module is no longer used.

**Suspended jobs**, if the new policy never suspends. They resume in the order of their suspension, before other jobs
start. The first that cannot resume is the awaited job. Its processors are reserved from then on: no other job starts
there, and the awaited job resumes as soon as the jobs on them have left. To the policy it looks like a job running
there until its estimated end, so all rules for running jobs hold unchanged. Suspended jobs behind it resume if they
delay neither it nor any plan. A policy with lasting reservations replans whenever the awaited job changes, and makes no
promises until the last suspended job resumes.

**Granted reservations** (starts that users requested), if the new policy grants none. The jobs are not in its queue,
and start when they are due. A policy that never suspends starts or resumes no job that by the estimates would delay
such a reservation; the job is passed over. If such a policy takes over, running jobs that would delay a granted
reservation are suspended (`Engine.switch`), the last by rank first. A policy that suspends makes room when a granted
reservation is due: running jobs are suspended, the last by rank first, at no cost to them. Only a transfer of memory
already in progress delays the start. If rows take turns, the job gets its own row, which becomes active at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from types import MappingProxyType

from sim.decisions.decisions import Await, Backfill, Decision, Expect, Keep, Reserve, Resume, Start, Suspend
from sim.decisions.matrix import OpenRow, Place, TurnTo
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
from sim.engine.policy_switch import take_granted
from sim.engine.state import State
from sim.engine.state_view import StateView
from sim.machine.moment import MOMENT
from sim.machine.plan import Plan
from sim.machine.profile import shadow
from sim.policies.preempt.preemption import enough
from sim.policies.view import Ends
from sim.workload.model import Job


def adopting(state: State) -> Iterator[Decision]:
    """Yield the decisions of one pass. Decisions about inherited suspended jobs and granted reservations come first,
    then those of the policy.
    """
    policy, shown = state.policy, AdoptedView(state)
    if not policy.suspends:
        yield from _resume_suspended(state)
    if state.closes < inf and not state.sharing and (not state.granted or policy.grants):
        yield from _decide_around_reservations(state, shown)
    elif not state.granted or policy.grants:
        yield from policy.decide(shown)
    elif policy.turns():
        yield from policy.decide(shown)
        yield from _give_a_row(state)
    else:
        yield from _start_granted(state)
        if policy.suspends or policy.keeps_reservations:
            yield from policy.decide(shown)
        else:
            yield from _decide_around_reservations(state, shown)


# Suspended jobs


def _resume_suspended(state: State) -> Iterator[Decision]:
    """Yield the decisions that resume suspended jobs, in order of their suspension. The processors of the first job
    that cannot resume are reserved.
    """
    head: Job | None = None
    for rank, own in list(state.suspended.items()):
        job = state.jobs[rank]
        lasts = state.remaining_estimate(rank)
        can_go = rank not in state.running and not own & ~(state.free_set & ~_kept_processors(state, rank))
        if head is None and rank != state.awaited and not (can_go and state.plan.fits(job.procs, state.now, lasts)):
            head = job
            if not _can_keep(state, rank):
                continue
            yield Await(job)
            if can_go:
                head = None
                yield Resume(job, OwnFree())
        elif can_go and (rank == state.awaited or state.plan.fits(job.procs, state.now, lasts)):
            yield Resume(job, OwnFree())
        elif head is None:
            head = job
        elif state.curious:
            yield Keep(job, _in_its_way(state, job, own, lasts))


def _in_its_way(state: State, job: Job, own: int, lasts: float) -> Reason:
    """Return the reason why a suspended job behind the awaited one (which resumes next) cannot resume. Its processors
    (`own`, bits) are taken, or reserved for other jobs within the `lasts` seconds for which it would need them.
    """
    if lacks := waits_for_own(own, state.free_set, state.machine.there):
        return lacks
    now = state.now
    starts = [(max(at, now), state.jobs[rank]) for rank, at in state.reserved.items()]
    if state.awaited is not None:
        starts.append((now, state.jobs[state.awaited]))
        if own & _kept_processors(state, job.rank):
            return BeforeOthers(state.jobs[state.awaited], now, now + lasts)
    plan = state.plan.copy()
    plan.take(now, now + lasts, job.procs)
    then = plan.shortage()
    known = [start for start in starts if then is None or start[0] <= then + MOMENT]
    if not known or not state.in_time(job):
        return MachineGoesDown(state.closes, now + lasts)
    at, other = max(known, key=itemgetter(0))
    return BeforeOthers(other, at, now + lasts)


def _kept_processors(state: State, rank: int | None = None) -> int:
    """Return the processors, as bits, kept for the awaited job (which resumes next); 0 if none or if it is `rank`."""
    return 0 if state.awaited is None or state.awaited == rank else state.suspended[state.awaited]


def _can_keep(state: State, rank: int) -> bool:
    """Return True if the job's processors can be reserved from now on without delaying reservations granted earlier."""
    plan = state.running_plan(rank)
    take_granted(state, plan)
    return plan.shortage() is None


# Granted reservations


def _start_granted(state: State) -> Iterator[Decision]:
    """Yield the decisions that start jobs whose granted reservations are due. If the policy can suspend jobs, running
    jobs are suspended for them.
    """
    for rank, at in sorted(state.granted.items(), key=lambda item: (item[1], item[0])):
        job = state.jobs[rank]
        if at > state.now:
            if state.curious:
                yield Keep(job, WaitsForReserved(at))
            continue
        room = (state.free_set & ~_kept_processors(state)).bit_count()
        if job.procs > room and state.policy.suspends:
            yield from _make_room(state, job, job.procs - room)
            room = state.free
        if job.procs <= room:
            yield Start(job, Due())


def _make_room(state: State, job: Job, needed: int) -> Iterator[Decision]:
    running = sorted((run.job for run in state.running.values() if run.runs), key=lambda other: -other.rank)
    for victim in enough(needed, running) or []:
        yield Suspend(victim, ReservationDue(job))


def _give_a_row(state: State) -> Iterator[Decision]:
    """Yield the decisions that place each job with a due reservation in a new row of the matrix, and make this row
    active.
    """
    row: int | None = None
    for rank, at in sorted(state.granted.items()):
        job = state.jobs[rank]
        if at > state.now:
            if state.curious:
                yield Keep(job, WaitsForReserved(at))
            continue
        there = state.machine.there.bit_count()
        if job.procs > there:
            if state.curious:
                yield Keep(job, TooFewFree(there))
            continue
        if row is None or state.matrix.free(row) < job.procs:
            yield OpenRow()
            row = state.matrix.rows[-1]
            yield TurnTo(row)
        yield Place(job, row, state.matrix.lowest_free(row, job.procs), Due())


def _decide_around_reservations(state: State, shown: AdoptedView) -> Iterator[Decision]:
    """Yield the policy's decisions, but no start that would delay a granted reservation or run into maintenance.

    When the policy yields such a start, its remaining decisions are not read. The policy is called again with a view in
    which this job and the completed jobs are missing. Completed jobs are left out so that each is counted only once.
    New plans replace those of the first call.
    """
    said: set[Decision] = set()
    while True:
        in_the_way: Job | None = None
        planned: set[int] = set(state.granted)
        for decision in state.policy.decide(shown):
            if isinstance(decision, Start | Backfill | Resume) and _is_in_the_way(state, decision):
                in_the_way = decision.job
                break
            if isinstance(decision, Reserve | Expect | Keep):
                if not isinstance(decision, Keep):
                    planned.add(decision.job.rank)
                if decision in said and not (isinstance(decision, Reserve) and state.policy.keeps_reservations):
                    continue
                said.add(decision)
            yield decision
        if in_the_way is None:
            if state.policy.keeps_reservations:
                return  # the current plan is not from this call
            for plans in (state.reserved, state.expected):
                for rank in plans.keys() - planned:
                    del plans[rank]
            return
        shown.passed_over.add(in_the_way.rank)
        if state.curious:
            yield Keep(in_the_way, _why_not_started(state, in_the_way))


def _is_in_the_way(state: State, decision: Start | Backfill | Resume) -> bool:
    """Return True if the job to start or resume would run into maintenance, or into a granted reservation that the
    policy does not support.
    """
    job = decision.job
    if job.rank not in state.waiting.jobs and job.rank not in state.suspended:
        return False  # it cannot be done at all
    if state.closes < inf:
        lasts = state.remaining_estimate(job.rank)
        if isinstance(decision, Resume):
            lasts += decision.overhead
        elif decision.limit is not None:
            lasts = min(lasts, decision.limit)
        if state.now + lasts > state.closes + MOMENT:
            return True
    if isinstance(decision, Resume) or not state.granted or state.policy.grants:
        return False
    return not state.plan.fits(job.procs, state.now, job.estimate)


def _why_not_started(state: State, job: Job) -> Reason:
    """Return the reason why the job may not start: it would run into maintenance or a granted reservation, which the
    reason names.
    """
    if not state.in_time(job) or not state.granted:
        return MachineGoesDown(state.closes, state.now + state.remaining_estimate(job.rank))
    now, plan = state.now, state.plan.copy()
    plan.take(now, now + job.estimate, job.procs)
    short = plan.shortage() or now
    starting = [(at, rank) for rank, at in state.granted.items() if at <= short + MOMENT]
    at, rank = max(starting, default=min((at, rank) for rank, at in state.granted.items()))
    return TouchesReservation(state.jobs[rank], at, now + job.estimate)


class AdoptedView(StateView):
    """View of the state for a policy that supports neither suspended jobs nor granted reservations.

    The processors reserved for the awaited job (the suspended job that resumes next) look taken in this view; jobs with
    granted reservations are missing.
    """

    __slots__ = ("passed_over",)

    passed_over: set[int]
    """Ranks of the jobs that the policy is not shown in this pass, because starting them is not permitted."""

    def __init__(self, state: State) -> None:
        super().__init__(state)
        object.__setattr__(self, "passed_over", set())

    def _hidden(self, rank: int) -> bool:
        state = self._state
        return rank in self.passed_over or (rank in state.granted and not state.policy.grants)

    @property
    def _line(self) -> list[Job]:
        return [job for job in self._state.queue if not self._hidden(job.rank)]

    @property
    def arrived(self) -> Sequence[Job]:
        return [job for job in self._state.arrived if not self._hidden(job.rank)]

    @property
    def completed(self) -> Sequence[Job]:
        return () if self.passed_over else super().completed

    @property
    def reserved(self) -> Mapping[int, float]:  # type: ignore[override]
        return {rank: at for rank, at in self._state.reserved.items() if not self._hidden(rank)}

    @property
    def suspended(self) -> Mapping[int, int]:  # type: ignore[override]
        suspended = self._state.suspended
        if not self.passed_over:
            return MappingProxyType(suspended)
        return {rank: own for rank, own in suspended.items() if rank not in self.passed_over}

    @property
    def free_set(self) -> int:
        return self._state.free_set & ~_kept_processors(self._state)

    @property
    def free(self) -> int:
        return self.free_set.bit_count()

    @property
    def ends(self) -> Ends:
        state = self._state
        return tuple(state.ends) if state.awaited is None else state.prospect(state.awaited)[1]

    @property
    def machine_ahead(self) -> Ends:
        return self._state.outlook(self._state.awaited)[2]

    def fits(self, job: Job) -> bool:
        return job.procs <= self.free and self.in_time(job)

    def running_plan(self) -> Plan:
        plan = self._state.running_plan()
        if not self._state.policy.grants:
            take_granted(self._state, plan)
        return plan

    def shadow(self, job: Job, ends: Ends | None = None) -> tuple[float, int]:
        if self._state.ahead:
            return self._state.shadow(job)
        time, free = shadow(self.free, self.ends if ends is None else ends, job.procs)
        return time, free - job.procs
