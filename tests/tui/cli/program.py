"""The command line as other programs use it: called within the test, or started in a process of its own."""

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
