from dataclasses import replace
from pathlib import Path

import pytest

from sim.classroom.grading.hand_in import HandIn, counted, read_hand_in
from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.quiz import Quiz
from sim.classroom.lessons.walk import Walk
from sim.support.errors import FileError


def quiz_of(seed: int, *rights: bool | None, level: int = 0) -> tuple[Quiz, HandIn]:
    """Return a quiz and its hand-in after answers that are right or wrong, or None for a skipped question."""
    quiz, handed = Quiz.at_level(seed, level), HandIn("anna", seed=seed, level=level)
    for is_right in rights:
        walk = quiz.ask()[1]
        if is_right is None:
            walk = walk.next()
        else:
            asked = walk.open_question
            assert asked is not None
            if asked.choices:
                walk = walk.chosen([choice.is_right for choice in asked.choices].index(is_right))
            else:
                assert asked.value is not None
                walk = walk.picked(None, asked.value.number + (0 if is_right else 1e6))
        assert walk.is_right is is_right
        quiz, handed = quiz.after(walk.is_right), handed.after(walk)
    return quiz, handed


@pytest.mark.parametrize("level", [0, 2])
def test_answers_are_counted_as_the_quiz_did(level: int, tmp_path: Path) -> None:
    quiz, handed = quiz_of(5, True, True, False, None, True, True, True, True, level=level)
    handed.write(str(tmp_path / "a.txt"))
    read = read_hand_in(tmp_path / "a.txt")
    assert read == handed
    assert counted(read, 10) == (quiz.right, 10, f"quiz with seed 5, up to level {quiz.level + 1}")
    assert counted(read, 5)[:2] == (6, 8)


def test_forged_count_and_missing_answers_do_not_help(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text('name = "x"\nseed = 5\nright = 9\nanswers = ["nan", "J999"]', encoding="utf-8")
    assert counted(read_hand_in(path), 10)[:2] == (0, 10)


def test_first_answers_of_a_lesson_count() -> None:
    lesson = found_lesson("backfilling")
    walk = Walk.of(Performance(lesson))
    asked = [index for index, scene in enumerate(walk.scenes) if scene.question is not None]
    for is_right in (False, True):  # the second answer is given when the right one is known
        walk = walk.go(asked[0])
        assert walk.open_question is not None
        walk = walk.chosen([choice.is_right for choice in walk.open_question.choices].index(is_right))
    handed = HandIn("anna", lesson=lesson.name).after(walk)
    assert len(handed.answers) == len(asked)
    assert counted(handed, 10) == (0, len(asked), "lesson backfilling")
    first = walk.scenes[asked[0]].question
    assert first is not None
    right = next(choice.key for choice in first.choices if choice.is_right)
    assert counted(replace(handed, answers=(right,)), 10)[:2] == (1, len(asked))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("hello", "Expected '='"),
        ('name = "x"', "is no hand-in"),
        ('name = "x"\nlesson = "/etc/passwd"\nanswers = []', "is no hand-in"),
        ('name = "x"\nseed = -1\nanswers = []', "is no hand-in"),
        ('name = "x"\nseed = 1\nlevel = 6\nanswers = []', "is no hand-in"),
        ('name = "x"\nseed = 1\npolicy = "./a.py"\nanswers = []', "its policy is code"),
        ('name = "x"\nseed = 1\nanswers = [1]', "at most 200 texts"),
        ('name = "x"\nseed = 1\nanswers = [' + "'1'," * 201 + "]", "at most 200 texts"),
    ],
)
def test_junk_is_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "junk.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=told):
        read_hand_in(path)
