"""View of the chart: which part of time and of the machine is visible, and how wide columns are.

A `Camera` holds what the user chose: the width of a column, whether the chart follows now or stays, and which
processors are visible. A `ChartView` is the visible part that follows from these choices, a time and the size of the
screen. Both count time in places (see `tui.chart.axis`): seconds, or events. Columns are counted from place 0, so a
column is the same span of time wherever the chart is scrolled. Drawn columns can therefore be used again.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import floor, inf

from sim.workload.model import Workload
from tui.chart.axis import CLOCK, Axis

LADDER = (
    1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 300, 450, 600, 900, 1200, 1800, 2700, 3600, 5400, 7200, 10800,
    14400, 21600, 32400, 43200, 64800, 86400, 129600, 172800, 259200, 432000, 604800, 864000, 1296000, 1728000, 2592000,
    4320000, 8640000,
)  # fmt: skip
"""Possible widths of a column in seconds; one step of zooming goes to the next width"""
EVENTS = tuple(2.0**power for power in range(-4, 14))
"""Possible widths of a column in events; one step of zooming goes to the next width"""
AN_EVENT = 0.25
"""Width of a column in events before the user zooms."""
NOW_AT = 0.7
"""Position of now in a chart that scrolls with it, as a share of the chart's width."""
PAGE = 0.15, 0.85
"""Shares of the chart's width between which now may move, before the chart jumps by a page."""
_FULL = 2 / 3
"""Smallest share of the height that equal bands must fill; else their heights may differ by a pixel."""
_FIRST_JOBS = 40
"""Number of submissions that are visible in the first view; if they take longer than a day, only a day is."""


