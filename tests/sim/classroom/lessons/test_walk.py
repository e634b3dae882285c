"""Also tests sim.classroom.lessons.performance, sim.classroom.lessons.runs."""

from pathlib import Path

import pytest

from sim.classroom.lessons.lesson import LessonError
from sim.classroom.lessons.performance import source_of
from sim.classroom.lessons.recorded import check
from sim.support.errors import ParameterError
from sim.workload.samples import sample_path
from tests.sim.classroom.lessons.lessons import HEAD, file, performance, walk

SAY = 'say = "Look."'
NEXT = 'before = "job 5 starts"\n[scene.ask]\nkind = "next"\nthen = "J5 waits {J5.wait}."'


def test_scenes_stand_at_their_moments(tmp_path: Path) -> None:
    scenes = ("at = 600", 'at = "#3"', 'when = "job 5 starts"', 'at = 0\nbefore = "job 5 starts"', "", 'at = "20m"')
    there = walk(tmp_path, *(f"{scene}\n{SAY}" for scene in scenes))
    assert [(s.moment.step, s.moment.clock) for s in there.scenes] == [
        (6, 600), (3, 20), (6, 600), (5, 599), (5, 599), (8, 1200)
    ]  # fmt: skip
    one, other = walk(tmp_path, f'at = "end"\n{SAY}', f'at = "end"\npolicy = "fcfs"\ncompare = "easy"\n{SAY}').scenes
    ends = walk(tmp_path, f'at = "9h"\n{SAY}').scenes[0].moment
    assert (one.moment.step, one.moment.clock < ends.clock) == (ends.step, True)
    assert (other.moment.branch, other.moment.beside) == ("fcfs", "main")
    there = walk(tmp_path, f'show = ["versus"]\nover = "versus"\ncompare = "fcfs"\n{SAY}', SAY)
    assert [(scene.panels, scene.over) for scene in there.scenes] == [(("versus",), "versus"), (("versus",), None)]
    (scene,) = walk(tmp_path, 'at = 599\nnotes = "{now}"\nsay = "{free} free, J3 planned for {J3.planned}"').scenes
    assert (scene.text, scene.notes) == ("0 free, J3 planned for 00:20:00", "00:09:59")


def test_scene_inherits_from_the_scene_before_but_no_comparison(tmp_path: Path) -> None:
    first = (
        'at = 600\npolicy = "fcfs"\nshow = ["decisions"]\nzoom = [0, 900]\ncolour = "width"\ncompare = "easy"\n' + SAY
    )
    there = walk(tmp_path, first, f'select = "J3"\n{SAY}', f'switch = "easy"\n{SAY}', SAY)
    one, other, switched, last = there.scenes
    assert (one.moment.branch, one.moment.beside) == ("fcfs", "main")
    assert (other.moment.branch, other.moment.beside, other.selected) == ("fcfs", None, 2)
    assert (other.panels, other.window, other.colour) == (("decisions",), (0, 900), "width")
    assert switched.moment.branch == "easy from step 6 of fcfs"
    assert (last.moment.branch, last.moment.clock, last.selected) == ("fcfs", 600, None)


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ("at = 'soon'", ":5: at: a time is seconds"),
        ("at = '#99'", ":5: at: no step 99: the run ends at step 10"),
        ("when = 'job 9 starts'", ":5: when: "),
        ("at = 700\nwhen = 'job 5 starts'", ":6: when: no step after d0 00:11:40 meets the condition: job 5 starts"),
        ("select = 'J9'", ":5: select: no job 'J9'"),
        ("zoom = [600, 0]", ":5: zoom: the end comes before the beginning"),
        ("holds = ['J5.end <= 1000']", ":5: J5.end <= 1000 does not hold: 00:18:20 <= 00:16:40"),
        ("holds = ['J5.ende <= 1000']", ":5: holds: of a job there is no 'ende'; did you mean 'end'"),
        ("notes = '{J9.start}'", ":5: notes: no job '9'"),
        ("[scene.ask]\nkind = 'start'\njob = 'J9'", ":5: ask: no job 'J9'"),
    ],
)
def test_what_does_not_hold_is_said_with_its_line(tmp_path: Path, scene: str, said: str) -> None:
    path = file(tmp_path, scene if "[scene.ask]" in scene else f"{scene}\n{SAY}")
    assert [str(error).removeprefix(str(path))[: len(said)] for error in check(path)[1]] == [said]


