import shlex
from pathlib import Path

import pytest

from sim.authoring.contract import HIDDEN, broken
from sim.policies import parse_policy
from sim.workload.replay import read
from tests.sim.authoring.test_contract import BROKEN, HERE
from tests.tui.cli.program import error, schedscope
from tui.authoring.cli.test import write_trace

pytestmark = pytest.mark.usefixtures("folder")


def test_a_good_one_is_shown_beside_three_that_everybody_knows(folder: Path) -> None:
    done = schedscope("test", str(HERE / "literature" / "fair_easy.py"), "--count", "5", "--seed", "3")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert "passed: on none of 13 workloads (seed 3)" in lines[0]
    assert any(line.startswith("a pass takes ") for line in lines)
    head = next(line for line in lines if "conservative" in line)
    assert head.split()[-3:] == ["fcfs", "easy", "conservative"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("name", ["starts_twice", "forgets", "reads_run_times"])
def test_a_broken_one_is_reported_in_one_line_with_the_command_that_opens_it(folder: Path, name: str) -> None:
    (folder / "fair.py").write_text((HERE / "broken" / f"{name}.py").read_text())
    done = schedscope("test", "fair.py", "--count", "30")
    told, command = done.stdout.splitlines()
    assert done.returncode == 1
    assert told.startswith(f"./fair.py: {BROKEN[name][0]}: ")
    words = shlex.split(command)
    assert words[:6] == ["schedscope", "watch", "fair-fails.swf", "--policy", "./fair.py", "--at"]
    finding = broken(parse_policy("./fair.py"), read("fair-fails.swf"))
    assert finding is not None
    assert (finding.rule, f"#{finding.step}") == (BROKEN[name][0], words[6])
    assert schedscope("test", "fair.py", "--count", "30").stdout == done.stdout


def test_policies_that_fail_are_named(folder: Path) -> None:
    (folder / "fair.py").write_text((HERE / "broken" / "hidden_state.py").read_text())
    assert f"{HIDDEN}: PASSES" in schedscope("test", "fair.py", "--count", "10").stdout
    assert error("test", "nobody.py")[0] == 1


def test_a_file_of_another_origin_is_not_overwritten(folder: Path) -> None:
    (folder / "fair.py").write_text((HERE / "broken" / "starts_twice.py").read_text())
    (folder / "fair-fails.swf").write_text("mine")
    assert error("test", "fair.py", "--count", "5")[1].startswith("fair-fails.swf is there and was not written by")
    assert (folder / "fair-fails.swf").read_text() == "mine"


def test_written_workload_keeps_priorities_and_kills(folder: Path) -> None:
    workload = read("lublin-128", jobs=40, high=0.4, estimates="factor:1")
    path = folder / "fails.swf"
    assert write_trace(workload, path, "it\x1b[2J") == " --priority-from queue"
    again = read(path, priority_from="queue")
    assert again.high.tolist() == workload.high.tolist()
    assert again.killed.tolist() == workload.killed.tolist()
    assert again.runtime.tolist() == workload.runtime.tolist()
    assert "\x1b" not in path.read_text()
