from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.live.cluster.observed import Observed
from sim.live.cluster.room import barred
from sim.live.cluster.values import Cluster, ClusterJob, Node, Reservation
from tests.sim.live.cluster.captures import VERSIONS
from tests.tui.live.moments import DAY, NODES, observed_of, recorded, runs, waits
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import chart_size, paint
from tui.chart.hover import Spot
from tui.chart.scale import Camera
from tui.live.chart import MODES, ChartMaker, Unused, Wish, labels_of, rack_of
from tui.live.scene import LiveScene, strip_of
from tui.look.palette import DARK

SMALL = Size(90, 12)


def drawn(
    observed: Observed, size: Size = SMALL, per_column: float = 20, mode: str = "job", by_rows: bool | None = None
) -> str:
    cluster = observed.last
    assert cluster is not None
    names = labels_of(observed, cluster, roomy=True)
    inner = chart_size(size, observed.layout.cpus, [label for _, label in names])
    camera = Camera(per_column, 0, observed.layout.cpus, inner.columns, inner.rows * 2, begin=0.0, by_rows=by_rows)
    return paint(ChartMaker().make(observed, cluster, observed.moments[-1], camera, Wish(mode=mode)), DARK, size).text


def test_gone_nodes_tell_why() -> None:
    one = (replace(NODES[0], states=frozenset({"DRAIN"}), reason="disk [root@2026-11-23T00:00:20]"), NODES[1])
    text = drawn(observed_of(nodes=one))
    assert "╳ disk ╳" in text or " disk ╳" in text
    assert "root@" not in text
    gone = tuple(
        replace(Node(f"n{number}", 4), states=frozenset({"DRAIN"}), reason="disk [root@2026-11-23T00:00:20]")
        for number in range(1, 5)
    )
    assert drawn(observed_of(nodes=gone, at=300)).count("disk") == 1
    down = Node("n", 4, states=frozenset({"DOWN"}), reason="fire [a@b]")
    lane = [replace(down, name=f"n00{n}", reason="disk" if n < 3 else down.reason) for n in range(9)]
    nodes = (*lane, *(Node(f"n{number}", 4) for number in range(100, 391)))
    text = drawn(observed_of(runs("1", 4, "n100"), nodes=nodes), Size(150, 45), per_column=4)
    assert "gone: 9 nodes, fire (6), disk (3)" in text


@pytest.mark.parametrize("name", ["[red]x", "\x1b[31m", "a\nb", "x" * 300, "‮"])
def test_a_hostile_reason_stays_one_line_of_text(name: str) -> None:
    gone = (replace(NODES[0], states=frozenset({"DOWN"}), reason=name), NODES[1])
    text = drawn(observed_of(nodes=gone, reservations=(Reservation(name, DAY + 200, DAY + 900, ("n2",)),)))
    assert len(text.splitlines()) == 12
    assert "\x1b" not in text
    assert "‮" not in text


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("version", VERSIONS)
def test_every_mode_draws_a_recorded_moment(shared: Path, version: str, mode: str) -> None:
    text = drawn(recorded(shared, version), Size(120, 30), 10, mode)
    assert all(f"n{number}" in text for number in range(1, 9))
    assert "maint" in text
    assert "disk" in text


def test_nodes_share_rows() -> None:
    nodes = tuple(Node(f"node{number:04}", 64) for number in range(200))
    text = drawn(observed_of(runs("1", 64, "node0007"), nodes=nodes), Size(90, 27), by_rows=False)
    assert text.count("node0") > 10
    nodes = tuple(Node(f"r{rack:02}n{number:02}", 8) for rack in range(1, 11) for number in range(1, 31))
    text = drawn(observed_of(nodes=nodes), Size(90, 27), by_rows=False)
    left = [line.partition("▕")[0].strip() for line in text.splitlines()]
    assert [name for name in left[:-2] if name] == [f"r{rack:02}" for rack in range(1, 11)]
    assert rack_of("r01n01") == "r01"
    few = drawn(observed_of(nodes=nodes[:6]), Size(90, 27), by_rows=False)
    assert "r01n06" in few


