"""Calls of a pass for compiled policies: like `sim.policies.calls.Pass`, but over arrays, and with jobs named by their
ranks.

A reason is given by the number of its form in the log of decisions, the rank of the named job, and numbers. The
compiler writes these into the calls (`.ci/twins.py`). A list of jobs that a call returns is overwritten by the next
call of the same method.
"""

from __future__ import annotations

from sim.decisions.decisions import Start
from sim.decisions.reasons import InOrder
from sim.history.decision_log import form_of
from sim.kernel.arrays import (
    growing_numbers,
    growing_times,
    insert_number,
    insert_time,
    number_before,
    numbers,
    remove_times,
    sort_pairs,
    times,
)
from sim.kernel.compression import Compression
from sim.kernel.present import BY_QUEUE, BY_START, NEVER, NOBODY
from sim.machine import cython
from sim.machine.columns import INFINITE, Numbers, Times
from sim.machine.moment import MOMENT
from sim.machine.steps import Steps
from sim.machine.trials import Trials

IN_ORDER: int = form_of(Start, InOrder)


@cython.cclass
class Draft(Steps):
    """Plan of free processors that a policy may change without changing the state; jobs are named by rank."""

    def __init__(self, jobs: int) -> None:
        Steps.__init__(self, 2 * jobs + 2)
        self.procs, self.estimate = numbers(0), times(0)
        self.bounds = Trials(jobs)

    def begin(self, plan: Steps, procs: Numbers, estimate: Times) -> None:
        """Copy the plan `plan`; `procs` and `estimate` have the processors and the estimate of each job, by rank."""
        self.become(plan)
        self.procs, self.estimate = procs, estimate
        self.bounds.forget()

    def find(self, job: int, after: float) -> float:
        """Return the earliest start for the job from `after` on. The search begins no earlier than a start found before
        for a job that is at most as wide and as long.
        """
        procs, lasts = self.procs[job], self.estimate[job]
        at = self.earliest(procs, lasts, max(after, self.bounds.bound(procs, lasts, INFINITE)))
        self.bounds.note(procs, lasts, at, at)
        return at

    def place(self, job: int, after: float) -> float:
        """Occupy processors for the job at the earliest possible time from `after` on; return this start."""
        at = self.find(job, after)
        self.take(at, at + self.estimate[job], self.procs[job])
        return at

    def admits(self, job: int, start: float, lasts: float) -> bool:
        """Return True if the job fits from `start` on for `lasts` seconds."""
        return self.fits(self.procs[job], start, lasts)

    def hold(self, job: int, start: float, end: float) -> None:
        """Occupy the job's processors from `start` until `end`."""
        self.take(start, end, self.procs[job])


