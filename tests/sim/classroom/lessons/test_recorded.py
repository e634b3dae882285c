"""Also tests sim.classroom.lessons.polls."""

import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from sim.classroom.lessons import recorded
from sim.classroom.lessons.lesson import LessonError
from sim.classroom.lessons.lesson_file import FOLDER, read_lesson
from sim.classroom.lessons.polls import Polls, PollSeen
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.recorded import RecordedPerformance, check, performance_of, poll_numbers
from sim.live.cluster.recording import Recording
from sim.live.forecast.expected import expected, trimmed
from sim.live.forecast.past import PastJobs
from sim.live.forecast.what_if import answers, in_words
from sim.live.forecast.words import answer_lines
from sim.support.errors import ParameterError
from tests.sim.classroom.lessons.lessons import file

RECORDING = FOLDER / "trial-cluster.slog"
HEAD = 'title = "A cluster"\nrecording = "trial-cluster.slog"\n'


class Known(Polls):
    """Polls that make no forecast twice."""

    def forecast(self, places: Iterable[int]) -> None:
        if not {*places} <= self._forecasts.keys():
            super().forecast(places)


@cache
def polls() -> Polls:
    return Known(Recording(RECORDING))


@pytest.fixture
def read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorded, "Polls", lambda recording: polls())


def performed(folder: Path, *scenes: str) -> RecordedPerformance:
    shutil.copy(RECORDING, folder)
    made = performance_of(read_lesson(file(folder, *scenes, head=HEAD)))
    assert isinstance(made, RecordedPerformance)
    return made


def asked(folder: Path, ask: str, at: str = '"6m"') -> Question:
    (staged,) = performed(folder, f"at = {at}\n[scene.ask]\n{ask}").staged()
    assert staged.question is not None
    return staged.question


def wrong(folder: Path, *scenes: str) -> str:
    shutil.copy(RECORDING, folder)
    return str(check(file(folder, *scenes, head=HEAD))[1][0])


def test_scenes_take_place_at_polls(tmp_path: Path) -> None:
    made = performed(tmp_path, 'at = "#12"\nsay = "a"', 'say = "b"', 'at = "6m"\nsay = "c"', 'at = "end"\nsay = "d"')
    last = len(made.polls.pictures) - 1
    assert poll_numbers(made.lesson, made.polls.pictures) == [11, 11, 35, last]
    assert [staged.moment.step for staged in made.staged()] == [11, 11, 35, last]
    pictures = made.polls.pictures
    assert pictures[35].at - pictures[0].at <= 360 < pictures[36].at - pictures[0].at


def test_names_are_those_of_the_poll(tmp_path: Path) -> None:
    seen = PollSeen(polls(), 35)
    job = seen.job("J46")
    assert seen.written("J46.word") == job.reason == "Priority"
    assert seen.written("J46.reason").startswith("waits behind 14 jobs for nodes of batch: J18 has priority")
    assert seen.written("waiting") == f"{len(seen.cluster.queue)}"
    assert seen.claim("J46.start - J46.slurm < 0s") is None
    assert seen.claim("J46.low <= J46.high") is None
    assert "does not hold" in (seen.claim("running > waiting") or "")
    with pytest.raises(ParameterError, match="did you mean 'waited'"):
        seen.written("J46.waitd")
    with pytest.raises(ParameterError, match="no job '999' is listed"):
        seen.written("J999.cores")


@pytest.mark.usefixtures("read_once")
def test_start_is_the_one_that_came(tmp_path: Path) -> None:
    question = asked(tmp_path, 'kind = "start"\njob = "J46"')
    seen = PollSeen(polls(), 35)
    start, place = polls().start_after(35, seen.job("J46"))
    assert question.value is not None
    assert question.value.number == start - seen.cluster.at
    assert question.seen.step == place
    assert polls().pictures[place].job_of["46"].is_running
    assert polls().pictures[place - 1].job_of["46"].is_waiting
    assert question.judge(question.read("8m")).is_right
    assert not question.judge(question.read("21m")).is_right
    assert "Slurm's plan said" in question.told


@pytest.mark.usefixtures("read_once")
def test_reason_is_among_those_of_the_waiting_jobs(tmp_path: Path) -> None:
    question = asked(tmp_path, 'kind = "reason"\njob = "J45"')
    words = {job.reason.partition(",")[0] for job in polls().pictures[35].queue}
    assert {choice.label for choice in question.choices} == words
    assert [choice.label for choice in question.choices if choice.is_right] == ["PartitionTimeLimit"]
    other = next(choice for choice in question.choices if choice.label == "Resources")
    assert other.why.startswith("That is the reason of J18: it waits: needs 8 cores on 2 nodes > 7 free")


@pytest.mark.usefixtures("read_once")
def test_best_change_is_the_first_one_of_the_screen(tmp_path: Path) -> None:
    question = asked(tmp_path, 'kind = "earlier"\njob = "J46"')
    cluster = polls().pictures[35]
    past: PastJobs = polls().past(cluster.at)
    best = answers(cluster, cluster.job_of["46"], past, expected(trimmed(cluster), past))[0]
    assert [choice.label for choice in question.choices if choice.is_right] == [in_words(best.change)]
    assert question.told == " ".join(answer_lines(cluster, best))


@pytest.mark.usefixtures("read_once")
def test_next_to_start_are_those_of_the_next_polls(tmp_path: Path) -> None:
    question = asked(tmp_path, 'kind = "next"')
    begun = {choice.label for choice in question.choices if choice.is_right}
    before, after = (polls().pictures[place] for place in (35, question.seen.step))
    assert begun
    assert all(before.job_of[name[1:]].is_waiting and not after.job_of[name[1:]].is_waiting for name in begun)
    number = asked(tmp_path, 'kind = "number"\nof = "J46.ahead"\nquestion = "How many?"')
    assert number.judge(number.read("14")).is_right
    assert not number.judge(number.read("13")).is_right


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize(
    ("scene", "told"),
    [
        ('say = "x"\npolicy = "easy"', "policy: a recording is watched, not simulated"),
        ('say = "x"\nat = "#500"', "at: the recording has the polls #1 to #91"),
        ('say = "x"\nselect = "J999"', "select: no job 'J999' is listed"),
        ('say = "x"\nholds = ["waiting == 99"]', "waiting == 99 does not hold"),
        ('at = "6m"\n[scene.ask]\nkind = "policy"\namong = ["easy", "fcfs"]', "no question of the kind policy"),
        ('at = "6m"\n[scene.ask]\nkind = "reason"\njob = "J9"', "J9 does not wait at this moment"),
        ('at = "6m"\n[scene.ask]\nkind = "start"\njob = "J45"', "J45 does not start in the recording"),
    ],
)
def test_error_names_what_a_recording_has_not(tmp_path: Path, scene: str, told: str) -> None:
    assert told in wrong(tmp_path, scene)


def test_recording_lies_beside_its_lesson(tmp_path: Path) -> None:
    path = file(tmp_path, 'say = "x"', head='title = "A"\nrecording = "none.slog"\n')
    assert str(check(path)[1][0]).endswith("recording: no file 'none.slog' next to the lesson")
    with pytest.raises(LessonError, match="a recording lies beside its lesson"):
        read_lesson(file(tmp_path, 'say = "x"', head='title = "A"\nrecording = "../x.slog"\n'))
    with pytest.raises(LessonError, match="a lesson has one of them"):
        read_lesson(file(tmp_path, 'say = "x"', head=f'{HEAD}trace = "z-figure4"\n'))