def test_a_thousand_nodes_are_lanes_by_use() -> None:
    """Node 1 has no memory left for the waiting job, 2 has one core free, 3 is full, 4 is drained."""
    nodes = [Node(f"node{number:04}", 4, 1000) for number in range(1, 1001)]
    nodes[0] = replace(nodes[0], memory_taken=990)
    nodes[3] = replace(nodes[3], states=frozenset({"DRAIN"}))
    jobs = (runs("1", 2, "node0001"), runs("2", 3, "node0002"), runs("3", 4, "node0003"))
    observed = observed_of(*jobs, replace(waits("4", 1), memory=100), nodes=tuple(nodes))
    text = drawn(observed, Size(90, 45))
    assert "empty: 996 nodes" in text
    assert "by use" in text
    assert observed.last is not None
    camera = Camera(20, 0, observed.layout.cpus, 80, 80, begin=0.0)
    chart = ChartMaker().make(observed, observed.last, observed.moments[-1], camera, Wish())
    sizes = {lane.name: lane.size for lane in chart.lane_names}
    assert sizes == {"full": "1 node", "no use": "1 node", "in part": "1 node", "empty": "996 nodes", "gone": "1 node"}
    assert chart.by_owner is not None
    order = chart.by_owner.orders[0]
    on_first = order.lifted(observed.layout.processors(["node0001"]))
    low, end = order.borders[0][1], order.borders[1][0]
    assert on_first == (1 << end) - (1 << low)


def test_memory_is_a_band_above_each_node_on_demand() -> None:
    """Half of the memory of node 1 was in use at the only poll, and none of node 2's."""
    observed = observed_of(runs("1", 4, "n1"), at=60)
    assert observed.last is not None
    maker, camera = ChartMaker(), Camera(20, 0, 8, 60, 24, begin=0.0, memory=True)
    maker.unused.see(observed.last)
    chart = maker.make(observed, observed.last, 200.0, camera, Wish())
    assert chart.band_cores == (0, 4, 8)
    assert chart.memory is not None
    now = chart.view.column_of(200.0)
    assert chart.memory[:, now].tolist() == [0, 4]
    assert (chart.memory[:, now + 1 :] == -1).all()
    assert chart.memory[:, 0].tolist() == [-1, -1]
    assert "▄▄▄▄" in paint(chart, DARK, Size(70, 14)).text
    low = replace(camera, rows=5)
    assert maker.make(observed, observed.last, 200.0, low, Wish()).memory is None


CROWDED = (
    Node("n1", 4, memory=1000, memory_taken=900, partitions=("batch",)),
    Node("n2", 4, memory=1000, gpus=1, gpus_taken=1, partitions=("batch",)),
)
CAMERA = Camera(10, 0, 8, 40, 8)


def picture(*jobs: ClusterJob, at: float = 60.0) -> Cluster:
    return Cluster(DAY + at, nodes=CROWDED, jobs=tuple(replace(job, partition="batch") for job in jobs))


@pytest.mark.parametrize(
    ("asked", "causes"),
    [
        ({"cpus": 1, "memory": 500}, {"n1": "too little memory is free"}),
        ({"cpus": 1, "gpus": 1}, {"n1": "too few GPUs are free", "n2": "too few GPUs are free"}),
        ({"cpus": 4}, {"n1": "too few cores are free"}),
        ({"cpus": 1}, {}),
    ],
)
def test_cause_of_useless_cores_is_named(asked: dict[str, int], causes: dict[str, str]) -> None:
    job = replace(waits("2", 1), **asked)  # type: ignore[arg-type]
    assert barred(picture(runs("1", 2, "n1"), job)) == causes


def test_cores_are_useless_only_while_jobs_wait() -> None:
    assert barred(picture(runs("1", 2, "n1"))) == {}
    job = replace(waits("2", 1), partition="gpu")
    assert barred(Cluster(DAY, nodes=CROWDED, jobs=(job,)))["n1"] == "all are of other partitions"


def test_chart_marks_useless_cores_from_their_poll_to_now() -> None:
    observed, unused = Observed(), Unused()
    small, large = replace(waits("2", 1), memory=10), replace(waits("2", 1), memory=500)
    for cluster in (picture(small, at=60), picture(large, at=120), picture(large, at=180)):
        observed.add(cluster)
        unused.see(cluster)
    view = CAMERA.following().view(200.0)
    found = unused.bands(observed, view, 200.0)
    assert found is not None
    marked = np.flatnonzero(found.any(axis=0))
    times = [view.time_at(column + 0.5) for column in marked.tolist()]
    assert min(times) >= 120 > min(times) - 10
    assert max(times) <= 210
    edges = view.edges()
    low = next(row.low for row in observed.layout.rows if row.node == "n1")
    rows = found[:, marked[0]]
    assert [bool(rows[at]) for at in range(len(rows))] == [low < edges[at] <= low + 4 for at in range(len(rows))]


def test_pointer_is_told_why_no_job_has_room() -> None:
    observed, cluster = Observed(), picture(replace(waits("2", 1), memory=500))
    observed.add(cluster)
    chart = ChartMaker().make(observed, cluster, 60.0, CAMERA, Wish())
    scene = LiveScene(cluster, observed, 60.0, 0, 1, chart, strip_of(observed, 60.0))
    low = next(row.low for row in observed.layout.rows if row.node == "n1")
    assert "no waiting job has room here: too little memory is free" in scene.hover_free(Spot(60, low, None))
