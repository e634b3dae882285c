"""`schedscope new` writes policies that run, and overwrites no file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sim.policies import POLICIES
from sim.testing import check_policy
from tests.tui.cli.program import error, schedscope

pytestmark = pytest.mark.usefixtures("own_program")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("like", ["easy", "fcfs", "conservative", "fair-share", "selective"])
def test_what_it_writes_keeps_to_what_every_policy_is_held_to(like: str) -> None:
    done = schedscope("new", "fair_share.py", "--like", like)
    assert done.returncode == 0
    assert "schedscope test ./fair_share.py" in done.stdout
    check_policy("fair_share.py:FairShare", count=10)


@pytest.mark.parametrize("like", POLICIES)
def test_every_policy_can_be_begun_with(like: str) -> None:
    schedscope("new", "own.py", "--like", like)
    assert schedscope("run", "z-figure4", "--policy", "./own.py", "--check").returncode == 0


def test_what_it_writes_is_as_tidy_as_ours(folder: Path) -> None:
    for like in ("easy", "fcfs", "conservative", "fair-share", "selective", "gang"):
        schedscope("new", f"a_long_name_{like}.py", "--like", like)
    rules = ["--config", str(Path(__file__).parents[3] / "pyproject.toml"), "--no-cache"]
    found = subprocess.run([sys.executable, "-m", "ruff", "check", *rules, "."], capture_output=True, text=True)
    if "No module named ruff" in found.stderr:
        pytest.skip("ruff is not installed")
    assert found.stdout.strip() == "All checks passed!"


def test_the_test_beside_it_passes(folder: Path) -> None:
    schedscope("new", "fair.py")
    text = (folder / "test_fair.py").read_text()
    module: dict[str, object] = {"__file__": str(folder / "test_fair.py")}
    exec(compile(text, "test_fair.py", "exec"), module)
    tests = [what for name, what in module.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()  # type: ignore[operator]


@pytest.mark.parametrize("there", ["fair.py", "test_fair.py"])
def test_nothing_is_overwritten(folder: Path, there: str) -> None:
    (folder / there).write_text("mine")
    code, told = error("new", "fair.py")
    assert (code, told.partition(":")[0]) == (1, there)
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [(there, "mine")]


@pytest.mark.parametrize(
    ("words", "exits", "says"),
    [
        (("fair-share.py",), 2, "fair-share.py: expected the name of a file like fair_share.py"),
        (("fair",), 2, "fair: expected the name of a file"),
        (("fair.py", "--like", "eazy"), 2, "no policy 'eazy'; did you mean 'easy'?"),
        (("nowhere/fair.py",), 1, "nowhere/fair.py: cannot be written: No such file or directory"),
    ],
)
def test_what_cannot_be_written_is_told(words: tuple[str, ...], exits: int, says: str) -> None:
    code, told = error("new", *words)
    assert (code, says in told) == (exits, True), told
