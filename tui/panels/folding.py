"""Folding of processors into fewer columns, each of which shows the set with most of its processors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.machine.processors import ranges


class Fold(NamedTuple):
    """Column: index of the set with most of its processors (None if all are free), and if over half of it is free."""

    part: int | None
    thin: bool


def fold(parts: Sequence[int], procs: int, columns: int) -> list[Fold]:
    """Return a `Fold` for each of at most `columns` columns: which of the sets in `parts` (each a set of processors as
    bits) has most of the column's processors.

    With more columns than processors, each processor takes an equal number of columns, and the columns left over stay
    empty.

    >>> [column.part for column in fold([0b0011, 0b0100], 4, 9)]
    [0, 0, 0, 0, 1, 1, None, None]
    >>> fold([0b0011, 0b0100], 4, 2)
    [Fold(part=0, thin=False), Fold(part=1, thin=False)]
    """
    owner = _owner(parts, procs)
    if procs <= columns:
        return [Fold(int(part) if part >= 0 else None, thin=False) for part in np.repeat(owner, columns // procs)]
    column_of = np.arange(procs) * columns // procs
    kinds = len(parts) + 1
    held = np.bincount(column_of * kinds + owner + 1, minlength=columns * kinds).reshape(columns, kinds)
    if not parts:
        return [Fold(None, thin=False)] * columns
    best, free = held[:, 1:].argmax(axis=1), held[:, 0]
    size = held.sum(axis=1)
    return [
        Fold(int(part) if free < size else None, bool(size > free > size / 2))
        for part, free, size in zip(best, free, size, strict=True)
    ]


def drawn_columns(procs: int, columns: int) -> int:
    return columns if procs > columns else columns // procs * procs


def _owner(parts: Sequence[int], procs: int) -> NDArray[np.int64]:
    """Return for each processor the index in `parts` of the set that contains it, or -1."""
    owner = np.full(procs, -1, dtype=np.int64)
    for part, processors in enumerate(parts):
        for low, high in ranges(processors):
            owner[low : high + 1] = part
    return owner
