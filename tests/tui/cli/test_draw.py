import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from sim.support.errors import ParameterError
from sim.workload.source import Source
from tests.tui.cli.program import error, schedscope
from tui.chart.svg.drawing import Options
from tui.cli.draw import draw


def test_charts_are_written_with_their_switches(tmp_path: Path) -> None:
    draw(Source("z-figure4"), "easy", "lowest", Options(), str(tmp_path / "chart.svg"))
    assert [path.name for path in tmp_path.iterdir()] == ["chart.svg"]
    assert ElementTree.parse(tmp_path / "chart.svg").getroot().get("width") == "1440"
    draw(Source("z-figure4"), "fcfs", "lowest", Options(), str(tmp_path / "chart.svg"), [(50, "easy")])
    drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert ">easy</text>" in drawn
    assert "fcfs, then easy" in drawn


def test_dates_are_written_where_the_trace_knows_its_start(tmp_path: Path) -> None:
    trace = (Path(__file__).parents[3] / "sample_traces" / "z-figure4.swf").read_text(encoding="utf-8")
    (tmp_path / "dated.swf").write_text(f"; UnixStartTime: 839855347\n; TimeZoneString: US/Pacific\n{trace}", "utf-8")
    for has_dates in (True, False):
        draw(
            Source(str(tmp_path / "dated.swf")), "easy", "lowest", Options(dates=has_dates), str(tmp_path / "chart.svg")
        )
        drawn = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        assert ("Mon 12 Aug 06:09:07 to Mon 12 Aug 06:54:07 1996" in drawn) is has_dates
        assert ("submitted Mon 12 Aug" in drawn) is has_dates
    draw(Source("z-figure4"), "easy", "lowest", Options(dates=True), str(tmp_path / "chart.svg"))
    assert "d0 00:00:00 to d0 00:45:00" in (tmp_path / "chart.svg").read_text(encoding="utf-8")


def test_impossible_drawings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="the run ends"):
        draw(Source("z-figure4"), "fcfs", "lowest", Options(), str(tmp_path / "chart.svg"), [(1e7, "easy")])
    with pytest.raises(ParameterError, match="nothing to draw from d11 13:46:40 on: the run is over at d0 00:45:00"):
        draw(Source("z-figure4"), "easy", "lowest", Options(begin=1e6), str(tmp_path / "chart.svg"))
    assert not list(tmp_path.iterdir())
    code, line = error("draw", "z-figure4", "--width", "20000", "--height", "20000", "-o", "a.png")
    assert (code, "more than the 50,000,000 of a PNG; write a .svg" in line) == (2, True)


def test_a_png_holds_pixels(tmp_path: Path) -> None:
    pytest.importorskip("resvg_py")
    draw(Source("z-figure4"), "easy", "lowest", Options(), str(tmp_path / "chart.png"))
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")


def test_a_chart_is_drawn(tmp_path: Path) -> None:
    done = schedscope("draw", "z-figure4", "--policy", "easy", "--to", "20m", "-o", tmp_path / "chart.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "chart.svg").read_text(encoding="utf-8").startswith("<svg")


def test_partitions_are_lanes_unless_processors_are_ordered_by_number(tmp_path: Path) -> None:
    drawn = []
    for options in ((), ("--by-number",)):
        done = schedscope("draw", "ls-figure1", "--policy", "multiqueue", *options, "-o", tmp_path / "chart.svg")
        assert (done.returncode, done.stderr) == (0, "")
        drawn.append((tmp_path / "chart.svg").read_text(encoding="utf-8"))
    assert ["processors by partition upwards" in svg for svg in drawn] == [True, False]


def test_pairs_share_a_clock(tmp_path: Path) -> None:
    done = schedscope("draw", "z-figure4", "--beside", "fcfs", "--slide", "-o", tmp_path / "pair.svg")
    assert (done.returncode, done.stderr) == (0, "")
    text = (tmp_path / "pair.svg").read_text(encoding="utf-8")
    picture = ElementTree.fromstring(text)
    assert (picture.get("width"), picture.get("height")) == ("1920", "1080")
    assert "z-figure4 · easy" in text
    assert "z-figure4 · fcfs" in text
    ids = [element.get("id") for element in picture.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert set(re.findall(r"url\(#([\w-]+)\)", text)) <= set(ids)
    at = tmp_path / "pair.svg"
    draw(Source("z-figure4"), "easy", "lowest", Options(), str(at), beside="easy with factor:9")
    assert {"z-figure4 · easy · 10", "z-figure4 · easy with factor:9 · 10"} == set(
        re.findall(r"(z-figure4 · [^<]* · 10) processors", at.read_text(encoding="utf-8"))
    )
    with pytest.raises(ParameterError, match="no estimates 'foo'"):
        draw(Source("z-figure4"), "easy", "lowest", Options(), str(at), beside="easy with foo")


def test_the_matrix_is_of_gang_scheduling(tmp_path: Path) -> None:
    at = tmp_path / "x.svg"
    done = schedscope("draw", "z-figure4", "--policy", "gang", "--to", "10m", "--matrix", "-o", at)
    assert (done.returncode, done.stderr) == (0, "")
    assert "rows of the matrix take turns" in at.read_text(encoding="utf-8")
    code, line = error("draw", "z-figure4", "--matrix", "-o", at)
    assert (code, "gang scheduling has one" in line) == (1, True)


@pytest.mark.parametrize(("until", "marked"), [(("--to", "40m"), 2), ((), 0)])
def test_a_pair_has_one_now_though_one_of_them_is_over(tmp_path: Path, until: tuple[str, ...], marked: int) -> None:
    pair = ("--policy", "relaxed:omega=1.25", "--beside", "easy")
    done = schedscope("draw", "w-figure1", *pair, *until, "-o", tmp_path / "pair.svg")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "pair.svg").read_text(encoding="utf-8").count(">now</text>") == marked
