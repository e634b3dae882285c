"""What to show of jobs that share processors in time: their turns or, from afar, a row a column, one after the other.

Columns are counted from time 0, so that the same moment shows the same row in every window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.history.history import Past
from sim.history.stretch import Stretch

Ints = NDArray[np.intp]


def are_seen(turn: float | None, column: float) -> bool:
    """Is a column short enough to see turns of so many seconds? None: there are none."""
    return turn is not None and column <= turn


def by_turns(history: Past, stretches: Iterable[Stretch], begin: float, end: float, column: float) -> Iterator[Stretch]:
    """Each turn of those that took turns, where a column is short enough to see them; the others as they are."""
    for stretch in stretches:
        if stretch.rows and are_seen(history.turn_at(stretch.start), column):
            yield from history.turns(stretch, begin, end)
        else:
            yield stretch


def by_columns(stretches: Sequence[Stretch], begin: float, end: float, column: float) -> list[Stretch]:
    """What holds its processors alone, or in its turn, and the others in the columns that show a row of theirs."""
    shared = [stretch for stretch in stretches if stretch.kind == "gang"]
    alone = [stretch for stretch in stretches if stretch.kind != "gang"]
    return alone + list(_interleaved(shared, begin, end, column))


def _interleaved(shared: Sequence[Stretch], begin: float, end: float, column: float) -> Iterator[Stretch]:
    if not shared:
        return
    window = range(floor(begin / column), ceil(end / column))
    lasts = [end if stretch.end is None else min(stretch.end, end) for stretch in shared]
    first = np.array([floor(max(stretch.start, begin) / column) - window.start for stretch in shared])
    last = np.array([ceil(last / column) - window.start for last in lasts])
    shown = rows_on_turn(shared, first, last, window)
    for index, (stretch, until) in enumerate(zip(shared, lasts, strict=True)):
        seen = np.flatnonzero(shown.stands[index, shown.row[first[index] : last[index]]]) + first[index] + window.start
        for start, after in _runs(seen.tolist()):
            begun, ended = max(start * column, stretch.start, begin), min(after * column, until)
            yield stretch.turn(begun, ended, stretch.rows)


class RowsOnTurn(NamedTuple):
    """Which row each column shows: column c shows row c mod n of the n in which somebody stands then."""

    stands: NDArray[np.bool_]
    """[stretch, row]: does it stand there?"""
    present: NDArray[np.bool_]
    """[row, column]: does anybody?"""
    row: Ints
    """column -> the row that is shown"""


def rows_on_turn(stretches: Sequence[Stretch], first: Ints, last: Ints, columns: range) -> RowsOnTurn:
    """Of these columns; each stretch is there from its `first` until its `last`, counted from the first of them."""
    rows = sorted({row for stretch in stretches for row in stretch.rows})
    stands = np.array([[row in stretch.rows for row in rows] for stretch in stretches])
    change = np.zeros((len(rows), len(columns) + 1), np.int32)
    stretch, row = np.nonzero(stands)
    np.add.at(change, (row, first[stretch]), 1)
    np.add.at(change, (row, last[stretch]), -1)
    present = np.cumsum(change[:, :-1], axis=1) > 0
    place = np.cumsum(present, axis=0)
    turn = np.arange(columns.start, columns.stop) % np.maximum(place[-1], 1) + 1
    return RowsOnTurn(stands, present, np.argmax(present & (place == turn), axis=0))


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Neighbours taken together: (first, one after the last).

    >>> list(_runs([1, 2, 3, 7]))
    [(1, 4), (7, 8)]
    """
    first = after = None
    for value in numbers:
        if value != after:
            if first is not None and after is not None:
                yield first, after
            first = value
        after = value + 1
    if first is not None and after is not None:
        yield first, after
