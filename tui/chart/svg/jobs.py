"""Jobs as they are drawn: blocks with their names, the plan, and what is less than a pixel."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from math import isnan
from typing import NamedTuple

import numpy as np

from sim.words import clock, name, processors
from tui.chart.svg.elements import Rect, element, outline, text
from tui.chart.svg.frame import Frame
from tui.chart.svg.pieces import SOLID, SPECULATIVE, SWITCHING, TRAIL, Pieces
from tui.chart.svg.pixels import add_up, blocks
from tui.chart.svg.subject import Subject
from tui.look.palette import Look, Tone, ink

_DETAIL = 3000
"""Of so many jobs each is an element of its own, which says what it is when the pointer rests on it."""
_LEVELS = 5
"""How many degrees of fullness the pixels have."""
_OVER = {SPECULATIVE: "url(#speculative)", SWITCHING: "url(#switching)"}


class Block(NamedTuple):
    """A job's rectangles of one look."""

    rank: int
    texture: int
    rects: tuple[Rect, ...]

    @property
    def largest(self) -> Rect:
        return max(self.rects, key=lambda rect: rect.width * rect.height)


def draw_pixels(pieces: Pieces, frame: Frame, subject: Subject, look: Look) -> str:
    """What is less than a pixel: the colour of the job that holds most of it, as solid as it is full."""
    if not len(pieces):
        return ""
    pixels = add_up(pieces, frame)
    level = np.clip(np.ceil(pixels.share * _LEVELS).astype(np.int64), 1, _LEVELS)
    kinds = np.where(pixels.rank >= 0, subject.hues.astype(np.int64)[pixels.rank] * (_LEVELS + 1) + level, -1)
    ordered = sorted(blocks(kinds), key=lambda block: block.kind)
    drawn = []
    for kind, same in groupby(ordered, key=lambda block: block.kind):
        hue, level_of = divmod(kind, _LEVELS + 1)
        path = "".join(f"M{b.column} {b.row}h{b.width}v{b.height}h-{b.width}z" for b in same)
        drawn.append(element("path", d=path, fill=look.inks[ink(hue)], fill_opacity=level_of / _LEVELS))
    place = f"translate({frame.left} {frame.top}) scale(1 {frame.height / frame.rows:.6g})"
    return element("g", *drawn, transform=place)


def blocks_of(pieces: Pieces, frame: Frame) -> list[Block]:
    """The pieces put together by job and look, in order of rank."""
    found: dict[tuple[int, int], list[Rect]] = {}
    columns = (pieces.rank, pieces.texture, pieces.start, pieces.end, pieces.low, pieces.high)
    for rank, texture, start, end, low, high in zip(*(column.tolist() for column in columns), strict=True):
        found.setdefault((rank, texture), []).append(frame.rect(start, end, low, high))
    return [Block(*key, tuple(rects)) for key, rects in sorted(found.items())]


def draw_blocks(drawn: list[Block], subject: Subject, look: Look) -> str:
    """Jobs that can be seen one by one; of very many only their colours."""
    if len(drawn) > _DETAIL:
        by_hue: dict[tuple[int, int], list[Rect]] = {}
        for block in drawn:
            by_hue.setdefault((int(subject.hues[block.rank]), block.texture), []).extend(block.rects)
        return "".join(_shape(rects, hue, texture, look) for (hue, texture), rects in sorted(by_hue.items()))
    return "".join(
        element(
            "g",
            element("title", text(_told(block.rank, subject))),
            _shape(block.rects, int(subject.hues[block.rank]), block.texture, look, _edge(block.largest)),
        )
        for block in drawn
    )


def _shape(rects: Iterable[Rect], hue: int, texture: int, look: Look, edge: float | None = None) -> str:
    path = outline(rects)
    stroke = None if edge is None else look.surface
    if texture == TRAIL:
        return element("path", d=path, fill=f"url(#trail{hue})")
    fill = look.inks[ink(hue, Tone.FULL if texture == SOLID else Tone.MOST)]
    shape = element("path", d=path, fill=fill, stroke=stroke, stroke_width=edge)
    return shape + element("path", d=path, fill=_OVER[texture]) if texture in _OVER else shape


def _edge(rect: Rect) -> float | None:
    """How wide a gap stands between the block and its neighbours."""
    return 1.0 if min(rect.width, rect.height) >= 5 else None


def _told(rank: int, subject: Subject) -> str:
    job = subject.workload.jobs[rank]
    end = float(subject.chronicle.end[rank])
    said = f"{name(job)}: {processors(job.procs)}, submitted {clock(job.submit)}"
    if isnan(end):
        return said
    return f"{said}, {'killed' if subject.workload.killed[rank] else 'ended'} {clock(end)}"
