from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.live.cluster.observed import Observed
from sim.live.cluster.values import Node, Reservation
from tests.sim.live.cluster.captures import VERSIONS
from tests.tui.live.moments import DAY, NODES, observed_of, recorded, runs, waits
from tui.chart.scene import Box
from tui.live.chart import ChartMaker, Wish, first_camera
from tui.live.plan import Plan, plan_boxes


def planned(observed: Observed) -> dict[str, Box]:
    assert observed.last is not None
    running = [held for held in observed.stretches(observed.moments[-1]) if held.end is None]
    boxes = plan_boxes(observed, observed.last, running, observed.moments[-1])
    return {observed.workload.ids[box.rank]: box for box in boxes}


def test_plans_are_drawn_where_nodes_have_room() -> None:
    found = planned(observed_of(runs("1", 4, "n1"), waits("2", 4, 600, "Priority", "n1")))
    assert (found["1"].start, found["1"].end, found["1"].kind) == (60, 600, "expected")
    assert (found["2"].start, found["2"].end, found["2"].kind) == (600, 900, "planned")
    assert found["1"].processors == found["2"].processors == 0b1111_0000
    found = planned(observed_of(runs("1", 4, "n1"), waits("2", 4, 300, "Priority", "n1")))
    assert set(found) == {"1"}
    found = planned(observed_of(waits("1", 3, 100, "Priority", "n1"), waits("2", 3, 100, "Priority", "n1")))
    assert set(found) == {"1"}
    gone = (replace(NODES[0], states=frozenset({"DRAIN"})), NODES[1])
    assert planned(observed_of(waits("1", 1, 100, "Priority", "n1"), nodes=gone)) == {}
    maintenance = Reservation("m", DAY + 200, DAY + 900, ("n1",), flags=frozenset({"MAINT"}))
    assert planned(observed_of(waits("1", 1, 100, "Priority", "n1"), reservations=(maintenance,))) == {}
    nodes = (Node("n1", 4), Node("n2", 4))
    assert planned(observed_of(waits("1", 6, 100), nodes=nodes)) == {}
    assert (
        planned(observed_of(replace(waits("1", 6, 100), nodes_wanted=2), nodes=nodes))["1"].processors.bit_count() == 6
    )


def test_an_earlier_picture_has_the_limits_of_then_when_the_job_has_ended() -> None:
    observed = observed_of(runs("1", 4, "n1"), waits("2", 4, 600, "Priority", "n1"))
    then = observed.last
    assert then is not None
    ended = replace(runs("1", 4, "n1"), state="COMPLETED", end=DAY + 120)
    observed.add(replace(then, at=DAY + 120, jobs=(ended, then.jobs[1])))
    running = [held for held in observed.stretches(60) if held.end is None]
    found = {observed.workload.ids[box.rank]: box for box in plan_boxes(observed, then, running, 60)}
    assert (found["1"].end, found["2"].start) == (600, 600)


def asked_nodes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of each node whose free cores a plan looks for."""
    asked: list[str] = []
    free_of = Plan._free

    def asking(plan: Plan, name: str, start: float, end: float) -> int:
        asked.append(name)
        return free_of(plan, name, start, end)

    monkeypatch.setattr(Plan, "_free", asking)
    return asked


def test_a_plan_asks_only_as_many_nodes_as_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_nodes(monkeypatch)
    nodes = tuple(Node(f"n{number}", 4) for number in range(1000))
    wide = replace(waits("2", 8, 100), nodes_wanted=2)
    found = planned(observed_of(waits("1", 3, 100), wide, nodes=nodes))
    assert [box.processors.bit_count() for box in found.values()] == [3, 8]
    assert asked[len(nodes) :] == ["n0", "n0", "n1", "n2"]


def test_a_plan_passes_over_nodes_that_are_full_until_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = asked_nodes(monkeypatch)
    nodes = tuple(Node(f"n{number}", 4) for number in range(3))
    long = (runs("1", 4, "n0", end=9000), runs("2", 4, "n1", end=900))
    assert set(planned(observed_of(*long, waits("3", 4, 1000), waits("4", 4, 1000), nodes=nodes))) == {*"1234"}
    assert asked[len(nodes) :] == ["n1", "n1", "n2"]


def test_the_chart_keeps_its_plan_while_the_picture_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[float] = []

    def planning(*given: Any) -> tuple[Box, ...]:
        made.append(given[-1])
        return ()

    monkeypatch.setattr("tui.live.chart.plan_boxes", planning)
    observed, maker = observed_of(runs("1", 4, "n1")), ChartMaker()
    assert observed.last is not None
    camera = first_camera(observed, 60.0, 40, 16)
    for mode, clock in (("job", 60.0), ("user", 60.0), ("user", 61.0)):
        maker.make(observed, observed.last, clock, camera, Wish(mode=mode))
    assert made == [60.0, 61.0]


@pytest.mark.parametrize("reason", ["Dependency", "BeginTime", "AssocGrpCpuLimit", "QOSMaxCpuPerUserLimit"])
def test_a_date_that_is_no_plan_is_not_drawn(reason: str) -> None:
    assert planned(observed_of(waits("1", 1, 100, reason, "n1"))) == {}


def test_no_plan_is_drawn_where_jobs_are_hidden() -> None:
    observed = observed_of(runs("1", 1, "n1"), waits("2", 1, 100, "Priority", "n2"))
    assert observed.last is not None
    running = observed.stretches(60)
    boxes = plan_boxes(observed, replace(observed.last, is_private=True), running, 60)
    assert [box.kind for box in boxes] == ["expected"]


@pytest.mark.parametrize("version", VERSIONS)
def test_no_drawn_moment_gives_a_core_to_two_jobs(shared: Path, version: str) -> None:
    for pictures in range(2, 30):
        observed = recorded(shared, version, pictures)
        boxes = list(planned(observed).values())
        for box in boxes:
            assert box.processors < 1 << 32
            beside = [o for o in boxes if o.rank != box.rank and o.start < box.end and box.start < o.end]
            assert not any(box.processors & other.processors for other in beside)
