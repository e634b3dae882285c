"""The command line as other programs use it: called here, or started in a process of its own."""

from __future__ import annotations

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


def schedscope(*arguments: str | Path, encoding: str = "utf-8") -> Done:
    """The program as in a process of its own that writes to pipes, without the price of one."""
    written = BytesIO(), BytesIO()
    out, err = (TextIOWrapper(each, encoding=encoding, write_through=True) for each in written)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["schedscope", *map(str, arguments)])
        patch.setattr(sys, "stdin", StringIO())
        patch.setenv("COLUMNS", "80")
        with pytest.raises(SystemExit) as end:
            main()
    return Done(end.value.code, *(each.getvalue().decode() for each in written))


def error(*arguments: str | Path) -> tuple[object, str]:
    """The exit code and the one line on stderr."""
    done = schedscope(*arguments)
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("schedscope: error: ")
    return done.returncode, lines[0].removeprefix("schedscope: error: ")


def write(path: Path, *jobs: str) -> Path:
    path.write_text("; MaxProcs: 4\n" + "".join(f"{job}\n" for job in jobs), encoding="utf-8")
    return path
