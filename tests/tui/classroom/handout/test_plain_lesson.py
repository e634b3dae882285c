"""A lesson as plain text: the answers come from a file, and its end is no error."""

from io import BytesIO, StringIO, TextIOWrapper

import pytest

from sim.classroom.lessons.lesson import ORDER
from sim.classroom.lessons.lesson_file import found_lesson
from tui.classroom.handout.plain_lesson import read_aloud


def heard(capsys: pytest.CaptureFixture[str], answers: str, name: str = "backfilling", scene: int = 0) -> str:
    assert read_aloud(found_lesson(name), scene, StringIO(answers)) == 0
    out = capsys.readouterr().out
    assert all(sign.isprintable() or sign == "\n" for sign in out)
    return out


def test_answers_are_judged_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    told = heard(capsys, "J4\n3\n")
    assert "Right. At 00:11:00: J4 is backfilled on 3 processors" in told
    assert "Not J3." in told
    assert told.endswith("1 of 2 questions right.\n")
    assert (
        told.index("Scene 3 of 7: May a job start early?")
        < told.index("- J5 waits for 2 processors")
        < told.index("Right.")
    )


def test_unreadable_answer_asks_again_and_empty_line_skips(capsys: pytest.CaptureFixture[str]) -> None:
    told = heard(capsys, "nonsense\n\nJ5\n")
    assert "'nonsense' is none of 3, 4, 5 and 6: answer again." in told
    assert told.endswith("1 of 2 questions right.\n")


def test_end_of_input_ends_the_lesson(capsys: pytest.CaptureFixture[str]) -> None:
    assert heard(capsys, "").endswith("No more answers: the lesson ends here, at scene 3 of 7.\n")
    assert read_aloud(found_lesson("backfilling"), 0, None) == 0


def test_scene_to_begin_with_is_the_first(capsys: pytest.CaptureFixture[str]) -> None:
    told = heard(capsys, "", scene=4)
    assert "Scene 4 of 7" not in told
    assert told.endswith("0 of 0 questions right.\n")


@pytest.mark.parametrize("answer", [b"\xff\xfe\x1b[2J\x00", b"9" * 100_000, b"J4;" * 9])
def test_hostile_answers_stay_text(answer: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert read_aloud(found_lesson("backfilling"), 0, TextIOWrapper(BytesIO(answer), encoding="utf-8")) == 0
    told = capsys.readouterr().out
    assert "answer again" in told
    assert "\x1b" not in told


@pytest.mark.long
@pytest.mark.parametrize("name", ORDER)
def test_every_lesson_can_be_read_to_its_end(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = heard(capsys, "\n" * 20, name)
    assert "questions right." in told.splitlines()[-1]
