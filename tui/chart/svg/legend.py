"""Legend of the picture as SVG: textures, and the meaning of colours and signs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tui.chart.raster import MEANINGS, Texture
from tui.chart.scene import Drawing
from tui.chart.svg.elements import element, number, text
from tui.look.palette import Hue, Look, Tone, ink

_LETTER, _SIGN, _GAP = 6.2, 17, 17
"""Widths in pixels: of a letter, of a sign with the blank behind it, and between two entries."""
_FILLS = {
    Texture.TRIAL: "url(#speculative)",
    Texture.SWITCHING: "url(#switching)",
    Texture.TRAIL: f"url(#trail{Hue.GREY})",
    Texture.REPLICA: "url(#plan)",
    Texture.EXPECTED: "url(#plan)",
    Texture.PLANNED: "url(#plan)",
}


def textures(hues: Iterable[int], look: Look) -> str:
    """Return the SVG patterns of textures; that of suspended jobs once for each of these hues."""
    upon = {"stroke": look.surface, "stroke_width": 1.6}
    patterns = [
        _pattern("plan", 6, element("path", d="M0 3h6", **upon, stroke_opacity=0.55), turn=-45),
        _pattern("speculative", 6, element("path", d="M0 3h6M3 0v6", **upon), turn=45),
        _pattern("borrowed", 9, element("circle", cx=4.5, cy=4.5, r=1.3, fill=look.text, fill_opacity=0.75)),
        _pattern("missing", 8, element("path", d="M1 1l6 6M7 1l-6 6", stroke=look.text, stroke_opacity=0.35)),
        _pattern("useless", 9, element("circle", cx=4.5, cy=4.5, r=1, fill=look.text, fill_opacity=0.45)),
        _pattern("switching", 3, element("path", d="M1.5 0v3", **upon)),
    ]
    for hue in {*hues, int(Hue.GREY)}:
        lines = element("path", d="M0 3h6", stroke=look.inks[ink(hue, Tone.MOST)], stroke_width=1)
        patterns.append(_pattern(f"trail{hue}", 6, lines, turn=-45))
    return element("defs", *patterns)


def _pattern(name: str, size: int, lines: str, turn: int | None = None) -> str:
    rotate = None if turn is None else f"rotate({turn})"
    return element(
        "pattern", lines, id=name, width=size, height=size, patternUnits="userSpaceOnUse", patternTransform=rotate
    )


def draw_legend(
    chart: Drawing, seen: Collection[Texture], is_killed: bool, left: float, right: float, y: float, look: Look
) -> str:
    """Return the legend: textures in `seen`, a cross if a job was killed, and as many colours as fit."""
    drawn, x = [], left
    for sign, word in [*_signs(chart, seen, is_killed, look), *_colours(chart, look)]:
        width = _SIGN + _LETTER * len(word) + _GAP
        if x + width > right:
            break
        drawn.append(element("g", sign, transform=f"translate({number(x)} {number(y)})"))
        drawn.append(element("text", text(word), x=x + _SIGN, y=y, fill=look.dim))
        x += width
    return "".join(drawn)


def _colours(chart: Drawing, look: Look) -> Iterator[tuple[str, str]]:
    for hue, word in chart.legend:
        yield _swatch(look.inks[ink(hue)]), word


def _signs(chart: Drawing, seen: Collection[Texture], is_killed: bool, look: Look) -> Iterator[tuple[str, str]]:
    for texture, word in MEANINGS.items():
        if texture == Texture.EXPECTED and is_killed:
            yield element("path", d="M2-8l8 8m0-8l-8 8", stroke=look.bad, stroke_width=1.6), "killed"
        if texture in seen:
            tone = Tone.PLAN if texture >= Texture.EXPECTED else Tone.HALF if texture == Texture.REPLICA else Tone.FULL
            ground = "" if texture == Texture.TRAIL else _swatch(look.inks[ink(Hue.GREY, tone)])
            edge = {"stroke": look.inks[ink(Hue.GREY)], "stroke_dasharray": "3 2"} if texture == Texture.PLANNED else {}
            yield ground + _swatch(_FILLS[texture], **edge), word
    if chart.useless_spans:
        yield _swatch(look.inks[ink(Hue.GREY, Tone.GROUND)]) + _swatch("url(#useless)"), "free, of no use"
    if chart.division and chart.history.owners_at(chart.clock):
        yield (
            _swatch(look.inks[ink(Hue.GREY, Tone.HALF)]) + _swatch("url(#borrowed)"),
            "borrowed from another partition",
        )


def _swatch(fill: str, **edge: str) -> str:
    return element("rect", y=-9, width=12, height=10, fill=fill, **edge)
