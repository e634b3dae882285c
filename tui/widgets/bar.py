"""A line or two across the screen: the state at the top, the sentence under the chart, the keys at the bottom."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line
from tui.widgets.panel import span_at


class Bar(Widget):
    """Shows the lines that it is given; a click on a span does what the span says."""

    ALLOW_SELECT = False

    def __init__(self, ground: str = "", *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._ground = ground
        self._lines: tuple[Line, ...] = ()
        self._look: Look | None = None

    def show(self, lines: Sequence[Line], look: Look) -> None:
        """Show these from now on."""
        if (tuple(lines), look) != (self._lines, self._look):
            self._lines, self._look = tuple(lines), look
            self.refresh()

    def render_line(self, y: int) -> Strip:
        if self._look is None:
            return Strip.blank(self.size.width, Style())
        look, blank = self._look, self._look.style(self._ground)
        spans = self._lines[y].spans if y < len(self._lines) else ()
        segments = [
            Segment(text.drawn(span.text, look.ascii), look.style(f"{self._ground} {span.style}")) for span in spans
        ]
        return Strip(segments).adjust_cell_length(self.size.width, blank)

    async def on_click(self, event: events.Click) -> None:
        if event.y < len(self._lines):
            span = span_at(self._lines[event.y], event.x)
            if span and span.action:
                event.stop()
                await self.screen.run_action(span.action)
