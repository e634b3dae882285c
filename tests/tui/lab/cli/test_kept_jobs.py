import re
from pathlib import Path

import pytest

from sim.lab.pivot import records
from sim.lab.results import Results
from tests.tui.cli.program import schedscope

PAGE = Path(__file__).resolve().parents[4] / "sim" / "lab" / "README.md"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the results of a sweep that keeps its jobs, and with the table of these jobs."""
    pytest.importorskip("pyarrow")
    made = tmp_path_factory.mktemp("kept")
    asked = ("--policy", "fcfs", "--policy", "easy", "--seeds", "2", "--resample", "weeks", "--jobs", "300")
    kept = ("--keep", "jobs", "--groups", "class", "-o", made / "paper.sqlite")
    assert schedscope("sweep", "lublin-128", *asked, *kept).returncode == 0
    assert schedscope("results", made / "paper.sqlite", "--jobs", "-o", made / "jobs.parquet").returncode == 0
    return made


def test_the_query_of_the_page_answers_in_duckdb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    duckdb = pytest.importorskip("duckdb")
    monkeypatch.chdir(folder)
    (query,) = re.findall(r'duckdb -c "(.*?)"', PAGE.read_text(encoding="utf-8"), re.DOTALL)
    rows = duckdb.sql(query).fetchall()
    classes = {"short", "medium", "long"}
    assert {policy for policy, *_ in rows} == {"easy", "fcfs"}
    assert {name for _, name, *_ in rows} <= classes
    assert sum(count for _, _, count, _ in rows) == 1200


def test_the_expression_of_the_page_answers_in_polars(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    polars = pytest.importorskip("polars")
    monkeypatch.chdir(folder)
    (expression,) = re.findall(r"`(polars\.read_parquet.*?)`", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    rows = eval(expression, {"polars": polars}).to_dicts()
    with Results(folder / "paper.sqlite") as results:
        means = {(run["policy"], run["seed"]): run["=mean_wait"] for run in records(results, ["mean_wait"])}
    assert {(row["policy"], row["seed"]): row["wait"] for row in rows} == pytest.approx(means)
