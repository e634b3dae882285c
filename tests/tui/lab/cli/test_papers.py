from pathlib import Path

import pytest

from sim.lab import papers
from sim.lab.papers import PaperTable, tables
from sim.workload.samples import sample_path
from tests.tui.cli.program import error, schedscope

SMALL = PaperTable(
    "small", "A table: of two", "A note.", ("mean_wait",), ("policy",),
    (("FCFS", "fcfs", 900.0), ("EASY", "easy", 702.0)), {"trace": "a.swf"},
)  # fmt: skip


def test_without_a_name_all_tables_are_listed_with_their_logs(tmp_path: Path) -> None:
    (tmp_path / "KTH-SP2-1996-2.swf.gz").touch()
    shown = schedscope("papers", "--logs", tmp_path).stdout
    assert all(f"\n{name} " in shown for name in tables())
    assert "KTH-SP2-1996-2.swf.gz, CTC-SP2-1996-3.1-cln.swf.gz (missing)" in shown


def test_a_table_is_printed_beside_the_papers_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(papers, "tables", lambda: {"small": SMALL})
    (tmp_path / "a.swf").write_bytes(sample_path("z-figure4").read_bytes())
    done = schedscope("papers", "small", "--logs", tmp_path, "-o", tmp_path / "r.sqlite")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "A table: of two", "", "      mean wait (s)   here  difference", "FCFS          900.0  942.0       +4.7%",
        "EASY          702.0  702.0       +0.0%", "", "mean wait: median difference +2.3%, the largest +4.7%", "",
        "A note.",
    ]  # fmt: skip
    assert (tmp_path / "r.sqlite").exists()
    done = schedscope("papers", "small", "--logs", tmp_path, "-o", tmp_path / "r.sqlite", "--jobs", "3")
    assert done.stdout.startswith("A table: of two (here of the first 3 jobs only)\n")


def test_signs_are_counted_as_signs_of_a_metric(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metrics, rows = ("mean_wait", "gain:mean_wait"), (("EASY", "easy", "", ">0"), ("SJF", "easy:order=sjf", "", "<0"))
    of = PaperTable("small", "A table: of two", "", metrics, ("policy",), rows, {"trace": "a.swf", "against": "fcfs"})
    monkeypatch.setattr(papers, "tables", lambda: {"small": of})
    (tmp_path / "a.swf").write_bytes(sample_path("z-figure4").read_bytes())
    shown = schedscope("papers", "small", "--logs", tmp_path, "-o", tmp_path / "r.sqlite").stdout
    assert "R of mean wait: above or below 0 as the paper says in 1 of 2 cases" in shown


@pytest.mark.parametrize("name", ["k-figures-3.3-3.5-worst", "w-table-1"])
def test_note_names_the_finding_that_does_not_come_out(name: str) -> None:
    assert "does not come out" in tables()[name].note


def test_a_log_that_is_missing_is_one_line(tmp_path: Path) -> None:
    got, line = error("papers", "zkp-table-2", "--logs", tmp_path)
    assert got == 1
    assert line.startswith(
        "zkp-table-2 needs the log KTH-SP2-1996-2.swf.gz of the Parallel Workloads Archive: put it into"
    )
