"""The command `grade` as a teacher uses it.

Also tests tui.classroom.report, tui.classroom.graded_tests, tui.classroom.submission_fixture.
"""

import csv
import re
import sys
from base64 import b64decode
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.sim.classroom.grading.material import FCFS, MADE, source, write, wrong
from tests.tui.cli.program import error, schedscope
from tui.classroom.cli import grade

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there are no walls")
SOME = (
    "right.py", "twin.py", "in-other-words.py", "in-a-folder", "crash-that-seems-none.py", "crash-twin.py",
    "crash-twin-2.py", "fcfs.py", "no-wide-job.py", "by-hash.py", "crash.py", "syntax.py", "sleeps.py",
    "memory.py", "reads-others.py",
    "forges-starts.py", "seeks-the-future.py", "answers.txt", "forged-answers.txt", "junk.txt", "notes.pdf",
)  # fmt: skip
TESTS = """
from sim import read

def test_short_job_passes(submission):
    assert submission(read("z-figure4")).start[4] == 600

def test_all_jobs_end(submission):
    assert not any(map(float.__ne__, *[submission(read("z-figure4")).end.tolist()] * 2))
"""


def trace(folder: Path, jobs: int) -> Path:
    lines = Path("sample_traces/lublin-128.swf").read_text(encoding="utf-8").splitlines(keepends=True)
    head = [line for line in lines if line.startswith(";")]
    path = folder / "hidden.swf"
    path.write_text("".join(lines[: len(head) + jobs]), encoding="utf-8")
    return path


def rows_in(marks: Path) -> dict[str, dict[str, str]]:
    with open(marks, encoding="utf-8", newline="") as file:
        return {row["submission"]: row for row in csv.DictReader(file)}


@pytest.mark.long
def test_every_submission_becomes_its_row(tmp_path: Path) -> None:
    folder, marks, report = tmp_path / "all", tmp_path / "marks.csv", tmp_path / "report.html"
    folder.mkdir()
    hidden = trace(tmp_path, 200)
    write(folder, str(hidden), SOME)
    done = schedscope("grade", folder, "--on", hidden, "-o", marks, "--html", report)
    assert (done.returncode, done.stdout) == (0, f"21 submissions: marks in {marks}, report in {report}\n")
    assert set(rows_in(marks)) == set(SOME) <= set(MADE)
    assert wrong(marks) == []
    assert rows_in(marks)["right.py"]["marks"] == "10.0"
    assert (rows_in(marks)["no-wide-job.py"]["marks"], rows_in(marks)["fcfs.py"]["marks"]) == ("0.0", "6.0")
    text = report.read_text(encoding="utf-8")
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', text)
    assert len(pictures) == 3  # of fcfs, no-wide-job and by-hash
    assert "easy backfills" in text
    assert ElementTree.fromstring(b64decode(pictures[0])).tag.endswith("svg")


def test_tests_and_rubric_of_a_teacher_count(tmp_path: Path) -> None:
    folder, tests, rubric, marks = (tmp_path / name for name in ("all", "tests.py", "marks.toml", "marks.csv"))
    folder.mkdir()
    (folder / "<b>fcfs.py").write_text(source(FCFS), encoding="utf-8")
    tests.write_text(TESTS, encoding="utf-8")
    rubric.write_text("tests = 6\n[metrics.mean_wait]\nmost = 1.0\nmarks = 2\n", encoding="utf-8")
    report = tmp_path / "report.html"
    given = ("--on", "z-figure4", "--tests", tests, "--rubric", rubric, "-o", marks, "--html", report)
    assert schedscope("grade", folder, *given).returncode == 0
    row = rows_in(marks)["<b>fcfs.py"]
    assert (row["tests"], row["marks"], row["of"]) == ("1 of 2", "3.0", "8")
    assert row["notes"] == "fails test_short_job_passes"
    assert float(row["mean_wait ratio on z-figure4"]) > 1
    assert row["jobs on z-figure4"] == "J5"
    assert "<b>fcfs" not in report.read_text(encoding="utf-8")
    assert "&lt;b&gt;fcfs.py" in report.read_text(encoding="utf-8")


def test_it_refuses_where_walls_do_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.classroom.grading.outside.gaps", lambda bounds, files: ["reach the network"])
    (tmp_path / "a.txt").write_text("junk", encoding="utf-8")
    told = "here a submission could reach the network; grade on Linux 5.13 or newer, or with --trust"
    assert error("grade", tmp_path, "-o", tmp_path / "x.csv")[1].startswith(told)
    assert schedscope("grade", tmp_path, "-o", tmp_path / "x.csv", "--trust").returncode == 0
    assert grade.USUAL == "lublin-128"


def test_what_cannot_be_graded_is_said(tmp_path: Path) -> None:
    assert error("grade", tmp_path, "-o", tmp_path / "x.csv")[1] == f"{tmp_path}: there is nothing to grade"
    (tmp_path / "a.txt").write_text("junk", encoding="utf-8")
    nodes = error("grade", tmp_path, "--on", "my-job", "-o", tmp_path / "x.csv")[1]
    assert nodes == "my-job: grade takes jobs on equal processors, which wait for no other jobs"
    assert error("grade", tmp_path, "--like", "eazy", "-o", "x.csv")[1].startswith("no policy 'eazy'")
