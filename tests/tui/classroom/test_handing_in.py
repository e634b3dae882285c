from pathlib import Path

from sim.classroom.grading.hand_in import HandIn, counted, read_hand_in
from sim.classroom.lessons.course import found_lesson
from sim.classroom.lessons.quiz import Quiz
from tests.tui.cli.program import error
from tests.tui.replays import Replay
from tui.classroom.handing_in import HandingIn
from tui.classroom.opening import lesson_opening
from tui.classroom.quiz import QuizApp


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
