"""`schedscope results --against` and `plot --against`.

Also tests tui.lab.against.
"""

import json
from pathlib import Path

from tests.tui.cli.program import error, schedscope


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
