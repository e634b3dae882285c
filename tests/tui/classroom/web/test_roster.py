from functools import cache

import pytest

from sim.classroom.lessons.lesson_file import found_lesson
from sim.classroom.lessons.performance import Performance, Staged
from sim.support.errors import ParameterError
from tui.classroom.web import roster
from tui.classroom.web.roster import Roster, best_of

NEXT = 2
"""Number of the scene with a question whose answer is J4."""


@cache
def scenes() -> tuple[Staged, ...]:
    return Performance(found_lesson("backfilling")).staged()


class Clock:
    """A clock whose time the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def class_of(*keys: str, clock: Clock | None = None) -> Roster:
    found = Roster(scenes(), clock or Clock())
    for key in keys:
        found.arrive(key)
    return found


def test_answers_count_first_or_last() -> None:
    found = class_of("a", "b")
    for key, label, is_right in (("a", "J5", False), ("a", "J4", True), ("b", "J4", True)):
        found.answer(key, NEXT, label, is_right)
    bars = {bar["label"]: (bar["count"], bar["right"]) for bar in found.tally(NEXT)}
    assert bars == {"J3": (0, False), "J4": (1, True), "J5": (1, False), "J6": (0, False)}
    found = class_of("a")
    assert found.judge("a", NEXT, "5") == "J5"
    assert found.judge("a", NEXT, "j4") == "J4"
    assert [bar["count"] for bar in found.tally(NEXT)] == [0, 1, 0, 0]
    verdict = found.verdict("a", NEXT)
    assert verdict is not None
    assert verdict.is_right
    with pytest.raises(ParameterError):
        found.judge("a", NEXT, "<b>J9</b>")
    with pytest.raises(ParameterError):
        found.judge("a", 0, "4")


def test_student_is_stuck_after_minutes_at_a_scene_unless_away() -> None:
    clock = Clock()
    found = class_of("a", "b", "c", clock=clock)
    clock.now = roster.STUCK - 1
    found.stand("b", 1)
    clock.now += 1
    found.leave("c")
    told = {each["name"]: (each["seconds"], each["stuck"], each["here"]) for each in found.students()}
    assert told == {"student 1": (180, True, True), "student 2": (1, False, True), "student 3": (180, False, False)}
    assert [each["here"] for each in found.where()][:3] == [1, 1, 0]


def test_student_who_comes_back_is_the_same_one() -> None:
    found = class_of("a")
    found.call("a", "Ada")
    found.answer("a", NEXT, "J4", True)
    found.leave("a")
    found.arrive("a")
    (only,) = found.students()
    assert (only["name"], only["here"], only["right"], only["answered"]) == ("Ada", True, 1, 1)


def test_hostile_texts_are_short_and_printable_and_no_formulas() -> None:
    found = class_of("a")
    found.call("a", "=1+1\x1b[2J\n\u202e" + "x" * 1000)
    found.answer("a", NEXT, "@J4\r\n", True)
    found.answer("a", 99, "J4", True)
    found.answer("a", True, "J4", True)
    found.stand("a", "x")
    found.stand("nobody", 1)
    _, row = found.rows()
    assert str(row[1]).startswith("=1+1?[2J ?x")
    assert len(str(row[1])) == roster.LONGEST_NAME
    assert row[2:] == (NEXT + 1, "May a job start early?", "Which job starts next?", "@J4", 1, 0, None, None)


def test_students_beyond_the_limit_push_out_those_who_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roster, "MOST", 3)
    found = class_of("a", "b", "c")
    found.leave("b")
    found.arrive("d")
    assert [each["name"] for each in found.students()] == ["student 1", "student 3", "student 4"]


def test_best_game_of_each_student_counts() -> None:
    found = class_of("a", "b")
    found.call("b", "Bo")
    for key, mean, worst in (("a", 300.0, 900), ("b", 200, 950), ("b", 400, 500), ("a", "1", 2), ("a", -1, 2)):
        found.score(key, mean, worst)
    assert found.best() == [
        {"name": "Bo", "mean": 200.0, "worst": 950.0}, {"name": "student 1", "mean": 300.0, "worst": 900.0},
    ]  # fmt: skip
    assert best_of([*found.best(), 3, {"name": 1}, {"name": "x", "mean": True, "worst": 1}])[0] == ("Bo", 200.0, 950.0)
    assert len(best_of([*found.best(), 3, {"name": 1}])) == 2
    assert best_of("x") == ()


def test_class_sees_which_inverse_puzzles_are_solved() -> None:
    room = Roster(scenes(), has_tasks=True)
    for key, name in (("one", "Ada"), ("two", "<b>Ben"), ("three", "Cy")):
        room.arrive(key)
        room.call(key, name)
    room.answer("one", NEXT, "8 procs", is_right=True)
    for scene in (3, NEXT):
        room.answer("two", scene, "8 procs", is_right=True)
    room.answer("three", 99, "8 procs", is_right=True)  # there is no such puzzle
    assert room.best() == [{"name": "<b>Ben", "solved": "3, 4"}, {"name": "Ada", "solved": "3"}]
    assert best_of(room.best()) == ()
