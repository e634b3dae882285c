"""The schedules of some given cases: starts, ends, and every stretch with its processors."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.machine.processors import written
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.reading import read
from tests.material import MATERIAL, MISSING
from tests.oracle.node_cases import case_of
from tests.oracle.nodes import schedule

OWN = Path(__file__).parent / "cases"
SHARED = MATERIAL / "cases"
NEEDS_SHARED = pytest.mark.skipif(not SHARED.is_dir(), reason=MISSING)
THEIRS = [pytest.param(SHARED / f"t{number}", id=f"t{number}", marks=NEEDS_SHARED) for number in range(900, 912)]
"""Parameters for the cases in the shared folder, which is not part of the repository"""
TRACES = [*(pytest.param(path.with_suffix(""), id=path.stem) for path in sorted(OWN.glob("*.swf"))), *THEIRS]
"""Parameters for all cases: those in the shared folder, and the project's own, computed by `tests.oracle`"""


def lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield (policy's spec, the other words) of each line."""
    assert path.stat().st_size
    for line in path.read_text(encoding="utf-8").splitlines():
        spec, *cells = line.split()
        yield spec, cells


def jobs_in(path: Path) -> Workload:
    return Workload.of(read(path)).with_overruns()


def played(workload: Workload, spec: str) -> Engine:
    engine = Engine(workload, parse_policy(spec), curious=False)
    engine.run()
    return engine


def number(time: float | None) -> str:
    return f"{time:.12g}"


@pytest.mark.parametrize("trace", TRACES)
def test_every_job_starts_when_spec_says(trace: Path) -> None:
    workload = jobs_in(trace.with_suffix(".swf"))
    for spec, cells in lines(trace.with_suffix(".expected")):
        engine = played(workload, spec)
        starts = engine.schedule().start
        got = [f"{job}:{number(start)}" for job, start in zip(engine.workload.ids, starts, strict=True)]
        assert sorted(got) == sorted(cells), spec


@pytest.mark.parametrize("trace", TRACES)
def test_in_gang_scheduling_every_job_ends_when_spec_says(trace: Path) -> None:
    workload = jobs_in(trace.with_suffix(".swf"))
    for spec, cells in lines(trace.with_suffix(".gang")):
        engine = played(workload, spec)
        schedule = engine.schedule()
        for cell in cells:
            job, times = cell.split(":")
            rank = engine.workload.rank_of(job)
            wanted = [float(time) for time in times.split("-")]
            assert [schedule.start[rank], schedule.end[rank]] == pytest.approx(wanted, abs=1e-6), (spec, job)


@pytest.mark.parametrize("trace", THEIRS)
def test_with_preemption_every_stretch_is_where_spec_says(trace: Path) -> None:
    workload = jobs_in(trace.with_suffix(".swf"))
    for spec, cells in lines(trace.with_suffix(".stretches")):
        engine = played(workload, spec)
        got = [
            f"{engine.workload.ids[s.rank]}:{number(s.start)}-{number(s.end)}:{written(s.processors).replace(' ', '+')}"
            for s in engine.history.segments()
        ]
        assert sorted(got) == sorted(cells), spec


# Machines of nodes

MANY = 500 if settings().max_examples > 1000 else 9
ON_NODES = ("fcfs", "firstfit", "easy", "conservative", "conservative:compress=none")
MACHINES = sorted((MATERIAL / "cases-nodes").glob("*.json"))


def placed(workload: Workload, spec: str) -> dict[str, list[Any]]:
    """Return for each job, by its id: [start, indices of its nodes], in a run that is checked after every step."""
    engine = Engine(workload, parse_policy(spec), watchers=[Checker], curious=False)
    engine.run()
    run = engine.schedule()
    starts = zip(engine.workload.ids, run.start.tolist(), run.nodes, strict=True)
    return {job: [start, list(nodes)] for job, start, nodes in starts if start == start}


@pytest.mark.skipif(not MACHINES, reason=MISSING)
def test_jobs_start_on_the_nodes_that_spec_says() -> None:
    for path in MACHINES:
        workload = jobs_in(path)
        for spec, expected in json.loads(path.read_text(encoding="utf-8"))["expected"].items():
            got = placed(workload, spec)
            if spec.endswith("none"):  # there the cases leave out what starts after the last arrival and end
                got = {job: where for job, where in got.items() if job in expected}
            assert got == expected, (path.name, spec)


def agree(folder: Path, case: dict[str, Any], specs: Iterable[str]) -> Workload:
    """Check that the jobs of a case start as in the plain program; return them."""
    path = folder / "case.json"
    path.write_text(json.dumps(case), encoding="utf-8")
    workload = jobs_in(path)
    for spec in specs:
        plain = {job: [start, nodes] for job, (start, nodes) in schedule(case, spec).items()}
        assert placed(workload, spec) == plain, (case, spec)
    return workload


@pytest.mark.parametrize("waiting", [0, 0.5], ids=["independent", "dependent"])
def test_random_nodes_give_the_schedule_of_the_plain_program(tmp_path: Path, waiting: float) -> None:
    # 196: a job must not start where no other begins or ends any more; 291: a start lets a job ahead of the head come;
    # 379: the head fits beside more jobs only
    for seed in (196, 291, 379, *range(MANY)):
        agree(tmp_path, case_of(seed, waiting), ON_NODES)


def test_random_nodes_with_limits_give_the_schedule_of_the_plain_program(tmp_path: Path) -> None:
    # 36, 91, 224: a job that a limit on submitted jobs cancels has not ended well
    for seed in (36, 91, 224, *range(MANY)):
        workload = agree(tmp_path, case_of(seed, 0.2, limited=True), ("fcfs", "firstfit", "easy"))
        placed(workload, "replan")


SLURM = (
    "slurm:order=fcfs", "slurm:order=fcfs,bf_interval=0,bf_resolution=1",
    "slurm:order=fcfs,bf_interval=50,bf_window=60",
    "slurm:bf_interval=10,bf_resolution=10,bf_max_job_test=3,partition=500,halflife=100,maxage=100",
    "slurm:bf_interval=5,bf_resolution=1,bf_max_job_user=1,fairshare=300,halflife=600,maxage=50",
)  # fmt: skip


@pytest.mark.long
def test_random_nodes_with_reservations_match_the_oracle(tmp_path: Path) -> None:
    for seed in range(MANY):
        case = case_of(seed, parted=seed % 3 == 0, reserved=True)
        is_named = any("reservation" in job for job in case["jobs"])
        agree(tmp_path, case, (*(ON_NODES[:3] if is_named else ON_NODES), *SLURM))


@pytest.mark.parametrize(("waiting", "limited"), [(0, False), (0.3, True)], ids=["alone", "limited and dependent"])
def test_random_nodes_under_slurm_match_the_plain_program(tmp_path: Path, waiting: float, limited: bool) -> None:
    for seed in range(MANY):
        agree(tmp_path, case_of(seed, waiting, limited, parted=seed % 2 == 0), SLURM)
