"""Bar of lines with spans to click: the state at the top, the sentence below the chart, the keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.content import Content
from textual.message import Message

from tui.look.palette import Look
from tui.look.sheets import Line
from tui.widgets.cell_rows import Lines, fitted
from tui.widgets.panel import MARGIN, Panel, span_at


class Bar(Lines):
    ALLOW_SELECT = True

    def __init__(
        self, ground: str = "", *, tell: Callable[[str], str] = lambda action: "", id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._ground, self._tell = ground, tell
        self._told = ""
        self._lines: tuple[Line, ...] = ()
        self._look: Look | None = None

    def show(self, lines: Sequence[Line], look: Look) -> None:
        if (tuple(lines), look) != (self._lines, self._look):
            self._lines, self._look = tuple(lines), look
            self._redraw()

    def on_resize(self) -> None:
        self.forget()
        self._redraw()

    def _redraw(self) -> None:
        self.put({y: self._row(y) for y in range(self.size.height)})

    def _row(self, y: int) -> list[Segment]:
        if self._look is None:
            return [Segment(" " * self.size.width, Style())]
        look, blank = self._look, self._look.style(self._ground)
        spans = self._lines[y].spans if y < len(self._lines) else ()
        return fitted(look.segments(spans, self._ground), self.size.width, blank)

    def _action_at(self, event: events.MouseEvent) -> str:
        span = span_at(self._lines[event.y], event.x) if 0 <= event.y < len(self._lines) else None
        return span.action if span else ""

    def on_mouse_move(self, event: events.MouseMove) -> None:
        action = self._action_at(event)
        if (told := self._tell(action) if action else "") != self._told:
            self._told = told
            self.tooltip = Content(told) if told else None

    async def on_click(self, event: events.Click) -> None:
        event.prevent_default()  # a double click would mark the whole bar
        if self.text_selection is None and (action := self._action_at(event)):
            event.stop()
            await self.screen.run_action(action)


class Scrubber(Panel, can_focus=False):
    """Panel with a time axis: each of its columns stands for a time, and the user can click or drag on it."""

    ALLOW_SELECT = False

    class Scrubbed(Message):
        """Message that the mouse button is pressed at `column` of a strip that is `width` columns wide."""

        def __init__(self, column: int, width: int) -> None:
            self.column, self.width = column, width
            super().__init__()

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self._held = False

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.y > 0 and event.button == 1:
            self._held = True
            self.capture_mouse()
            self._scrub(event)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held:
            self._scrub(event)
        else:
            super().on_mouse_move(event)

    def on_mouse_up(self) -> None:
        self._held = False
        self.release_mouse()

    def _scrub(self, event: events.MouseEvent) -> None:
        event.stop()
        self.post_message(self.Scrubbed(event.x - MARGIN, self.size.width - 2 * MARGIN))
