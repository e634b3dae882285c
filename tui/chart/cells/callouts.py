"""Names next to the blocks of jobs that have no space inside, and names of pieces between suspensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sim.support.formatting import name
from tui.chart.cells.cells import Cells, one_a_cell
from tui.chart.cells.grid import Bools, Grid
from tui.chart.cells.labels import Label, place_labels
from tui.chart.cells.partition_lanes import bars
from tui.chart.raster import WAS_SUSPENDED, Texture
from tui.look.palette import Hue, Tone, ink

_MOST = 24
"""Largest number of jobs whose names are written next to their blocks, and of suspended jobs whose pieces are named."""
_FEW = 20
"""Largest number of visible jobs at which all may have names next to their blocks; else new, selected, planned."""
_SPARSE = 12
"""Largest number of visible jobs at which each block of a job is named, if its processors are not adjacent."""
_NEAR = 3
"""Largest distance in columns of a suspension from the name of its cause; else no text is below the name."""
_BLANK = 1
"""Number of columns between a block and the name next to it."""


def piece_labels(
    grid: Grid, alone: NDArray[np.signedinteger], named: Sequence[Label], name_of: Callable[[int], str]
) -> Iterator[Label]:
    """Yield names for those pieces of suspended jobs in which `named` has no label.

    A piece is a part of a job's block between two suspensions. For each cell, `alone` has the rank of the job that
    alone fills the cell, or -1.
    """
    up, low = grid.upper, grid.lower
    ended = [side.rank[(side.ending == WAS_SUSPENDED) | (side.texture == Texture.TRAIL)] for side in (up, low)]
    ranks = np.unique(np.concatenate(ended))
    for rank in ranks[ranks >= 0][:_MOST].tolist():
        held = [(side.rank == rank) & (side.texture != Texture.TRAIL) for side in (up, low)]
        columns = np.flatnonzero((held[0] | held[1]).any(axis=0) | _is_now(grid))
        if not len(columns):
            continue
        for piece in np.split(columns, np.flatnonzero(np.diff(columns) > 1) + 1):
            if not any(label.rank == rank and piece[0] <= label.column <= piece[-1] for label in named):
                inside = np.full_like(alone, -1)
                inside[:, piece] = np.where(alone[:, piece] == rank, rank, -1)
                yield from place_labels(inside, np.zeros(alone.shape, np.bool_), name_of)


def block_labels(
    grid: Grid, alone: NDArray[np.signedinteger], named: Sequence[Label], name_of: Callable[[int], str]
) -> Iterator[Label]:
    """Yield further names for jobs whose processors are not adjacent, one for each of their blocks without a label in
    `named`, if few jobs are visible.

    For each cell, `alone` has the rank of the job that alone fills the cell, or -1. When two runs are compared, nothing
    is yielded: the job's name is then followed by how much its start differs, which is shown only once.
    """
    ranks = np.unique(np.concatenate([grid.upper.rank, grid.lower.rank], axis=None))
    if np.count_nonzero(ranks >= 0) > _SPARSE or grid.chart.shift is not None:
        return
    for rank in ranks[ranks >= 0].tolist():
        rows = np.flatnonzero((alone == rank).any(axis=1))
        for block in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
            if len(block) and not any(label.rank == rank and label.row in block for label in named):
                inside = np.full_like(alone, -1)
                inside[block] = np.where(alone[block] == rank, rank, -1)
                yield from place_labels(inside, np.zeros(alone.shape, np.bool_), name_of)


def suspension_labels(grid: Grid, alone: NDArray[np.signedinteger], named: Sequence[Label]) -> Iterator[Label]:
    """Yield texts such as `suspends J3` for below the name of the job that J3 was suspended for, where they fit."""
    jobs = grid.chart.workload.jobs
    for suspended in grid.chart.suspensions:
        column, victim = grid.chart.view.column_of(suspended.time), one_a_cell(name(jobs[suspended.victim]))
        near = (label for label in named if label.rank == suspended.by and 0 < label.column - column <= _NEAR)
        if (label := next(near, None)) is None:
            continue
        sign = "=" if grid.look.ascii else "▮"  # the one at the end of the suspended piece
        for told in ((f"{sign} suspends {victim}",), (f"suspends {victim}",), ("suspends", victim)):
            lines = [label._replace(row=label.row + 1 + at, text=line) for at, line in enumerate(told)]
            if all(_is_inside(alone, line) for line in lines):
                yield from lines
                break


def rest_labels(grid: Grid, alone: NDArray[np.signedinteger], named: Sequence[Label]) -> Iterator[Label]:
    """Yield `if no suspension` for below a suspended job's planned rest, which holds only without another one."""
    chart = grid.chart
    rests = {
        box.rank: box.start for box in chart.plan if box.kind == "planned" and chart.start[box.rank] <= chart.clock
    }
    for label in named:
        if label.rank in rests and label.column >= chart.view.column_of(rests[label.rank]):
            for told in (("if no suspension",), ("if no", "suspension")):
                lines = [label._replace(row=label.row + 1 + at, text=line) for at, line in enumerate(told)]
                if all(_is_inside(alone, line) for line in lines):
                    yield from lines
                    break


