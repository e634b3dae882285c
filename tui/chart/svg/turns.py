"""What to show of jobs that share processors in time: their turns, or, from afar, all rows interleaved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil, floor

from sim.history.history import Past, Stretch


def shown(history: Past, begin: float, end: float, turn: float | None, column: float) -> list[Stretch]:
    """What ran in a window of time.

    Where rows of the matrix took turns of `turn` seconds (None: they did not) and these are shorter than a column,
    each column shows one of the rows.
    """
    visible = history.between(begin, end)
    if turn is None:
        return visible
    shared = [stretch for stretch in visible if stretch.rows]
    alone = [stretch for stretch in visible if not stretch.rows]
    if turn < column:
        return [*alone, *interleaved(shared, begin, end, column)]
    return [*alone, *(part for stretch in shared for part in history.turns(stretch, begin, end))]


def interleaved(shared: Sequence[Stretch], begin: float, end: float, column: float) -> Iterator[Stretch]:
    """Each column shows one of the rows that hold jobs then, the next column the next.

    Columns are counted from time 0, so that the same moment shows the same row in every window.
    """
    rows: dict[int, set[int]] = {}
    for stretch in shared:
        for place in _columns(stretch, begin, end, column):
            rows.setdefault(place, set()).update(stretch.rows)
    turns = {place: sorted(present)[place % len(present)] for place, present in rows.items()}
    for stretch in shared:
        seen = (place for place in _columns(stretch, begin, end, column) if turns[place] in stretch.rows)
        last = end if stretch.end is None else stretch.end
        for first, after in _runs(seen):
            start, until = max(first * column, stretch.start, begin), min(after * column, last, end)
            yield stretch._replace(start=start, end=until, kind="turn")


def _columns(stretch: Stretch, begin: float, end: float, column: float) -> range:
    """The columns in which the stretch is seen."""
    last = end if stretch.end is None else min(stretch.end, end)
    return range(floor(max(stretch.start, begin) / column), ceil(last / column))


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
