"""Where the names of jobs stand: once for each job, in the longest run of cells that are its alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LEAST = 2
"""Cells of the shortest name."""


class Label(NamedTuple):
    """A job's name in the chart."""

    rank: int
    row: int
    column: int
    text: str


class _Run(NamedTuple):
    row: int
    column: int
    length: int
    ahead: bool


def place_labels(ranks: NDArray[np.integer], ahead: NDArray[np.bool_], name: Callable[[int], str]) -> list[Label]:
    """`ranks` says which job fills each cell (-1: none, or not alone), `ahead` whether that is only planned.

    A job that is in the past is named there if its name fits. A name begins with its block, so that it moves with it.
    """
    runs: dict[int, list[_Run]] = {}
    for rank, run in _runs(ranks, ahead):
        runs.setdefault(rank, []).append(run)
    labels = []
    for rank, found in runs.items():
        text = name(rank)
        for margin in (1, 0):  # with a blank on either side, or else without
            fitting = [run for run in found if run.length >= len(text) + 2 * margin]
            if fitting:
                run = _best(fitting)
                labels.append(Label(rank, run.row, run.column + margin, text))
                break
    return labels


def _best(runs: list[_Run]) -> _Run:
    """In the past rather than to come; the longest; of equals the one in the middle."""
    kept = [run for run in runs if not run.ahead] or runs
    longest = max(run.length for run in kept)
    equals = [run for run in kept if run.length == longest]
    return equals[len(equals) // 2]


def _runs(ranks: NDArray[np.integer], ahead: NDArray[np.bool_]) -> list[tuple[int, _Run]]:
    """(rank, run) of the runs of equal cells that are long enough for any name, row by row."""
    rows, columns = ranks.shape
    wall = np.full((rows, 1), -1, np.int64)
    value = np.hstack([np.where(ranks < 0, -1, 2 * ranks.astype(np.int64) + ahead), wall]).reshape(-1)
    starts = np.flatnonzero(np.r_[True, value[1:] != value[:-1]])
    lengths = np.diff(np.r_[starts, len(value)])
    kept = (value[starts] >= 0) & (lengths >= _LEAST)
    found = zip(starts[kept].tolist(), lengths[kept].tolist(), value[starts[kept]].tolist(), strict=True)
    return [(v // 2, _Run(s // (columns + 1), s % (columns + 1), n, bool(v % 2))) for s, n, v in found]
