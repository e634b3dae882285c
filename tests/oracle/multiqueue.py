"""Multiple-queue backfilling as a generator: a frozen copy of the definition of before, independent of `Pass`.

`OldMultiQueue` is not registered. It shares with the present definition only the classes of estimates.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import inf

from sim.decisions.decisions import Backfill, Borrow, Decision, Divide, Expect, Keep, Reserve, Start
from sim.decisions.reasons import (
    AskedFor,
    DelaysNoPivot,
    Due,
    EndsBeforePivot,
    PivotDue,
    PlannedTrial,
    SparesPivot,
    TrialDue,
    TrialEarly,
)
from sim.decisions.reasons_to_wait import PivotLater, TouchesReservation, TrialLater, WaitsForReserved, WouldDelayPivot
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT, is_by
from sim.machine.plan import by_number
from sim.machine.processors import lowest
from sim.machine.profile import Profile
from sim.policies.multiqueue.multiqueue import MultiQueue
from sim.policies.multiqueue.partitions import Classes, divided
from sim.policies.view import View
from sim.workload.model import Job
from tests.oracle.room import no_room


@dataclass(frozen=True)
class OldMultiQueue(MultiQueue):
    @cached_property
    def _classes(self) -> Classes:
        return Classes.read(self.classes)

    def decide(self, view: View) -> Iterator[Decision]:
        arrived = view.arrived
        if not view.owners:
            yield Divide(divided(view, self._classes))
            if not view.resized:
                arrived = sorted((job for job in view.queue if job.rank not in view.reserved), key=lambda job: job.rank)
        reserving = {job.rank for job in arrived if job.reserve is not None or self._is_tried(job)}
        queue = view.queue
        if not queue:
            return
        queue = self._queued(queue, view.reserved, reserving)
        pivots = Pivots(view, queue, self._classes)
        alone = len(reserving) == len(arrived)
        for job in arrived:
            if job.rank in reserving:
                yield from self._old_reserve(view, pivots if alone else pivots.before(job), job)
        if view.reserved:
            yield from self._serve_reserved(view, pivots)
        yield from self._serve_queues(view, pivots, queue)
        for pivot, start in pivots.planned():
            yield Expect(pivot, start)

    # Reservations and speculative runs

    def _is_tried(self, job: Job) -> bool:
        """Return True if the job gets a speculative run first: a run for a limited time, in case the job fails
        early.
        """
        return self.tries() and job.estimate >= self.speculate_over and job.reserve is None

    def _trial(self, job: Job) -> float:
        """Return the time limit of the job's speculative run in seconds."""
        return min(job.estimate, self.speculate)

    def _old_reserve(self, view: View, pivots: Pivots, job: Job) -> Iterator[Decision]:
        """Yield the decision that reserves a start for the job. If the user requested a start, it is reserved;
        otherwise a speculative run is planned that delays no pivot (first job of a queue).
        """
        if job.reserve is not None:
            at = view.plan.earliest(job.procs, job.estimate, max(view.now, job.reserve))
            yield Reserve(job, at, AskedFor(job.reserve))
            pivots.move()
        else:
            limit = self._trial(job)
            at = pivots.plan.earliest(job.procs, limit, view.now)
            yield Reserve(job, at, PlannedTrial(limit), limit)
            pivots.beside(job, at, limit)

    def _serve_reserved(self, view: View, pivots: Pivots) -> Iterator[Decision]:
        """Yield the starts of reserved jobs that are due, and of speculative runs that can start earlier without moving
        a planned start.
        """
        now = view.now
        for rank, at in sorted(view.reserved.items()):
            job = view.job(rank)
            if job.reserve is not None:
                if at <= now:
                    yield from self._start(view, job, Due())
                elif view.curious:
                    yield Keep(job, WaitsForReserved(at))
                continue
            limit = self._trial(job)
            if at <= now:
                yield from self._start(view, job, TrialDue(limit), limit=limit)
            elif job.procs <= view.free and pivots.room_instead(job, at, limit):
                yield from self._start(view, job, TrialEarly(limit, at), limit=limit)
                pivots.move()
            elif view.curious:
                other = pivots.comes_first(job, limit, at) if job.procs <= view.free else None
                yield Keep(job, TrialLater(at, limit, view.free, *(other or ())))

    # The queues

    def _queued(self, queue: list[Job], reserved: Mapping[int, float], reserving: set[int]) -> list[Job]:
        """Return the jobs of the queue without a reservation, those of high priority first.

        `reserved` maps ranks to reserved starts; jobs with ranks in `reserving` get a reservation in this pass.
        """
        if reserved or reserving:
            queue = [job for job in queue if job.rank not in reserved and job.rank not in reserving]
        if high := [job for job in queue if job.high]:
            return high + [job for job in queue if not job.high]
        return queue

    def _serve_queues(self, view: View, pivots: Pivots, queue: list[Job]) -> Iterator[Decision]:
        """Yield the decisions on the waiting jobs of all queues, each considered once (figure 2 of the paper)."""
        if not view.curious:
            free = view.free
            queue = [job for job in queue if job.procs <= free]
        for job in queue:
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
                continue
            partition = self._classes.of(job)
            if job is pivots.jobs[partition]:
                if pivots.start(partition) <= view.now:
                    borrowed = max(0, job.procs - pivots.idle(partition))
                    yield from self._start(view, job, PivotDue(partition, borrowed))
                    pivots.leave(partition)
                elif view.curious:
                    first = pivots.comes_first(job, job.estimate) or ()
                    yield Keep(job, PivotLater(pivots.start(partition), view.free, *first))
                continue
            if (job.procs, job.estimate) in pivots.refused:
                continue
            room = pivots.room(job)
            because = self._rule(view, pivots, job, partition, room)
            if because is not None:
                yield from self._start(view, job, because, Backfill)
                if room:
                    pivots.beside(job, view.now, job.estimate)
                else:
                    pivots.move()
            elif view.curious:
                yield Keep(job, pivots.obstacle(job))
            else:
                pivots.refused.add((job.procs, job.estimate))

    def _rule(self, view: View, pivots: Pivots, job: Job, partition: int, room: bool) -> Reason | None:
        """Return the reason by which a job that is not a pivot may start, rule (a), (b) or (c) of `MultiQueue`;
        otherwise None.

        `room` is True if the job moves no pivot and no reservation.
        """
        own = pivots.idle(partition)
        if job.procs <= own and (room or pivots.unreserved(job)):
            pivot, start, ends = pivots.jobs[partition], pivots.start(partition), view.now + job.estimate
            if is_by(ends, start):
                return EndsBeforePivot(pivot, start, ends, own)
            if job.procs <= pivots.extra(partition):
                return SparesPivot(pivot, start, own, pivots.extra(partition))
        return DelaysNoPivot(own, max(0, job.procs - own)) if room else None

    def _start(
        self, view: View, job: Job, because: Reason, start: type[Start | Backfill] = Start, limit: float | None = None
    ) -> Iterator[Decision]:
        """Yield the decisions that start the job on its partition's lowest-numbered idle processors, borrowing those it
        lacks first.
        """
        partition = self._classes.of(job)
        yield from borrow(view, job, partition)
        yield start(job, because, own_idle(view, partition, job.procs), limit)


