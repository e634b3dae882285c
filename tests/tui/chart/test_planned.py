"""Also tests tui.chart.scene."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.outages import Outage
from sim.workload.source import Source
from tests.sim.conftest import Lab
from tui.chart.planned import plan_boxes
from tui.chart.scale import ChartView
from tui.chart.scene import Box

VIEW = ChartView(per_column=10, first=0, columns=100, rows=20, low=0, high=4)


def plan(engine: Engine, view: ChartView = VIEW, clock: float | None = None, turn: float | None = None) -> list[Box]:
    snapshot = engine.snapshot()
    return list(plan_boxes(snapshot, view, engine.now if clock is None else clock, turn))


def test_plans_stand_where_room_is(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 3 50 80", "2 1 3 50 50", until=1)
    assert plan(engine)[-1] == Box(1, 80, 130, 0b0111, "reserved")
    engine = lab.run("conservative", 4, "1 0 4 50 2000", "2 1 4 50 50", until=1)
    assert [box.kind for box in plan(engine)] == ["expected"]
    assert plan(engine, ChartView(10, -200, 100, 20, 0, 4)) == []


def test_plan_by_predictions_uses_predicted_ends(lab: Lab) -> None:
    jobs = lab.workload(4, "1 0 4 10 99", "2 10 4 20 99", "3 30 3 20 99", "4 30 1 4 60", "5 31 2 10 50")
    engine = Engine(replace(jobs, user=np.array([0, 0, 0, -1, -1])), parse_policy("easy++"))
    engine.run(until=31)
    assert plan(engine) == [
        Box(3, 31, 90, 0b1000, "expected"),
        Box(2, 31, 45, 0b0011, "expected"),  # its user's last two jobs ran 10 and 20
        Box(2, 31, 129, 0b0100, "expected"),
        Box(4, 45, 95, 0b0011, "reserved"),
    ]


def test_nothing_is_planned_on_processors_that_are_not_there_then(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 2 50 80", "2 6 2 50 50", "3 7 4 9 9").with_outages([Outage(5, 200, 0b0101)])
    engine = Engine(workload, parse_policy("conservative"))
    engine.run(until=10)
    boxes = {box.rank: box for box in plan(engine, clock=10) if box.kind != "expected"}
    assert boxes[1].processors == 0b1010
    assert boxes[2].start >= 200
    assert boxes[2].processors == 0b1111


def test_plans_that_overlap_in_time_stand_on_other_processors() -> None:
    _, workload = Source("lublin-128").read()
    engine = Engine(workload, parse_policy("conservative"))
    view = ChartView(600, 0, 100000, 20, 0, 128)
    seen = 0
    for _ in range(300):
        engine.step()
        boxes = plan(engine, view)
        assert all(box.processors.bit_count() == workload.jobs[box.rank].procs for box in boxes)
        planned = [box for box in boxes if box.kind != "expected"]
        seen += len(planned)
        for a, b in combinations(planned, 2):
            if a.start < b.end and b.start < a.end and not a.processors & b.processors:
                seen += 1
    assert seen > 1000


def test_rows_are_planned_in_turns(lab: Lab) -> None:
    engine = lab.run("gang:slice=100", 4, "1 0 4 1000 1000", "2 0 4 1000 1000", until=0)
    turns = [(box.start, box.end) for box in plan(engine, turn=100)]
    assert turns == [(100 * i, 100 * (i + 1)) for i in range(10)]
    ranks = [box.rank for box in plan(engine, turn=100)]
    assert ranks[0] != ranks[1]
    assert ranks[:8:2] == ranks[:1] * 4
    engine = lab.run("gang:slice=5", 4, "1 0 4 1000 1000", "2 0 4 1000 1000", until=0)
    boxes = plan(engine, ChartView(10, 0, 6, 20, 0, 4), turn=5)
    assert [(box.rank, box.rows, box.kind) for box in boxes] == [(0, (1,), "sharing"), (1, (2,), "sharing")]


@pytest.mark.parametrize("turn", [None, 200])
def test_an_empty_matrix_has_no_plan(lab: Lab, turn: float | None) -> None:
    engine = lab.run("gang", 4, "1 0 4 10 10")
    assert plan(engine, turn=turn) == []
