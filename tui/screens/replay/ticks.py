"""The clock of a screen: it ticks when there may be something to do, and no more often."""

from __future__ import annotations

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

from textual.widget import Widget


class Ticks:
    """Calls `tick`, which tells after how many seconds there may be something to do again.

    Textual's timers go on as they began, and one that is to ring once is lost where that much time passes meanwhile.
    """

    def __init__(self, widget: Widget, tick: Callable[[], float]) -> None:
        """Forward errors of a tick to the widget."""
        self._widget, self._tick = widget, tick
        self._next: TimerHandle | None = None

    def begin(self) -> None:
        self._set(get_running_loop().time())

    def end(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def wake(self, seconds: float) -> None:
        """Wake within this time at the latest; during a tick its result decides."""
        if self._next is not None and self._next.when() > (due := get_running_loop().time() + seconds):
            self._next.cancel()
            self._set(due)

    def _set(self, due: float) -> None:
        self._next = get_running_loop().call_at(due, self._go)

    def _go(self) -> None:
        """Run one tick and set the next; missed ticks are skipped."""
        assert self._next is not None
        due, self._next = self._next.when(), None
        try:
            wait = self._tick()
        except Exception as error:
            self._widget.call_later(_fail, error)
        else:
            self._set(max(due + wait, get_running_loop().time()))


def _fail(error: Exception) -> None:
    raise error
