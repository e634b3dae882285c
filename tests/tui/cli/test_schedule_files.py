"""Also tests tui.cli.parquet."""

import csv
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.sim.lab.test_kept import keeping, made
from tests.tui.cli.program import error, schedscope

needs_pyarrow = pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs .[parquet]")
ASKED = ("run", "lublin-128", "--jobs", "80", "--policy", "easy")


def in_csv(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def parquet(path: Path) -> Any:
    return import_module("pyarrow.parquet").read_table(path)


def arrow(path: Path) -> Any:
    return import_module("pyarrow.ipc").open_file(path.read_bytes()).read_all()


def test_schedules_are_written_in_the_columns_of_batsim(tmp_path: Path) -> None:
    assert schedscope(*ASKED, "--batsim", tmp_path / "out").returncode == 0
    jobs, (summary,) = in_csv(tmp_path / "out_jobs.csv"), in_csv(tmp_path / "out_schedule.csv")
    assert list(jobs[0])[-2:] == ["stretch", "allocated_resources"]
    assert (summary["nb_jobs_finished"], summary["nb_jobs_killed"]) == (
        "80",
        str(row_values(jobs, "success").count("0")),
    )
    assert float(summary["mean_waiting_time"]) == pytest.approx(sum(map(float, row_values(jobs, "waiting_time"))) / 80)
    done = schedscope("compare", *ASKED[1:], "--recorded", tmp_path / "out_jobs.csv", "--exit-code")
    assert (done.returncode, done.stdout.count("\n")) == (0, 5)


def row_values(rows: list[dict[str, str]], name: str) -> list[str]:
    return [row[name] for row in rows]


def test_decisions_are_one_row_each_with_their_sentence(tmp_path: Path) -> None:
    assert schedscope(*ASKED, "--decisions", tmp_path / "d.csv").returncode == 0
    rows = in_csv(tmp_path / "d.csv")
    assert list(rows[0]) == ["step", "time", "decision", "job", "sentence"]
    started = {row["job"] for row in rows if row["decision"] in ("start", "backfill")}
    assert len(started) == 80
    backfill = next(row for row in rows if row["decision"] == "backfill")
    assert "is backfilled" in backfill["sentence"]


@needs_pyarrow
@pytest.mark.parametrize(("ending", "read"), [("parquet", parquet), ("arrow", arrow)])
@pytest.mark.parametrize("option", ["--schedule", "--segments", "--decisions"])
def test_tables_have_the_rows_of_the_csv(tmp_path: Path, option: str, ending: str, read: Callable[[Path], Any]) -> None:
    for name in ("x.csv", f"x.{ending}"):
        assert schedscope(*ASKED, option, tmp_path / name).returncode == 0
    rows = in_csv(tmp_path / "x.csv")
    table = read(tmp_path / f"x.{ending}")
    assert table.column_names == list(rows[0])
    assert table.num_rows == len(rows)
    for name in table.column_names:
        values = table[name].to_pylist()
        known = [value for value in values if value not in (None, "")]
        is_number = any(isinstance(value, int | float) for value in known)
        assert known == [float(row[name]) if is_number else row[name] for row in rows if row[name]]


@needs_pyarrow
def test_results_and_kept_jobs_are_written_by_the_ending_of_the_name(tmp_path: Path) -> None:
    path = made(tmp_path / "r.sqlite", keeping())
    assert schedscope("results", path, "-o", tmp_path / "runs.arrow").returncode == 0
    assert arrow(tmp_path / "runs.arrow").num_rows == 4
    assert schedscope("results", path, "--jobs", "--where", "policy=easy", "-o", tmp_path / "j.parquet").returncode == 0
    jobs = parquet(tmp_path / "j.parquet")
    assert jobs.num_rows == 2 * 60
    assert set(jobs["policy"].to_pylist()) == {"easy"}
    assert set(jobs["class"].to_pylist()) <= {"short", "medium", "long"}
    means = schedscope("results", path, "--rows", "policy", "--value", "mean_wait", "--format", "csv").stdout
    easy = next(row for row in csv.DictReader(means.splitlines()) if row["policy"] == "easy")
    waits = jobs["wait"].to_pylist()
    assert sum(waits) / len(waits) == pytest.approx(float(easy["mean"]))


@needs_pyarrow
def test_empty_table_is_a_table(tmp_path: Path) -> None:
    path = made(tmp_path / "r.sqlite", keeping())
    assert schedscope("results", path, "--where", "load=9", "-o", tmp_path / "none.parquet").returncode == 0
    assert parquet(tmp_path / "none.parquet").num_rows == 0


def test_jobs_need_the_name_of_a_table(tmp_path: Path) -> None:
    path = made(tmp_path / "r.sqlite", keeping())
    assert error("results", path, "--jobs")[1].startswith("--jobs writes a table of jobs")


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_without_pyarrow_one_line_names_the_extra(tmp_path: Path) -> None:
    told = error(*ASKED, "--schedule", tmp_path / "x.arrow")[1]
    assert told.endswith("an Arrow file needs pyarrow: pip install 'schedscope[parquet]'")
