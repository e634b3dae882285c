"""Report of an unexpected error of the program: details in a file, and one line for the user."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import format_exception, walk_tb

from rich.text import Text
from textual._context import active_message_pump
from textual.app import App, ScreenStackError
from textual.errors import NoWidget
from textual.events import Event, MouseEvent
from textual.message import Message
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.worker import WorkerFailed

from sim.support.formatting import printable_lines
from tui.sessions.autosave import state_folder


class Guarded(App[int]):
    """Textual app that ignores errors in screens which have closed, and reports any other error."""

    async def on_event(self, event: Event) -> None:
        """Handle an event, but ignore a mouse event on a widget that was removed after the screen was drawn."""
        if not (isinstance(event, MouseEvent) and not event.is_forwarded and self._is_removed_at(event.x, event.y)):
            await super().on_event(event)

    def _is_removed_at(self, x: int, y: int) -> bool:
        try:
            widget, _ = self.get_widget_at(x, y)
        except (NoWidget, ScreenStackError):
            return False
        return not isinstance(widget, Screen) and not widget.is_attached

    async def _dispatch_message(self, message: Message) -> None:
        """Ignore an error in a closed screen: raised here, it would stop Textual from reacting to keys."""
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            if not _is_late(error):
                raise

    def _handle_exception(self, error: Exception) -> None:
        if not _is_late(error):
            super()._handle_exception(error)

    def _fatal_error(self) -> None:
        """Print one line and write the error's details to a file; the session has been saved already."""
        if not self._exit_renderables:  # one fault brings others along
            told = f"schedscope: {report(self._exception)}, and the next start offers to continue"
            self._exit_renderables.append(Text(printable_lines(told)))
        self._close_messages_no_wait()


def _is_late(error: Exception) -> bool:
    return is_closed(active_message_pump.get(None)) or any(map(is_closed, _acting(error)))


def _acting(error: Exception) -> Iterator[MessagePump]:
    acting = _of_worker(error)
    for frame, _ in walk_tb(acting.__traceback__ if acting else None):
        widget = frame.f_locals.get("self")
        if isinstance(widget, MessagePump):
            yield widget


def _of_worker(error: BaseException | None) -> BaseException | None:
    """Return the error that made a thread of Textual fail, with its traceback; any other error as it is."""
    return error.error if isinstance(error, WorkerFailed) else error


def is_closed(pump: MessagePump | None) -> bool:
    """Return True for a removed widget, or one of a closed screen, as all are when Textual ends a program."""
    while pump is not None and not isinstance(pump, App):
        if pump._closing or getattr(pump, "_pruning", False):
            return True
        if isinstance(pump, Screen):
            return pump.app._exit or pump not in pump.app.screen_stack
        pump = pump._parent
    return isinstance(pump, App) and not pump._screen_stacks[pump._current_mode]


def report(fault: BaseException | None) -> str:
    fault = _of_worker(fault)
    told = f"internal error: {fault!r}"
    try:
        path = state_folder() / "fault.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(format_exception(fault)), encoding="utf-8")
    except OSError:
        return f"{told}; no report could be written"
    return f"{told}; the report is in {path}"
