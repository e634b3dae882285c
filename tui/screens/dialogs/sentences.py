"""Dialog that shows sentences, one paragraph each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll

from tui.look.sheets import Line, line, wrapped
from tui.screens.dialogs.dialog import Dialog, Page

_WIDEST = 100


class SentencesDialog(Dialog[None]):
    """Dialog with sentences as plain text: they may come from a file or another program."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,q,u", "dismiss", "Close")]

    def __init__(self, title: str, sentences: Sequence[str]) -> None:
        super().__init__()
        self._title, self._sentences = title, sentences

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = self._title
            dialog.border_subtitle = "↑ ↓ scroll   esc close"
            with VerticalScroll():
                yield Page(self._lines)

    def _lines(self, width: int) -> list[Line]:
        lines: list[Line] = []
        for sentence in self._sentences:
            lines += [*wrapped(sentence, min(width, _WIDEST)), line("")]
        return lines[:-1]
