"""`schedscope quiz`: one question after another, and the score."""

from __future__ import annotations

from sim.lessons.quiz import Quiz
from tests.tui.cli.program import error
from tests.tui.replays import Replay
from tui.app import Schedscope
from tui.replay.opening import quiz_opening


def test_what_cannot_be_asked_is_said() -> None:
    assert error("quiz")[1].startswith("a quiz needs a terminal; without one use ")
    assert error("quiz", "--policy", "eazy")[1].startswith("no policy 'eazy'; did you mean 'easy'?")
    assert error("quiz", "no.swf")[1].startswith("no.swf: no such file")


async def test_one_question_comes_after_another_with_a_score_at_the_end() -> None:
    quiz = Quiz(3, most=2)
    app = Schedscope(quiz_opening(quiz).prepare(), quiz=quiz)
    async with app.run_test(size=(80, 24)) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        asked = run.screen.state.walk.open_question  # type: ignore[union-attr]
        assert asked is not None
        assert "Question 1 · level 1" in run.text
        run.screen.teaching.lesson_choose(next(n for n, choice in enumerate(asked.choices) if choice.is_right))
        await run.settle()
        assert "Right." in run.text
        assert app.quiz_told.startswith("1 of 1 answer right")
        await run.pilot.press("space")
        await run.wait_for(lambda: "Question 2, 1 of 1 right" in run.text)
        await run.settle()
        await run.press("space")
        assert app.quiz_told.startswith("1 of 1 answer right")
        await run.pilot.press("space")
        await run.wait_for(lambda: app.quiz is not None and app.quiz.is_over)
    assert app.quiz_told == "1 of 1 answer right, at level 1 of 5 (seed 3)"
    assert app.settings.lessons == {}
