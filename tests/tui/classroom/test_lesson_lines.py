from dataclasses import replace
from typing import Any

import pytest

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.lesson_file import course
from sim.classroom.lessons.performance import Staged
from sim.classroom.lessons.questions import AnswerOption, Question, Verdict
from sim.classroom.lessons.recorded import check
from sim.classroom.lessons.runs import RunMoment
from sim.classroom.lessons.walk import Walk
from tests.tui.scenes import engine_of
from tui.classroom.lesson_lines import flowed, how_to_answer, lesson_lines, markdown, walking_keys
from tui.look.sheets import Span
from tui.look.text import cells
from tui.screens.replay.layout import most_words

SCENE = Staged("A hole", "J3 waits **9m40**.", "", RunMoment("main", 1, 0), None, (), None, None, "job")
NOW = Walk(Lesson("passing", "Passing", "", ()), (SCENE,) * 4, 1)
ASKED = Question(
    "next", "Which job?", "J5.", RunMoment("main", 1, 0), "", (AnswerOption("3", "J3", 2), AnswerOption("5", "J5", 4))
)


def with_scene(**changed: Any) -> Walk:
    return replace(NOW, scenes=(replace(SCENE, **changed),) * 4)


def test_questions_and_verdicts_have_words() -> None:
    asked = replace(with_scene(question=ASKED), typed="1")
    assert [line.text.rstrip() for line in lesson_lines(asked, 60)][2:] == ["  ? Which job?", "  J3 · J5 > 1_"]
    assert [span.action for line in lesson_lines(asked, 60) for span in line.spans if span.action] == [
        "lesson_choose(0)", "lesson_choose(1)"
    ]  # fmt: skip
    assert how_to_answer(ASKED).startswith("Click the job")
    told = "J7 starts on 14 processors: first in partition 0's queue and its planned start is now."
    shown = engine_of("ls-figure1", "multiqueue", until=12_000).snapshot()
    lines = lesson_lines(replace(NOW, verdict=Verdict(True, told)), 100, shown)
    assert "first in short's queue" in lines[1].text


def test_markdown_is_drawn_as_words() -> None:
    assert [part.text for part in markdown("in use 84.1 % instead of 72.4 %.", 35)] == [
        "  in use 84.1 % instead of", "  72.4 %."
    ]  # fmt: skip
    lines = flowed([Span("it is "), Span("12m", "strong"), Span(".")], 13)
    assert [line.text for line in lines] == ["  it is", "  12m."]


@pytest.mark.parametrize("width", [12, 40, 60, 80, 200])
def test_nothing_is_wider_than_the_screen(width: int) -> None:
    long = with_scene(text="a" * 100 + " **b** " * 80 + "\n\n- " + "c d " * 50, question=ASKED)
    assert all(cells(line.text) <= max(width, 20) for line in lesson_lines(long, width)[1:])
    assert cells(walking_keys(width, NOW).text) <= width


@pytest.mark.parametrize("source", ["[red]x[/red]", "**open", "`", "* a *", "<b>x</b>", "\\x1b", "# no title"])
def test_what_is_no_markdown_of_this_kind_stands_as_it_is_written(source: str) -> None:
    (line,) = markdown(source, 80)
    assert line.text.strip() == source
    assert not any(span.style for span in line.spans)


@pytest.mark.parametrize("lesson", course(), ids=lambda lesson: lesson.name)
def test_lesson_texts_fit_a_wall_and_a_small_screen(lesson: Lesson) -> None:
    walk = Walk(lesson, tuple(check(lesson.path)[0]))
    while True:
        for columns, rows in ((60, 18), (80, 24)):
            assert len(lesson_lines(walk, columns)) <= most_words(rows), walk.staged.title
        if walk.is_at_the_end:
            break
        walk = walk.next()
