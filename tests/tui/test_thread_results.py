from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.screen import Screen

from sim.policies import parse_policy
from sim.workload.source import Source
from tests.sim.lab.test_pivot import file
from tests.tui.late import Late, late
from tests.tui.live.screens.test_screen import opened, recording
from tests.tui.live.watched import settled
from tests.tui.replays import finished, painted, replay
from tui.app import Schedscope
from tui.classroom.opening import open_lesson
from tui.lab.results.screen import ResultsScreen
from tui.replay.opening import Opening


def first_result(app: Any, monkeypatch: pytest.MonkeyPatch) -> Late:
    return late(app, "call_from_thread", monkeypatch, lambda *given: True)


def opening(trace: str) -> Callable[[], Opening]:
    return lambda: Opening(Source(trace), parse_policy("easy"))


@pytest.mark.parametrize("before", ["z-figure4", "no-such-trace"])
async def test_a_run_that_is_read_late_replaces_no_newer_one(before: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with replay("w-figure1") as run:
        of_before = first_result(run.app, monkeypatch)
        run.app.open(opening(before))
        await of_before.come()
        run.app.open(opening("z-figure7"))
        await run.wait_for(lambda: run.screen.about.trace == "z-figure7")
        await of_before.go()
        await painted(run.pilot)
        assert run.screen.about.trace == "z-figure7"
        assert "no-such-trace" not in run.told


async def test_a_lesson_that_is_read_late_does_not_replace_a_newer_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.classroom.recorded_lesson.LessonScreen", lambda *given: Screen())
    async with replay("w-figure1") as run:
        of_lesson = first_result(run.app, monkeypatch)
        open_lesson(run.app, "real-cluster")
        await of_lesson.come()
        run.app.open(opening("z-figure7"))
        await run.wait_for(lambda: run.screen.about.trace == "z-figure7")
        await of_lesson.go()
        await painted(run.pilot)
        assert run.screen.about.trace == "z-figure7"


async def test_a_run_that_is_read_late_does_not_cover_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file(tmp_path / "r").__exit__()
    app = Schedscope(None, results=str(tmp_path / "r"))
    async with app.run_test(size=(120, 30)) as pilot:
        of_run = first_result(app, monkeypatch)
        app.open(opening("z-figure4"))
        await of_run.come()
        app._menus.show_results(str(tmp_path / "r"), app.look)
        await of_run.go()
        await finished(app)
        await painted(pilot)
        assert isinstance(app.screen, ResultsScreen)


async def test_a_search_that_was_given_up_finds_nothing(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(recording(shared)) as seen:
        await seen.press("home")
        await seen.pilot.press("x")
        await seen.answer("job 2 starts")
        of_search = first_result(seen.app, monkeypatch)
        await seen.pilot.press("semicolon")
        await of_search.come()
        await seen.pilot.press("escape")
        await of_search.go()
        assert (await settled(seen.pilot)).picture == 0
        assert seen.screen.state.said == "the search was given up"


async def test_an_outlook_that_was_given_up_opens_no_dialog(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui.live.outlook.outlook", lambda *given: ("It starts at once.",))
    async with opened(recording(shared)) as seen:
        await seen.press("w")
        of_outlook = first_result(seen.app, monkeypatch)
        await seen.pilot.press("u")
        await of_outlook.come()
        await seen.pilot.press("escape")
        await of_outlook.go()
        await painted(seen.pilot)
        assert seen.app.screen is seen.screen
