from pathlib import Path

import pytest

from sim.lab import work as working
from sim.lab.copies import Copies, copy_of, unpacked
from sim.lab.plan import SweepPlan
from sim.lab.work import Task, work
from sim.workload.reading import read
from sim.workload.samples import sample_path
from tests.sim.lab.examples import policy_file
from tests.sim.lab.test_plan import FAIR

pytestmark = pytest.mark.usefixtures("own_program")


def test_a_run_needs_no_trace_and_no_policy_where_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "_HELD", {})
    (tmp_path / "a.swf").write_bytes(sample_path("z-figure4").read_bytes())
    policy = policy_file(tmp_path, "import beside_it\n" + FAIR)
    (tmp_path / "beside_it.py").write_text("DEPTH = 1\n")
    (run,) = SweepPlan.of({"trace": [str(tmp_path / "a.swf")], "policy": [policy]}).runs()
    with Copies([run]) as copies:
        task = Task(run, copy_of(run), copies.code_of(run))
        content = copies[task.copy]
    assert (unpacked(content).trace.table == read(tmp_path / "a.swf").table).all()
    (tmp_path / "a.swf").unlink()
    (tmp_path / "beside_it.py").unlink()
    Path(policy).write_text("1 / 0", encoding="utf-8")  # changed or missing since: the content asked for counts
    assert work([task], 0.0) == ([], task.copy)
    (outcome,) = work([task], 0.0, copies={task.copy: content}).outcomes
    assert (outcome.error, outcome.measured is None) == ("", False)


def test_a_copy_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    runs = list(SweepPlan.of({"trace": ["z-figure4"]}).runs())
    with Copies(runs) as copies:
        assert len(copies[copy_of(runs[0])]) > 100
        assert not list(tmp_path.iterdir())


def test_a_worker_keeps_the_copies_that_it_was_sent_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "_HELD", {})
    for number in range(2 * working.MOST_HELD):
        work([], 0.0, copies={str(number): b""})
    assert list(working._HELD) == [str(number) for number in range(working.MOST_HELD, 2 * working.MOST_HELD)]
