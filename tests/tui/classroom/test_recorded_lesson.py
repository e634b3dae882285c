"""Also tests tui.classroom.thumbnail."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from functools import cache, cached_property

import pytest
from textual.pilot import Pilot

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Staged
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.support.errors import SchedscopeError
from tests.tui.live.watched import text_of
from tui.app import Guest, Schedscope
from tui.classroom.opening import lesson_opening
from tui.classroom.recorded_lesson import LessonApp, LessonScreen
from tui.classroom.thumbnail import thumbnail
from tui.look.palette import DARK
from tui.screens.first.screen import FirstScreen
from tui.screens.replay.messages import OpenLesson
from tui.screens.replay.screen import ReplayScreen

pytestmark = pytest.mark.long

WHY, RANGE, HELP = 1, 5, 6
"""Indices of the scenes that ask why a job waits, when it starts, and what would help"""


class Performed(RecordedPerformance):
    """The lesson with its forecasts and its scenes, which each take more than a second, evaluated once."""

    @cached_property
    def _scenes(self) -> tuple[Staged, ...]:
        return super().staged()

    def staged(self) -> tuple[Staged, ...]:
        return self._scenes


@cache
def performed() -> Performed:
    performance = Performed(found_lesson("real-cluster"))
    performance.staged()
    return performance


@asynccontextmanager
async def lesson(scene: int, size: tuple[int, int] = (120, 36)) -> AsyncIterator[tuple[Pilot[int], LessonScreen]]:
    app = LessonApp(copy(performed()), scene)
    async with app.run_test(size=size) as pilot:
        await until(pilot, lambda: isinstance(app.screen, LessonScreen) and is_there(app.screen))
        assert isinstance(app.screen, LessonScreen)
        yield pilot, app.screen
        app.exit()


def is_there(screen: LessonScreen) -> bool:
    scene = screen.scene
    is_read = scene is not None and scene.state.reading is None and scene.picture == screen.walk.moment.step
    return is_read and screen.state.selected is not None


async def until(pilot: Pilot[int], holds: Callable[[], bool]) -> None:
    """Wait until `holds` returns True."""
    for _ in range(600):
        await pilot.pause(0.05)
        if holds():
            return
    raise AssertionError(seen(pilot))


def seen(pilot: Pilot[int]) -> str:
    return text_of(pilot.app)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 60)])
async def test_scene_shows_its_poll_its_job_and_its_question(size: tuple[int, int]) -> None:
    async with lesson(WHY, size) as (pilot, screen):
        assert screen.scene is not None
        assert screen.scene.picture == 35
        job = screen.scene.job(screen.state.selected)
        assert job is not None
        assert job.id == "46"
        text = seen(pilot)
        assert "With which word does Slurm say why J46 waits?" in text
        assert "2/9" in text
        assert "J46 waits behind 14 jobs" not in text
        assert "Priority:" not in text
        await pilot.press("5")
        assert "Right. Slurm's word is Priority" in seen(pilot)
        assert "J46 waits behind 14 jobs" in " ".join(seen(pilot).split())
        assert screen.walk.is_right


async def test_job_is_selected_only_in_a_chart_that_has_it() -> None:
    """While the recording is read, the history may know a job that the chart on the screen does not have yet."""
    async with lesson(WHY) as (_, screen):
        scene, rank = screen.scene, screen.state.selected
        assert scene is not None
        assert scene.chart is not None
        assert rank is not None
        early = replace(scene.chart, workload=scene.chart.workload.take(slice(rank)))
        screen.change(selected=None)
        for chart, selected in ((None, None), (early, None), (scene.chart, rank)):
            screen.scene = replace(scene, chart=chart)
            screen.show_scene(rank)
            assert screen.state.selected == selected


async def test_typed_wait_is_judged_and_the_start_is_shown() -> None:
    async with lesson(RANGE) as (pilot, screen):
        await pilot.press("8", "m", "enter")
        await until(pilot, lambda: screen.scene is not None and screen.scene.picture == screen.walk.moment.step)
        assert screen.walk.is_right
        assert screen.scene is not None
        job = screen.scene.job(screen.state.selected)
        assert job is not None
        assert job.is_running
        await pilot.press("left")
        assert screen.walk.open_question is not None


async def test_forecasts_are_those_of_the_lesson_and_keys_explore() -> None:
    async with lesson(HELP) as (pilot, screen):
        assert screen.scene is not None
        made = screen.watch_._polls.made(35)  # type: ignore[attr-defined]
        assert screen.scene.forecasts is made
        asked = screen.walk.open_question
        assert asked is not None
        assert not any("limit of 4m00" in choice.label for choice in asked.choices)  # its limit already
        assert "u what if" not in seen(pilot)
        await pilot.press("u")
        assert "this would answer the question" in seen(pilot)
        assert pilot.app.screen is screen
        await pilot.press("space")
        assert "u what if" in seen(pilot)
        await pilot.press("u")
        await until(pilot, lambda: " ".join(asked.told.split()[:8]) in " ".join(seen(pilot).split()))
        await pilot.press("escape", "enter", "right")
        await until(pilot, lambda: screen.scene is not None and screen.scene.picture == 36)
        assert "exploring, enter returns" in seen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: screen.scene is not None and screen.scene.picture == 35)


def test_lesson_has_a_thumbnail_and_no_replay() -> None:
    found = found_lesson("real-cluster")
    chart = thumbnail("real-cluster").chart(40, 16)
    assert chart.view.columns == 40
    assert chart.plan
    with pytest.raises(SchedscopeError, match="only schedscope learn real-cluster shows"):
        lesson_opening(found)


async def test_menu_opens_it_and_then_another_lesson() -> None:
    app = Schedscope(None, guest=Guest(DARK))
    async with app.run_test(size=(120, 36)) as pilot:
        app.post_message(OpenLesson("real-cluster"))
        await until(pilot, lambda: isinstance(app.screen, LessonScreen))
        first = app.screen
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, FirstScreen))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is first)
        await pilot.press("L")
        await until(pilot, lambda: isinstance(app.screen, FirstScreen))
        app.post_message(OpenLesson("backfilling"))
        await until(pilot, lambda: isinstance(app.screen, ReplayScreen))
        assert first not in app.screen_stack
        app.exit()
