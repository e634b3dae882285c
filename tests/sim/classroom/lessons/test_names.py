from pathlib import Path

import pytest

from sim.classroom.lessons.names import Names
from sim.classroom.lessons.runs import Runs
from sim.support.errors import SchedscopeError
from sim.workload.replay import read

RUNS = Runs(read("z-figure4"), "fcfs")
NAMES = Names(RUNS, RUNS.at_time("main", 600))


@pytest.mark.parametrize(("name", "written"), [
    ("J5.start", "00:30:00"), ("J5.wait", "29m20"), ("J5.wait@easy", "9m20"), ("J5.wait - J5.wait@easy", "20m00"),
    ("J3.start - J1.end", "10m00"), ("J3.start + J3.run", "00:30:00"), ("J5.procs", "5"), ("J5.estimate", "8m20"),
    ("J5.xfactor", "2.12"), ("mean_wait", "15m42"), ("utilization", "71.3 %"), ("total_wait_hours", "1.3 h"),
    ("backfilled@easy", "1"), ("J4.suspended", "0"), ("free", "6"), ("waiting", "3"), ("now", "00:10:00"),
    ("J3.planned@easy", "00:20:00"),
])  # fmt: skip
def test_a_name_is_the_number_that_the_run_has(name: str, written: str) -> None:
    if name != "J3.planned@easy":
        assert NAMES.filled(f"-{{{name}}}-") == f"-{written}-"
    else:
        easy = Names(RUNS, RUNS.at_time(RUNS.branch("easy"), 599))
        assert easy.filled("{J3.planned}") == written


@pytest.mark.parametrize(("name", "said"), [
    ("J9.start", "no job '9' among the 5 jobs"), ("J5.begin", "of a job there is no 'begin'"),
    ("mean_weight", "did you mean 'mean_wait'?"), ("mean_wait@eazy", "no policy 'eazy'"),
    ("__class__", "no number|no name"), ("", "'' is no name of a number"),
    ("J1.planned", "that never happens in this run"), ("free@easy", "there is no number 'free'"),
])  # fmt: skip
def test_a_name_that_means_nothing_is_said(name: str, said: str) -> None:
    with pytest.raises(SchedscopeError, match=said):
        NAMES.filled(f"{{{name}}}")


@pytest.mark.parametrize(("claim", "holds"), [
    ("J5.start == 1800", True), ("J5.start == 30m", True), ("J5.wait@easy < J5.wait", True),
    ("mean_wait <= 15m", False), ("J3.start != J3.start@easy", False), ("utilization > 0.7", True),
])  # fmt: skip
def test_a_claim_holds_or_says_what_is_so_instead(claim: str, holds: bool) -> None:
    assert (NAMES.claim(claim) is None) == holds


def test_no_claim_is_evaluated() -> None:
    with pytest.raises(SchedscopeError, match="expected a claim such as"):
        NAMES.claim("__import__('os')")
    assert NAMES.claim("mean_wait == -inf") == "mean_wait == -inf does not hold: 15m42 == -inf"
    assert NAMES.claim("mean_wait > 16m") == "mean_wait > 16m does not hold: 15m42 > 16m00"


def test_names_ask_a_file_that_is_no_sample_as_well(tmp_path: Path) -> None:
    path = tmp_path / "two.swf"
    path.write_text("; MaxProcs: 4\n1 0 -1 10 4 -1 -1 4 20\n2 5 -1 10 4 -1 -1 4 20\n")
    runs = Runs(read(path), "easy")
    assert Names(runs, runs.at_time("main", 100)).filled("{J2.wait} of {J2.run}, {makespan}") == "5s of 10s, 20s"
