"""Positions of job names inside blocks: one name for each job, in the longest row of cells that the job alone fills."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LEAST = 2
"""Number of cells of the shortest name."""
_BLANKS = 2
"""Number of blanks around a name if there is space: one at each side."""


class Label(NamedTuple):
    """Text about a job, mostly its name, at a position in the chart."""

    rank: int
    row: int
    column: int
    text: str


class _Runs(NamedTuple):
    """Runs (cells in a row with one job) long enough for its name, by job, the best for the name first."""

    row: list[int]
    column: list[int]
    length: list[int]
    key: list[int]
    """Number by which runs are ordered: by job, then how well they suit its name, equal for equally good ones."""
    groups: list[tuple[int, int]]
    """First run of each job and the index after its last, in the order of topmost rows."""


def place_labels(ranks: NDArray[np.integer], ahead: NDArray[np.bool_], name: Callable[[int], str]) -> list[Label]:
    """Return a label for each job with space for its name; `ranks` has the job alone in a cell, or -1."""
    names: dict[int, str] = {}
    runs = _runs(ranks, ahead, names, name)
    labels, tight = [], set[tuple[int, int]]()
    for first, until in runs.groups:
        row, column = runs.row[first], runs.column[first]
        rank = int(ranks[row, column])
        text = names[rank]
        # two names without blanks at both sides must have a gap between them
        is_roomy = runs.length[first] >= len(text) + _BLANKS
        fit: Sequence[int] = range(first, until)
        if not is_roomy:
            fit = [run for run in fit if not _touches(runs, run, len(text), tight)]
        if not fit:
            continue
        equals = bisect_right(fit, runs.key[fit[0]], key=runs.key.__getitem__)
        run = fit[equals // 2]
        row, column = runs.row[run], runs.column[run]
        labels.append(Label(rank, row, column + is_roomy, text))
        if not is_roomy:
            tight |= {(row, column), (row, column + len(text) - 1)}
    return labels


def _touches(runs: _Runs, run: int, length: int, tight: set[tuple[int, int]]) -> bool:
    """Return True if a name at the run's beginning would touch another; `tight` has ends of names without blanks."""
    row, column = runs.row[run], runs.column[run]
    return (row, column - 1) in tight or (row, column + length) in tight


def _runs(
    ranks: NDArray[np.integer], ahead: NDArray[np.bool_], names: dict[int, str], name: Callable[[int], str]
) -> _Runs:
    """Return each job's runs, the best first: with blanks, past before plan, the longest; fill `names`."""
    rows, columns = ranks.shape
    cells = np.full((rows, columns + 1), -1, ranks.dtype)  # a wall behind each row
    np.add(2 * ranks, ahead, out=cells[:, :-1])
    cells = cells.reshape(-1)
    starts = np.concatenate([[0], np.flatnonzero(cells[1:] != cells[:-1]) + 1])
    lengths, values = np.diff(starts, append=len(cells)), cells[starts]
    kept = np.flatnonzero((values >= 0) & (lengths >= _LEAST))
    starts, lengths, values = starts[kept], lengths[kept], values[kept]
    seen, which = np.unique(values // 2, return_inverse=True)
    names |= {rank: name(rank) for rank in seen.tolist()}
    room = lengths - np.array([len(names[rank]) for rank in seen.tolist()], np.int64)[which]
    key = (4 * which + 2 * (room < _BLANKS) + values % 2) * (columns + 1) - lengths
    fits = np.flatnonzero(room >= 0)
    order = fits[np.argsort(key[fits], kind="stable")]
    begins = np.flatnonzero(np.diff(which[order], prepend=-1))
    met = np.minimum.reduceat(order, begins) if len(begins) else begins
    groups = sorted(zip(met.tolist(), begins.tolist(), [*begins[1:].tolist(), len(order)], strict=False))
    row, column = (cell.tolist() for cell in np.divmod(starts[order], columns + 1))
    return _Runs(row, column, lengths[order].tolist(), key[order].tolist(), [group[1:] for group in groups])
