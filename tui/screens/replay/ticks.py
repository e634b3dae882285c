"""Timer of a screen that ticks only when there may be work."""

from __future__ import annotations

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

from textual.widget import Widget


class Ticks:
    """Timer that calls `tick`; each call returns the number of seconds until the next one.

    A timer of Textual keeps its first interval, and a timer that fires only once is lost if it is late.
    """

    def __init__(self, widget: Widget, tick: Callable[[], float]) -> None:
        """Make the timer; an error in `tick` is reported by the widget."""
        self._widget, self._tick = widget, tick
        self._next: TimerHandle | None = None

    def begin(self) -> None:
        self._call_at(get_running_loop().time())

    def end(self) -> None:
        if self._next is not None:
            self._next.cancel()
            self._next = None

    def wake(self, seconds: float) -> None:
        """Make sure that `tick` is called within this number of seconds. This has no effect during a call of `tick`,
        whose result determines the next call.
        """
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