def _is_inside(alone: NDArray[np.signedinteger], label: Label) -> bool:
    cells = alone[label.row : label.row + 1, label.column : label.column + len(label.text)]
    return cells.shape == (1, len(label.text)) and bool((cells == label.rank).all())


def _is_now(grid: Grid) -> Bools:
    """Return True for the column of now, across which a job's block counts as one piece."""
    return np.asarray(np.arange(grid.size.columns) == grid.now)


def draw_callouts(area: Cells, grid: Grid, named: Sequence[Label]) -> None:
    """Write names next to blocks without a label: of new, selected or planned jobs; of few, all."""
    up, low = grid.upper, grid.lower
    is_free = (up.rank < 0) & (low.rank < 0) & ~bars(area)
    if grid.has_now:
        is_free[:, grid.now] = False
    is_wanted = [side.lit | (side.texture == Texture.PLANNED) for side in (up, low)]
    seen = np.unique(np.concatenate([up.rank, low.rank], axis=None))
    ranks = np.unique(np.concatenate([side.rank[wanted] for side, wanted in zip((up, low), is_wanted, strict=True)]))
    ranks = seen if len(seen) <= _FEW else ranks
    known = {label.rank for label in named}
    jobs = grid.chart.workload.jobs
    for rank in [rank for rank in ranks[ranks >= 0].tolist() if rank not in known][:_MOST]:
        told = one_a_cell(name(jobs[rank]))
        if (place := _place_for_name(is_free, (up.rank == rank) | (low.rank == rank), len(told))) is not None:
            row, column = place
            hue = int(up.hue[up.rank == rank][0] if (up.rank == rank).any() else low.hue[low.rank == rank][0])
            area.write(row, column, told, ink(Hue.NONE if grid.look.patterned else hue, _tone(grid)))
            is_free[row, max(column - _BLANK, 0) : column + len(told) + _BLANK] = False


def _tone(grid: Grid) -> Tone:
    return Tone.TEXT if grid.look.patterned else Tone.NAME


def _place_for_name(is_free: Bools, held: Bools, length: int) -> tuple[int, int] | None:
    """Return (row, column) for a name right of a job's cells (`held`), or else left; None if there is no space."""
    rows = np.flatnonzero(held.any(axis=1))
    middle, columns = (rows[0] + rows[-1]) / 2, is_free.shape[1]
    for row in sorted(rows.tolist(), key=lambda row: abs(row - middle)):
        there = np.flatnonzero(held[row])
        for column in (int(there[-1]) + 1 + _BLANK, int(there[0]) - _BLANK - length):
            inside = is_free[row, max(column - _BLANK, 0) : column + length]
            if column >= _BLANK and column + length <= columns and inside.all():
                return row, column
    return None
