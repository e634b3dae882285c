from typing import Any

import pytest

from sim.classroom.lessons.lesson import Ask
from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.questions import Question, Verdict, question
from sim.classroom.lessons.runs import Runs
from sim.support.errors import SchedscopeError
from sim.workload.replay import read

RUNS = Runs(read("z-figure4"), "easy")
WINDOW = 0.0, 2700.0


def asked(kind: Any, time: float = 599, policy: str = "easy", **about: Any) -> Question:
    return question(Ask(kind, **about), RUNS, RUNS.at_time(RUNS.branch(policy), time), WINDOW)


def test_which_job_starts_next() -> None:
    found = asked("next")
    assert [(choice.key, choice.label, choice.is_right) for choice in found.choices] == [
        ("3", "J3", False), ("4", "J4", False), ("5", "J5", True)
    ]  # fmt: skip
    assert found.seen.clock == 600
    right, wrong = found.judge(found.choices[2]), found.judge(found.read("J4"))
    assert right.is_right
    assert (
        right.told
        == "Right. At 00:10:00: J5 is backfilled on 5 processors: ends at 00:18:20, before J3's start at 00:20:00."
    )
    assert not wrong.is_right
    assert wrong.told.startswith("Not J4. J4 has waited 9m30: needs 4 > 2 extra and would end at 00:25:00")


def test_each_choice_of_a_long_queue_is_described() -> None:
    runs = Runs(read("lublin-128"), "firstfit")
    moment = runs.at_time(runs.branch("firstfit"), 1_145_024)
    found = question(Ask("next"), runs, moment, WINDOW)
    assert len(runs.at(moment).queue) > len(found.choices) == 9
    assert all(f" {choice.label} " in found.facts for choice in found.choices)
    last = runs.at(moment).queue.jobs[-1]
    assert f" J{last.id} " in question(Ask("start", job=last.id), runs, moment, WINDOW).facts


def test_nobody_can_know_who_is_still_to_come() -> None:
    with pytest.raises(
        SchedscopeError, match="J2 starts next, but it has not been submitted yet, so it cannot be guessed"
    ):
        asked("next", 5)


def test_answers_of_each_kind_are_known() -> None:
    found = asked("start", 100, job="J5")
    assert [found.judge(time).is_right for time in (600, 640, 601, 599, found.read("10m"))] == [
        True, False, False, False, True
    ]  # fmt: skip
    assert [found.judge(time, is_click=True).is_right for time in (600, 640, 500)] == [True, True, False]
    assert found.judge(1800).told.startswith("00:30:00 is 20m00 too late. At 00:10:00: J5 is backfilled")
    with pytest.raises(SchedscopeError, match="J5 does not start after this moment"):
        asked("start", 700, job="J5")
    found = asked("gains", 0, "fcfs", under="easy")
    assert [choice.label for choice in found.choices if choice.is_right] == ["J5"]
    assert found.judge(found.read("5")).told == "Right. J5 ends 20m00 earlier under easy."
    assert found.judge(found.read("3")).told.startswith("Not J3. It ends at the same time. J5 ends")
    assert found.seen.beside == RUNS.branch("easy")
    with pytest.raises(SchedscopeError, match="under easy nobody ends later"):
        asked("loses", 0, "fcfs", under="easy")
    found = asked("number", 0, of="backfilled", question="How many pass?")
    assert [found.judge(found.read(text)).is_right for text in ("1", "2")] == [True, False]
    share = asked("number", 0, of="utilization", question="How full is it?")
    assert share.value is not None
    assert share.judge(share.read(f"{100 * share.value.number:.0f}%")).is_right
    assert not found.judge(1.2).is_right
    with pytest.raises(SchedscopeError, match="expected a number"):
        found.read("many")
    found = asked("number", 0, of="backfilled", question="How many pass?")
    assert [found.judge(number).told for number in (0.0, 7.0)] == ["0 is too low. It is 1.", "7 is too high. It is 1."]


