"""Also tests tui.replay.guide, tui.classroom.opening."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.lesson_file import course, read_lesson
from sim.classroom.lessons.recorded import performance_of
from sim.classroom.lessons.walk import Walk
from sim.support.errors import SchedscopeError
from tests.sim.classroom.lessons.lessons import file, walk
from tests.tui.replays import Replay
from tests.tui.screens.seeing import cell, noted, seen
from tui.app import Schedscope
from tui.chart.hover import Spot
from tui.chart.scale import Camera
from tui.classroom.guide import LessonGuide, walk_of
from tui.classroom.opening import lesson_opening
from tui.replay.navigation import Traveller
from tui.replay.requests import Wish
from tui.replay.stage import RunView
from tui.widgets.gantt import Gantt

FIRST = 'at = 600\npolicy = "fcfs"\nselect = "J3"\nsay = "J3 waits **{J3.wait}**."'
NEXT = 'policy = "easy"\nat = 0\nbefore = "job 5 starts"\n[scene.ask]\nkind = "next"\nthen = "So it goes."'
COMPARED = 'compare = "fcfs"\nshow = ["versus"]\nsay = "Beside each other."'
START = 'at = 100\nshow = ["queue"]\n[scene.ask]\nkind = "start"\njob = "J4"'


@asynccontextmanager
async def lesson(folder: Path, *scenes: str, size: tuple[int, int] = (120, 36)) -> AsyncIterator[Replay]:
    app = Schedscope(lesson_opening(read_lesson(file(folder, *scenes))).prepare())
    async with app.run_test(size=size) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        yield run
        app.exit()


async def test_scenes_show_their_moment_policy_and_words(tmp_path: Path) -> None:
    async with lesson(tmp_path, FIRST, COMPARED) as run:
        assert (run.scene.clock, run.scene.snapshot.policy, run.screen.state.selected) == (600, "fcfs", 2)
        assert "J3 waits 19m40." in seen(run, "#lesson")
        assert "1/2" in seen(run, "#lesson")
        assert "space → go on" in seen(run, "#keys")
        await run.press("pagedown")
        assert "Beside each other." in seen(run, "#lesson")
        assert run.screen.shown is not None
        assert run.screen.shown.beside is not None
        await run.press("pageup")
        assert run.screen.shown.beside is None


async def test_a_question_hides_what_comes_and_its_answer_shows_it(tmp_path: Path) -> None:
    async with lesson(tmp_path, NEXT, FIRST) as run:
        assert all(queued.planned is None for queued in run.scene.snapshot.queue)
        assert {box.kind for box in run.scene.chart.plan} == {"expected"}  # type: ignore[union-attr]
        assert "Which job starts next?" in seen(run, "#lesson")
        assert "Click the job" in noted(run)
        assert "estimate" in seen(run, "#queue").splitlines()[1]
        assert "not reached" not in seen(run, "#queue")
        assert "step 5 / 5+" in seen(run, "#top")
        await run.press("4")
        assert "Not J4. J4 has waited 9m30" in seen(run, "#lesson")
        assert "So it goes." in seen(run, "#lesson")
        assert (run.scene.clock, run.screen.state.selected) == (600, 4)
        await run.press("left")
        assert run.scene.clock == 599
        await run.press("space", "space")
        assert run.scene.snapshot.policy == "fcfs"


async def test_who_gains_is_seen_beside_each_other(tmp_path: Path) -> None:
    gains = 'policy = "fcfs"\nat = 2700\n[scene.ask]\nkind = "gains"\nunder = "easy"'
    async with lesson(tmp_path, gains) as run:
        await run.press("5")
        assert "Right. J5 ends 20m00 earlier under easy." in seen(run, "#lesson")
        assert "Compared" in seen(run, "#versus")
        await run.press("question_mark")
        assert "In a lesson" in run.text


async def test_the_run_beside_is_seen_to_its_end(tmp_path: Path) -> None:
    head = 'title = "x"\ntrace = "w-figure1"\npolicy = "relaxed:omega=1.25"\n'
    path = file(tmp_path, 'at = 2800\n[scene.ask]\nkind = "loses"\nunder = "easy"', head=head)
    app = Schedscope(lesson_opening(read_lesson(path)).prepare())
    async with app.run_test(size=(120, 36)) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        await run.press("space")
        assert run.screen.shown is not None
        assert run.screen.shown.beside is not None
        assert run.scene.clock < run.screen.shown.beside.clock == 2800
        assert not run.screen.shown.beside.snapshot.running
        app.exit()


async def test_the_size_of_the_chart_beside_moves_no_other(tmp_path: Path) -> None:
    async with lesson(tmp_path, COMPARED) as run:
        chart, beside = run.screen.charts
        was = chart.camera
        assert was is not None
        run.screen.post_message(Gantt.CameraChanged(beside, was.zoomed(-2, 0), by_size=True))
        await run.settle()
        assert chart.camera == was
        assert beside.camera is not None
        assert beside.camera.per_column == was.per_column


async def test_a_place_on_the_chart_is_an_answer(tmp_path: Path) -> None:
    async with lesson(tmp_path, START) as run:
        await run.pilot.click("#chart", offset=cell(run, 1800, 1))
        await run.settle()
        assert "Right. At 00:30:00: J4 starts" in seen(run, "#lesson")


async def test_typed_answers_are_read_at_enter(tmp_path: Path) -> None:
    async with lesson(tmp_path, START) as run:
        await run.press("3", "h", "h")
        assert "> 3hh_" in seen(run, "#lesson")
        await run.press("enter")
        assert "a time is seconds" in noted(run)
        await run.press("backspace", "backspace", "0", "m", "enter")
        assert "Right." in seen(run, "#lesson")
    async with lesson(tmp_path, START) as run:
        await run.press("d", "0", "space", "0", "0", "colon", "2", "0", "enter")
        assert "00:20:00 is 10m00 too early." in seen(run, "#lesson")
        assert [mark.time for mark in run.scene.chart.marks] == [1200, 1800]  # type: ignore[union-attr]
        assert "your guess" in seen(run, "#chart")
        await run.press("left")
        assert not run.scene.chart.marks  # type: ignore[union-attr]


async def test_panels_tell_the_estimates_of_the_run_that_is_shown(tmp_path: Path) -> None:
    seen_so = 'at = 599\nselect = "J3"\nshow = ["details"]\nsay = "Look."'
    scenes = (f'{one} = "easy with factor:3"\n{seen_so}' for one in ("compare", "policy"))
    async with lesson(tmp_path, *scenes) as run:
        assert "estimate 10m00" in seen(run, "#details")
        assert [branch.name for branch in run.session.branches] == ["main"]
        assert run.session.partner is None
        await run.press("space")
        assert "estimate 30m00" in seen(run, "#details")
        assert "easy with factor:3" in seen(run, "#top")
        with pytest.raises(SchedscopeError, match="keeps no run with other estimates"):
            assert run.session


async def test_a_person_looks_around_and_comes_back(tmp_path: Path) -> None:
    async with lesson(tmp_path, FIRST) as run:
        await run.press("enter", "right", "right")
        assert run.step > 6
        assert "exploring" in seen(run, "#lesson")
        await run.press("2", "escape")
        assert (run.scene.clock, run.step) == (600, 6)
        assert "exploring" not in seen(run, "#lesson")
        await run.press("right_square_bracket")
        assert "exploring" in seen(run, "#lesson")


async def test_the_scene_is_shown_whole_on_a_small_screen(tmp_path: Path) -> None:
    async with lesson(tmp_path, FIRST, NEXT, size=(80, 24)) as run:
        await run.press("space")
        view = run.scene.chart.view  # type: ignore[union-attr]
        assert view.start <= 0
        assert view.end >= 2700


@pytest.mark.parametrize(
    ("key", "letter", "action"),
    [("space", " ", "lesson_next"), ("5", "5", "lesson_type('5')"), ("d", "d", None), ("w", "w", None)],
)
def test_a_key_is_an_answer_only_while_one_is_asked(tmp_path: Path, key: str, letter: str, action: str | None) -> None:
    there = walk(tmp_path, NEXT)
    assert LessonGuide(there).action(key, letter) == action
    assert LessonGuide(there.off()).action(key, letter) is None
    assert LessonGuide(there.next()).action(key, letter) == (action if key == "space" else None)


async def test_enter_behind_an_answer_leaves_nobody_off_the_path(tmp_path: Path) -> None:
    """The first Enter after an answer by a digit must not leave the lesson's path, because students press it out of
    habit."""
    async with lesson(tmp_path, NEXT, FIRST) as run:
        await run.press("4", "enter")
        walk = walk_of(run.screen.state.guide)
        assert walk is not None
        assert walk.verdict is not None
        assert not walk.is_off
        await run.press("enter")
        assert run.screen.state.guide is not None
        assert run.screen.state.guide.is_off


@pytest.mark.parametrize("lesson", [each for each in course() if each.trace], ids=lambda lesson: lesson.name)
def test_plan_and_tooltips_keep_each_answer_back(lesson: Lesson) -> None:
    made = performance_of(lesson)
    for staged in Walk.of(made).scenes:
        asked, moment = staged.question, staged.moment
        if asked is None:
            continue
        made.runs.timeline.look_at(moment.branch)
        stage = RunView(made.runs.timeline)
        Traveller(stage).seek_time(moment.clock, lambda: False)
        camera = Camera.on(made.workload, 80, 40)
        scene = stage.scene(Wish(camera, veil="policy" if asked.kind == "policy" else "plan"))
        assert scene.chart is not None
        running = {run.job.rank for run in scene.snapshot.running if run.kind != "gang"}
        waiting = {job.rank for job in scene.snapshot.queue.jobs}
        assert not {box.rank for box in scene.chart.plan} & waiting
        assert {box.rank for box in scene.chart.plan} <= running | {out.job.rank for out in scene.snapshot.suspended}
        for rank in {run.job.rank for run in scene.snapshot.running} - running | waiting:
            assert not any(word in scene.hover(rank) for word in ("ends by", "planned", "reserved")), asked.asks
        assert not scene.snapshot.decisions
        assert scene.known_steps == moment.step
        assert scene.strip.known <= moment.clock
        assert not scene.hover_free(Spot(moment.clock + 60, 0, None))


async def test_no_key_answers_an_open_question(tmp_path: Path) -> None:
    made = 'at = 2700\n[scene.ask]\nkind = "policy"\namong = ["easy", "fcfs"]'
    async with lesson(tmp_path, START.replace("[scene.ask]", 'select = "J4"\n[scene.ask]'), made) as run:
        for question in range(2):
            for key in ("u", "p", "P", "v", "V", "B", "Y"):
                await run.press(key)
                assert "this would answer the question" in noted(run), key
                assert run.app.screen is run.screen
            await run.press("w")
            assert "Planned" not in run.text
            await run.press(*["space"] * (2 - question))
        assert "It is easy." in seen(run, "#lesson")
        await run.press("P")
        assert run.app.screen is not run.screen


async def test_next_lesson_follows_the_last_scene() -> None:
    first, second = course()[:2]
    app = Schedscope(lesson_opening(first, first.count - 1).prepare())
    async with app.run_test(size=(120, 36)) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        assert f"space → next lesson: {second.name}" in seen(run, "#keys")
        await pilot.press("space")
        await run.wait_for(lambda: second.scenes[0].title in run.text)
        assert "space → go on" in seen(run, "#keys")
        app.exit()
