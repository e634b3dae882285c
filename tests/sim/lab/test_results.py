import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sim.lab.measured import Measured
from sim.lab.results import Results, ResultsError
from sim.lab.work import Outcome
from sim.support.errors import ParameterError
from tests.sim.lab.examples import small

RUNS = list(small().runs())


def outcome(at: int = 0, **values: float) -> Outcome:
    return Outcome(RUNS[at], Measured({"mean_wait": 0.1 + at, **values}), 1.0)


def test_numbers_come_back_bit_by_bit(tmp_path: Path) -> None:
    with Results(tmp_path / "r", write=True) as results:
        results.add([outcome(0, max_wait=1e300, jobs=2**53 + 1), outcome(1, mean_slowdown=float("inf"))])
    with Results(tmp_path / "r") as results:
        found = {
            key: numbers
            for key, *numbers in results.rows(["key"], also=["mean_wait", "max_wait", "jobs", "mean_slowdown"])
        }
    assert found[RUNS[0].key] == [0.1, 1e300, 2**53 + 1, None]
    assert found[RUNS[1].key] == [1.1, None, None, float("inf")]


def test_a_run_is_there_once_and_its_last_outcome_counts(tmp_path: Path) -> None:
    with Results(tmp_path / "r", write=True) as results:
        results.add([Outcome(RUNS[0], None, error="it failed")])
        assert results.known()[RUNS[0].key].failed
        results.add([outcome(), outcome()])
        assert not results.known()[RUNS[0].key].failed
        assert len(results.known()) == 1


def test_of_outcomes_that_are_kept_together_all_are_there_or_none(tmp_path: Path) -> None:
    broken = outcome(1)._replace(error=object())  # type: ignore[arg-type]
    with Results(tmp_path / "r", write=True) as results:
        with pytest.raises(ResultsError):
            results.add([outcome(0), broken])
        assert not results.known()


def test_a_file_with_fewer_metrics_is_read_and_gets_the_new_ones(tmp_path: Path) -> None:
    with Results(tmp_path / "r", write=True) as results:
        results.add([outcome()])
    with closing(sqlite3.connect(tmp_path / "r")) as db:
        db.execute('ALTER TABLE metrics DROP COLUMN "p99_wait"')
    with Results(tmp_path / "r") as results:
        assert list(results.rows([], also=["p99_wait", "mean_wait"])) == [(None, 0.1)]
    with Results(tmp_path / "r", write=True) as results:
        results.add([outcome(1, p99_wait=5.0)])
        assert sorted(results.rows([], also=["mean_wait", "p99_wait"])) == [(0.1, None), (1.1, 5.0)]


def sqlite_with(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("kind", ["text", "short", "other", "view", "trigger"])
def test_what_is_no_file_of_results_is_refused_and_left_as_it_is(tmp_path: Path, kind: str, write: bool) -> None:
    path = tmp_path / "r"
    match kind:
        case "text":
            path.write_text("no database " * 500)
        case "short":
            path.write_bytes(b"SQLite format 3\0" + b"x" * 200)
        case "other":
            sqlite_with(path, "CREATE TABLE runs (key)")
        case _:
            with Results(path, write=True):
                pass
            sqlite_with(
                path,
                "CREATE VIEW more AS SELECT 1" if kind == "view"
                else "CREATE TRIGGER more AFTER INSERT ON runs BEGIN DELETE FROM runs; END",
            )  # fmt: skip
    before = path.read_bytes()
    with pytest.raises(ResultsError, match=f"{path}: "), Results(path, write=write):
        pass
    assert path.read_bytes() == before


@pytest.mark.parametrize(("table", "column", "value"), [
    ("metrics", "mean_wait", "[red]x[/red]"), ("metrics", "mean_wait", b"\xff\xfe\0"), ("runs", "placement", b"\xff"),
    ("runs", "trace", -1), ("runs", "estimates", 3.5), ("runs", "load", b"1"), ("runs", "batches", 7),
    ("runs", "key", b"\0"), ("runs", "asked", 1),
])  # fmt: skip
def test_a_value_of_another_kind_is_refused(tmp_path: Path, table: str, column: str, value: object) -> None:
    path = tmp_path / "r"
    with Results(path, write=True) as results:
        results.add([outcome(1)])
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"UPDATE {table} SET {column} = ?", (value,))
        db.commit()
    with Results(path) as results, pytest.raises(ResultsError, match=f"is damaged: a {column} in it is "):
        list(results.rows([column]) if table == "runs" else results.rows([], also=[column]))


def test_results_are_refused_or_made(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with Results(path, write=True):
        pass
    damaged = path.read_bytes().replace(b'"mean_wait"', b'"mean\xd3wai"').replace(b"tableruns", b"tabl\xd3runs")
    path.write_bytes(damaged)
    with pytest.raises(ResultsError), Results(path) as results:
        list(results.rows(["trace"], also=["mean_wait"]))
    with pytest.raises(ResultsError, match="no such file of results"):
        Results(tmp_path / "new")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ResultsError, match="cannot be written"):
        Results(tmp_path / "no" / "r", write=True)


def test_names_of_columns_are_names_and_no_sql(tmp_path: Path) -> None:
    with Results(tmp_path / "r", write=True) as results:
        for name in ("nothing", 'key" FROM runs; --'):
            with pytest.raises(ParameterError, match="has no"):
                list(results.rows([name]))