def test_typed_duration_is_right_to_the_second_or_as_written() -> None:
    runs = Runs(read("z-figure7"), "gang:mpl=3")
    about: Any = {"kind": "number", "of": "J6.wait", "question": "How long does J6 wait?"}

    def judged(typed: str, **more: Any) -> Verdict:
        found = question(Ask(**about, **more), runs, runs.at_step("main", 1), WINDOW)
        return found.judge(found.read(typed))

    assert [judged(typed).is_right for typed in ("3760", "1h02m40", "62m40s", "1h03", "62m", "1h02m41")] == [
        True, True, True, True, False, False
    ]  # fmt: skip
    assert judged("1h02m41").told == "1h02m41 is 1s too long. It is 1h02m40."
    assert [judged(typed, within=0.25).is_right for typed in ("50m", "1h10", "40m")] == [True, True, False]


def test_share_of_a_count_is_tolerated_only_where_the_lesson_says() -> None:
    runs = Runs(read("k-figure3.1"), "selective:sf=1")
    for within, right in ((0.0, [False, True, False]), (0.2, [True, True, False])):
        ask = Ask("number", of="preemptions", question="How often?", within=within)
        found = question(ask, runs, runs.at_step("main", 1), WINDOW)
        assert [found.judge(found.read(typed)).is_right for typed in ("100", "119", "60")] == right


@pytest.mark.parametrize(
    "typed", ["d0 00:10", "00:10", "600", "10m", "#6", "step 6", " D0 00:10:00 ", "0.6e", "2026-11-21"]
)
def test_a_moment_is_typed_as_anywhere(typed: str) -> None:
    found = asked("start", 100, job="J5")
    if typed in ("0.6e", "2026-11-21"):
        with pytest.raises(SchedscopeError, match=r"a time is seconds|no date like 2026-11-21"):
            found.read(typed)
    else:
        assert found.read(typed) == 600


def test_which_policy_made_it() -> None:
    found = asked("policy", 2000, among=("fcfs", "easy"))
    assert [choice.is_right for choice in found.choices] == [False, True]
    assert found.judge(found.choices[0]).told == (
        "Not fcfs. It is easy. First difference at d0 00:10:00: easy backfills J5; "
        "fcfs keeps J5 waiting: needs 5, 6 free, and the policy stopped at J3."
    )
    with pytest.raises(SchedscopeError, match="conservative makes the same schedule as easy"):
        asked("policy", 2000, among=("easy", "conservative"))
    with pytest.raises(SchedscopeError, match="easy, which made it, is not among the choices"):
        asked("policy", 2000, among=("fcfs", "firstfit"))


def test_what_is_typed_is_an_answer_as_soon_as_it_can_mean_one_thing() -> None:
    runs = Runs(read("lublin-128", jobs=60), "easy")
    found = question(Ask("next"), runs, runs.just_before(runs.when("queue > 3", runs.at_step("main", 0))), WINDOW)
    keys = {choice.key for choice in found.choices}
    assert all((found.begun(key) is None) == any(k != key and k.startswith(key) for k in keys) for key in keys)
    assert found.begun("") is None


def test_wrong_answer_tells_what_was_free_when_it_was_asked() -> None:
    """In the first question of the lesson `backfilling`, 3 processors are free and J4 takes them."""
    asked = [staged.question for staged in Performance(found_lesson("backfilling")).staged() if staged.question]
    why = {choice.label: choice.why for choice in asked[0].choices}
    assert why["J3"] == "J3 needs 6, 3 free."
    assert why["J5"] == "J5 needs 2, 3 free; J4 took 3 first."


def test_too_early_an_answer_gets_the_reason_of_that_moment() -> None:
    found = asked("start", 100, "fcfs", job="J4")
    assert found.judge(700).told == (
        "00:11:40 is 18m20 too early. "
        "At 00:10:00: J4 has waited 9m30: needs 4, 6 free, and the policy stopped at J3. "
        "At 00:30:00: J4 starts on 4 processors: next in the queue and fits: needs 4, 10 free."
    )
    assert "J4 is submitted at" in found.judge(float(RUNS.workload.jobs[3].submit) - 25).told
