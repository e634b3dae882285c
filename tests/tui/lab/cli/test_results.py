"""`schedscope results`: lists and tables, for people and for programs."""

from __future__ import annotations

import csv
import json
import re
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pytest

from sim.lab.pivot import records
from sim.lab.results import Results
from tests.sim.lab.test_pivot import file, outcome, plan
from tests.tui.cli.program import error, schedscope


def test_a_list_says_what_varies_and_has_a_line_a_run(path: Path) -> None:
    lines = schedscope("results", path, "--where", "load=1").stdout.splitlines()
    assert lines[0] == f"{path}: 12 runs, 0 failed"
    assert "  seed: 0, 1, 2 and 3" in lines
    assert "  groups: class" in lines
    assert next(line for line in lines if line.startswith("z-figure4")).split()[:4] == [
        "z-figure4",
        "easy",
        "0",
        "10.0",
    ]


def test_lists_are_made_again_and_exported(path: Path, tmp_path: Path) -> None:
    lines = schedscope("results", path).stdout.splitlines()
    commands = [line.split("  ")[1].split() for line in lines[lines.index("next") + 1 :]]
    assert [command[1] for command in commands] == ["results", "plot", "metrics"]
    for command in commands:
        words = [str(path.parent / word) if word == "figure.pdf" else word for word in command[1:]]
        assert schedscope(*words).returncode == 0
    first, *_ = json.loads(schedscope("results", path, "--format", "json").stdout)
    assert {"trace", "sha256", "parameters", "code", "load", "seed", "version"} <= first.keys()
    assert first["parameters"].startswith(first["policy"])
    assert schedscope("results", path, "--format", "csv", "-o", tmp_path / "out.csv").stdout == ""
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert len(rows) == 24
    assert {"key", "load", "mean_wait", "p99_wait", "metric_jobs", "error"} <= set(rows[0])


def test_a_table_of_means(path: Path) -> None:
    asked = ("results", path, "--rows", "policy", "--columns", "load", "--value", "mean_wait")
    lines = schedscope(*asked, "--where", "policy!=relaxed:omega=1").stdout.splitlines()
    assert lines[:5] == [
        "mean wait (s), with 95 % confidence over seeds", "", "policy \\ load              1            2",
        "easy             13.0 ±9.9 *  23.0 ±9.9 *", "relaxed:omega=0  23.0 ±9.7    43.0 ±9.7",
    ]  # fmt: skip
    assert lines[6].startswith("* the best, significantly")


def test_other_programs_get_a_row_a_number(path: Path) -> None:
    asked = ("results", path, "--rows", "load", "--columns", "policy", "--value", "mean_wait", "--by", "class")
    rows = list(csv.DictReader(StringIO(schedscope(*asked, "--format", "csv").stdout)))
    assert len(rows) == 2 * 2 * 3
    assert rows[0] == {
        "metric": "mean_wait", "class": "short", "load": "1.0", "policy": "easy", "mean": "1.0", "half": "0.0",
        "runs": "4", "seeds": "4", "best": "False", "overloaded": "0",
    }  # fmt: skip
    found = json.loads(schedscope(*asked, "--format", "json").stdout)
    assert found[0]["mean"] == 1.0


def test_names_from_a_file_are_no_orders_to_a_terminal(tmp_path: Path) -> None:
    trace = "z\x1b[31m\u202e"
    file(tmp_path / "r", plan(), lambda run: outcome(run._replace(trace=trace))).__exit__()
    for words in ((), ("--rows", "trace"), ("--columns", "trace")):
        shown = schedscope("results", tmp_path / "r", *words).stdout
        assert {c for c in shown if not c.isprintable() and c != "\n"} == set()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--rows", "polcy"], 2, "no factor 'polcy'; did you mean 'policy'"),
        (["--rows", "policy", "--value", "wait"], 2, "no metric 'wait'"),
        (["--rows", "policy", "--by", "user"], 1, "has no groups 'user'; there is class"),
        (["--by", "class"], 2, "--by goes with --rows"),
        (["--where", "laod=1"], 2, "no factor 'laod'; did you mean 'load'"),
        (["--format", "parquet"], 2, "needs a file: -o FILE"),
        (["--rows", "policy", "--by", "class", "--interval", "batches"], 2, "go without --by"),
    ],
)
def test_wrong_words_get_one_line_that_helps(path: Path, words: list[str], code: int, said: str) -> None:
    got, line = error("results", path, *words)
    assert got == code
    assert said in line


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "no such file of results; schedscope sweep" in error("results", tmp_path / "none")[1]
    assert "is a directory; give the path of a file" in error("results", tmp_path)[1]
    assert "is a directory; give the path of a recording" in error("why", "5", "--from", tmp_path)[1]


