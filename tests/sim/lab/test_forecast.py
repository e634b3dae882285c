from pathlib import Path

import pytest

from sim.lab import sweep as forecasting
from sim.lab.measured import Measured
from sim.lab.results import Results
from sim.lab.sweep import forecast
from sim.lab.work import Outcome
from tests.sim.lab.examples import small


def test_like_runs_cost_what_they_have_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasting, "Copies", None)  # nothing is tried
    runs = list(small("easy", "fcfs").runs())
    with Results(tmp_path / "r", write=True) as results:
        results.add([Outcome(run, Measured({}), {"easy": 3.0, "fcfs": 1.0}[run.policy]) for run in runs[:4]])
    assert forecast(runs, tmp_path / "r", workers=2) == (6 * 3.0 + 6 * 1.0) / 2


def test_what_has_no_like_is_tried_on_its_first_jobs(tmp_path: Path) -> None:
    runs = list(small("easy", jobs=10_000, seeds=1).runs())
    found = forecast(runs, tmp_path / "none", workers=1)
    assert found is not None
    assert found > 0


def test_of_nothing_nobody_knows(tmp_path: Path) -> None:
    assert forecast([], tmp_path / "none", workers=1) is None
