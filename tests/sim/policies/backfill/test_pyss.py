"""Schedules of pyss and AccaSim, other simulators.

The files in `pyss` have starts and ends of our sample lublin-128, from one run of each of pyss's schedulers FCFS,
EasyBackfill, Conservative, EasySJBF and LookAheadEasyBackFill under Python 2.7. One is of AccaSim 1.1.3:
FirstInFirstOut with FirstFit on one node of 128 cores. AccaSim's EASY starts J22 at 08:50:25, which delays J21. The
small workloads (`small.txt`) are those of pyss's tests, with the end of each job on 100 processors.

A job of them is `submit end estimate procs run [user]`. If two sets of jobs fill the machine equally, pyss takes the
later jobs; the paper and this program take the earlier ones. Such cases are `ties`.
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

SMALL = [line.split(": ") for line in (FOLDER / "small.txt").read_text(encoding="utf-8").splitlines()]


def ends(lab: Lab, spec: str, case: str) -> tuple[list[int], list[int], list[int]]:
    """Return three lists, by rank: the end of each job in our run, its expected end in the case, and its processors."""
    jobs = [list(map(int, job.split())) for job in case.split("; ")]
    lines = [f"{n} {job[0]} {job[3]} {job[4]} {job[2]}" for n, job in enumerate(jobs, 1)]
    users = np.array([job[5] if len(job) > 5 else -1 for job in jobs])
    found = run(replace(lab.workload(100, *lines), user=users), spec, check=True).end.astype(int).tolist()
    return found, [job[1] for job in jobs], [job[3] for job in jobs]


@pytest.mark.parametrize(
    ("spec", "case"),
    [
        *((policy, case) for policy, case in SMALL if policy != "ties"),
        *((f"{policy}:correct=estimate", case) for policy, case in SMALL if policy == "easy++"),
    ],
)
def test_jobs_end_when_pyss_says(lab: Lab, spec: str, case: str) -> None:
    found, expected, _ = ends(lab, spec, case)
    assert found == expected


@pytest.mark.parametrize("case", [case for kind, case in SMALL if kind == "ties"])
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