@pytest.mark.skipif(find_spec("pyarrow") is not None, reason="pyarrow is installed")
def test_without_pyarrow_one_line_says_how_to_get_it(path: Path, tmp_path: Path) -> None:
    got, line = error("results", path, "--format", "parquet", "-o", tmp_path / "x.parquet")
    assert (got, line) == (1, "a Parquet file needs pyarrow: pip install 'schedscope[parquet]'")


@pytest.mark.skipif(find_spec("pyarrow") is None, reason="needs pyarrow")
def test_a_parquet_file_has_the_same_rows(path: Path, tmp_path: Path) -> None:
    from importlib import import_module

    assert schedscope("results", path, "--format", "parquet", "-o", tmp_path / "x.parquet").returncode == 0
    table = import_module("pyarrow.parquet").read_table(tmp_path / "x.parquet")
    assert table.num_rows == 24
    assert min(table["mean_wait"].to_pylist()) == 4.5


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


def test_results_are_compared_as_table_or_json(path: Path) -> None:
    asked = ("results", path, "--against", "easy", "--columns", "load", "--value", "mean_wait")
    lines = schedscope(*asked).stdout.splitlines()
    assert lines[0] == "mean wait (s): difference from easy"
    row = next(line for line in lines if line.startswith("relaxed:omega=0") and " 2 " in line)
    assert row.split()[2] == "+20.0"
    assert "0 % of 4  *" in row
    assert sum(line.startswith("method: mean of the differences") for line in lines) == 1
    ratio = ("results", path, "--against", "easy", "--value", "mean_wait", "--where", "load=2", "--ratio")
    first, _ = json.loads(schedscope(*ratio, "--format", "json").stdout)
    assert (first["policy"], first["how"], first["samples"]) == ("relaxed:omega=0", "ratio", 4)
    assert first["t_low"] < first["value"] < first["t_high"]
    assert "ratio to easy" in schedscope(*ratio).stdout
    shown = schedscope("results", path, "--rows", "policy", "--value", "mean_wait").stdout
    assert "method: mean of the seeds' means ± half of Student's 95 % interval over 4 seeds" in shown
    shown = schedscope("results", path, "--rows", "policy", "--value", "mean_wait", "--interval", "batches").stdout
    assert "method: mean of the runs ± half of Student's interval over 20 batches" in shown


def test_wrong_use_gets_one_line(path: Path) -> None:
    assert "--ratio goes with --against" in error("results", path, "--ratio")[1]
    code, line = error("results", path, "--against", "eazy", "--value", "mean_wait")
    assert (code, line) == (1, f"{path}: no run has policy 'eazy'; did you mean 'easy'?")


def test_figure_says_from_what_it_differs(path: Path) -> None:
    asked = ("plot", path, "-x", "load", "--by", "policy", "--against", "easy", "-y", "mean_wait")
    assert schedscope(*asked, "-o", path.parent / "f.svg").returncode == 0
    svg = (path.parent / "f.svg").read_text()
    assert "mean wait minus easy's (s)" in svg
    assert ">relaxed:omega=0<" in svg
    assert ">easy<" not in svg


def test_figure_of_ratios_says_to_what(path: Path) -> None:
    asked = ("plot", path, "-x", "load", "--by", "policy", "--against", "easy", "-y", "mean_wait", "--ratio")
    saved, svg = path.parent / "ratio.toml", path.parent / "ratio.svg"
    assert schedscope(*asked, "--save", saved, "-o", svg).returncode == 0
    assert "mean wait over easy's" in svg.read_text()
    assert "ratio = true" in saved.read_text()
    assert "mean wait over easy's" in schedscope(*asked).stdout
    assert "--ratio needs --against" in error("plot", path, "-x", "load", "--ratio")[1]
