"""Tests of the shares of fragmentation in `sim.metrics.aggregates`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sim import measure, run
from sim.comparison.differences import compare
from sim.lab.measured import measured
from sim.metrics import aggregates as module
from sim.metrics.catalogue import FRAGMENTATION
from sim.workload.replay import read

MACHINE = {"nodes": [{"name": "n[1-2]", "cores": 4, "mem": 100}], "placement": "lowest"}
JOBS = [
    {"id": "1", "submit": 0, "run": 100, "estimate": 100, "nodes": 1, "cores": 1, "mem": 90},
    {"id": "2", "submit": 0, "run": 50, "estimate": 50, "nodes": 1, "cores": 4, "mem": 10},
    {"id": "3", "submit": 0, "run": 50, "estimate": 50, "nodes": 1, "cores": 2, "mem": 50},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (made := tmp_path / "made.json").write_text(json.dumps({**MACHINE, "jobs": JOBS}), encoding="utf-8")
    return made


def test_cores_without_memory_are_fragments(path: Path) -> None:
    found = measure(run(read(path), "easy")).values
    lost = 3 * 50 / (8 * 100)  # three cores of the first node, while the third job waits
    assert found["fragmentation"] == found["fragmentation_memory"] == pytest.approx(lost)
    assert found["loss_of_capacity"] == pytest.approx(lost)
    assert {entry.name for entry in FRAGMENTATION} <= set(found)
    assert module.fragmentation(run(read("z-figure4"), "easy")) == {}
    schedule = run(read(path), "easy")
    assert module.fragmentation(schedule, 0, 50)["fragmentation"] == pytest.approx(3 / 8)
    assert module.fragmentation(schedule, 25, 75)["fragmentation"] == pytest.approx(3 / 16)
    assert module.fragmentation(schedule, 60, 100)["fragmentation"] == 0
    assert module.fragmentation(schedule, 200, 300) == {}


def test_moments_of_a_long_run_are_equally_far_apart(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MOMENTS", 1)
    assert module.fragmentation(run(read(path), "easy"))["fragmentation"] == pytest.approx(3 / 8)


def test_results_and_comparisons_have_fragmentation(path: Path) -> None:
    easy, lowest = run(read(path), "easy"), run(read(path), "fcfs")
    assert measured(easy).values["fragmentation_memory"] == pytest.approx(3 / 16)
    assert "fragmentation" not in measured(run(read("z-figure4"), "easy")).values
    both = {each.metric.name: (each.first, each.second) for each in compare(easy, lowest).metrics}
    assert both["fragmentation"] == tuple(measure(each).values["fragmentation"] for each in (easy, lowest))
