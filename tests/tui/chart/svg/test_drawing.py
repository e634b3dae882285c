"""`schedscope draw`: from a trace to a file."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from sim.errors import ParameterError, SchedscopeError
from sim.workload.source import Source
from tui.chart.svg import drawing
from tui.chart.svg.drawing import Options, draw, form_of


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    draw(Source("z-figure4"), "easy", "lowest", Options(), str(tmp_path / "chart.svg"))
    assert [path.name for path in tmp_path.iterdir()] == ["chart.svg"]
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().get("width") == "1440"


def test_a_switch_is_made_at_its_time(tmp_path: Path) -> None:
    draw(Source("z-figure4"), "fcfs", "lowest", Options(), str(tmp_path / "chart.svg"), [(50, "easy")])
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert ">easy</text>" in drawn
    assert "fcfs, then easy" in drawn


def test_a_switch_that_comes_when_all_is_over_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="all is over"):
        draw(Source("z-figure4"), "fcfs", "lowest", Options(), str(tmp_path / "chart.svg"), [(1e7, "easy")])


def test_of_colours_that_mean_something_the_legend_says_what(tmp_path: Path) -> None:
    draw(Source("lublin-128"), "easy", "lowest", Options(colour="width"), str(tmp_path / "chart.svg"))
    assert ">17–64</text>" in (tmp_path / "chart.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"begin": 10.0, "until": 10.0}, "--from must be before --to, got 10 and 10"),
        ({"theme": "drak"}, "no theme 'drak'; did you mean 'dark'"),
        ({"colour": "users"}, "no colour 'users'; did you mean 'user'"),
    ],
)
def test_wrong_options_are_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        Options(**wrong)  # type: ignore[arg-type]


def test_a_window_after_the_end_has_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="nothing to draw from d11 13:46:40 on: the run is over at d0 00:45:00"):
        draw(Source("z-figure4"), "easy", "lowest", Options(begin=1e6), str(tmp_path / "chart.svg"))
    assert not list(tmp_path.iterdir())


def test_a_kind_of_file_that_cannot_be_written_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"chart.pdf: a picture is written as .svg or .png"):
        form_of("chart.pdf")


def test_without_the_library_a_png_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "find_spec", lambda name: None)
    with pytest.raises(SchedscopeError, match=r"a PNG needs resvg_py: pip install 'schedscope\[png\]'"):
        form_of("chart.png")


def test_a_png_holds_pixels(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    draw(Source("z-figure4"), "easy", "lowest", Options(), str(tmp_path / "chart.png"))
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
