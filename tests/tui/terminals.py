"""The real program in a real (pseudo-)terminal."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from threading import Thread
from time import monotonic, sleep

from tests.tui.forks import Forked, forked, within

PATIENCE = 30.0
"""Seconds after which a missing event fails the test, even on a busy machine."""
AUTOSAVE = 0.2
"""Seconds between autosaves, fewer than usual, so that tests need not wait for one"""
START = (
    # who starts the tests may ignore these signals, as a shell does for jobs in the background
    "from signal import SIG_DFL, SIGHUP, SIGINT, SIGQUIT, default_int_handler, signal; "
    "signal(SIGHUP, SIG_DFL); signal(SIGQUIT, SIG_DFL); signal(SIGINT, default_int_handler); "
    f"import tui.sessions.session_manager; tui.sessions.session_manager.AUTOSAVE = {AUTOSAVE}; "
    "from tui.cli.main import program; program()"
)
"""Code that starts the program with these autosaves"""


SEQUENCE = re.compile(
    rb"\x1b\[([0-9;:?<=>]*)[ -/]*([@-~])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[P_^X][^\x1b]*\x1b\\"
    rb"|\x1b[ -/]*[0-OQ-WYZ`-~]|([\0-\x1a\x1c-\x7f]|[\xc0-\xff][\x80-\xbf]*)"
)
"""Pattern of a control sequence, with its numbers and its letter, or of one character of text"""


class Terminal:
    """A running program in a pseudo-terminal: its keyboard, and all its output so far."""

    def __init__(self, program: subprocess.Popen[bytes] | Forked, keyboard: int) -> None:
        self.program, self._keyboard = program, keyboard
        self.is_there = True
        self.written = bytearray()
        self.arrived: list[tuple[int, float]] = []
        """For each piece of the output: its end in `written`, and the monotonic time in seconds at which it came."""
        Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        with suppress(OSError):  # the other end is closed when the program ends
            while data := os.read(self._keyboard, 65536):
                self.written += data
                self.arrived.append((len(self.written), monotonic()))

    def top_lines(self) -> Iterator[tuple[float, str]]:
        """Yield (time, first line of the screen) after each piece of the output."""
        row, x, y = [" "] * 999, 0, 0
        pieces = iter([*self.arrived])
        end, time = next(pieces, (inf, 0.0))
        for found in SEQUENCE.finditer(bytes(self.written)):
            while found.end() > end:
                yield time, "".join(row).rstrip()
                end, time = next(pieces, (inf, 0.0))
            place, kind, letter = found.groups()
            if kind == b"H":
                y, x = (int(part or 1) - 1 for part in (place + b";").split(b";")[:2])
            elif letter in (b"\r", b"\n"):
                x, y = 0, y + (letter == b"\n")
            elif letter is not None:
                if y == 0:
                    row[x] = letter.decode(errors="replace")
                x += 1
        yield time, "".join(row).rstrip()

    def type(self, keys: str) -> None:
        os.write(self._keyboard, keys.encode())

    @property
    def attributes(self) -> list[object]:
        return termios.tcgetattr(self._keyboard)

    def vanish(self) -> None:
        """Close the terminal, as if its window were closed. The program is in a session of its own, so that it gets no
        signal."""
        os.close(self._keyboard)
        self.is_there = False

    def wait_for(self, what: Callable[[], object]) -> None:
        """Wait until `what` returns a true value; fail after `PATIENCE` seconds."""
        until = monotonic() + PATIENCE
        while not what():
            assert monotonic() < until, f"what was waited for did not come: {bytes(self.written[-2000:])!r}"
            sleep(0.01)

    def wait(self) -> int:
        return self.program.wait(PATIENCE)


@contextmanager
def terminal(
    *arguments: str, stderr: int | None = None, cwd: Path | None = None, start: str | None = None
) -> Iterator[Terminal]:
    """Run `schedscope` with these arguments in a terminal of 120 x 36 cells; yield the terminal, and end the program
    afterwards. If `start` is given, start the program with this code instead of forking it, which takes longer."""
    keyboard, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 36, 120, 0, 0))
    errors = screen if stderr is None else stderr
    program: subprocess.Popen[bytes] | Forked
    if start is None:
        files = screen, screen, errors
        program = forked(*arguments, files=files, cwd=cwd, autosave=AUTOSAVE, terminal="xterm-256color")
    else:
        program = subprocess.Popen(
            [sys.executable, "-c", start, *arguments],
            stdin=screen,
            stdout=screen,
            stderr=errors,
            env=within("xterm-256color"),
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
