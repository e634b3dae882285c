"""Time sharing in the fast loop: the same operations as in `sim.engine.sharing` and the engine, on columns (arrays of
numbers).

Each row of the matrix has a slot, which is its index in the columns. After a row is removed, its slot can be used again
at once, its id only after the matrix was cleaned. A band is a group of jobs that are in the same rows, and so make
progress at the same times. The clock of the rows is that of the engine.
"""

from __future__ import annotations

from typing import Any

from sim.kernel.arrays import growing_numbers, growing_times, insert_number, numbers, remove_numbers, times
from sim.kernel.clock import Clock
from sim.kernel.sets import Sets
from sim.machine import cython
from sim.machine.columns import INFINITE, Processors
from sim.machine.moment import MOMENT
from sim.machine.operations import (
    add_job,
    least_of,
    make_progress,
    place_of,
    places_up_to,
    remove_job,
    remove_number,
    sum_at,
)

MOVED = 5
IN_ROWS = 4
"""Index of "gang" in `sim.history.stretch.KINDS`"""


@cython.cclass
class Sharing(Clock):
    """Fast loop with an Ousterhout matrix whose rows take turns, and with the progress of the jobs in it."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Clock.__init__(self, jobs, procs, most_running)
        self.mpl, self.looked_in, self.migrates, self.most_tasks = 1, -1, False, 0
        self.done = numbers(jobs)
        # Jobs in the matrix, in order of placement
        self.placed, self.standing = growing_numbers(jobs), 0
        self.ran, self.whole, self.need = growing_times(jobs), growing_times(jobs), growing_times(jobs)
        """For each job in the matrix, in seconds: the time it has run, its run time, and the time it still needs,
        including what it loses to migrations
        """
        self.bands: list[tuple[int, ...]] = []
        self.band_of, self.members = growing_numbers(jobs), numbers(jobs + 1)
        """For each job, the number of its band (group of jobs in the same rows); for each band, its number of jobs"""
        self.band_at: dict[tuple[int, ...], int] = {}
        self.past_bands: list[int] = []
        """Numbers of bands (groups of jobs in the same rows) that have no jobs and can be used again"""
        self.places_at: dict[int, tuple[int, ...]] = {}
        """For each band (group of jobs in the same rows), by number: the positions of its rows in the order of turns"""
        # Where, by rank
        self.home, self.stands, self.set_at = numbers(jobs), numbers(jobs), numbers(jobs)
        """For each job, by rank: slot of its home row; slots of all its rows, as bits; and ~i, where i is the index of
        its columns in the history's `whole_sets`
        """
        self.rows_of: list[tuple[int, ...]] = [()] * jobs
        """For each job in the matrix, by rank: the ids of its rows"""
        self.written: list[tuple[int, ...]] = [()] * jobs
        """For each job, by rank: the ids of its rows as they were last written to the history"""
        self.replicas = self.copies = 0
        """Number of entries in the list of replicas (copies of jobs outside of their home rows), and the number of
        these replicas that have not been removed
        """
        self.settled = 0
        """Number of jobs at the beginning of the order of placement whose rows have certainly not changed in this
        step
        """
        self.apart = 0
        """Number of jobs at the beginning of the order of placement that are known to fit into no other row"""
        self.stall, self.may_stall = times(jobs), False
        """For each job: seconds of its own turns that it still loses to migrations before it makes progress again. And
        a flag, False if no job loses any
        """
        self.new, self.news = growing_numbers(jobs), 0
        """Ranks of the jobs in the matrix that have not had a turn yet, and the number of these jobs"""
        self.scratch, self.gain = numbers(jobs), times(jobs + 1)
        # The rows
        self.gone: set[int] = set()
        self.spare = -1
        """Slot for the next row to be opened; -1 if no more row is allowed"""
        # History
        self.rows_at: dict[int, tuple[int, ...]] = {}
        self.kinds: Any = None
        self.whole_sets: list[Processors] = []

    # From a state of the engine, and back

    def enter_rows(self, mpl: int, ids: Any, every: Any, turns: Any, since: float) -> None:
        """Copy the rows, the available columns and the clock from the engine into the loop.

        There may be at most `mpl` rows. `ids` are the row ids in order, `every` is the set of available columns, and
        `since` is the time of the last step.
        """
        slots, jobs = mpl + 1, len(self.rows_of)
        self.mpl, self.ids, self.rows = mpl, tuple(ids), len(ids)
        self.enter_clock(turns, since, slots)
        self.id_of, self.is_row = numbers(slots), numbers(slots)
        self.room = numbers(slots)
        """For each row: number of columns that are not used by the jobs whose home is this row"""
        self.alone: list[tuple[int, ...]] = [()] * slots
        self.replica_of, self.replica_in = numbers(slots * self.size), numbers(slots * self.size)
        """For each replica, in the order of addition: rank of its job and slot of its row. A replica is a copy of a job
        in another row than its home row; removed ones remain in the list
        """
        self.sets = Sets(jobs + 2 * slots + 2, self.size)
        self.row_set, self.full_set = jobs, jobs + slots
        """Number of the set that belongs to slot 0, in two series of sets with one set for each slot: columns of the
        jobs at home there, and columns taken while the matrix is filled
        """
        self.every_set, self.open_set = jobs + 2 * slots, jobs + 2 * slots + 1
        self.sets.put(self.every_set, every)
        for slot, row in enumerate(ids):
            insert_number(self.order, slot, slot, slot)
            self._name(slot, row)

    def enter_job(self, rank: int, columns: Any, rows: Any, ran: float, stall: float, is_new: bool) -> None:
        """Copy the job into the loop with its columns, its rows (home first), and its progress."""
        self.sets.put(rank, columns)
        home = self.ids.index(rows[0])
        self._stand(rank, home, ran)
        for row in rows[1:]:
            self._stand_too(rank, self.ids.index(row))
        self._join_band(self.standing - 1, rank, self.rows_of[rank])
        if stall:
            self.stall[rank], self.may_stall = stall, True
            self._find_need(rank)
        if is_new:
            insert_number(self.new, self.news, self.news, rank)
            self.news += 1

    def places(self) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return (rank, columns as bits, row ids) of every job in the matrix, in order of placement."""
        ranks = [self.placed[index] for index in range(self.standing)]
        return [(rank, self.sets.told(rank), self.rows_of[rank]) for rank in ranks]

    def free_set(self) -> Processors:
        """Return the free columns of the active row, as bits."""
        self.sets.become(self.open_set, self.every_set)
        if self.cycle:
            slot = self.order[self.on_turn]
            for index in range(self.standing):
                if self.stands[self.placed[index]] >> slot & 1:
                    self.sets.drop(self.open_set, self.placed[index])
        return self.sets.told(self.open_set)

    def new_ranks(self) -> list[int]:
        """Return the ranks of the jobs in the matrix that have not had a turn yet."""
        return [self.new[index] for index in range(self.news)]

    # Time

    def _next_time(self) -> float:
        arrives: float = self.arrives
        time = self._next_end(arrives)
        if arrives < time:
            time = arrives
        for index in range(self.news):
            begins = self._first_stand(self.new[index])
            if begins < time:
                time = begins
        if time < arrives and arrives <= time + MOMENT:
            time = arrives
        return time

    def _next_end(self, before: float) -> float:
        """Return the time at which the next job in the matrix ends; if that is later than `before`, return infinity."""
        if not self.standing:
            return INFINITE
        band_of, need, near = self.band_of, self.need, self.scratch
        since: float = self.since
        place = least_of(need, self.standing)
        first, its = need[place], band_of[place]
        if since + first > before:
            return INFINITE
        end: float = self._finish(self.places_at[its], first)
        soon = min(before, end + MOMENT) - since
        count = places_up_to(need, self.standing, soon, near)
        for index in range(count):
            place = near[index]
            if band_of[place] != its:
                ends = self._finish(self.places_at[band_of[place]], need[place])
                if ends < end:
                    end = ends
        return end

    def _first_stand(self, rank: int) -> float:
        """Return the first time from now on at which one of the job's rows is active."""
        cycle, on_turn = self.cycle, self.on_turn
        for turn in range(cycle):
            if self.stands[rank] >> self.order[(on_turn + turn) % cycle] & 1:
                return self.begin + turn * self.slice if turn else self.since
        return INFINITE

    def _has_room(self) -> bool:
        """Return True if the history has space for everything that this step can record: stretches (times on
        processors) and decisions.
        """
        crowd = self.waiting + self.coming
        has_room: bool = (
            self.step < self.most_steps
            and self.begun + self.standing + crowd <= self.most_begun
            and self.decided + 2 * (crowd + self.most_tasks) <= self.most_decided
        )
        return has_room

    def _elapse(self, to: float) -> None:
        """Advance time to `to`; jobs that end by then leave the matrix."""
        self._share_out(to)
        if self.step and to > self.since:
            self.h_free[self.step - 1] = self._empty_until(to) / (to - self.since)
        self.since = to
        gain, share, done, count = self.gain, self.share, self.done, 0
        band: int
        for band, places in self.places_at.items():
            gain[band] = share[places[0]] if len(places) == 1 else sum_at(share, places)
        if self.may_stall:
            least = self._make_up()
        else:
            least = make_progress(self.ran, self.need, self.whole, self.standing, gain, self.band_of)
        if least <= MOMENT:
            count = places_up_to(self.need, self.standing, MOMENT, self.scratch)
            for index in range(count):
                rank, place = self.placed[self.scratch[index]], index
                while place and done[place - 1] > rank:
                    done[place] = done[place - 1]
                    place -= 1
                done[place] = rank
        self.completed = count
        for index in range(count):
            self.expected[done[index]] = to
            self._complete(done[index], to)
        self._advance(to)

    def _make_up(self) -> float:
        """Let the jobs run for the turns of their rows, minus the time that they lose to migrations; return the
        smallest time in seconds that a job still needs.
        """
        least = INFINITE
        for index in range(self.standing):
            rank, gained = self.placed[index], self.gain[self.band_of[index]]
            if self.stall[rank]:
                lost = min(self.stall[rank], gained)
                self.stall[rank] -= lost
                gained -= lost
            self.ran[index] += gained
            needs = self.whole[index] - self.ran[index] + self.stall[rank]
            self.need[index] = needs
            if needs < least:
                least = needs
        return least

    def _leave(self, rank: int, now: float) -> None:
        index, place = 0, place_of(self.placed, self.standing, rank)
        self._leave_band(place)
        self._leave_row(rank, self.home[rank])
        if self.stands[rank] != 1 << self.home[rank]:
            self._leave_replicas(rank)
        remove_job(self.placed, self.band_of, self.ran, self.whole, self.need, self.standing, place)
        self.standing -= 1
        while index < self.news:
            if self.new[index] == rank:
                remove_number(self.new, self.news, index)
                self.news -= 1
            index += 1

    def _rows_go_on(self, now: float) -> None:
        """Update the clock of the rows at the end of a step, when the matrix no longer changes in this step."""
        self._settle_clock(now)
        self.free = self.empty[self.order[self.on_turn]] if self.cycle else self.size
        if self.news:
            self._begin(now)

    def _begin(self, now: float) -> None:
        """Record the first start of jobs that have their first turn now."""
        kept, slot = 0, self.order[self.on_turn] if self.cycle else -1
        for index in range(self.news):
            rank = self.new[index]
            if slot >= 0 and self.stands[rank] >> slot & 1:
                self._note_start(rank, now)
            else:
                self.new[kept] = rank
                kept += 1
        remove_numbers(self.new, self.news, kept, self.news - kept)
        self.news = kept

    def _write_places(self, now: float) -> None:
        """Begin a stretch in the history for each job whose rows or columns have changed."""
        written, rows_of, migrates = self.written, self.rows_of, self.migrates
        for index in range(self.settled, self.standing):
            rank = self.placed[index]
            if written[rank] != rows_of[rank] or (migrates and self._has_migrated(rank)):
                self._write_place(index, rank, now)

    def _write_place(self, place: int, rank: int, now: float) -> None:
        begun, rows = self.begun, self.rows_of[rank]
        if self.written[rank]:
            self._end_stretch(rank, now, MOVED)
            self._leave_band(place)
        self._begin_stretch(rank, now)
        self.kinds[begun] = IN_ROWS
        self.h_place[begun] = self.set_at[rank]
        self.rows_at[begun] = rows
        self._join_band(place, rank, rows)

    def _has_migrated(self, rank: int) -> bool:
        """Return True if the job's columns differ from those last written to the history."""
        return False

    def _join_band(self, place: int, rank: int, rows: tuple[int, ...]) -> None:
        """Add the job at index `place` to the band of jobs in the same rows; begin a band if there is none."""
        band: int = self.band_at.get(rows, -1)
        if band < 0:
            if self.past_bands:
                band = self.past_bands.pop()
                self.bands[band] = rows
            else:
                band = len(self.bands)
                self.bands.append(rows)
            self.band_at[rows] = band
            self.places_at[band] = tuple(map(self.ids.index, rows))
        self.written[rank], self.band_of[place] = rows, band
        self.members[band] += 1

    def _leave_band(self, place: int) -> None:
        """Remove the job at index `place` of the order of placement from its band (group of jobs in the same rows)."""
        band = self.band_of[place]
        self.members[band] -= 1
        if not self.members[band]:
            del self.band_at[self.bands[band]], self.places_at[band]
            self.past_bands.append(band)

    def _place_bands(self) -> None:
        """Compute again, for each band, the places of its rows in the cycle of turns."""
        self.has_other_rows = False
        band: int
        for rows, band in self.band_at.items():
            self.places_at[band] = tuple(map(self.ids.index, rows))

    def _find_need(self, rank: int) -> None:
        place = place_of(self.placed, self.standing, rank)
        self.need[place] = self.whole[place] - self.ran[place] + self.stall[rank]

    # The matrix

    def _slot_of(self, row: int) -> int:
        for index in range(self.rows):
            if self.id_of[self.order[index]] == row:
                slot: int = self.order[index]
                return slot
        return -1

    def _name(self, slot: int, row: int) -> None:
        """Register an empty row with the id `row` in this slot."""
        self.id_of[slot] = row
        self.alone[slot] = (row,)
        self.room[slot] = self.empty[slot] = self.size
        self.is_row[slot] = 1

    def _stand(self, rank: int, slot: int, ran: float) -> None:
        """Place the job in its columns of this row, which becomes its home; it has run for `ran` seconds."""
        whole, standing = self.runtime[rank], self.standing
        add_job(self.placed, self.band_of, self.ran, self.whole, self.need, standing, rank, ran, whole)
        self.standing = standing + 1
        self._settle_in(rank, slot)

    def _settle_in(self, rank: int, slot: int) -> None:
        """Make the row in this slot the job's home and its only row."""
        self.home[rank] = slot
        self.stands[rank] = 1 << slot
        self.rows_of[rank] = self.alone[slot]
        self.sets.add(self.row_set + slot, rank)
        self.room[slot] -= self.procs[rank]
        self.empty[slot] -= self.procs[rank]

    def _note_columns(self, rank: int) -> None:
        """Write the job's columns to the history; the stretches that the job begins from now on refer to them."""
        self.set_at[rank] = -1 - len(self.whole_sets)
        self.whole_sets.append(self.sets.told(rank))

    def _leave_row(self, rank: int, slot: int) -> None:
        """Remove the job from its home row, which is in this slot."""
        self.sets.drop(self.row_set + slot, rank)
        self.room[slot] += self.procs[rank]
        self.empty[slot] += self.procs[rank]
        self.settled = self.apart = 0

    def _leave_replicas(self, rank: int) -> None:
        """Remove the job from all rows but its home row."""
        for slot in range(self.mpl + 1):
            if self.stands[rank] >> slot & 1 and slot != self.home[rank]:
                self._stand_no_more(rank, slot)

    def _stand_too(self, rank: int, slot: int) -> None:
        """Place a replica of the job in the row of this slot."""
        replicas = self.replicas
        self.replica_of[replicas], self.replica_in[replicas] = rank, slot
        self._add_replicas(replicas, replicas + 1)

    def _add_replicas(self, first: int, last: int) -> None:
        """Add the replicas with these indices (from `first` to before `last`) to their rows."""
        replica_of, replica_in, stands, rows_of = self.replica_of, self.replica_in, self.stands, self.rows_of
        for index in range(first, last):
            rank, slot = replica_of[index], replica_in[index]
            stands[rank] |= 1 << slot
            rows_of[rank] += self.alone[slot]
            self.empty[slot] -= self.procs[rank]
        self.replicas = last
        if first < last:
            self.copies += last - first
            self.settled = 0

    def _stand_no_more(self, rank: int, slot: int) -> None:
        """Remove the job's replica in the row of this slot. It must be the replica that was added last, unless the job
        has ended.
        """
        self.copies -= 1
        self.stands[rank] ^= 1 << slot
        self.rows_of[rank] = self.rows_of[rank][:-1]
        self.empty[slot] += self.procs[rank]
        self.settled = 0

    def _keep_replicas(self, kept: int) -> None:
        """Remove all replicas but the first `kept` in the order of addition."""
        for index in range(self.replicas - 1, kept - 1, -1):
            if self.stands[self.replica_of[index]] >> self.replica_in[index] & 1:
                self._stand_no_more(self.replica_of[index], self.replica_in[index])
        self.replicas = kept

    def _next_row(self) -> int:
        """Return the id that the next opened row gets: the lowest one that no present or recently removed row has."""
        row = 1
        while row in self.gone or self._slot_of(row) >= 0:
            row += 1
        return row

    def _find_spare(self) -> None:
        """Find the slot and the id for the next row to be opened; the slot is -1 if no more row is allowed."""
        self.spare = -1
        if self.rows < self.mpl:
            self.spare = 0
            while self.is_row[self.spare]:
                self.spare += 1
            self.id_of[self.spare] = self._next_row()

    def _add_row(self, slot: int) -> None:
        """Add the row in this slot, which has an id, behind the last one."""
        insert_number(self.order, self.rows, self.rows, slot)
        self.rows += 1
        self._name(slot, self.id_of[slot])
        self.ids += self.alone[slot]
        self.has_other_rows = True

    def _drop_empty_rows(self) -> None:
        kept = 0
        for index in range(self.rows):
            slot = self.order[index]
            if self.room[slot] < self.size:
                self.order[kept] = slot
                kept += 1
            else:
                self.gone.add(self.id_of[slot])
                self.is_row[slot] = 0
        if kept < self.rows:
            self._keep_replicas(0)
            remove_numbers(self.order, self.rows, kept, self.rows - kept)
            self.rows = kept
            self.ids = tuple([self.id_of[self.order[index]] for index in range(kept)])
            self.has_other_rows = True
