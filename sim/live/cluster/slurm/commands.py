"""Runner of Slurm's commands, on this machine or another; only commands written in this program run."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from sim.support.errors import ClusterError
from sim.support.formatting import printable, shortened

PATIENCE = 60.0
"""Seconds after which a command without an answer is stopped."""
MOST_BYTES = 1 << 28
"""Largest size in bytes of the output of a command. One that writes more is stopped."""
SETTINGS = ("TZ=UTC", "LC_ALL=C", "SLURM_TIME_FORMAT=standard")
"""Environment variables for every command, so that times and words have the same form everywhere."""


class Commands:
    """Runner of Slurm's commands: on this machine or, if `host` is given, on that host over one connection of the
    user's own ssh, which never asks for a password.
    """

    def __init__(self, host: str = "") -> None:
        if host.startswith("-") or not host.isprintable() or any(letter.isspace() for letter in host):
            raise ClusterError(f"{shortened(printable(host))!r} is no name of a host")
        self._host = host
        self._folder = tempfile.TemporaryDirectory(prefix="schedscope-ssh-") if host else None
        self.spent = 0.0
        """Total time in seconds that commands have taken since the caller last reset this number to 0."""

    def ask(self, *words: str) -> str:
        """Return the output of a command. Raise `ClusterError` if it fails or gives no whole answer in time."""
        begin = time.monotonic()
        try:
            code, output, errors = _done(self._line(words), begin + PATIENCE)
        except FileNotFoundError as error:
            raise ClusterError(f"{error.filename}: no such command; Slurm's commands must be on PATH") from None
        except OSError as error:
            raise ClusterError(f"{words[0]}: {error.strerror or error}") from None
        except subprocess.TimeoutExpired:
            raise ClusterError(f"{words[0]} gave no answer within {PATIENCE:.0f} s") from None
        except BufferError:
            raise ClusterError(f"{words[0]} answered with more than {MOST_BYTES:,} bytes") from None
        finally:
            self.spent += time.monotonic() - begin
        if code:
            said = errors.decode(errors="replace").strip().splitlines() or ["no reason given"]
            told = printable(said[-1]).removeprefix(f"{words[0]}: ")
            raise ClusterError(f"{words[0]}: {shortened(told, 200)}")
        if output and not output.endswith(b"\n"):
            raise ClusterError(f"{words[0]}: the end of its answer is missing")
        return output.decode(errors="replace")

    def _line(self, words: tuple[str, ...]) -> list[str]:
        line = ["env", *SETTINGS, *words]
        if self._folder is None:
            return line
        path = Path(self._folder.name, "%C")
        options = ("BatchMode=yes", "ControlMaster=auto", f"ControlPath={path}", "ControlPersist=600")
        return ["ssh", *(f"-o{option}" for option in options), "--", self._host, shlex.join(line)]

    def close(self) -> None:
        """End the connection of ssh, if there is one."""
        if self._folder is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                line = ["ssh", f"-oControlPath={self._folder.name}/%C", "-Oexit", "--", self._host]
                subprocess.run(line, capture_output=True, timeout=5, stdin=subprocess.DEVNULL)
            self._folder.cleanup()


def _done(line: list[str], until: float) -> tuple[int, bytes, bytes]:
    """Run a command; return its exit status, its output and its errors. Kill it with its children if it runs until the
    time `until` (TimeoutExpired), or writes more than `MOST_BYTES` (BufferError), or if the program is interrupted.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, start_new_session=True)
    output, errors = bytearray(), bytearray()
    with process, selectors.DefaultSelector() as ready:
        try:
            for stream, read in ((process.stdout, output), (process.stderr, errors)):
                assert stream is not None
                ready.register(stream, selectors.EVENT_READ, read)
            while ready.get_map():
                if (left := until - time.monotonic()) <= 0:
                    raise subprocess.TimeoutExpired(line, PATIENCE)
                for key, _ in ready.select(left):
                    if not (part := os.read(key.fd, 1 << 16)):
                        ready.unregister(key.fileobj)
                    key.data.extend(part)
                    if len(key.data) > MOST_BYTES:
                        raise BufferError
            code = process.wait(max(until - time.monotonic(), 0.0))
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    return code, bytes(output), bytes(errors)
