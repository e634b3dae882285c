"""Room at the end of a history for who writes many steps at once, by index; what is not used is cut off again."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from math import inf
from typing import Any, NamedTuple

from sim.history.decided import WIDTH
from sim.history.history import History
from sim.history.past import MARK_EVERY
from sim.history.times import NEVER


class Room(NamedTuple):
    """How many steps, stretches, decisions and numbers in ranges are written, and how many there is room for."""

    steps: int
    most_steps: int
    begun: int
    most_begun: int
    decided: int
    most_decided: int
    ranged: int
    most_ranged: int


class Extension:
    """So much room for steps and stretches; nothing of it is seen by who reads the history once `cut` was called."""

    def __init__(self, history: History, jobs: int, more: int) -> None:
        self._history = history
        if jobs > len(history._first):
            history._make_room(jobs - len(history._first))
        decided, sets = history._decisions, history._processors
        decided.write()
        self.room = Room(
            steps := history.steps, steps + more, begun := len(history), begun + more,
            rows := len(decided), rows + 2 * more, ranged := len(sets.ranges), ranged + 4 * more,
        )  # fmt: skip
        self.by_step: tuple[Any, ...] = (
            history._time, history._free, history._waiting, history._wanted, history._decision_end, history._begun,
        )  # fmt: skip
        self.by_stretch: tuple[Any, ...] = (
            history._rank, history._start, history._end, history._end_step, history._ended_by, history._next,
            sets.place,
        )  # fmt: skip
        self.by_job = (
            history._first, history._last, history._started.at, history._started.step,
            history._done.at, history._done.step,
        )  # fmt: skip
        self._rows: tuple[Any, ...] = (decided.forms, decided.ranks, decided.heads)
        _extend(more, *self.by_step, *self.by_stretch, history._kind)
        history._end[begun:] = array("d", [inf]) * more
        history._end_step[begun:] = array("i", [NEVER]) * more
        history._next[begun:] = array("i", [-1]) * more
        _extend(2 * more, *self._rows)
        _extend(2 * more * WIDTH, decided.numbers)
        _extend(4 * more, sets.ranges)

    @property
    def whole_sets(self) -> list[int]:
        """To which sets of processors can be added that are no ranges."""
        return self._history._processors._sets

    @property
    def boundaries(self) -> tuple[list[tuple[float, tuple[int, ...]]], array[int]]:
        """To which can be added what partitions own from a step on."""
        return self._history._boundaries, self._history._boundary_step

    @property
    def columns(self) -> tuple[Any, ...]:
        """All that can be written."""
        history = self._history
        return (
            *self.by_step,
            *self.by_stretch,
            *self.by_job,
            *self._rows,
            history._decisions.numbers,
            history._processors.ranges,
        )

    def cut(self, steps: int, begun: int, decided: int, ranged: int) -> None:
        """So much is written now, counted from the beginning of the history."""
        history = self._history
        _cut(steps, *self.by_step)
        _cut(begun, *self.by_stretch, history._kind)
        _cut(decided, *self._rows)
        _cut(WIDTH * decided, history._decisions.numbers)
        _cut(ranged, history._processors.ranges)
        history.count()
        for stretch in range(len(history._marks) * MARK_EVERY, begun, MARK_EVERY):
            self._mark(stretch)

    def _mark(self, stretch: int) -> None:
        """Which were open, or followed by a pause, when that one began: of those at the last mark, and those since."""
        history, step = self._history, bisect_right(self._history._begun, stretch)
        before = [*history._marks[-1], *range(stretch - MARK_EVERY, stretch)] if stretch else []
        is_open = [i for i in before if history._end_step[i] > step or history._pauses_until(i, stretch)]
        history._marks.append(tuple(is_open))


def _extend(more: int, *columns: Any) -> None:
    for column in columns:
        is_bytes = isinstance(column, bytearray)
        column.extend(bytes(more) if is_bytes else array(column.typecode, bytes(column.itemsize * more)))


def _cut(count: int, *columns: Any) -> None:
    for column in columns:
        del column[count:]
