"""A policy takes over in the middle of a run (SPEC 8): what it does about things that it knows nothing of.

Two things outlive the policy under which they came about, and are looked after here for every policy alike, before
the policy itself is asked; when none is left, nothing here is used any more.

**Suspended jobs**, where the new policy never suspends. They go on in the order in which they were suspended, before
anything else starts. The first that cannot is the head: its processors are kept for it from then on, so that nobody
starts on them and it goes on as soon as those leave that are there already. To the policy it looks as if the head were
running there until its estimated end, so every rule that a policy has for running jobs holds without change. Those
behind the head go on where they delay neither it nor anything that is planned. A policy whose reservations stand plans
anew whenever another head is found, and promises nothing until the last suspended job goes on.

**Granted reservations**, where the new policy grants none. They are not in its queue, and start when they are due. A
policy that never suspends starts no job, and none goes on, that would be in the way of one by the estimates; such a
job is passed over. What runs already and is in the way when such a policy takes over is suspended then
(`Engine.switch`), the last by rank first. A policy that suspends makes room when one is due: running jobs make way,
the last by rank first, at no cost to them; only for a transfer of memory that is under way it has to wait. Where rows
take turns, the reserved job gets a row of its own, which comes on turn at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol, cast

from sim.decisions.decisions import Await, Backfill, Decision, Expect, Keep, Reserve, Resume, Start, Suspend
from sim.decisions.matrix import OpenRow, Place, TurnTo
from sim.decisions.obstacles import TouchesReservation, WaitsForOwn, WaitsForReserved
from sim.decisions.reasons import Due, OwnFree, ReservationDue
from sim.decisions.sentences import Reason
from sim.machine.profile import Profile, shadow
from sim.policies.gang.phases import MatrixView
from sim.policies.policy import Policy, written_policy
from sim.policies.preempt.preemption import enough
from sim.policies.view import Ends, View
from sim.workload.model import Job


class Switch(NamedTuple):
    """Another policy took over: the run had made so many steps when it had, that one included."""

    step: int
    time: float
    was: str
    policy: Policy

    @property
    def spec(self) -> str:
        return written_policy(self.policy)


class WholeView(View, Protocol):
    """What is seen here beside what a policy sees."""

    @property
    def granted(self) -> Mapping[int, float]:
        """rank -> start, of the reservations that were granted."""

    @property
    def awaited(self) -> int | None:
        """The suspended job for which its processors are kept."""

    @property
    def matrix(self) -> MatrixView:
        """Who stands where, where rows take turns."""


def adopting(policy: Policy, view: WholeView) -> Iterator[Decision]:
    """One pass of a policy that has taken over something that it knows nothing of."""
    shown = AdoptedView(view, policy)
    if not policy.suspends:
        yield from _go_on(view)
    if not view.granted or policy.grants:
        yield from policy.decide(cast(View, shown))
    elif policy.turns():
        yield from policy.decide(cast(View, shown))
        yield from _give_a_row(view)
    else:
        yield from _start_granted(policy, view)
        if policy.suspends or policy.keeps_reservations:
            yield from policy.decide(cast(View, shown))
        else:
            yield from _decide_beside(policy, view, shown)


# Suspended jobs


def _go_on(view: WholeView) -> Iterator[Decision]:
    """Suspended jobs go on in the order in which they were suspended; the first that cannot is awaited."""
    head: Job | None = None
    for rank, own in list(view.suspended.items()):
        job = view.job(rank)
        lasts = view.remaining_estimate(rank)
        can_go = rank not in view.running and not own & ~(view.free_set & ~_kept(view, rank))
        if head is None and rank != view.awaited and not (can_go and view.plan.fits(job.procs, view.now, lasts)):
            head = job
            if not _can_keep(view, rank):
                continue
            yield Await(job)
            if can_go:
                head = None
                yield Resume(job, OwnFree())
        elif can_go and (rank == view.awaited or view.plan.fits(job.procs, view.now, lasts)):
            yield Resume(job, OwnFree())
        elif head is None:
            head = job
        elif view.curious:
            yield Keep(job, WaitsForOwn((own & ~view.free_set).bit_count()))


def _kept(view: WholeView, rank: int | None = None) -> int:
    """The processors that are kept for another than this job."""
    return 0 if view.awaited is None or view.awaited == rank else view.suspended[view.awaited]


def _can_keep(view: WholeView, rank: int) -> bool:
    """Does the job leave room for the reservations that were granted, if its processors are kept from now on?"""
    plan = Profile.of_running(view.now, *prospect(view, rank))
    _take_granted(view, plan)
    return plan.shortage() is None


def prospect(view: View, awaited: int) -> tuple[int, Ends]:
    """What is free and what ends when, as if the awaited job ran on its processors from now on, until its end.

    That is when it can go on, which is when those end that are there, and its remaining estimate more.
    """
    own, begins, ends = view.suspended[awaited], view.now, []
    for end, rank, procs in view.ends:
        on_its = (view.held(rank) & own).bit_count()
        if on_its:
            begins = max(begins, end)
        if procs > on_its:
            ends.append((end, rank, procs - on_its))
    ends.append((begins + view.remaining_estimate(awaited), awaited, own.bit_count()))
    return (view.free_set & ~own).bit_count(), sorted(ends)


# Granted reservations


def _take_granted(view: WholeView, plan: Profile) -> None:
    for rank, at in view.granted.items():
        job, start = view.job(rank), max(at, view.now)
        plan.take(start, start + job.estimate, job.procs)


def _start_granted(policy: Policy, view: WholeView) -> Iterator[Decision]:
    """Who has a reservation starts when it is due; policies that suspend make room."""
    for rank, at in sorted(view.granted.items(), key=lambda item: (item[1], item[0])):
        job = view.job(rank)
        if at > view.now:
            if view.curious:
                yield Keep(job, WaitsForReserved(at))
            continue
        room = (view.free_set & ~_kept(view)).bit_count()
        if job.procs > room and policy.suspends:
            yield from _make_room(view, job, job.procs - room)
            room = view.free
        if job.procs <= room:
            yield Start(job, Due())


def _make_room(view: View, job: Job, needed: int) -> Iterator[Decision]:
    running = sorted((stint.job for stint in view.running.values() if stint.runs), key=lambda other: -other.rank)
    for victim in enough(needed, running) or []:
        yield Suspend(victim, ReservationDue(job))


def _give_a_row(view: WholeView) -> Iterator[Decision]:
    """Who is due comes into a new row, which comes on turn."""
    row: int | None = None
    for rank, at in sorted(view.granted.items()):
        job = view.job(rank)
        if at > view.now:
            continue
        if row is None or view.matrix.free(row) < job.procs:
            yield OpenRow()
            row = view.matrix.rows[-1]
            yield TurnTo(row)
        yield Place(job, row, view.matrix.lowest_free(row, job.procs), Due())


def _decide_beside(policy: Policy, view: WholeView, shown: AdoptedView) -> Iterator[Decision]:
    """What the policy decides, as long as nobody starts who is in the way of a granted reservation.

    When it would start such a job, it is asked again and does not see the job.
    """
    said: set[Decision] = set()
    while True:
        in_the_way: Job | None = None
        for decision in policy.decide(cast(View, shown)):
            if isinstance(decision, Start | Backfill):
                job = decision.job
                if not view.plan.fits(job.procs, view.now, job.estimate):
                    in_the_way = job
                    break
            elif isinstance(decision, Reserve | Expect | Keep):
                if decision in said:
                    continue
                said.add(decision)
            yield decision
        if in_the_way is None:
            return
        shown.passed_over.add(in_the_way.rank)
        if view.curious:
            yield Keep(in_the_way, _touched(view, in_the_way))


def _touched(view: WholeView, job: Job) -> Reason:
    """The first granted reservation that the job would reach into."""
    ends = view.now + job.estimate
    at, rank = min((at, rank) for rank, at in view.granted.items())
    return TouchesReservation(view.job(rank), at, ends)


class AdoptedView:
    """The present as a policy may see it that knows neither suspended jobs nor granted reservations.

    What is kept for the awaited job looks taken; jobs with granted reservations are not there.
    """

    def __init__(self, view: WholeView, policy: Policy) -> None:
        self._view, self._hides = view, not policy.grants
        self.passed_over: set[int] = set()
        """Jobs that may not start in this pass."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._view, name)

    def _hidden(self, rank: int) -> bool:
        return rank in self.passed_over or (self._hides and rank in self._view.granted)

    @property
    def queue(self) -> list[Job]:
        return [job for job in self._view.queue if not self._hidden(job.rank)]

    @property
    def arrived(self) -> list[Job]:
        return [job for job in self._view.arrived if not self._hidden(job.rank)]

    @property
    def reserved(self) -> Mapping[int, float]:
        return {rank: at for rank, at in self._view.reserved.items() if not self._hidden(rank)}

    @property
    def free_set(self) -> int:
        return self._view.free_set & ~_kept(self._view)

    @property
    def free(self) -> int:
        return self.free_set.bit_count()

    @property
    def ends(self) -> Ends:
        view = self._view
        return view.ends if view.awaited is None else prospect(view, view.awaited)[1]

    def running_plan(self) -> Profile:
        plan = self._view.running_plan()
        if self._hides:
            _take_granted(self._view, plan)
        return plan

    def shadow(self, job: Job) -> tuple[float, int]:
        time, free = shadow(self.free, self.ends, job.procs)
        return time, free - job.procs
