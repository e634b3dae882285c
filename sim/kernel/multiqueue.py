"""Multiple-queue backfilling in the fast loop (the simulation over arrays of numbers), by the rules of
`sim.policies.multiqueue`.

A pivot is the first job of its queue. A trial is a speculative run: one that is limited in time. The place of a job is
the number by which queues are sorted: by priority, then by arrival.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.partitions import Partitions
from sim.kernel.present import NEVER, WIDTH
from sim.kernel.sets import blank
from sim.machine import cython
from sim.machine.columns import (
    INFINITE,
    growing_numbers,
    insert_number,
    number_before,
    numbers,
    remove_numbers,
    times,
)
from sim.machine.moment import MOMENT
from sim.machine.operations import remove_number

SHARED = 4096
"""Copy of the constant `SHARED` in `sim.history.decision_log`"""
SPECULATIVE = 1
CUT = 2
"""Index of "cut" in `sim.history.stretch.ENDINGS`"""
TO_START = 1
TO_END = 2
"""Value of `stage` for a job whose speculative run has begun, so that its next event is the end of this run"""


@cython.cclass
class MultiQueueLoop(Partitions):
    """Fast loop of multiple-queue backfilling, with a queue for each partition of the machine."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Partitions.__init__(self, jobs, procs, most_running)
        self.beside_as = self.trial_as = self.due_as = self.early_as = 0
        self.highs = 0
        """Number of jobs with high priority in the whole run; their places are below this number"""
        # Memory of the last pass
        self.stands = False
        """True if, as long as only arrivals happen, the pivots remain the same and jobs that could not start
        keep waiting
        """
        self.next_due = 0.0
        """Time of the earliest planned start of a pivot"""
        self.told_in = -1
        """Step in which the pivots' planned starts were last recorded as decisions; -1 if they have changed since"""
        self.placed, self.drafted = 0, False
        """Number of pivots whose planned start is known; and True if the draft (a changeable copy of the plan) contains
        them
        """
        self.has_moved = False
        """True if the pivots may have moved in this pass"""
        self.untaken = -1
        """Place of the last pivot if the draft of the plan does not contain it yet, otherwise -1"""
        self.short_at, self.short_of = INFINITE, 0
        """Time from which the draft of the plan has few free processors, and their number; wider jobs must end before
        this time
        """
        self.touched_at, self.touched_of = INFINITE, 0
        """Time of the first shortage found in the plan without pivots (with planned speculative runs), and the number
        of processors free then
        """
        self.tries = False
        # Trials: as long as a job is to be tried, what it asks for and how long it runs are those of its trial
        self.stage = numbers(jobs)
        """For each job (by rank): next event of its speculative run: 0 for none, `TO_START` or `TO_END`"""
        self.whole_estimate = times(0)
        self.trials, self.planned_trials = growing_numbers(jobs), 0
        """Ranks of jobs with a planned speculative run, and their number"""
        self.cut, self.cuts, self.cut_in, self.all_cuts = growing_numbers(most_running), 0, -1, 0
        """Speculative runs that were stopped at their limit: ranks of the jobs stopped in the step `cut_in`, their
        number, that step, and the number of stops in the whole run
        """
        self.kinds: Any = None
        """Column of the history with the kind of each stretch"""

    # From a state of the engine, and back

    def divide(self, jobs: int, procs: int, partitions: int) -> None:
        """Set up the columns of the partitions and queues."""
        Partitions.divide(self, jobs, procs, partitions)
        self.spare, self.spared_in, self.stamp = numbers(partitions), numbers(partitions), 0
        """For each partition: idle processors that its pivot will not need, and the value of `stamp` when they were
        computed; and the number of changes until now
        """
        self.pivot, self.pivot_at = blank(partitions), times(partitions)
        """For each queue: place of its first job, negative if it is empty, and planned start of this job"""
        self.firsts, self.pivots = growing_numbers(partitions), 0
        """Places of all pivots in ascending order, and their number"""

    def enter_stage(self, rank: int, stage: int) -> None:
        """Copy `stage`, the next event of the job's speculative run, into the loop; if it is the start, add the job to
        the planned ones.
        """
        self.stage[rank] = stage
        if stage == TO_START:
            self._line_up_for_trial(rank)

    def enter_queue(self) -> None:
        """Add each waiting job to the list of its partition; the first in a list becomes the partition's pivot. Jobs
        that wait for a speculative run are left out."""
        for index in range(self.waiting):
            if not self.stage[self.rank_at[self.queue[index]]]:
                self._join(self.queue[index])

    def tried(self) -> list[int]:
        """Return the ranks of the jobs with a planned speculative run."""
        return [self.trials[index] for index in range(self.planned_trials)]

    def just_cut(self) -> list[int]:
        """Return the ranks of the jobs whose speculative run was stopped at its limit in the last step."""
        return [self.cut[index] for index in range(self.cuts)] if self.cut_in == self.step - 1 else []

    # A step

    def _has_room(self) -> bool:
        waiting = self.waiting + self.coming + self.running  # whose trials are cut
        if self.step == self.most_steps or self.begun + waiting > self.most_begun:
            return False
        return not self.decided + (waiting + 1) * (self.partitions + 1) > self.most_decided

    def _decide(self) -> None:
        if self.waiting:
            self._make_pass()
        else:
            self.stands = False

    def _make_pass(self) -> None:
        index, tried, told = 0, 0, 0
        if self.tries:
            if self.cut_in == self.step:
                self._complete_no_cut()
            for rank in range(self.arriving - self.arrived, self.arriving):
                tried += self.stage[rank]
        is_calm = self.stands and not self.completed and not tried and self.now < self.next_due
        if is_calm and not (self.highs and self._somebody_high_came()):
            index, told = self.waiting - self.arrived, self.pivots
            self.short_at = INFINITE
            if self.drafted:
                self.draft.advance(self.now)
        else:
            self._move()
            self.touched_at = INFINITE
        apart = 0 < tried < self.arrived  # each new job sees only the pivots of earlier jobs
        for rank in range(self.arriving - self.arrived, self.arriving):
            if apart:
                self._move()
            if self.stage[rank]:
                self._plan_trial(rank)
            else:
                self._join(self.place_of[rank])
        if apart:
            self._move()
        self.has_moved = False
        if self.reservations:
            self._start_trials()
        if self.free:
            self._serve_queues(index)
        if self.pivots and (self.pivots > told or self.has_moved):
            self._expect_pivots()
        self.stands = self.pivots > 0 and not self.has_moved and not self.reservations
        if self.has_borrowed:
            self._move_boundaries()

    def _somebody_high_came(self) -> bool:
        rank = self.arriving - self.arrived
        while rank < self.arriving and self.place_of[rank] >= self.highs:
            rank += 1
        return rank < self.arriving

    def _expect_pivots(self) -> None:
        """Record each pivot's current planned start as a decision."""
        if self.placed < self.pivots:
            self._place_pivots(NEVER)
        self.next_due = INFINITE
        for index in range(self.pivots):
            rank = self.rank_at[self.firsts[index]]
            at = self.pivot_at[self.partition_of[rank]]
            if self.planned_in[rank] != self.told_in or self.planned[rank] != at:
                self._note(self.plans_as, rank, -1, at, 0.0, 0.0)
            self.planned[rank] = at
            self.planned_in[rank] = self.step + 1
            if at < self.next_due:
                self.next_due = at
        self.told_in = self.step + 1

    # Trials

    def _complete_no_cut(self) -> None:
        """Remove jobs whose speculative run was stopped at its limit from the completed jobs of this step: they are not
        complete.
        """
        done, kept = self.done, 0
        for index in range(self.completed):
            rank = done[index]
            at = number_before(self.cut, rank, 0, self.cuts)
            if at == self.cuts or self.cut[at] != rank:
                done[kept] = rank
                kept += 1
        self.completed = kept

    def _complete(self, rank: int, now: float) -> None:
        if self.stage[rank]:
            place = self.place_of[rank]
            self.stage[rank] = 0
            self.estimate[rank] = self.length[place] = self.whole_estimate[rank]
            self.runtime[rank] = self.whole_runtime[rank]
            if self.h_start[self.h_last[rank]] + self.runtime[rank] > now + MOMENT:
                self._cut(rank, place, now)
                return
        Partitions._complete(self, rank, now)

    def _cut(self, rank: int, place: int, now: float) -> None:
        """End the speculative run of a job that has not finished; the job waits again, at this place."""
        if self.cut_in != self.step:
            remove_numbers(self.cut, self.cuts, 0, self.cuts)
            self.cuts, self.cut_in = 0, self.step
        insert_number(self.cut, self.cuts, self.cuts, rank)
        self.cuts += 1
        self.all_cuts += 1
        self._leave(rank, now)
        self._end_stretch(rank, now, CUT)
        insert_number(self.queue, self.waiting, number_before(self.queue, place, 0, self.waiting), place)
        self.waiting += 1
        self.wanted += self.procs[rank]
        self._move()
        self.stands = False
        self._join(place)

    def _line_up_for_trial(self, rank: int) -> None:
        index = number_before(self.trials, rank, 0, self.planned_trials)
        insert_number(self.trials, self.planned_trials, index, rank)
        self.planned_trials += 1

    def _plan_trial(self, rank: int) -> None:
        """Reserve a start for the new job's speculative run: the earliest one that delays neither a pivot nor an
        earlier reservation.
        """
        self._place_pivots(NEVER)
        self._draft_placed()
        lasts = self.estimate[rank]
        at = self.draft.earliest(self.procs[rank], lasts, self.now)
        self._line_up_for_trial(rank)
        self._reserve(rank, at, self.trial_as, lasts, 0.0)
        self.draft.take(at, at + lasts, self.procs[rank])
        self.stamp += 1

    def _start_trials(self) -> None:
        """Start planned speculative runs that are due, and others that can start now without moving a plan."""
        index = 0
        while index < self.planned_trials:
            rank = self.trials[index]
            at, lasts = self.planned[rank], self.estimate[rank]
            if at <= self.now:
                self._try(index, rank, self.due_as, self.begun)
            elif self.procs[rank] <= self.free and self._fits_instead(rank, at, lasts):
                self._try(index, rank, self.early_as, at)
                self._move()
            else:
                index += 1

    def _try(self, index: int, rank: int, form: int, two: float) -> None:
        """Start the speculative run at `index` of the planned ones; `form` is the form of the reason, `two` its second
        number.
        """
        remove_number(self.trials, self.planned_trials, index)
        self.planned_trials -= 1
        self.stage[rank] = TO_END
        self.is_reserved = True
        place = number_before(self.queue, self.place_of[rank], 0, self.waiting)
        self._run(place, form, -1, self.estimate[rank], two, -1, False)
        self.is_reserved = False
        self.kinds[self.begun - 1] = SPECULATIVE

    def _fits_instead(self, rank: int, at: float, lasts: float) -> bool:
        """Return True if the speculative run planned for the time `at` could start now instead, for `lasts` seconds."""
        self._place_pivots(NEVER)
        self._draft_placed()
        if lasts > at - self.now:  # from then on it has room
            lasts = at - self.now
        return self.procs[rank] <= self.draft.free[0] and self.draft.fits(self.procs[rank], self.now, lasts)

    # The queues

    def _serve_queues(self, index: int) -> None:
        """Try to start each job of the queue once, from `index` on. Jobs that certainly have no room are skipped."""
        queue, width, free, waiting, idle, pivot_at = (
            self.queue, self.width, self.free, self.waiting, self.idle, self.pivot_at,
        )  # fmt: skip
        while index < waiting:
            place = queue[index]
            procs = width[place]
            if procs > free:
                index += 1
                continue
            rank = self.rank_at[place]
            partition = self.partition_of[rank]
            if place == self.pivot[partition]:
                if self.placed < self.pivots:
                    self._place_pivots(place)
                if pivot_at[partition] > self.now:
                    index += 1
                    continue
                own = idle[partition]
                self._run(index, self.starts_as, -1, partition, procs - own if procs > own else 0, -1, False)
                self._hand_on(index, partition)
            else:
                if self.stage[rank]:
                    index += 1
                    continue
                if procs > self.short_of:
                    ends = self.now + self.length[place]
                    until = ends - MOMENT
                    if until > self.short_at and (
                        procs > idle[partition]
                        or (until > self.touched_at and procs > self.touched_of)
                        or (ends > pivot_at[partition] and procs > self._spare(partition))
                    ):
                        index += 1
                        continue
                if not self._pass_pivots(index, rank, partition):
                    index += 1
                    continue
            free = self.free
            if not free:
                return
            waiting -= 1

    def _pass_pivots(self, index: int, rank: int, partition: int) -> bool:
        """Start the job, which is not a pivot, if one of the rules allows it; return False if none does."""
        procs, own, ends = self.procs[rank], self.idle[partition], self.now + self.estimate[rank]
        has_room = self._fits_beside(procs, ends)
        head, at = self.rank_at[self.pivot[partition]], self.pivot_at[partition]
        is_own = procs <= own and (ends <= at or procs <= self._spare(partition))
        if is_own and (has_room or not self.reservations or self._touches_no_trial(procs, ends)):
            if ends <= at:
                self._run(index, self.passes_as, head, at, ends, own, True)
            else:
                self._run(index, self.spares_as, head, at, own, self.spare[partition], True)
        elif has_room:
            self._run(index, self.beside_as, -1, own, procs - own if procs > own else 0, -1, True)
        else:
            return False
        if has_room:
            self.draft.take(self.now, ends, procs)
            self.stamp += 1
        else:
            self._move()
        return True

    def _run(self, index: int, form: int, head: int, one: float, two: float, three: int, passes: bool) -> None:
        """Start the job at `index` of the queue on processors of its partition, which borrows missing ones, and record
        the reason: its form, the job that it names, and its numbers.

        A `head` or `three` of -1 means that the reason has no such value; `passes` is True if the job passes others.
        """
        self._start(index, form, head, one, two, passes)
        stretch = self.begun - 1
        self.h_numbers[WIDTH * self.decided - 1] = stretch if three < 0 else three + SHARED * stretch

    # Pivots

    def _join(self, place: int) -> None:
        """Make the waiting job at this place the pivot of its partition if it is the first of its queue."""
        rank = self.rank_at[place]
        partition = self.partition_of[rank]
        was = self.pivot[partition]
        if 0 <= was < place:
            return
        if was >= 0:
            self._step_aside(partition)
        if self.placed:
            self._draft_placed()
            length = self.estimate[rank]
            at = self.draft.earliest(self.procs[rank], length, self.now)
            self.draft.take(at, at + length, self.procs[rank])
            self.pivot_at[partition] = at
            self.placed += 1
        self.pivot[partition] = place
        insert_number(self.firsts, self.pivots, number_before(self.firsts, place, 0, self.pivots), place)
        self.pivots += 1

    def _step_aside(self, partition: int) -> None:
        """Remove the pivot of the partition from the list of pivots, because it has started or another job precedes
        it.
        """
        remove_number(self.firsts, self.pivots, number_before(self.firsts, self.pivot[partition], 0, self.pivots))
        self.pivots -= 1
        self.pivot[partition] = -1

    def _hand_on(self, index: int, partition: int) -> None:
        """Make the next job of the queue the pivot, because the pivot at `index` has started."""
        self._move()
        self._step_aside(partition)
        while index < self.waiting:
            place = self.queue[index]
            rank = self.rank_at[place]
            if self.partition_of[rank] == partition and not self.stage[rank]:
                self._join(place)
                return
            index += 1

    def _move(self) -> None:
        """Forget the planned starts of the pivots and the draft of the plan, because they may have changed."""
        self.has_moved = True
        self.placed, self.drafted, self.untaken, self.short_at = 0, False, -1, INFINITE
        self.stamp += 1

    def _spare(self, partition: int) -> int:
        """Return the number of idle processors of the partition that its pivot will not need when it starts."""
        spare: int = self.spare[partition]
        if self.spared_in[partition] != self.stamp:
            start, spare = self.pivot_at[partition], self.idle[partition] - self.width[self.pivot[partition]]
            index = 0
            while index < self.running and self.end_at[index] <= start:
                if self.partition_of[self.end_rank[index]] == partition:
                    spare += self.end_procs[index]
                index += 1
            self.spare[partition] = spare
            self.spared_in[partition] = self.stamp
        return spare

    def _place_pivots(self, last: int) -> None:
        """Plan the starts of the pivots up to the place `last`, in the order of places; the last one is not entered in
        the draft yet.
        """
        while self.placed < self.pivots and self.firsts[self.placed] <= last:
            place = self.firsts[self.placed]
            if self.placed:
                self._draft_placed()
                at = self.draft.earliest(self.width[place], self.length[place], self.now)
            else:
                self._make_plan()
                at = self.plan.earliest(self.width[place], self.length[place], self.now)
            self.pivot_at[self.partition_of[self.rank_at[place]]] = at
            self.placed += 1
            self.untaken = place

    def _draft_placed(self) -> None:
        """Enter the pivots whose planned starts are known into the draft (a changeable copy) of the plan."""
        if not self.drafted:
            self._make_plan()
            self.draft.become(self.plan)
            self.drafted = True
        place = self.untaken
        if place >= 0:
            at = self.pivot_at[self.partition_of[self.rank_at[place]]]
            self.draft.take(at, at + self.length[place], self.width[place])
            self.untaken = -1

    def _fits_beside(self, procs: int, ends: float) -> bool:
        """Return True if a job on `procs` processors can run from now until `ends` without delaying a pivot or a
        planned speculative run.
        """
        until = ends - MOMENT
        if until > self.short_at and procs > self.short_of:
            return False
        if self.placed < self.pivots or self.untaken >= 0 or not self.drafted:
            self._place_pivots(NEVER)
            self._draft_placed()
        at, free, index, count = self.draft.at, self.draft.free, 0, self.draft.count
        while index < count and (at[index] < until or not index):
            if free[index] < procs:
                self.short_at, self.short_of = at[index] if index else -INFINITE, free[index]
                return False
            index += 1
        return True

    def _touches_no_trial(self, procs: int, ends: float) -> bool:
        """Return True if a job can run from now until `ends` without delaying a planned speculative run."""
        at, free, index, count, until = self.plan.at, self.plan.free, 0, self.plan.count, ends - MOMENT
        while index < count and (at[index] < until or not index):
            if free[index] < procs:
                self.touched_at, self.touched_of = at[index] if index else -INFINITE, free[index]
                return False
            index += 1
        return True
