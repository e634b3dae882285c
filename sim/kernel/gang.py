"""Gang scheduling in the fast loop: which waiting jobs a policy visits when it rebuilds the Ousterhout matrix, where it
places them, and the plans of the rows (`sim.policies.gang.rows_pass`), over arrays of numbers.

Questions about the rows themselves are in `sim.kernel.matrix_rows`. Rows are named by their slots, as there.
"""

from __future__ import annotations

from sim.decisions.matrix import Place
from sim.decisions.reasons_in_rows import NewRow
from sim.history.decision_log import form_of
from sim.kernel.arrays import (
    ends_in_order,
    growing_numbers,
    growing_times,
    insert_number,
    insert_step,
    numbers,
    time_up_to,
    times,
)
from sim.kernel.matrix_rows import NOTHING, MatrixRows
from sim.machine import cython
from sim.machine.columns import INFINITE
from sim.machine.moment import MOMENT
from sim.machine.operations import remove_number
from sim.machine.steps import Steps
from sim.policies.gang.planned_rows import PlannedRows, span_in_row

FIRST = 2
"""Number of the last rebuild before the loop took over; the loop counts its own rebuilds on from there"""
IN_NEW_ROW: int = form_of(Place, NewRow)
MANY_ROWS = 4096
"""Copy of the constant `SHARED` in `sim.history.decision_log`"""


