"""Curves drawn with block characters in any number of rows and columns; heights are exact to an eighth of a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TypeVar

from tui.look import text
from tui.look.sheets import Span

T = TypeVar("T")


def area(values: Sequence[float], top: float, rows: int, unicode: bool = True) -> list[str]:
    """Return a curve as `rows` lines, filled from 0 up to each value. A value of `top` fills all rows, and each value
    above 0 is visible.

    >>> area([0, 2, 4, 8], 8, 2)
    ['   █', ' ▄██']
    """
    lines = []
    for row in reversed(range(rows)):
        shares = [min(max(value / top * rows - row, 0.0), 1.0) if top > 0 else 0.0 for value in values]
        if not row:
            shares = [max(share, 0.01) if value > 0 else 0.0 for share, value in zip(shares, values, strict=True)]
        lines.append(text.sparkline([*shares, 1.0], unicode)[:-1])
    return lines


def resampled(values: Sequence[T], columns: int) -> list[T]:
    return [values[column * len(values) // columns] for column in range(columns)] if values else []


def joined(cells: Iterable[tuple[str, str]]) -> list[Span]:
    """Return spans made from (text, style) pairs; neighbouring pairs with the same style become one span."""
    return [Span("".join(c for c, _ in run), style) for style, run in groupby(cells, key=lambda cell: cell[1])]
