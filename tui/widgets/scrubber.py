"""Strip with the whole run; a click or a drag on it goes to the time under the pointer."""

from __future__ import annotations

from textual import events
from textual.message import Message

from tui.widgets.panel import MARGIN, Panel


class Scrubber(Panel, can_focus=False):
    """Panel with a time axis: each of its columns stands for a time, and the user can click or drag on it."""

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
