"""Lanes of partitions: processors are ordered by their owner, so that the processors of each partition are next to each
other.

A position is a place in this order, counted from the bottom. Above the processors of each partition some positions stay
without a processor; a bar with the partition's name is drawn there. If partitions change their processors within a
column, all of the column has the order after the last change.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, inf, nextafter
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.history.past import Past
from sim.history.stretch import ENDINGS, MOVED, Stretch
from tui.chart.axis import Axis
from tui.chart.scale import ChartView

Owners: TypeAlias = tuple[int, ...]
_REMEMBERED = 4096
"""Number of sets of processors whose positions are kept, for each order."""
ROOMY = 8
"""Smallest average height of a partition in rows of pixels at which bars are two rows thick, not one."""
_NOBODY = 32767
"""Number in place of a partition for processors without an owner, which sorts them above all others."""


class Order:
    """Order of the processors in the chart, sorted by the partition that owns them. Above the processors of each
    partition, `gap` positions have no processor.

    >>> order = Order((0b0011, 0b1100), (0b0001, 0b1110), 4, 1)
    >>> order.processors.tolist(), bin(order.lifted(0b1001)), order.borders
    ([0, 1, -1, 2, 3, -1], '0b10001', ((2, 3), (5, 6)))
    """

    def __init__(self, owners: Owners, division: Owners, procs: int, gap: int) -> None:
        self.owners = owners
        parts, numbers = max(len(division), 1), np.arange(procs)
        total = procs + gap * parts
        owner = _owner_of_each(owners, procs)
        by = np.lexsort((numbers, _owner_of_each(division, procs), owner)) if owners else numbers
        above = gap * np.minimum(owner[by].astype(np.intp), parts) if owners else 0
        self.places = np.empty(procs, np.intp)
        """Position of each processor, from the bottom"""
        self.places[by] = numbers + above
        self.processors = np.full(total, -1, np.intp)
        """Processor at each position; -1 where there is none"""
        self.processors[self.places] = numbers
        sizes = np.cumsum([owned.bit_count() for owned in owners]).tolist()
        self.borders = tuple((size + gap * at, size + gap * (at + 1)) for at, size in enumerate(sizes))
        """Ranges (first, end) of the positions without a processor above each partition, from the bottom"""
        self._known: dict[int, int] = {}

    def lifted(self, processors: int) -> int:
        """Return the positions of these processors; both sets are integers with a bit for each member."""
        known = self._known.get(processors)
        if known is None:
            size = (len(self.places) + 7) // 8
            packed = np.frombuffer(processors.to_bytes(size, "little"), np.uint8)
            bits = np.unpackbits(packed, bitorder="little", count=len(self.places))
            found = np.zeros(len(self.processors), np.uint8)
            found[self.places] = bits
            known = int.from_bytes(np.packbits(found, bitorder="little").tobytes(), "little")
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[processors] = known
        return known

    def lifted_all(self, sets: Owners) -> Owners:
        return tuple(map(self.lifted, sets))


def _owner_of_each(owners: Owners, procs: int) -> NDArray[np.int16]:
    found, size = np.full(procs, _NOBODY, np.int16), (procs + 7) // 8
    for number, owned in enumerate(owners):
        packed = np.frombuffer(owned.to_bytes(size, "little"), np.uint8)
        found[np.unpackbits(packed, bitorder="little", count=procs).astype(np.bool_)] = number
    return found


@lru_cache(512)
def _order(owners: Owners, division: Owners, procs: int, gap: int) -> Order:
    return Order(owners, division, procs, gap)


class Band(NamedTuple):
    """Lane of a partition at one time: how many processors it owns, has of its own, borrowed or lent."""

    owns: int
    own: int
    borrowed: int
    lent: int
    low: int

    @property
    def told(self) -> tuple[str, ...]:
        """Return texts on how many processors the partition has, owns, borrows and lends, the longest text first.

        >>> Band(22, 10, 12, 0, 0).told, Band(4, 4, 0, 6, 0).told
        (('22 = 10 own + 12 borrowed', '22, 12 borrowed', '22'), ('4 of its 10, 6 lent', '4, 6 lent', '4'))
        """
        parts = f"{self.own:,} of its {self.own + self.lent:,}" if self.lent else f"{self.own:,} own"
        if self.borrowed:
            parts = f"{self.owns:,} = {self.own:,} own + {self.borrowed:,} borrowed"
        lent = f", {self.lent:,} lent" if self.lent else ""
        borrowed = f", {self.borrowed:,} borrowed" if self.borrowed else ""
        return tuple(dict.fromkeys((parts + lent, f"{self.owns:,}{borrowed}{lent}", f"{self.owns:,}")))


class Partitioned(NamedTuple):
    """Processors (bits) of each partition now and at the division, from which the chart's order follows."""

    division: Owners
    now: Owners
    clock: float
    procs: int
    gap: int
    """Number of positions without a processor above each partition, in which its bar is drawn"""
    is_fixed: bool = False
    """True if all columns use the order of `now`; otherwise each that of its time."""

    @property
    def places(self) -> int:
        return self.procs + self.gap * len(self.division)

    def view(self, view: ChartView) -> ChartView:
        """Return the view counted in positions: besides processors it has those of bars."""
        low, high = view.low * self.places // self.procs, -(-view.high * self.places // self.procs)
        return replace(view, low=low, high=high, order=(self.division, self.gap))


