"""Charts of machines of nodes: rows of nodes, cores that no waiting job can use, lanes of nodes grouped by how full
they are, and bands that show their memory.
"""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sim.engine.engine import Engine
from tests.tui.chart.charts import chart_of, picture
from tests.tui.scenes import context_of, engine_of
from tui.chart.cells.edges import margin_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.chart.hover import free_text, spot_at
from tui.chart.node_rows import NodeRows, has_bands
from tui.chart.scale import Camera
from tui.look.palette import DARK, Mode
from tui.panels.numbers_so_far import figures

SIZE = Size(60, 18)
ASCII = DARK.with_mode("ascii")
JOBS: list[dict[str, Any]] = [
    {"id": "1", "submit": 0, "run": 100, "estimate": 100, "nodes": 1, "cores": 1, "mem": 90},
    {"id": "2", "submit": 0, "run": 50, "estimate": 50, "nodes": 1, "cores": 4, "mem": 10},
    {"id": "3", "submit": 10, "run": 50, "estimate": 50, "nodes": 1, "cores": 2, "mem": 50},
    {"id": "4", "submit": 40, "run": 50, "estimate": 50, "nodes": 1, "cores": 2, "mem": 50},
]


def machine(folder: Path, nodes: int) -> str:
    content = {"nodes": [{"name": f"n[1-{nodes}]", "cores": 4, "mem": 100}], "placement": "lowest", "jobs": JOBS}
    (path := folder / "made.json").write_text(json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return engine_of(machine(tmp_path, 2), "easy", until=40)


def test_rows_are_named_after_nodes(engine: Engine) -> None:
    chart = chart_of(engine, SIZE, per_column=2)
    assert chart.labels == ("n1", "n2")
    drawn = picture(engine, ASCII, SIZE, per_column=2)
    assert "n1|" in drawn
    assert "n2|" in drawn
    assert " nodes " in drawn


def test_bands_never_hold_cores_of_two_nodes(tmp_path: Path) -> None:
    engine = engine_of(machine(tmp_path, 9), "easy", until=40)
    view = chart_of(engine, SIZE, per_column=2).view
    assert view.high - view.low > view.rows - 4
    assert {4 * node for node in range(10)} <= set(view.edges())
    assert len(view.edges()) > 10


def test_free_cores_without_memory_are_dotted_while_a_job_waits(engine: Engine) -> None:
    chart = chart_of(engine, SIZE, per_column=2)
    assert chart.useless is not None
    seen = [bool(chart.useless[:, column].any()) for column in (2, 10, 30)]  # the first column is before J3 comes
    assert seen == [False, True, False]
    assert "," in picture(engine, ASCII, SIZE, per_column=2).splitlines()[-6]
    assert "·" in picture(engine, DARK, SIZE, per_column=2)
    assert chart.unused == (3, 0, 3, 0, 0)


@pytest.mark.parametrize("mode", ["colour", "ascii", "mono"])
def test_free_cores_of_no_use_look_unlike_other_free_cores(engine: Engine, mode: Mode) -> None:
    """In the 10th column a job waits that the first node has no memory for; in the 2nd none waits."""
    chart, look = chart_of(engine, SIZE, per_column=2), DARK.with_mode(mode)
    cells = paint(chart, look, SIZE)
    left = margin_of(chart.workload.procs, chart.labels)
    row = chart.view.rows_of(2).start // 2
    seen = [
        {
            (cells.chars[row, left + at], cells.fg[row, left + at], cells.bg[row, left + at])
            for at in (column, column + 1)
        }
        for column in (10, 2)
    ]
    assert not seen[0] & seen[1]


def test_places_are_cores_of_nodes(engine: Engine) -> None:
    chart = chart_of(engine, SIZE, per_column=2)
    spot = spot_at(chart, 10, chart.view.rows_of(2).start)
    assert spot is not None
    assert free_text(chart, spot) == "at 00:00:21 core 2 of n1 was free, but no waiting job had room on the node"
    chart = chart_of(engine, SIZE, per_column=2, memory=True)
    assert chart.by_owner is not None
    low, _ = chart.by_owner.orders[0].borders[0]
    assert spot_at(chart, 10, chart.view.rows_of(low).start) is None


def test_many_nodes_are_lanes_by_use(tmp_path: Path) -> None:
    engine = engine_of(machine(tmp_path, 100), "easy", until=40)
    chart = chart_of(engine, SIZE, per_column=2)
    assert [lane.size for lane in chart.lane_names] == ["2 nodes", "1 node", "97 nodes"]
    assert [lane.place for lane in chart.lane_names] == [0, 2, 3]  # lanes keep their colours
    assert "empty: 97 nodes" in picture(engine, DARK, SIZE, per_column=2)
    by_number = chart_of(engine, SIZE, per_column=2, by_rows=False)
    assert by_number.by_owner is None
    assert len(by_number.labels) == 100


def test_memory_in_use_is_a_band_above_the_cores_of_a_node(engine: Engine) -> None:
    """J1 has 90 MB of the 100 MB of n1, J2 has 10 MB of n2."""
    chart = chart_of(engine, SIZE, per_column=2, memory=True)
    assert chart.memory is not None
    assert chart.memory[:, 5].tolist() == [8, 1]
    assert chart.memory[:, -1].tolist() == [-1, -1]
    assert chart.labels == ("n1", "n2", "mem")
    assert chart_of(engine, SIZE, per_column=2).memory is None


def test_highest_band_of_memory_has_its_name_beside_it(engine: Engine) -> None:
    for size, look in ((SIZE, ASCII), (Size(50, 14), ASCII), (Size(80, 12), DARK)):
        lines = picture(engine, look, size, per_column=2, memory=True).splitlines()
        named, highest = ([at for at, line in enumerate(lines) if name in line[:4]] for name in ("mem", "n2"))
        assert len(named) == 1
        assert named < highest
        assert "mem" not in picture(engine, look, size, per_column=2)


def test_bands_need_memory_and_three_rows_a_node(tmp_path: Path) -> None:
    workload = engine_of(machine(tmp_path, 9), "easy", until=40).workload
    assert workload.shape is not None
    firsts = NodeRows(workload, workload.shape).band_cores
    assert [has_bands(firsts, 0, 36, rows) for rows in (26, 27)] == [False, True]
    assert has_bands(firsts, 4, 8, 3)
    without = replace(workload.shape, nodes=tuple(replace(node, memory=0) for node in workload.shape.nodes))
    assert not has_bands(NodeRows(workload, without).band_cores, 0, 36, 99)


def test_one_key_shows_nodes_then_their_memory_then_lanes() -> None:
    camera = Camera(1, 0, 8, 20, 20)
    seen = []
    for has_lanes in (False, False, True):
        camera = camera.reordered(has_lanes, True)
        seen.append((camera.by_rows, camera.memory))
    assert seen == [(False, True), (True, False), (False, False)]
    assert camera.reordered(False, False).by_rows


def test_equal_processors_have_neither(tmp_path: Path) -> None:
    chart = chart_of(engine_of("z-figure4", "easy", until=600), SIZE)
    assert (chart.names, chart.useless, chart.unused) == ((), None, ())


def test_numbers_and_plans_know_nodes(engine: Engine) -> None:
    found = {figure.name: figure.value for figure in figures(context_of(engine))}
    assert found["free, of no use"] == "3"
    chart = chart_of(engine, SIZE, per_column=2)
    boxes = {chart.workload.ids[box.rank]: box for box in chart.plan if box.kind != "expected"}
    assert boxes["3"].processors == 0b0011_0000  # the first node has free cores, but no memory
