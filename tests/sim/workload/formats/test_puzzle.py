from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.engine import Engine
from sim.session.session import from_line, one_line
from sim.session.sources import session_of, source_of
from sim.session.trace_ref import compare_trace
from sim.support.errors import TraceError
from sim.workload.formats.puzzle import Puzzle, parse_puzzle
from sim.workload.job_changes import PuzzleJob
from sim.workload.replay import read
from sim.workload.source import Source

LINE = "10 procs; 5x10m@0; 4x20m/30m@2m"
TIMES = st.integers(1, 10**6)
JOBS = st.builds(PuzzleJob, st.integers(1, 8), TIMES, TIMES, st.none() | TIMES).map(
    lambda job: job._replace(asked=None if job.asked == job.run else job.asked)
)


@given(st.lists(JOBS, max_size=20))
def test_what_is_written_is_read_again(jobs: list[PuzzleJob]) -> None:
    puzzle = Puzzle(8, tuple(jobs))
    assert parse_puzzle(puzzle.line) == puzzle


def test_a_line_is_a_trace() -> None:
    workload = read(LINE)
    assert (workload.procs, workload.ids) == (10, ("1", "2"))
    assert workload.estimate.tolist() == [600, 1800]
    engine = Engine(workload, "easy")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 120]


def test_a_file_with_such_a_line_is_a_trace_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    path.write_text(LINE.replace("; ", ";\n") + "\n")
    assert (read(path).name, read(path).submit.tolist()) == ("mine", [0, 120])


def test_a_session_keeps_the_line() -> None:
    session = from_line(one_line(session_of(Source(LINE), "easy")))
    assert source_of(session) == Source(LINE)
    assert compare_trace(session.trace) is None
    changed = session.trace._replace(name=LINE + "; 1x1m@0")
    problem = compare_trace(changed)
    assert problem is not None
    assert problem.kind == "hash"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("0 procs; 1x1m", "a machine has 1 to 1,000 processors here, got 0"),
        ("4 procs; 5x1m", "J1: needs 1 to 4 processors, got 5"),
        ("4 procs; 1x1m; 1x", "J2: expected PROCESSORSxRUNTIME@SUBMIT like 5x10m@0, got '1x'"),
        ("4 procs; 1xsoon", "J1: a time is seconds or like"),
        ("4 procs; 1x0", "J1: run time and estimate must be at least 1 second"),
        ("4 procs; 1x1e300", "J1: "),
        ("4 procs; " + "1x1m; " * 61, "61 jobs, at most 60 make a puzzle"),
        ("4 procs; " + "1x1m;          " * 999, "characters, at most 4,000 make a puzzle"),
        ("4 procs; [bold]\x1b[31m", "got '[bold]\\\\x1b[31m'"),
        ("five", "expected a machine first, like 10 procs; got 'five'"),
    ],
)
def test_what_is_wrong_is_reported_in_one_line(line: str, told: str) -> None:
    with pytest.raises(TraceError) as wrong:
        parse_puzzle(line)
    assert told.replace("\\\\", "\\") in str(wrong.value)
    assert "\n" not in str(wrong.value)
