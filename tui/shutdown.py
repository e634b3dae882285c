"""End of the program by signals, and by terminals that are closed."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TextIO

from textual.app import App
from textual.driver import Driver

HANGUP = 1
"""Number of the signal that a closed terminal sends."""
ENDING = ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2")
"""Names of the signals that by default kill the program without restoring the terminal."""
SIGNALS = tuple(getattr(signal, name) for name in ENDING if hasattr(signal, name))


def on_signals(end: Callable[[int], None]) -> None:
    """Call `end` with each signal that would kill the program; an ignored one (nohup) stays ignored."""
    loop = asyncio.get_running_loop()
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(NotImplementedError, RuntimeError, ValueError):  # elsewhere, or not in the main thread
                loop.add_signal_handler(number, end, int(number))
    if hasattr(signal, "SIGALRM"):
        with suppress(ValueError):  # no handler of the loop's: deadlines in this thread take the signal for a while
            signal.signal(signal.SIGALRM, lambda number, frame: loop.call_soon_threadsafe(end, number))


def how_to_quit(app: App[Any]) -> str:
    keys = (key for key, active in app.active_bindings.items() if active.binding.action in ("quit", "app.quit"))
    return f"{next(keys, 'ctrl+q')} quits"


def is_gone() -> bool:
    """Return True if the terminal has been closed, even if no signal has been received."""
    if sys.__stdin__ is None or not hasattr(select, "poll"):
        return False
    try:
        poll = select.poll()
        poll.register(sys.__stdin__.fileno(), 0)
        return any(told & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, told in poll.poll(0))
    except (OSError, ValueError):
        return False


class _Patient:
    """File that ignores errors when a closed terminal does not accept its output."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._file.write(text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def patient(driver: type[Driver]) -> type[Driver]:
    """Return a driver that ignores errors of a closed terminal, which would block the end of the program."""

    class Patient(driver):  # type: ignore[valid-type, misc]  # mypy knows no base that is a value
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            if hasattr(self, "_file"):
                self._file: Any = _Patient(self._file)

    return Patient


def close_the_gone() -> None:
    """Close stdin, stdout and stderr if the terminal is closed, so that Python does not write to them at its end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        os.dup2(nowhere, output)
