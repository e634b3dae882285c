"""A few things to choose from, each by one key or a click, in a bar at the bottom."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from tui import text
from tui.screens.dialog import Dialog, Page
from tui.sheet import Line, Span, line


class Choice(Dialog[str | None]):
    """Options are (key, value, meaning); the value that was chosen comes back, None if none was."""

    def __init__(self, title: str, options: Sequence[tuple[str, str, str]], current: str = "") -> None:
        super().__init__()
        self._title, self._options, self._current = title, options, current

    def compose(self) -> ComposeResult:
        with Vertical(id="bar"):
            yield Page(self._lines, id="choices")

    def _lines(self, width: int) -> list[Line]:
        names = max(text.cells(value) for _, value, _ in self._options)
        lines = [line(Span(self._title, "title"), Span("   a key, a click, or esc", "dim"))]
        for index, (key, value, meaning) in enumerate(self._options):
            mark = "▸" if value == self._current else " "
            room = width - names - 6 - len(key)
            pressed = f"screen.take({index})"
            spans = [
                Span(f"{mark} ", "accent"),
                Span(key, "key", pressed),
                Span(f"  {text.pad(value, names)}", "", pressed),
            ]
            lines.append(line(*spans, Span(f"  {text.shorten(meaning, max(room, 0))}", "dim", pressed)))
        return lines

    def on_key(self, event: events.Key) -> None:
        for index, (key, _, _) in enumerate(self._options):
            if event.character == key:
                event.stop()
                self.action_take(index)

    def action_take(self, index: int) -> None:
        self.dismiss(self._options[index][1])
