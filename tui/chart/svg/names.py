"""The ids of jobs on their blocks, where they fit, upright or along a tall one."""

from __future__ import annotations

from collections.abc import Iterable

from sim.words import name
from tui.chart.svg.elements import Rect, element, number, text
from tui.chart.svg.jobs import Block
from tui.chart.svg.pieces import TRAIL
from tui.chart.svg.subject import Subject
from tui.look.palette import Look, Tone, ink

_LETTER = 0.62
"""Width of a letter, as a share of its size."""
_LARGEST, _SMALLEST = 12.0, 8.0


def draw_names(drawn: Iterable[Block], subject: Subject, look: Look) -> str:
    """The id of each job, once, in the largest of its blocks."""
    largest: dict[int, Rect] = {}
    for block in drawn:
        if block.texture != TRAIL:
            rects = (*block.rects, largest.get(block.rank, block.largest))
            largest[block.rank] = max(rects, key=_area)
    return "".join(
        write_in(rect, name(subject.workload.jobs[rank]), look.inks[ink(int(subject.hues[rank]), Tone.TEXT)])
        for rank, rect in largest.items()
    )


def write_in(rect: Rect, word: str, colour: str) -> str:
    """The word in the middle of a rectangle, turned where it fits better so; nothing where it does not fit.

    >>> write_in(Rect(0, 0, 5, 5), "J17", "#000")
    ''
    """
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
    """How large a word may be written in so many pixels; 0 where it would be too small.

    >>> fitting("J17", 100, 20), fitting("J17", 100, 11), fitting("J17", 10, 20)
    (12.0, 9, 0)
    """
    size = min(_LARGEST, across - 2, (along - 4) / (max(len(word), 1) * _LETTER))
    return size if size >= _SMALLEST else 0


def _area(rect: Rect) -> float:
    return rect.width * rect.height
