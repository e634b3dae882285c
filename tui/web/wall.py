"""The answers of a class on the common screen, as bars; right and wrong ones are told apart without colour, too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens.play.screen import Sheet
from tui.web.roster import LONGEST_ANSWER, MOST_BARS, text_of

LONGEST = 1000
"""Characters of a question or a reason."""


@dataclass(frozen=True)
class Answers:
    """A question, and how many students gave each answer."""

    asks: str
    told: str
    bars: tuple[tuple[str, int, bool], ...]
    """(answer, number of students, True if right)."""

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Answers:
        """Return what the server tells; every text is one line, and not too long."""
        bars = [
            (text_of(bar.get("label"), LONGEST_ANSWER), int(bar.get("count", 0)), bar.get("right") is True)
            for bar in told.get("bars", [])[: MOST_BARS + 1]
        ]
        return cls(text_of(told.get("asks"), LONGEST), text_of(told.get("told"), LONGEST), tuple(bars))


def bars(answers: Answers, width: int) -> list[Line]:
    """Return the question, a bar for each answer, and the reason.

    >>> answers = Answers("Which?", "J4 fits.", (("J4", 3, True), ("J5", 1, False)))
    >>> [part.text.rstrip() for part in bars(answers, 30)]
    ['  Which?', '', '  ✓ J4 ███████████████████ 3', '', '  × J5 ▒▒▒▒▒▒              1', '', '  J4 fits.']
    """
    most = max((count for _, count, _ in answers.bars), default=0)
    named = min(max((text.cells(label) for label, _, _ in answers.bars), default=0), width // 3)
    room = max(width - named - 9, 4)
    found: list[Line] = [*_told(answers.asks, width, "title"), line()]
    for label, count, is_right in answers.bars:
        long = round(room * count / most) if most else 0
        style, block = ("good", "█") if is_right else ("bad", "▒")
        name = text.pad(text.shorten(label, named), named)
        found += [
            line(
                Span("  "),
                Span("✓ " if is_right else "× ", style),
                Span(name, "strong"),
                Span(f" {block * long}", style),
                Span(f"{' ' * (room - long)} {count}", "strong"),
            ),
            line(),
        ]
    return [*found, *_told(answers.told, width, "")]


def _told(given: str, width: int, style: str) -> list[Line]:
    return [line(Span(part.text, style)) for part in wrapped(given, width - 2, indent=2)]


class Wall(Screen[None]):
    """Wall that shows the answers until the teacher hides them or continues."""

    DEFAULT_CSS = """
    Wall { background: $background; }
    Wall Sheet { height: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,space,enter,right,left,pagedown,pageup,q", "close", show=False)
    ]

    def __init__(self, answers: Answers, look: Look) -> None:
        super().__init__()
        self._answers, self._look = answers, look

    def compose(self) -> ComposeResult:
        yield Sheet(id="answers")

    def put(self, answers: Answers) -> None:
        """Show these answers from now on."""
        self._answers = answers
        self._draw()

    def on_mount(self) -> None:
        self.call_after_refresh(self._draw)

    def on_sheet_resized(self) -> None:
        self._draw()

    def _draw(self) -> None:
        sheet = self.query_one("#answers", Sheet)
        width, height = sheet.size
        if width and height:
            sheet.show([line(), *bars(self._answers, width)][:height], self._look)

    def action_close(self) -> None:
        self.dismiss()


def answers_in(told: str) -> Answers | None:
    """Return the answers of a text from the server; None for an empty text.

    >>> answers_in(""), answers_in("[")
    (None, None)
    """
    try:
        found = json.loads(told) if told else None
    except ValueError:
        return None
    return Answers.of(found) if isinstance(found, Mapping) and found.get("asks") else None
