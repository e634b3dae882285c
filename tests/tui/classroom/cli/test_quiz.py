"""Also tests tui.classroom.quiz."""

from sim.classroom.lessons.quiz import Quiz
from tests.tui.cli.program import error
from tests.tui.replays import Replay
from tui.classroom.guide import Teaching, walk_of
from tui.classroom.quiz import QuizApp


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
        walk, guiding = walk_of(run.screen.state), run.screen.guiding
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
