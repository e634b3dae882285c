"""Policies by calls decide as their old definitions, which yield, did; and whoever iterates them sees each decision."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decisions.decisions import Backfill, Decision
from sim.core.engine import Engine
from sim.errors import PolicyError
from sim.forecast.replay import read
from sim.policies import parse_policy
from sim.policies.backfill.easy import Easy
from sim.policies.calls import Pass, by_calls, is_by_calls, yielding
from sim.policies.policy import Policy
from sim.policies.view import View
from sim.workload.model import Workload
from sim.workload.outages import Outage
from sim.workload.source import Source
from tests.examples import examples
from tests.oracle.by_yield import OLD
from tests.oracle.gang_by_yield import OLD as OLD_GANG
from tests.oracle.more_by_yield import OLD as MORE
from tests.oracle.preempt_by_yield import OLD as OLD_SUSPENDING

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

SPECS = [
    "fcfs", "firstfit", "easy", "easy:tail=sjf", "easy:tail=latest", "easy:depth=2", "easy:depth=4,tail=narrow",
    "relaxed", "relaxed:omega=0.5", "relaxed:relative=cpu", "replan", "conservative", "conservative:compress=queue",
    "conservative:compress=none",
]  # fmt: skip
OTHERS = [
    "recorded", "greedy", "greedy:by=area", "greedy:by=processors,order=sjf", "lookahead", "lookahead:window=3",
    "shadow", "shadow:shadows=2,order=fcfs", "slack", "slack:slack=0", "slack:slack=3,compress=queue,order=wide",
    "easy++", "easy++:correct=estimate", "slurm", "slurm:bf_interval=5,bf_max_job_user=2,bf_resolution=1",
    "slurm:bf_interval=0,bf_window=20,order=fcfs",
]  # fmt: skip
SUSPENDING = [
    "immediate:slice=1", "immediate:slice=5,seats=lowest", "immediate:slice=5,restart=any",
    "immediate:slice=3,memory=yes,bandwidth=50", "selective:tick=1", "selective:sf=1.2,tick=2.5,restart=any",
    "selective:sf=1.5,tick=1,memory=yes,bandwidth=50", "selective", "tunable:sf=1,tick=1", "tunable",
    "tunable:sf=1.3,tick=2,limit=0.3", "tunable:tick=1,memory=yes,restart=any,bandwidth=50",
]  # fmt: skip
QUEUES = [
    "multiqueue:classes=10/30", "multiqueue:classes=none", "multiqueue:classes=10/30,speculate=3,speculate_over=5",
    "multiqueue:classes=20,speculate=10,speculate_over=0", "multiqueue:classes=none,speculate=2.5,speculate_over=10",
]  # fmt: skip
ROWS = [
    "gang:slice=5", "gang:mpl=2,slice=3,cs=0.1", "gang-backfill:slice=5", "gang-backfill:mpl=2,slice=3",
    "gang-migrate:slice=5", "gang-migrate:mpl=3,slice=2,cost=1.5,q=9", "gang-migrate-backfill:slice=5,cost=0",
    "gang-migrate-backfill:mpl=3,slice=2,cost=0.3,q=3",
]  # fmt: skip
LUBLIN = Source("lublin-128").read()[1].take(slice(200))
ORDERS = ["fcfs", "sjf", "wide", "xfactor", "random"]


def old(policy: Policy) -> Policy:
    """Return the old definition of the policy, with the same parameters."""
    return (OLD | MORE | OLD_SUSPENDING | OLD_GANG)[type(policy)](
        **{field.name: getattr(policy, field.name) for field in fields(policy)}
    )


@dataclass(frozen=True)
class Asking(Policy):
    """Ask another policy and pass its decisions on."""

    asked: Any = None
    name = "asking"

    @property
    def keeps_reservations(self) -> bool:  # type: ignore[override]
        return bool(self.asked.keeps_reservations)

    @property
    def suspends(self) -> bool:  # type: ignore[override]
        return bool(self.asked.suspends)

    @property
    def places(self) -> bool:  # type: ignore[override]
        return bool(self.asked.places)

    def queue_order(self) -> Any:
        return self.asked.queue_order()

    @property
    def grants(self) -> bool:  # type: ignore[override]
        return bool(self.asked.grants)

    def promises(self) -> bool:
        return bool(self.asked.promises())

    def turns(self) -> Any:
        return self.asked.turns()

    def most_rows(self) -> Any:
        return self.asked.most_rows()

    def most_migrated(self) -> Any:
        return self.asked.most_migrated()

    def decide(self, view: View) -> Iterator[Decision]:
        yield from self.asked.decide(view)


def steps(workload: Workload, policy: Policy, curious: bool) -> list[Any]:
    """Return what each step of a run decides, plans and keeps waiting."""
    engine, seen = Engine(workload, policy, curious=curious), list[Any]()
    while engine.step():
        state = engine.state
        seen.append((state.now, state.free, list(state.decisions), dict(state.reserved), engine.next_time()))
    return [*seen, list(engine.history.all_decisions()), list(engine.history.stretches())]


@examples(60)
@given(data=st.data())
def test_each_step_is_as_the_old_definition_decides_it(lab: Lab, data: st.DataObject) -> None:
    spec = data.draw(st.sampled_from([*SPECS, *OTHERS, *SUSPENDING]))
    if spec in SPECS:
        spec += f"{',' if ':' in spec else ':'}order={data.draw(st.sampled_from(ORDERS))}"
    policy = parse_policy(spec)
    workload, curious = data.draw(lab.workloads()), data.draw(st.booleans())
    assert is_by_calls(type(policy).decide)
    assert not is_by_calls(type(old(policy)).decide)
    seen = steps(workload, policy, curious)
    assert seen == steps(workload, old(policy), curious)
    assert seen == steps(workload, Asking(asked=policy), curious)


@examples(60)
@given(data=st.data())
def test_several_queues_decide_as_the_definition_by_yield(lab: Lab, data: st.DataObject) -> None:
    workload, spec = data.draw(queued(lab)), data.draw(st.sampled_from(QUEUES))
    policy, curious = parse_policy(spec), data.draw(st.booleans())
    seen = steps(workload, policy, curious)
    assert seen == steps(workload, old(policy), curious)
    assert seen == steps(workload, Asking(asked=policy), curious)


@examples(60)
@given(data=st.data())
def test_each_rebuild_of_the_matrix_is_as_the_old_definition_decides_it(lab: Lab, data: st.DataObject) -> None:
    workload, spec = data.draw(st.one_of(lab.workloads(), queued(lab))), data.draw(st.sampled_from(ROWS))
    policy, curious = parse_policy(spec), data.draw(st.booleans())
    seen = steps(workload, policy, curious)
    assert seen == steps(workload, old(policy), curious)
    assert seen == steps(workload, Asking(asked=policy), curious)


@st.composite
def queued(draw: st.DrawFn, lab: Lab) -> Workload:
    """Draw a workload with jobs of high priority, requested starts, a failure and maintenance."""
    workload = draw(lab.workloads())
    lots = np.random.default_rng(draw(st.integers(0, 99)))
    fails, goes = Outage(9.5, 30, 1), Outage(40, 55.25, (1 << workload.procs) - 1, announced=True)
    outages = draw(st.sampled_from([(), (goes,), *[(fails,), (fails, goes)] * (workload.procs > 1)]))
    is_high = lots.random(len(workload)) < draw(st.sampled_from([0.0, 0.3]))
    asks = lots.random(len(workload)) < draw(st.sampled_from([0.0, 0.2]))
    reserve = np.where(asks, workload.submit + 7, np.nan)
    return replace(workload, high=is_high, reserve=reserve, outages=outages)


@pytest.mark.parametrize("spec", [*SPECS, *OTHERS, *SUSPENDING, *ROWS, "multiqueue", "multiqueue:speculate=180"])
def test_each_step_of_a_longer_run_is_the_same(spec: str) -> None:
    """Policies that look at the queue each second do so every five minutes: their jobs wait for days here."""
    policy = parse_policy(spec.replace("tick=1", "tick=300"))
    assert steps(LUBLIN, policy, True) == steps(LUBLIN, old(policy), True)


def on_nodes(path: Path) -> Workload:
    """Return jobs with requests for cores and memory, on nodes of two partitions of different tiers."""
    nodes = [{"cores": 4, "mem": 16, "count": 3, "partitions": ["a", "b"]}, {"cores": 2, "partitions": ["b"]}]
    jobs = [
        {
            "id": str(n), "submit": n * 4, "run": 20 + n % 50, "estimate": 40 + n % 90, "tasks": 1 + n * n % 9,
            "mem": n % 5 if n % 3 else 0, "partitions": ["a"] if n % 3 else ["a", "b"], "user": f"u{n % 4}",
        }
        for n in range(30)
    ]  # fmt: skip
    partitions = [{"name": "a", "priority": 2}, {"name": "b"}]
    path.write_text(json.dumps({"nodes": nodes, "partitions": partitions, "jobs": jobs}), encoding="utf-8")
    return read(path)


@pytest.mark.parametrize("spec", [each for each in (*SPECS, *OTHERS) if not each.startswith("lookahead")])
def test_each_step_on_nodes_is_the_same(tmp_path: Path, spec: str) -> None:
    workload, policy = on_nodes(tmp_path / "case.json"), parse_policy(spec)
    for curious in (True, False):
        assert steps(workload, policy, curious) == steps(workload, old(policy), curious)


@dataclass(frozen=True)
class Undecorated(Policy):
    """Acts by calls, but lacks the decorator."""

    name = "undecorated"

    def decide(self, now: Any) -> Iterator[Decision]:
        now.start_in_order()
        return iter(())


def test_forgotten_decorator_is_reported_in_one_line() -> None:
    with pytest.raises(
        PolicyError,
        match=r"write @by_calls above decide \(from sim.policies.calls import by_calls\) \(",
    ) as found:
        Engine(LUBLIN, Undecorated()).run()
    assert "AttributeError" not in str(found.value)


def test_policy_by_calls_may_not_yield() -> None:
    def decide(self: object, now: Any) -> Any:
        yield now.free

    with pytest.raises(TypeError, match="has @by_calls, but yields"):
        by_calls(decide)


@dataclass(frozen=True)
class Patient(Easy):
    """EASY without its backfills, which are seen before they are carried out."""

    name = "patient"

    def decide(self, view: View) -> Iterator[Decision]:
        for decision in super().decide(view):
            if not isinstance(decision, Backfill):
                yield decision


def test_who_iterates_a_policy_may_leave_decisions_out() -> None:
    engine = Engine(LUBLIN, Patient())
    engine.run()
    assert engine.present._tally.backfilled == 0
    assert engine.present._tally.finished == len(LUBLIN)


def test_the_generator_stands_at_the_lines_of_the_policy() -> None:
    by_calls: Any = Easy.decide
    code, its = by_calls.__wrapped__.__code__, yielding(Easy.decide).__code__
    assert (its.co_filename, its.co_firstlineno) == (code.co_filename, code.co_firstlineno + 1)
    assert {line for _, _, line in its.co_lines() if line} <= {line for _, _, line in code.co_lines() if line} | {
        its.co_firstlineno
    }


@dataclass(frozen=True)
class Rounding(Easy):
    """EASY that calls a function of an imported module, a call that CPython compiles in a way of its own."""

    name = "rounding"

    @by_calls
    def decide(self, now: Pass) -> None:
        now.notes.setdefault("hours", {})[0] = math.floor(now.time / 3600)
        super().decide(now)


def test_policy_that_calls_a_function_of_a_module_can_be_iterated() -> None:
    iterated, called = (steps(LUBLIN, policy, False) for policy in (Asking(Rounding()), Rounding()))
    assert iterated == called
