"""Overlays on the chart: borders, marks, ends of jobs, names, now, and an arrow to a job out of sight."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from math import isinf
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.support.formatting import clock, clock_near, name, span
from sim.workload.model import Floats
from tui.chart.cells.cells import TEXT_ON, Cells, one_a_cell
from tui.chart.cells.grid import BLANK, Bools, Grid
from tui.chart.cells.labels import Label, place_labels
from tui.chart.cells.partition_lanes import bars, draw_lane_bars, draw_lane_names, draw_memory
from tui.chart.raster import TURN, WAS_KILLED, WAS_SUSPENDED, Texture
from tui.chart.scene import ChartScene
from tui.look.palette import HUES, TONES, Hue, Tone, ink
from tui.look.text import shorten

_MARK, _MARK_ROWS = 16, 3
"""Largest width in columns of a mark's name, and number of rows at the top for such names."""
CellPlace: TypeAlias = tuple[int, int]
Ranks: TypeAlias = NDArray[np.signedinteger]
_PROMISE = 40
"""Largest width in columns of the text at a mark of a reservation."""
_IS_PALE = np.isin(np.arange(HUES * TONES) % TONES, (Tone.QUARTER, Tone.HALF))
"""For each ink: True if a name on it is hard to read."""
_IS_BRIGHT = np.isin(np.arange(HUES * TONES) % TONES, (Tone.MOST, Tone.FULL, Tone.STRONG))
"""For each ink: True if it is so bright that names on it are written in a darker shade of its hue."""


def draw_signs(area: Cells, grid: Grid, planned: float | None) -> None:
    """Draw the overlays, the more important on top; `planned` is the selected job's planned start, or None."""
    draw_lane_bars(area, grid)
    draw_memory(area, grid)
    _draw_borders(area, grid)
    _draw_marks(area, grid)
    _draw_ends(area, grid)
    draw_names_and_now(area, grid)
    draw_lane_names(area, grid)
    _name_marks(area, grid)
    _draw_hole(area, grid)
    _draw_label(area, grid)
    _point_elsewhere(area, grid, planned)


def draw_names_and_now(area: Cells, grid: Grid) -> None:
    """Draw the names of jobs and the line that marks the present time, which even a small picture has."""
    _draw_names(area, grid)
    _draw_now(area, grid)


def _draw_borders(area: Cells, grid: Grid) -> None:
    owners = grid.chart.owners
    if owners is None or grid.chart.by_owner is not None:
        return
    rows = grid.stretched(owners, np.full((1, owners.shape[1]), -1, np.int8))
    upper, lower = rows[:: grid.folds], rows[grid.folds - 1 :: grid.folds]
    below = np.zeros(upper.shape, np.bool_)
    below[:-1] = (upper[1:] != lower[:-1]) & (lower[:-1] >= 0)
    whole = area.chars == ord("." if grid.look.ascii else " ")
    for at, sign in ((whole & below, "_" if grid.look.ascii else "▁"), (whole & (upper != lower) & (upper >= 0), "─")):
        area.chars[at] = ord(sign)
        area.fg[at] = ink(Hue.GREY, Tone.MOST)


def _draw_marks(area: Cells, grid: Grid) -> None:
    for mark in grid.chart.marks:
        column = grid.chart.view.column_of(mark.time)
        if not 0 <= column < grid.size.columns:
            continue
        empty = area.chars[:, column] == ord("." if grid.look.ascii else " ")
        area.chars[empty, column] = ord(":" if grid.look.ascii else "┊")
        area.fg[empty, column] = ink(Hue.ACCENT, Tone.FULL)


def _name_marks(area: Cells, grid: Grid) -> None:
    near = clock_near if grid.look.calendar is None else grid.look.calendar.near
    taken = _cells_of(_label_of(grid), (0, 0)) if grid.chart.label else set()
    for mark in grid.chart.marks:
        column, most = grid.chart.view.column_of(mark.time), _PROMISE if mark.kind in ("promise", "window") else _MARK
        told = one_a_cell(f" {shorten(mark.told(near), most)} ")
        is_seen = mark.text != grid.chart.label and 0 <= column < grid.size.columns
        if is_seen and (place := _room_for(told, column, grid, taken, mark.kind == "guess")):
            area.write(*place, told, ink(Hue.ACCENT, Tone.STRONG), BLANK)
            taken |= _cells_of(told, place)


