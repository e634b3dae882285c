"""Also tests tui.classroom.cli.quiz."""

from __future__ import annotations

from pathlib import Path

from sim.classroom.grading.hand_in import HandIn, counted, read_hand_in
from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.quiz import Quiz
from tests.tui.cli.program import error
from tests.tui.replays import Replay
from tui.classroom.guide import Teaching, walk_of
from tui.classroom.handing_in import HandingIn, QuizApp
from tui.classroom.opening import lesson_opening


async def test_answers_of_a_quiz_are_written_as_they_are_given(tmp_path: Path) -> None:
    path = tmp_path / "anna.txt"
    app = QuizApp(Quiz(3, most=2), str(path))
    async with app.run_test(size=(80, 24)) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        assert read_hand_in(path).answers == ()
        assert app.walk is not None
        assert app.walk.open_question is not None
        right = [choice.is_right for choice in app.walk.open_question.choices].index(True)
        run.screen.guiding.lesson_choose(right)  # type: ignore[union-attr]
        await run.settle()
        assert counted(read_hand_in(path), 1)[:2] == (1, 1)
        await run.pilot.press("space")
        await run.wait_for(lambda: "Question 2, 1 of 1 right" in run.text)
        await run.settle()
        await run.press("space")
        assert counted(read_hand_in(path), 1)[:2] == (1, 2)
    assert app.told == f"1 answer to hand in: {path}\n"


async def test_first_answers_of_a_lesson_are_written(tmp_path: Path) -> None:
    path, lesson = tmp_path / "bert.txt", found_lesson("backfilling")
    app = HandingIn(lesson_opening(lesson).prepare(), handed=HandIn.begun(lesson.name), path=str(path))
    async with app.run_test(size=(120, 36)) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        assert app.walk is not None
        asked = [index for index, scene in enumerate(app.walk.scenes) if scene.question is not None]
        run.screen.guiding.lesson_go(asked[0])  # type: ignore[union-attr]
        await run.settle()
        await run.press("space")
    handed = read_hand_in(path)
    assert (handed.lesson, handed.answers) == ("backfilling", ("",) * len(asked))
    assert app.told == f"0 answers to hand in: {path}\n"


def test_what_cannot_be_handed_in_is_said(tmp_path: Path) -> None:
    assert error("quiz", "z-figure4", "--hand-in", "a.txt")[1].startswith("--hand-in goes without TRACE")
    assert error("learn", "--hand-in", "a.txt")[1].startswith("--hand-in needs the name of a lesson")
    assert error("learn", "real-cluster", "--hand-in", "a.txt")[1].startswith("--hand-in is for the built-in lessons")
    other = tmp_path / "other.txt"
    other.write_text("mine", encoding="utf-8")
    app_error = ""
    try:
        HandIn.begun("backfilling").write(str(other))
    except Exception as refused:
        app_error = str(refused)
    assert "this file is no hand-in, and stays" in app_error


def test_what_cannot_be_asked_is_said() -> None:
    assert error("quiz")[1].startswith("a quiz needs a terminal; without one use ")
    assert error("quiz", "--policy", "eazy")[1].startswith("no policy 'eazy'; did you mean 'easy'?")
    assert "6 is not in the range 1<=x<=5" in error("quiz", "--level", "6")[1]
    assert error("quiz", "no.swf")[1].startswith("no.swf: no such file")


async def test_one_question_comes_after_another_with_a_score_at_the_end() -> None:
    quiz = Quiz(3, most=2)
    app = QuizApp(quiz)
    async with app.run_test(size=(80, 24)) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        walk, guiding = walk_of(run.screen.state.guide), run.screen.guiding
        assert walk is not None
        assert walk.open_question is not None
        assert isinstance(guiding, Teaching)
        assert "Question 1 · level 1" in run.text
        guiding.lesson_choose([choice.is_right for choice in walk.open_question.choices].index(True))
        await run.settle()
        assert "Right." in run.text
        assert app.score.startswith("1 of 1 answer right")
        await run.pilot.press("space")
        await run.wait_for(lambda: "Question 2, 1 of 1 right" in run.text)
        await run.settle()
        await run.press("space")
        assert app.score.startswith("1 of 1 answer right")
        await run.pilot.press("space")
        await run.wait_for(lambda: app.quiz.is_over)
    assert app.score == "1 of 1 answer right, at level 1 of 5 (seed 3)"
    assert app.settings.lessons == {}
