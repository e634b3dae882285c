import importlib.metadata
import sys
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sim import Engine, SchedscopeError, Timeline, compare, read, run
from sim.support.notebook import PICTURES, Table, picture_of
from sim.workload.model import Workload

SVG = "{http://www.w3.org/2000/svg}svg"


@pytest.fixture(scope="module")
def workload() -> Workload:
    return read("z-figure4")


def parsed(svg: str | None) -> ElementTree.Element:
    assert svg is not None
    return ElementTree.fromstring(svg)


def test_runs_are_drawn_with_what_they_were(workload: Workload) -> None:
    svg = run(workload, "easy")._repr_svg_()
    assert parsed(svg).tag == SVG
    assert "z-figure4 · easy" in (svg or "")
    engine = Engine(workload, "easy")
    engine.run()
    assert engine.schedule()._repr_svg_() is None
    assert compare(engine.schedule(), run(workload, "fcfs"))._repr_svg_() is None
    svg = compare(run(workload, "fcfs"), run(workload, "easy"))._repr_svg_()
    assert parsed(svg).tag == SVG
    assert all(f"z-figure4 · {name}" in (svg or "") for name in ("fcfs", "easy"))
    timeline = Timeline(workload, "easy")
    assert timeline._repr_svg_() is None
    timeline.seek_time(600)
    assert parsed(timeline._repr_svg_()).tag == SVG
    schedule = run(workload, "easy")
    ids = [{each.get("id") for each in parsed(schedule._repr_svg_()).iter()} - {None} for _ in range(2)]
    assert ids[0]
    assert not ids[0] & ids[1]


def test_switches_are_made_again_for_the_picture(workload: Workload) -> None:
    schedule = run(workload, "fcfs", switches=[(600, "easy")])
    assert schedule.again is not None
    engine = schedule.again()
    engine.run()
    assert np.array_equal(engine.schedule().start, schedule.start)


def test_without_the_program_or_with_too_many_jobs_there_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    assert picture_of(lambda: pytest.fail("no run is made again"), 10**9) is None
    monkeypatch.setattr("importlib.metadata.distribution", missing)
    assert picture_of(lambda: pytest.fail("no run is made again"), 1) is None


def test_the_program_draws() -> None:
    points = importlib.metadata.distribution("schedscope").entry_points.select(group=PICTURES)
    assert [point.value for point in points] == ["tui.chart.svg.notebook:drawn"]


def test_tables_have_words_and_nulls(workload: Workload) -> None:
    assert repr(Table("users", {"name": np.array(["ann"], dtype=object)})) == "<Table 1 users: name>"
    pandas = pytest.importorskip("pandas", minversion="3")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame.from_arrow(run(workload, "easy"))
    assert frame["job"].tolist() == list(workload.ids)
    assert frame["promised"].isna().sum() == np.isnan(run(workload, "easy").promised).sum()
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table(run(workload, "fcfs"))
    assert table["promised"].null_count == len(workload)
    assert table["job"].to_pylist() == list(workload.ids)


def test_polars_reads_tables(workload: Workload) -> None:
    polars = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    easy = run(workload, "easy")
    frame = polars.DataFrame(easy)
    assert frame["job"].to_list() == list(workload.ids)
    assert frame["end"].to_list() == easy.end.tolist()
    metrics = polars.DataFrame(compare(run(workload, "fcfs"), easy))
    assert metrics.filter(polars.col("metric") == "mean_wait")["second"].to_list() == [702.0]
    timeline = Timeline(workload, "easy")
    timeline.seek(1000)
    assert "J4 starts on" in polars.DataFrame(timeline.decisions)["sentence"][-1]


def test_without_pyarrow_a_line_says_how_to_get_it(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SchedscopeError, match="an Arrow table needs pyarrow"):
        run(workload, "easy").__arrow_c_stream__()
