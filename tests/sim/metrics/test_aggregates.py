"""The numbers of a whole schedule, each worked out by hand on a machine of four processors.

Also tests sim.engine.schedule, sim.metrics.measure, sim.metrics.finished_jobs.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim import run
from sim.comparison.differences import compare
from sim.engine.engine import Engine
from sim.engine.schedule import Curves, Schedule
from sim.lab.measured import measured
from sim.metrics import aggregates as module
from sim.metrics.aggregates import aggregates, over_time, ratio
from sim.metrics.catalogue import FRAGMENTATION, METRICS, metric
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.measure import measure
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.workload.model import Workload
from sim.workload.replay import read
from tests.sim.conftest import Lab

NAN = float("nan")


def workload(*jobs: tuple[float, int, float, float], procs: int = 4) -> Workload:
    """Return jobs given as (submit, processors, run time, estimate)."""
    columns = [np.array(column, dtype=float) for column in zip(*jobs, strict=True)] or [np.zeros(0)] * 4
    submit, width, run, estimate = columns
    unknown = np.full(len(jobs), -1)
    return Workload(
        name="story",
        procs=procs,
        ids=tuple(str(i + 1) for i in range(len(jobs))),
        submit=submit,
        width=width.astype(np.int64),
        runtime=run,
        estimate=estimate,
        wait=unknown.astype(float),
        user=unknown,
        group=unknown,
        queue=unknown,
        status=unknown,
        high=np.zeros(len(jobs), dtype=bool),
        reserve=np.full(len(jobs), NAN),
        killed=np.zeros(len(jobs), dtype=bool),
    )


def schedule(of: Workload, start: list[float], end: list[float], steps: list[tuple[float, int, int, int]]) -> Schedule:
    """Return a schedule with these starts and ends. Each of `steps` is (time, free processors, waiting jobs, processors
    that they want)."""
    jobs = len(of)
    time, free, waiting, wanted = (np.array([step[i] for step in steps]) for i in range(4))
    return Schedule(
        workload=of,
        policy="story",
        start=np.array(start, dtype=float),
        end=np.array(end, dtype=float),
        ran=np.where(np.isnan(end), 0.0, of.runtime) if jobs else np.zeros(0),
        backfilled=np.zeros(jobs, dtype=bool),
        promised=np.full(jobs, NAN),
        preemptions=np.zeros(jobs, dtype=np.int64),
        migrations=np.zeros(jobs, dtype=np.int64),
        speculative_kills=0,
        borrowed=0,
        curves=Curves(
            time.astype(float), free.astype(float), waiting.astype(np.int64), wanted.astype(np.int64), 0 * waiting
        ),
    )


@pytest.fixture
def three() -> Schedule:
    """Return a schedule of three jobs.

    Job 1 takes 3 of 4 processors for 100 s; job 2 needs all 4 and waits for it; job 3 (1 s, 1 processor)
    passes and runs next to job 1 after 10 s.

        0    10     100   150
        111111111111|2222|
                 3
    """
    jobs = workload((0, 3, 100, 100), (20, 4, 50, 50), (30, 1, 1, 5))
    played = schedule(
        jobs,
        start=[0, 100, 40],
        end=[100, 150, 41],
        steps=[
            (0, 1, 0, 0),
            (20, 1, 1, 4),
            (30, 1, 2, 5),
            (40, 0, 1, 4),
            (41, 1, 1, 4),
            (100, 0, 0, 0),
            (150, 4, 0, 0),
        ],
    )
    return replace(played, backfilled=np.array([False, False, True]))


def test_zkp_example_of_equal_work_has_equal_width_weighted_slowdown() -> None:
    # ZKP section 5.1: width 1, 100 s, delayed 1000 s; width 10, 10 s, delayed 1090 s: 11 for both
    jobs = workload((0, 1, 100, 100), (0, 10, 10, 10), procs=16)
    played = schedule(jobs, [1000, 1090], [1100, 1100], [(0, 16, 2, 11), (1000, 15, 1, 10), (1100, 16, 0, 0)])
    values = aggregates(played)
    assert values["mean_width_weighted_slowdown"] == 11
    assert values["mean_bounded_slowdown"] == (11 + 110) / 2


def test_capacity_and_overhead_are_counted(three: Schedule) -> None:
    # 1 free from 20 to 40 and from 41 to 100, with a job waiting all that time; the 20 s before do not count
    assert aggregates(three)["loss_of_capacity"] == pytest.approx((20 + 59) / 600)
    # one job runs 100 s but holds its 4 processors 120 s: 80 of 480 processor-seconds
    played = schedule(workload((0, 4, 100, 100)), [0], [120], [(0, 0, 0, 0), (120, 4, 0, 0)])
    values = aggregates(played)
    assert values["overhead"] == values["loss_with_overhead"] == pytest.approx(80 / 480)
    assert values["loss_of_capacity"] == 0
    # starts at once, is suspended for 60 s: no wait, but a slowdown of 160/100
    played = schedule(workload((0, 4, 100, 100)), [0], [160], [(0, 0, 0, 0), (160, 4, 0, 0)])
    values = aggregates(replace(played, preemptions=np.array([2]), migrations=np.array([1])))
    assert values["mean_wait"] == 0
    assert values["mean_bounded_slowdown"] == pytest.approx(1.6)
    assert (values["preemptions"], values["migrations"]) == (2, 1)
    asked = replace(three, workload=replace(three.workload, reserve=np.array([1000.0, np.nan, np.nan])))
    assert aggregates(asked)["aggregate_slowdown"] == pytest.approx(1 + 90 / 151)


def test_killed_jobs_count_like_others_unless_asked_otherwise(three: Schedule) -> None:
    killed = replace(three, workload=replace(three.workload, killed=np.array([False, True, False])))
    assert aggregates(killed)["max_wait"] == 80
    without = aggregates(FinishedJobs.of(killed, killed=False))
    assert (without["jobs"], without["max_wait"]) == (2, 10)
    assert without["killed"] == 1
    assert without["utilization"] == aggregates(killed)["utilization"]  # the machine did run it


def test_jobs_that_a_cut_short_run_leaves_are_counted_and_left_out(three: Schedule) -> None:
    # stopped at 60: job 1 has run 60 s, job 2 waits, job 3 is done
    cut = replace(
        three,
        start=np.array([0, NAN, 40]),
        end=np.array([NAN, NAN, 41]),
        ran=np.array([60.0, 0.0, 1.0]),
        curves=Curves(
            np.array([0.0, 20, 40, 41, 60]),
            np.array([1, 1, 0, 1, 1]),
            np.array([0, 1, 1, 1, 1]),
            np.zeros(5, dtype=int),
            np.zeros(5, dtype=int),
        ),
    )
    values = aggregates(cut)
    assert (values["jobs"], values["unfinished"]) == (1, 2)
    assert values["mean_wait"] == 10
    assert values["backfilled"] == 1
    assert values["makespan"] == 60  # to the last instant
    assert values["utilization"] == pytest.approx((180 + 1) / 240)  # the progress of job 1 included


def test_metrics_are_listed_and_plain(three: Schedule) -> None:
    assert list(aggregates(three)) == [entry.name for entry in METRICS]
    assert metric("utilization").better == "greater"
    with pytest.raises(ParameterError, match="did you mean 'mean_wait'"):
        metric("mean_wiat")
    written = json.loads(json.dumps(measure(three).as_dict()))
    assert written["metrics"]["max_wait"] == 80
    assert {row["label"] for row in written["groups"]["class"]} == {"short", "medium", "long"}
    values = measure(schedule(workload(), [], [], [])).values
    assert (values["jobs"], values["makespan"], values["backfilled"]) == (0, 0, 0)
    assert values["mean_wait"] is None
    assert values["utilization"] is None
    assert ratio(83.2, 77.6) == pytest.approx(0.07, abs=0.005)  # LS equation 3


def test_averages_over_time_come_in_buckets(three: Schedule) -> None:
    # 0-75: busy 3 * 75 + 1; 75-150: busy 3 * 25 + 4 * 50; waiting 10 + 2 * 10 + 35, then 25
    found = over_time(three, 2)
    assert found.edges == [0, 75, 150]
    assert found.utilization == pytest.approx([226 / 300, 275 / 300])
    assert found.queue == pytest.approx([65 / 75, 25 / 75])
    assert found.loss_of_capacity == pytest.approx([54 / 300, 25 / 300])
    found = over_time(three, 1, begin=100, finish=200)  # busy until 150, then empty
    assert found.utilization == [0.5]
    assert over_time(schedule(workload(), [], [], []), 5).edges == []


def test_a_wait_counts_from_the_start_that_was_asked_for(lab: Lab) -> None:
    """Job 2 arrives at 5 and requests a start at 100, but job 1 runs until 130. So job 2's lead is 95 and its wait is
    30."""
    workload = replace(lab.workload(1, "1 0 1 130 130", "2 5 1 10 10"), reserve=np.array([np.nan, 100.0]))
    engine = Engine(workload, parse_policy("multiqueue:classes=none"))
    engine.run()
    values = aggregates(engine.schedule())
    assert engine.schedule().start.tolist() == [0, 130]
    assert (values["mean_wait"], values["max_wait"], values["mean_lead"]) == (15, 30, 95)
    assert values["aggregate_slowdown"] == 1 + 30 / 140
    assert engine.snapshot().totals.mean_wait == 15


def test_requested_starts_begin_waits(lab: Lab) -> None:
    # One of two processors is free from 5 on. Job 2 requests a start at 100, and waits from then until 130.
    workload = replace(lab.workload(2, "1 0 1 130 130", "2 5 2 10 10"), reserve=np.array([np.nan, 100.0]))
    engine = Engine(workload, "multiqueue:classes=none")
    engine.run()
    assert aggregates(engine.schedule())["loss_of_capacity"] == pytest.approx(30 / 280)
    assert over_time(engine.schedule(), 14).loss_of_capacity == pytest.approx([0] * 10 + [0.5] * 3 + [0])
    workload = replace(lab.workload(1, "1 0 1 10 10"), reserve=np.array([100.0]), wait=np.array([60.0]))
    engine = Engine(workload, "multiqueue")
    engine.run()
    assert aggregates(engine.schedule())["later_than_recorded"] == 1
    workload = replace(lab.workload(1, "1 0 1 10 10"), reserve=np.array([100.0]))
    engine = Engine(workload, parse_policy("fcfs"))
    engine.run()
    assert aggregates(engine.schedule())["max_wait"] == 0


def test_jains_index_tells_how_alike_users_fare() -> None:
    of = workload((0, 1, 10, 10), (0, 1, 10, 10), (0, 1, 10, 10), (0, 1, 10, 10))
    of = replace(of, user=np.array([0, 0, 1, -1]), group=np.zeros(4, dtype=np.int64))
    values = aggregates(schedule(of, [0, 20, 10, 90], [10, 30, 20, 100], []))
    # user 0 has jobs 1 and 3, mean 2; user 1 has job 2; the user of the last job is unknown
    assert values["fairness_users"] == 1
    assert values["fairness_groups"] is None
    values = aggregates(schedule(of, [0, 20, 50, 90], [10, 30, 60, 100], []))
    assert values["fairness_users"] == pytest.approx((2 + 6) ** 2 / (2 * (4 + 36)))


@pytest.mark.parametrize("watched", [True, False])
def test_suspended_job_waits_in_loss_of_capacity(lab: Lab, watched: bool) -> None:
    """Job 2 suspends job 1 from 60 until 70. It uses one of the two processors; the other one is free while job 1
    waits."""
    engine = Engine(lab.workload(2, "1 0 2 400 400", "2 1 1 10 10"), "selective", curious=watched)
    engine.run()
    assert aggregates(engine.schedule())["loss_of_capacity"] == pytest.approx(10 / (2 * 410))


def test_columns_of_all_jobs_are_made_once_for_all_groups(lab: Lab) -> None:
    schedule = lab.run("easy", 4, "1 0 2 100 100", "2 10 4 50 2000").schedule()
    assert schedule.wait is schedule.wait
    assert schedule.workload.due is schedule.workload.due


MACHINE = {"nodes": [{"name": "n[1-2]", "cores": 4, "mem": 100}], "placement": "lowest"}
JOBS = [
    {"id": "1", "submit": 0, "run": 100, "estimate": 100, "nodes": 1, "cores": 1, "mem": 90},
    {"id": "2", "submit": 0, "run": 50, "estimate": 50, "nodes": 1, "cores": 4, "mem": 10},
    {"id": "3", "submit": 0, "run": 50, "estimate": 50, "nodes": 1, "cores": 2, "mem": 50},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (made := tmp_path / "made.json").write_text(json.dumps({**MACHINE, "jobs": JOBS}), encoding="utf-8")
    return made


def test_cores_without_memory_are_fragments(path: Path) -> None:
    found = measure(run(read(path), "easy")).values
    lost = 3 * 50 / (8 * 100)  # three cores of the first node, while the third job waits
    assert found["fragmentation"] == found["fragmentation_memory"] == pytest.approx(lost)
    assert found["loss_of_capacity"] == pytest.approx(lost)
    assert {entry.name for entry in FRAGMENTATION} <= set(found)
    assert module.fragmentation(run(read("z-figure4"), "easy")) == {}
    schedule = run(read(path), "easy")
    assert module.fragmentation(schedule, 0, 50)["fragmentation"] == pytest.approx(3 / 8)
    assert module.fragmentation(schedule, 25, 75)["fragmentation"] == pytest.approx(3 / 16)
    assert module.fragmentation(schedule, 60, 100)["fragmentation"] == 0
    assert module.fragmentation(schedule, 200, 300) == {}


def test_moments_of_a_long_run_are_equally_far_apart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MOMENTS", 1)
    assert module.fragmentation(run(read(path), "easy"))["fragmentation"] == pytest.approx(3 / 8)


def test_results_and_comparisons_have_fragmentation(path: Path) -> None:
    easy, lowest = run(read(path), "easy"), run(read(path), "fcfs")
    assert measured(easy).values["fragmentation_memory"] == pytest.approx(3 / 16)
    assert "fragmentation" not in measured(run(read("z-figure4"), "easy")).values
    both = {each.metric.name: (each.first, each.second) for each in compare(easy, lowest).metrics}
    assert both["fragmentation"] == tuple(measure(each).values["fragmentation"] for each in (easy, lowest))
