"""Figure of the Ousterhout matrix at one time: rows take turns, columns are processors."""

from __future__ import annotations

from collections.abc import Iterator

from sim.machine.ousterhout_matrix import Cell, MatrixPicture
from sim.machine.processors import ranges
from sim.support.formatting import clock, name, processors
from tui.chart.scene import Drawing
from tui.chart.svg.elements import Rect, element, number, outline, text, write_in
from tui.chart.svg.legend import textures
from tui.look.palette import Look, Tone, ink

_TOP, _LEFT, _RIGHT, _BOTTOM = 62, 52, 40, 40
_GAP = 4


def draw_matrix(
    matrix: MatrixPicture, on_turn: int | None, chart: Drawing, look: Look, width: int, height: int, fonts: str
) -> str:
    """Return the matrix as SVG: jobs are filled at home and hatched as replicas; row `on_turn` is marked."""
    inner = Rect(_LEFT, _TOP, width - _LEFT - _RIGHT, height - _TOP - _BOTTOM)
    high = min(inner.height / max(len(matrix.rows), 1), inner.height / 4)
    title = f"{chart.workload.name} · {chart.title} · {processors(matrix.procs)}"
    told = f"{clock(chart.clock)} · rows of the matrix take turns; columns are processors; replicas are hatched"
    inside = [
        element("title", text(title), id="title"),
        textures(sorted(set(chart.hues.tolist())), look),
        element("rect", width=width, height=height, fill=look.background),
        element("text", text(title), x=16, y=24, font_size=15, font_weight="bold", fill=look.text),
        element("text", text(told), x=16, y=42, fill=look.dim),
        *(
            part
            for place, (row, cells) in enumerate(matrix.rows)
            for part in _row(
                row, cells, inner._replace(y=inner.y + place * high, height=high), chart, look, row == on_turn
            )
        ),
        *_axis(inner, inner.y + high * len(matrix.rows), matrix.procs, look),
    ]
    if not matrix.rows:
        inside.append(element("text", "The matrix is empty.", x=_LEFT, y=_TOP + 20, fill=look.dim))
    return (
        element(
            "svg", *inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"0 0 {width} {height}", role="img", aria_labelledby="title", font_family=fonts, font_size=11,
        )
        + "\n"
    )  # fmt: skip


def _row(row: int, cells: tuple[Cell, ...], at: Rect, chart: Drawing, look: Look, is_on: bool) -> Iterator[str]:
    colour, middle = look.accent if is_on else look.dim, at.y + at.height / 2 + 4
    yield element("text", f"{row}", x=at.x - 10, y=middle, text_anchor="end", fill=colour)
    ground = at._replace(height=at.height - _GAP)
    yield element("path", d=outline([ground]), fill=look.surface, stroke=look.accent if is_on else None)
    if is_on:
        yield element("text", "◂", x=at.x + at.width + 8, y=middle, fill=look.accent)
    for cell in cells:
        hue, each = int(chart.hues[cell.rank]), at.width / chart.workload.procs
        spans = [(low, high + 1 - low) for low, high in ranges(cell.columns)]
        rects = [Rect(at.x + low * each, ground.y, many * each, ground.height) for low, many in spans]
        path, tone = outline(rects), Tone.FULL if cell.is_home else Tone.HALF
        yield element("path", d=path, fill=look.inks[ink(hue, tone)], stroke=look.background)
        if not cell.is_home:
            yield element("path", d=path, fill="url(#plan)")
        word = name(chart.workload.jobs[cell.rank])
        yield write_in(max(rects, key=lambda rect: rect.area), word, look.inks[ink(hue, Tone.TEXT)])


def _axis(inner: Rect, bottom: float, procs: int, look: Look) -> Iterator[str]:
    for column, anchor in ((0, "start"), (procs - 1, "end")):
        x = inner.x + (inner.width if column else 0)
        yield element("path", d=f"M{number(x)} {number(bottom)}v4", stroke=look.dim)
        yield element("text", f"{column:,}", x=x, y=bottom + 16, text_anchor=anchor, fill=look.dim)
