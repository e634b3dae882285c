"""Also tests sim.support.optional_imports."""

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sim.lab.measured import Measured
from tests.sim.lab.test_pivot import file, outcome, plan
from tests.tui.cli.program import error, schedscope

needs_plotext = pytest.mark.skipif(find_spec("plotext") is None, reason="needs .[plot]")
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs .[plot]")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "Missing option '-x'"),
        (["-x", "laod"], 2, "no factor 'laod'; did you mean 'load'"),
        (["-x", "load", "-y", "wait"], 2, "no metric 'wait'"),
        (["-x", "load", "-o", "f.gif"], 2, "a figure is written as .svg, .pdf or .png"),
        (["-x", "load", "-y", "mean_slowdown"], 1, "nothing to plot"),
    ],
)
def test_wrong_words_get_one_line_that_helps(path: Path, words: list[str], code: int, said: str) -> None:
    got, line = error("plot", path, *words)
    assert got == code
    assert said in line


def test_without_the_extra_one_line_says_how_to_get_it(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "plotext", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    asked = ("plot", path, "-x", "load", "-y", "mean_wait")
    assert error(*asked) == (1, "a plot needs plotext: pip install 'schedscope[plot]'")
    assert error(*asked, "-o", path.parent / "f.svg") == (
        1,
        "a figure needs matplotlib: pip install 'schedscope[plot]'",
    )
    assert not (path.parent / "f.svg").exists()


@needs_plotext
def test_what_is_0_has_no_order_of_magnitude(tmp_path: Path) -> None:
    file(tmp_path / "r", made=lambda run: outcome(run)._replace(measured=Measured({"mean_wait": 0.0}))).__exit__()
    assert (
        "nothing can be drawn that is 0" in error("plot", tmp_path / "r", "-x", "load", "-y", "mean_wait", "--log")[1]
    )
    assert schedscope("plot", tmp_path / "r", "-x", "load", "-y", "mean_wait").returncode == 0


@needs_plotext
def test_a_plot_in_the_terminal_has_axes_with_units_and_a_legend(path: Path) -> None:
    shown = schedscope("plot", path, "-x", "load", "-y", "mean_wait", "--by", "policy").stdout
    assert max(map(len, shown.splitlines())) <= 80
    for said in ("z-figure4", "load factor", "mean wait (s)", "easy", "relaxed:omega=0", "bars: 95 % confidence"):
        assert said in shown
    assert "\x1b" not in shown


@needs_plotext
@needs_matplotlib
def test_names_from_a_file_are_no_orders_to_a_terminal_and_no_formulas(tmp_path: Path) -> None:
    trace = "_z\x1b[31m$\\frac$"
    file(tmp_path / "r", plan(), lambda run: outcome(run._replace(trace=trace))).__exit__()
    shown = schedscope("plot", tmp_path / "r", "-x", "load", "-y", "mean_wait", "--by", "trace").stdout
    assert {c for c in shown if not c.isprintable() and c != "\n"} == set()
    for by in ("trace", "policy"):
        asked = ("plot", tmp_path / "r", "-x", "load", "-y", "mean_wait", "--by", by, "-o", tmp_path / "f.svg")
        assert schedscope(*asked).returncode == 0
        assert "$\\frac$" in (tmp_path / "f.svg").read_text()


@needs_matplotlib
def test_a_figure_has_axes_a_legend_and_bands_and_is_the_same_twice(path: Path) -> None:
    asked = ("plot", path, "-x", "load", "-y", "mean_wait", "--by", "policy", "-o")
    for name in ("a.svg", "b.svg", "c.pdf", "d.png"):
        assert schedscope(*asked, path.parent / name).returncode == 0
    svg = (path.parent / "a.svg").read_text()
    assert svg == (path.parent / "b.svg").read_text()
    for said in ("z-figure4", "load factor", "mean wait (s)", "easy", "relaxed:omega=1"):
        assert f">{said}<" in svg
    assert len(re.findall('id="(?:FillBetween)?PolyCollection', svg)) == 3
    assert (path.parent / "c.pdf").read_bytes().startswith(b"%PDF")
    assert (path.parent / "d.png").read_bytes().startswith(b"\x89PNG")
