"""Runner of Slurm's commands, on this machine or another. Only commands written in this program run; their output is
text.
"""

from __future__ import annotations

import shlex
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from sim.errors import ClusterError
from sim.formatting import printable, shortened

PATIENCE = 60.0
"""Seconds after which a command without an answer is stopped."""
MOST_BYTES = 1 << 28
"""Largest size in bytes of the output of a command."""
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
        """Return the output of a command. Raise `ClusterError` if the command fails, does not exist or gives no answer
        in time.
        """
        begin = time.monotonic()
        try:
            done = subprocess.run(self._line(words), capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        except FileNotFoundError as error:
            raise ClusterError(f"{error.filename}: no such command; Slurm's commands must be on PATH") from None
        except OSError as error:
            raise ClusterError(f"{words[0]}: {error.strerror or error}") from None
        except subprocess.TimeoutExpired:
            raise ClusterError(f"{words[0]} gave no answer within {PATIENCE:.0f} s") from None
        finally:
            self.spent += time.monotonic() - begin
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
            told = printable(said[-1]).removeprefix(f"{words[0]}: ")
            raise ClusterError(f"{words[0]}: {shortened(told, 200)}")
        if len(done.stdout) > MOST_BYTES:
            raise ClusterError(f"{words[0]} answered with more than {MOST_BYTES:,} bytes")
        return done.stdout.decode(errors="replace")

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
