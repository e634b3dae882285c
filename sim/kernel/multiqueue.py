"""Fast loop for a machine that is divided into partitions: what the policy `multiqueue` may ask and do in a pass
(`sim.policies.multiqueue.divided_pass`), over arrays of numbers.

A pivot is the first job of its queue; a partition has the number of its queue. A trial is a speculative run: one that
is limited in time. The place of a job is the number by which queues are sorted: by priority, then by arrival.
"""

from __future__ import annotations

from typing import Any

from sim.decisions.decisions import Expect
from sim.history.decision_log import form_of
from sim.kernel.arrays import (
    copy_numbers,
    growing_numbers,
    insert_number,
    number_before,
    numbers,
    remove_numbers,
    set_numbers,
    times,
)
from sim.kernel.partitions import Partitions
from sim.kernel.present import NEVER, WIDTH
from sim.machine import cython
from sim.machine.columns import Numbers
from sim.machine.moment import MOMENT, is_by
from sim.machine.operations import remove_number
from sim.policies.multiqueue.first_starts import FirstStarts

EXPECTED: int = form_of(Expect, None)
SHARED = 4096
"""Copy of the constant `SHARED` in `sim.history.decision_log`"""
SPECULATIVE = 1
CUT = 2
"""Index of "cut" in `sim.history.stretch.ENDINGS`"""
TO_START = 1
TO_END = 2
"""Value of `stage` for a job whose speculative run has begun, so that its next event is the end of this run"""