@cython.cclass
class Pass(Compression):
    """State of a run in the fast loop, with the queries and calls that a policy may make in a pass."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Compression.__init__(self, jobs, procs, most_running)
        self.draft = Draft(jobs)
        self.newly_planned = numbers(jobs)
        """For each job: step, counted from 1, in which it got a planned start after having none in the step before"""
        self.all, self.later, self.at_once = numbers(jobs), numbers(jobs), numbers(jobs)
        """Columns with the results of the queries `queued`, `behind` and `due`; each call of a query overwrites its
        column
        """
        self.able, self.ables, self.looked = growing_numbers(jobs), 0, 0
        self.walks_behind, self.walked_in, self.at, self.last = -1, NEVER, 0, -1
        self.most_free, self.most_extra, self.latest_end, self.in_order, self.from_queue = 0, 0, 0.0, True, True
        """Limits of the last walk through candidates: free processors, extra processors, latest end; they are reused if
        the walk was complete (in step `walked_in`). Then two flags: True if the walk is in the order of the queue; True
        if it reads the queue, False if only `able` (candidates that were not started)
        """
        self.line_at, self.line_last = 0, -1
        """For the job that a walk through all waiting jobs returned last: its index in the queue, and its place (the
        number by which the queue is sorted)
        """
        self.tails: dict[str, Keys] = {}
        """For each order in which jobs behind the head can be tried: its compiled form"""
        self.in_turn, self.tail_keys, self.tail_places = numbers(jobs), times(jobs), numbers(jobs)
        self.other_tail_keys, self.other_places = growing_times(jobs), growing_numbers(jobs)

    # Questions

    def _fits(self, job: int) -> bool:
        return self.procs[job] <= self.free

    def _has_room_for(self, job: int) -> bool:
        return self.procs[job] <= self.free

    def _spares(self, job: int, head: int, extra: int) -> bool:
        return self.procs[job] <= extra

    def _queued(self) -> Numbers:
        return self._ranks_from(0, self.all)

    def _begin_line(self) -> None:
        """Begin to visit all waiting jobs, from the front of the queue."""
        self.line_at, self.line_last = 0, -1

    def _next_in_line(self) -> int:
        """Return the next waiting job, or -1 after the last; jobs may have started since the call before."""
        index, last = self.line_at, self.line_last
        if last >= 0:
            if index >= self.waiting or self.queue[index] != last:
                index = number_before(self.queue, last, 0, self.waiting)
            if index < self.waiting and self.queue[index] == last:
                index += 1
        self.line_at = index
        if index == self.waiting:
            return -1
        self.line_last = self.queue[index]
        return self.rank_at[self.line_last]

    def _behind(self, head: int) -> Numbers:
        return self._ranks_from(self._index_of(head) + 1, self.later)

    def _ranks_from(self, first: int, ranks: Numbers) -> Numbers:
        """Return the ranks of the waiting jobs from index `first` of the queue on, written into the column `ranks`."""
        for index in range(first, self.waiting):
            ranks[index - first] = self.rank_at[self.queue[index]]
        return ranks[: max(self.waiting - first, 0)]

    # Candidates

    def _walk(self, head: int, until: float, extra: int, tail: str) -> None:
        """Begin to visit the candidates, in the order `tail`: jobs behind the head that fit, and that end by `until` or
        need at most `extra` processors.

        A job that is refused under these limits is also refused under lower ones. So after a complete walk, the next
        one visits only new jobs and those in `able`: candidates that the policy did not start. It compares the limits
        first, because ends less than a microsecond apart may raise them.
        """
        until += MOMENT
        knows = head == self.walks_behind and self.step == self.walked_in + 1
        knows = knows and self.free <= self.most_free and extra <= self.most_extra and until <= self.latest_end
        self.walks_behind, self.latest_end, self.most_extra, self.walked_in = head, until, extra, NEVER
        self.at, self.last, self.in_order = 0 if head < 0 else self._index_of(head) + 1, -1, tail == "queue"
        self.from_queue = not knows or not self.in_order
        self.looked, self.ables = self.ables, 0
        if not self.from_queue:
            self.at = 0
            self._look_at_arrivals(head)
        elif not self.in_order:
            self._line_up_candidates(tail)

    def _next_candidate(self) -> int:
        """Return the next candidate of the walk that `_walk` has begun; -1 after the last."""
        if not self.in_order:
            self.at += 1
            return self.in_turn[self.at - 1] if self.at <= self.looked else -1
        if self.last >= 0:
            self._pass_on()
        column = self.queue if self.from_queue else self.able
        count = self.waiting if self.from_queue else self.looked
        self.at = self._first_able(column, count)
        while self.at < count:
            place = column[self.at]
            if self.from_queue or self._waits(place):
                self.last = place
                return self.rank_at[place]
            self.at += 1
            self.at = self._first_able(column, count)
        self.most_free, self.walked_in = self.free, self.step
        return -1

    def _first_able(self, places: Numbers, count: int) -> int:
        """Return the index, from `self.at` on, of the first of `count` jobs that fits, and that ends in time or is
        narrow enough; `count` if there is none. `places` are the places of the jobs in the queue.
        """
        free, extra, now, until, width = self.free, self.most_extra, self.now, self.latest_end, self.width
        index = self.at if free else count
        while index < count:
            wide = width[places[index]]
            if wide <= free and (wide <= extra or now + self.length[places[index]] <= until):
                return index
            index += 1
        return count

    def _pass_on(self) -> None:
        """Move the walk behind the job that it returned last. If this job still waits, remember it in `able`, as a job
        that fits and can be started later.
        """
        index, queue = self.at, self.queue
        if not self.from_queue or queue[index] != self.last:
            index = number_before(queue, self.last, 0, self.waiting)
        waits = index < self.waiting and queue[index] == self.last
        if self.from_queue:
            self.at = index
        if waits or not self.from_queue:
            self.at += 1
        if waits:
            self.able[self.ables] = self.last
            self.ables += 1
        self.last = -1

    def _waits(self, place: int) -> bool:
        index = number_before(self.queue, place, 0, self.waiting)
        return index < self.waiting and self.queue[index] == place

    def _look_at_arrivals(self, head: int) -> None:
        """Add the new jobs behind the head to the jobs that the walk visits."""
        least = -1 if head < 0 else self.place_of[head]
        for rank in range(self.arriving - self.arrived, self.arriving):
            place = self.place_of[rank]
            if place > least:
                insert_number(self.able, self.looked, number_before(self.able, place, 0, self.looked), place)
                self.looked += 1

    def _line_up_candidates(self, tail: str) -> None:
        """Write all jobs of the walk into the column `in_turn`, sorted by the policy's order `tail`."""
        count, self.at = 0, self._first_able(self.queue, self.waiting)
        while self.at < self.waiting:
            self.later[count] = self.rank_at[self.queue[self.at]]
            self.at += 1
            count, self.at = count + 1, self._first_able(self.queue, self.waiting)
        self._in_tail(self.later[:count], tail)
        self.at, self.looked = 0, count

    def _in_tail(self, jobs: Numbers, tail: str) -> Numbers:
        if tail == "queue":
            return jobs
        order: Keys = self.tails[tail]
        count, keys, places = len(jobs), self.tail_keys, self.tail_places
        for index in range(count):
            keys[index] = order.key(self, jobs[index], self.now)
            places[index] = index
        sort_pairs(keys, places, count, self.other_tail_keys, self.other_places)
        for index in range(count):
            self.in_turn[index] = jobs[places[index]]
        return self.in_turn[:count]

    def _arrivals(self) -> Numbers:
        count = self.arrived
        for index in range(count):
            self.later[index] = self.arriving - count + index
        return self.later[:count]

    def _due(self) -> Numbers:
        count = 0
        while count < self.reservations and self.reserved_at[count] <= self.now:
            place = self.place_of[self.reserved_rank[count]]
            insert_number(self.tail_places, count, number_before(self.tail_places, place, 0, count), place)
            count += 1
        for index in range(count):
            self.at_once[index] = self.rank_at[self.tail_places[index]]
        return self.at_once[:count]

    def _index_of(self, job: int) -> int:
        """Return the index of the waiting job in the queue."""
        return number_before(self.queue, self.place_of[job], 0, self.waiting)

    # Plans

    def _earliest(self, job: int) -> float:
        self._make_plan()
        return self.plan.earliest(self.procs[job], self.estimate[job], self.now)

    def _new_draft(self) -> Draft:
        self._make_plan()
        self.draft.begin(self.plan, self.procs, self.estimate)
        return self.draft

    def _cast_shadow(self, head: int) -> None:
        """Set `shadow`, the time at which the head fits, and `extra`, the processors left over then."""
        needs, free, at = self.procs[head], self.free, 0
        running, ends, procs = self.running, self.end_at, self.end_procs
        while free < needs:
            free += procs[at]
            at += 1
        self.shadow = ends[at - 1]
        until = self.shadow + MOMENT
        while at < running and ends[at] <= until:
            free += procs[at]
            at += 1
        self.extra = free - needs

    # Calls

    def wake(self, at: float) -> None:
        """Request a pass at the time `at`, in place of an earlier request; an infinite time requests none."""
        self._forget_request()
        if at < INFINITE:
            self._wake_once(at)

    def _start_job(self, job: int, form: int, head: int, one: float, two: float) -> None:
        """Start the job, with the reason given by `form`, `head` (rank of the job that it names), `one` and `two`.

        If the job is not first in the queue, the start is a backfill, whose form has the number `form` + 1.
        """
        index = self._index_of(job)
        passes = index > 0
        self._start(index, form + 1 if passes else form, head, one, two, passes)

    def _begin_job(self, job: int, form: int, head: int, one: float, two: float) -> None:
        """Start the job as `_start_job` does, but never as a backfill."""
        self._start(self._index_of(job), form, head, one, two, False)

    def _start_in_order(self) -> int:
        while self.waiting and self.width[self.queue[0]] <= self.free:
            self._start(0, IN_ORDER, -1, self.free, 0.0, False)
        return self.rank_at[self.queue[0]] if self.waiting else -1

    def _plan_job(self, job: int, at: float, form: int, head: int, one: float, two: float) -> None:
        """Plan the job's start at `at`: as a lasting reservation if the policy makes these, otherwise for this pass
        only.

        The other parameters are the reason's form, the rank of the job that it names, and its numbers.
        """
        if self.is_reserved:
            self._reserve(job, at, form, one, two)
            return
        this = self.step + 1
        had = self.step > 0 and self.planned_in[job] >= self.step and self.newly_planned[job] != this
        if not had:
            self.newly_planned[job] = this
        if self.promises:
            self._promise(job, at)
        if not had or self.planned[job] != at:
            if had:
                self._moves(job, at, self.planned[job])
            self._note(form, job, head, at, one, two)
        self.planned[job] = at
        self.planned_in[job] = this

    def _wake_once(self, at: float) -> None:
        if not self.reservations:
            insert_time(self.reserved_at, 0, 0, at)
            self.reservations = 1
        elif at < self.reserved_at[0]:
            self.reserved_at[0] = at

    def _forget_request(self) -> None:
        """Remove the request for a pass, because a pass is made now."""
        if self.reservations:
            remove_times(self.reserved_at, self.reservations, 0, 1)
            self.reservations = 0

    def _compress_by(self, by: str) -> None:
        self.compress = BY_START if by == "start" else BY_QUEUE if by == "queue" else NOBODY
        self._compress()


@cython.cclass
class Rules:
    """Compiled policy; the compiler writes a subclass for each policy from the policy's file."""

    def decide(self, now: Pass) -> None:
        """Make a pass of the policy; `now` is the state of the run, on which the policy calls its queries and
        decisions.
        """


@cython.cclass
class Keys(Rules):
    """Compiled order of the queue; the compiler writes a subclass for each order."""

    def prepare(self, run: Pass, jobs: int) -> None:
        """Compute the parts of all jobs' keys that never change."""

    def key(self, run: Pass, job: int, now: float) -> float:
        """Return the key of the job at the time `now`."""
        return 0.0
