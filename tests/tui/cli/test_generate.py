from pathlib import Path

import pytest
from click.testing import CliRunner

from sim.support.formatting import percent
from sim.workload.models.generated import offered
from sim.workload.replay import read
from tui.cli.generate import command


@pytest.mark.parametrize("asked", [["--procs", "64"], ["--model", "sud", "--like", "z-figure4"]])
def test_a_file_is_written_and_simulated(tmp_path: Path, asked: list[str]) -> None:
    out = tmp_path / "made.swf"
    done = CliRunner().invoke(command, [*asked, "--jobs", "50", "--load", "0.5", "-o", str(out)])
    assert done.exit_code == 0
    assert len(read(out)) == 50
    again = CliRunner().invoke(command, [*asked, "--jobs", "50", "--load", "0.5", "-o", "-"])
    assert again.stdout == out.read_text()


@pytest.mark.parametrize(
    "asked",
    [[], ["--model", "hyper-erlang", "--procs", "8"], ["--procs", "8", "--load", "1e-300"], ["--procs", "8", "-o", ""]],
)
def test_what_cannot_be_made_is_wrong_usage(tmp_path: Path, asked: list[str]) -> None:
    assert CliRunner().invoke(command, ["-o", str(tmp_path / "x.swf"), *asked]).exit_code == 2


def test_nodes_are_written_as_json_that_can_be_read(tmp_path: Path) -> None:
    out = tmp_path / "made.json"
    made = CliRunner().invoke(command, ["--nodes", "4x8c,16g,1gpu", "--jobs", "20", "-o", str(out)])
    assert made.exit_code == 0, made.output
    shape = read(out).shape
    assert shape is not None
    assert shape.has.tolist() == [[8, 16384, 1]] * 4
    assert f"at a load of {percent(offered(read(out)) or 0, 1)}" in made.output
    both = CliRunner().invoke(command, ["--nodes", "4x8c", "--procs", "4", "-o", str(out)])
    assert (both.exit_code, "two machines" in both.output) == (2, True)
