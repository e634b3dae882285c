"""Gang scheduling in the fast loop (the simulation over arrays of numbers), by the rules of `sim.policies.gang`.

Each row of the Ousterhout matrix has a slot: the index of its entry in the columns (arrays).
"""

from __future__ import annotations

from typing import Any

from sim.kernel.row_plan import RowPlan
from sim.kernel.sharing import Sharing
from sim.machine import cython
from sim.machine.columns import (
    INFINITE,
    ends_in_order,
    growing_numbers,
    insert_number,
    most_first,
    number_before,
    numbers,
    time_near,
    times,
)
from sim.machine.moment import MOMENT
from sim.machine.operations import are_same, common_pairs, insert_step, place_of, remove_number

FIRST = 2
"""Number given to the last rebuild before the loop took over"""
SPANS = 4
"""For each number of processors: the largest number of durations for which searches are remembered"""
NOTHING = float("nan")
"""Value that stands for missing numbers"""


@cython.cclass
class GangLoop(Sharing):
    """Fast loop of gang scheduling, which rebuilds the matrix when a job arrives or ends."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Sharing.__init__(self, jobs, procs, most_running)
        self.backfills = False
        self.teller: Any = None
        """Object that stores decisions which have no compact form"""
        self.is_still = False
        """True if the last rebuild changed nothing and no job has arrived since; then the next rebuild changes nothing
        either
        """
        self.many_ranked = 0
        # Plans in rows: `planned`, and in `planned_in` the number of the rebuild
        self.rebuilds = FIRST
        self.planned_row, self.row_planned = numbers(jobs), times(jobs)
        """For each job: id of the row in which its start is planned; and its planned start as last written to the
        history, infinite if none was written
        """
        self.passed = self.rest = self.planned_of = 0
        """Indices in the queue: first job whose plan has not been written into the log by `_write_passed`; first job
        without a plan; end of the jobs to be planned
        """
        self.are_reserved = False
        """True if the plans of the rows were made for compaction in this rebuild, not by the last scheduling"""
        self.found = self.comes_to = -1
        """Slot of the row found by the last search, and slot of the row that the next job can enter; -1 for none"""
        self.trial = 0
        """Number of the current round of searches; results that are remembered from earlier rounds do not count"""
        self.ends, self.by_end = times(jobs), growing_numbers(jobs)
        """Expected end of each job, by its index in the matrix; and these indices sorted by end"""
        self.lined_up: list[RowPlan] = []
        """Plans of the rows in order, followed by the plan of the row that would be opened next"""

    # From a state of the engine, and back

    def enter_policy(self, backfills: bool) -> None:
        """Set up the columns of the matrix; `backfills` is True for a policy with reservations."""
        slots, jobs = self.mpl + 1, len(self.rows_of)
        self.backfills = backfills
        self.next_of, self.next_in = numbers(slots * self.size), numbers(slots * self.size)
        """Replicas (copies in other rows) that this rebuild will add: ranks of their jobs, and slots of these rows"""
        self.ranked, self.were_ranked = numbers(slots), numbers(slots)
        self.plans = [RowPlan(2 * jobs + 4) for _ in range(slots if backfills else 0)]
        places = SPANS * (self.size + 1) if backfills else 0
        self.tried_in, self.tries, self.spans_tried = numbers(self.size + 1), numbers(self.size + 1), times(places)
        self.tried_after, self.tried_near = times(places * slots), numbers(places * slots)
        """For each remembered duration, width and row: the earliest possible start, and the index of a step of the plan
        near it
        """
        for rank in range(jobs):
            self.row_planned[rank] = INFINITE

    def enter_plan(self, rank: int, row: int, at: float) -> None:
        """Copy the job's planned start `at` in that row into the loop."""
        self.planned[rank], self.planned_row[rank], self.planned_in[rank] = at, row, self.rebuilds

    def has_rebuilt(self) -> bool:
        """Return True if the matrix was rebuilt since the state was copied into the loop."""
        return self.rebuilds > FIRST

    def plans_told(self) -> list[tuple[int, int, float]]:
        """Return (rank, row, planned start) of each waiting job with a plan, to be copied into the engine's state."""
        self._plan_rest()
        ranks = [self.queue[index] for index in range(self.waiting)]
        return [(r, self.planned_row[r], self.planned[r]) for r in ranks if self.planned_in[r] == self.rebuilds]

    # The phases of a rebuild

    def _rebuild(self) -> None:
        """Rebuild the matrix. Replicas are removed only if it is certain that the rebuild would not add them again."""
        is_as_it_was = self.is_still and not self.completed
        if self.copies:
            self.gone.clear()
        if not is_as_it_was:
            self._compact()
        self.rebuilds += 1
        stood = self.standing
        self._schedule()
        self.is_still = self.is_still and self.standing == stood
        if not (is_as_it_was and self.is_still):
            self._fill()

    def _compact(self) -> None:
        """Move jobs of less populated rows to more populated ones; the most populated row is tried first as the
        target.
        """
        sets, rows, home, scratch, hopeful = self.sets, self.rows, self.home, self.scratch, 0
        if rows > 1:
            if not self._rank_rows():
                self.apart = 0
            hopeful = sets.movable(
                self.placed, self.apart, self.standing, self.row_set, self.ranked, rows, home, scratch, self.open_set
            )
        ranked = self.ranked
        self.is_still, self.apart = not hopeful, 0 if hopeful else self.standing
        if hopeful:
            self._keep_replicas(0)
            self.are_reserved = False
        for index in range(rows - 1 if hopeful else 0):
            row, many = ranked[index], 0
            for place in range(hopeful):
                if home[scratch[place]] == row:
                    self.turn[many] = scratch[place]
                    many += 1
            if many:
                many = sets.keep_apart(self.turn, many, self.row_set, ranked, index + 1, rows, self.open_set)
            if many:
                for turn in range(rows - 1, index, -1):
                    self._compact_into(ranked[turn], row, many)
        self._drop_empty_rows()

    def _rank_rows(self) -> bool:
        """Sort the rows from the least to the most populated, of equally populated rows the later first; return True if
        the order is unchanged.
        """
        many, ranked, self.ranked = self.many_ranked, self.ranked, self.were_ranked
        self.were_ranked, self.many_ranked = ranked, self.rows
        most_first(self.order, self.rows, self.room, self.ranked)
        return many == self.rows and are_same(self.ranked, ranked, many)

    def _compact_into(self, target: int, row: int, hopeful: int) -> None:
        """Move jobs from `row` to the row `target` (slots) where allowed; the candidates are the first `hopeful` jobs
        in `turn` that are still in `row`.
        """
        for index in range(hopeful):
            rank = self.turn[index]
            if (
                self.home[rank] == row
                and not self.sets.meets(rank, self.row_set + target)
                and self._may_move(rank, target)
            ):
                self._leave_row(rank, row)
                self._settle_in(rank, target)

    def _may_move(self, rank: int, target: int) -> bool:
        """Return True if the job may move to the row without delaying a reservation; then its move is recorded in the
        plans.
        """
        if not self.backfills:
            return True
        ran = self.ran[place_of(self.placed, self.standing, rank)]
        procs, span = self.procs[rank], (self.estimate[rank] - ran) * self.mpl
        plan = self._plan_reserved(target)
        if not plan.fits(procs, self.now, span):
            return False
        plan.take(self.now, self.now + span, procs)
        return True

    def _schedule(self) -> None:
        """Place waiting jobs in the matrix, as the phase Schedule of a rebuild does."""
        if self.backfills:
            self._schedule_all()
            return
        while self.waiting:
            slot = self._fullest(self.procs[self.queue[0]], -1.0)
            if slot >= 0:
                self._place(0, slot, -1.0, False)
            elif self.rows < self.mpl:
                self._find_spare()
                self._place_in_new_row(0, -1.0, False)
            else:
                return

    def _schedule_all(self) -> None:
        """Place each job that fits for its whole span, and plan a start for each other one, until no further job can
        enter.

        A span is the time that a job takes when it has one turn in each cycle of all rows.
        """
        index, passes, stood = 0, False, self.standing
        self._place_first()
        self.passed = self.rest = self.planned_of = 0
        if not self.waiting:
            return
        self._plan_rows(stood)
        comes = self._next_to_come(0)
        while comes < self.waiting:
            if index < comes:
                self._reserve_row(self.queue[index])
                passes = True
                index += 1
                if self.found == self.comes_to:
                    comes = self._next_to_come(comes)
            else:
                self._write_passed(index)
                self._come_to_row(index, passes)
                comes = self._next_to_come(index)
        self.rest, self.planned_of = index, self.waiting

    def _next_to_come(self, index: int) -> int:
        """Return the index in the queue of the next job that can enter the matrix, and set `comes_to` to the slot of
        its row.

        If no job can enter, return the queue's length.
        """
        mpl, waiting, queue, procs_of, most = self.mpl, self.waiting, self.queue, self.procs, 0
        plan: RowPlan
        for plan in self.lined_up:
            if plan.free[0] > most:
                most = plan.free[0]
        while index < waiting:
            rank = queue[index]
            if procs_of[rank] <= most:
                for turn in range(len(self.lined_up)):
                    plan = self.lined_up[turn]
                    if plan.free[0] >= procs_of[rank] and plan.stay_free(procs_of[rank], self.estimate[rank] * mpl):
                        self.comes_to = self.order[turn] if turn < self.rows else self.spare
                        return index
            index += 1
        return index

    def _come_to_row(self, index: int, passes: bool) -> None:
        """Place the job at this index of the queue where it fits now, in a new row only if it fits in no other.
        `passes` is True if the job overtakes others.
        """
        rank = self.queue[index]
        procs, span = self.procs[rank], self.estimate[rank] * self.mpl
        slot = self._fullest(procs, span)
        if slot < 0:
            slot = self.comes_to
        plan: RowPlan = self.plans[slot]
        plan.take(self.now, self.now + span, procs)
        if slot == self.spare:
            self._place_in_new_row(index, span if self._has_row_for(procs) else -1.0, passes)
            self._plan_spare()
        else:
            self._place(index, slot, span, passes)

    def _plan_rest(self) -> None:
        """Reserve starts for the jobs behind the last one that entered the matrix."""
        for index in range(self.rest, self.planned_of):
            self._reserve_row(self.queue[index])
        self.rest = self.planned_of

    def _place_first(self) -> None:
        """Place jobs from the front of the queue until one finds no row with enough free columns; their spans are not
        checked.
        """
        while self.waiting:
            rank = self.queue[0]
            slot = self._fullest(self.procs[rank], -1.0)
            if slot < 0:
                return
            self._place(0, slot, self.estimate[rank] * self.mpl, False)

    def _has_row_for(self, procs: int) -> bool:
        return self._fullest(procs, -1.0) >= 0

    def _fullest(self, procs: int, span: float) -> int:
        """Return the slot of the row with the fewest free columns in which `procs` fit for `span` seconds, -1 if there
        is none.

        With a negative span only the free columns at this time count.
        """
        best = -1
        for index in range(self.rows):
            slot = self.order[index]
            if self.room[slot] < procs or (best >= 0 and self.room[slot] >= self.room[best]):
                continue
            if span >= 0:
                plan: RowPlan = self.plans[slot]
                if not plan.fits(procs, self.now, span):
                    continue
            best = slot
        return best

    def _keep(self, rank: int, place: int) -> None:
        """Write into the log that a decision about the job is number `place` of the decisions kept as objects."""
        self._note(self.starts_as, rank, place, 0.0, 0.0, 0.0)

    def _place_in_new_row(self, index: int, span: float, passes: bool) -> None:
        rows, rank = self.rows, self.queue[index]
        self._open_row()
        self._come_in(index, self.spare, passes)
        columns = self.whole_sets[~self.set_at[rank]]
        place: int = self.teller.opened(rank, self.id_of[self.spare], columns, rows, span, passes)
        self._keep(rank, place)

    def _place(self, index: int, slot: int, span: float, passes: bool) -> None:
        free, rank = self.room[slot], self.queue[index]
        self._come_in(index, slot, passes)
        row, for_so_long = self.id_of[slot], span if span >= 0 else NOTHING
        self._note(self.passes_as, rank, self.set_at[rank], ~row if passes else row, free, for_so_long)

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

    def _fill(self) -> None:
        """Replicate jobs in rows where their columns are free; replicas that stay the same are not touched."""
        sets, ranks, slots, count = self.sets, self.next_of, self.next_in, 0
        if self.rows > 1:
            count = sets.spread(
                self.placed, self.standing, self.row_set, self.order, self.rows, self.full_set, self.scratch,
                self.open_set, ranks, slots,
            )  # fmt: skip
        kept = common_pairs(self.replica_of, self.replica_in, self.replicas, ranks, slots, count)
        self._keep_replicas(kept)
        self.next_of, self.next_in, self.replica_of, self.replica_in = self.replica_of, self.replica_in, ranks, slots
        self._replicate(kept, count)

    # Plans of rows

    def _forget_plans(self) -> None:
        for slot in range(len(self.plans)):
            plan: RowPlan = self.plans[slot]
            if plan.count:
                plan.clear()

    def _plan_reserved(self, slot: int) -> RowPlan:
        """Return the plan of the row in this slot, with the jobs that were placed there (not replicas) and the planned
        starts.
        """
        if not self.are_reserved:
            self._plan_rest()
            self._forget_plans()
            self.are_reserved = True
        plan: RowPlan = self.plans[slot]
        if plan.count:
            return plan
        now, mpl = self.now, self.mpl
        for index in range(self.standing):
            rank = self.placed[index]
            if self.home[rank] == slot:
                plan.note(now + (self.estimate[rank] - self.ran[index]) * mpl, self.procs[rank])
        many = plan.count
        for index in range(self.waiting):
            rank = self.queue[index]
            if self.planned_in[rank] == self.rebuilds and self.planned_row[rank] == self.id_of[slot]:
                start = self.planned[rank]
                if start < now:
                    start = now
                plan.note(start, -self.procs[rank])
                plan.note(start + self.estimate[rank] * mpl, self.procs[rank])
        is_simple = plan.count == many
        plan.add_up(now, self.room[slot])
        if not is_simple:
            plan.simplify()
        return plan

    def _plan_rows(self, stood: int) -> None:
        """Plan each row and a new one: first around the first `stood` jobs in order of placement, which were there
        before, then around the others.
        """
        now, mpl, home, procs, placed, ends = self.now, self.mpl, self.home, self.procs, self.placed, self.ends
        for index in range(self.rows):
            plan: RowPlan = self.plans[self.order[index]]
            plan.begin(now, self.room[self.order[index]])
        for index in range(stood, self.standing):
            plan = self.plans[home[placed[index]]]
            plan.free[0] += procs[placed[index]]
        ends_in_order(now, mpl, placed, self.estimate, self.ran, stood, ends, self.by_end)
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
            plan.take(now, now + self.estimate[rank] * mpl, procs[rank])
        self._plan_spare()

    def _plan_spare(self) -> None:
        """Plan the empty row that would be opened next; earlier searches did not include it."""
        self.trial += 1
        self._find_spare()
        self.lined_up = [self.plans[self.order[index]] for index in range(self.rows)]
        if self.spare >= 0:
            plan: RowPlan = self.plans[self.spare]
            plan.begin(self.now, self.size)
            self.lined_up.append(plan)

    def _reserve_row(self, rank: int) -> None:
        """Reserve the job's start in the row where it is earliest."""
        procs, span = self.procs[rank], self.estimate[rank] * self.mpl
        at = self._soonest(procs, span)
        slot = self.found
        plan: RowPlan = self.plans[slot]
        plan.take(at, at + span, procs)
        plan.only_rises = False
        self.planned[rank], self.planned_row[rank], self.planned_in[rank] = at, self.id_of[slot], self.rebuilds

    def _soonest(self, procs: int, span: float) -> float:
        """Return the time at which `procs` columns are first free for `span` seconds in a row, and set `found` to the
        slot of this row; of equal rows the earlier.

        The caller makes sure that the columns are not free now. For each width, results for the last few spans that
        were tried are remembered: the earliest possible start in each row for this span or a longer one.
        """
        if self.tried_in[procs] != self.trial:
            self.tried_in[procs], self.tries[procs] = self.trial, 0
        tries, place, like, longest = self.tries[procs], procs * SPANS, -1, -INFINITE
        for turn in range(place, place + (tries if tries < SPANS else SPANS)):
            if longest < self.spans_tried[turn] <= span:
                like, longest = turn, self.spans_tried[turn]
        if longest == span:
            own = like
        else:
            own = place + tries % SPANS
            self.tries[procs], self.spans_tried[own] = tries + 1, span
        best, found, is_known, slots = INFINITE, 0, like >= 0, self.mpl + 1
        like, own = like * slots, own * slots
        for index in range(len(self.lined_up)):
            plan: RowPlan = self.lined_up[index]
            after, near = -INFINITE, 0
            if is_known:
                after, near = self.tried_after[like + index], self.tried_near[like + index]
            if after < best:
                count = plan.count
                if plan.only_rises:  # once enough are free they stay free
                    near = number_before(plan.free, procs, 0, count)
                else:
                    near = time_near(plan.at, after, near, count)
                    while near < count and plan.at[near] < best:
                        if plan.free[near] >= procs:
                            until, end = near + 1, plan.at[near] + span
                            while until < count and plan.free[until] >= procs and end > plan.at[until] + MOMENT:
                                until += 1
                            if until == count or end <= plan.at[until] + MOMENT:
                                break
                            near = until
                        near += 1
                after = plan.at[near] if near < count else INFINITE
                if after < best:
                    best, found = after, index
            self.tried_after[own + index], self.tried_near[own + index] = after, near
        self.found = self.order[found] if found < self.rows else self.spare
        return best

    def _write_passed(self, index: int) -> None:
        """Record in the log the planned starts that the job at `index` of the queue passes, except
        starts that moved by less than a turn since they were recorded.
        """
        for place in range(self.passed, index):
            rank = self.queue[place]
            at = self.planned[rank]
            if abs(at - self.row_planned[rank]) >= self.slice:
                self.row_planned[rank] = at
                self._note(self.plans_as, rank, -1, self.planned_row[rank], at, self.estimate[rank] * self.mpl)
        self.passed = index
