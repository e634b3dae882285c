"""Jobs smaller than a pixel: each pixel shows the job that holds most of it, as opaque as its use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.history.stretch import Stretch
from sim.machine.processors import ranges
from tui.chart import raster
from tui.chart.raster import Raster, Shares, rasterise
from tui.chart.scale import ChartView
from tui.chart.svg.elements import element
from tui.chart.svg.frame import Frame
from tui.look.palette import Look, ink

_PORTION = 32
"""Number of columns of pixels that are processed at once."""
_LEVELS = 5
"""Number of degrees of opacity that pixels can have, by how full they are"""


class Patch(NamedTuple):
    column: int
    row: int
    width: int
    height: int
    kind: int


def split(stretches: Sequence[Stretch], frame: Frame, until: float) -> tuple[list[Stretch], list[Stretch]]:
    """Return stretches to draw as rectangles, and those thinner than a pixel, cut at the left edge and at `until`."""
    large, small, a_pixel, place = [], [], frame.per_pixel, frame.axis.place
    for stretch in stretches:
        start, end = max(stretch.start, frame.begin), until if stretch.end is None else min(stretch.end, until)
        if start < end:
            flat = stretch.processors if place(end) - place(start) < a_pixel else _flat(stretch.processors, frame)
            if thick := stretch.processors & ~flat:
                large.append(stretch._replace(start=start, end=end, processors=thick))
            if flat:
                small.append(stretch._replace(start=start, end=end, processors=flat))
    return large, small


def _flat(processors: int, frame: Frame) -> int:
    if frame.procs <= frame.height:
        return 0
    pieces = [(low, high) for low, high in ranges(processors) if (high + 1 - low) * frame.height < frame.procs]
    return sum((2 << high) - (1 << low) for low, high in pieces)


def add_up(stretches: Sequence[Stretch], frame: Frame) -> Raster:
    """Return stretches as pixels, each with the job that holds most of it."""
    per_pixel, begin, place = frame.per_pixel, frame.first, frame.axis.place
    edges = ChartView(per_pixel, 0, frame.width, frame.rows, 0, frame.procs).edges()
    since = [s._replace(start=place(s.start) - begin, end=place(s.end or 0.0) - begin) for s in stretches]
    start, end = np.array([s.start for s in since]), np.array([s.end for s in since])
    shares, parts = Shares(edges), []
    for first in range(0, frame.width, _PORTION):
        part = raster.Frame(per_pixel, first, min(_PORTION, frame.width - first), edges)
        seen = (start < (first + part.columns) * per_pixel) & (end > first * per_pixel)
        parts.append(rasterise([since[place] for place in np.flatnonzero(seen)], part, inf, shares).pixels)
    return Raster(np.concatenate(parts, axis=1))


def draw_pixels(stretches: Sequence[Stretch], frame: Frame, hues: NDArray[np.uint8], look: Look) -> str:
    """Return stretches thinner than a pixel as SVG: pixels in the colour of the job with most of it."""
    if not stretches:
        return ""
    pixels = add_up(stretches, frame)
    level = np.clip(np.ceil(pixels.used / 255 * _LEVELS).astype(np.int64), 1, _LEVELS)
    is_held = (pixels.rank >= 0) & (pixels.used > 0)
    kinds = np.where(is_held, hues.astype(np.int64)[pixels.rank] * (_LEVELS + 1) + level, -1)
    drawn = []
    for kind, same in groupby(sorted(patches(kinds), key=lambda patch: patch.kind), key=lambda patch: patch.kind):
        hue, level_of = divmod(kind, _LEVELS + 1)
        path = "".join(f"M{p.column} {p.row}h{p.width}v{p.height}h-{p.width}z" for p in same)
        drawn.append(element("path", d=path, fill=look.inks[ink(hue)], fill_opacity=level_of / _LEVELS))
    place = f"translate({frame.left} {frame.top}) scale(1 {frame.height / frame.rows:.6g})"
    return element("g", *drawn, transform=place)


def patches(kinds: NDArray[np.int64]) -> Iterator[Patch]:
    """Yield the rectangles (patches) of neighbouring pixels of the same kind, joined along rows first, then along
    columns; pixels of kind -1 are left out.

    >>> list(patches(np.array([[1, 1, -1], [1, 1, 2]])))
    [Patch(column=0, row=0, width=2, height=2, kind=1), Patch(column=2, row=1, width=1, height=1, kind=2)]
    """
    rows, columns = kinds.shape
    edge = np.ones((rows, columns), dtype=bool)
    edge[:, 1:] = kinds[:, 1:] != kinds[:, :-1]
    start = np.flatnonzero(edge)
    width = np.diff(np.r_[start, rows * columns])
    kind = kinds.reshape(-1)[start]
    start, width, kind = start[kind >= 0], width[kind >= 0], kind[kind >= 0]
    row, column = start // columns, start % columns
    order = np.lexsort((row, kind, width, column))
    row, column, width, kind = row[order], column[order], width[order], kind[order]
    new = np.ones(len(row), dtype=bool)
    new[1:] = (np.diff(row) != 1) | (np.diff(column) != 0) | (np.diff(width) != 0) | (np.diff(kind) != 0)
    first = np.flatnonzero(new)
    height = np.diff(np.r_[first, len(row)])
    for place, high in zip(first.tolist(), height.tolist(), strict=True):
        yield Patch(int(column[place]), int(row[place]), int(width[place]), high, int(kind[place]))
