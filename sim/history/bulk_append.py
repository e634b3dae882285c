"""Bulk extension of a history by the fast loop (the compiled part of the engine). The columns get spare entries, many
steps are written into them, and unused entries are removed.
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
"""Block of zero bytes from which new entries are copied. It is small enough to stay in the processor's cache, which
makes the copying fast
"""
_ALL, _SOME = 1 << 60, 1 << 16
"""Largest number of steps by which a history grows at once: `_ALL` if decisions are kept for the whole run, `_SOME` if
not
"""
_SPARE, _MOST, _MOST_RANGED = 1 << 9, 8, 64
"""Number of spare entries that are added to each column, and largest numbers of decisions and of range numbers expected
for each step
"""


class Capacity(NamedTuple):
    """Counts of steps, stretches, decisions and range numbers: for each kind the number written so far, and the number
    for which there is space (`most_...`).

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
    """Spare entries of a history's columns: `grow` adds them, the caller fills them, `cut` removes unfilled ones."""

    def __init__(self, history: History, jobs: int) -> None:
        self._history = history
        if jobs > len(history._first):
            history._make_room(jobs - len(history._first))
        decided, sets = history._decisions, history._processors
        decided.write()
        self.written = self._before = history.steps, len(history), len(decided), len(sets.ranges)
        """(steps, stretches, decisions, range numbers) written so far. The caller updates `written`; `_before` keeps
        the numbers from before the extension
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
        """Return the largest number of steps by which the history may grow at once. If decisions are not kept, they are
        dropped after that many steps.
        """
        return _ALL if self._history._decisions.is_kept else _SOME

    def grow(self, more: int) -> Capacity:
        """Add space for `more` steps; return how many entries are written, and for how many there is space.

        Space is added for half as many stretches as steps, and for as many decisions and range numbers in each step as
        there were on average. A few more entries are always added, so that the next step finds space even if it has
        many decisions.
        """
        decided = self._history._decisions
        if not decided.is_kept:
            decided.write()
            self.written = *self.written[:2], 0, self.written[3]
        made, _, decisions, numbers = (now - before for now, before in zip(self.written, self._before, strict=True))
        a_step = min(max(decisions / max(made, 1), 1), _MOST)
        added = min(max(numbers / max(made, 1), 3), _MOST_RANGED)
        steps, begun, rows, ranged = (count + _SPARE for count in self.written)
        room = steps + more, begun + more // 2, rows + int(a_step * more), ranged + int(added * more)
        for count, part in zip(room, self._parts, strict=True):
            for column in part:
                _fill(column, count, self._nothing.get(id(column), 0))
        _fill(decided.numbers, WIDTH * room[2])
        return Capacity(*(number for both in zip(self.written, room, strict=True) for number in both))

    @property
    def columns(self) -> tuple[memoryview, ...]:
        """Return views of all columns, through which the caller writes values fast. They are valid until the next call
        of `grow`.
        """
        return tuple(map(memoryview, self._columns))

    @property
    def whole_sets(self) -> list[int]:
        """Return the list of those sets of processors that are stored as integers (bits); the caller appends further
        such sets.
        """
        return self._history._processors._sets

    @property
    def boundaries(self) -> tuple[list[tuple[float, tuple[int, ...]]], array[int]]:
        """Return two lists, to each of which the caller appends an entry when partitions change: (time, processors of
        each partition) to the first, the number of the step to the second.
        """
        return self._history._boundaries, self._history._boundary_step

    @property
    def kinds(self) -> bytearray:
        """Return the column with the kind of each stretch. For a new stretch the caller must write the kind, unless it
        is 0 (an ordinary run).
        """
        return self._history._kind

    @property
    def rows(self) -> dict[int, tuple[int, ...]]:
        """Return the mapping from the number of each stretch in the matrix to the rows that hold its job; the caller
        adds new stretches.
        """
        return self._history._rows

    @property
    def kept(self) -> list[Decision]:
        """Return the list of those decisions that are stored as objects because they do not fit the compact storage;
        the caller adds new ones.
        """
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
    """Extend the column to at least `count` entries; each new entry has the value `nothing`."""
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
