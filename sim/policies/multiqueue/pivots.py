"""Pivots: the first job of each queue, and its planned start (Lawson & Smirni section 2.1, figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import TYPE_CHECKING

from sim.decisions.reasons_to_wait import PivotLater, TouchesReservation, TrialLater, WouldDelayPivot
from sim.machine.moment import MOMENT, is_by
from sim.machine.plan import by_number
from sim.machine.profile import Profile
from sim.policies.multiqueue.partitions import Classes
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


class FirstStarts:
    """Plan that contains the first job of each queue, and the planned starts of these jobs."""

    def __init__(self) -> None:
        self.plan = Profile(0, 0)
        self._in_turn: list[int] = []
        """Queues with a job, in the order in which their first jobs are planned"""
        self._procs: dict[int, int] = {}
        self._lasts: dict[int, float] = {}
        self.at: dict[int, float] = {}
        """For each queue: planned start of its first job"""
        self.is_made = self.is_whole = False
        """Two flags: `is_made` is True if the starts are planned, `is_whole` if the plan contains all jobs, also the
        last added one (see `complete`)
        """
        self._short_at, self._short_of = inf, 0
        """Result of the last refusal by `leaves_room`: time from which the plan has too few free processors
        (`_short_at`), and number of free ones then (`_short_of`). Jobs wider than this number must end before this time
        """

    def forget(self) -> None:
        self._in_turn.clear()
        self.is_made = False

    def add(self, queue: int, procs: int, lasts: float) -> None:
        """Add the first job of the queue, to be planned after all jobs that were added before."""
        self._in_turn.append(queue)
        self._procs[queue], self._lasts[queue] = procs, lasts

    def make(self, beside: Profile, now: float) -> None:
        """Plan each job at its earliest start, in the order in which they were added, on the processors that the plan
        `beside` and the jobs before it leave free.
        """
        self.plan.become(beside)
        for turn, queue in enumerate(self._in_turn):
            if turn:
                self._enter(self._in_turn[turn - 1])
            self.at[queue] = self.plan.earliest(self._procs[queue], self._lasts[queue], now)
        self.is_made, self.is_whole, self._short_at = True, not self._in_turn, inf

    def complete(self) -> None:
        """Enter the last added job into the plan; `make` leaves it out."""
        if not self.is_whole:
            self._enter(self._in_turn[-1])
            self.is_whole = True

    def _enter(self, queue: int) -> None:
        self.plan.take(self.at[queue], self.at[queue] + self._lasts[queue], self._procs[queue])

    def leaves_room(self, procs: int, end: float) -> bool:
        """Return True if `procs` processors can be used from now until `end` without delaying anything in the plan."""
        if procs > self._short_of and end - MOMENT > self._short_at:
            return False
        self.complete()
        plan = self.plan
        short = plan.shortage_of(procs, end)
        if short >= 0:
            self._short_at, self._short_of = plan.at[short] if short else -inf, plan.free[short]
        return short < 0

    def leaves_room_instead(self, procs: int, now: float, at: float, lasts: float) -> bool:
        """Return True if a job can give up its reservation at `at` and run now for `lasts` seconds."""
        plan = self.plan
        self.complete()
        if lasts > at - now:  # from then on there is room
            lasts = at - now
        return procs <= plan.free[0] and plan.fits(procs, now, lasts)


class Pivots:
    """Queues of waiting jobs, one for each partition, and their pivots.

    A pivot is the first job of its queue. Its planned start is the earliest at which the machine has enough free
    processors for its estimate. Pivots are planned by priority, then by rank; each takes into account running jobs,
    current reservations and the pivots planned before. Starts are planned when first asked for, and after a change.
    """

    def __init__(self, view: Moment, classes: Classes, came: int) -> None:
        """Make the object for a pass; `came` is the number of jobs that have just arrived."""
        self._view, self._classes, self._came = view, classes, came
        self._queue: list[Job] = []
        """Waiting jobs without a reservation, those of high priority first"""
        self._left_out: list[Job] = []
        self._firsts: dict[int, Job] | None = None
        self._starts = FirstStarts()
        self._extra: dict[int, int] = {}
        self._line_up(view.queue)

    def _line_up(self, queue: list[Job]) -> None:
        if reserved := self._view.reserved:
            queue = [job for job in queue if job.rank not in reserved]
        if high := [job for job in queue if job.high]:
            queue = high + [job for job in queue if not job.high]
        self._queue = queue

    # Queues

    def queue_of(self, job: Job) -> int:
        return self._classes.of(job)

    def leave_out(self, job: Job) -> None:
        self._left_out.append(job)

    def left_out(self) -> list[Job]:
        if self._left_out:
            self._queue = [job for job in self._queue if job not in self._left_out]
        return self._left_out

    def jobs(self) -> list[Job]:
        """Return the jobs of the queues, of high priority first; in a run without reasons only the jobs that fit."""
        free = self._view.free
        return self._queue.copy() if self._view.curious else [job for job in self._queue if job.procs <= free]

    def firsts(self) -> Sequence[Job]:
        """Return the pivots in the order in which they are planned."""
        return [*self._of_queues().values()]

    def first(self, queue: int) -> Job:
        firsts = self._firsts
        return (self._of_queues() if firsts is None else firsts)[queue]

    def _of_queues(self, before: float = inf) -> dict[int, Job]:
        """Return the first job of each queue that is not empty, among jobs with a rank less than `before`."""
        if self._firsts is None:
            self._starts.forget()
            queue = self._queue if before == inf else [job for job in self._queue if job.rank < before]
            self._firsts = self._classes.firsts(queue)
            if len(self._firsts) > 1:
                self._firsts = dict(sorted(self._firsts.items(), key=lambda item: (not item[1].high, item[1].rank)))
            for number, job in self._firsts.items():
                self._starts.add(number, job.procs, job.estimate)
        return self._firsts

    # Planned starts and free processors

    def _planned(self, before: float = inf) -> FirstStarts:
        self._of_queues(before)
        if not self._starts.is_made:
            self._starts.make(by_number(self._view.plan), self._view.now)
        return self._starts

    def planned_start(self, queue: int) -> float:
        if not self._starts.is_made:
            self._planned()
        return self._starts.at[queue]

    def idle_in(self, partition: int) -> int:
        return (self._view.owners[partition] & self._view.free_set).bit_count()

    def extra_in(self, partition: int) -> int:
        """Return the number of the partition's processors that are free beside its pivot when the pivot starts."""
        if partition not in self._extra:
            start = self.planned_start(partition)
            free = self.idle_in(partition) - self.first(partition).procs
            for end, rank, procs in self._view.ends:
                if not is_by(end, start):
                    break
                if self._classes.of(self._view.job(rank)) == partition:
                    free += procs
            self._extra[partition] = max(0, free)
        return self._extra[partition]

    def place(self, job: Job, lasts: float) -> float:
        """Plan a job that was left out of its queue: return the earliest time at which it can run for `lasts` seconds
        without delaying a pivot. If other jobs arrived with it, only jobs with a lower rank count as pivots.
        """
        before = inf if len(self._left_out) == self._came else job.rank
        self._planned(before).complete()
        plan = self._starts.plan
        at = plan.earliest(job.procs, lasts, self._view.now)
        if before == inf:
            plan.take(at, at + lasts, job.procs)
        else:
            self.hand_on()
        return at

    def delays_none(self, job: Job) -> bool:
        """Return True if the job and the pivots fit into the current plan, so that none has to move."""
        if not self._starts.is_made:
            self._planned()
        return self._starts.leaves_room(job.procs, self._view.now + job.estimate)

    def delays_no_reserved(self, job: Job) -> bool:
        if not self._view.reserved:
            return job.procs <= self._view.free
        return by_number(self._view.plan).shortage_of(job.procs, self._view.now + job.estimate) < 0

    def delays_none_instead(self, job: Job, at: float, lasts: float) -> bool:
        """Return True if the job can give up its reservation at `at` and run now without delaying others."""
        return self._planned().leaves_room_instead(job.procs, self._view.now, at, lasts)

    # Changes

    def occupy(self, job: Job) -> None:
        """Record that the job has started; the planned starts of the pivots stay as they are."""
        self._extra.clear()
        self._planned().complete()
        self._starts.plan.take(self._view.now, self._view.now + job.estimate, job.procs)

    def plan_again(self) -> None:
        self._extra.clear()
        self._starts.is_made = False

    def hand_on(self, pivot: Job | None = None) -> None:
        """Record that `pivot` has started, so that the next job of its queue becomes the pivot. Without `pivot` no job
        is removed, but all pivots are determined and planned again.
        """
        if pivot is not None:
            self._queue.remove(pivot)
        self._firsts = None
        self.plan_again()

    # Why a job waits

    def later(self, job: Job) -> PivotLater:
        """Return why a pivot waits although enough processors are free."""
        return PivotLater(
            self.planned_start(self.queue_of(job)), self._view.free, *(self._comes_first(job, job.estimate) or ())
        )

    def trial_later(self, job: Job, at: float, limit: float) -> TrialLater:
        other = self._comes_first(job, limit, at) if job.procs <= self._view.free else None
        return TrialLater(at, limit, self._view.free, *(other or ()))

    def obstacle(self, job: Job) -> WouldDelayPivot | TouchesReservation:
        """Return why a job that is not a pivot waits: it would delay a reservation or, if not that, a pivot. The reason
        names the first one that it would delay.

        There is such a pivot: planned starts are the earliest in their order. If none of them moved with the job in the
        plan, all would have room together with the job, so that `delays_none` would be True.
        """
        now, plan = self._view.now, by_number(self._view.plan).copy()
        plan.take(now, now + job.estimate, job.procs)
        at = plan.shortage()
        if at is not None:
            rank = min(rank for rank, start in self._view.reserved.items() if abs(start - at) <= MOMENT)
            return TouchesReservation(self._view.job(rank), at, now + job.estimate)
        later, known = self._planned_starts(plan), self._of_queues().items()
        queue, pivot = max(known, key=lambda item: not is_by(later[item[0]], self.planned_start(item[0])))
        return WouldDelayPivot(pivot, self.planned_start(queue), later[queue], now + job.estimate)

    def _planned_starts(self, plan: Profile) -> dict[int, float]:
        now = self._view.now
        return {queue: plan.place(job.procs, job.estimate, now) for queue, job in self._of_queues().items()}

    def _comes_first(self, job: Job, lasts: float, own: float | None = None) -> tuple[Job | None, float] | None:
        """Return what keeps `job` from running for `lasts` seconds from now on, as (job, start); None if it can run.

        The pair is the first reservation, pivot or maintenance at whose start too few processors would be free; its job
        is None for maintenance. Running jobs, reservations and the pivots before `job` are taken into account, but not
        the reservation of `job` itself at the time `own`, if any.
        """
        now, plan = self._view.now, self._view.plan.copy()
        if own is not None:
            plan.take(own, own + lasts, -job.procs)
        reserved = ((rank, at) for rank, at in sorted(self._view.reserved.items()) if rank != job.rank)
        starts = [(max(at, now), self._view.job(rank)) for rank, at in reserved]
        for queue, pivot in self._of_queues().items():
            if pivot == job:
                break
            start = self.planned_start(queue)
            plan.take(start, start + pivot.estimate, pivot.procs)
            starts.append((start, pivot))
        plan.take(now, now + lasts, job.procs)
        then = plan.shortage()
        if then is None:
            return None
        at, other = max(starts, key=lambda start: (start[0] <= then + MOMENT, start[0]), default=(-inf, None))
        return (other, at) if abs(at - then) <= MOMENT else (None, then)
