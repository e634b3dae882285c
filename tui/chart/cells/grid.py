"""Pixels of a chart on a screen, with job and ink (colour) each; a cell has two, one above the other, or one."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from math import inf, nextafter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tui.chart import raster
from tui.chart.colours import partition_hue
from tui.chart.raster import FREE, GANG, NOWHERE, PIXEL, SHOWN, Pixels, Raster, Texture, as_numbers, texture_of
from tui.chart.scale import ChartView
from tui.chart.scene import ChartScene
from tui.look.calendar import Calendar
from tui.look.palette import TONES, Hue, Look, Tone, ink

BLANK = ink(Hue.NONE, 0)
_TONE_OF = np.array([Tone.QUARTER] * 72 + [Tone.HALF] * 72 + [Tone.MOST] * 72 + [Tone.FULL] * 40, np.uint16)
"""Tone (strength of colour) of a pixel; the index is the share of the pixel that jobs use, from 0 to 255."""
_ALL = 255
_PURE = 128
"""Smallest share, in 255ths, of the used part of a pixel that gives it the colour of one job."""
EIGHTHS = 8
_A_DAY = 86400
_FOUND = 4
"""Smallest number of visible pixels of the selected job at which the other jobs are dimmed."""
_TEXTURE_OF = np.array([texture_of(kind) for kind in SHOWN], np.uint8)

Bools = NDArray[np.bool_]
Places: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp]]
"""Rows and columns of some pixels."""


class Size(NamedTuple):
    columns: int
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Layer:
    """Arrays with an entry for each pixel that say what is drawn there."""

    rank: NDArray[np.int32]
    texture: NDArray[np.uint8]
    """Pattern for a kind of time, such as planned or suspended; solid where there is no job"""
    hue: NDArray[np.uint16]
    ink: NDArray[np.uint16]
    ground: NDArray[np.uint16]
    """Background of each pixel: blank, or a weak colour of a partition."""
    is_borrowed: Bools
    """True where the processors of the pixel are borrowed: they belonged to another partition at first."""
    lit: Bools
    """True at pixels of the selected job or, if no job is selected, of the jobs that just started."""
    mixed: Bools
    """True at pixels in which no job has most of the processors."""
    ending: NDArray[np.uint8]
    """Flags: if the job was killed or suspended at this pixel, and if it begins or ends there."""
    eighths: NDArray[np.int8]
    """Eighths of the width that a job fills at its begin or end, from the right if negative; 0 if all."""
    beside: NDArray[np.uint16]
    """Ink of the rest of such a pixel: the background, or another job."""
    missing: Bools
    """True at pixels whose processors are unavailable."""
    gone: Bools
    """True where the job fills under half of the pixel; a cell without parts of pixels shows it free"""
    useless: Bools
    """True for free pixels on nodes whose free cores no waiting job can use"""
    is_open: Bools
    """True at free pixels on which jobs may start before the head of the queue."""

    def every(self, folds: int, offset: int) -> Layer:
        """Return the arrays with only every `folds`-th row, beginning with row `offset`."""
        return Layer(*(getattr(self, column.name)[offset::folds] for column in fields(self)))


class Grid:
    def __init__(self, chart: ChartScene, look: Look, size: Size, selected: int | None) -> None:
        self.chart, self.look, self.size, self.selected = chart, look, size, selected
        self.folds = 1 if look.patterned else 2
        self.dims = False
        """True if enough of the selected job is visible for the other jobs to be dimmed."""
        self.now = chart.view.column_of(chart.clock)
        layer = self._layer()
        self.upper, self.lower = layer.every(self.folds, 0), layer.every(self.folds, self.folds - 1)
        """Pixels of the upper and of the lower half of each cell; the same if a cell has only one"""

    @property
    def has_now(self) -> bool:
        return 0 <= self.now < self.size.columns

    @property
    def rows_above(self) -> int:
        """Return the number of rows of pixels at the top that are above the machine's processors."""
        column = np.stack([self.upper.rank[:, 0], self.lower.rank[:, 0]], axis=1)[:, : self.folds].ravel()
        return int((column != NOWHERE).argmax())

    def lane_of_rows(self) -> list[int]:
        """Return the lane (part of the chart of a matrix row) of each row of cells from the top."""
        view = self.chart.view
        return [view.lane_at(row * view.rows // self.size.rows) for row in range(self.size.rows)]

    def stretched(self, bands: NDArray[Any], blank: NDArray[Any]) -> NDArray[Any]:
        """Return values of each band as values for each row of pixels; rows without processors get `blank`."""
        rows = np.array(self.chart.view.band_rows())
        wanted = self.size.rows * self.folds
        if len(rows) != wanted:
            rows = rows[np.arange(wanted) * len(rows) // wanted]
        found: NDArray[Any] = np.concatenate([bands, blank])[rows, : self.size.columns]
        return found

    def _is_lit(self, rank: NDArray[np.int32]) -> Bools:
        """Return True for the selected job or else new ones; values at free pixels mean nothing."""
        if self.selected is not None and (is_selected := np.equal(rank, self.selected)).any():
            self.dims = not self.look.on_wall and bool(np.count_nonzero(is_selected) >= _FOUND)
            return is_selected
        if self.chart.since is None:
            return np.zeros(rank.shape, np.bool_)
        shown = np.unique(rank)
        return np.isin(rank, [job for job in shown[shown >= 0].tolist() if self.chart.start[job] == self.chart.since])

    def _layer(self) -> Layer:
        chart = self.chart
        blank = Raster.blank(1, chart.view.columns, NOWHERE).pixels
        pixels = self.stretched(as_numbers(chart.raster.pixels), as_numbers(blank)).view(PIXEL)
        rank, kind, purity = (np.ascontiguousarray(pixels[name]) for name in ("rank", "kind", "purity"))
        known = rank >= 0
        used, eighths = self._sharpened(rank, pixels["used"].copy(), purity == _ALL)
        shared, others = self._shared(rank, pixels, used, eighths)
        gone = (eighths != 0) & (np.abs(eighths) < EIGHTHS // 2)
        gone[shared] = False
        mixed, texture = known & (purity < _PURE), np.take(_TEXTURE_OF, kind)
        eighths[(texture != Texture.SOLID) & ((texture != Texture.EXPECTED) | ~(kind == raster.TURN).any())] = 0
        ahead, trail = texture >= Texture.EXPECTED, texture == Texture.TRAIL
        hue = np.where(known, _by_job(chart.hues, rank), np.uint16(Hue.NONE))
        if chart.mode == "job":
            hue[mixed] = Hue.MANY
        lit = known & self._is_lit(rank)
        tone = np.take(_TONE_OF, used)
        tone[trail] = Tone.QUARTER
        is_gang = known & (kind == GANG)
        tone[is_gang] = np.clip(tone[is_gang], Tone.HALF, Tone.MOST)
        tone[ahead] = Tone.PLAN
        if self.dims:
            tone[known & (tone != Tone.PLAN) & (tone != Tone.QUARTER)] = Tone.DIMMED
        tone[lit] = np.where((ahead | trail)[lit], Tone.HALF, Tone.STRONG)
        ground, is_borrowed = self._ground(rank.shape)
        is_open = np.zeros(rank.shape, np.bool_)
        if chart.hole is not None and chart.owners is None:
            is_open = self._open(rank)
            ground[is_open] = ink(Hue.ACCENT, Tone.GROUND)
        inks = np.where(known, hue * TONES + tone, ground).astype(np.uint16, copy=False)
        beside = ground.copy()
        beside[shared] = inks[others]
        missing = np.zeros(rank.shape, np.bool_)
        if chart.missing is not None:
            missing = self.stretched(chart.missing, np.zeros((1, chart.missing.shape[1]), np.bool_)) & ~known
        useless = np.zeros(rank.shape, np.bool_)
        if chart.useless is not None:
            useless = self.stretched(chart.useless, np.zeros((1, chart.useless.shape[1]), np.bool_)) & (rank == FREE)
        columns = rank, texture, hue, inks, ground, is_borrowed, lit, mixed, pixels["ending"], eighths, beside, missing
        return Layer(*columns, gone, useless, is_open)

    def _ground(self, shape: tuple[int, ...]) -> tuple[NDArray[np.uint16], Bools]:
        """Return the ink of each background, and True where the processors are borrowed."""
        owners, homes = self.chart.owners, self.chart.homes
        ground, is_borrowed = np.full(shape, BLANK, np.uint16), np.zeros(shape, np.bool_)
        if self.look.calendar is not None:
            resting = np.array(_resting(self.chart.view, self.look.calendar), np.bool_)[: shape[1]]
            ground[:, : len(resting)][:, resting] = ink(Hue.GREY, Tone.GROUND)
        if owners is None:
            return ground, is_borrowed
        nobody = np.full((1, owners.shape[1]), -1, np.int8)
        owner = tinting = self.stretched(owners, nobody)
        if homes is not None:
            home = self.stretched(homes, nobody)
            is_borrowed = (owner >= 0) & (home >= 0) & (owner != home)
            if self.chart.by_owner is not None:  # the place says which partition has it
                tinting = np.where(home >= 0, home, owner)
        for partition in np.unique(tinting[tinting >= 0]).tolist():
            ground[tinting == partition] = ink(partition_hue(partition), Tone.GROUND)
        return ground, is_borrowed

    def _open(self, rank: NDArray[np.int32]) -> Bools:
        """Return True at free pixels where jobs may start before the head: all until its start, then the extra ones."""
        assert self.chart.hole is not None
        head, until, extra = self.chart.hole
        view, free = self.chart.view, rank == FREE
        start = view.column_of(until)
        end = view.column_of(nextafter(until + head.estimate, -inf)) + 1
        room = np.zeros(rank.shape, np.bool_)
        room[:, max(self.now + 1, 0) : max(start, 0)] = free[:, max(self.now + 1, 0) : max(start, 0)]
        after = start + 1  # in the column in which it starts others still end
        if extra and 0 <= after < rank.shape[1]:
            room[:, after:end] = free[:, after:end] & free[:, after : after + 1]
        return room

    def _sharpened(
        self, rank: NDArray[np.int32], used: NDArray[np.uint8], pure: Bools
    ) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Return the share of each pixel that is used, and the eighths of the pixel's width that a job fills where it
        begins or ends.

        A pixel at the edge of a job gets the share of the next pixel inside the job, so that all of the job has the
        same colour. A pixel at the upper or lower edge of a job keeps its own share if the job fills less than half of
        it.
        """
        eighths = np.zeros(rank.shape, np.int8)
        edges = _edges(rank, used, pure, self.now)
        part = np.rint(EIGHTHS * (used[edges.at] / edges.inside)).astype(np.int8)
        is_part = (part < EIGHTHS) & (edges.at[1] != self.now)
        eighths[edges.at] = np.where(is_part, np.where(edges.ends, part, -part), 0)
        used[edges.at] = edges.inside
        edges = _edges(rank.T, used.T, pure.T)
        half = used.T[edges.at] >= edges.inside / 2
        used.T[edges.at] = np.where(half, edges.inside, used.T[edges.at])
        return used, eighths

    def _shared(
        self, rank: NDArray[np.int32], pixels: Pixels, used: NDArray[np.uint8], eighths: NDArray[np.int8]
    ) -> tuple[Places, Places]:
        """Set the eighths where a job begins or ends next to another in one pixel; return these pixels and, for each,
        the neighbour that shows the other job.
        """
        edge = pixels["ending"] & (raster.BEGINS | raster.ENDS)
        row, column = places((pixels["purity"] < _ALL) & ((edge == raster.BEGINS) | (edge == raster.ENDS)))
        begins = edge[row, column] == raster.BEGINS
        beyond = np.where(begins, column - 1, column + 1)
        held, share = pixels["used"][row, column].astype(int), pixels["purity"][row, column].astype(int)
        part = np.rint(EIGHTHS * held * share / _ALL**2).astype(np.int8)
        is_edge = (part < EIGHTHS) & (2 * share >= _ALL) & (column != self.now) & (not self.look.patterned)
        is_free = held * (_ALL - share) < _ALL * (_ALL - held)  # most of the rest of the pixel
        other = rank[row, np.clip(beyond, 0, rank.shape[1] - 1)]
        is_shared = is_edge & ~is_free & (other >= 0) & (other != rank[row, column])
        is_edge &= is_free | is_shared
        at = row[is_edge], column[is_edge]
        used[at], eighths[at] = _ALL, np.where(begins, -part, part)[is_edge]
        row, column, beyond = row[is_shared], column[is_shared], beyond[is_shared]
        return (row, column), (row, beyond)


@lru_cache(8)
def _resting(view: ChartView, calendar: Calendar) -> tuple[bool, ...]:
    """Return, for each column, True if it is at night or on a weekend, unless columns are too long for that."""
    shows_weekends, shows_nights = view.seconds <= _A_DAY, view.seconds <= _A_DAY / 6
    if not shows_weekends:
        return (False,) * view.columns
    times = (view.time_at(column + 0.5) for column in range(view.columns))
    return tuple(calendar.is_weekend(time) or (shows_nights and calendar.is_night(time)) for time in times)


def _by_job(column: NDArray[Any], rank: NDArray[np.int32]) -> NDArray[Any]:
    return column.take(rank, mode="clip") if len(column) else np.zeros(rank.shape, column.dtype)


class _Edges(NamedTuple):
    """Pixels where a job begins or ends next to free processors, with their rows and columns in `at`."""

    at: Places
    inside: NDArray[np.uint8]
    """For each of these pixels: used share, in 255ths, of the neighbouring pixel inside the job."""
    ends: Bools


def _edges(rank: NDArray[np.int32], used: NDArray[np.uint8], pure: Bools, now: int = -1) -> _Edges:
    """Return where jobs begin and end; the column `now` (-1: none) is an edge: past and plan meet there."""
    row, first = places((used[:, 1:] != used[:, :-1]) & (rank[:, 1:] == rank[:, :-1]))
    ends = used[row, first] > used[row, first + 1]
    at, inside = first + ends, used[row, first + ~ends]
    beyond = np.minimum(np.maximum(np.where(ends, first + 2, first - 1), 0), rank.shape[1] - 1)
    here = rank[row, at]
    is_last = (rank[row, beyond] != here) | (beyond == at)
    is_edge = (here >= 0) & (pure[row, at] & is_last | (at == now))
    return _Edges((row[is_edge], at[is_edge]), inside[is_edge], ends[is_edge])


def places(at: Bools) -> Places:
    """Return the rows and columns of the True entries, faster than numpy if they are few."""
    column_major = at.T.flags.c_contiguous
    major, minor = np.divmod(np.flatnonzero(at.T if column_major else at), at.shape[0 if column_major else 1])
    return (minor, major) if column_major else (major, minor)
