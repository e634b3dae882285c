"""Sheets: the content of a panel as lines of styled text, with actions for clicks.

A sheet is made by a function `(context, size, first) -> Sheet` that does not depend on Textual. The widget in
`tui.widgets.panel` draws the sheet, and a `Look` of `tui.look.palette` translates the names of styles.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tui.look.text import cells, shorten


class Span(NamedTuple):
    """Piece of text; `style` is one or more names with blanks between, such as "dim" or "hue:3 strong"."""

    text: str
    style: str = ""
    action: str = ""
    """Action that a click on the text causes, such as `select_rank(17)`; "" for none."""
    rank: int | None = None
    """Rank of the job that the text is about, if that is another one than its line's."""

    @classmethod
    def of_job(cls, text: str, style: str, rank: int) -> Span:
        return cls(text, style, f"select_rank({rank})", rank)


@dataclass(frozen=True, slots=True)
class Line:
    """Line of text; a click on it selects the job `rank`, unless that is None."""

    spans: tuple[Span, ...]
    rank: int | None = None
    is_more: bool = False
    """True if the line goes on with the text of the line before it."""

    @property
    def text(self) -> str:
        return "".join(span.text for span in self.spans)


@dataclass(frozen=True, slots=True)
class Sheet:
    """Content of a panel: `title`, fixed lines (`head`), and scrolled lines (`body`). The body has `total` lines;
    `body` holds those from number `first` on.

    If there are very many lines, only the visible ones are made, so that `body` is shorter than `total`.
    """

    title: str
    head: tuple[Line, ...] = ()
    body: tuple[Line, ...] = ()
    first: int = 0
    total: int = 0
    note: str = ""
    mark: int | None = None
    """Index in `body` of the line that must be visible, such as the selected one; None for no line."""
    of_both: bool = False
    wants: int = 0
    """Number of lines that head and body would need to show all content; 0 if they show all of it now"""
    is_followed: bool = False
    """True if the panel scrolls to the line `mark` whenever `mark` changes."""

    @property
    def needs(self) -> int:
        return 1 + max(len(self.head) + self.total, self.wants)

    @property
    def text(self) -> str:
        """Return the whole sheet as text without styles, for tests."""
        title = f"{self.title}   {self.note}".rstrip()
        return "\n".join([title, *(line.text.rstrip() for line in (*self.head, *self.body))])


Size: TypeAlias = tuple[int, int]
"""Width and height of a panel in columns and rows, without its title."""


def line(*spans: str | Span, rank: int | None = None, is_more: bool = False) -> Line:
    return Line(tuple(span if isinstance(span, Span) else Span(span) for span in spans), rank, is_more)


def width_of(spans: Iterable[Span]) -> int:
    return sum(cells(span.text) for span in spans)


def sheet(title: str, body: Iterable[Line], *, head: Sequence[Line] = (), note: str = "") -> Sheet:
    lines = tuple(body)
    return Sheet(title, tuple(head), lines, 0, len(lines), note)


def wrapped(text: str, width: int, style: str = "", indent: int = 0) -> list[Line]:
    """Return the text wrapped into lines of `width` columns; a day and the time after it stay in one line."""
    lines: list[list[str]] = [[]]
    room, taken = max(width - indent, 1), 0
    for word in _words_and_times(text):
        wide = cells(word)
        if lines[-1] and taken + 1 + wide > room:
            lines.append([])
        taken = taken + 1 + wide if lines[-1] else min(wide, room)
        lines[-1].append(shorten(word, room))
    return [line(Span(" " * indent + " ".join(words), style), is_more=at > 0) for at, words in enumerate(lines)]


def _words_and_times(text: str) -> list[str]:
    words: list[str] = []
    for word in text.split():
        if words and words[-1].startswith("d") and words[-1][1:].isdigit() and word[:2].isdigit():
            words[-1] += " " + word
        else:
            words.append(word)
    return words
