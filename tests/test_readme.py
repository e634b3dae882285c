"""What the README promises is what the program does."""

from __future__ import annotations

import re
from pathlib import Path

from sim.policies import POLICIES
from sim.workload.samples import captions
from tui.cli.main import COMMANDS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_first_screen_has_the_two_lines_for_a_fresh_machine() -> None:
    first_screen = "\n".join(README.splitlines()[:16])
    assert "    python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/schedscope\n" in first_screen
    assert "    python3 -m venv .venv && .venv/bin/pip install -e '.[test]' && .venv/bin/pytest\n" in first_screen


def test_the_table_of_policies_is_complete() -> None:
    section = README.partition("## Policies\n")[2].partition("\n## ")[0]
    assert sorted(re.findall(r"^\| ([a-z-]+) \|", section, flags=re.MULTILINE)) == sorted([*POLICIES, "name"])


def test_every_command_is_named() -> None:
    named = set(re.findall(r"^    schedscope (\w+) ", README, flags=re.MULTILINE))
    assert set(COMMANDS) <= named


def test_every_sample_is_where_it_belongs() -> None:
    files = {path.stem for path in (ROOT / "sample_traces").glob("*.swf")}
    assert files == {name for name, _ in captions()}


def test_nothing_else_stands_at_the_top() -> None:
    agreed = {"pyproject.toml", "README.md", "LICENSE", "tui", "sim", "tests", "sample_traces"}
    made = {"build", "dist", "uv.lock", "snapshot_report.html"}
    assert {p.name for p in ROOT.iterdir() if not p.name.startswith(".")} <= agreed | made
