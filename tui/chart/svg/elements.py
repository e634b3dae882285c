"""Elements of SVG pictures as text: tags, numbers, outlines of rectangles, and words inside rectangles."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import NamedTuple

from sim.support.formatting import printable

LETTER = 0.62
"""Average width of a letter, as a share of the font size."""
_LARGEST, _SMALLEST = 12.0, 8.0


class Rect(NamedTuple):
    """Rectangle in pixels, measured from the top left corner."""

    x: float
    y: float
    width: float
    height: float

    @property
    def area(self) -> float:
        return self.width * self.height


def element(name: str, *inside: str, **attributes: object) -> str:
    """Return an SVG element as text; `_` in an attribute's name stands for `-`, and attributes that are None are left
    out.

    >>> element("text", text("a < b"), x=1.5, text_anchor="end")
    '<text x="1.5" text-anchor="end">a &lt; b</text>'
    >>> element("path", d="M0 0h1", id=None)
    '<path d="M0 0h1"/>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_value(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{written}>{''.join(inside)}</{name}>" if inside else f"<{name}{written}/>"


def text(words: str) -> str:
    """Return words as text between tags; characters that XML forbids are replaced."""
    return escape(printable(words), quote=False)


def number(value: float) -> str:
    """Return a coordinate as text with at most two decimals.

    >>> number(3.0), number(0.126), number(-0.0004)
    ('3', '.13', '0')
    """
    short = f"{value:.2f}".rstrip("0").rstrip(".")
    if short in ("-0", "0"):
        return "0"
    return short.replace("0.", ".", 1) if short.startswith(("0.", "-0.")) else short


def outline(rects: Iterable[Rect]) -> str:
    """Return an SVG path along the edges of all these rectangles.

    >>> outline([Rect(1, 2, 3, 4), Rect(0, 0, 0.5, 1)])
    'M1 2h3v4h-3zM0 0h.5v1h-.5z'
    """
    return "".join(f"M{number(x)} {number(y)}h{number(w)}v{number(h)}h{number(-w)}z" for x, y, w, h in rects)


def write_in(rect: Rect, word: str, colour: str) -> str:
    """Return the word as SVG text in a rectangle, rotated if it fits only that way; "" if it fits neither way."""
    upright, turned = fitting(word, rect.width, rect.height), fitting(word, rect.height, rect.width)
    size = upright or turned
    if not size:
        return ""
    x, y = rect.x + rect.width / 2, rect.y + rect.height / 2
    turn = None if upright else f"rotate(-90 {number(x)} {number(y)})"
    return element(
        "text", text(word), x=x, y=y + size * 0.36, font_size=size, text_anchor="middle", fill=colour, transform=turn
    )


def fitting(word: str, along: float, across: float) -> float:
    """Return the font size with which a word fits into a space of `along` by `across` pixels; 0 if that is too small to
    read.

    >>> fitting("J17", 100, 20), fitting("J17", 100, 11), fitting("J17", 10, 20)
    (12.0, 9, 0)
    """
    size = min(_LARGEST, across - 2, (along - 4) / (max(len(word), 1) * LETTER))
    return size if size >= _SMALLEST else 0


def _value(value: object) -> str:
    if isinstance(value, float):
        return number(value)
    return escape(printable(str(value)))
