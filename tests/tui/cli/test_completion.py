"""Completion in shells: the possible next words; a policy's file that is named on the line is not run for it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from sim.policies import POLICIES
from sim.policies.parameters import parameters_of
from sim.workload.samples import captions
from tests.tui.cli.program import schedscope
from tui.cli.main import COMMANDS

Candidates: TypeAlias = Callable[[str], list[str]]
BREAKS = " \t\n\"'><=;|&(:"
"""Characters at which bash splits words for completion by default"""


@pytest.fixture
def candidates_for(monkeypatch: pytest.MonkeyPatch) -> Candidates:
    def candidates(line: str) -> list[str]:
        monkeypatch.setenv("_SCHEDSCOPE_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_LINE", f"schedscope {line}")
        monkeypatch.setenv("COMP_BREAKS", BREAKS)
        done = schedscope()
        assert done.returncode == 0
        return [item.removeprefix("plain,") for item in done.stdout.split()]

    return candidates


@pytest.mark.parametrize(("line", "expected"), [
    ("ru", ["run", "file,ru"]), ("z-f", ["z-figure4", "z-figure7", "file,z-f"]),
    ("run z-figure7", ["z-figure7", "file,z-figure7"]), ("z-figure4 --polic", ["--policy"]),
    ("run x --policy relax", ["relaxed"]), ("run x --policy bf", ["bf"]),
    ("run x --policy easy:", [f"{name}=" for name in (*parameters_of(POLICIES["easy"]), "order")]),
    ("run x --policy easy:depth=2,ta", ["2,tail="]),
    ("run x --policy easy:order=sj", ["sjf"]), ("run x --policy=easy:order=sj", ["sjf"]),
    ("run x --policy conservative:compress=", ["start", "queue", "none"]),
    ("run x --switch 12d=conservat", ["conservative"]), ("run x --policy ./fa", ["file,./fa"]),
    ("run x --policy eazy:", []), ("run x --format ", ["table", "json", "csv"]),
    ("learn backf", ["backfilling", "file,backf"]), ("watch x --session s", ["file,s"]), ("completion z", ["zsh"]),
    ("metrics mean_wa", ["mean_wait"]),
])  # fmt: skip
def test_candidates(candidates_for: Candidates, line: str, expected: list[str]) -> None:
    assert candidates_for(line) == expected


def test_an_empty_line_has_all_commands_and_samples(candidates_for: Candidates) -> None:
    found = candidates_for("")
    assert set(COMMANDS) <= set(found)
    assert {name for name, _ in captions()} <= set(found)


@pytest.mark.parametrize(
    "line", ["run x --policy ./evil.py:Mine --form", "run x --policy ./evil.py:Mine:", "run x --switch 5=evil:Mine --f"]
)
def test_no_code_is_run(candidates_for: Candidates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    (tmp_path / "evil.py").write_text("open('RAN', 'w').close()")
    monkeypatch.chdir(tmp_path)
    candidates_for(line)
    assert not (tmp_path / "RAN").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_are_accepted_by_their_shells(shell: str) -> None:
    script = schedscope("completion", shell)
    assert script.returncode == 0
    assert "_SCHEDSCOPE_COMPLETE" in script.stdout
    if program := shutil.which(shell):
        done = subprocess.run([program, "-n"], input=script.stdout, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a value for PATH, in which a script named as the program starts it."""
    program = tmp_path / "schedscope"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tui.cli.main "$@"\n')
    program.chmod(0o755)
    return f"{tmp_path}:/usr/bin:/bin"


def completed(shell: str, script: str, path: str, home: Path) -> str:
    """Return the output of a shell that has read its completion script, and then this script."""
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    whole, environment = schedscope("completion", shell).stdout + script, {"PATH": path, "HOME": str(home)}
    return subprocess.run([program, "-c", whole], capture_output=True, text=True, env=environment, check=True).stdout


def test_fish_completes_the_second_parameter_of_a_policy(path: str, tmp_path: Path) -> None:
    told = completed("fish", 'complete -C "schedscope run lublin-128 --policy easy:order=sjf,de"', path, tmp_path)
    assert told == "easy:order=sjf,depth=\thow many waiting jobs get a reservation\n"


def test_bash_completes_a_policy(path: str, tmp_path: Path) -> None:
    line = "schedscope run lublin-128 --policy easy:order=sa"
    script = (
        f"compopt() {{ :; }}\nCOMP_LINE='{line}' COMP_POINT={len(line)}\n_schedscope_completion schedscope\n"
        'echo "${COMPREPLY[*]}"\n'
    )
    assert completed("bash", script, path, tmp_path) == "saf\n"