def test_every_scene_that_does_not_hold_is_reported(tmp_path: Path) -> None:
    path = file(tmp_path, f"select = 'J8'\n{SAY}", SAY, f"select = 'J9'\n{SAY}")
    assert [error.line for error in check(path)[1]] == [5, 10]
    path = file(
        tmp_path, "select = 'J8'\nholds = ['J5.end <= 1000', 'J5.end <= 1200', 'J9.end <= 1']\nsay = '{nope} {J9.end}'"
    )
    assert [(error.line, error.what.partition(" ")[0]) for error in check(path)[1]] == [
        (5, "select:"), (6, "J5.end"), (6, "holds:"), (7, "say:"), (7, "say:"),
    ]  # fmt: skip
    assert check(file(tmp_path, SAY))[1] == []
    assert [error.line for error in check(file(tmp_path, "title = 1"))[1]] == [5]
    path = file(
        tmp_path, f"at = true\ncolour = 'jobs'\nshow = ['que', 'queue', 'deci']\n{SAY}", "zoom = [0]\ntitel = 'x'"
    )
    assert [error.line for error in check(path)[1]] == [5, 6, 7, 7, 10, 11]


def test_a_question_keeps_back_what_comes_until_it_is_answered(tmp_path: Path) -> None:
    there = walk(tmp_path, f'show = ["queue", "decisions"]\n{NEXT}', SAY)
    assert (there.moment.clock, there.panels, there.selected) == (599, ("queue",), None)
    assert there.open_question is not None
    answered = there.typing("5")
    assert (answered.moment.clock, answered.panels, answered.selected) == (600, ("queue", "decisions"), 4)
    assert answered.open_question is None
    assert answered.text == "J5 waits 9m20."
    assert answered.answers == ((0, True),)
    assert answered.next().index == 1
    assert answered.previous().open_question is not None


def test_answers_are_seen_and_compared(tmp_path: Path) -> None:
    shown = walk(tmp_path, NEXT, SAY).next()
    assert (shown.index, shown.answers) == (0, ())
    assert shown.verdict is not None
    assert shown.verdict.told.startswith("At 00:10:00: J5 is backfilled on 5 processors: ends at 00:18:20")
    there = walk(tmp_path, SAY, head=HEAD + 'exercise = "Try it."\n')
    assert [(s.title, s.text) for s in there.scenes] == [("Passing", "Look."), ("Now you", "Try it.")]
    there = walk(tmp_path, 'at = 100\n[scene.ask]\nkind = "start"\njob = "J4"', SAY)
    assert there.guess is None
    answered = there.picked(None, 1000.0)
    assert answered.guess == (1000, 1800)
    assert answered.next().guess is None
    assert there.next().guess is None


def test_an_answer_is_typed_clicked_or_chosen(tmp_path: Path) -> None:
    there = walk(tmp_path, NEXT)
    answered = there.picked(4, 3.0), there.chosen(2), there.picked(3, None), there.picked(0, 3.0)
    assert [walked.answers for walked in answered] == [((0, True),), ((0, True),), ((0, False),), ()]
    with pytest.raises(ParameterError, match="'9' is none of 3, 4 and 5"):
        there.typing("9").entered()
    assert there.typing("9").rubbed_out().typed == ""
    with pytest.raises(ParameterError, match="no such choice"):
        there.chosen(3)


def test_off_the_path_and_back(tmp_path: Path) -> None:
    there = walk(tmp_path, SAY, SAY)
    off = there.next().off()
    assert (off.is_off, off.index, off.back().is_off) == (True, 1, False)
    assert off.next() == there.next()
    assert off.previous().index == 0
    assert there.go(9).index == 1
    assert there.go(9).is_at_the_end


def test_one_run_is_reported_with_other_estimates(tmp_path: Path) -> None:
    said = "{J1.estimate@easy with factor:3} {J1.estimate} {J3.wait@easy with exact} {mean_wait@easy with factor:3}"
    there = walk(
        tmp_path,
        f'at = 600\npolicy = "easy with factor:3"\ncompare = "easy"\nsay = "{said}"',
        'at = 2700\n[scene.ask]\nkind = "gains"\nunder = "easy"',
        '[scene.ask]\nkind = "policy"\namong = ["easy with factor:3", "easy with exact"]',
    )
    first, gains, policy = there.scenes
    assert (first.moment.branch, first.moment.beside) == ("easy with factor:3", "main")
    assert first.text.startswith("30m00 30m00 19m40 ")
    assert gains.question is not None
    assert gains.question.asks.startswith("This is easy with factor:3. Who gains most (ends earlier) if easy decides")
    assert policy.question is not None
    assert [choice.label for choice in policy.question.choices if choice.is_right] == ["easy with factor:3"]


def test_a_sample_is_the_sample_whatever_lies_around(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert source_of(performance(tmp_path, SAY).lesson).trace == "z-figure4"
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "z-figure4").write_text("nonsense")
    lesson = performance(tmp_path / "elsewhere", SAY).lesson
    assert source_of(lesson).trace == str(sample_path("z-figure4"))


def test_a_trace_that_cannot_be_read_is_said_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "own.swf").write_text("nonsense\n")
    with pytest.raises(LessonError, match=r":2: .*own\.swf"):
        performance(tmp_path, SAY, head='title = "x"\ntrace = "own.swf"\n')
