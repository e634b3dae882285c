from dataclasses import replace

import numpy as np
import pytest

from sim.live.cluster.observed import Observed
from sim.live.cluster.room import barred
from sim.live.cluster.values import Cluster, ClusterJob, Node
from tests.tui.live.moments import DAY, runs, waits
from tui.chart.hover import Spot
from tui.chart.scale import Camera
from tui.live.chart import ChartMaker
from tui.live.scene import LiveScene, strip_of
from tui.live.unused import Unused

NODES = (
    Node("n1", 4, memory=1000, memory_taken=900, partitions=("batch",)),
    Node("n2", 4, memory=1000, gpus=1, gpus_taken=1, partitions=("batch",)),
)
CAMERA = Camera(10, 0, 8, 40, 8)


def picture(*jobs: ClusterJob, at: float = 60.0) -> Cluster:
    return Cluster(DAY + at, nodes=NODES, jobs=tuple(replace(job, partition="batch") for job in jobs))


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
    assert barred(Cluster(DAY, nodes=NODES, jobs=(job,)))["n1"] == "all are of other partitions"


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
    chart = ChartMaker().make(observed, cluster, 60.0, CAMERA)
    scene = LiveScene(cluster, observed, 60.0, 0, 1, chart, strip_of(observed, 60.0))
    low = next(row.low for row in observed.layout.rows if row.node == "n1")
    assert "no waiting job has room here: too little memory is free" in scene.hover_free(Spot(60, low, None))
