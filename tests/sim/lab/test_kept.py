from __future__ import annotations

import sqlite3
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from sim.lab.kept import HOURS, JOBS, hours_of_week, packed, quantity, unpacked, week
from sim.lab.plan import SweepPlan
from sim.lab.results import Results, ResultsError
from sim.lab.sweep import sweep
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import by_class
from sim.support.errors import NotThereError, ParameterError
from sim.workload.model import Header
from tests.sim.conftest import Lab


def keeping(seeds: int = 2, jobs: int = 60, keep: str = JOBS, groups: tuple[str, ...] = ("class",)) -> SweepPlan:
    factors = {
        "trace": ["lublin-128"], "jobs": [str(jobs)], "estimates": ["random:2"], "seed": [f"{{0..{seeds - 1}}}"],
        "policy": ["easy", "fcfs"],
    }  # fmt: skip
    return SweepPlan.of(factors, groups=groups, keep=keep)


def made(path: Path, plan: SweepPlan) -> Path:
    sweep(plan, path, workers=1)
    return path


def test_columns_come_back_as_they_were(lab: Lab) -> None:
    jobs = FinishedJobs.of(lab.run("easy", 4, "1 0 2 100 100", "2 10 4 50 2000", "3 20 1 5 20").schedule())
    kept = unpacked(packed(jobs, {"class": by_class(jobs)}), 10**6)
    assert kept is not None
    for name in ("wait", "turnaround", "slowdown", "bounded_slowdown", "run", "width"):
        assert kept.quantity(name).tolist() == getattr(jobs, name).tolist()
    classes = kept.group("class")
    assert classes is not None
    assert classes.tolist() == [0, 1, 0]
    assert kept.group("user") is None


def test_damaged_pieces_are_refused(lab: Lab) -> None:
    pieces = packed(FinishedJobs.of(lab.run("easy", 4, "1 0 2 100 100").schedule()), {})
    assert unpacked({name: parts for name, parts in pieces.items() if name != "wait"}, 10**6) is None
    kept = unpacked(pieces, 10**6)
    assert kept is not None
    assert unpacked(pieces, kept.size) is not None
    assert unpacked(pieces, kept.size - 1) is None
    assert unpacked(pieces | {"wait": [b"no zlib"]}, 10**6) is None
    assert unpacked(pieces | {"wait": [zlib.compress(bytes(16))]}, 10**6) is None
    assert unpacked(pieces | {"wait": [zlib.compress(bytes(8_000_008))]}, 10**6) is None


@pytest.mark.parametrize("name", ["wait", "mean_wait", "mean-wait"])
def test_quantity_is_found_by_its_name_or_its_metric(name: str) -> None:
    assert (quantity(name).title, quantity(name).unit) == ("wait", "s")


def test_unknown_quantity_names_the_near_ones() -> None:
    with pytest.raises(ParameterError, match="did you mean 'slowdown'"):
        quantity("slowdwon")


def test_sweep_keeps_jobs_only_when_asked_and_adds_them_later(tmp_path: Path) -> None:
    path = made(tmp_path / "r", keeping(keep=""))
    with Results(path) as results, pytest.raises(NotThereError, match="sweep again with --keep jobs"):
        results.jobs_of(next(iter(results.known())))
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
    with closing(sqlite3.connect(path)) as db:
        assert [name for (name,) in db.execute(tables)] == ["groups", "metrics", "runs"]
    assert sweep(keeping(), path, workers=1).made == 4
    assert sweep(keeping(), path, workers=1).made == 0
    with Results(path) as results:
        for key, mean_wait in results.rows(["key"], also=["mean_wait"]):
            assert results.jobs_of(key).quantity("wait").mean() == pytest.approx(mean_wait)


def test_damaged_jobs_in_a_file_get_one_line(tmp_path: Path) -> None:
    path = made(tmp_path / "r", keeping())
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE jobs SET data = x'00' WHERE name = 'wait'")
    with Results(path) as results, pytest.raises(ResultsError, match="the jobs of a run cannot be read"):
        results.jobs_of(next(iter(results.known())))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE jobs SET data = 'words'")
    with Results(path) as results, pytest.raises(ResultsError, match="is damaged"):
        results.jobs_of(next(iter(results.known())))


def test_all_jobs_of_a_file_together_have_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "r", keeping())
    with Results(path) as results:
        first, second, *_ = results.known()
        most = results.jobs_of(first).size
        monkeypatch.setattr("sim.lab.results.most_unpacked", lambda size: most)
        assert results.jobs_of(first)
        assert results.jobs_of(first)
        with pytest.raises(ResultsError, match="the jobs of a run cannot be read"):
            results.jobs_of(second)


def test_a_sweep_can_keep_nothing_but_jobs() -> None:
    with pytest.raises(ParameterError, match="a sweep can keep jobs"):
        keeping(keep="segments")


def test_hours_are_those_of_the_clock() -> None:
    zone = ZoneInfo("Europe/Stockholm")
    winter, summer = (datetime(1997, month, 7, 9, 30, tzinfo=zone) for month in (1, 7))
    hours = hours_of_week(
        Header(unix_start=0, time_zone="Europe/Stockholm"), np.array([winter.timestamp(), summer.timestamp()])
    )
    assert hours.tolist() == [24 * at.weekday() + 9 for at in (winter, summer)]
    assert [at.astimezone(UTC).hour for at in (winter, summer)] == [8, 7]
    hours = hours_of_week(Header(unix_start=0, time_zone="3600"), np.array([1e15]))
    assert hours.tolist() == [int(1e15 // 3600 + 72) % HOURS]


def test_week_averages_the_hours_in_which_the_machine_was_observed(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 2 5400 5400", "2 1800 4 5400 5400")
    found = week(engine.schedule())
    assert found["utilization"][:3].tolist() == [0.5, 0.75, 1.0]  # 2 of 4 for 1.5 h, then all
    assert found["queue"][:3].tolist() == [0.5, 0.5, 0.0]  # job 2 waits from 0:30 to 1:30
    assert np.isnan(found["utilization"][3:]).all()
