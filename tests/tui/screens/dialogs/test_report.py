from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.workload.model import Field, Header, Trace, Workload
from sim.workload.reading import read
from sim.workload.source import Source
from tests.tui.screens.conftest import Ask
from tui.screens.dialogs.report import FidelityReport, notes_of, report


def report_text(trace: Trace, workload: Workload, width: int = 90) -> str:
    return "\n".join(line.text for line in report(trace, workload, width))


@pytest.fixture
def damaged(tmp_path: Path) -> tuple[Trace, Workload]:
    """Return the trace and the workload of three jobs on four processors: a good one, one that never ran, and one
    without an estimate."""
    path = tmp_path / "three.swf"
    path.write_text(
        "; MaxProcs: 4\n"
        "1 0 -1 9000 2 -1 -1 2 9000 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "2 5 -1 -1 2 -1 -1 2 9000 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
        "3 10000 -1 90 2 -1 -1 2 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    )
    trace = read(path)
    return trace, Workload.of(trace)


def test_report_says_what_was_read(damaged: tuple[Trace, Workload]) -> None:
    text = report_text(*damaged)
    assert "jobs      2 of the 3 in the file" in text
    assert "machine   4 processors" in text
    assert "span      2h47 from the first to the last submission" in text
    assert "load      45.5 %" in text
    text = report_text(*damaged)
    assert "1  never ran (run time < 0) (first: job 2)" in text
    assert "1  no estimate; the run time is taken instead (first: job 3)" in text


def test_jobs_that_will_be_killed_are_counted() -> None:
    trace, workload = Source("z-figure4").read()
    assert "killed" not in report_text(trace, workload)
    assert "killed    1 job that" in report_text(trace, replace(workload, killed=workload.submit == 0))


def test_notes_are_wrapped_and_joined() -> None:
    comments = (" Note: cleaned", "       with a filter\x1b[2J", "", " Queues: 4", "       no note")
    trace = Trace("x", "swf", (), np.empty((0, len(Field))), Header(comments=comments))
    assert notes_of(trace) == ["cleaned with a filter?[2J"]
    trace, _ = Source("lublin-128").read()
    assert any("mostly 1 or powers of two" in note for note in notes_of(trace))
    assert any(note.startswith("Try easy") for note in notes_of(trace))


async def test_report_scrolls_and_closes(ask: Ask) -> None:
    async with ask(FidelityReport(*Source("z-figure4").read()), size=(80, 24)) as person:
        assert "10 processors" in person.text
        await person.press("escape")
        assert person.answers == [None]
    async with ask(FidelityReport(*Source("z-figure7").read()), size=(80, 16)) as person:
        assert "All jobs were read unchanged." not in person.text
        await person.press("end")
        assert "All jobs were read unchanged." in person.text
