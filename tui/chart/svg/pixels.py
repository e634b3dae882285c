"""Pieces that are smaller than a pixel: for each pixel the job that holds most of it, and how full it is.

A chart of a whole year would hold millions of rectangles. What is less than a pixel wide or high is added up here, a
band of columns at a time, and equal pixels are taken together again, so that the file has as many rectangles as can be
told apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tui.chart.svg.frame import Frame
from tui.chart.svg.pieces import Bools, Floats, Ints, Pieces

_BAND = 32
"""Columns of pixels that are added up at once."""


@dataclass(frozen=True)
class Pixels:
    """Rows from the highest processors down, columns from left to right."""

    rank: Ints
    """The job that holds most; -1: none."""
    share: Floats
    """How much of the pixel is held, by all of them together, from 0 to 1."""


class Block(NamedTuple):
    """Equal pixels: which columns, which rows, and of what kind they are."""

    column: int
    row: int
    width: int
    height: int
    kind: int


def is_small(pieces: Pieces, frame: Frame) -> Bools:
    """Which pieces are less than a pixel in width or height?"""
    narrow = pieces.end - pieces.start < frame.seconds
    flat = (pieces.high - pieces.low) * frame.height < frame.procs
    return narrow | flat


def add_up(pieces: Pieces, frame: Frame) -> Pixels:
    """The pieces as pixels."""
    rank = np.full((frame.rows, frame.width), -1, dtype=np.int64)
    share = np.zeros((frame.rows, frame.width))
    left, right = (pieces.start - frame.begin) / frame.seconds, (pieces.end - frame.begin) / frame.seconds
    a_row = np.float64(frame.rows / frame.procs)
    top: Floats = (frame.procs - pieces.high) * a_row
    bottom: Floats = (frame.procs - pieces.low) * a_row
    for first in range(0, frame.width, _BAND):
        last = min(first + _BAND, frame.width)
        seen = (right > first) & (left < last)
        if seen.any():
            begin, end = np.clip(left[seen], first, last), np.clip(right[seen], first, last)
            touched = _cells(begin, end, top[seen], bottom[seen], pieces.rank[seen], frame.width)
            _fill(rank, share, *touched)
    return Pixels(rank, np.minimum(share, 1.0))


def _cells(
    left: Floats, right: Floats, top: Floats, bottom: Floats, rank: Ints, width: int
) -> tuple[Ints, Floats, Ints]:
    """(pixel, how much of it, whose) for every pixel that a piece touches."""
    column, row = np.floor(left).astype(np.int64), np.floor(top + 1e-9).astype(np.int64)
    columns = np.maximum(np.ceil(right).astype(np.int64) - column, 1)
    rows = np.maximum(np.ceil(bottom - 1e-9).astype(np.int64) - row, 1)
    many = columns * rows
    piece = np.repeat(np.arange(len(many)), many)
    place = np.arange(len(piece)) - np.repeat(np.cumsum(many) - many, many)
    x, y = column[piece] + place % columns[piece], row[piece] + place // columns[piece]
    wide = np.minimum(right[piece], x + 1) - np.maximum(left[piece], x)
    high = np.minimum(bottom[piece], y + 1) - np.maximum(top[piece], y)
    held: Floats = np.maximum(wide, 0) * np.maximum(high, 0)
    return y * width + x, held, rank[piece]


def _fill(rank: Ints, share: Floats, cell: Ints, held: Floats, whose: Ints) -> None:
    """Write into each pixel who holds most of it, and how much is held."""
    order = np.lexsort((whose, cell))
    cell, held, whose = cell[order], held[order], whose[order]
    first = np.flatnonzero(np.r_[True, (np.diff(cell) != 0) | (np.diff(whose) != 0)])
    cell, held, whose = cell[first], np.add.reduceat(held, first), whose[first]
    np.add.at(share.reshape(-1), cell, held)
    order = np.lexsort((-whose, held, cell))
    last = np.flatnonzero(np.r_[np.diff(cell[order]) != 0, True])
    rank.reshape(-1)[cell[order][last]] = whose[order][last]


def blocks(kinds: NDArray[np.int64]) -> Iterator[Block]:
    """Equal neighbours taken together, first along the rows, then down the columns; -1 is nothing.

    >>> list(blocks(np.array([[1, 1, -1], [1, 1, 2]])))
    [Block(column=0, row=0, width=2, height=2, kind=1), Block(column=2, row=1, width=1, height=1, kind=2)]
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
        yield Block(int(column[place]), int(row[place]), int(width[place]), high, int(kind[place]))
