"""Rare situations of partitions, preemption and gang scheduling, on random workloads with every check on."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.transforms import high, reserve
from tests.examples import examples
from tests.sim.conftest import Lab

GANGS = ("gang", "gang-backfill", "gang-migrate", "gang-migrate-backfill")
PREEMPTIVE = ("selective", "tunable", "immediate")


def finished(workload: Workload, spec: str) -> Engine:
    """Return a checked run in which every job completes with all its work done."""
    engine = Engine(workload, parse_policy(spec), watchers=[Checker])
    engine.run()
    assert not np.isnan(engine.schedule().end).any()
    np.testing.assert_allclose(engine.schedule().ran, workload.runtime, atol=1e-6)
    return engine


def machine_wide(workload: Workload) -> Workload:
    return replace(workload, width=np.full(len(workload), workload.procs))


@pytest.mark.parametrize(("gang", "plain"), [
    ("gang:mpl=1", "fcfs"), ("gang:mpl=1,slice=7,cs=0.05", "fcfs"), ("gang-backfill:mpl=1", "replan"),
    ("gang-migrate:mpl=1", "fcfs"), ("gang-migrate-backfill:mpl=1", "replan"),
])  # fmt: skip
@given(data=st.data())
@examples(20)
def test_one_row_alone_is_space_sharing(lab: Lab, gang: str, plain: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads(whole_seconds=True))
    shared, alone = finished(workload, gang).schedule(), finished(workload, plain).schedule()
    assert shared.start.tolist() == alone.start.tolist()
    np.testing.assert_allclose(shared.end, alone.end, atol=1e-6)


@pytest.mark.parametrize("name", ["gang-migrate", "gang-migrate-backfill"])
@given(data=st.data())
@examples(15)
def test_where_no_task_may_move_none_does(lab: Lab, name: str, data: st.DataObject) -> None:
    # Jobs may still come into fuller rows in their own columns, in the compaction that could have moved tasks.
    workload = data.draw(lab.workloads())
    engine = finished(workload, f"{name}:slice=10,q=0")
    assert not engine.schedule().migrations.any()
    assert engine.schedule().stalled == 0


@pytest.mark.parametrize("classes", ["none", "10", "5/20", "2/10/40"])
@pytest.mark.parametrize("speculate", [0, 3])
@given(data=st.data())
@examples(8)
def test_any_number_of_partitions(lab: Lab, classes: str, speculate: int, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads())
    share = data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    workload = reserve(high(workload, share, seed=1), data.draw(st.sampled_from([0.0, 0.2, 1.0])), lead=60, seed=1)
    engine = finished(workload, f"multiqueue:classes={classes},speculate={speculate},speculate_over=8")
    assert len(engine.moment.owners) == classes.count("/") + 1 + (classes != "none")


@given(data=st.data())
@examples(25)
def test_when_everybody_has_priority_nobody_has(lab: Lab, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads())
    spec = "multiqueue:classes=5/20"
    some, all_of_them = finished(workload, spec), finished(high(workload, 1.0), spec)
    assert some.schedule().start.tolist() == all_of_them.schedule().start.tolist()


@pytest.mark.parametrize(
    "spec", [*GANGS, *PREEMPTIVE, "multiqueue:classes=5/20", "multiqueue:speculate=2,speculate_over=1"]
)
@given(data=st.data())
@examples(10)
def test_all_jobs_as_wide_as_the_machine(lab: Lab, spec: str, data: st.DataObject) -> None:
    finished(machine_wide(data.draw(lab.workloads())), spec)
