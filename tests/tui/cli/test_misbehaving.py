"""Policies that misbehave: each command ends in time and with a message of one line, in a process of its own.

Tests tui.cli.main.program.
"""

import os
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.tui.cli.program import PROGRAM, error
from tests.tui.forks import ran

HEAD = """from dataclasses import dataclass
from sim.policies.backfill.easy import Easy
from sim.policies.orders import Order
from sim.policies.policy import order_field
"""
MINE = "@dataclass(frozen=True)\nclass Mine(Easy):\n    '''Mine.'''\n"
DECIDE = "    def decide(self, now):\n        {}\n        super().decide(now)\n"
HARMLESS = {
    "a sleeping atexit": "import atexit, time\natexit.register(time.sleep, 999)\n",
    "a failing atexit": "import atexit\natexit.register(lambda: 1 / 0)\n",
    "an endless destructor": "class D:\n    def __del__(self):\n        while True: pass\nkept = D()\n",
    "a sleeping executor": "import concurrent.futures as c, time\nc.ThreadPoolExecutor(1).submit(time.sleep, 999)\n",
    "a sleeping thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(999,)).start()\n",
    "no excepthook": "import threading\nthreading.excepthook = None\nthreading.Thread(target=int).start()\n",
    "raw output": "import os\nos.write(1, b'out')\n",
    "patched Textual": "import textual.app\ntextual.app.App.run = None\n",
}
REFUSED = {
    "no builtin": ("import builtins\nbuiltins.len = None\n", "replaces builtins.len"),
    "no builtin in secret": ("import builtins\nvars(builtins)['len'] = None\n", "replaces builtins.len"),
    "no stderr": ("import sys\nsys.stderr = None\n1 / 0\n", "ZeroDivisionError"),
    "too much memory": ("x = [0] * 10**12\n", "needs more memory"),
}
FAILING = {
    "recursion": ("import sys\nsys.setrecursionlimit(10**9)\ndef f(): return f()\n", "f()", "RecursionError"),
    "closed stderr": ("import sys\n", "sys.stderr.close(); 1 / 0", "ZeroDivisionError"),
    "no builtin": ("import builtins\n", "builtins.len = None", "AttributeError: it replaces builtins.len"),
    "no builtin in secret": ("import builtins\n", "vars(builtins)['len'] = None; len([])", "TypeError"),
    "too much memory": ("", "x = [0] * 10**12", "MemoryError"),
}


def tried(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    (folder / "mine.py").write_text(HEAD + text)
    return ran("run", "z-figure4", "--policy", "./mine.py", cwd=folder)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_left_for_the_end_does_not_delay_it(name: str, tmp_path: Path) -> None:
    done = tried(tmp_path, HARMLESS[name] + MINE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "mean wait" in done.stdout


def test_a_failing_destructor_is_one_line(tmp_path: Path) -> None:
    done = tried(tmp_path, "class D:\n    def __del__(self): 1 / 0\n" + MINE + DECIDE.format("D()"))
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "a destructor failed: ZeroDivisionError" in done.stderr + done.stdout or not done.stderr


@pytest.mark.parametrize("name", REFUSED)
def test_code_that_breaks_the_process_is_refused(name: str, tmp_path: Path) -> None:
    text, told = REFUSED[name]
    done = tried(tmp_path, text + MINE)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("name", FAILING)
def test_a_pass_that_breaks_the_process_is_one_line(name: str, tmp_path: Path) -> None:
    text, line, told = FAILING[name]
    done = tried(tmp_path, text + MINE + DECIDE.format(line))
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert told in done.stderr


@pytest.mark.parametrize("base", ["Easy", "Ordered"])
def test_an_order_without_parentheses_is_one_line(base: str, tmp_path: Path) -> None:
    text = MINE.replace("Easy", base) + "    order: Order = order_field\n"
    done = tried(tmp_path, f"from sim.policies.policy import Ordered\n{text}")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    assert "order: Order = order_field(Fcfs())" in done.stderr


# The system refuses
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"], ["policies"]])
def test_a_full_device_is_one_line(words: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = ran(*words, stdout=full.fileno())
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr


def test_a_working_directory_that_is_gone_is_one_line(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    command = f"rmdir '{gone}'; exec {shlex.join(PROGRAM)} run z-figure4 --policy ./x.py"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", command], cwd=gone, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "schedscope: error: the working directory is gone: change to a folder that is there\n"


def test_new_on_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, *given: Any, **more: Any) -> Any:
        if path.name.startswith("test_"):
            path.touch()
            raise OSError(28, "No space left on device")
        return open(path, *given, **more)

    monkeypatch.setattr("tui.authoring.cli.new.open", full, raising=False)
    code, line = error("new", tmp_path / "fair.py")
    assert (code, "No space left" in line) == (1, True)
    assert not (tmp_path / "fair.py").exists()
