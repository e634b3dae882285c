from pathlib import Path

import pytest

from sim.classroom.lessons.from_puzzle import lesson_of_puzzle
from sim.classroom.lessons.staging import check
from sim.support.errors import ParameterError
from sim.workload.formats.puzzle import Puzzle, parse_puzzle


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
