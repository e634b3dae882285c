from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import pytest

from sim.authoring.bench import SHOWN, Version, changes, first_difference, pass_change, version_of, workloads_of
from sim.authoring.contract import Growth
from sim.decisions.decisions import Decision
from sim.engine.moment import Moment
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.policy import Policy
from sim.workload.replay import read


@dataclass(frozen=True)
class NeverEnds(Policy):
    """Policy that starts no job."""

    name = "never"

    def decide(self, view: Moment) -> Iterator[Decision]:
        yield from ()


WORKLOADS = {name: read(name) for name in ("z-figure4", "w-figure1")}


@cache
def version(policy: Policy) -> Version:
    return version_of(policy, WORKLOADS, count=3)


def test_versions_are_compared_by_what_they_do() -> None:
    found = {run.opened: metrics for run, metrics in changes(version(FirstComeFirstServed()), version(Easy()))}
    assert list(found) == list(WORKLOADS)
    wait = found["z-figure4"][0]
    assert (wait.metric.name, wait.second, wait.better) == (SHOWN[0], 702.0, 1)
    base, again = version(Easy()), version_of(Easy(), WORKLOADS, count=3)
    assert first_difference(base, again) is None
    assert all(entry.better is None for _, metrics in changes(base, again) for entry in metrics)

    def timed(seconds: float) -> Version:
        return replace(base, report=replace(base.report, growth=Growth(((2000, seconds),))))

    assert [pass_change(timed(1.0), timed(now)) for now in (0.5, 0.9, 1.1, 2.0)] == [1, None, None, 0]


def test_first_difference_has_what_both_versions_did() -> None:
    found = first_difference(version(FirstComeFirstServed()), version(Easy()))
    assert found is not None
    run, parting, (before, now) = found
    assert run.opened == "z-figure4"
    assert parting.time == 600
    assert [each.act is None for each in before] == [True]
    assert [each.act is None for each in now] == [False]


def test_version_that_fails_its_tests_makes_no_runs() -> None:
    found = version(NeverEnds())
    assert found.report.failure is not None
    assert (found.runs, found.seconds) == ((), None)


def test_error_of_the_caller_ends_the_work() -> None:
    def stop() -> None:
        raise KeyError

    with pytest.raises(KeyError):
        version_of(Easy(), WORKLOADS, count=3, on_try=stop)


def test_workloads_have_names_of_their_own() -> None:
    found = workloads_of(["lublin-320"], jobs=7)
    assert len(found["lublin-320 --jobs 7"]) == 7
    assert "z-figure4 --jobs 300" in found
    found = workloads_of(["lublin-320", "z-figure4"])
    assert len([workload for workload in found.values() if workload.name == "z-figure4"]) == 1
    some = {opened: workload for opened, workload in found.items() if workload.name in ("lublin-320", "z-figure4")}
    runs = version_of(Easy(), some, count=3).runs
    assert [(run.workload.name, run.has_namesake) for run in runs] == [
        ("lublin-320", True), ("lublin-320", True), ("z-figure4", False),
    ]  # fmt: skip
