"""Bulk extension of a history: spare entries are added to its columns, many steps are written into them, and the unused
rest is cut off.
"""

from __future__ import annotations

from array import array
from math import inf
from typing import Any, NamedTuple

import numpy as np

from sim.decisions.decisions import Decision
from sim.history.decision_log import WIDTH
from sim.history.history import History
from sim.history.times import NEVER

_ZEROS = bytes(1 << 20)
"""Zeros that are copied into new entries: copies of these stay in the processor's cache, while fresh memory is slow"""
_ALL, _SOME = 1 << 60, 1 << 16
"""Largest number of steps by which a history grows at once: if decisions are kept, and if they are not"""
_SPARE, _MOST = 1 << 9, 8
"""Number of spare entries added to each column, and the most decisions that are expected for each step"""


class Capacity(NamedTuple):
    """Numbers of steps, stretches, decisions and range numbers: either how many are written or how many have space.

    Range numbers are the whole numbers in which `ProcessorSets` stores sets of processors.
    """

    steps: int
    most_steps: int
    begun: int
    most_begun: int
    decided: int
    most_decided: int
    ranged: int
    most_ranged: int


class Extension:
    """Spare entries at the end of a history's columns, added by `grow` and written by index; after `cut` the history
    shows those written.
    """

    def __init__(self, history: History, jobs: int) -> None:
        self._history = history
        if jobs > len(history._first):
            history._make_room(jobs - len(history._first))
        decided, sets = history._decisions, history._processors
        decided.write()
        self.written = self._before = history.steps, len(history), len(decided), len(sets.ranges)
        """Numbers of steps, stretches, decisions and range numbers: written so far, and written before this extension
        """
        by_step: tuple[Any, ...] = (
            history._time, history._free, history._waiting, history._wanted, history._decision_end, history._begun,
        )  # fmt: skip
        by_stretch: tuple[Any, ...] = (
            history._rank, history._start, history._end, history._end_step, history._ended_by, history._next,
            sets.place,
        )  # fmt: skip
        started, done = history._started, history._done
        by_job: tuple[Any, ...] = (history._first, history._last, started.at, started.step, done.at, done.step)
        rows: tuple[Any, ...] = (decided.forms, decided.ranks, decided.heads)
        self._columns = (*by_step, *by_stretch, *by_job, *rows, decided.numbers, sets.ranges)
        self._parts = by_step, (*by_stretch, history._kind), rows, (sets.ranges,)
        self._nothing = {id(history._end): inf, id(history._end_step): NEVER, id(history._next): -1}

    @property
    def most(self) -> int:
        """Return the number of steps after which decisions that are not kept are forgotten."""
        return _ALL if self._history._decisions.is_kept else _SOME

    def grow(self, more: int) -> Capacity:
        """Add space for `more` steps, half as many stretches, and as many decisions as so far for each step; return
        what has space now.

        A few entries are always added, so that the next step finds space even if it has many decisions.
        """
        decided = self._history._decisions
        if not decided.is_kept:
            decided.write()
            self.written = *self.written[:2], 0, self.written[3]
        made, decisions = self.written[0] - self._before[0], self.written[2] - self._before[2]
        a_step = min(max(decisions / made, 1), _MOST) if made else 1
        steps, begun, rows, ranged = (count + _SPARE for count in self.written)
        room = steps + more, begun + more // 2, rows + int(a_step * more), ranged + 3 * more
        for count, part in zip(room, self._parts, strict=True):
            for column in part:
                _fill(column, count, self._nothing.get(id(column), 0))
        _fill(decided.numbers, WIDTH * room[2])
        return Capacity(*(number for both in zip(self.written, room, strict=True) for number in both))

    @property
    def columns(self) -> tuple[memoryview, ...]:
        """Return views of all columns, through which values are written fast; they are valid until the next `grow`."""
        return tuple(map(memoryview, self._columns))

    @property
    def whole_sets(self) -> list[int]:
        """Return the list to which sets of processors are appended that are stored as integers rather than as
        ranges.
        """
        return self._history._processors._sets

    @property
    def boundaries(self) -> tuple[list[tuple[float, tuple[int, ...]]], array[int]]:
        """Return two lists to append to: the partitions' processors whenever they change, and the number of the step of
        each change.
        """
        return self._history._boundaries, self._history._boundary_step

    @property
    def kinds(self) -> bytearray:
        """Return the kind of each new stretch as a number; the caller overwrites it unless the stretch is an ordinary
        stay on processors (0).
        """
        return self._history._kind

    @property
    def rows(self) -> dict[int, tuple[int, ...]]:
        """Return the table of the rows of the matrix that hold each stretch, by number of the stretch."""
        return self._history._rows

    @property
    def kept(self) -> list[Decision]:
        """Return the list of the decisions that are stored as objects, because they have no compact form."""
        return self._history._decisions._kept

    def cut(self) -> None:
        """Remove the unwritten entries from all columns."""
        history = self._history
        for count, part in zip(self.written, self._parts, strict=True):
            for column in part:
                del column[count:]
        del history._decisions.numbers[WIDTH * self.written[2] :]
        history.count()
        history.mark()


def _fill(column: Any, count: int, nothing: float = 0) -> None:
    """Extend the column to at least `count` entries; new entries are `nothing`."""
    first = len(column)
    is_bytes = isinstance(column, bytearray)
    size = (count - first) * (1 if is_bytes else column.itemsize)
    for begin in range(0, size, len(_ZEROS)):
        zeros = memoryview(_ZEROS)[: size - begin]
        if is_bytes:
            column += zeros
        else:
            column.frombytes(zeros)
    if nothing and size > 0:
        np.asarray(column)[first:] = nothing
