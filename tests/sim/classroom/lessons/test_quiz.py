from dataclasses import replace

import pytest

from sim.classroom.lessons.quiz import LEVELS, Quiz
from sim.support.errors import SchedscopeError
from sim.workload.source import Source


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_each_level_asks_what_it_says(level: int) -> None:
    for number in (1, 2, 3):
        _, walk = Quiz(7, number, level).ask()
        asked = walk.open_question
        assert asked is not None
        assert asked.kind in LEVELS[level].kinds
        right = next((choice for choice in asked.choices if choice.is_right), asked.value and asked.value.number)
        assert right is not None
        assert asked.judge(right).is_right
        assert walk.lesson.policy in LEVELS[level].policies


def test_a_class_with_one_seed_is_asked_the_same() -> None:
    one, other = (Quiz(3, 2, 1).ask()[1] for _ in range(2))
    assert one.open_question == other.open_question
    assert one.open_question != Quiz(4, 2, 1).ask()[1].open_question


def test_it_gets_harder_after_right_answers_and_easier_after_a_wrong_one() -> None:
    quiz = Quiz(1)
    levels = []
    for is_right in (True, True, True, True, None, False, False, False):
        quiz = quiz.after(is_right)
        levels.append(quiz.level)
    assert levels == [0, 1, 1, 2, 2, 1, 0, 0]
    assert quiz.told == "4 of 7 answers right, at level 1 of 5 (seed 1)"
    assert (quiz.number, quiz.is_over, replace(quiz, most=8).is_over) == (9, False, True)


def test_a_trace_and_a_policy_may_be_given() -> None:
    given = Source("z-figure4").read()
    _, walk = Quiz(2, policy="easy", given=given).ask()
    assert (walk.lesson.policy, walk.moment.clock) == ("easy", 599)
    with pytest.raises(SchedscopeError, match="nothing worth a question was found"):
        Quiz(2, policy="easy", given=Source.of_options("z-figure4", {"jobs": 1}).read()).ask()
