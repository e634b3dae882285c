"""Random runs of the new engine against the old one, step by step, under all families, with switches and failures.

Also tests sim.core.acting, sim.core.arrivals, sim.core.changes, sim.core.clock, sim.core.engine, sim.core.future,
sim.core.granted, sim.core.inherited, sim.core.state, sim.core.stay, sim.core.switching.
"""

from __future__ import annotations

import dataclasses
import json
import random
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.core.engine import Engine
from sim.engine.engine import Engine as Old
from sim.engine.schedule import Schedule
from sim.history.history import History
from sim.testing.workloads import random_outages
from sim.workload.limits import Bound, Limits
from sim.workload.model import Workload
from sim.workload.reading import read
from tests.sim.kernel.test_node_loop import varied
from tests.truth.runs import CHANGING, FAMILIES, PEERS, random_spec, random_workload
from tests.truth.submissions import random_follows

PLAIN = (
    "free", "reserved", "expected", "expected_row", "before", "moved", "granted", "lasts", "suspended", "awaited",
    "promises", "dropped", "rebuild",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_runs_equal_those_of_the_old_engine(seed: int) -> None:
    for more in range(8):
        lot = random.Random(f"plain {seed} {more}")
        workload = random_workload(lot)
        workload = replace(workload, user=np.arange(len(workload)) * 7 % 4 - 1)
        family = (*FAMILIES, *PEERS)[(seed * 8 + more) % (len(FAMILIES) + len(PEERS))]
        compare(workload, random_spec(lot, family), lot, lot.random() < 0.5)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_changing_machines_equal_those_of_the_old_engine(seed: int) -> None:
    for more in range(6):
        lot = random.Random(f"changing {seed} {more}")
        workload = random_workload(lot)
        workload = workload.with_outages(random_outages(lot, workload.procs, until=400))
        compare(workload, random_spec(lot, CHANGING[(seed * 6 + more) % len(CHANGING)]), lot, lot.random() < 0.3)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_jobs_that_wait_for_others_equal_those_of_the_old_engine(seed: int) -> None:
    for more in range(6):
        lot = random.Random(f"following {seed} {more}")
        workload = random_workload(lot)
        many = len(workload)
        status = np.array([lot.choice([-1, 1, 1, 0, 5]) for _ in range(many)])
        workload = replace(workload, status=status, follows=random_follows(lot, many), reserve=np.full(many, np.nan))
        if lot.random() < 0.3:
            outages = random_outages(lot, workload.procs, until=400)
            workload = workload.with_outages(outage for outage in outages if outage.ends < inf)
        spec = random_spec(lot, CHANGING[(seed * 6 + more) % len(CHANGING)])
        compare(workload.with_overruns("kill"), spec, lot, lot.random() < 0.3)


LIMITED = ("fcfs", "firstfit", "easy", "easy:order=sjf", "easy:depth=2", "replan", "relaxed", "easy++", "slurm")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_limits_of_users_equal_those_of_the_old_engine(seed: int) -> None:
    for spec in LIMITED:
        lot = random.Random(f"limits {seed} {spec}")
        workload = random_workload(lot)
        wide, users = workload.width.tolist(), [lot.randrange(3) for _ in range(len(workload))]
        most = [max(lot.randint(1, 2 * workload.procs), *wide), lot.randint(1, 3)]
        bounds = (Bound("AssocGrpCpuLimit", most[0], "cores", "user 1"), Bound("QOSGrpJobs", most[1], "jobs", "user 2"))
        demands = tuple(
            ((user - 1, (procs, 1)[user - 1]),) * (user > 0) for user, procs in zip(users, wide, strict=True)
        )
        workload = replace(workload, user=np.array(users), limits=Limits(bounds, demands))
        compare(replace(workload, reserve=np.full(len(wide), np.nan)), spec, lot, False)


NODES = (
    "fcfs", "firstfit", "easy", "easy:depth=2", "easy:tail=sjf,order=sjf", "easy++", "conservative", "replan", "slack",
    "shadow", "relaxed", "recorded", "slurm",
)  # fmt: skip


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_machines_of_nodes_equal_those_of_the_old_engine(seed: int, tmp_path: Path) -> None:
    for spec in NODES:
        path = tmp_path / "case.json"
        path.write_text(json.dumps(varied(seed)), encoding="utf-8")
        lot = random.Random(f"nodes {seed} {spec}")
        compare(Workload.of(read(path)).with_overruns(), spec, lot, False)


def compare(workload: Workload, spec: str, lot: random.Random, switches: bool) -> None:
    """Make both runs, with switches and failures at random steps, and compare all that a user could see."""
    is_watched = lot.random() < 0.7
    old, new = Old(workload, spec, curious=is_watched), Engine(workload, spec, curious=is_watched)
    state, moment = old.state, new.present
    goes_on = True
    while goes_on:
        chance = lot.random()
        if switches and old.step_count > 2 and chance < 0.03:
            other = random_spec(lot, lot.choice(FAMILIES))
            old.switch(other)
            new.switch(other)
        elif switches and old.step_count > 2 and chance < 0.05:
            lost, until = 1 << lot.randrange(workload.procs), old.now + lot.choice([5.0, 20.0, 77.5])
            old.take_away(lost, until)
            new.take_away(lost, until)
        else:
            goes_on = old.step()
            assert new.step() == goes_on
        assert moment.time == state.now
        assert moment._decisions == state.decisions
        for name in PLAIN:
            assert getattr(moment, f"_{name}") == getattr(state, name), name
        assert moment._machine.held == state.machine.held
        assert moment._stays.ends() == state.ends
        assert moment._notes.keys() == state.notes.keys()
        assert [*moment._waiting.jobs] == [*state.waiting.jobs]
        if is_watched:
            assert replace(new.snapshot(), nodes=None) == replace(old.snapshot(), nodes=None)
    assert_equal(new.schedule(), old.schedule())
    assert decisions(new.history) == decisions(old.history)
    assert [*new.history.stretches()] == [*old.history.stretches()]
    assert new.history.columns() == old.history.columns()
    for name in ("start", "end", "ran", "promised", "backfilled", "preemptions", "migrations", "interruptions"):
        np.testing.assert_array_equal(getattr(moment._ledger, name), getattr(state.ledger, name))
    assert moment._tally.totals(1, 1) == state.tally.totals(1, 1)


def assert_equal(schedule: Schedule, other: Schedule) -> None:
    for field in dataclasses.fields(Schedule):
        if field.name not in ("curves", "cores", "workload"):
            np.testing.assert_array_equal(getattr(schedule, field.name), getattr(other, field.name))
    np.testing.assert_array_equal(schedule.workload.submit, other.workload.submit)
    np.testing.assert_array_equal(schedule.curves.suspended, other.curves.suspended)


def decisions(history: History) -> list[object]:
    return [history.decisions(step) for step in range(history.steps)]
