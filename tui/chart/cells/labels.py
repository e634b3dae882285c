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
    names: dict[int, str] = {}
    runs: dict[int, list[_Run]] = {}
    for rank, run in _runs(ranks, ahead, names, name):
        runs.setdefault(rank, []).append(run)
    labels, tight = [], set[tuple[int, int]]()
    for rank, found in runs.items():
        text = names[rank]
        if roomy := [run for run in found if run.length >= len(text) + 2]:
            run = _best(roomy)
            labels.append(Label(rank, run.row, run.column + 1, text))
            continue
        # Without a blank on either side; but two such names must not touch.
        close = [run for run in found if run.length >= len(text) and not _touches(run, len(text), tight)]
        if close:
            run = _best(close)
            labels.append(Label(rank, run.row, run.column, text))
            tight |= {(run.row, run.column), (run.row, run.column + len(text) - 1)}
    return labels


def _touches(run: _Run, length: int, tight: set[tuple[int, int]]) -> bool:
    """Would a name that begins with the run stand right beside one whose ends are in these cells?"""
    return (run.row, run.column - 1) in tight or (run.row, run.column + length) in tight


def _best(runs: list[_Run]) -> _Run:
    """In the past rather than to come; the longest; of equals the one in the middle."""
    kept = [run for run in runs if not run.ahead] or runs
    longest = max(run.length for run in kept)
    equals = [run for run in kept if run.length == longest]
    return equals[len(equals) // 2]


def _runs(
    ranks: NDArray[np.integer], ahead: NDArray[np.bool_], names: dict[int, str], name: Callable[[int], str]
) -> list[tuple[int, _Run]]:
    """(rank, run) of the runs of equal cells that are long enough for the job's name, row by row; notes the names."""
    rows, columns = ranks.shape
    wall = np.full((rows, 1), -1, np.int64)
    value = np.hstack([np.where(ranks < 0, -1, 2 * ranks.astype(np.int64) + ahead), wall]).reshape(-1)
    starts = np.flatnonzero(np.r_[True, value[1:] != value[:-1]])
    lengths = np.diff(np.r_[starts, len(value)])
    kept = (value[starts] >= 0) & (lengths >= _LEAST)
    starts, lengths, values = starts[kept], lengths[kept], value[starts[kept]]
    seen, which = np.unique(values // 2, return_inverse=True)
    names |= {rank: name(rank) for rank in seen.tolist()}
    fits = lengths >= np.array([len(names[rank]) for rank in seen.tolist()], np.int64)[which]
    found = zip(starts[fits].tolist(), lengths[fits].tolist(), values[fits].tolist(), strict=True)
    return [(v // 2, _Run(s // (columns + 1), s % (columns + 1), n, bool(v % 2))) for s, n, v in found]
