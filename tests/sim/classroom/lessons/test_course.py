import re

import pytest

from sim.classroom.lessons.course import FOLDER, course, found_lesson
from sim.classroom.lessons.lesson import ORDER, PAPERS, Lesson
from sim.classroom.lessons.staging import check
from sim.support.errors import ParameterError

OF_THE_RUN = re.compile(r"\{[^}]*\}|`[^`]*`|\bJ\d+\b")


@pytest.mark.parametrize("lesson", course(), ids=lambda lesson: lesson.name)
def test_a_lesson_holds(lesson: Lesson) -> None:
    assert check(lesson.path)[1] == []
    assert lesson.paper in PAPERS
    assert lesson.about
    assert lesson.exercise
    assert all(scene.notes for scene in lesson.scenes)


@pytest.mark.parametrize("lesson", course(), ids=lambda lesson: lesson.name)
def test_no_number_of_the_run_is_typed(lesson: Lesson) -> None:
    for scene in lesson.scenes:
        for text in (scene.say, scene.ask.then if scene.ask else "", scene.notes):
            assert not re.findall(r"\d+", OF_THE_RUN.sub("", text)), scene.title


def test_every_file_is_in_the_course() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.toml")) == sorted(ORDER)


def test_a_lesson_is_found_by_its_name_or_its_file() -> None:
    assert found_lesson("backfilling") == found_lesson(course()[1].path)
    with pytest.raises(ParameterError, match="no lesson 'backfiling'; did you mean 'backfilling'"):
        found_lesson("backfiling")
