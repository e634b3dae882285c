"""Film in the format of asciinema: asciicast, version 3, or 2 for players that do not support 3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from rich.console import Console

from sim.support.formatting import printable
from tui.look.palette import Look
from tui.record.film import Picture, Rows
from tui.widgets.cell_rows import cut, differing
from tui.widgets.partial_update import Piece, Update

Version = Literal[2, 3]
_BEGIN, _END = "\x1b[?25l\x1b[0m\x1b[2J", "\x1b[0m\x1b[?25h"


class Cast:
    def __init__(self, size: tuple[int, int], title: str, look: Look, version: Version = 3) -> None:
        self._size, self._title, self._look, self._version = size, printable(title), look, version
        self._console = Console(color_system="truecolor", force_terminal=True, no_color=False)
        self._shown: Rows = ()
        self._at = self._last = 0.0

    def header(self) -> str:
        columns, rows = self._size
        look = self._look
        colours = (look.background, look.bad, look.good, look.warn, look.cool, look.accent, look.dim, look.text)
        theme = {"fg": look.text, "bg": look.background, "palette": ":".join(colours)}
        if self._version == 3:
            term: dict[str, Any] = {"cols": columns, "rows": rows, "type": "xterm-256color", "theme": theme}
            return _line({"version": 3, "term": term, "title": self._title})
        shown = {"width": columns, "height": rows, "theme": theme, "env": {"TERM": "xterm-256color"}}
        return _line({"version": 2, **shown, "title": self._title})

    def lines(self, picture: Picture) -> Iterator[str]:
        for mark in picture.marks:
            yield self._event(picture.at, "m", printable(mark))
        sent = self._changes(picture.rows)
        if not self._shown:
            sent = _BEGIN + sent
        self._shown, self._last = picture.rows, picture.at
        if sent:
            yield self._event(picture.at, "o", sent)

    def end(self) -> str:
        return self._event(self._last, "o", f"\x1b[{self._size[1]};1H{_END}")

    def _changes(self, rows: Rows) -> str:
        pieces = []
        for y, row in enumerate(rows):
            before = self._shown[y] if y < len(self._shown) else None
            if row != before:
                begin, _, cells = (0, 0, cut(row, 0, self._size[0])) if before is None else differing(row, before)
                pieces.append(Piece(y, begin, cells))
        return Update(pieces).render_segments(self._console) if pieces else ""

    def _event(self, at: float, code: str, data: str) -> str:
        """Return the line of an event; version 3 has seconds since the previous event, version 2 the time itself."""
        time, self._at = (at - self._at if self._version == 3 else at), at
        return _line([round(time, 3), code, data])


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": ")) + "\n"
