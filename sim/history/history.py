"""History that the engine writes step by step. It can be cut after any step, so that a branch continues from there."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np
from librt.strings import BytesWriter
from numpy.typing import NDArray

from sim.history.collector import BEGIN, CLOSE, END, Collector
from sim.history.decision_log import A_ROW, DecisionLog
from sim.history.past import MARK_EVERY, Past, Switch
from sim.history.processor_sets import ProcessorSets
from sim.history.stretch import DONE, GANG, KILLED, MOVED, SUSPENDED
from sim.history.times import NEVER, Ints, Times
from sim.machine.ousterhout_matrix import MatrixView
from sim.machine.turns import Turns
from sim.support.errors import SchedscopeError
from sim.support.formatting import clock
from sim.workload.columns import narrow
from sim.workload.model import Job

_A_STEP, _A_STRETCH = 36, 72
"""Approximate memory in bytes for one step, and for one stretch"""
_MOST, _A_JOB = 1 << 29, 1000
"""Largest memory in bytes that a history may take, and additional bytes that are allowed for each job"""


class History(Past):
    """History of one run to which the engine adds each step. The methods for reading are those of `Past`."""

    __slots__ = ("_last", "_new", "_places", "collector")

    def __init__(self, jobs: Sequence[Job] = ()) -> None:
        """Make an empty history of a run with these jobs, by rank."""
        self.collector = Collector()
        """Values of steps that are not yet in the columns. They are moved there when a column is read"""
        self._rank, self._start, self._end = array("i"), array("d"), array("d")
        self._end_step, self._begun, self._waiting, self._wanted = array("i"), array("i"), array("i"), array("l")
        self._ended_by, self._kind, self._processors = bytearray(), bytearray(), ProcessorSets()
        self._marks = []
        self._next, self._first, self._last = array("i"), array("i"), array("i")
        self._started, self._done = Times(), Times()
        self._time, self._free = array("d"), array("d")
        self._decisions, self._decision_end = DecisionLog(jobs, self._processors), array("i")
        self._log()
        self._boundaries, self._boundary_step = [], array("l")
        self._places: dict[int, tuple[int, tuple[int, ...], int]] = {}
        """For each job in the matrix (by rank): its columns as bits, its rows, and the number of its open stretch"""
        self._new: set[int] = set()
        """Ranks of the jobs in the matrix that have not had a turn yet"""
        self._rows = {}
        self._clock_since, self._clocks, self._clock_step = array("d"), [], array("l")
        self._changes, self._lost, self._given_up, self._steps = [], {}, {}, None

    # Written by the engine

    def _log(self) -> None:
        self.collector.rows, self.collector.decided = self._decisions.forms, self._decisions.new

    def write_all(self) -> None:
        """Move everything that was collected into the columns; raise an error if the history exceeds its limit."""
        self._decisions.write()
        self.write()
        self.check_size()

    def write(self) -> None:
        """Move values of stretches and steps from the lists in which they are collected into the columns."""
        collector = self.collector
        begins, ends, closes = map(BytesWriter.getvalue, (collector.begins, collector.ends, collector.closes))
        for writer in (collector.begins, collector.ends, collector.closes):
            writer.truncate(0)
        if begins:
            sets, collector.processors = collector.processors, []
            self._write_begins(np.frombuffer(begins, BEGIN), sets)
        if ends:
            self._end_all(np.frombuffer(ends, END))
        steps = np.frombuffer(closes, CLOSE)
        columns: list[Any] = [self._time, self._waiting, self._wanted, self._decision_end, self._begun, self._free]
        for column, name in zip(columns, CLOSE.fields or (), strict=True):
            _append(column, steps[name])
        self.mark()

    def mark(self) -> None:
        """Store the marks that are due, one for every `MARK_EVERY` stretches; searches by time begin at a mark.

        A mark is a list of numbers of stretches: of the stretches that are open at this point, and of the last stretch
        of each job that is suspended there.
        """
        marks, columns = self._marks, (self._ended_by, self._end_step, self._next)
        if len(marks) * MARK_EVERY >= len(self._start):
            return
        ended_by, end_step, then = map(np.asarray, columns)
        begun = np.asarray(self._begun)
        stretches = np.arange(len(marks) * MARK_EVERY, len(self._start), MARK_EVERY, dtype=begun.dtype)  # no cast
        for stretch, step in zip(stretches.tolist(), begun.searchsorted(stretches, "right"), strict=True):
            last = marks[-1] if stretch else np.arange(0)
            before = np.concatenate((last, np.arange(max(stretch - MARK_EVERY, 0), stretch)))
            is_open = end_step[before] >= step
            if (pauses := ended_by[before] == SUSPENDED).any():
                is_open |= pauses & ~((then[before] >= 0) & (then[before] < stretch))
            marks.append(narrow(before[is_open]))

    def _write_begins(self, begins: NDArray[np.void], sets: list[int]) -> None:
        many, ranks = len(sets), begins["rank"]
        self._make_room_for(int(ranks.max()))
        _append(self._rank, ranks)
        _append(self._start, begins["start"])
        self._end.extend(array("d", [inf]) * many)
        self._end_step.extend(array("i", [NEVER]) * many)
        self._next.extend(array("i", [-1]) * many)
        self._ended_by.extend(bytes(many))
        self._kind.extend(begins["kind"].tobytes())
        self._processors.extend(sets)
        runs = begins[begins["kind"] != GANG]  # for those in the matrix, whose rows take turns, see `share`
        self._started.note_all(runs["rank"], runs["start"], runs["step"])
        self._link(ranks, len(self._start) - many)

    def _link(self, ranks: Ints, number: int) -> None:
        """Link each new stretch (they are numbered from `number` on) to the same job's previous stretch."""
        stretches = number + np.arange(len(ranks))
        first, last, then = map(np.asarray, (self._first, self._last, self._next))
        before = last[ranks]
        last[ranks] = stretches
        if (last[ranks] != stretches).any():  # a job has more than one of these
            np.maximum.at(last, ranks, stretches)
            order = np.argsort(ranks, kind="stable")
            again = np.flatnonzero(np.diff(ranks[order]) == 0)
            before[order[again + 1]] = stretches[order[again]]
        follows = before >= 0
        then[before[follows]] = stretches[follows]
        first[ranks[~follows]] = stretches[~follows]

    def _end_all(self, ends: NDArray[np.void]) -> None:
        for column, name in ((self._end, "end"), (self._ended_by, "ended_by"), (self._end_step, "step")):
            np.asarray(column)[ends["stretch"]] = ends[name]
        done = ends[ends["ended_by"] <= KILLED]
        self._done.note_all(np.asarray(self._rank)[done["stretch"]], done["end"], done["step"])

    def _make_room_for(self, rank: int) -> None:
        if rank >= len(self._last):
            self._make_room(max(rank + 1 - len(self._last), len(self._last)))

    def _make_room(self, more: int) -> None:
        for links in (self._first, self._last):
            links.extend(array("i", [-1]) * more)
        self._started.make_room(more)
        self._done.make_room(more)

    def boundaries(self, now: float, owners: Sequence[int]) -> None:
        step = self.collector.steps
        if self._boundary_step and self._boundary_step[-1] == step:
            self._boundaries.pop()
            self._boundary_step.pop()
        self._boundaries.append((now, tuple(owners)))
        self._boundary_step.append(step)

    def share(self, now: float, turns: Turns, matrix: MatrixView) -> None:
        """Record the clock of the rows, and the columns and rows that each job in the matrix has from now on."""
        self.tick(now, turns, self.collector.steps)
        all_known, started = self._places, self._started_as_written()
        for rank, columns, rows in matrix.placed_otherwise(all_known):
            if (known := all_known.get(rank)) is not None:
                self.collector.finish(known[2], now, MOVED)
            stretch = self.collector.begin(rank, now, columns, GANG)
            self._rows[stretch] = rows
            all_known[rank] = columns, rows, stretch
            if not started.has(rank):
                self._new.add(rank)
        for rank in [rank for rank in self._new if turns.row in self._places[rank][1]]:
            self._make_room_for(rank)
            started.note(rank, now, self.collector.steps)
            self._new.remove(rank)

    def _started_as_written(self) -> Times:
        """Return the column of first starts as it is. Reading `_started`, in contrast, first moves collected values
        into the column.

        First starts of jobs in the matrix are never among the collected values, because `share` writes them directly.
        """
        started: Times = vars(Past)["_started"].__get__(self)
        return started

    def tick(self, now: float, turns: Turns, step: int) -> None:
        """Record the clock of the rows after the step with this number, unless it equals the last one."""
        if self._clocks and self._clocks[-1].is_like(turns):
            return
        self._clock_since.append(now)
        self._clocks.append(turns.copy())
        self._clock_step.append(step)

    def leave_matrix(self, rank: int, now: float, ended_by: int) -> None:
        self.collector.finish(self._places.pop(rank)[2], now, ended_by)
        self._new.discard(rank)

    def mend_free(self, free: float) -> None:
        """Replace the number of free processors after the last step by the average from that step until now."""
        if not self.collector.mend_free(free):
            self._free[-1] = free

    def lose_place(self, rank: int, now: float) -> None:
        """Record that a suspended job waits again, because processors on which it would have resumed went down. If its
        memory was still being written, the end of that stretch records it already.
        """
        self.write()
        if self._ended_by[stretch := self._last[rank]] == SUSPENDED:
            self._lost[stretch] = self.collector.steps, now

    def give_up(self, rank: int) -> None:
        self._given_up[rank] = self.collector.steps

    def forget_decisions(self) -> None:
        """Keep no decisions from now on, for runs of which only the schedule is read."""
        self._decisions.is_kept = self.collector.keeps_decisions = False

    def switch(self, switch: Switch) -> None:
        self.write()
        self._changes.append(switch)

    def open_stretches(self) -> dict[int, int]:
        """Return the number of the open stretch of each job that is on processors or in the matrix, by rank."""
        return {self._rank[stretch]: stretch for stretch in self._open() if self._end[stretch] == inf}

    def _open(self) -> list[int]:
        """Return the numbers of the stretches that are open, or after which the job is still suspended."""
        end, ended_by, then = self._end, self._ended_by, self._next
        known = self._under_way(inf, len(end))
        return [i for i in known if end[i] == inf or (ended_by[i] == SUSPENDED and then[i] < 0)]

    @property
    def size(self) -> int:
        columns = _A_STEP * self.steps + _A_STRETCH * len(self)
        return columns + A_ROW * len(self._decisions) + self._processors.size

    def check_size(self) -> None:
        """Raise an error if the history exceeds its limit, for example if jobs are suspended every second for years."""
        if self.size > _MOST + _A_JOB * len(self._first):
            raise SchedscopeError(
                f"the history is full at {clock(self._time[-1])} ({self.steps:,} steps, {len(self):,} stretches on "
                "processors): raise tick or slice, raise sf, or simulate fewer jobs with --jobs"
            )

    # Cut at another moment

    def until(self, step: int, free: float) -> History:
        """Return a copy of the first `step` steps, to which the run of a new branch can add.

        `free` is the number of processors that are free after these steps.
        """
        cut, begun = History(), self._begun[step - 1] if step else 0
        cut._rank, cut._start, cut._end = self._rank[:begun], self._start[:begun], self._end[:begun]
        cut._end_step, cut._kind = self._end_step[:begun], self._kind[:begun]
        cut._ended_by, cut._processors = self._ended_by[:begun], self._processors.until(begun)
        cut._marks = self._marks[: -(-begun // MARK_EVERY)]
        is_open = np.flatnonzero(np.array(cut._end_step) >= step).tolist()
        for stretch in is_open:
            cut._end[stretch], cut._end_step[stretch], cut._ended_by[stretch] = inf, NEVER, DONE
        cut._rows = {stretch: rows for stretch, rows in self._rows.items() if stretch < begun}
        gangs = [stretch for stretch in is_open if cut._kind[stretch] == GANG]
        cut._places = {cut._rank[s]: (cut._processors[s], cut._rows[s], s) for s in gangs}
        cut._next = array("i", [then if then < begun else -1 for then in self._next[:begun]])
        cut._first = array("i", [first if first < begun else -1 for first in self._first])
        cut._last = array("i", [-1]) * len(self._last)
        for stretch, rank in enumerate(cut._rank):
            cut._last[rank] = stretch
        cut._started, cut._done = self._started.until(step), self._done.until(step)
        cut._new = {rank for rank in cut._places if not cut._started.has(rank)}
        cut._time, cut._free, cut._begun = self._time[:step], self._free[:step], self._begun[:step]
        cut._waiting, cut._wanted = self._waiting[:step], self._wanted[:step]
        cut._decision_end = self._decision_end[:step]
        cut._decisions = self._decisions.until(cut._decision_end[-1] if step else 0, cut._processors)
        cut._log()
        divisions, clocks = bisect_left(self._boundary_step, step), bisect_left(self._clock_step, step)
        cut._boundaries, cut._boundary_step = self._boundaries[:divisions], self._boundary_step[:divisions]
        cut._clock_since, cut._clocks = self._clock_since[:clocks], self._clocks[:clocks]
        cut._clock_step, cut._changes = self._clock_step[:clocks], [c for c in self._changes if c.step <= step]
        cut._lost = {stretch: lost for stretch, lost in self._lost.items() if lost[0] < step}
        cut._given_up = {rank: when for rank, when in self._given_up.items() if when < step}
        if step:
            cut._free[-1] = free
        cut.collector.stretches, cut.collector.steps = begun, step
        return cut


def _append(column: array[Any], values: NDArray[Any]) -> None:
    column.frombytes(values.astype(column.typecode).tobytes())


def _up_to_date(slot: Any) -> Any:
    """Return a property that replaces the column `slot`: before the column is read, the collected values are moved into
    the columns.
    """
    read, keep = slot.__get__, slot.__set__

    def column(history: History) -> Any:
        collector = history.collector
        if len(collector.closes) or len(collector.ends) or len(collector.begins):
            history.write()
        return read(history)

    return property(column, keep)


for _name in (
    "_begun", "_decision_end", "_done", "_end", "_end_step", "_ended_by", "_first", "_free", "_kind", "_next",
    "_processors", "_rank", "_start", "_started", "_time", "_waiting", "_wanted",
):  # fmt: skip
    setattr(History, _name, _up_to_date(getattr(Past, _name)))


# Not kept


class Unwritten(History):
    """History that stores nothing, for an engine that repeats steps already in another history."""

    def __init__(self) -> None:
        super().__init__()
        self.collector.is_written = False

    def _ignored(self, *what: Any, **named: Any) -> None:
        pass

    boundaries = share = leave_matrix = mend_free = lose_place = give_up = switch = _ignored
