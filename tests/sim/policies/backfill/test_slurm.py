"""slurm: a main scheduler by priority, and a backfill scheduler that runs at intervals."""

from __future__ import annotations

import json
from math import inf
from pathlib import Path
from typing import Any

from sim.decisions.decisions import Keep
from sim.decisions.reasons_on_nodes import BehindInPartition
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.workload.replay import read
from tests.sim.conftest import Lab

# Four processors. Job 1 holds three until 100; job 2 needs all of them; job 3 fits beside job 1.
HEAD = ("1 0 3 100 100", "2 1 4 10 10")
SLURM = "slurm:order=fcfs"


def run(folder: Path, case: dict[str, Any], spec: str, until: float = inf) -> Engine:
    path = folder / "case.json"
    path.write_text(json.dumps(case), encoding="utf-8")
    engine = Engine(read(path), spec, watchers=[Checker], curious=True)
    engine.run(until)
    return engine


def on_nodes(folder: Path, case: dict[str, Any], spec: str) -> dict[str, float]:
    engine = run(folder, case, spec)
    return dict(zip(engine.workload.ids, engine.schedule().start.tolist(), strict=True))


def test_backfill_keeps_its_parameters(lab: Lab) -> None:
    # The half of the instant 1 finds job 2 alone. Job 3 comes at 2: the next half is at 31.
    assert lab.starts(SLURM, 4, *HEAD, "3 2 1 20 20") == {"1": 0, "2": 100, "3": 31}
    assert lab.starts(f"{SLURM},bf_interval=0", 4, *HEAD, "3 2 1 20 20") == {"1": 0, "2": 100, "3": 2}
    engine = lab.run(f"{SLURM},bf_resolution=60", 4, *HEAD, until=1)
    assert engine.moment.reserved == {1: 120}
    # The plan keeps the processors from 120 to 130: a job of 110 s passes, one of 120 s does not.
    assert lab.starts(SLURM, 4, *HEAD, "3 1 1 119 119")["3"] == 1
    assert lab.starts(SLURM, 4, *HEAD, "3 1 1 120 120")["3"] == 110
    jobs = (*HEAD, "3 1 1 20 20", "4 1 1 5 5")
    assert lab.starts(f"{SLURM},bf_max_job_test=1", 4, *jobs)["3"] == 110
    assert lab.starts(f"{SLURM},bf_max_job_test=2", 4, *jobs)["3"] == 1
    assert lab.starts(f"{SLURM},bf_max_job_user=1", 4, *jobs[:3])["3"] == 110
    # Nothing is planned for job 2, so job 3 passes it although that delays it.
    assert lab.starts(f"{SLURM},bf_window=50", 4, *HEAD, "3 1 1 500 500") == {"1": 0, "2": 501, "3": 1}


def test_main_half_stops_at_the_first_that_does_not_fit(lab: Lab) -> None:
    engine = lab.run(SLURM, 4, *HEAD, "3 2 1 20 20", until=2)
    assert lab.kept(engine, "3") == BehindInPartition(engine.moment.jobs[1])


def test_first_that_does_not_fit_closes_its_own_partition_only(tmp_path: Path) -> None:
    jobs = [
        {"id": "1", "submit": 0, "run": 100, "nodes": 1, "cores": 4, "partitions": ["a"]},
        {"id": "2", "submit": 1, "run": 100, "nodes": 1, "cores": 4, "partitions": ["a"]},
        {"id": "3", "submit": 2, "run": 100, "nodes": 1, "cores": 4, "partitions": ["b"]},
        {"id": "4", "submit": 2, "run": 5, "nodes": 1, "cores": 1, "partitions": ["a"]},
    ]
    nodes = [{"cores": 4, "partitions": ["a"]}, {"cores": 4, "partitions": ["b"]}]
    case = {"nodes": nodes, "partitions": [{"name": "a"}, {"name": "b"}], "jobs": jobs}
    assert on_nodes(tmp_path, case, SLURM) == {"1": 0, "2": 100, "3": 2, "4": 200}


