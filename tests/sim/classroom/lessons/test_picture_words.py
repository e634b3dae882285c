"""Words for pictures: sentences of the program about each job, without the answer while a question is open."""

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.picture_words import MOST, poll_words, run_words
from sim.classroom.lessons.polls import PollSeen
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.classroom.lessons.runs import FIRST, Runs
from sim.workload.replay import read


def words(
    time: float, *, trace: str = "passing", policy: str = "easy", is_veiled: bool = False, since: float = -1
) -> list[str]:
    runs = Runs(read(trace), policy)
    shown = runs.at(runs.at_time(FIRST, time))
    past = runs.timeline.history.as_of(runs.timeline.step)
    return list(run_words(runs.workload, shown.unplanned() if is_veiled else shown, past, time, is_veiled, since))


def test_each_job_has_a_sentence_with_its_reason() -> None:
    told = words(660)
    assert told[0] == "At 00:11:00: 0 of 8 processors are free."
    assert told[2] == "J2 ended at 00:11:00 without waiting."
    assert told[3] == "J3 is first in the queue: needs 6 > 0 free. Planned for 00:20:00."
    assert told[4].startswith("J4 is backfilled on 3 processors: ends at 00:19:00, before J3's start at 00:20:00.")


def test_open_question_hides_plans_and_reasons() -> None:
    told = words(660, is_veiled=True)
    assert "J3 waits for 6 processors, for at most 15m00." in told
    assert not [line for line in told if "lanned" in line or "backfilled" in line or "needs" in line]


def test_open_question_hides_ends_in_turns() -> None:
    told, hidden = (words(660, policy="gang:mpl=2", is_veiled=is_veiled) for is_veiled in (False, True))
    turns = [line for line in told if ", until " in line and "if the rows do not change" in line]
    assert turns
    assert [line for line in hidden if "takes turns" in line] == [
        line[: line.index(", until ")] + line[line.index(" if the rows do not change") + 26 :] for line in turns
    ]


def test_moment_between_two_steps_names_the_last_one() -> None:
    assert words(1000)[0].endswith("What follows is of the last step, at 00:11:00.")


def test_jobs_that_ended_before_are_left_out() -> None:
    assert "J2 ended at 00:11:00 without waiting." not in words(660, since=660)


def test_many_jobs_are_counted() -> None:
    told = words(1e6, trace="lublin-128")
    assert len(told) == MOST + 2
    assert told[-1].endswith(" more jobs.")


def test_poll_of_a_cluster_has_its_reasons() -> None:
    made = RecordedPerformance(found_lesson("real-cluster"))
    told = list(poll_words(PollSeen(made.polls, 40)))
    assert "cores are free at" in told[0]
    assert any(" waits" in line for line in told)
