"""Recorded starts next to the starts that a policy gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sim.engine.engine import Engine
from sim.live.cluster.values import Cluster, Limit, Node
from sim.live.forecast.agreement import ALL, AT_ONCE, Agreement, Seen, agreements, as_polled, recorded_limits
from sim.workload.follows import After, Follow
from sim.workload.model import Field, Header, Trace
from sim.workload.shape import ComputeNode, NodeGroup, Request, Shape
from tests.sim.conftest import Lab
from tests.sim.live.forecast.test_forecast import NOW, RUNS, WAITS


def test_starts_are_compared_by_the_last_reason_to_wait(lab: Lab) -> None:
    pictures = [
        Cluster(NOW, jobs=(replace(WAITS, id="1", reason="Priority"), replace(WAITS, id="2", reason="Priority"))),
        Cluster(NOW + 9, jobs=(replace(WAITS, id="1", reason="Resources"), replace(RUNS, id="2"))),
        Cluster(NOW + 18, jobs=(replace(RUNS, id="1"), replace(RUNS, id="2"))),
    ]
    workload = replace(lab.workload(4, "1 0 2 10 10", "2 0 2 10 10", "3 0 4 10 10"), wait=np.array([50, 500, 0]))
    engine = Engine(workload, "fcfs")
    engine.run()
    assert agreements(engine.schedule(), Seen.of(pictures), workload) == [
        Agreement(ALL, 3, 2 / 3, 1 / 3, 0, 50),
        Agreement("Priority", 1, 0, 1, 0, 500),
        Agreement("Resources", 1, 1, 0, 0, 50),
        Agreement(AT_ONCE, 1, 1, 0, 0, 10),
    ]
    still = Seen.of(pictures[:2])
    assert agreements(engine.schedule(), still, workload)[0].jobs == 2, "a job that waits to the end has no start"


def test_limits_of_the_recording_are_kept(lab: Lab) -> None:
    limits = (Limit("account", "physics", "GrpTRES=cpu", 4, 0), Limit("account", "physics", "GrpSubmitJobs", 1, 0))
    jobs = tuple(replace(WAITS, id=id, account="physics", cpus=cpus) for id, cpus in (("1", 4), ("3", 4), ("2", 5)))
    workload = lab.workload(16, "1 0 4 10 10", "2 0 5 10 10", "3 1 4 10 10", "4 1 2 10 10")
    made = recorded_limits(workload, Seen.of([Cluster(NOW, jobs=jobs, limits=limits)]))
    assert made is not None
    assert made.demands == (((0, 4),), (), ((0, 4),), ())
    engine = Engine(replace(workload, limits=made), "slurm")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 0, 10, 1]
    assert recorded_limits(workload, Seen.of([Cluster(NOW, jobs=jobs)])) is None


def test_arrays_have_the_limit_of_the_recording_or_what_ran_at_once_while_one_waited_for_it(lab: Lab) -> None:
    tasks = [replace(WAITS, id=f"7_{task}", array="7", reason="JobArrayTaskLimit") for task in range(3)]
    begun = [replace(task, state="RUNNING", reason="", nodes=("n1",)) for task in tasks]
    pictures = [Cluster(NOW, jobs=(*begun[:2], tasks[2])), Cluster(NOW + 9, jobs=(begun[0], *tasks[1:]))]
    assert Seen.of(pictures).at_once == {"7": 2}
    assert Seen.of([Cluster(NOW, jobs=tuple(begun))]).at_once == {}
    assert Seen.of([Cluster(NOW, jobs=tuple(replace(task, at_once=5) for task in tasks))]).at_once == {"7": 5}
    workload = replace(lab.workload(16, *(f"{at} 0 1 10 10" for at in range(3))), ids=tuple(task.id for task in tasks))
    engine = Engine(replace(workload, limits=recorded_limits(workload, Seen.of(pictures))), "slurm:order=fcfs")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 0, 10]


def test_jobs_that_were_held_come_when_they_were_free(lab: Lab) -> None:
    held = replace(WAITS, id="2", reason="JobHeldUser")
    later = replace(WAITS, id="3", reason="BeginTime")
    seen = Seen.of(
        [Cluster(1000.0, jobs=(held, later)), Cluster(1030.0, jobs=(replace(held, reason="Priority"), later))]
    )
    table = np.full((3, len(Field)), -1.0)
    table[:, Field.SUBMIT], table[:, Field.WAIT] = (0, 5, 6), (9, 80, -1)
    trace = seen.as_they_came(Trace("x", "slog", ("1", "2", "3"), table, Header(unix_start=990)))
    assert trace.column(Field.SUBMIT).tolist() == [0, 10, 40]
    assert trace.column(Field.WAIT).tolist() == [9, 75, -1]


def test_nodes_that_the_pictures_show_drained_take_no_jobs(lab: Lab) -> None:
    nodes = (Node("n1", 8), Node("n2", 8))
    away = (nodes[0], replace(nodes[1], states=frozenset({"DOWN"})))
    seen = Seen.of([Cluster(NOW, nodes=nodes), Cluster(NOW + 10, nodes=away), Cluster(NOW + 30, nodes=nodes)])
    shape = Shape((ComputeNode("n1", 8), ComputeNode("n2", 8)))
    workload = replace(lab.workload(16, "1 0 8 10 10"), shape=shape, header=Header(unix_start=int(NOW)))
    made = as_polled(workload, seen).shape
    assert made is not None
    (drain,) = made.reservations
    assert (drain.start, drain.end, drain.nodes, drain.is_drain) == (10, 30, frozenset({1}), True)


def test_a_job_keeps_the_partitions_in_which_it_was_tried(lab: Lab) -> None:
    waits = replace(WAITS, id="1", partition="short,batch,nowhere")
    seen = Seen.of([Cluster(NOW, jobs=(waits,)), Cluster(NOW + 9, jobs=(replace(RUNS, id="1", partition="batch"),))])
    groups = (NodeGroup("batch", frozenset({0})), NodeGroup("short", frozenset({0}), most_time=99.0))
    for estimate, tried in ((10, (1, 0)), (100, (0,))):
        shape = Shape((ComputeNode("n1", 8),), groups, requests=(Request((1, 0), tasks=8, groups=(0,)),))
        made = as_polled(replace(lab.workload(8, f"1 0 8 10 {estimate}"), shape=shape), seen).shape
        assert made is not None
        assert made.requests[0].groups == tried


def test_a_job_that_depends_on_another_is_compared_with_its_own_recorded_start(lab: Lab) -> None:
    """It is submitted when the job before it ends, which is later in the run than it was in reality."""
    jobs = lab.workload(4, "1 0 4 10 10", "2 0 2 10 10")
    workload = replace(jobs, wait=np.array([0, 10]), follows=(None, Follow((After(0),))))
    engine = Engine(workload, "fcfs")
    engine.run()
    schedule = engine.schedule()
    assert (schedule.start.tolist(), schedule.workload.submit.tolist()) == ([0, 10], [0, 10])
    assert agreements(schedule, Seen.of([Cluster(NOW)]), workload)[0] == Agreement(ALL, 2, 1, 0, 0, 0)
