"""Recorded starts next to the starts that a policy gives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sim.cluster.values import Cluster, Limit
from sim.engine.engine import Engine
from sim.forecast.agreement import ALL, AT_ONCE, Agreement, Seen, agreements, limited
from tests.sim.conftest import Lab
from tests.sim.forecast.test_forecast import NOW, RUNS, WAITS


def test_starts_are_compared_by_the_last_reason_to_wait(lab: Lab) -> None:
    pictures = [
        Cluster(NOW, jobs=(replace(WAITS, id="1", reason="Priority"), replace(WAITS, id="2", reason="Priority"))),
        Cluster(NOW + 9, jobs=(replace(WAITS, id="1", reason="Resources"), replace(RUNS, id="2"))),
    ]
    workload = replace(lab.workload(4, "1 0 2 10 10", "2 0 2 10 10", "3 0 4 10 10"), wait=np.array([50, 500, 0]))
    engine = Engine(workload, "fcfs")
    engine.run()
    assert agreements(engine.schedule(), Seen.of(pictures)) == [
        Agreement(ALL, 3, 2 / 3, 1 / 3, 0, 50),
        Agreement("Priority", 1, 0, 1, 0, 500),
        Agreement("Resources", 1, 1, 0, 0, 50),
        Agreement(AT_ONCE, 1, 1, 0, 0, 10),
    ]


def test_limits_of_the_recording_are_kept(lab: Lab) -> None:
    limits = (Limit("account", "physics", "GrpTRES=cpu", 4, 0), Limit("account", "physics", "GrpSubmitJobs", 1, 0))
    jobs = tuple(replace(WAITS, id=id, account="physics", cpus=cpus) for id, cpus in (("1", 4), ("3", 4), ("2", 5)))
    workload = lab.workload(16, "1 0 4 10 10", "2 0 5 10 10", "3 1 4 10 10", "4 1 2 10 10")
    made = limited(workload, Seen.of([Cluster(NOW, jobs=jobs, limits=limits)]))
    assert made.limits is not None
    assert made.limits.demands == (((0, 4),), (), ((0, 4),), ())
    engine = Engine(made, "slurm")
    engine.run()
    assert engine.schedule().start.tolist() == [0, 0, 10, 1]
    assert limited(workload, Seen.of([Cluster(NOW, jobs=jobs)])) is workload
