"""Rows of amounts, one for each step of a plan, in one array with space to spare at both of its ends."""

from __future__ import annotations

from typing import Final, Self

import numpy as np

from sim.workload.shape import Amounts

SPARE: Final = 8
"""Number of unused rows at each end of a new array"""


class Rows:
    """Array whose rows can be repeated and removed at any place; the rows on the shorter side of that place move.

    >>> rows = Rows(np.array([[1], [2]]))
    >>> rows.repeat(1)
    >>> rows.live[1] = 5
    >>> rows.live.tolist()
    [[1], [5], [2]]
    >>> rows.remove(0)
    >>> rows.live.tolist()
    [[5], [2]]
    """

    def __init__(self, rows: Amounts) -> None:
        self._all, self._first, self.live = rows, 0, rows
        """Array with all rows, the index of the first one in use, and the view of those in use"""

    def copy(self) -> Self:
        return type(self)(self.live.copy())

    def repeat(self, at: int) -> None:
        """Insert a copy of the row before the index `at`, which is at least 1, at this index."""
        count = len(self.live)
        if self._first + count == len(self._all) and (self._first == 0 or 2 * at >= count):
            self._make_space()
        every, first = self._all, self._first
        if first and 2 * at < count:
            every[first - 1 : first + at - 1] = every[first : first + at]
            first -= 1
        else:
            every[first + at + 1 : first + count + 1] = every[first + at : first + count]
            every[first + at] = every[first + at - 1]
        self._use(first, count + 1)

    def remove(self, at: int) -> None:
        every, first, count = self._all, self._first, len(self.live)
        if 2 * at < count:
            every[first + 1 : first + at + 1] = every[first : first + at]
            first += 1
        else:
            every[first + at : first + count - 1] = every[first + at + 1 : first + count]
        self._use(first, count - 1)

    def drop(self, many: int) -> None:
        self._use(self._first + many, len(self.live) - many)

    def _use(self, first: int, count: int) -> None:
        self._first, self.live = first, self._all[first : first + count]

    def _make_space(self) -> None:
        """Move the rows in use to the middle of a new array."""
        count = len(self.live)
        spare = count // 2 + SPARE
        every = np.empty((count + 2 * spare, *self.live.shape[1:]), self.live.dtype)
        every[spare : spare + count] = self.live
        self._all = every
        self._use(spare, count)