@cython.cclass
class DividedPass(Partitions):
    """State of a run with a queue for each partition of the machine, with the queries and calls for policies."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Partitions.__init__(self, jobs, procs, most_running)
        # Pivots
        self.came = self.outside = self.at_job = 0
        """Number of jobs that arrived before this pass; number of those jobs that are left out of the queues; and index
        in the queue of the job that is considered next
        """
        self.left = numbers(jobs)
        """Ranks of the jobs that are left out of the queues in this pass; `outside` is their number"""
        self.is_lined_up = False
        """True if the pivots of this pass are known"""
        self.stamp = 0
        """Number of changes of the pivots' plan until now"""
        # Trials: from its reservation on, what a job asks for and how long it runs are those of its trial
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
        self.starts = FirstStarts(partitions, self.draft)
        self.pivot, self.spare, self.spared_in = numbers(partitions), numbers(partitions), numbers(partitions)
        """For each queue: rank of its pivot, negative if the queue is empty; number of idle processors of the partition
        that the pivot will not need, and value of `stamp` when this number was computed
        """

    def enter_trial(self, rank: int, stage: int, limit: float) -> None:
        """Copy the speculative run of a job into the loop: its next event (`stage`) and its limit in seconds."""
        self.stage[rank] = stage
        self._limit(rank, limit)
        if stage == TO_START:
            self._add_trial(rank)

    def tried(self) -> list[int]:
        """Return the ranks of the jobs with a planned speculative run."""
        return [self.trials[index] for index in range(self.planned_trials)]

    def expected_ones(self) -> list[int]:
        """Return the ranks of the jobs that the last pass expected to start at a planned time."""
        firsts = [self.pivot[self.starts.in_turn[index]] for index in range(self.starts.count)]
        return [rank for rank in firsts if self.planned_in[rank] == self.step]

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
        if self.cut_in == self.step:
            self._complete_no_cut()
        if self.waiting:
            self.rules.decide(self)
        if self.is_due:
            self.is_due = self._asks_again()
        if self.has_borrowed:
            self._move_boundaries()

    # Queues and pivots

    def _pivots(self, came: int) -> DividedPass:
        self.came, self.outside = came, 0
        self._hand_on(-1)
        return self

    def _queue_of(self, job: int) -> int:
        return self.partition_of[job]

    def _leave_out(self, job: int) -> None:
        self.stage[job] = TO_START
        self.left[self.outside] = job
        self.outside += 1

    def _left_out(self) -> Numbers:
        return self.left[: self.outside]

    def _walk_jobs(self) -> None:
        """Begin to go through the jobs of the queues."""
        self.at_job = 0

    def _next_job(self) -> int:
        """Return the next job of the queues that might start now, -1 after the last one. Jobs that certainly cannot
        start are left out: the plan of the pivots and their partition leave them no room.
        """
        queue, width, free, starts, index = self.queue, self.width, self.free, self.starts, self.at_job
        while index < self.waiting and free:
            place = queue[index]
            index += 1
            procs, rank = width[place], self.rank_at[place]
            if procs > free or self.stage[rank]:
                continue
            partition, ends = self.partition_of[rank], self.now + self.length[place]
            is_refused = starts.is_made and self.pivot[partition] != rank and starts.refuses(procs, ends)
            if is_refused and procs > self.idle[partition]:
                continue
            if is_refused and not is_by(ends, starts.at[partition]) and procs > self._extra_in(partition):
                continue
            self.at_job = index
            return rank
        return -1

    def _first(self, queue: int) -> int:
        self._find_pivots(NEVER)
        return self.pivot[queue]

    def _firsts(self) -> Numbers:
        self._find_pivots(NEVER)
        for index in range(self.starts.count):
            self.later[index] = self.pivot[self.starts.in_turn[index]]
        return self.later[: self.starts.count]

    def _find_pivots(self, before: int) -> None:
        """Find the first job of each queue, among jobs with a rank less than `before`, unless this pass has found them
        already.
        """
        if self.is_lined_up:
            return
        starts, pivot, index = self.starts, self.pivot, 0
        self.is_lined_up = True
        starts.forget()
        set_numbers(pivot, 0, self.partitions, -1)
        while index < self.waiting and starts.count < self.partitions:
            rank = self.rank_at[self.queue[index]]
            queue = self.partition_of[rank]
            if pivot[queue] < 0 and not self.stage[rank] and rank < before:
                pivot[queue] = rank
                starts.add(queue, self.procs[rank], self.estimate[rank])
            index += 1

    def _plan_pivots(self, before: int) -> None:
        """Plan the starts of the pivots, unless this pass has planned them already; only jobs with a rank less than
        `before` count.
        """
        self._find_pivots(before)
        if not self.starts.is_made:
            self._make_plan()
            self.starts.make(self.plan, self.now)

    def _planned_start(self, queue: int) -> float:
        self._plan_pivots(NEVER)
        return self.starts.at[queue]

    def _idle_in(self, partition: int) -> int:
        return self.idle[partition]

    def _extra_in(self, partition: int) -> int:
        if self.spared_in[partition] != self.stamp:
            start, spare, index = self._planned_start(partition), self.idle[partition], 0
            spare -= self.procs[self.pivot[partition]]
            while index < self.running and is_by(self.end_at[index], start):
                if self.partition_of[self.end_rank[index]] == partition:
                    spare += self.end_procs[index]
                index += 1
            self.spare[partition] = max(spare, 0)
            self.spared_in[partition] = self.stamp
        return self.spare[partition]

    def _place(self, job: int, lasts: float) -> float:
        before = NEVER if self.outside == self.came else job
        self._plan_pivots(before)
        self.starts.complete()
        at = self.starts.plan.earliest(self.procs[job], lasts, self.now)
        if before == NEVER:
            self.starts.plan.take(at, at + lasts, self.procs[job])
        else:
            self._hand_on(-1)
        return at

    def _delays_none(self, job: int) -> bool:
        self._plan_pivots(NEVER)
        return self.starts.leaves_room(self.procs[job], self.now + self.estimate[job])

    def _delays_no_reserved(self, job: int) -> bool:
        if not self.reservations:
            return self.procs[job] <= self.free
        self._make_plan()
        return self.plan.shortage_of(self.procs[job], self.now + self.estimate[job]) < 0

    def _delays_none_instead(self, job: int, at: float, lasts: float) -> bool:
        self._plan_pivots(NEVER)
        return self.starts.leaves_room_instead(self.procs[job], self.now, at, lasts)

    def _occupy(self, job: int) -> None:
        self.stamp += 1
        self.starts.complete()
        self.starts.plan.take(self.now, self.now + self.estimate[job], self.procs[job])

    def _plan_again(self) -> None:
        self.stamp += 1
        self.starts.is_made = False

    def _hand_on(self, pivot: int) -> None:
        self.is_lined_up = False
        self._plan_again()

    def _expect(self, job: int, at: float) -> None:
        if self.planned_in[job] != self.step or self.planned[job] != at:
            self._note(EXPECTED, job, -1, at, 0.0, 0.0)
        self.planned[job] = at
        self.planned_in[job] = self.step + 1

    # Starts

    def _start_in(
        self, partition: int, job: int, form: int, head: int, count: int, one: float, two: float, three: int
    ) -> None:
        """Start the job on processors of its partition. The reason has this form, names the job `head`, and has the
        first `count` of the numbers `one`, `two` and `three`.
        """
        self._run(job, form, head, count, one, two, three, False)

    def _backfill_in(
        self, partition: int, job: int, form: int, head: int, count: int, one: float, two: float, three: int
    ) -> None:
        self._run(job, form, head, count, one, two, three, True)

    def _run(
        self, job: int, form: int, head: int, count: int, one: float, two: float, three: int, passes: bool
    ) -> None:
        stretch = self.begun
        self.at_job -= 1
        self._start(self._index_of(job), form, head, one, stretch if count == 1 else two, passes)
        if count > 1:
            self.h_numbers[WIDTH * self.decided - 1] = stretch + 0.0 if count == 2 else three + SHARED * stretch + 0.0

    # Trials

    def _planned(self) -> Numbers:
        copy_numbers(self.trials, self.at_once, self.planned_trials)
        return self.at_once[: self.planned_trials]

    def _reserved_start(self, job: int) -> float:
        return self.planned[job]

    def _reserve_trial(self, job: int, at: float, limit: float, form: int, head: int, one: float, two: float) -> None:
        self._limit(job, limit)
        self._add_trial(job)
        self._reserve(job, at, form, one, two)
        self.stamp += 1

    def _limit(self, rank: int, limit: float) -> None:
        """Limit the job's estimate and its run time to those of its trial."""
        self.estimate[rank] = self.length[self.place_of[rank]] = limit
        self.runtime[rank] = min(self.whole_runtime[rank], limit)

    def _add_trial(self, rank: int) -> None:
        index = number_before(self.trials, rank, 0, self.planned_trials)
        insert_number(self.trials, self.planned_trials, index, rank)
        self.planned_trials += 1

    def _try_in(
        self, partition: int, job: int, limit: float, form: int, head: int, count: int, one: float, two: float
    ) -> None:
        index = number_before(self.trials, job, 0, self.planned_trials)
        remove_number(self.trials, self.planned_trials, index)
        self.planned_trials -= 1
        self.stage[job] = TO_END
        self.is_reserved = True
        self._run(job, form, head, count, one, two, 0, False)
        self.is_reserved = False
        self.kinds[self.begun - 1] = SPECULATIVE

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
        """End the speculative run of a job that has not finished; the job waits again, with `place` as the number by
        which the queue is sorted.
        """
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
