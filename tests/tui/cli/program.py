"""The command line as other programs use it: called within the test, or started in a process of its own."""

import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import NamedTuple

import pytest

from tui.cli.main import main

PROGRAM = [sys.executable, "-m", "tui.cli.main"]


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


class _Pipe(BytesIO):
    """Pipe whose reader keeps what was written before user-defined code closed it."""

    def close(self) -> None:
        pass


def schedscope(*arguments: str | Path, encoding: str = "utf-8") -> Done:
    """Run a command within this process as if its output went to pipes, which is faster than a process of its own."""
    written = _Pipe(), _Pipe()
    out, err = (TextIOWrapper(each, encoding=encoding, write_through=True) for each in written)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["schedscope", *map(str, arguments)])
        patch.setattr(sys, "stdin", StringIO())
        patch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as end:
            main()
    return Done(end.value.code, *(each.getvalue().decode() for each in written))


def error(*arguments: str | Path) -> tuple[object, str]:
    """Run a command that must fail; return (exit code, its only line on stderr)."""
    done = schedscope(*arguments)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("schedscope: error: ")
    return done.returncode, lines[0].removeprefix("schedscope: error: ")


def write(path: Path, *jobs: str) -> Path:
    path.write_text("; MaxProcs: 4\n" + "".join(f"{job}\n" for job in jobs), encoding="utf-8")
    return path


def judged(done: Done) -> str:
    """Return the outcome of a command: an error must be one printable line with a known exit code, otherwise it is a
    fault."""
    faults = ("Traceback", "internal error", "Warning")
    of_us = re.sub(r"(?m)^\S*own\.py:\d+: \w+Warning: .*$", "", done.stderr)
    if any(fault in of_us for fault in faults) or done.returncode not in (0, 1, 2):
        return f"fault {done.returncode} {done.stderr[-1500:]}"
    if done.returncode and not "".join(done.stderr.splitlines()[-1:]).startswith("schedscope: error: "):
        return "told" if done.stdout else f"fault {done.returncode} {done.stderr[-300:]!r}"
    if any(letter in done.stderr + done.stdout for letter in "\x1b\x07\u202e"):
        return f"fault an escape: {done.stderr[-300:]!r} {done.stdout[-300:]!r}"
    return "refused" if done.returncode else "done"
