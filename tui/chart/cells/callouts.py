"""Names next to blocks of jobs that are too small for them, and names of the pieces of a suspended job."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from sim.formatting import name
from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import Bools, Grid
from tui.chart.cells.labels import Label, place_labels
from tui.chart.cells.partition_lanes import bars
from tui.chart.raster import WAS_SUSPENDED, Texture
from tui.look.palette import Hue, Tone, ink

_MOST = 24
"""Largest number of jobs with a name next to their block, and of pieces with a name."""
_FEW = 20
"""Largest number of visible jobs for which every one gets a name."""
_SPARSE = 12
"""Number of visible jobs up to which each block of a job on separate processors is named."""
_NEAR = 3
"""Number of columns, from the begin of a piece, within which its name must begin."""
_BLANK = 1
"""Number of columns between a block and the name next to it."""


def piece_labels(
    grid: Grid, alone: NDArray[np.signedinteger], named: Sequence[Label], name_of: Callable[[int], str]
) -> Iterator[Label]:
    """Yield names for the pieces of suspended jobs that have none; `alone` has the job that alone fills each cell, or
    -1.
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
    """Yield names for the blocks of a job on separate processors that have none, if few jobs are visible.

    Next to another run a name has the difference of the starts, which is enough once.
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
    """Yield labels below names of pieces: which job was suspended for the job of the piece. Labels that do not fit are
    left out.
    """
    jobs = grid.chart.workload.jobs
    for suspended in grid.chart.suspensions:
        column, victim = grid.chart.view.column_of(suspended.time), name(jobs[suspended.victim])
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
    """Yield labels below names of the planned rests of suspended jobs: that another suspension would move the rest."""
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
    """Return True if one job alone fills all cells of the label."""
    cells = alone[label.row : label.row + 1, label.column : label.column + len(label.text)]
    return cells.shape == (1, len(label.text)) and bool((cells == label.rank).all())


def _is_now(grid: Grid) -> Bools:
    """Return True for each cell in the column of now, whose line does not divide a block."""
    return np.asarray(np.arange(grid.size.columns) == grid.now)


def draw_callouts(area: Cells, grid: Grid, named: Sequence[Label]) -> None:
    """Write names next to blocks without a name inside: of jobs that just started, are selected or planned, or of all
    if few.
    """
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
        told = name(jobs[rank])
        if (place := _beside(is_free, (up.rank == rank) | (low.rank == rank), len(told))) is not None:
            row, column = place
            hue = int(up.hue[up.rank == rank][0] if (up.rank == rank).any() else low.hue[low.rank == rank][0])
            area.write(row, column, told, ink(Hue.NONE if grid.look.patterned else hue, _tone(grid)))
            is_free[row, max(column - _BLANK, 0) : column + len(told) + _BLANK] = False


def _tone(grid: Grid) -> Tone:
    return Tone.TEXT if grid.look.patterned else Tone.NAME


def _beside(is_free: Bools, held: Bools, length: int) -> tuple[int, int] | None:
    """Return row and column for a name of that length right of the block or else left of it; None if there is no
    space.
    """
    rows = np.flatnonzero(held.any(axis=1))
    middle, columns = (rows[0] + rows[-1]) / 2, is_free.shape[1]
    for row in sorted(rows.tolist(), key=lambda row: abs(row - middle)):
        there = np.flatnonzero(held[row])
        for column in (int(there[-1]) + 1 + _BLANK, int(there[0]) - _BLANK - length):
            inside = is_free[row, max(column - _BLANK, 0) : column + length]
            if column >= _BLANK and column + length <= columns and inside.all():
                return row, column
    return None