def test_partition_that_does_not_fit_closes_its_nodes(tmp_path: Path) -> None:
    # Job 4 cannot start on node 1, which is free: it belongs to the partition in which job 3 does not fit. Job 5 needs
    # two nodes of its partition, which has one open node, so it closes the partition, and job 6 must wait.
    jobs: list[dict[str, Any]] = [
        {"id": "1", "submit": 0, "run": 100, "nodes": 1, "cores": 4, "partitions": ["left"]},
        {"id": "3", "submit": 1, "run": 100, "nodes": 2, "cores": 4, "partitions": ["left"]},
        {"id": "4", "submit": 2, "run": 10, "nodes": 1, "cores": 4, "partitions": ["middle"]},
        {"id": "5", "submit": 3, "run": 10, "nodes": 2, "cores": 4, "partitions": ["right"]},
        {"id": "6", "submit": 4, "run": 10, "nodes": 1, "cores": 4, "partitions": ["right"]},
    ]
    nodes = [
        {"cores": 4, "partitions": ["left"]},
        {"cores": 4, "partitions": ["left", "middle", "right"]},
        {"cores": 4, "partitions": ["right"]},
    ]
    case = {"nodes": nodes, "partitions": [{"name": name} for name in ("left", "middle", "right")], "jobs": jobs}
    starts = on_nodes(tmp_path, case, f"{SLURM},bf_interval=1000")
    assert starts == {"1": 0, "3": 100, "4": 200, "5": 210, "6": 220}


def test_partitions_of_a_higher_tier_come_first_and_factors_are_weighed(tmp_path: Path) -> None:
    job = {"run": 10, "estimate": 10, "tasks": 4}
    jobs = [
        {"id": "1", "submit": 0, "partitions": ["low"], **job},
        {"id": "2", "submit": 1, "partitions": ["low"], **job},
        {"id": "3", "submit": 2, "partitions": ["high"], **job},
    ]
    partitions = [{"name": "low", "factor": 1}, {"name": "high", "factor": 10}]
    case = {"nodes": [{"cores": 4}], "partitions": partitions, "jobs": jobs}
    assert on_nodes(tmp_path, case, "slurm") == {"1": 0, "2": 10, "3": 20}
    assert on_nodes(tmp_path, case, "slurm:partition=1000") == {"1": 0, "2": 20, "3": 10}
    partitions[1]["priority"] = 5
    assert on_nodes(tmp_path, case, "slurm") == {"1": 0, "2": 20, "3": 10}


def test_priorities_of_qos_are_weighed(tmp_path: Path) -> None:
    job = {"run": 10, "estimate": 10, "tasks": 4}
    jobs = [{"id": str(n), "submit": n, "qos": "urgent" if n == 3 else "normal", **job} for n in (1, 2, 3)]
    case = {"nodes": [{"cores": 4}], "qos": [{"name": "urgent", "priority": 100}], "jobs": jobs}
    assert on_nodes(tmp_path, case, "slurm") == {"1": 1, "2": 11, "3": 21}
    assert on_nodes(tmp_path, case, "slurm:qos=1000") == {"1": 1, "2": 21, "3": 11}
    case["qos"] = [{"name": "urgent", "priority": 100}, {"name": "normal", "priority": -200}]
    assert on_nodes(tmp_path, case, "slurm:qos=1000") == {"1": 1, "2": 21, "3": 11}, "a negative one counts as 0"
    case["qos"] = [{"name": "urgent", "priority": -10}, {"name": "normal", "priority": -5}]
    assert on_nodes(tmp_path, case, "slurm:qos=1000") == {"1": 1, "2": 11, "3": 21}


