"""The real program in a real (pseudo-)terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

PATIENCE = 30.0
"""Seconds after which a missing event fails the test, even on a busy machine."""
PROGRAM = (
    # who starts the tests may ignore these signals, as a shell does for jobs in the background
    "from signal import SIG_DFL, SIGHUP, SIGINT, SIGQUIT, default_int_handler, signal; "
    "signal(SIGHUP, SIG_DFL); signal(SIGQUIT, SIG_DFL); signal(SIGINT, default_int_handler); "
    "import tui.sessions.session_manager; tui.sessions.session_manager.AUTOSAVE = 0.2; "
    "from tui.cli.main import program; program()"
)
"""Code that runs the program with an autosave every 0.2 s, so that tests need not wait for one."""


class Terminal:
    """A running program in a pseudo-terminal: its keyboard, and all its output so far."""

    def __init__(self, program: subprocess.Popen[bytes], keyboard: int) -> None:
        self.program, self._keyboard = program, keyboard
        self.is_there = True
        self.written = bytearray()
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError):  # the other end is closed when the program ends
            while data := os.read(self._keyboard, 65536):
                self.written += data

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    @property
    def attributes(self) -> list[object]:
        """Return the modes of the terminal, as `termios.tcgetattr` gives them."""
        return termios.tcgetattr(self._keyboard)

    def vanish(self) -> None:
        """Close the terminal, as if its window were closed. The program is in a session of its own, so that it gets no
        signal.
        """
        os.close(self._keyboard)
        self.is_there = False

    def wait_for(self, what: Callable[[], object]) -> None:
        """Wait until `what` returns a true value; fail after `PATIENCE` seconds."""
        until = monotonic() + PATIENCE
        while not what():
            assert monotonic() < until, f"what was waited for did not come: {bytes(self.written[-2000:])!r}"
            sleep(0.01)

    def wait(self) -> int:
        """Wait until the program ends; return its exit code."""
        return self.program.wait(PATIENCE)


@contextmanager
def terminal(*arguments: str, stderr: int | None = None, cwd: Path | None = None) -> Iterator[Terminal]:
    """Run `schedscope` with these arguments in a terminal of 120 x 36 cells; yield the terminal, and end the program
    afterwards.
    """
    keyboard, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdin=screen,
        stdout=screen,
        stderr=screen if stderr is None else stderr,
        env={**os.environ, "TERM": "xterm-256color"},
        cwd=cwd,
        start_new_session=True,
    )
    os.close(screen)
    at = Terminal(program, keyboard)
    try:
        yield at
    finally:
        program.kill()
        program.wait()
        if at.is_there:
            os.close(keyboard)
