"""Picture of the screen as SVG that looks the same in every program: blocks and lines are shapes, letters are text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.color import Color
from rich.segment import Segment
from rich.style import Style

from tui.chart.svg.elements import Rect, element, outline, text
from tui.look.fonts import MONOSPACE, WIDE
from tui.look.palette import Look, mixed
from tui.look.text import cells

_HALF, _THIN = 0.5, 0.09
_Parts = list[tuple[float, float, float, float]]
_LINES: dict[str, _Parts] = {
    "─": [(0, _HALF - _THIN / 4, 1, _THIN / 2)], "━": [(0, _HALF - _THIN / 2, 1, _THIN)],
    "│": [(_HALF - _THIN / 2, 0, _THIN, 1)], "┃": [(_HALF - _THIN, 0, 2 * _THIN, 1)],
    "▀": [(0, 0, 1, 0.5)], "▔": [(0, 0, 1, 0.125)], "▐": [(0.5, 0, 0.5, 1)], "▕": [(0.875, 0, 0.125, 1)],
}  # fmt: skip
_QUARTERS = {
    "▘": "0", "▝": "1", "▖": "2", "▗": "3", "▚": "03", "▞": "12", "▙": "023", "▛": "012", "▜": "013", "▟": "123"
}  # fmt: skip
SHAPES: dict[str, _Parts] = {
    **{sign: [(0, 1 - n / 8, 1, n / 8)] for n, sign in enumerate("▁▂▃▄▅▆▇█", 1)},
    **{sign: [(0, 0, n / 8, 1)] for n, sign in enumerate("▏▎▍▌▋▊▉", 1)},
    **{sign: [(int(n) % 2 / 2, int(n) // 2 / 2, 0.5, 0.5) for n in places] for sign, places in _QUARTERS.items()},
    **_LINES,
}
"""Rectangles that each block character fills, as (x, y, width, height) in shares of its cell"""
SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75}
_DIM = 0.6
_TOGETHER = re.compile(r"[^ ]+(?: [^ ]+)*")


@dataclass(frozen=True)
class Type:
    width: int

    @classmethod
    def of(cls, size: float) -> Type:
        return cls(max(round(size * WIDE), 3))

    @property
    def height(self) -> int:
        return self.width * 2

    @property
    def size(self) -> float:
        return self.width / WIDE


def draw_still(rows: Sequence[Iterable[Segment]], columns: int, look: Look, type_: Type, title: str = "") -> str:
    width, height = columns * type_.width, len(rows) * type_.height
    inside = [
        *([element("title", text(title))] if title else []),
        element("rect", width=width, height=height, fill=look.background),
        *(part for y, row in enumerate(rows) for part in _row(row, y * type_.height, look, type_)),
    ]
    return (
        element(
            "svg", *inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"0 0 {width} {height}", font_family=MONOSPACE, font_size=round(type_.size, 2),
        )
        + "\n"
    )  # fmt: skip


def _row(row: Iterable[Segment], top: int, look: Look, type_: Type) -> Iterator[str]:
    """Yield the SVG elements of a row from `top` pixels on: first all backgrounds, then the letters."""
    runs, x = [], 0
    for words, style, _ in row:
        width = cells(words) * type_.width
        runs.append((words, style or Style.null(), Rect(x, top, width, type_.height)))
        x += width
    for _, style, rect in runs:
        ground = _colours(style, look)[1]
        if ground != look.background:
            yield element("path", d=outline([rect]), fill=ground, shape_rendering="crispEdges")
    for words, style, rect in runs:
        yield from _signs(words, style, rect, look, type_)


def _signs(words: str, style: Style, rect: Rect, look: Look, type_: Type) -> Iterator[str]:
    colour, _ = _colours(style, look)
    x = rect.x
    for kind, group in groupby(words, _kind):
        signs = "".join(group)
        room = cells(signs) * type_.width
        if kind == "shape":
            path = outline(_shape(signs, x, rect.y, type_))
            yield element("path", d=path, fill=colour, shape_rendering="crispEdges")
        elif kind:
            yield element(
                "path", d=outline([Rect(x, rect.y, room, type_.height)]), fill=colour, fill_opacity=SHADES[kind]
            )
        else:
            yield from _letters(signs, x, rect.y, colour, style, type_)
        x += room


def _kind(sign: str) -> str:
    return sign if sign in SHADES else "shape" if sign in SHAPES else ""


def _shape(signs: str, x: float, y: float, type_: Type) -> Iterator[Rect]:
    """Yield block characters' rectangles in whole pixels: a line thinner than a pixel could disappear."""
    for sign in signs:
        for left, top, width, height in SHAPES[sign]:
            begin, across = _snapped(left, width, type_.width)
            above, down = _snapped(top, height, type_.height)
            yield Rect(x + begin, y + above, across, down)
        x += type_.width


def _snapped(begin: float, size: float, pixels: int) -> tuple[int, int]:
    """Return (begin, size) in pixels of a part of a cell. `begin` and `size` are shares of the cell, which has `pixels`
    pixels; the result has at least one pixel.

    >>> _snapped(0.455, 0.09, 10), _snapped(0.5, 0.5, 15), _snapped(0.875, 0.125, 10)
    ((5, 1), (8, 7), (9, 1))
    """
    first = min(round(begin * pixels + 1e-9), pixels - 1)
    return first, max(round((begin + size) * pixels + 1e-9) - first, 1)


def _letters(signs: str, x: float, y: float, colour: str, style: Style, type_: Type) -> Iterator[str]:
    for words in _TOGETHER.finditer(signs):
        yield element(
            "text", text(words[0]), x=x + cells(signs[: words.start()]) * type_.width, y=y + type_.height * 0.74,
            textLength=cells(words[0]) * type_.width, lengthAdjust="spacingAndGlyphs", fill=colour,
            font_weight="bold" if style.bold else None, font_style="italic" if style.italic else None,
            text_decoration="underline" if style.underline else None,
        )  # fmt: skip


def _colours(style: Style, look: Look) -> tuple[str, str]:
    fore, back = _hex(style.color, look.text), _hex(style.bgcolor, look.background)
    if style.reverse:
        fore, back = back, fore
    return mixed(fore, back, _DIM) if style.dim else fore, back


def _hex(colour: Color | None, default: str) -> str:
    return default if colour is None or colour.is_default else colour.get_truecolor().hex