def test_users_of_an_account_share_what_it_has(tmp_path: Path) -> None:
    """Users a and b of the account x have used as much as user c of y: a and b together count for x."""
    job = {"run": 10, "estimate": 10, "tasks": 4}
    owners = (("a", "x"), ("b", "x"), ("c", "y"), ("b", "x"), ("c", "y"))
    jobs = [
        {"id": str(n), "submit": 0 if n < 4 else 25, "user": user, "account": account, **job}
        for n, (user, account) in enumerate(owners, start=1)
    ]
    case = {"nodes": [{"cores": 4}], "jobs": jobs}
    assert on_nodes(tmp_path, case, "slurm:age=0") == {"1": 0, "2": 10, "3": 20, "4": 30, "5": 40}
    starts = on_nodes(tmp_path, case, "slurm:age=0,shares=accounts")
    assert starts == {"1": 0, "2": 20, "3": 10, "4": 40, "5": 30}


def test_planned_jobs_keep_their_nodes_whole(tmp_path: Path) -> None:
    """Job 2 is planned for two cores of node 1 at 50, when job 1 ends. Job 4 would fit beside it, but waits for it."""
    jobs = [
        {"id": "1", "submit": 0, "run": 50, "estimate": 50, "nodes": 1, "cores": 3},
        {"id": "2", "submit": 1, "run": 100, "estimate": 100, "nodes": 1, "cores": 2},
        {"id": "4", "submit": 2, "run": 60, "estimate": 60, "nodes": 1, "cores": 1},
    ]
    case, spec = {"nodes": [{"cores": 4}], "jobs": jobs}, f"{SLURM},bf_interval=0,bf_resolution=1"
    assert on_nodes(tmp_path, case, spec) == {"1": 0, "2": 50, "4": 50}
    jobs[2]["estimate"] = 47  # Slurm keeps a second between the two
    assert on_nodes(tmp_path, case, spec)["4"] == 2


def test_on_nodes_the_size_of_a_job_is_the_mean_of_its_shares_of_cores_and_nodes(tmp_path: Path) -> None:
    """Job 3 asks for a quarter of the nodes, job 2 for all of them."""
    jobs = [
        {"id": "1", "submit": 0, "run": 10, "estimate": 10, "nodes": 4, "cores": 4},
        {"id": "3", "submit": 1, "run": 10, "estimate": 10, "tasks": 5, "cores": 1, "exclusive": True},
        {"id": "2", "submit": 2, "run": 10, "estimate": 10, "nodes": 4, "cores": 1, "exclusive": True},
    ]
    case = {"nodes": [{"cores": 4, "count": 4}], "jobs": jobs}
    assert on_nodes(tmp_path, case, "slurm:age=0,fairshare=0") == {"1": 0, "2": 10, "3": 20}
    assert on_nodes(tmp_path, case, "slurm:age=0,fairshare=0,favour=small") == {"1": 0, "3": 10, "2": 20}


def test_a_job_with_several_partitions_has_the_priority_of_each(tmp_path: Path) -> None:
    """Job 4 is first in the partition of n1, and behind job 3 in that of both nodes, of which n2 becomes free first."""
    jobs = [
        ("1", 0, 100, ["short"]),
        ("2", 0, 50, ["batch"]),
        ("3", 1, 10, ["batch"]),
        ("4", 2, 10, ["batch", "short"]),
    ]
    nodes = [{"name": "n1", "cores": 1, "partitions": ["short", "batch"]}, {"cores": 1, "partitions": ["batch"]}]
    case: dict[str, Any] = {
        "nodes": nodes,
        "partitions": [{"name": "short", "factor": 100}, {"name": "batch", "factor": 10}],
        "jobs": [
            {"id": id, "submit": at, "tasks": 1, "run": run, "estimate": run, "partitions": names}
            for id, at, run, names in jobs
        ],
    }
    spec = "slurm:age=0,fairshare=0,size=0,partition=1000,bf_resolution=1,bf_interval=1"
    assert on_nodes(tmp_path, case, spec) == {"1": 0, "2": 0, "3": 50, "4": 60}
    jobs_in_one = [{**job, "partitions": job["partitions"][-1:]} for job in case["jobs"]]
    assert on_nodes(tmp_path, {**case, "jobs": jobs_in_one}, spec) == {"1": 0, "2": 0, "3": 50, "4": 100}


