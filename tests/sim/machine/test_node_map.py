import json
from pathlib import Path
from typing import Any

import pytest

from sim import run
from sim.workload.replay import read

NOW = "slurm:order=fcfs,bf_interval=0,bf_resolution=1"


def one(submit: int, estimate: int, nodes: int = 1, cores: int = 4, **more: Any) -> dict[str, Any]:
    return {"submit": submit, "run": estimate, "estimate": estimate, "nodes": nodes, "cores": cores, **more}


def starts(folder: Path, nodes: int, jobs: list[dict[str, Any]], spec: str = NOW, **more: Any) -> list[float]:
    case = {
        "nodes": [{"cores": 4}] * nodes, "jobs": [{"id": str(n), **job} for n, job in enumerate(jobs, start=1)], **more,
    }  # fmt: skip
    path = folder / "case.json"
    path.write_text(json.dumps(case), encoding="utf-8")
    found: list[float] = run(read(path), spec, check=True).start.tolist()
    return found


@pytest.mark.parametrize(("second", "wide", "small"), [(95, 82, 2), (151, 70, 151)], ids=["one window", "two"])
def test_ends_of_running_jobs_in_a_window_count_as_one(tmp_path: Path, second: int, wide: int, small: int) -> None:
    """Job 3 has a node at 70. If the other is free within 30 s after 90, job 3 is planned for that later end instead,
    and job 4 may run before it."""
    jobs = [one(0, 70, cores=3), one(0, second), one(1, 500), one(2, 80, cores=1)]
    assert starts(tmp_path, 2, jobs) == [0, 0, wide, small]


def test_job_that_would_end_when_a_planned_one_begins_waits(tmp_path: Path) -> None:
    jobs = [one(0, 50, cores=3), one(1, 100, cores=4), one(2, 48, cores=1), one(3, 46, cores=1)]
    assert starts(tmp_path, 1, jobs) == [0, 50, 150, 3]


def test_planned_job_takes_only_nodes_that_others_leave(tmp_path: Path) -> None:
    """Job 2 is planned for both nodes at 100. Job 3 is too long to end before, so it is planned behind job 2."""
    jobs = [one(0, 100), one(1, 50, nodes=2), one(2, 200)]
    assert starts(tmp_path, 2, jobs) == [0, 100, 150]


def test_next_try_begins_at_the_end_of_a_reservation(tmp_path: Path) -> None:
    kept = [{"name": "class", "nodes": [0], "start": 50, "end": 80, "users": ["ann"]}]
    jobs = [one(0, 60, user="bob"), one(0, 10, user="ann", reservation="class")]
    assert starts(tmp_path, 1, jobs, reservations=kept) == [80, 50]
