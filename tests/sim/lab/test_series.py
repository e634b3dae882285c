from pathlib import Path

import pytest

from sim.lab.intervals import mean
from sim.lab.pivot import PivotQuery, RunFilter
from sim.lab.series import MOST_LINES, Point, axis_title, log_names, panels
from sim.support.errors import ParameterError
from sim.workload.samples import sample_path
from tests.sim.lab.test_pivot import NOISE, file, outcome, plan


def test_a_line_has_the_means_in_the_order_of_the_axis(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        (panel,) = panels(results, PivotQuery("load", "policy", "mean_wait"))
    assert panel.title == "z-figure4"
    assert list(panel.lines) == ["easy", "relaxed:omega=0", "relaxed:omega=1"]
    assert panel.lines["easy"] == [Point(x, mean([10 * x + n for n in NOISE]), False) for x in (1.0, 2.0)]
    assert panel.ticks == ()


def test_what_is_no_number_stands_side_by_side(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results:
        (panel,) = panels(results, PivotQuery("policy", "", "mean_wait", where=(RunFilter.of("load=1"),)))
    assert panel.ticks == ("easy", "relaxed:omega=0", "relaxed:omega=1")
    assert [point.x for point in panel.lines[""]] == [0, 1, 2]


def test_every_trace_and_every_group_has_a_panel(tmp_path: Path) -> None:
    two = plan()
    with file(tmp_path / "r", two) as results:
        (short, long) = panels(results, PivotQuery("load", "policy", "mean_wait", by="class"))
    assert (short.title, long.title) == ("z-figure4, short", "z-figure4, long")
    renamed = two.with_traces(lambda _: "w-figure1")
    with file(tmp_path / "both", two) as _, file(tmp_path / "both", renamed) as results:
        assert [p.title for p in panels(results, PivotQuery("load", "", "mean_wait"))] == ["w-figure1", "z-figure4"]
        (one,) = panels(results, PivotQuery("load", "trace", "mean_wait"))
        assert list(one.lines) == ["w-figure1", "z-figure4"]


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
        (folder / "log.swf").write_bytes(b"; Note: %s\n" % folder.name.encode() + sample_path("z-figure4").read_bytes())
        with file(tmp_path / "r", plan().with_traces(lambda _, at=folder: str(at / "log.swf"))) as results:
            named = {*log_names(results).values()}
    assert named == {f"…{str(folder / 'log.swf')[-39:]}" for folder in folders}
    assert all(name.endswith(("one/log.swf", "two/log.swf")) for name in named)


def test_nothing_and_too_much_are_refused(tmp_path: Path) -> None:
    with file(tmp_path / "r") as results, pytest.raises(ParameterError, match="nothing to plot"):
        panels(results, PivotQuery("load", "policy", "mean_slowdown"))
    many = plan(stretch=[f"{{1..{MOST_LINES + 1}}}"])
    with (
        file(tmp_path / "many", many, outcome) as results,
        pytest.raises(ParameterError, match="too many to tell apart"),
    ):
        panels(results, PivotQuery("load", "stretch", "mean_wait"))


def test_axes_have_units() -> None:
    assert [axis_title(name) for name in ("procs", "high")] == [
        "number of processors",
        "fraction of high priority jobs",
    ]