class ByOwner:
    """Order of the processors in each column (from 0), which changes when partitions lend."""

    def __init__(
        self, how: Partitioned, history: Past | None, axis: Axis, per_column: float, first: int, columns: int,
        exact: bool = False,
    ) -> None:  # fmt: skip
        """Compute the orders; with `exact` one changes at the very time, else at its column's beginning."""
        changes, since = _divisions_in(how, history, axis, per_column, first, columns)
        begun = since if exact else [axis.time((first + column) * per_column) for column, _ in changes]
        self._times = [-inf, *begun[1:]]
        self.columns = tuple(column for column, _ in changes)
        """Columns from which on a new order of the processors holds, ascending; the first entry is always 0."""
        self.orders = tuple(_order(owners, how.division, how.procs, how.gap) for _, owners in changes)
        self.division = how.division

    def of(self, column: int) -> Order:
        return self.orders[max(bisect_right(self.columns, column) - 1, 0)]

    def runs(self, columns: int) -> Iterator[tuple[slice, Order]]:
        for (first, last), order in zip(pairwise((*self.columns, columns)), self.orders, strict=True):
            yield slice(first, last), order

    def spans(self, begin: float, end: float) -> Iterator[tuple[float, float, Order]]:
        """Yield (begin, end, order) for each part of this time with one order."""
        for (since, until), order in zip(pairwise((*self._times, inf)), self.orders, strict=True):
            if max(since, begin) < min(until, end):
                yield max(since, begin), min(until, end), order

    def spread(self, stretches: Iterable[Stretch]) -> Iterator[Stretch]:
        """Yield each stretch in positions, cut in two where the order changes them."""
        times, orders = self._times, self.orders
        last = len(orders) - 1
        for stretch in stretches:
            start, end = stretch.start, inf if stretch.end is None else stretch.end
            at = max(bisect_right(times, start) - 1, 0)
            while at < last and times[at + 1] < end:
                begun, places = start, orders[at].lifted(stretch.processors)
                at += 1
                start = times[at]
                if places != orders[at].lifted(stretch.processors):
                    yield stretch._replace(start=begun, end=start, processors=places, ended_by=ENDINGS[MOVED])
                else:
                    start = begun
            yield stretch._replace(start=start, processors=orders[at].lifted(stretch.processors))

    def bands(self, order: Order) -> tuple[Band, ...]:
        bands = []
        ends = (0, *(end for _, end in order.borders))
        for owned, home, low in zip(order.owners, self.division, ends, strict=False):
            own = (owned & home).bit_count()
            owns = owned.bit_count()
            bands.append(Band(owns, own, owns - own, home.bit_count() - own, low))
        return tuple(bands)


def gap_of(seen: int, rows: int, parts: int) -> int:
    """Return the number of positions to leave above each partition, so that its bar is visible.

    `seen` processors are drawn in `rows` rows of pixels; a bar is two rows thick, or one if there are few rows.

    >>> gap_of(30, 54, 3), gap_of(430, 60, 3), gap_of(30, 20, 3)
    (2, 16, 2)
    """
    thick = 2 if rows >= ROOMY * parts else 1
    return max(ceil(thick * seen / max(rows - thick * parts, 1)), 1)


def _divisions_in(
    how: Partitioned, history: Past | None, axis: Axis, per_column: float, first: int, columns: int
) -> tuple[list[tuple[int, Owners]], list[float]]:
    """Return (column, owners) for each column in which owners change (and 0), and the times of these changes."""
    if how.is_fixed or history is None:
        return [(0, how.now)], [-inf]
    start, end = (axis.time(at * per_column) for at in (first, first + columns))
    found: dict[int, tuple[float, Owners]] = {}
    known = history.owners_between(start, min(end, nextafter(how.clock, inf)))
    for since, owners in [*known, *([(how.clock, how.now)] if how.clock < end else ())]:
        column = max(floor(axis.place(since) / per_column) - first, 0)
        if column < columns:
            found[column] = since, owners
    changes: list[tuple[int, Owners]] = []
    times = []
    for column, (since, owners) in found.items():
        if not changes or changes[-1][1] != owners:
            changes.append((column, owners))
            times.append(since)
    if not changes or changes[0][0] > 0:
        changes.insert(0, (0, ()))
        times.insert(0, start)
    return changes, times
