from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sim.classroom.lessons.drafts import lesson_of, lesson_of_puzzle
from sim.classroom.lessons.lesson import LessonError
from sim.classroom.lessons.lesson_file import read_lesson
from sim.classroom.lessons.recorded import check
from sim.history.past import Switch
from sim.policies import parse_policy
from sim.policies.policy import CodeRef
from sim.session.session import Bookmark, BranchRecord, Session
from sim.session.trace_ref import TraceRef
from sim.support.errors import ParameterError
from sim.workload.formats.puzzle import Puzzle, parse_puzzle
from sim.workload.job_changes import JobChanges
from sim.workload.samples import sample_path

SESSION = Session(
    TraceRef.of("z-figure4", True),
    {"load": 1.5, "offline": False},
    "fcfs",
    branches=(
        BranchRecord("main"),
        BranchRecord("fork 1", "main", 0, (Switch(1, 0, parse_policy("easy")),)),
        BranchRecord("fork 2", "fork 1", 6, (Switch(7, 600, parse_policy("conservative")),)),
    ),
    bookmarks=(
        Bookmark("first", "main", 3, 'say "this"\nand that \x1b[2J'),
        Bookmark("second", "fork 1", 4),
        Bookmark("third", "fork 2", 8),
    ),
)


def test_bookmarks_are_scenes(tmp_path: Path) -> None:
    path = tmp_path / "my-lesson.toml"
    path.write_text(lesson_of(SESSION, path))
    lesson = read_lesson(path)
    assert (lesson.title, lesson.trace, lesson.policy, lesson.options["load"]) == (
        "My lesson",
        "z-figure4",
        "fcfs",
        1.5,
    )
    assert [(scene.title, scene.policy, scene.at, scene.switch) for scene in lesson.scenes] == [
        ("first", "fcfs", "#3", None), ("second", "easy", "#4", None), ("third", "easy", "#6", "conservative")
    ]  # fmt: skip
    assert lesson.scenes[0].say == 'say "this"\nand that ?[2J'
    assert check(path)[1] == []


def test_without_bookmarks_there_is_the_moment_itself(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(lesson_of(replace(SESSION, bookmarks=(), step=5), path))
    assert [(scene.title, scene.at) for scene in read_lesson(path).scenes] == [("Where it stood", "#5")]


def test_a_trace_must_lie_beside_the_lesson(tmp_path: Path) -> None:
    trace = tmp_path / "own.swf"
    trace.write_bytes(sample_path("z-figure4").read_bytes())
    session = replace(SESSION, trace=TraceRef.of(str(trace)))
    path = tmp_path / "x.toml"
    path.write_text(lesson_of(session, path))
    assert read_lesson(path).trace == str(trace)
    with pytest.raises(LessonError, match="the trace of a lesson must be in its folder"):
        lesson_of(session, tmp_path / "elsewhere" / "x.toml")


def test_code_of_somebodys_own_is_refused(tmp_path: Path) -> None:
    own = replace(SESSION, policy="./mine.py", code=(CodeRef("./mine.py", "0" * 64),))
    with pytest.raises(LessonError, match="a lesson runs no code"):
        lesson_of(own, tmp_path / "x.toml")


def test_scene_cannot_have_changed_jobs(tmp_path: Path) -> None:
    branches = *SESSION.branches, BranchRecord("without J3", changes=JobChanges(("J3",)))
    session = replace(SESSION, branches=branches, bookmarks=(Bookmark("fourth", "without J3", 2),))
    with pytest.raises(LessonError, match="without J3 has changed ones"):
        lesson_of(session, tmp_path / "x.toml")


def test_the_lesson_of_a_puzzle_has_no_errors(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(lesson_of_puzzle(parse_puzzle("10 procs; 5x10m@0; 5x20m@0; 8x10m@20s; 5x8m20s@40s")))
    staged, wrong = check(path)
    assert wrong == []
    assert "Under **EASY** the mean wait is" in staged[1].text


def test_an_empty_puzzle_is_no_lesson() -> None:
    with pytest.raises(ParameterError, match="add jobs first"):
        lesson_of_puzzle(Puzzle())


def test_a_wrong_line_in_a_lesson_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('title = "x"\ntrace = "4 procs; 9x1m"\n[[scene]]\nsay = "x"\n')
    assert "needs 1 to 4 processors, got 9" in str(check(path)[1][0])
