from dataclasses import replace

import numpy as np
import pytest

from sim.classroom.lessons.lesson import Ask
from sim.classroom.lessons.questions import Question, question
from sim.classroom.lessons.quiz import LEVELS, Quiz, with_mistakes
from sim.classroom.lessons.runs import Runs
from sim.support.errors import SchedscopeError
from sim.workload.replay import read
from sim.workload.source import Source


def asked(quiz: Quiz) -> Question:
    found = quiz.ask()[1].open_question
    assert found is not None
    return found


@pytest.mark.parametrize("level", range(len(LEVELS)))
def test_each_level_asks_what_it_says(level: int) -> None:
    for number in (1, 2, 3):
        _, walk = Quiz(7, number, level).ask()
        found = walk.open_question
        assert found is not None
        assert found.kind in LEVELS[level].kinds
        right = next((choice for choice in found.choices if choice.is_right), found.value and found.value.number)
        assert right is not None
        assert found.judge(right).is_right
        assert walk.lesson.policy in LEVELS[level].policies


def test_a_class_with_one_seed_is_asked_the_same() -> None:
    one, other, third = (asked(Quiz(seed, 2, 1)) for seed in (3, 3, 4))
    assert (one.facts, one.choices) == (other.facts, other.choices) != (third.facts, third.choices)


@pytest.mark.parametrize("level", [0, 1])
def test_first_choice_is_right_at_most_every_third_time(level: int) -> None:
    found = [asked(Quiz(seed, level=level)) for seed in range(36)]
    assert sum(each.choices[0].is_right for each in found) <= 12
    assert {each.kind for each in found} == {"next", "start"}
    for each in found:
        wrong = [choice for choice in each.choices if not choice.is_right]
        assert len(wrong) == len(each.choices) - 1 >= 2
        assert all(choice.why for choice in wrong)
        assert len({choice.label for choice in each.choices}) == len(each.choices)


def test_answer_can_be_found_and_more_than_one_choice_fits() -> None:
    for seed in range(12):
        made, walk = Quiz(seed, level=1).ask()
        found = walk.open_question
        assert found is not None
        if found.kind == "start":
            assert not any(walk.moment.clock < job.submit < found.seen.clock for job in made.workload.jobs)
        else:
            procs = {choice.rank: made.workload.jobs[choice.rank or 0].procs for choice in found.choices}
            right = next(choice.rank for choice in found.choices if choice.is_right)
            free = made.runs.at(found.seen).free + procs[right]
            assert sum(needed <= free for needed in procs.values()) > 1


def test_wrong_choices_are_what_other_policies_would_do() -> None:
    whys = [choice.why for seed in range(12) for choice in asked(Quiz(seed, level=1)).choices]
    assert any(why.startswith("It would be next if fcfs decided. J") for why in whys)
    assert any(why.startswith("It would start then if firstfit decided from here on.") for why in whys)


def test_planned_start_is_a_wrong_choice_when_a_job_ends_early() -> None:
    """J1 ends after 10 of 30 minutes, so that J3 starts before its planned start, and after its start under SJF."""
    runs = Runs(read("8 procs; 8x10m/30m@0; 6x10m@1m; 6x5m@2m; 6x20m@3m"), "conservative")
    moment = runs.at_time("main", 180)
    found = question(Ask("start", job="J3"), runs, moment, (0.0, 3600.0))
    made = with_mistakes(found, runs, moment, np.random.default_rng(1))
    assert made is not None
    assert "It is planned for then, by the estimates." in {choice.why for choice in made.choices}


def test_it_gets_harder_after_right_answers_and_easier_after_a_wrong_one() -> None:
    quiz = Quiz(1)
    levels = []
    for is_right in (True, True, True, True, None, False, False, False):
        quiz = quiz.after(is_right)
        levels.append(quiz.level)
    assert levels == [0, 1, 1, 2, 2, 1, 0, 0]
    assert quiz.told == "4 of 7 answers right, at level 1 of 5 (seed 1)"
    kept = Quiz(1, level=2, is_level_kept=True)
    for is_right in (True, True, False, False):
        kept = kept.after(is_right)
        assert (kept.level, kept.told.partition("level ")[2]) == (2, "3 of 5 (seed 1)")
    assert (quiz.number, quiz.is_over, replace(quiz, most=8).is_over) == (9, False, True)


def test_a_trace_and_a_policy_may_be_given() -> None:
    given = Source("z-figure4").read()
    _, walk = Quiz(2, policy="easy", given=given).ask()
    assert walk.lesson.policy == "easy"
    assert walk.moment.clock < 1200
    assert Quiz(2, policy="fcfs").ask()[1].lesson.policy == "fcfs"
    with pytest.raises(SchedscopeError, match="nothing worth a question was found"):
        Quiz(2, policy="easy", given=Source.of_options("z-figure4", {"jobs": 1}).read()).ask()