def _room_for(told: str, column: int, grid: Grid, taken: set[CellPlace], near_only: bool) -> CellPlace | None:
    """Return (row, column) for the name of a mark where nothing is `taken`, or None; `near_only`: if need be on now."""
    near, far = (column, column - len(told)), (grid.now + 1, grid.size.columns - len(told))
    for number, begins in enumerate((near, near if near_only else far)):
        for row, at in product(range(min(_MARK_ROWS, grid.size.rows)), begins):
            is_free = (near_only and number) or not at <= grid.now < at + len(told)
            if 0 <= at <= grid.size.columns - len(told) and is_free and not taken & _cells_of(told, (row, at)):
                return row, at
    return None


def _draw_hole(area: Cells, grid: Grid) -> None:
    hole, view, look = grid.chart.hole, grid.chart.view, grid.look
    if hole is None or grid.chart.owners is not None:
        return
    is_open = grid.upper.is_open & grid.lower.is_open & (area.chars == ord("." if look.ascii else " "))
    if look.patterned:
        area.chars[is_open] = ord("'" if look.ascii else "╌")
        area.fg[is_open] = ink(Hue.GREY, Tone.HALF)
    start = view.column_of(hole.until)
    head = name(hole.head)
    extra = (f"{hole.extra:,} extra",) if hole.extra else ()
    for texts, first, last in (
        ((f"may end by {head}'s start", f"free until {head}", f"until {head}"), grid.now + 1, start),
        (extra, start, view.column_of(hole.until + hole.head.estimate)),
    ):
        is_free = is_open[:, max(first, 0) : max(last, 0)]
        for told in (one_a_cell(f" {told} " if look.patterned else told) for told in texts):
            if is_free.shape[1] < len(told) + 2:
                continue
            rows: list[int] = np.flatnonzero(is_free[:, 1 : len(told) + 2].all(axis=1)).tolist()
            if rows:
                area.write(rows[len(rows) // 2], max(first, 0) + 1, told, ink(Hue.ACCENT, Tone.STRONG))
                break


def _cells_of(told: str, place: tuple[int, int]) -> set[tuple[int, int]]:
    row, column = place
    return {(row, at) for at in range(column, column + len(told))}


def _draw_ends(area: Cells, grid: Grid) -> None:
    for ending, sign in (
        (WAS_KILLED, "x" if grid.look.ascii else "×"),
        (WAS_SUSPENDED, "=" if grid.look.ascii else "▮"),
    ):
        upper, lower = ((side.ending & ending > 0) & ~side.mixed for side in (grid.upper, grid.lower))
        at = upper | lower
        if not at.any():
            continue
        if 0 < grid.now < grid.size.columns and (under := at[:, grid.now]).any():  # the line of now would hide it
            at[under, grid.now - 1], at[under, grid.now] = True, False
        area.chars[at] = ord(sign)
        if not grid.look.patterned:
            inks = np.where(upper, grid.upper.ink, grid.lower.ink)[at]
            area.fg[at] = TEXT_ON[inks]
            area.bg[at] = inks


def _draw_names(area: Cells, grid: Grid) -> None:
    up, low = grid.upper, grid.lower
    pale = _IS_PALE[up.ink] & ~up.lit
    is_whole = (up.rank == low.rank) & (up.ink == low.ink) & (up.eighths == 0) & ~up.gone
    alone = np.where(is_whole & ~pale & ~up.mixed & ~low.mixed, up.rank, -1)
    if grid.has_now:
        alone[:, grid.now] = -1
    jobs = grid.chart.workload.jobs
    ahead = up.texture >= Texture.EXPECTED

    def name_of(rank: int) -> str:
        return one_a_cell(name(jobs[rank]))

    labels = place_labels(alone, ahead, name_of)
    if (grid.chart.raster.kind == TURN).any():  # a name may need the cells at its edges
        is_split = (up.rank == low.rank) & (up.eighths == low.eighths) & (up.beside != up.ground)
        unnamed = np.where(is_split, up.rank, alone)
        labels += place_labels(np.where(np.isin(unnamed, [each.rank for each in labels]), -1, unnamed), ahead, name_of)
    labels += piece_labels(grid, alone, labels, name_of)
    labels += block_labels(grid, alone, labels, name_of)
    _write(area, grid, labels)
    _write(area, grid, [*suspension_labels(grid, alone, labels), *rest_labels(grid, alone, labels)])
    draw_callouts(area, grid, labels)
    if grid.chart.shift is not None and len(grid.chart.shift):
        _draw_shifts(area, grid, alone, labels, grid.chart.shift)


def _draw_shifts(area: Cells, grid: Grid, alone: Ranks, labels: Sequence[Label], shift: Floats) -> None:
    """Write after names how much earlier or later jobs start; `shift` is in seconds by rank (infinite: unknown)."""
    for label in labels:
        if by := float(shift[label.rank]):
            at = label.column + len(label.text) + 1
            sign = _shift_sign(by, grid)
            told = sign if isinf(by) else sign + span(abs(by))
            fitting = next((text for text in (told, sign) if _is_room(alone, label, at, len(text))), "")
            fg, bg = (int(inks[label.row, label.column]) for inks in (area.fg, area.bg))
            area.write(label.row, at, fitting, fg, bg)
    rest = np.where((shift[alone] == 0) | np.isin(alone, [label.rank for label in labels]), -1, alone)
    is_ahead = np.zeros(rest.shape, np.bool_)
    _write(area, grid, place_labels(rest, is_ahead, lambda rank: _shift_sign(float(shift[rank]), grid)))


def _is_room(alone: Ranks, label: Label, at: int, length: int) -> bool:
    return bool((alone[label.row, at : at + length] == label.rank).all()) and at + length <= alone.shape[1]


def _shift_sign(by: float, grid: Grid) -> str:
    return "<>"[by > 0] if grid.look.ascii else "◂▸"[by > 0]


def _draw_label(area: Cells, grid: Grid) -> None:
    chart = grid.chart
    if chart.label:
        tones = (Tone.TEXT_STRONG, Tone.STRONG) if chart.is_told else (Tone.STRONG, Tone.QUARTER)
        fg, bg = (ink(chart.label_hue, tone) for tone in tones)
        area.write(0, 0, _label_of(grid), fg, bg)


def _label_of(grid: Grid) -> str:
    sign = "" if not grid.chart.is_told else "> " if grid.look.ascii else "▸ "
    return f" {sign}{shorten(grid.chart.label, _PROMISE)} "


def _write(area: Cells, grid: Grid, labels: Sequence[Label]) -> None:
    if not labels:
        return
    ranks, rows, columns, texts = zip(*labels, strict=True)
    inks = blocks = grid.upper.ink[rows, columns]
    is_selected = np.equal(ranks, -1 if grid.selected is None else grid.selected)
    if grid.look.patterned:
        inks = np.where(is_selected, ink(Hue.ACCENT, Tone.TEXT), ink(Hue.NONE, Tone.TEXT))
    else:
        inks = np.where(_IS_BRIGHT[inks], TEXT_ON[inks], ink(Hue.NONE, Tone.TEXT))
        if grid.dims:
            dimmed = (blocks % TONES == Tone.DIMMED) & ~is_selected
            inks = np.where(dimmed, TEXT_ON[blocks], inks)
    area.write_inside(rows, columns, texts, inks, np.where(grid.look.patterned, BLANK, blocks))


def _draw_now(area: Cells, grid: Grid) -> None:
    if grid.has_now:
        above = 0 if grid.chart.lanes else grid.rows_above // grid.folds
        area.chars[above:, grid.now] = ord("|" if grid.look.ascii else "┃")
        area.fg[above:, grid.now] = ink(Hue.ACCENT, Tone.STRONG)
        if grid.chart.lanes:
            waits = ~np.array([grid.chart.lanes[lane].is_on_turn for lane in grid.lane_of_rows()])
            area.chars[waits, grid.now] = ord(":" if grid.look.ascii else "│")
            area.fg[waits, grid.now] = ink(Hue.ACCENT, Tone.HALF)
        if not grid.look.patterned:
            upper, lower = grid.upper.ink[:, grid.now], grid.lower.ink[:, grid.now]
            ground = grid.upper.ground[:, grid.now]
            is_free = (upper == ground) | (grid.lower.texture[:, grid.now] == Texture.TRAIL)
            if not grid.chart.plan:  # no job continues
                rank = grid.lower.rank[:, grid.now]
                is_free[rank >= 0] |= grid.chart.end[rank[rank >= 0]] <= grid.chart.clock
            area.bg[:, grid.now] = np.where(is_free, ground, lower)


def _point_elsewhere(area: Cells, grid: Grid, planned: float | None) -> None:
    rank, chart = grid.selected, grid.chart
    if rank is None or np.any(grid.upper.rank == rank) or np.any(grid.lower.rank == rank):
        return
    lasts = _lasts(chart, rank, planned)
    if lasts is None:
        return
    moment = clock if grid.look.calendar is None else grid.look.calendar.near(chart.clock)
    told = one_a_cell(f"{name(chart.workload.jobs[rank])} {moment(lasts[0]).rpartition(':')[0]}")
    left, right = "<>" if grid.look.ascii else "◂▸"
    accent = ink(Hue.ACCENT, Tone.STRONG)
    row = 1 if chart.label and grid.size.rows > 1 else 0
    if lasts[1] <= chart.view.start:
        area.write(row, 0, f"{left} {told} ", accent, BLANK)
    elif lasts[0] >= chart.view.end:
        at = max(grid.size.columns - len(told) - 3, 0)
        is_taken = (area.fg[:_MARK_ROWS, at:] == accent).any(axis=1)  # by the name of a mark
        area.write(int(is_taken.argmin()), at, f" {told} {right}", accent, BLANK)


def _lasts(chart: ChartScene, rank: int, planned: float | None) -> tuple[float, float] | None:
    """Return (begin, end) of the job, past or planned; None if it has neither started nor a plan."""
    start, end = float(chart.start[rank]), float(chart.end[rank])
    if start <= chart.clock:
        ahead = max((box.end for box in chart.plan if box.rank == rank), default=chart.clock)
        return start, end if end <= chart.clock else max(ahead, chart.clock)
    return None if planned is None else (planned, planned + chart.workload.jobs[rank].estimate)


# Callouts.

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
    """Yield names for pieces of blocks between suspensions without a label; `alone` has ranks, or -1."""
    up, low = grid.upper, grid.lower
    ended = [side.rank[(side.ending & WAS_SUSPENDED > 0) | (side.texture == Texture.TRAIL)] for side in (up, low)]
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
    """Yield names for blocks without a label of jobs whose processors are apart, if few jobs are visible."""
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
        forms = (f"{sign} suspends {victim}",), (f"suspends {victim}",), ("suspends", victim)
        yield from _lines_below(label, alone, forms)


def rest_labels(grid: Grid, alone: NDArray[np.signedinteger], named: Sequence[Label]) -> Iterator[Label]:
    """Yield `if no suspension` for below a suspended job's planned rest, which holds only without another one."""
    chart = grid.chart
    rests = {
        box.rank: box.start for box in chart.plan if box.kind == "planned" and chart.start[box.rank] <= chart.clock
    }
    for label in named:
        if label.rank in rests and label.column >= chart.view.column_of(rests[label.rank]):
            yield from _lines_below(label, alone, (("if no suspension",), ("if no", "suspension")))


def _lines_below(label: Label, alone: NDArray[np.signedinteger], forms: Sequence[tuple[str, ...]]) -> Sequence[Label]:
    """Return the lines of the first form that fits below the label inside its job's block; empty if none fits."""
    for told in forms:
        lines = [label._replace(row=label.row + 1 + at, text=line) for at, line in enumerate(told)]
        if all(_is_inside(alone, line) for line in lines):
            return lines
    return ()


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
            area.write(row, column, told, ink(Hue.NONE, Tone.TEXT) if grid.look.patterned else ink(hue, Tone.NAME))
            is_free[row, max(column - _BLANK, 0) : column + len(told) + _BLANK] = False


def _place_for_name(is_free: Bools, held: Bools, length: int) -> tuple[int, int] | None:
    rows = np.flatnonzero(held.any(axis=1))
    middle, columns = (rows[0] + rows[-1]) / 2, is_free.shape[1]
    for row in sorted(rows.tolist(), key=lambda row: abs(row - middle)):
        there = np.flatnonzero(held[row])
        for column in (int(there[-1]) + 1 + _BLANK, int(there[0]) - _BLANK - length):
            inside = is_free[row, max(column - _BLANK, 0) : column + length]
            if column >= _BLANK and column + length <= columns and inside.all():
                return row, column
    return None