class Pivots:
    """Pivots of all queues; their starts are planned when first asked for, and again after a change.

    A pivot is the first job of its queue. Its planned start is the earliest at which the machine has enough free
    processors for its estimate.
    Running jobs, current reservations and the earlier pivots are taken into account: high priority first, then by rank.
    """

    __slots__ = (
        "_classes", "_extra", "_idle", "_jobs", "_plan", "_queue", "_starts", "_turns", "_untaken", "_view", "refused",
    )  # fmt: skip

    def __init__(self, view: View, queue: Sequence[Job], classes: Classes) -> None:
        self._view, self._queue, self._classes = view, queue, classes
        self._jobs: dict[int, Job] | None = None
        self._turns: list[tuple[int, Job]] | None = None
        self._plan: Profile | None = None
        self._untaken: tuple[float, float, int] | None = None
        """Planned (start, end, processors) of the last placed pivot, if the plan does not contain it yet"""
        self._starts: dict[int, float] = {}
        self._idle: dict[int, int] = {}
        self._extra: dict[int, int] = {}
        self.refused: set[tuple[int, float]] = set()
        """Sizes (processors, estimate) of jobs that no rule lets start now, so that other jobs of the same size need no
        check
        """

    @property
    def jobs(self) -> dict[int, Job]:
        """Return a mapping from partition to the first job of its queue; partitions with an empty queue are missing."""
        if self._jobs is None:
            self._jobs = self._classes.firsts(self._queue)
        return self._jobs

    def before(self, job: Job) -> Pivots:
        """Return the pivots as they were for `job`: without jobs that arrived at the same instant and come after it."""
        return Pivots(self._view, [other for other in self._queue if other.rank < job.rank], self._classes)

    # Plans and free processors

    @property
    def plan(self) -> Profile:
        """Return the plan of running jobs, reservations and pivots: a copy of `view.plan` to which the pivots are
        added.
        """
        if not self._starts:
            self._place()
        if self._plan is None:
            self._plan = by_number(self._view.plan).copy()
        if self._untaken:
            self._plan.take(*self._untaken)
            self._untaken = None
        return self._plan

    def start(self, partition: int) -> float:
        """Return the planned start of the partition's pivot."""
        if not self._starts:
            self._place()
        return self._starts[partition]

    def idle(self, partition: int) -> int:
        """Return the number of idle processors of the partition."""
        if partition not in self._idle:
            self._idle[partition] = idle(self._view, partition)
        return self._idle[partition]

    def extra(self, partition: int) -> int:
        """Return the number of the partition's processors that are free beside its pivot when the pivot starts."""
        if partition not in self._extra:
            start = self.start(partition)
            free = self.idle(partition) - self.jobs[partition].procs
            for end, rank, procs in self._view.ends:
                if not is_by(end, start):
                    break
                if self._classes.of(self._view.job(rank)) == partition:
                    free += procs
            self._extra[partition] = max(0, free)
        return self._extra[partition]

    def room(self, job: Job) -> bool:
        """Return True if the job can run from now on without moving a pivot or a reservation.

        No new plan is needed. Planning the pivots again around the job keeps their starts exactly if the job fits into
        the current plan together with them.
        """
        now = self._view.now
        return job.procs <= self.plan.least(now, now + job.estimate)

    def unreserved(self, job: Job) -> bool:
        """Return True if the job can run from now on without moving a reservation; pivots may be delayed."""
        if not self._view.reserved:
            return job.procs <= self._view.free
        now = self._view.now
        return job.procs <= by_number(self._view.plan).least(now, now + job.estimate)

    def room_instead(self, job: Job, at: float, lasts: float) -> bool:
        """Return True if the job can run for `lasts` seconds from now on if it gives up its reservation at the time
        `at`.
        """
        now, plan = self._view.now, self.plan
        until_then = min(lasts, at - now)  # from then on it fits
        return job.procs <= plan.free_now and plan.fits(job.procs, now, until_then)

    def obstacle(self, job: Job) -> WouldDelayPivot | TouchesReservation:
        """Return why a job that cannot start now waits: the reservation that it would touch, or else the first pivot
        that it would delay.
        """
        now, plan = self._view.now, by_number(self._view.plan).copy()
        plan.take(now, now + job.estimate, job.procs)
        at = plan.shortage()
        if at is not None:
            rank = min(rank for rank, start in self._view.reserved.items() if abs(start - at) <= MOMENT)
            return TouchesReservation(self._view.job(rank), at, now + job.estimate)
        later = self._placed(plan)
        delayed = (item for item in self._in_turn() if not is_by(later[item[0]], self.start(item[0])))
        partition, pivot = next(delayed)
        return WouldDelayPivot(pivot, self.start(partition), later[partition], now + job.estimate)

    def comes_first(self, job: Job, lasts: float, own: float | None = None) -> tuple[Job | None, float] | None:
        """Return what keeps `job` from running for `lasts` seconds from now on, as (job, start); None if it can run.

        The pair is the first reservation, pivot or maintenance at whose start too few processors would be free; its job
        is None
        for maintenance. Running jobs, reservations and the pivots before `job` are taken into account, but not the
        reservation
        of `job` itself at the time `own`, if any.
        """
        now, plan = self._view.now, self._view.plan.copy()
        if own is not None:
            plan.take(own, own + lasts, -job.procs)
        reserved = ((rank, at) for rank, at in sorted(self._view.reserved.items()) if rank != job.rank)
        starts = [(max(at, now), self._view.job(rank)) for rank, at in reserved]
        for partition, pivot in self._in_turn():
            if pivot == job:
                break
            start = self.start(partition)
            plan.take(start, start + pivot.estimate, pivot.procs)
            starts.append((start, pivot))
        plan.take(now, now + lasts, job.procs)
        then = plan.shortage()
        if then is None:
            return None
        at, other = max(starts, key=lambda start: (start[0] <= then + MOMENT, start[0]), default=(-inf, None))
        return (other, at) if abs(at - then) <= MOMENT else (None, then)

    # Changes

    def move(self) -> None:
        """Record that pivots may have moved, so that they are planned again when next asked for."""
        self._plan = self._untaken = None
        self._starts.clear()
        self._forget()

    def beside(self, job: Job, at: float, lasts: float) -> None:
        """Record that the job occupies processors for `lasts` seconds from `at` on; the plan has them free, so no pivot
        moves.
        """
        self.plan.take(at, at + lasts, job.procs)
        self._forget()

    def leave(self, partition: int) -> None:
        """Record that the partition's pivot has started; the next job of its queue becomes the pivot."""
        place = self._queue.index(self.jobs.pop(partition))
        if successor := _first(self._classes, partition, islice(self._queue, place + 1, None)):
            self.jobs[partition] = successor
        self._turns = None
        self.move()

    def _forget(self) -> None:
        self._idle.clear()
        self._extra.clear()
        self.refused.clear()

    # Planning

    def planned(self) -> list[tuple[Job, float]]:
        """Return each pivot with its planned start."""
        if not self._starts:
            self._place()
        return [(job, self._starts[partition]) for partition, job in self._in_turn()]

    def _place(self) -> None:
        """Plan the start of each pivot, one after another.

        The last pivot enters the plan only when a later placement needs that, so a single pivot never does.
        """
        plan, now, before = by_number(self._view.plan), self._view.now, None
        for partition, job in self._in_turn():
            if before:
                if self._plan is None:
                    self._plan = plan = plan.copy()
                plan.take(*before)
            start = self._starts[partition] = plan.earliest(job.procs, job.estimate, now)
            before = (start, start + job.estimate, job.procs)
        self._untaken = before

    def _in_turn(self) -> list[tuple[int, Job]]:
        if self._turns is None:
            self._turns = sorted(self.jobs.items(), key=lambda item: (not item[1].high, item[1].rank))
        return self._turns

    def _placed(self, plan: Profile) -> dict[int, float]:
        now = self._view.now
        return {partition: plan.place(job.procs, job.estimate, now) for partition, job in self._in_turn()}


def idle(view: View, partition: int) -> int:
    """Return the number of idle processors of the partition."""
    return (view.owners[partition] & view.free_set).bit_count()


def own_idle(view: View, partition: int, procs: int) -> int:
    """Return the `procs` lowest-numbered idle processors of the partition, as bits."""
    return lowest(view.owners[partition] & view.free_set, procs)


def borrow(view: View, job: Job, to: int) -> Iterator[Borrow]:
    """Yield the decisions by which the partition `to` borrows the idle processors that the job lacks.

    The partition with the most idle processors lends first, and its lowest-numbered ones first.
    """
    lacking = job.procs - idle(view, to)
    while lacking > 0:
        others = (partition for partition in range(len(view.owners)) if partition != to)
        lender = max(others, key=lambda partition: (idle(view, partition), -partition))
        lent = min(lacking, idle(view, lender))
        yield Borrow(job, to, lender, own_idle(view, lender, lent))
        lacking -= lent


def _first(classes: Classes, partition: int, jobs: Iterable[Job]) -> Job | None:
    """Return the first of these jobs that belongs to the partition, or None."""
    return next((job for job in jobs if classes.of(job) == partition), None)
