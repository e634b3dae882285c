"""Behaviour of the project on Windows, as far as another system can show it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tui.look.settings import FOLDER_VARIABLE
from tui.sessions.autosave import STATE

ROOT = Path(__file__).resolve().parent.parent

pytestmark = [pytest.mark.long, pytest.mark.skipif(sys.platform == "win32", reason="this is Windows")]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what `tests.windows` reports: actions of the program in a process in which it sees Windows."""
    folder = tmp_path_factory.mktemp("windows")
    own = {"PYTHONPATH": str(ROOT), STATE: str(folder / "kept"), FOLDER_VARIABLE: str(folder)}
    command = [sys.executable, "-m", "tests.windows"]
    done = subprocess.run(command, cwd=folder, env=os.environ | own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_windows_runs_the_program(seen: dict[str, Any]) -> None:
    assert seen["broken"] == {}
    told = {name: err for name, (code, _, err) in seen["commands"].items() if code}
    assert told == {"serve": "schedscope: error: serve needs a system that can fork: Linux, macOS or WSL\n"}
    assert seen["again"] == [0, "", ""]
    assert seen["saved"] == [1, 2]
    assert seen["autosaved"] == [False, True, False, False]
    assert seen["presented"] == 1


def test_the_colon_of_a_drive_is_none_of_a_spec(seen: dict[str, Any]) -> None:
    assert seen["named"] == [
        ["C:\\pol\\fair.py", "Fair", "h=2", "C:\\pol\\fair.py:Fair:h=2"],
        ["D:\\pol\\o.py", "", "", "easy:order=D:\\pol\\o.py"],
        ["C:\\a.py", "", "h=2", "adaptive:above=C:\\a.py:h=2,below=easy"],
    ]