@cython.cclass
class RowsPass(MatrixRows):
    """State of a run with an Ousterhout matrix, with the queries and calls for policies that rebuild it."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        MatrixRows.__init__(self, jobs, procs, most_running)
        self.backfills = False
        # Plans in rows: `planned`, and in `planned_in` the number of the rebuild
        self.rebuilds = FIRST
        self.planned_row, self.row_planned = numbers(jobs), times(jobs)
        """For each job: id of the row in which its start is planned; and its planned start as last written to the
        history, infinite if none was written
        """
        self.at_queue, self.last_seen, self.comes, self.comes_to = 0, -1, 0, -1
        """State of a walk through the queue: index of the next job and the last job returned; index of the next job
        that can be placed, and the index of a row for it
        """
        self.has_plans = self.is_outdated = False
        """True if all rows are planned; True if `comes` has to be found again"""
        self.stood = 0
        """Number of jobs in the matrix when the walk began"""
        self.planned_at, self.planned_in_row = 0.0, 0
        """Result of the last call of `book`: the earliest start, and the slot of its row"""
        self.plans_as = 0
        """Number of the form in the log of decisions for reservations in rows"""
        self.passed = self.rest = self.planned_of = 0
        """Indices in the queue: first job whose plan has not been written into the log by `_write_passed`; first job
        without a plan; end of the jobs to be planned
        """
        self.are_reserved = False
        """True if the plans of the rows were made for compaction in this rebuild, not by the last scheduling"""
        self.ends, self.by_end = times(jobs), growing_numbers(jobs)
        """Expected end of each job, by its index in the matrix; and these indices sorted by end"""
        self.change_at, self.change_by = growing_times(2 * jobs + 4), growing_numbers(2 * jobs + 4)
        """Times at which the number of free columns changes in the plan that is being made, and these changes"""

    # From a state of the engine, and back

    def enter_policy(self, backfills: bool, most_tasks: int) -> None:
        """Set up the columns of the matrix; `backfills` is True for a policy with reservations. At most `most_tasks`
        tasks may migrate at a rebuild, -1 under a policy without migration.
        """
        slots, jobs = self.mpl + 1, len(self.rows_of)
        self.backfills = backfills
        self.enter_tasks(most_tasks)
        self.plans = [Steps(2 * jobs + 4) for _ in range(slots if backfills else 0)]
        self.planned_rows = PlannedRows(slots, self.size + 1 if backfills else 0)
        for rank in range(jobs):
            self.row_planned[rank] = INFINITE

    def enter_plan(self, rank: int, row: int, at: float) -> None:
        """Copy the job's planned start `at` in that row into the loop."""
        self.planned[rank], self.planned_row[rank], self.planned_in[rank] = at, row, self.rebuilds

    def plans_told(self) -> list[tuple[int, int, float]]:
        """Return (rank, row, planned start) of each waiting job with a plan, to be copied into the engine's state."""
        self._plan_rest()
        ranks = [self.queue[index] for index in range(self.waiting)]
        return [(r, self.planned_row[r], self.planned[r]) for r in ranks if self.planned_in[r] == self.rebuilds]

    # A step

    def _decide(self) -> None:
        self._elapse(self.now)
        is_event = self._is_event()
        if is_event:
            self.looked_in = self.step
            self.settled = self.standing
            self.rules.decide(self)
            self._settle_replicas()
        self._rows_go_on(self.now)
        if is_event:
            self._write_places(self.now)
            if self.has_other_rows:
                self._place_bands()
        self.credit -= self.standing

    def _is_event(self) -> bool:
        return self.arrived > 0 or self.completed > 0 or not self.standing

    # Placement

    def _open_row(self) -> int:
        self._find_spare()
        slot = self.spare
        self._add_row(slot)
        if self.has_plans:
            self._plan_spare()
        return slot

    def _place(
        self, job: int, row: int, form: int, head: int, one: float, two: float, three: float, four: float
    ) -> None:
        """Place the job in the lowest free columns of the row. The reason has this form and the numbers `one` and
        `two` or, in a new row, `one`, `two` and `four`.
        """
        index = self._index_of(job)
        passes = index > 0
        if self.has_plans:
            self._write_passed(index)
        self._come_in(index, row, passes)
        number, span, place = one, two, self.id_of[row]
        if form == IN_NEW_ROW:
            number, span = one + MANY_ROWS * two, four
        self._note(form, job, self.set_at[job], ~place if passes else place, number, span if span >= 0 else NOTHING)

    def _come_in(self, index: int, slot: int, passes: bool) -> None:
        """Place the waiting job at this index of the queue in the lowest free columns of the row; `passes` is True if
        it overtakes others.
        """
        rank, sets = self.queue[index], self.sets
        procs = self.procs[rank]
        remove_number(self.queue, self.waiting, index)
        self.waiting -= 1
        self.wanted -= procs
        sets.become(self.open_set, self.every_set)
        sets.drop(self.open_set, self.row_set + slot)
        sets.take(rank, self.open_set, procs)
        self._note_columns(rank)
        self._stand(rank, slot, self.l_ran[rank])
        insert_number(self.new, self.news, self.news, rank)
        self.news += 1
        self.planned_in[rank] = 0
        self.row_planned[rank] = INFINITE
        self.l_backfilled[rank] = passes
        self.backfilled += passes

    # The queue

    def _walk_queue(self) -> None:
        """Begin to visit the waiting jobs in order, up to the last one that can be placed."""
        self.at_queue, self.last_seen, self.has_plans, self.is_outdated = 0, -1, False, False
        self.plans_as = 0
        """Number of the form in the log of decisions for reservations in rows"""
        self.passed = self.rest = self.planned_of = 0
        self.stood = self.standing

    def _next_to_place(self) -> int:
        """Return the next job of the walk; -1 after the last."""
        if self.at_queue < self.waiting and self.queue[self.at_queue] == self.last_seen:
            self.at_queue += 1
        index = self.at_queue
        if index < self.waiting and self.backfills:
            if not self.has_plans:
                if self._fullest(self.procs[self.queue[index]]) < 0:
                    self._plan_rows()
                    self.comes = self._next_to_come(index)
            elif self.is_outdated:
                self.comes = self._next_to_come(max(self.comes, index))
            self.is_outdated = False
            if self.has_plans and self.comes >= self.waiting:
                self.rest, self.planned_of = index, self.waiting
                return -1
        if index >= self.waiting:
            return -1
        self.last_seen = self.queue[index]
        return self.last_seen

    def _next_to_come(self, index: int) -> int:
        """Return the index in the queue of the next job that can be placed, and set `comes_to` to the index of a row
        for it. If no job can, return the queue's length.
        """
        mpl, waiting, queue, procs_of, most, rows = self.mpl, self.waiting, self.queue, self.procs, 0, self.planned_rows
        for turn in range(rows.count):
            plan: Steps = rows.plans[turn]
            most = max(most, plan.free[0])
        while index < waiting:
            rank = queue[index]
            if procs_of[rank] <= most:
                for turn in range(rows.count):
                    if rows.stays_free(turn, procs_of[rank], span_in_row(self.estimate[rank], mpl)):
                        self.comes_to = turn
                        return index
            index += 1
        return index

    # Plans of rows

    def _row_plans(self, mpl: int) -> RowsPass:
        return self

    def _reserved_plans(self, mpl: int) -> RowsPass:
        self.are_reserved = False
        return self

    def _book(self, job: int, span: float) -> None:
        """Set `planned_at` and `planned_in_row` to the earliest start of the job for `span` seconds and its row, and
        occupy the columns in the plan of this row.

        As long as nothing is reserved, what is free now stays free, and the rows need not be planned.
        """
        if not self.has_plans:
            self.planned_at, self.planned_in_row = self.now, self._fullest(self.procs[job])
            return
        rows = self.planned_rows
        if self.at_queue < self.comes:
            rows.book_later(self.procs[job], span)
        else:
            rows.book(self.procs[job], span)
        self.planned_at = rows.at
        self.planned_in_row = self.order[rows.found] if rows.found < self.rows else self.spare
        self.is_outdated = self.is_outdated or rows.at <= rows.now or rows.found == self.comes_to

    def _is_new(self, row: int) -> bool:
        return not self.is_row[row]

    def _is_free(self, row: int, procs: int, span: float) -> bool:
        return self._plan_reserved(row).fits(procs, self.now, span)

    def _take(self, row: int, procs: int, span: float) -> None:
        plan: Steps = self.plans[row]
        plan.take(self.now, self.now + span, procs)

    def _forget_reservations(self) -> None:
        self.rebuilds += 1

    def _reserve_row(self, job: int, row: int, at: float, form: int, head: int, one: float) -> None:
        self.plans_as = form
        self.planned[job], self.planned_row[job], self.planned_in[job] = at, self.id_of[row], self.rebuilds

    def _plan_rest(self) -> None:
        """Reserve starts for the jobs behind the last one that was placed."""
        self.at_queue, self.comes = self.rest, self.planned_of
        for index in range(self.rest, self.planned_of):
            rank = self.queue[index]
            self._book(rank, span_in_row(self.estimate[rank], self.mpl))
            self._reserve_row(rank, self.planned_in_row, self.planned_at, self.plans_as, -1, 0.0)
        self.rest = self.planned_of

    def _write_passed(self, index: int) -> None:
        """Record in the log the planned starts that the job at `index` of the queue passes, except starts that moved by
        less than a turn since they were recorded.
        """
        for place in range(self.passed, index):
            rank = self.queue[place]
            at = self.planned[rank]
            if abs(at - self.row_planned[rank]) >= self.slice:
                self.row_planned[rank] = at
                self._note(
                    self.plans_as, rank, -1, self.planned_row[rank], at, span_in_row(self.estimate[rank], self.mpl)
                )
        self.passed = index

    def _plan_reserved(self, slot: int) -> Steps:
        """Return the plan of the row in this slot, with the jobs that were placed there (not replicas) and the planned
        starts.
        """
        plan: Steps
        if not self.are_reserved:
            self._plan_rest()
            for plan in self.plans:
                if plan.count:
                    plan.clear()
            self.are_reserved = True
        plan = self.plans[slot]
        if plan.count:
            return plan
        now, mpl, many = self.now, self.mpl, 0
        for index in range(self.standing):
            rank = self.placed[index]
            if self.home[rank] == slot:
                many = self._note_change(
                    many, now + span_in_row(self.estimate[rank] - self.ran[index], mpl), self.procs[rank]
                )
        jobs = many
        for index in range(self.waiting):
            rank = self.queue[index]
            if self.planned_in[rank] == self.rebuilds and self.planned_row[rank] == self.id_of[slot]:
                start = max(self.planned[rank], now)
                many = self._note_change(many, start, -self.procs[rank])
                many = self._note_change(many, start + span_in_row(self.estimate[rank], mpl), self.procs[rank])
        plan.make(now, self.room[slot], self.change_at, self.change_by, many)
        if many > jobs:
            plan.simplify()
        return plan

    def _note_change(self, count: int, at: float, by: int) -> int:
        """Insert into the sorted list of `count` changes that `by` more columns are free from `at` on; return the new
        count.
        """
        insert_step(self.change_at, self.change_by, count, time_up_to(self.change_at, at, 0, count), at, by)
        return count + 1

    def _plan_rows(self) -> None:
        """Plan each row and a new one: first around the first `stood` jobs in order of placement, which were there
        before, then around the others.
        """
        now, mpl, home, procs, placed, ends = self.now, self.mpl, self.home, self.procs, self.placed, self.ends
        stood, rows = self.stood, self.planned_rows
        plan: Steps
        for index in range(self.rows):
            plan = self.plans[self.order[index]]
            plan.clear()
            plan.make(now, self.room[self.order[index]], self.change_at, self.change_by, 0)
        for index in range(stood, self.standing):
            plan = self.plans[home[placed[index]]]
            plan.free[0] += procs[placed[index]]
        ends_in_order(now, span_in_row(1.0, mpl), placed, self.estimate, self.ran, stood, ends, self.by_end)
        for turn in range(stood):
            index = self.by_end[turn]
            rank, end = placed[index], ends[index]
            plan = self.plans[home[rank]]
            at, free, last = plan.at, plan.free, plan.count - 1
            if end - at[last] <= MOMENT:
                free[last] += procs[rank]
                continue
            insert_step(at, free, last + 1, last + 1, end, free[last] + procs[rank])
            plan.count = last + 2
        for index in range(stood, self.standing):
            rank = placed[index]
            plan = self.plans[home[rank]]
            plan.take(now, now + span_in_row(self.estimate[rank], mpl), procs[rank])
        rows.begin(now)
        for index in range(self.rows):
            rows.add(self.plans[self.order[index]], self.room[self.order[index]], True)
        self._plan_spare()
        self.has_plans = True

    def _plan_spare(self) -> None:
        """Plan the empty row that would be opened next."""
        self._find_spare()
        if self.spare >= 0:
            plan: Steps = self.plans[self.spare]
            plan.clear()
            plan.make(self.now, self.size, self.change_at, self.change_by, 0)
            self.planned_rows.add_new_row(plan, self.size, True)
