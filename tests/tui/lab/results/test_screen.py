import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from sim.lab.results import Results
from tests.sim.lab.test_pivot import file, outcome, plan
from tests.tui.late import Late, late_message
from tests.tui.replays import Replay, first_screen, painted
from tui.app import Schedscope
from tui.lab.results.screen import Read, ResultsScreen


@asynccontextmanager
async def opened(path: Path, size: tuple[int, int] = (120, 30)) -> AsyncIterator[Replay]:
    app = Schedscope(None, results=str(path))
    async with app.run_test(size=size, notifications=True) as pilot:
        run = Replay(app, pilot)
        await run.wait_for(lambda: isinstance(app.screen, ResultsScreen) and app.screen.found)
        await painted(pilot)
        yield run
        app.exit()


async def test_from_a_mean_to_its_runs_to_a_replay_and_back(tmp_path: Path) -> None:
    file(tmp_path / "r").__exit__()
    async with opened(tmp_path / "r") as run:
        await run.pilot.press("v", *"mean_wait", "enter")
        await run.wait_for(lambda: "mean wait (s)" in run.text and "23.0" in run.text)
        assert "relaxed:omega=1" in run.text
        await run.pilot.press("down", "right", "enter")
        await run.wait_for(lambda: "policy=relaxed:omega=0   load=2" in run.text)
        await run.pilot.press("down", "enter")
        await run.wait_for(lambda: run.app.replay is not None)
        await run.settle()
        assert (run.screen.about.trace, run.scene.snapshot.policy) == ("z-figure4", "relaxed:omega=0")
        assert run.app.opened is not None
        assert run.app.opened.opening.source.options == {"load": 2.0, "seed": 1}
        await run.pilot.press("H")
        assert isinstance(run.app.screen, ResultsScreen)
        assert run.app.replay is None
        await run.pilot.press("escape")
        await run.wait_for(lambda: "policy \\ load" in run.text)
        await run.pilot.press("x", "c")
        await run.wait_for(lambda: "load \\ load" in run.text)


async def test_help_is_about_this_screen(tmp_path: Path) -> None:
    file(tmp_path / "r").__exit__()
    async with opened(tmp_path / "r", (80, 24)) as run:
        assert "? help  q quit" in run.text
        await run.pilot.press("question_mark")
        await run.wait_for(lambda: "Choose a mean, or a run." in run.text)
        assert "A block in the chart" not in run.text


async def test_the_table_fills_while_a_sweep_goes_on(tmp_path: Path) -> None:
    runs = list(plan().runs())
    with Results(tmp_path / "r", write=True) as results:
        results.add(map(outcome, runs[:2]))
    async with opened(tmp_path / "r", (80, 24)) as run:
        assert " 2 runs" in run.text
        with Results(tmp_path / "r", write=True) as results:
            results.add(map(outcome, runs[2:]))
        await run.wait_for(lambda: " 24 runs" in run.text)
        await run.pilot.press("w", *"load=1", "enter")
        await run.wait_for(lambda: "load=1" in run.text)
        await run.pilot.press("w", *"load?", "enter")
        assert "a condition is like load<=1.2" in run.text


async def test_a_file_is_read_while_the_scale_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scale of the plot changes nothing of what is read."""
    async with reading(tmp_path / "r", monkeypatch) as (run, late):
        await run.pilot.press("l")
        await late.go()
        await run.wait_for(lambda: " 12 runs" in run.text)


async def test_a_file_that_was_read_before_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """During a sweep, the content of one moment may be on its way while that of a later moment is shown."""
    async with reading(tmp_path / "r", monkeypatch) as (run, late):
        with Results(tmp_path / "r", write=True) as results:
            results.add(map(outcome, list(plan().runs())[12:]))
        await run.wait_for(lambda: " 24 runs" in run.text)
        await late.go()
        await painted(run.pilot)
        assert " 24 runs" in run.text


@asynccontextmanager
async def reading(path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Replay, Late]]:
    """Show a file with 2 runs, to which others are added: the content with 12 runs is on its way."""
    runs = list(plan().runs())
    with Results(path, write=True) as results:
        results.add(map(outcome, runs[:2]))
    async with opened(path) as run:
        late = late_message(run.app.screen, Read, monkeypatch)
        with Results(path, write=True) as results:
            results.add(map(outcome, runs[2:12]))
        await late.come()
        yield run, late


async def test_it_is_opened_from_the_menu_as_well(tmp_path: Path) -> None:
    file(tmp_path / "r.sqlite").__exit__()
    async with first_screen() as run:
        await run.pilot.press("o", *str(tmp_path / "r.sqlite"))
        await run.wait_for(lambda: "it opens as a table and a plot" in run.text)
        await run.pilot.press("enter")
        await run.wait_for(lambda: isinstance(run.app.screen, ResultsScreen) and run.app.screen.found)
        assert len(run.app.screen_stack) == 2


async def test_a_file_that_goes_is_reported(tmp_path: Path) -> None:
    file(tmp_path / "r").__exit__()
    async with opened(tmp_path / "r") as run:
        (tmp_path / "r").unlink()
        await run.wait_for(lambda: "no such file of results" in run.told)


@pytest.mark.parametrize(("table", "column"), [("metrics", "mean_wait"), ("runs", "trace"), ("runs", "switch")])
async def test_a_damaged_file_is_reported_in_one_line(tmp_path: Path, table: str, column: str) -> None:
    file(tmp_path / "r").__exit__()
    async with opened(tmp_path / "r") as run:
        with closing(sqlite3.connect(tmp_path / "r")) as db:
            db.execute(f"UPDATE {table} SET {column} = ?", (b"\xff[/x]",))
            db.commit()
        await run.pilot.press("v", *"mean_wait", "enter")
        await run.wait_for(lambda: "is damaged" in run.told)
        await run.pilot.press("r", "enter", "escape")
        assert run.app.is_running