@dataclass(frozen=True, slots=True)
class ChartView:
    """Visible part of the chart: `columns` columns of `per_column` places each, from column `first` on, and the
    processors from `low` to before `high`.

    Processors are drawn in bands: one processor per band if there is space, otherwise several. Bands are equally high
    (above 3 rows even, so that they fill whole characters), and the rest of the height is blank at the top. If more
    than a third would be blank, the heights of bands differ by a pixel, and nothing is blank. Nothing is blank either
    if the processors are in another order than by number.
    """

    per_column: float
    first: int
    columns: int
    rows: int
    """Number of rows of pixels: two per row of characters, or one without half blocks"""
    low: int
    high: int
    lanes: int = 1
    """Number of lanes in which the processors are drawn one above the other."""
    stride: int = 0
    """Number of positions per lane, one for each processor and one for the gap; 0 with a single lane."""
    axis: Axis = CLOCK
    cuts: tuple[int, ...] = ()
    """Processors, ascending, at which a new band must begin if bands have several (borders of nodes)."""
    order: Hashable = None
    """Any value that tells orders of the processors apart; None for that of their numbers."""

    @property
    def start(self) -> float:
        return self.time_at(0)

    @property
    def end(self) -> float:
        return self.time_at(self.columns)

    @property
    def seconds(self) -> float:
        """Return the seconds that a column stands for; infinite if columns stand for different lengths of time."""
        return self.axis.seconds(self.per_column)

    def time_at(self, column: float) -> float:
        return self.axis.time((self.first + column) * self.per_column)

    def column_of(self, time: float) -> int:
        """Return the column of a time, from the left edge; it may be outside of the chart."""
        return floor(self.axis.place(time) / self.per_column) - self.first

    def shows(self, time: float) -> bool:
        return 0 <= self.column_of(time) < self.columns

    @property
    def bands(self) -> int:
        return len(self.edges()) - 1

    @property
    def lane_rows(self) -> int:
        """Return the rows of pixels of a lane with its gap."""
        return max(_whole(self.rows // self.lanes), 1)

    def lane_at(self, row: int) -> int:
        return min(max(row - (self.rows - self.lanes * self.lane_rows), 0) // self.lane_rows, self.lanes - 1)

    def band_rows(self) -> tuple[int, ...]:
        """Return the band at each row of pixels from the top; -1 for rows without processors.

        >>> [ChartView(60, 0, 10, 7, 0, procs).band_rows() for procs in (2, 3, 5)]
        [(-1, 0, 0, 0, 1, 1, 1), (-1, 0, 0, 1, 1, 2, 2), (-1, -1, 0, 1, 2, 3, 4)]
        """
        count = self.high - self.low
        if self.lanes == 1:
            bands = len(inner) + 1 if (inner := self._inner_cuts) else count
            return _band_rows(self.rows, bands, _FULL if self.order is None else 1)
        return _lane_rows(self.rows, self.lanes, self.lane_rows, count)

    def edges(self) -> tuple[int, ...]:
        """Return the processors at the edges of bands, from the top: band b begins at edges[b + 1]."""
        if inner := self._inner_cuts:
            units = (self.low, *inner, self.high)
            return tuple(units[edge] for edge in _edges(0, len(units) - 1, min(len(units) - 1, self.rows)))
        if self.lanes == 1:
            return _edges(self.low, self.high, min(self.high - self.low, self.rows))
        bands = min(self.high - self.low, max(self.lane_rows - 1, 1))
        return _lane_edges(self.low, self.high, bands, self.lanes, self.stride)

    @property
    def _inner_cuts(self) -> tuple[int, ...]:
        """Return the visible cuts; none if each processor can have a row of its own."""
        if self.high - self.low <= self.rows:
            return ()
        return tuple(cut for cut in self.cuts if self.low < cut < self.high)

    def processors_at(self, row: int) -> tuple[int, int] | None:
        """Return the lowest and the highest processor at a row of pixels; None if the row has no processors."""
        band = self.band_rows()[row] if 0 <= row < self.rows else -1
        if band < 0:
            return None
        low, last = self.edges()[band + 1], self.edges()[band] - 1
        return (low, last) if self.lanes == 1 else (low % self.stride, last % self.stride)

    def rows_of(self, processor: int) -> range:
        """Return the rows of pixels of the band to which this processor belongs.

        >>> ChartView(60, 0, 10, 4, 0, 8).rows_of(7), ChartView(60, 0, 10, 5, 0, 2).rows_of(0)
        (range(0, 1), range(3, 5))
        """
        upwards, rows = self.edges()[::-1], self.band_rows()
        band = self.bands - 1 - max(bisect_left(upwards, processor + 1) - 1, 0)
        return range(bisect_left(rows, band), bisect_right(rows, band))


@dataclass(frozen=True, slots=True)
class Camera:
    """Choices that determine the visible part; methods return a changed copy, most need `now`."""

    per_column: float
    low: int
    high: int
    columns: int
    rows: int
    follow: bool = True
    first: int = 0
    """First visible column of a camera that does not follow now, or of any page of one that turns pages"""
    begin: float | None = None
    """Place before which nothing is shown while the camera follows now, or None."""
    pages: bool = False
    """True if the camera follows now by turning pages instead of scrolling."""
    by_rows: bool | None = None
    """True for lanes of matrix rows or partitions; None: for partitions, and for rows with turns too short to see."""
    by_event: bool = False
    held: float | None = None
    """Time for the middle of the chart, until `held_on` computes the first column from it"""
    memory: bool = False
    """True if each node has a band above it that shows how much of its memory is in use"""

    @classmethod
    def on(cls, workload: Workload, columns: int, rows: int) -> Camera:
        """Return the first camera: the whole machine, and the first forty submissions but at most a day."""
        camera = cls(1, 0, workload.procs, max(columns, 1), max(rows, 1))
        if not len(workload):
            return camera
        begin = float(workload.submit[0])
        camera = replace(camera, begin=begin)
        if len(workload) <= _FIRST_JOBS:
            work = float((workload.runtime * workload.width).sum()) / workload.procs
            return camera.fitting(begin, max(float((workload.submit + workload.runtime).max()), begin + 1.2 * work))
        come = float(workload.submit[_FIRST_JOBS - 1]) - begin
        return replace(camera, per_column=_rung(min(max(come, 600.0), 86400.0) / (camera.columns * NOW_AT)))

    def view(self, now: float, axis: Axis = CLOCK) -> ChartView:
        """Return the visible part at the time `now`. A camera that follows now scrolls column by column or, with pages,
        jumps by a page when now is near an edge.

        >>> camera = Camera(60, 0, 9, 100, 40).paging(60000)
        >>> [camera.view(60 * minute).first for minute in (1000, 1014, 1015, 1084, 1085, 944)]
        [930, 930, 1000, 1000, 1070, 860]
        """
        first = self.first
        if self.follow:
            at = floor(now / self.per_column)
            first = at - int(self.columns * NOW_AT)
            if self.pages:
                low, high = (int(part * self.columns) for part in PAGE)
                page = max(high - low, 1)
                first = self.first + (at - self.first - low) // page * page
            if self.begin is not None:
                first = max(first, floor(min(self.begin, now) / self.per_column))
        elif self.held is not None:
            first = floor(axis.place(self.held) / self.per_column) - self.columns // 2
        return ChartView(self.per_column, first, self.columns, self.rows, self.low, self.high, axis=axis)

    def spaced(self, by_event: bool, held: float | None) -> Camera:
        """Return the camera with time by event or by the clock; `held` is in the middle, None follows now."""
        same = replace(self, by_event=by_event, follow=held is None, held=held, pages=False)
        return replace(same, per_column=AN_EVENT, begin=0.0) if by_event else same

    def held_on(self, axis: Axis) -> Camera:
        """Return the camera with the time `held` in the middle column, which `axis` determines."""
        return self if self.held is None else replace(self, first=self.view(0, axis).first, held=None)

    @property
    def _ladder(self) -> Sequence[float]:
        return EVENTS if self.by_event else LADDER

    @property
    def seconds(self) -> float:
        """Return the seconds of a column; 0 by event, where they differ."""
        return 0.0 if self.by_event else self.per_column

    def staying(self, now: float) -> Camera:
        return replace(self, follow=False, first=self.view(now).first)

    def following(self) -> Camera:
        return replace(self, follow=True, pages=False)

    def paging(self, now: float) -> Camera:
        """Return a camera that follows now by pages: the chart jumps when now is near the right edge."""
        return replace(self, follow=True, pages=True, first=self.view(now).first)

    def sized(self, columns: int, rows: int) -> Camera:
        return replace(self, columns=max(columns, 1), rows=max(rows, 1))

    # Time

    def panned(self, columns: int, now: float) -> Camera:
        """Return the camera moved `columns` to the right; it does not follow now any more."""
        stays = self.staying(now)
        return replace(stays, first=stays.first + columns)

    def zoomed(self, rungs: int, now: float, at: int | None = None) -> Camera:
        """Return the camera zoomed in by `rungs`. Column `at` (None: now, or the middle) keeps its time."""
        ladder, at_now = self._ladder, self.view(now).column_of(now)
        per_column = ladder[min(max(bisect_left(ladder, self.per_column) - rungs, 0), len(ladder) - 1)]
        if at is None and self.follow:
            closer = replace(self, per_column=per_column)
            return closer if not self.pages else replace(closer, first=floor(now / per_column) - at_now)
        if at is None and 0 <= at_now < self.columns:
            return replace(self, per_column=per_column, follow=False, first=floor(now / per_column) - at_now)
        at = self.columns // 2 if at is None else at
        held = (self.view(now).first + at + 0.5) * self.per_column
        return replace(self, per_column=per_column, follow=False, first=floor(held / per_column) - at)

    def fitting(self, start: float, end: float) -> Camera:
        """Return the camera that shows all from `start` until `end`, with columns as narrow as possible."""
        per_column = _rung((end - start) / max(self.columns - 1, 1), self._ladder)
        return replace(self, per_column=per_column, follow=False, first=floor(start / per_column))

    # Processors

    def reordered(self, has_lanes: bool, can_have_bands: bool) -> Camera:
        """Return the next vertical order: lanes, processors by number, nodes with bands of memory if they can be."""
        bands = can_have_bands and not has_lanes and not self.memory
        return replace(self, by_rows=not has_lanes and not bands, memory=bands)

    def lifted(self, bands: int, procs: int) -> Camera:
        """Return the camera moved up by `bands` bands (down if negative), within the machine."""
        count = self.high - self.low
        by = bands * max(round(count / self.rows), 1)
        low = min(max(self.low + by, 0), procs - count)
        return replace(self, low=low, high=low + count)

    def stretched(self, steps: int, procs: int, at: int | None = None) -> Camera:
        """Return the camera with half as many processors per step (negative: twice); `at` or the middle stays."""
        count = self.high - self.low
        at = (self.low + self.high) // 2 if at is None else at
        wanted = round(count / 2**steps)
        shown = min(max(wanted, min(4, procs)), procs)
        low = at - (at - self.low) * shown // count
        low = min(max(low, 0), procs - shown)
        return replace(self, low=low, high=low + shown)


@lru_cache(16)
def _edges(low: int, high: int, bands: int) -> tuple[int, ...]:
    return tuple(low + (bands - b) * (high - low) // bands for b in range(bands + 1))


@lru_cache(16)
def _lane_edges(low: int, high: int, bands: int, lanes: int, stride: int) -> tuple[int, ...]:
    return tuple(lane * stride + edge for lane in reversed(range(lanes)) for edge in _edges(low, high, bands))


@lru_cache(16)
def _lane_rows(rows: int, lanes: int, each: int, count: int) -> tuple[int, ...]:
    """Return the band at each row of pixels, from the top; -1 for rows without processors. A lane has `each` rows: up
    to `count` bands and, below them, a row for the gap. The gap counts as a band, so its number is left out (2 in the
    example). Rows that are left over are at the top of the lane and of the chart.

    >>> _lane_rows(9, 2, 4, 2)
    (-1, -1, 0, 1, -1, -1, 3, 4, -1)
    """
    bands = min(count, max(each - 1, 1))
    inner = _band_rows(max(each - 1, 1), count)
    made = [-1] * (rows - lanes * each)
    for lane in range(lanes):
        made += [band if band < 0 else band + lane * (bands + 1) for band in inner]
        made += [-1] * (each > 1)
    return tuple(made[:rows])


def _whole(each: int) -> int:
    """Return the rows of pixels that something may have: above 3 even, so that it fills whole characters."""
    return each - each % 2 if each > 3 else each


@lru_cache(16)
def _band_rows(rows: int, count: int, full: float = _FULL) -> tuple[int, ...]:
    each = _whole(rows // count)
    if not full * rows <= each * count:
        return tuple(row * min(rows, count) // rows for row in range(rows))
    return (-1,) * (rows - each * count) + tuple(band for band in range(count) for _ in range(each))


def _rung(per_column: float, ladder: Sequence[float] = LADDER) -> float:
    return next((rung for rung in ladder if rung >= per_column), ladder[-1]) if per_column < inf else ladder[-1]
