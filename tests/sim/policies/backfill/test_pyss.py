"""Schedules of pyss and AccaSim, other simulators.

The files in `pyss` have starts and ends of our sample lublin-128, from one run of each of pyss's schedulers FCFS,
EasyBackfill, Conservative, EasySJBF and LookAheadEasyBackFill under Python 2.7. One is of AccaSim 1.1.3:
FirstInFirstOut with FirstFit on one node of 128 cores. AccaSim's EASY starts J22 at 08:50:25, which delays J21. The
small workloads are those of pyss's tests, with the end of each job on 100 processors.

A job of them is `submit end estimate procs run [user]`. If two sets of jobs fill the machine equally, pyss takes the
later jobs; the paper and this program take the earlier ones. Such cases are marked.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.comparison.elsewhere import read_schedule
from sim.timeline.scenario import run
from sim.workload.replay import read
from tests.sim.conftest import Lab

FOLDER = Path(__file__).with_name("pyss")

GREEDY = (
    "0 600 600 1 600; 1 610 10 100 10; 2 620 10 100 10; 3 630 10 100 10",
    "0 100 100 80 100; 1 2100 2000 80 2000; 2 4 2 6 2; 2 4 2 6 2; 2 4 2 7 2; 2 5 1 9 1; 2 5 1 10 1",
    (
        "0 100 100 80 100; 0 50 50 20 50; 1 2100 2000 100 2000; 5 53 1 10 1; 8 52 2 6 2; 8 52 2 6 2; 9 53 1 "
        "10 1; 10 52 2 6 2"
    ),
    (
        "0 100 100 80 100; 0 50 50 20 50; 1 2100 2000 100 2000; 5 53 1 10 1; 8 52 2 6 2; 10 52 2 6 2; 49 53 1 "
        "10 1; 49 52 2 6 2"
    ),
    (
        "0 100 100 80 100; 0 50 50 20 50; 1 2100 2000 100 2000; 2 2300 2000 100 200; 5 53 1 10 1; 8 52 2 6 2; "
        "10 52 2 6 2; 49 53 1 10 1; 49 52 2 6 2; 50 2400 2000 100 100"
    ),
)
PLUS_PLUS = (
    "0 600 600 1 600 1; 1 610 10 100 10 1; 2 620 10 100 10 1; 3 630 10 100 10 2",
    (
        "0 100 100 80 100 1; 0 50 50 20 50 2; 1 2100 2000 100 2000 3; 2 53 2 6 2 4; 3 53 2 6 2 5; 4 53 2 6 2 "
        "6; 5 51 1 10 1 7; 6 51 1 10 1 8"
    ),
    (
        "0 100 100 50 100 1; 0 100 100 50 100 1; 1 200 100 100 100 1; 2 350 150 100 150 1; 3 360 10 100 10 1; "
        "4 370 10 100 10 1"
    ),
    "0 100 100 50 100 1; 0 100 100 50 100 1; 1 200 100 100 100 1; 2 350 150 100 150 1",
    "0 100 1000 50 100 1; 0 100 1000 50 100 1; 1 200 1000 100 100 1; 2 350 1500 100 150 1",
    (
        "0 100 100 80 100 1; 0 50 50 20 50 2; 1 2100 2000 100 2000 3; 50 51 1 10 1 7; 50 51 1 10 1 7; 51 60 9 "
        "10 9 7; 51 60 9 10 9 7"
    ),
    (
        "0 100 100 80 100 1; 1 2101 2000 100 2000 3; 90 91 1 10 1 7; 90 91 1 10 1 7; 91 101 10 10 10 7; 91 "
        "101 10 10 10 7"
    ),
    (
        "0 100 100 80 100 1; 0 50 50 20 50 2; 1 2100 2000 100 2000 3; 39 51 1 5 1 7; 39 51 1 5 1 7; 39 51 1 5 "
        "1 7; 40 62 2 10 2 8; 40 62 2 10 2 8; 41 60 9 20 9 7"
    ),
    (
        "0 100 100 80 100 1; 0 50 50 20 50 2; 1 2100 2000 100 2000 3; 33 53 2 10 2 8; 34 53 2 10 2 8; 39 51 1 "
        "10 1 7; 39 51 1 10 1 7; 41 60 7 20 7 10"
    ),
    (
        "0 100 100 80 100 1; 0 50 50 20 50 2; 1 2100 2000 100 2000 3; 38 51 1 10 1 7; 38 51 1 10 1 7; 39 52 1 "
        "20 1 7; 40 62 2 20 2 8; 41 60 8 20 8 7"
    ),
    (
        "0 100 100 80 100 1; 0 50 50 20 50 1; 1 2100 2000 100 2000 10; 39 51 2 7 1 7; 39 51 2 7 1 7; 39 51 2 "
        "6 1 7; 40 62 2 10 2 2; 40 62 2 10 2 2; 41 60 9 10 9 7; 41 60 9 10 9 7"
    ),
    (
        "100 200 100 50 100 1; 100 200 100 50 100 1; 300 301 1 1 1 1; 300 400 100 1 100 1; 300 500 200 1 200 "
        "1; 300 301 10 1 1 1; 300 400 110 1 100 1; 300 500 210 1 200 1; 300 301 1000 1 1 1; 300 400 2000 1 "
        "100 1; 300 500 3000 1 200 1"
    ),
    (
        "100 200 1000 50 100 1; 100 200 1000 50 100 1; 300 301 1 1 1 1; 300 400 1000 1 100 1; 300 500 2000 1 "
        "200 1; 300 301 100 1 1 1; 300 400 1100 1 100 1; 300 500 2100 1 200 1; 300 301 1000 1 1 1; 300 400 "
        "2000 1 100 1; 300 500 3000 1 200 1"
    ),
)
LOOKAHEAD = (
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10",
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 4 20 10 10 10",
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 2 20 10 10 10; 3 30 10 6 10",
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 2 30 10 6 10; 3 20 10 10 10; 50 60 10 10 10; 51 70 10 6 10",
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 2 30 10 6 10; 3 20 10 10 10",
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 3 20 10 3 10; 4 20 10 3 10; 5 20 10 4 10",
)
TIES = (
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 4 30 10 10 10; 6 20 10 10 10",
    "0 600 600 90 600; 0 10 10 10 10; 1 610 10 100 10; 2 30 10 3 10; 3 20 10 3 10; 4 20 10 3 10; 5 20 10 4 10",
)


def ends(lab: Lab, spec: str, case: str) -> tuple[list[int], list[int], list[int]]:
    """Return three lists, by rank: the end of each job in our run, its expected end in the case, and its processors."""
    jobs = [list(map(int, job.split())) for job in case.split("; ")]
    lines = [f"{n} {job[0]} {job[3]} {job[4]} {job[2]}" for n, job in enumerate(jobs, 1)]
    users = np.array([job[5] if len(job) > 5 else -1 for job in jobs])
    found = run(replace(lab.workload(100, *lines), user=users), spec, check=True).end.astype(int).tolist()
    return found, [job[1] for job in jobs], [job[3] for job in jobs]


@pytest.mark.parametrize(
    ("spec", "case"),
    [("greedy", case) for case in GREEDY]
    + [("lookahead", case) for case in LOOKAHEAD]
    + [(spec, case) for case in PLUS_PLUS for spec in ("easy++", "easy++:correct=estimate")],
)
def test_jobs_end_when_pyss_says(lab: Lab, spec: str, case: str) -> None:
    found, expected, _ = ends(lab, spec, case)
    assert found == expected


@pytest.mark.parametrize("case", TIES)
def test_pyss_takes_other_jobs_of_the_same_widths(lab: Lab, case: str) -> None:
    found, expected, widths = ends(lab, "lookahead", case)
    assert found != expected
    assert sorted(zip(found, widths, strict=True)) == sorted(zip(expected, widths, strict=True))


@pytest.mark.usefixtures("own_program")
@pytest.mark.parametrize(
    ("file", "spec", "different"),
    [
        ("fcfs", "fcfs", 0),
        ("accasim-fifo", "fcfs", 0),
        ("easy", "easy", 0),
        ("conservative", "conservative:compress=queue", 0),
        ("easy-sjbf", "easy:tail=sjf", 0),
        ("lookahead", "lookahead", 617),
        ("lookahead", str(FOLDER / "by_area.py"), 0),
    ],
)
def test_a_thousand_jobs_start_as_in_other_simulators(file: str, spec: str, different: int) -> None:
    """The lookahead of pyss weighs a job by processors times estimate, ours as in the paper by processors."""
    of = read("lublin-128")
    starts = read_schedule(str(FOLDER / f"{file}.csv"), of).start
    assert int((run(of, spec).start != starts).sum()) == different
