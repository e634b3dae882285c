"""State of a run for the fast loop, stored in columns (arrays of numbers), and the events that change it: start, end
and reservation of a job.

The operations are those of `sim.engine.transitions`, in the same order. Jobs are identified by rank. The queue holds
places: the job with place 0 comes before all others. Columns that begin with `h_` belong to a `History` and have unused
space at the end; columns that begin with `l_` belong to a `Ledger`.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.arrays import growing_numbers, growing_times, number_before, numbers, set_numbers, time_before, times
from sim.machine import cython
from sim.machine.columns import INFINITE, Bytes, Longs
from sim.machine.moment import MOMENT
from sim.machine.operations import (
    insert_pair,
    insert_range,
    insert_three,
    remove_number,
    remove_pair,
    remove_ranges,
    remove_three,
)
from sim.machine.steps import Steps
from sim.machine.trials import Trials

RULES = 0
SELECTIVE = 1
SUSPENDING = 2
MULTIQUEUE = 3
GANG = 4
"""Last of the numbers of the kinds of passes. In a pass of kind `RULES` or `SUSPENDING`, the compiled rules of the
policy decide
"""
NOBODY = 0
BY_START = 1
BY_QUEUE = 2
"""Last of the numbers that say in which order reservations are moved to earlier starts: not at all, by start, or by
queue
"""
TAU = 10.0
"""Copy of `TAU` in `sim.workload.categories`: the least run time, in seconds, that bounded slowdowns divide by"""
NEVER = 2147483647
"""Step of an event that has not happened, as in `sim.history.times`"""
WIDTH = 3
"""Copy of `WIDTH` in `sim.history.decision_log`: number of values stored for each decision"""
WIDTHS = 1024
"""Largest number of entries of a column with one entry for each width of jobs (number of processors) or, on large
machines, for several neighbouring widths
"""
DONE = 0
KILLED = 1
"""Index of "killed" in `sim.history.stretch.ENDINGS`"""


@cython.cclass
class Present:
    """State of a run as columns of numbers: the jobs, and which of them wait, run or have a planned start."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        # The jobs, by rank; width and length also by place
        self.submit = self.due = self.estimate = self.runtime = self.recorded = self.length = times(0)
        self.whole_runtime = times(0)
        """For each job, by rank: the run time of a complete run. `runtime` can be shorter: then it is the limit of a
        speculative run
        """
        self.procs = self.place_of = self.rank_at = self.width = self.overruns = numbers(0)
        self.in_order_of_arrival = True
        # The policy
        self.kind = RULES
        self.compress = NOBODY
        self.promises = False
        # The present
        self.now = 0.0
        self.step = 0
        self.free = self.size = procs
        self.arriving, self.arrives, self.leaves = 0, 0.0, INFINITE
        """Rank of the next job to arrive, and the times of the next arrival and of the next departure"""
        self.credit = 0
        self.is_to_stop = False
        """True if the loop has to stop after this step"""
        self.queue, self.waiting = growing_numbers(jobs), 0
        self.end_at, self.end_rank = growing_times(most_running), growing_numbers(most_running)
        self.end_procs, self.running = growing_numbers(most_running), 0
        self.leave_at, self.leave_rank = growing_times(most_running), growing_numbers(most_running)
        """Times and ranks of the coming departures of running jobs; times are stored as negative numbers in ascending
        order, so that the next departure is the last entry
        """
        self.hole_first, self.hole_last = growing_numbers(procs // 2), growing_numbers(procs // 2)
        self.holes = 1
        insert_range(self.hole_first, self.hole_last, 0, 0, 0, procs - 1)
        self.pieces = 0
        """Total number of ranges of neighbouring processors that the running jobs hold"""
        self.expected = times(jobs)
        """For each running job, by rank: its expected end"""
        self.held_at = numbers(jobs)
        """For each running job, by rank: where its processors are stored in the history's column of ranges"""
        # Plans
        self.plan = Steps(2 * jobs + 2)
        self.planned = times(jobs)
        """For each waiting job with a reservation, by rank: its reserved start"""
        self.planned_in = numbers(jobs)
        """For each job, by rank: the step (counted from 1) in which its planned start was last recorded; 0 without a
        reservation
        """
        self.reserved_at, self.reserved_rank = growing_times(jobs), growing_numbers(jobs)
        """Times and ranks of the reservations, in order of time. For a policy without lasting reservations, the first
        time is that of the pass that it requested
        """
        self.reservations = 0
        self.is_due = self.is_reserved = False
        """Two flags: True if a reservation has reached its start; True if a job that starts may have a reservation that
        must be removed. The second is always True if reservations last beyond a pass, and with partitions only while
        such a job starts
        """
        self.shadow, self.extra = 0.0, 0
        """Shadow time, at which the head (first job of the queue) fits, and the number of extra processors left over at
        that time
        """
        self.bounds, self.turn = Trials(jobs), numbers(jobs)
        """Results of earlier searches in this pass, as lower bounds for later searches; and the ranks of the jobs that
        the loop tries to move (to an earlier start or another row), in this order
        """
        self.grain = procs // WIDTHS + 1
        """Number of neighbouring widths (numbers of processors) that share an entry of `grown_for`, so that large
        machines do not need a longer column
        """
        self.grown, self.grown_for, self.seen = 1, numbers(procs // self.grain + 1), numbers(jobs)
        set_numbers(self.grown_for, 0, procs // self.grain + 1, 1)
        """Number of times that room grew; the last one for each width; the last one each job has used"""
        # The last step
        self.arrived = self.coming = self.completed = self.moves = 0
        self.ended_early = False
        self.done = numbers(most_running)
        self.moved_rank, self.moved_by = numbers(jobs), times(jobs)
        # The tally
        self.started = self.backfilled = self.finished = self.killed = 0
        self.wait = self.slowdown = self.area = self.worst_wait = self.worst = 0.0
        self.wanted = 0
        """Total of the processors that waiting jobs request"""
        # The columns of the history and the ledger
        self.h_time = self.h_free = self.h_start = self.h_end = self.h_started = self.h_done = self.h_numbers = times(0)
        self.h_waiting = self.h_decided = self.h_begun = self.h_rank = self.h_end_step = numbers(0)
        self.h_first = self.h_last = self.h_next = self.h_started_in = self.h_done_in = numbers(0)
        self.h_about = self.h_head = self.h_ranges = numbers(0)
        self.h_wanted: Longs
        self.h_place: Longs
        self.h_ended_by: Bytes
        self.h_form: Bytes
        self.l_start = self.l_end = self.l_promised = self.l_ran = times(0)
        self.l_backfilled: Bytes
        self.most_steps = self.begun = self.most_begun = self.decided = self.most_decided = 0
        self.ranged = self.most_ranged = self.leeway = 0
        self.close()

    def open(self, history: Any, ledger: Any, room: Any) -> None:
        """Prepare the loop to write to the columns of `history` and `ledger`; `room` has the numbers of entries in use,
        and of those for which there is space.
        """
        (
            self.h_time, self.h_free, self.h_waiting, self.h_wanted, self.h_decided, self.h_begun,
            self.h_rank, self.h_start, self.h_end, self.h_end_step, self.h_ended_by, self.h_next, self.h_place,
            self.h_first, self.h_last, self.h_started, self.h_started_in, self.h_done, self.h_done_in,
            self.h_form, self.h_about, self.h_head, self.h_numbers, self.h_ranges,
        ) = history  # fmt: skip
        self.l_start, self.l_end, self.l_promised, self.l_ran, self.l_backfilled = ledger
        (
            _, self.most_steps, self.begun, self.most_begun, self.decided, self.most_decided,
            self.ranged, self.most_ranged,
        ) = room  # fmt: skip
        self.leeway = 0
        """Number of jobs that can certainly be recorded in the space left; in one step a job needs at most two
        decisions and one stretch (time on processors)
        """

    def close(self) -> None:
        """Release the columns of the history and the ledger, so that other code can change them."""
        self.open((None,) * 24, (None,) * 5, (0,) * 8)

    # Ending and starting

    def _complete(self, rank: int, now: float) -> None:
        """Complete the job `rank`, which has run to its end."""
        if self.expected[rank] > now + MOMENT:
            self.ended_early = True
        self._leave(rank, now)
        self._end_stretch(rank, now, KILLED if self.overruns[rank] else DONE)
        self.h_done[rank] = self.l_end[rank] = now
        self.h_done_in[rank] = self.step
        self._count_done(rank, now - self.submit[rank], self.l_start[rank] - self.due[rank])

    def _count_done(self, rank: int, turnaround: float, wait: float) -> None:
        """Add a completed job to the totals, and write its run time to the ledger; `turnaround` and `wait` (until its
        first start) are in seconds.
        """
        self.l_ran[rank] = run = self.whole_runtime[rank]
        wait, slowdown = max(wait, 0.0), 1 + (turnaround - run) / max(run, TAU)
        self.finished += 1
        if self.overruns[rank]:
            self.killed += 1
        self.wait += wait
        self.slowdown += slowdown
        self.area += run * self.procs[rank]
        self.worst_wait = max(self.worst_wait, wait)
        self.worst = max(self.worst, slowdown)

    def _end_stretch(self, rank: int, now: float, because: int) -> None:
        """End the job's last stretch (time on processors) at `now`; `because` is the kind of end, as an index into
        `ENDINGS`.
        """
        stretch = self.h_last[rank]
        self.h_end[stretch] = now
        self.h_end_step[stretch] = self.step
        self.h_ended_by[stretch] = because

    def _leave(self, rank: int, now: float) -> None:
        """Remove the job from the running jobs and free its processors."""
        expected, running, procs = self.expected[rank], self.running, self.procs[rank]
        remove_three(self.end_at, self.end_rank, self.end_procs, running, expected, rank)
        self.running = running - 1
        if self.plan.count:
            if running == 1 and not self.reservations:  # all is free
                self.plan.clear()
            elif expected > now:
                self.plan.advance(now)
                self._make_room(now, expected, procs)
        self._give_back(self.held_at[rank], procs)

    def _give_back(self, at: int, procs: int) -> None:
        """Free the `procs` processors that are stored at index `at` of the history's ranges."""
        ranges, firsts, lasts, holes = self.h_ranges, self.hole_first, self.hole_last, self.holes
        many = ranges[at]
        index, end = at + 1, at + 2 * many
        while index < end:
            first, last = ranges[index], ranges[index + 1]
            index += 2
            place = number_before(firsts, first, 0, holes)
            joins = place < holes and firsts[place] == last + 1
            if place and lasts[place - 1] == first - 1:
                if joins:
                    lasts[place - 1] = lasts[place]
                    remove_ranges(firsts, lasts, holes, place, 1)
                    holes -= 1
                else:
                    lasts[place - 1] = last
            elif joins:
                firsts[place] = first
            else:
                insert_range(firsts, lasts, holes, place, first, last)
                holes += 1
        self.holes = holes
        self.pieces -= many
        self.free += procs

    def _start(self, index: int, form: int, head: int, one: float, two: float, passes: bool) -> None:
        """Start the job at `index` of the queue. Record the decision with the form `form` (index into `FORMS`), the
        head's rank and the numbers `one` and `two`.

        `passes` is True if the job overtakes others, which counts as backfilling.
        """
        place, now, running = self.queue[index], self.now, self.running
        rank, procs, expected = self.rank_at[place], self.width[place], now + self.length[place]
        remove_number(self.queue, self.waiting, index)
        self.waiting -= 1
        self._hold(rank, procs)
        if self.is_reserved:
            self._stands_no_more(rank, now, expected, procs)
        elif self.plan.count:
            self.plan.advance(now)
            self.plan.take(now, expected, procs)
        self.expected[rank] = expected
        insert_three(self.end_at, self.end_rank, self.end_procs, running, expected, rank, procs)
        insert_pair(self.leave_at, self.leave_rank, running, -(now + self.runtime[rank]), rank)
        self.running = running + 1
        self._begin_stretch(rank, now)
        self._note_start(rank, now)
        self.wanted -= procs
        if passes:
            self.l_backfilled[rank] = 1
            self.backfilled += 1
        self._note(form, rank, head, one, two, 0.0)

    def _begin_stretch(self, rank: int, now: float) -> None:
        """Begin a stretch (time on processors) of the job in the history, and link the job's previous stretch to it."""
        begun = self.begun
        before = self.h_last[rank]
        self.h_last[rank] = begun
        if before < 0:
            self.h_first[rank] = begun
        else:
            self.h_next[before] = begun
        self.h_rank[begun] = rank
        self.h_start[begun] = now
        self.begun = begun + 1

    def _note_start(self, rank: int, now: float) -> None:
        """Record that the job runs from now on; if it has not run before, `now` becomes its start."""
        if self.l_start[rank] != self.l_start[rank]:
            self.l_start[rank] = now
            self.started += 1
        if self.h_started_in[rank] == NEVER:
            self.h_started[rank] = now
            self.h_started_in[rank] = self.step

    def _hold(self, rank: int, procs: int) -> None:
        """Give the job the lowest-numbered free processors, and write them to the history's ranges."""
        place = self.h_place[self.begun] = self.held_at[rank] = self.ranged
        ranges, firsts, lasts = self.h_ranges, self.hole_first, self.hole_last
        at, whole = place + 1, 0
        self.free -= procs
        while procs > 0:
            first, last = firsts[whole], lasts[whole]
            ranges[at] = first
            if last - first < procs:
                whole += 1
            else:
                last = first + procs - 1
                firsts[whole] = last + 1
            ranges[at + 1] = last
            procs -= last - first + 1
            at += 2
        if whole:
            remove_ranges(firsts, lasts, self.holes, 0, whole)
            self.holes -= whole
        ranges[place] = many = (at - place) // 2
        self.pieces += many
        self.ranged = at

    def _note(self, form: int, rank: int, head: int, one: float, two: float, three: float) -> None:
        """Write a decision to the history: its `form`, as numbered in `FORMS`, and the ranks of the job and of the head
        (-1 without a head).

        `one`, `two` and `three` are the numbers of its reason; unused ones are 0.
        """
        row = self.decided
        self.decided = row + 1
        self.h_form[row] = form
        self.h_about[row] = rank
        self.h_head[row] = head
        row *= WIDTH
        self.h_numbers[row] = one
        if two:  # what is not written is 0
            self.h_numbers[row + 1] = two
        if three:
            self.h_numbers[row + 2] = three

    def _moves(self, rank: int, at: float, was: float) -> None:
        """Record that the job's planned start moved from `was` to `at`; moves of jobs that arrived in this step do not
        count.
        """
        if rank >= self.arriving - self.arrived:
            return
        if self.moves and self.moved_rank[self.moves - 1] == rank:
            self.moved_by[self.moves - 1] = self.moved_by[self.moves - 1] + at - was
        else:
            self.moved_rank[self.moves] = rank
            self.moved_by[self.moves] = at - was
            self.moves += 1

    def _promise(self, rank: int, at: float) -> None:
        if self.l_promised[rank] != self.l_promised[rank]:
            self.l_promised[rank] = at

    # Plans

    def _make_plan(self) -> None:
        """Make the plan of the processors that running jobs leave free, or advance the present plan to now."""
        if self.plan.count:
            self.plan.advance(self.now)
        else:
            self.plan.make(self.now, self.free, self.end_at, self.end_procs, self.running)

    def _make_room(self, start: float, end: float, procs: int) -> None:
        """Free `procs` processors in the plan from `start` until `end`, and record which reservations may move to an
        earlier start.
        """
        plan = self.plan
        if self.is_reserved:
            self.grown = grown = self.grown + 1
            at, free, count = plan.at, plan.free, plan.count
            index = time_before(at, start - MOMENT, 0, count)
            if index == count or at[index] > start + MOMENT:
                index -= 1
            while index < count and at[index] < end:
                first = (free[index] + 1) // self.grain
                set_numbers(self.grown_for, first, (free[index] + procs) // self.grain - first + 1, grown)
                index += 1
        plan.take(start, end, -procs)

    def _reserve(self, rank: int, at: float, form: int, one: float, two: float) -> None:
        """Reserve the start `at` for a job without a reservation. Record the decision with the form `form` (index into
        `FORMS`) and the numbers `one` and `two`.
        """
        insert_pair(self.reserved_at, self.reserved_rank, self.reservations, at, rank)
        self.reservations += 1
        self.plan.take(at, at + self.estimate[rank], self.procs[rank])
        self.planned[rank] = at
        self.planned_in[rank] = self.step + 1
        self.seen[rank] = self.grown
        if at <= self.now:
            self.is_due = True
        if self.promises:
            self._promise(rank, at)
        self._note(form, rank, -1, at, one, two)

    def _forget(self, rank: int) -> None:
        """Remove the job's reservation."""
        remove_pair(self.reserved_at, self.reserved_rank, self.reservations, self.planned[rank], rank)
        self.reservations -= 1
        self.planned_in[rank] = 0

    def _stands_no_more(self, rank: int, now: float, expected: float, procs: int) -> None:
        """Remove the reservation of a job that starts now.

        If the start is not the reserved one, the plan is updated: the job holds `procs` processors from `now` until
        `expected`.
        """
        at = self.planned[rank]
        self._forget(rank)
        if abs(at - now) > MOMENT:
            self._make_room(max(at, now), at + self.estimate[rank], procs)
            self.plan.advance(now)
            self.plan.take(now, expected, procs)
