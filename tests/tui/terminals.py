"""The real program in a real (pseudo) terminal."""

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
"""Seconds after which what was waited for does not come any more, even on a busy machine."""
PROGRAM = (
    "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL); "  # who runs the tests may ignore it
    "import tui.sessions.keeper; tui.sessions.keeper.AUTOSAVE = 0.2; from tui.cli.main import program; program()"
)
"""The program as it is, but for how often it saves: nobody wants to wait for that."""


class Terminal:
    """A program, somebody who types, and all that was written."""

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
        """How the terminal treats what is typed and written."""
        return termios.tcgetattr(self._keyboard)

    def vanish(self) -> None:
        """The window is closed, and no signal is sent: the program is in a session of its own."""
        os.close(self._keyboard)
        self.is_there = False

    def wait_for(self, what: Callable[[], object]) -> None:
        """Until this is so."""
        until = monotonic() + PATIENCE
        while not what():
            assert monotonic() < until, f"what was waited for did not come: {bytes(self.written[-2000:])!r}"
            sleep(0.01)

    def wait(self) -> int:
        """Until the program ends; its exit code."""
        return self.program.wait(PATIENCE)


@contextmanager
def terminal(*arguments: str, stderr: int | None = None, cwd: Path | None = None) -> Iterator[Terminal]:
    """`schedscope` with these arguments in 120 x 36 cells; it does not outlive the test."""
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
