"""The whole picture, read back as XML: the positions of its parts, and its texts.

Also tests tui.chart.svg.frame, tui.chart.svg.legend.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import pytest

from sim.engine.engine import Engine
from sim.history.stretch import Stretch
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.workload.model import Workload
from sim.workload.source import Source
from tui.chart.scene import Drawing
from tui.chart.svg.drawing import Options, drawing_of
from tui.chart.svg.frame import Frame
from tui.chart.svg.picture import blocks_of, draw_svg
from tui.chart.svg.pixels import split
from tui.look.palette import DARK, LIGHT

WHOLE = Options()
SVG = "{http://www.w3.org/2000/svg}"


def chart(trace: str, spec: str, options: Options = WHOLE) -> Drawing:
    _, workload = Source(trace).read()
    return run(workload, spec, options)


def run(workload: Workload, spec: str, options: Options = WHOLE) -> Drawing:
    engine = Engine(workload, parse_policy(spec))
    if options.until is None:
        engine.run()
    else:
        engine.run(options.until)
    return drawing_of(engine, spec, options)


def picture(chart: Drawing, width: int = 800, height: int = 500) -> Element:
    return ElementTree.fromstring(draw_svg(chart, DARK, width, height))


def words(root: Element) -> Counter[str]:
    return Counter(text.text or "" for text in root.iter(f"{SVG}text"))


def fills(root: Element) -> set[str]:
    return {shape.get("fill", "") for shape in root.iter()}


def test_pictures_name_jobs_and_run_nothing() -> None:
    said = words(picture(chart("z-figure4", "easy")))
    assert [said[f"J{number}"] for number in range(1, 6)] == [1, 1, 1, 1, 1]
    root = picture(chart("z-figure4", "easy"))
    told = {child.get("id"): child.text or "" for child in root}
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "title description"
    assert told["title"] == "z-figure4 · easy · 10 processors"
    assert "5 jobs on processors" in told["description"]
    written = draw_svg(chart("k-figure3.1", "selective:sf=1.2"), LIGHT, 800, 500)
    assert "<script" not in written
    assert "href" not in written
    assert written.count("http") == 1  # the name of the language


def test_right_of_now_stands_the_plan() -> None:
    root = picture(chart("z-figure4", "easy", Options(until=1000)))
    assert words(root)["now"] == 1
    assert words(root)["until its estimate"] == words(root)["planned"] == 1
    assert "url(#plan)" in fills(root)


def test_rows_before_a_switch_are_drawn_apart() -> None:
    _, workload = Source("z-figure7").read()
    engine = Engine(workload, parse_policy("gang"))
    engine.run(900)
    engine.switch(parse_policy("easy"))
    engine.run(2000)
    ran = drawing_of(engine, "gang", Options(until=2000)).ran
    shared = [stretch for stretch in ran if stretch.end is not None and stretch.end <= 900]
    assert len({stretch.rank for stretch in shared}) > 1
    assert not any(
        a.processors & b.processors and a.start < (b.end or 0) and b.start < (a.end or 0)
        for a, b in combinations(shared, 2)
    )


def test_of_a_long_run_only_what_can_be_distinguished_is_in_the_file() -> None:
    drawn = chart("lublin-320", "easy")
    assert len(draw_svg(drawn, DARK, 800, 500)) < 3_000_000
    pixels = next(group for group in picture(drawn).iter(f"{SVG}g") if "scale" in group.get("transform", ""))
    assert len({path.get("fill-opacity") for path in pixels}) == 5


def test_odd_charts_are_drawn_or_refused() -> None:
    _, workload = Source("z-figure4").read()
    assert "z-figure4" in draw_svg(run(workload.take(slice(0, 0)), "easy"), DARK, 800, 500)
    with pytest.raises(ParameterError, match="at least 320 x 280 pixels, got 100 x 500"):
        draw_svg(chart("z-figure4", "easy"), DARK, 100, 500)


# Parts of it
def test_stretches_are_cut_at_the_window() -> None:
    frame = Frame(left=0, top=0, width=20, height=40, begin=10, end=30, procs=4)
    (stretch,), _ = split([Stretch(7, 0, None, "run", 0b1011)], frame, 30)
    assert (stretch.start, stretch.end) == (10, 30)
    (block,) = blocks_of([stretch], frame)
    assert block.rects == ((0, 20, 20, 20), (0, 0, 20, 10))
    frame = Frame(left=10, top=0, width=100, height=80, begin=0, end=100, procs=8)
    rect = frame.rect(-50, 200, 0, 8)
    assert tuple(rect) == (10, 0, 100, 80)


def test_nodes_have_names_and_lines_between_them() -> None:
    root = picture(chart("full-memory", "easy"))
    told = words(root)
    assert {"n1", "n2", "g1"} <= told.keys()
    assert "8" not in told
    assert any("nodes upwards" in word for word in told)
    across = [path for path in root.iter(f"{SVG}path") if re.fullmatch(r"M52 [\d.]+H\d+", path.get("d", ""))]
    assert len(across) == 2


def test_free_cores_that_no_waiting_job_can_use_are_dotted_and_named() -> None:
    """No waiting job has room on n1 (cores 0 to 3) from 60 s on, when J3 comes."""
    drawing = chart("full-memory", "easy")
    begin, end, cores = drawing.useless_spans[0]
    assert begin == pytest.approx(60, abs=5)
    assert begin < end <= drawing.clock
    assert cores & 0b1111 == 0b1111
    svg = draw_svg(drawing, DARK, 1440, 810)
    assert svg.count('fill="url(#useless)"') == len(drawing.useless_spans) + 1  # one is in the legend
    assert "free, of no use" in svg
    assert "of no use" not in draw_svg(chart("z-figure4", "easy"), DARK, 1440, 810)
