"""Also tests sim.policies.switching."""

import json
from math import exp
from pathlib import Path

import numpy as np
import pytest

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.policies.switching.adaptive import Adaptive
from sim.session.sources import records_of
from sim.support.errors import ParameterError, PolicyError
from sim.timeline.timeline import Timeline
from sim.workload.replay import read
from tests.sim.conftest import Lab

BUSY = ("1 0 4 10 10", "2 1 4 10 10", "3 2 4 10 10", "4 3 4 10 10", "5 100 1 5 5")


def switches(engine: Engine) -> list[tuple[float, str]]:
    return [(switch.time, switch.spec) for switch in engine.moment.switches]


def test_policies_take_over_outside_the_band(lab: Lab) -> None:
    spec = "adaptive:above=conservative,by=queue,at=1.5,band=1,over=0"
    engine = Engine(lab.workload(4, *BUSY), spec, watchers=[Checker])
    engine.run()
    assert switches(engine) == [(3, "conservative"), (30, "easy")]
    assert engine.schedule().policy == spec
    engine = Engine(lab.workload(4, *BUSY), "adaptive:by=queue,at=2,band=1,over=0,above=gang")
    engine.run()
    assert switches(engine) == []
    at = {}
    for over in (1, 1000):
        engine = Engine(lab.workload(4, *BUSY), f"adaptive:by=utilization,at=0.5,over={over},above=fcfs")
        engine.run()
        at[over] = switches(engine)
    assert at[1][0] == (1, "fcfs")
    assert at[1000] == []


def test_schedule_names_the_policies_that_the_user_chose(lab: Lab) -> None:
    spec = "adaptive:above=conservative,by=queue,at=1.5,band=1,over=0"
    engine = Engine(lab.workload(4, *BUSY), spec)
    while len(engine.moment.switches) < 2:
        engine.step()
    engine.switch("fcfs")
    engine.run()
    assert len(engine.moment.switches) == 3
    assert engine.schedule().policy == f"{spec}, from d0 00:00:30 on fcfs"


def test_empty_machine_is_measured_when_it_becomes_empty(lab: Lab) -> None:
    """An hour after the first job the average has fallen to 0.2, so that the jobs of d10 start under EASY."""
    jobs = ("1 0 4 3600 3600", "2 864000 4 60 60", "3 864000 4 600 600")
    engine = Engine(lab.workload(4, *jobs), "adaptive:at=0.5,over=2000")
    engine.run()
    assert switches(engine) == [(3600, "gang-backfill"), (864000, "easy")]
    assert engine.schedule().end.tolist() == [3600, 864060, 864660]


@pytest.mark.parametrize("seed", range(20))
def test_switches_follow_from_the_use_of_the_machine(lab: Lab, seed: int) -> None:
    """All jobs take the whole machine, so both policies make the same schedule, with idle gaps between bursts."""
    lot = np.random.default_rng(seed)
    submits, runs = np.cumsum(lot.choice([0, 1, 500, 20000], 15)).tolist(), lot.integers(1, 3000, 15).tolist()
    lines = [f"{at} {submits[at]} 4 {runs[at]} {runs[at]}" for at in range(15)]
    engine = Engine(lab.workload(4, *lines), "adaptive:above=fcfs,at=0.4,band=0.1,over=1000")
    engine.run()
    start, end = engine.schedule().start.tolist(), engine.schedule().end.tolist()
    expected, policy = list[tuple[float, str]](), "easy"
    for time in sorted({*submits, *end} - {max(end)}):
        stays = [(since - time, min(end[at] - time, 0)) for at, since in enumerate(start) if since < time]
        average = sum(exp(until / 1000) - exp(since / 1000) for since, until in stays)
        wanted = "fcfs" if average > 0.5 else "easy" if average < 0.3 else policy
        expected += [(time, wanted)] if wanted != policy else []
        policy = wanted
    assert switches(engine) == expected


@pytest.mark.parametrize("above", ["gang-backfill:mpl=3+slice=60", "selective", "multiqueue"])
def test_a_run_can_be_gone_through_and_forked_as_any_other(above: str) -> None:
    workload = read("lublin-128", jobs=120, load=1.5)
    timeline = Timeline(workload, f"adaptive:by=load,at=1,band=0.3,over=600,above={above}", check=True)
    timeline.compute_all()
    made = timeline.branch.switches
    assert made
    assert records_of(timeline)[0].switches == ()
    step = made[0].step
    timeline.seek(timeline.computed)
    timeline.seek(step)
    assert timeline.is_as_it_was
    assert timeline.snapshot().switches == made[:1]
    timeline.fork()
    timeline.compute_all()
    ends = [np.array(timeline.branches[name].engine.present._ledger.end) for name in ("main", "fork 1")]
    assert np.array_equal(ends[0], ends[1])
    assert timeline.branch.switches == made


def test_who_switches_by_hand_is_not_overruled() -> None:
    timeline = Timeline(read("lublin-128", jobs=120, load=1.5), "adaptive:by=load,at=1,band=0.3,over=600")
    timeline.seek(5)
    timeline.switch("fcfs")
    timeline.compute_all()
    assert [switch.spec for switch in timeline.branch.switches] == ["fcfs"]


@pytest.mark.parametrize(
    ("below", "meant"),
    [
        ("easy++", "easy++"),
        ("easy++:correct=estimate", "easy++:correct=estimate"),
        ("easy:order=ward+r=1e+2", "easy:order=ward,r=100"),
    ],
)
def test_only_a_plus_before_a_parameter_stands_for_a_comma(below: str, meant: str) -> None:
    policy = parse_policy(f"adaptive:below={below}")
    assert isinstance(policy, Adaptive)
    assert policy.first() == parse_policy(meant)


def test_it_chooses_between_policies_that_decide() -> None:
    with pytest.raises(ParameterError, match="decide themselves"):
        parse_policy("adaptive:above=adaptive")
    with pytest.raises(ParameterError, match="no policy"):
        parse_policy("adaptive:above=eazy")


def test_a_switch_by_hand_to_one_that_leads_is_kept_as_that() -> None:
    timeline = Timeline(read("lublin-128", jobs=120, load=1.5), "fcfs")
    timeline.seek(5)
    spec = "adaptive:by=load,at=1,band=0.3,over=600"
    timeline.switch(spec)
    timeline.compute_all()
    by_hand, *by_rule = timeline.branch.switches
    assert (by_hand.policy, by_hand.by_rule) == (parse_policy(spec), False)
    assert by_rule
    assert all(switch.by_rule for switch in by_rule)
    assert [switch.policy for switch in records_of(timeline)[1].switches] == [by_hand.policy]


def test_switch_to_a_policy_without_nodes_is_refused_first(tmp_path: Path) -> None:
    path = tmp_path / "nodes.json"
    jobs = [{"id": "1", "submit": 0, "run": 10, "nodes": 1, "cores": 1}]
    path.write_text(json.dumps({"nodes": [{"cores": 4}], "jobs": jobs}), encoding="utf-8")
    with pytest.raises(PolicyError, match="gang-backfill, to which adaptive may switch, cannot run on a mach"):
        Engine(read(path), "adaptive")
    Engine(read(path), "adaptive:above=firstfit").run()
