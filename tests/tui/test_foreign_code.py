"""Code that a file from a stranger names runs nowhere before the user agrees; every way to name code is tried."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from sim.lab.results import Results
from sim.policies import parse_policy
from sim.session.session import session_text
from sim.session.sources import session_of
from sim.support.errors import SchedscopeError
from sim.workload.source import Source
from tests.sim.lab.test_results import outcome
from tests.tui.cli.program import error, schedscope
from tests.tui.replays import Replay, replay
from tui.app import Schedscope
from tui.lab.results.screen import ResultsScreen
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.replay.messages import OpenEntry
from tui.sessions.session_conversion import found_session, reopened

EVIL = """
from pathlib import Path
from sim.policies.backfill.firstfit import FirstFit
from sim.policies.orders import Order
Path("RAN").write_text("it ran")
class Mine(FirstFit): pass
class Foo(Order):
    def key(self, job, now): return 0
"""
SPECS = (
    "./evil.py:Mine", "evil:Mine", "pack.evil:Mine", "./evil.py@HEAD:Mine", "easy:order=evil:Foo",
    "easy:order=evil.py@=x", "easy:order=./evil.py:Foo,depth=2", "adaptive:below=./evil.py",
    "adaptive:above=easy:order=evil:Foo+depth=2",
)  # fmt: skip
LESSON = """
title = "A lesson"
about = "What it is about."
trace = "z-figure4"
policy = "{policy}"

[[scene]]
title = "A scene"
at = 600
say = "{say}"
{more}
"""
LESSONS = (
    ("{spec}", "Nothing.", ""),
    ("easy", "It waited {{J3.wait@{spec}}}.", ""),
    ("easy", "Nothing.", 'holds = ["mean_wait@{spec} > 1"]'),
    ("easy", "Nothing.", 'policy = "{spec}"'),
    ("easy", "Nothing.", 'compare = "{spec}"'),
    ("easy", "Nothing.", '[scene.ask]\nkind = "policy"\noptions = ["easy", "{spec}"]\n'),
    ("easy", "Nothing.", '[scene.ask]\nkind = "next"\nthen = "{{J3.wait@{spec}}}"\n'),
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the present folder, with policy files and a `git` that leave a mark if they run; check afterwards that
    there is no mark."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "evil.py").write_text(EVIL)
    (tmp_path / "pack").mkdir()
    for name in ("__init__", "evil"):
        (tmp_path / "pack" / f"{name}.py").write_text(EVIL)
    (tmp_path / "git").write_text("#!/bin/sh\ntouch RAN\n")
    (tmp_path / "git").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    yield tmp_path
    assert not list(tmp_path.rglob("RAN"))


def session_with(spec: str, at: str, path: Path) -> Path:
    """Write a session that names the code `spec`, where `at` says: as its policy, in a switch, or as the policy with
    which it is compared."""
    text = session_text(session_of(Source("z-figure4"), "easy", [(600.0, parse_policy("fcfs"))]))
    was = {"policy": 'policy = "easy"', "switch": 'policy = "fcfs"', "partner": 'branch = "main"\nstep'}[at]
    assert was in text
    named = f'policy = "{spec}"' if at != "partner" else f'branch = "main"\npartner = "{spec}"\nstep'
    path.write_text(text.replace(was, named, 1))
    return path


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("lesson", LESSONS)
def test_lessons_run_no_code(folder: Path, lesson: tuple[str, str, str], spec: str) -> None:
    policy, say, more = (part.format(spec=spec) for part in lesson)
    (folder / "bad.toml").write_text(LESSON.format(policy=policy, say=say, more=more))
    done = schedscope("learn", "--check", "bad.toml")
    assert done.returncode == 1
    assert done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for line in (done.stdout + done.stderr).splitlines():
        assert line.startswith(("bad.toml", "schedscope: error: bad.toml"))


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("at", ["policy", "switch", "partner"])
def test_sessions_run_no_code_before_they_are_trusted(folder: Path, at: str, spec: str) -> None:
    session_with(spec, at, folder / "s.session")
    code, line = error("record", "s.session", "-o", "x.cast")
    assert code == 1
    assert "the session runs code: " in line
    assert "evil" in line
    with pytest.raises(SchedscopeError):
        reopened(found_session("s.session"))
    code, line = error("watch", "--session", "s.session")
    assert code == 1
    assert line


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("plan", ['policies = "{}"', 'policies = "easy"\n[options]\nswitch = "600={}"'])
def test_plans_run_no_code_without_trust(folder: Path, plan: str, spec: str) -> None:
    (folder / "plan.toml").write_text('traces = "z-figure4"\n' + plan.format(spec))
    for more in (["--dry-run"], ["-o", "x.sqlite"]):
        code, line = error("sweep", "plan.toml", *more)
        assert code == 1
        assert "it runs code: " in line


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("column", ["policy", "switch", "parameters"])
async def test_results_run_no_code(folder: Path, column: str, spec: str) -> None:
    with Results(folder / "r.sqlite", write=True) as results:
        results.add([outcome(1)])
    with closing(sqlite3.connect("r.sqlite")) as db:
        db.execute(f"UPDATE runs SET {column} = ?", (f"600={spec}" if column == "switch" else spec,))
        db.commit()
    for command in (
        ["results", "r.sqlite"],
        ["results", "r.sqlite", "--rows", "family"],
        ["plot", "r.sqlite", "-x", "load"],
    ):
        assert "Traceback" not in schedscope(*command).stderr
    if column != "policy" and spec != SPECS[0]:
        return
    app = Schedscope(None, results="r.sqlite")
    async with app.run_test(size=(100, 30), notifications=True) as pilot:
        run = Replay(app, pilot)
        await run.wait_for(lambda: isinstance(app.screen, ResultsScreen) and app.screen.found)
        await pilot.press("r")
        await run.wait_for(
            lambda: isinstance(app.screen, ResultsScreen) and app.screen.found and app.screen.found.listed
        )
        await pilot.press("enter")
        await run.wait_for(lambda: isinstance(app.screen, ChoiceDialog) or app.replay is not None or bool(run.told))
        app.exit()


@pytest.mark.parametrize("spec", SPECS)
async def test_the_app_asks_before_it_opens_a_session(folder: Path, spec: str) -> None:
    session_with(spec, "policy", folder / "s.session")
    async with replay(policy="fcfs") as run:
        run.app.post_message(OpenEntry("s.session", is_session=True))
        await run.wait_for(lambda: isinstance(run.app.screen, ChoiceDialog))
        await run.wait_for(lambda: "evil" in run.text)
        await run.pilot.press("n")
        await run.wait_for(lambda: "policy code was not run" in run.text)


@pytest.mark.parametrize("spec", SPECS)
def test_visitors_are_served_no_code(spec: str) -> None:
    pytest.importorskip("aiohttp")
    pytest.importorskip("textual_serve")
    code, line = error("serve", "z-figure4", "--policy", spec)
    assert code == 2
    assert "serve allows only the built-in policies" in line
