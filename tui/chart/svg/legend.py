"""Textures, which tell apart without colour what colour cannot, and what colours and signs mean."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tui.chart.svg.elements import element, number, text
from tui.chart.svg.pieces import SPECULATIVE, SWITCHING, TRAIL
from tui.chart.svg.subject import Subject
from tui.look.palette import Hue, Look, Tone, ink

_LETTER, _SIGN, _GAP = 6.2, 17, 17
"""Pixels: about a letter, a sign with the blank behind it, between two entries."""
_MEANINGS = {
    SPECULATIVE: ("url(#speculative)", "speculative run"),
    SWITCHING: ("url(#switching)", "being suspended or resumed"),
    TRAIL: (f"url(#trail{Hue.GREY})", "suspended"),
}


def textures(hues: Iterable[int], look: Look) -> str:
    """The patterns; a suspended job's is in its own hue."""
    upon = {"stroke": look.surface, "stroke_width": 1.6}
    patterns = [
        _pattern("plan", 6, element("path", d="M0 3h6", **upon, stroke_opacity=0.55), turn=-45),
        _pattern("speculative", 6, element("path", d="M0 3h6M3 0v6", **upon), turn=45),
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
    subject: Subject, seen: Collection[int], is_killed: bool, left: float, right: float, y: float, look: Look
) -> str:
    """One line: the textures that are `seen` and the cross, then the colours, as many as there is room for."""
    drawn, x = [], left
    for sign, word in [*_signs(subject, seen, is_killed, look), *_colours(subject, look)]:
        width = _SIGN + _LETTER * len(word) + _GAP
        if x + width > right:
            break
        drawn.append(element("g", sign, transform=f"translate({number(x)} {number(y)})"))
        drawn.append(element("text", text(word), x=x + _SIGN, y=y, fill=look.dim))
        x += width
    return "".join(drawn)


def _colours(subject: Subject, look: Look) -> Iterator[tuple[str, str]]:
    for hue, word in subject.legend:
        yield _swatch(look.inks[ink(hue)]), word


def _signs(subject: Subject, seen: Collection[int], is_killed: bool, look: Look) -> Iterator[tuple[str, str]]:
    grey = look.inks[ink(Hue.GREY)]
    for texture, (fill, word) in _MEANINGS.items():
        if texture in seen:
            yield (_swatch(fill) if texture == TRAIL else _swatch(grey) + _swatch(fill)), word
    if is_killed:
        yield element("path", d="M2-8l8 8m0-8l-8 8", stroke=look.bad, stroke_width=1.6), "killed"
    if subject.plan:
        yield _swatch(look.inks[ink(Hue.GREY, Tone.PLAN)]) + _swatch("url(#plan)"), "planned"


def _swatch(fill: str) -> str:
    return element("rect", y=-9, width=12, height=10, fill=fill)
