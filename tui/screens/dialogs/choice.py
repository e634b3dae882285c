"""Dialog with a few options in a bar at the bottom; the user chooses one by a key or a click."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical

from tui.look import text
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens.dialogs.dialog import Dialog, Page

_HOW = "   a key, a click, or esc"


class ChoiceDialog(Dialog[str | None]):
    """Dialog that answers with the value of an option (key, value, meaning); `told` are lines above."""

    def __init__(
        self, title: str, options: Sequence[tuple[str, str, str]], current: str = "", told: Sequence[str] = ()
    ) -> None:
        super().__init__()
        self._title, self._options, self._current, self._told = title, options, current, told
        self._is_lost = False
        """True if the last key that was pressed belongs to no option."""

    def compose(self) -> ComposeResult:
        with Vertical(id="bar"):
            yield Page(self._lines, id="choices")

    def _lines(self, width: int) -> list[Line]:
        names = max(text.cells(value) for _, value, _ in self._options)
        keys = " ".join(key for key, _, _ in self._options)
        how = Span(f"   press {keys}, ↑ ↓ and enter, or esc", "warn") if self._is_lost else Span(_HOW, "dim")
        lines = [line(Span(self._title, "title"), how)]
        lines += [part for each in self._told for part in wrapped(each, width, indent=2)]
        for key, value, meaning in self._options:
            mark = "▸" if value == self._current else " "
            room = width - names - 6 - len(key)
            spans = [Span(f"{mark} ", "accent"), Span(key, "key"), Span(f"  {text.pad(value, names)}")]
            lines.append(line(*spans, Span(f"  {text.shorten(meaning, max(room, 0))}", "dim")))
        return lines

    def on_key(self, event: events.Key) -> None:
        """Choose the option of this key; Enter takes the highlighted or first one, other characters show the keys."""
        values = [value for _, value, _ in self._options]
        chosen = {key: value for key, value, _ in self._options}
        chosen["enter"] = self._current if self._current in values else values[0]
        pressed = event.key if event.key in chosen else event.character
        if pressed in chosen:
            event.stop()
            self.dismiss(chosen[pressed])
        elif event.key in ("up", "down"):
            event.stop()
            step = 1 if event.key == "down" else -1
            at = (values.index(self._current) + step) % len(values) if self._current in values else (step - 1) // 2
            self._current = values[at]
            self.query_one(Page).refresh()
        elif event.is_printable:
            event.stop()
            self._is_lost = True
            self.query_one(Page).refresh()

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self.query_one("#choices"))
        above = len(self._lines(self.query_one("#choices").content_size.width)) - len(self._options)
        if at is not None and above <= at.y < above + len(self._options):
            self.dismiss(self._options[at.y - above][1])
