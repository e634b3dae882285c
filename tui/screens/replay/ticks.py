"""Timer of a screen that ticks only when there may be work."""

from __future__ import annotations

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

from textual.widget import Widget


class Ticks:
    """Timer of `tick`, which returns seconds until the next: Textual's keep their interval or get lost."""

    def __init__(self, widget: Widget, tick: Callable[[], float]) -> None:
        self._widget, self._tick = widget, tick
        self._next: TimerHandle | None = None

    def begin(self) -> None:
        self._call_at(get_running_loop().time())

    def end(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def wake(self, seconds: float) -> None:
        """Call `tick` within this many seconds; without effect in `tick`, whose result counts."""
        if self._next is not None and self._next.when() > (due := get_running_loop().time() + seconds):
            self._next.cancel()
            self._call_at(due)

    def _call_at(self, due: float) -> None:
        self._next = get_running_loop().call_at(due, self._go)

    def _go(self) -> None:
        """Call `tick` once, and plan the next call; calls that were due in the meantime are skipped."""
        assert self._next is not None
        due, self._next = self._next.when(), None
        try:
            wait = self._tick()
        except Exception as error:
            self._widget.call_later(_fail, error)
        else:
            self._call_at(max(due + wait, get_running_loop().time()))


def _fail(error: Exception) -> None:
    raise error
