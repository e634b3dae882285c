import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sim.engine import policy_calls
from tests.sim.authoring.test_contract import BROKEN, HERE
from tests.sim.policies.own.test_loading import FAIR
from tests.tui.cli.program import PROGRAM, error, schedscope

pytestmark = pytest.mark.usefixtures("folder")

STOPPED = r"stopped: no decision for \d+ s \("
TALKS = FAIR.replace("for job in", "print('free', view.free, chr(27))\n        for job in")


def test_what_it_prints_is_on_stderr_with_the_step(folder: Path) -> None:
    (folder / "fair.py").write_text(TALKS)
    done = schedscope("run", "z-figure4", "--policy", "./fair.py", "--format", "json")
    assert done.stderr.splitlines()[:2] == ["step 1, d0 00:00:00: free 10 ?", "step 2, d0 00:00:10: free 4 ?"]
    assert done.stdout.startswith("{")


def test_what_one_that_takes_over_prints_is_there_as_well(folder: Path) -> None:
    (folder / "fair.py").write_text(TALKS)
    done = schedscope("run", "z-figure4", "--policy", "easy", "--switch", "600=./fair.py")
    assert done.stderr.splitlines()[0].startswith("step 6, d0 00:10:00: free ")


@pytest.mark.parametrize("name", sorted(BROKEN.keys() - {"by_identity"}))  # few jobs lie in order in memory
def test_every_broken_one_is_named(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_calls, "LONGEST_PASS", 0.3 if name == "never_returns" else 10.0)
    code, told = error("run", "z-figure4", "--policy", str(HERE / "broken" / f"{name}.py"), "--check")
    assert code == 1
    assert f"{name}.py: {BROKEN[name][0]}: " in told
    assert BROKEN[name][1] in told


def test_one_that_does_not_come_back_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_calls, "LONGEST_PASS", 0.2)
    told = error("run", "z-figure4", "--policy", str(HERE / "broken" / "never_returns.py"))[1]
    assert re.search(STOPPED, told)
    lines = ("18 in decide: while job.procs > view.free:", "19 in decide: pass")  # Python 3.14 stops at either
    assert any(f"never_returns.py:{line}" in told for line in lines)


def test_one_for_which_there_is_no_memory_is_named(folder: Path) -> None:
    (folder / "fair.py").write_text(FAIR.replace("for job in", "raise MemoryError\n        for job in"))
    said = (
        "failed after step 0, at d0 00:00:00: MemoryError: this line needs more memory than there is; make it need less"
    )
    assert f"./fair.py {said}" in error("run", "z-figure4", "--policy", "./fair.py")[1]


def test_one_that_closes_the_standard_output_is_reported_in_one_line(folder: Path) -> None:
    (folder / "fair.py").write_text(FAIR + "\nimport sys\nsys.stdout.close()\n")
    asked = subprocess.run([*PROGRAM, "run", "z-figure4", "--policy", "./fair.py"], capture_output=True, text=True)
    told = "schedscope: error: cannot write the result: standard output is closed\n"
    assert (asked.returncode, asked.stderr) == (1, told)


def test_one_that_sleeps_is_stopped_in_a_sweep_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_calls, "LONGEST_PASS", 0.2)
    (folder / "fair.py").write_text(FAIR.replace("for job in", "__import__('time').sleep(20)\n        for job in"))
    done = schedscope("sweep", "z-figure4", "--policy", "./fair.py", "-o", "x.sqlite")
    assert (done.returncode, bool(re.search(STOPPED, done.stderr + done.stdout))) == (1, True)


def test_an_order_that_does_not_come_back_is_stopped_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_calls, "LONGEST_PASS", 0.2)
    schedscope("new", "fair.py", "--like", "fair-share")
    text = (
        Path("fair.py")
        .read_text()
        .replace("        for user in usage:\n", "        while True:\n            pass\n        for user in usage:\n")
    )
    Path("fair.py").write_text(text)
    told = error("run", "z-figure4", "--policy", "easy:order=./fair.py")[1]
    assert re.search(STOPPED, told)
    assert "in seeing: " in told


def debugged(folder: Path, text: str, typed: str, monkeypatch: pytest.MonkeyPatch, capsys: object) -> str:
    (folder / "fair.py").write_text(text)
    monkeypatch.setattr(sys, "argv", ["schedscope", "run", "z-figure4", "--policy", "./fair.py", "--debug"])
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    from tui.cli.main import main

    with pytest.raises(SystemExit):
        main()
    said = capsys.readouterr()  # type: ignore[attr-defined]
    return str(said.out + said.err)


def test_a_breakpoint_opens_the_debugger(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = FAIR.replace("for job in", "breakpoint()\n        for job in")
    said = debugged(folder, text, "p view.free * 100\nq\n", monkeypatch, capsys)
    assert "(Pdb) 1000" in said
    assert "schedscope: error: interrupted" in said


@pytest.mark.parametrize("name", ["starts_twice", "raises"])
def test_where_it_breaks_down_the_debugger_opens(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (HERE / "broken" / f"{name}.py").read_text()
    said = debugged(folder, text, "p view.procs * 100\n", monkeypatch, capsys)
    assert "(Pdb) 1000" in said


def test_explain_tells_its_numbers_over_time(folder: Path) -> None:
    schedscope("new", "fair.py", "--like", "fcfs")
    page = schedscope("explain", "z-figure4", "5", "--policy", "./fair.py:narrow=1").stdout
    assert "\nThe policy's priority (hours): 0.2 at d0 00:00:40, 0.52 at d0 00:20:00.\n" in page
    found = json.loads(
        schedscope("explain", "z-figure4", "5", "--policy", "./fair.py:narrow=1", "--format", "json").stdout
    )
    assert found["numbers"]["priority"][0] == [40, 0.2]


def test_a_policy_of_a_file_is_explained_like_ours(folder: Path) -> None:
    schedscope("new", "fair.py", "--like", "fair-share")
    page = schedscope("policies", "./fair.py").stdout
    assert page.startswith("./fair.py\n\nEASY backfilling in the order of fair shares.\n")
    assert re.search(r"^  \./fair\.py:LeastUsed +halflife=7 +Jobs of the users with the fewest", page, re.M)
    assert "schedscope new fair.py creates it" in schedscope("policies").stdout


def test_trust_is_about_a_session() -> None:
    code, told = error("watch", "--trust")
    assert (code, "--trust is about the code that a --session names" in told) == (2, True)
