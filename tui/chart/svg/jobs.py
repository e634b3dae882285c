"""Jobs of the picture as SVG: blocks in their colours and textures, with their names."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import NamedTuple

from sim.history.stretch import Stretch
from sim.support.formatting import clock, name, processors
from tui.chart.raster import Texture, texture_of
from tui.chart.scene import Drawing
from tui.chart.svg.elements import Rect, element, outline, text, write_in
from tui.chart.svg.frame import Frame
from tui.look.palette import Look, Tone, ink

_DETAIL = 3000
"""Largest number of blocks that are drawn as elements of their own, with a tooltip each."""
_OVER = {Texture.TRIAL: "url(#speculative)", Texture.SWITCHING: "url(#switching)", Texture.REPLICA: "url(#plan)"}
_TONES = {Texture.SOLID: Tone.FULL, Texture.REPLICA: Tone.HALF}


class Block(NamedTuple):
    rank: int
    texture: Texture
    rects: tuple[Rect, ...]

    @property
    def largest(self) -> Rect:
        return max(self.rects, key=lambda rect: rect.area)


def blocks_of(stretches: Iterable[Stretch], frame: Frame) -> list[Block]:
    """Return a block for each job and texture with all its rectangles, sorted by rank."""
    found: dict[tuple[int, Texture], list[Rect]] = {}
    for stretch in stretches:
        rects = frame.rects(stretch.start, stretch.end or stretch.start, stretch.processors)
        found.setdefault((stretch.rank, texture_of(stretch.kind)), []).extend(rects)
    return [Block(*key, tuple(rects)) for key, rects in sorted(found.items())]


def draw_blocks(drawn: list[Block], chart: Drawing, look: Look) -> str:
    """Return blocks with tooltips as SVG; of more than `_DETAIL`, one element per colour and texture without."""
    if len(drawn) > _DETAIL:
        by_hue: dict[tuple[int, Texture], list[Rect]] = {}
        for block in drawn:
            by_hue.setdefault((int(chart.hues[block.rank]), block.texture), []).extend(block.rects)
        return "".join(_shape(rects, hue, texture, look) for (hue, texture), rects in sorted(by_hue.items()))
    return "".join(
        element(
            "g",
            element("title", text(_tooltip(block.rank, chart, look))),
            _shape(block.rects, int(chart.hues[block.rank]), block.texture, look, _edge(block.largest)),
        )
        for block in drawn
    )


def _shape(rects: Iterable[Rect], hue: int, texture: Texture, look: Look, edge: float | None = None) -> str:
    path = outline(rects)
    stroke = None if edge is None else look.surface
    if texture == Texture.TRAIL:
        return element("path", d=path, fill=f"url(#trail{hue})")
    fill = look.inks[ink(hue, _TONES.get(texture, Tone.MOST))]
    shape = element("path", d=path, fill=fill, stroke=stroke, stroke_width=edge)
    return shape + element("path", d=path, fill=_OVER[texture]) if texture in _OVER else shape


def _edge(rect: Rect) -> float | None:
    """Return the width in pixels of the outline between neighbours; None if too small for one."""
    return 1.0 if min(rect.width, rect.height) >= 5 else None


def _tooltip(rank: int, chart: Drawing, look: Look) -> str:
    at = clock if look.calendar is None else look.calendar.moment
    job = chart.workload.jobs[rank]
    end = float(chart.end[rank])
    said = f"{name(job)}: {processors(job.procs)}, submitted {at(job.submit)}"
    if isnan(end):
        return said
    return f"{said}, {'killed' if chart.workload.killed[rank] else 'ended'} {at(end)}"


def draw_names(drawn: Iterable[Block], chart: Drawing, look: Look) -> str:
    """Return each job's name in its largest rectangle; one that does not fit is left out."""
    largest: dict[int, Rect] = {}
    for block in drawn:
        rects = (*block.rects, largest.get(block.rank, block.largest))
        largest[block.rank] = max(rects, key=lambda rect: rect.area)
    return "".join(
        write_in(rect, name(chart.workload.jobs[rank]), look.inks[ink(int(chart.hues[rank]), Tone.TEXT)])
        for rank, rect in largest.items()
    )