def test_a_job_of_several_partitions_is_not_behind_itself(tmp_path: Path) -> None:
    """Job 2 does not fit in its first partition, which closes the nodes of its second one for itself, too."""
    nodes = [{"cores": 4, "partitions": ["a", "b"]}]
    jobs = [
        {"id": "1", "submit": 0, "run": 100, "nodes": 1, "cores": 3, "partitions": ["a"]},
        {"id": "2", "submit": 1, "run": 100, "nodes": 1, "cores": 4, "partitions": ["a", "b"]},
        {"id": "3", "submit": 1, "run": 500, "nodes": 1, "cores": 1, "partitions": ["b"]},
    ]
    case = {"nodes": nodes, "partitions": [{"name": "a"}, {"name": "b"}], "jobs": jobs}
    engine = run(tmp_path, case, SLURM, until=1)
    kept = [told for told in engine.snapshot().decisions if isinstance(told, Keep)]
    behind = {told.job.id: told.because for told in kept if isinstance(told.because, BehindInPartition)}
    assert behind == {"3": BehindInPartition(engine.moment.jobs[1])}


def test_a_partition_in_which_a_job_never_fits_is_left_out(tmp_path: Path) -> None:
    nodes = [{"cores": 1, "partitions": ["small", "all"]}, {"cores": 4, "partitions": ["all"]}]
    asked = [("0", 4, ["all"]), ("1", 4, ["small", "all"]), ("2", 1, ["small"])]
    jobs = [
        {"id": id, "submit": 0, "nodes": 1, "cores": cores, "run": 9, "estimate": 9, "partitions": names}
        for id, cores, names in asked
    ]
    case = {"nodes": nodes, "partitions": [{"name": "small"}, {"name": "all"}], "jobs": jobs}
    assert on_nodes(tmp_path, case, SLURM) == {"0": 0, "1": 9, "2": 0}


def test_times_in_the_plan_are_rounded_down_on_nodes(tmp_path: Path) -> None:
    """A planned start is exact, and its place ends on the minute before its end. A real Slurm (22.05.8,
    bf_resolution=60) planned such jobs at 14:54:52, 14:55:00 and 14:56:00. One job held all nodes until 14:54:52."""
    jobs = [("1", 2, 112), ("2", 1, 60), ("3", 2, 60), ("4", 2, 120)]
    case = {
        "nodes": [{"name": "n[1-2]", "cores": 4}],
        "jobs": [
            {"id": id, "submit": 0, "nodes": nodes, "cores": 4, "run": run, "estimate": run} for id, nodes, run in jobs
        ],
    }
    engine = run(tmp_path, case, f"{SLURM},bf_interval=1,bf_resolution=60", until=0)
    assert {job.job.id: job.planned for job in engine.snapshot().queue} == {"2": 112, "3": 120, "4": 180}


def test_a_job_goes_to_its_best_partition_also_if_that_of_all_jobs_is_as_good(tmp_path: Path) -> None:
    nodes = [{"cores": 1, "partitions": ["low"]}, {"cores": 1, "partitions": ["high"]}]
    parts = [{"name": "low", "factor": 1}, {"name": "high", "factor": 10}]
    job = {"id": "1", "submit": 0, "tasks": 1, "run": 9, "estimate": 9, "partitions": ["low", "high"]}
    engine = run(tmp_path, {"nodes": nodes, "partitions": parts, "jobs": [job]}, "slurm:partition=1000", until=0)
    assert engine.snapshot().running[0].processors == 0b10
