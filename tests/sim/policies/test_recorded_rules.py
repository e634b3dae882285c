"""Limits and weights of a recording under given policies."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from sim.life.life import life_of
from sim.policies.policy import written_policy
from sim.policies.recorded_rules import lacking, recorded_weights, under, unlimited, unweighed, weighed, with_recorded
from sim.policies.registry import parse_policy
from sim.timeline.scenario import Scenario, run
from sim.timeline.timeline import Timeline
from sim.workload.model import RecordedWorkload, Workload
from sim.workload.replay import read
from tests.sim.workload.test_replay import recorded

WEIGHED = "slurm:age=500,fairshare=0,size=0,qos=3,shares=accounts"


@pytest.fixture
def week(tmp_path: Path) -> RecordedWorkload:
    workload = read(recorded(tmp_path / "week.slog").trace)
    assert isinstance(workload, RecordedWorkload)
    return workload


@pytest.mark.parametrize(("spec", "start"), [("slurm", 340), ("easy", 340), ("conservative", 240), ("recorded", 340)])
def test_jobs_keep_the_recorded_limits_under_policies_that_can(week: Workload, spec: str, start: float) -> None:
    assert run(week, spec).start.tolist() == [0, start]
    assert unlimited(week, [parse_policy(spec)]) == (["conservative"] if spec == "conservative" else [])


def test_recorded_limits_and_weights_are_taken_together(week: RecordedWorkload) -> None:
    assert under(week, ["slurm"])[0].limits is not None
    assert under(week, ["slurm", "conservative"])[0].limits is None
    assert under(week, ["slurm", "recorded"])[0].limits is None, "a recorded start may pass a later limit"
    again = under(under(week, ["conservative"])[0], ["easy"])[0]
    assert again.limits is None, "what was decided for a run stays so"
    assert recorded_weights(week) == (WEIGHED, ["associations"])
    assert [weighed(spec, week) for spec in ("slurm", "slurm:size=7", "easy")] == [WEIGHED, "slurm:size=7", "easy"]
    assert weighed(parse_policy("slurm"), week) == parse_policy(WEIGHED)
    assert weighed(easy := parse_policy("easy"), week) is easy
    whole = "slurm:age=7,fairshare=0,size=0,qos=3,shares=accounts"
    assert with_recorded("slurm:age=7", week) == whole
    given = (whole, WEIGHED, "slurm", "easy:order=sjf", "slurm:order=fcfs", "slurm:nonsense=1")
    assert [with_recorded(spec, week) for spec in given] == [""] * 6
    assert with_recorded("slurm:age=7", read("z-figure4")) == ""
    taken = week.take(slice(1, 2))
    assert isinstance(taken, RecordedWorkload)
    assert taken.recorded is not None
    assert len(taken.recorded.demands) == len(taken) == 1


def test_slurm_without_the_weights_of_the_site_is_reported(week: RecordedWorkload) -> None:
    dump = read("z-figure4")
    assert "--slurm-conf" in unweighed("sacct", dump, ["easy", "slurm"])
    assert "--slurm-conf" in unweighed("slog", replace(week, settings=""), [parse_policy("slurm")])
    assert not unweighed("sacct", dump, ["slurm:age=7", "easy"])
    assert not unweighed("slog", week, ["slurm"])
    assert not unweighed("swf", dump, ["slurm"])


def test_every_kind_of_run_has_the_recorded_weights(week: Workload) -> None:
    scenario = Scenario(week, "easy", [(100, "slurm")])
    assert written_policy(scenario.switches[0][1]) == WEIGHED
    timeline = Timeline(week, "slurm")
    assert written_policy(timeline.policy) == WEIGHED
    other = Timeline(week, "easy").twin().switch("slurm", at_step=0)
    assert other.engine.moment.policy == WEIGHED
    assert WEIGHED in life_of(week, "slurm", 1).policy


def test_other_workloads_stay_as_they_are() -> None:
    workload = read("z-figure4")
    same, (slurm,) = under(workload, ["slurm"])
    assert same is workload
    assert slurm == parse_policy("slurm")
    assert lacking(workload, ["QOS"]) == ["QOS"]
