"""Also tests tui.chart.cells.grid, tui.chart.cells.overlays."""

from dataclasses import replace

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.model import Header
from tests.sim.conftest import Lab
from tests.tui.chart.charts import chart_of, inks_of, picture
from tests.tui.scenes import engine_of
from tui.chart.cells.cells import Brush, Cells
from tui.chart.cells.edges import margin
from tui.chart.cells.grid import BLANK, Size
from tui.chart.cells.paint import paint
from tui.chart.raster import Raster
from tui.look.calendar import Calendar
from tui.look.palette import CONTRAST, DARK, LIGHT, TONES, Hue, Look, Tone, ink

ASCII = DARK.with_mode("ascii")
SIZE = Size(46, 6)


@pytest.fixture
def engine(lab: Lab) -> Engine:
    return lab.run("easy", 4, "1 0 3 200 300", "2 0 2 100 100", "3 10 1 40 40", until=100)


@pytest.fixture
def stopped(lab: Lab) -> Engine:
    return lab.run("selective:sf=1.2", 4, "1 0 4 1000 1000", "2 10 2 100 100", "3 1100 1 10 10")


def cells_of(
    engine: Engine, look: Look = DARK, selected: int | None = None, per_column: float = 10, by_rows: bool | None = None
) -> Cells:
    return paint(chart_of(engine, SIZE, look, per_column=per_column, by_rows=by_rows), look, SIZE, selected)


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip("\n").splitlines()]


def test_past_now_and_plan_in_ascii(engine: Engine) -> None:
    assert picture(engine, ASCII, SIZE).splitlines() == lines("""
 3|.CJ3C|.....................................
  |AAAAA|------------------------.............
  |AJ1AA|------------------------+--------+...
 0|AAAAA|------------------------+J2------+...
  ++----^now---+ ^ procs --+-- h:min > +------
   d0 00:00  00:02       00:04       00:06
""")


def test_a_suspended_job_leaves_a_trail_where_nobody_else_runs(stopped: Engine) -> None:
    assert picture(stopped, ASCII, SIZE, per_column=40).splitlines()[:4] == lines("""
 3|AA//AAAAAAAAAAAAAAAAAAAAAAA|...............
  |AA//AAAAAAAAAAAAAAAAAAAAAAA|...............
  |A=BBAJ1AAAAAAAAAAAAAAAAAAAA|...............
 0|J1J2AAAAAAAAAAAAAAAAAAAAAAA|...............
""")
    assert picture(stopped, DARK, SIZE, per_column=40).count("╱") == 4


@pytest.fixture
def turns(lab: Lab) -> Engine:
    return lab.run("gang:slice=50", 4, "1 0 4 1000 1000", "2 0 2 100 100", "3 1100 1 10 10", until=300)


def test_turns_are_drawn_one_by_one_only_when_zoomed_in(turns: Engine) -> None:
    near, afar = picture(turns, ASCII, SIZE), picture(turns, ASCII, SIZE, per_column=60)
    assert near.splitlines()[3].startswith(" 0|AAAAABJ2BBAAAAABBBBB|---")
    assert [row[:10] for row in afar.splitlines()[:4]] == [">1|AAA|-J1", "  |...|...", "  |BBB:.J2", "  |...:..."]


def test_a_selected_job_out_of_sight_is_pointed_at(engine: Engine) -> None:
    """J1 runs from 0 until 300 by its estimate; J2 waits and is planned for 300."""
    before = paint(chart_of(engine, SIZE, first=50), DARK, SIZE, selected=0).text.splitlines()
    assert "▕◂ J1 d0 00:00 ▔" in before[0]
    chart = chart_of(engine, SIZE, per_column=1, first=50)
    after = paint(chart, ASCII, SIZE, selected=1, planned=300).text.splitlines()
    assert after[0].endswith(" J2 d0 00:05 >")
    assert ">" not in paint(chart, ASCII, SIZE, selected=1).text.splitlines()[0]


def test_on_a_wall_no_job_is_dim_and_the_selected_one_is_outlined(engine: Engine) -> None:
    chart, wall = chart_of(engine, SIZE), DARK.projected
    plain, chosen = paint(chart, wall, SIZE), paint(chart, wall, SIZE, selected=0)
    assert Tone.DIMMED not in chosen.bg % TONES
    others = chart.raster.rank[0, 1:3] == 2
    assert np.array_equal(plain.bg[0, 5:7][others], chosen.bg[0, 5:7][others])
    assert {chr(chosen.chars[row, 5]) for row in (1, 3)} == {"─"}


def test_a_selected_job_that_is_not_in_the_picture_dims_nobody(engine: Engine) -> None:
    chart = chart_of(engine, SIZE)
    unseen = replace(
        chart, raster=Raster(np.where(chart.raster.rank == 1, chart.raster.pixels[:, -1:], chart.raster.pixels))
    )
    cells, plain = paint(unseen, DARK, SIZE, selected=1), paint(unseen, DARK, SIZE)
    assert np.array_equal(cells.bg[:4], plain.bg[:4])


def test_blocks_share_columns_and_rows(lab: Lab) -> None:
    engine = lab.run("fcfs", 2, "1 0 2 4 4", "2 0 2 3 3", "3 0 2 3 3", "4 50 1 10 10")
    cells = cells_of(engine)
    assert cells.bg[3, 3] == ink(Hue.MANY, Tone.FULL)
    by_width = paint(chart_of(engine, SIZE, mode="width"), DARK, SIZE)
    assert by_width.bg[3, 3] == ink(Hue.RAMP + 1, Tone.FULL)
    # J1 runs from 5 until 32, on the lower half of the machine; a column is 10 seconds.
    cells = cells_of(lab.run("fcfs", 4, "1 5 2 27 27", "2 90 4 10 10"))
    assert cells.text.splitlines()[3].startswith(" 0▕▌J1▎")
    assert cells.bg[3, 3] == cells.bg[3, 4] == cells.fg[3, 6]
    assert cells.fg[3, 3] == cells.bg[3, 6] == BLANK


@pytest.mark.parametrize("rows", [14, 18, 24, 29, 36])
@pytest.mark.parametrize("per_column", [45, 50, 64, 120])
@pytest.mark.parametrize("trace", ["z-figure4", "w-figure1", "k-figure2.1-2.2"])
def test_blocks_are_rectangles(trace: str, per_column: float, rows: int) -> None:
    engine, size = engine_of(trace, "easy", steps=99), Size(100, rows)
    cells = paint(chart_of(engine, size, per_column=per_column), DARK, size)
    inks = inks_of(cells.part(slice(rows - 2), slice(3, None)))
    for hue in range(5):
        held = np.isin(inks, [ink(hue, tone) for tone in (Tone.FULL, Tone.STRONG)])
        down, across = held.any(axis=1), held.any(axis=0)
        assert np.array_equal(held, np.outer(down, across))
        assert held.any()


def test_equal_turns_are_equally_wide(lab: Lab) -> None:
    engine = lab.run("gang:slice=200", 4, "1 0 4 2000 2000", "2 0 4 2000 2000")
    cells = paint(chart_of(engine, SIZE, per_column=120), DARK, SIZE)
    row = inks_of(cells.part(slice(1), slice(3, None)))[0] // TONES
    changes = np.flatnonzero(np.diff(row[row < 2]))
    assert set(np.diff(changes).tolist()) <= {13, 14}  # eighths: 200 of 120 seconds are 13.3


def test_the_frame_of_a_selected_job_is_not_drawn_where_it_does_not_run() -> None:
    engine, size = engine_of("z-figure4", "easy", steps=2), Size(60, 29)
    for per_column in range(20, 120):
        cells = paint(chart_of(engine, size, per_column=per_column), DARK, size, 0)
        free = cells.part(slice(15, 27), slice(int(600 / per_column) + 3, None))
        assert set(free.text) <= set("\n ░")


def test_without_half_blocks_a_column_is_a_jobs_if_it_has_half_of_it(lab: Lab) -> None:
    text = picture(lab.run("fcfs", 4, "1 5 2 27 27", "2 90 4 10 10"), ASCII, SIZE)
    assert text.splitlines()[3].startswith(" 0|AJ1.")


def test_odd_charts_are_painted(engine: Engine, lab: Lab) -> None:
    chart = replace(chart_of(engine, SIZE), raster=Raster.blank(4, 43))
    assert "·····" in paint(chart, DARK, SIZE).text.splitlines()[1]
    assert "now" in cells_of(Engine(lab.workload(4), parse_policy("easy"))).text
    chart = chart_of(engine, SIZE, DARK)
    for look, size in ((ASCII, SIZE), (DARK, Size(30, 9)), (DARK, Size(90, 4))):
        assert "J1" in paint(chart, look, size).text


@pytest.mark.parametrize("mode", ["mono", "ascii"])
def test_without_colour_no_style_has_one(engine: Engine, mode: str) -> None:
    look = DARK.with_mode(mode)  # type: ignore[arg-type]
    cells = cells_of(engine, look, selected=0)
    strips = [Brush(look).draw(cells, *span) for span in cells.changed(None)]
    styles = [segment.style for strip in strips for segment in strip if segment.style]
    assert all(style.color is None and style.bgcolor is None for style in styles)
    assert any(style.reverse for style in styles)
    if mode == "ascii":
        assert cells.text.isascii()


def test_in_sixteen_colours_two_jobs_differ_by_pattern_and_by_colour(engine: Engine) -> None:
    look = DARK.with_depth(4)
    cells = cells_of(engine, look)
    drawn = [column.ravel().tolist() for column in (cells.chars, cells.fg, cells.bg)]
    seen = {(char, look.cell(fg, bg).color) for char, fg, bg in zip(*drawn, strict=True) if chr(char) in "█▓▚▀▌▞▄▐▙▜▛▟"}
    assert len({char for char, _ in seen}) == len({colour for _, colour in seen}) >= 2


@pytest.mark.parametrize("look", [DARK, LIGHT, CONTRAST])
def test_in_colour_every_cell_has_its_background(engine: Engine, look: Look) -> None:
    cells = cells_of(engine, look)
    strips = [Brush(look).draw(cells, *span) for span in cells.changed(None)]
    assert all(segment.style and segment.style.bgcolor for strip in strips for segment in strip)
    assert {sum(segment.cell_length for segment in strip) for strip in strips} == {SIZE.columns}


@pytest.mark.parametrize("size", [Size(1, 1), Size(4, 3), Size(80, 24), Size(200, 60)])
@pytest.mark.parametrize("look", [DARK, ASCII])
def test_any_screen_can_be_painted(engine: Engine, size: Size, look: Look) -> None:
    cells = paint(chart_of(engine, size, look), look, size)
    assert cells.chars.shape == (size.rows, size.columns)


def test_grids_are_drawn_where_they_changed(engine: Engine) -> None:
    before, after = cells_of(engine), cells_of(engine)
    assert after.changed(before) == []
    after.write(2, 5, "!", ink(0))
    after.write(2, 9, "!", ink(0))
    assert after.changed(before) == [(2, 5, 10)]
    assert after.changed(None) == [(row, 0, SIZE.columns) for row in range(SIZE.rows)]
    cells = Cells.blank(2, 4)
    cells.write(0, -2, "abcd", ink(0))
    cells.write(1, 2, "abcd", ink(0))
    cells.write(5, 0, "abcd", ink(0))
    assert cells.text == "cd\n  ab"
    assert np.count_nonzero(cells.fg == ink(0)) == 4


def test_right_of_now_there_is_no_colour_of_who_has_just_ended(lab: Lab) -> None:
    chart = chart_of(over := lab.run("easy", 4, "1 0 4 205 205"), SIZE, per_column=10)
    at = margin(4) + chart.view.column_of(205)
    assert chart.clock == 205
    assert cells_of(over).bg[: SIZE.rows - 2, at].tolist() == [BLANK] * (SIZE.rows - 2)
    still = lab.run("easy", 4, "1 0 4 205 205", "2 5 1 1 1", until=5)
    at = margin(4) + chart_of(still, SIZE, per_column=10).view.column_of(5)
    assert BLANK not in cells_of(still).bg[: SIZE.rows - 2, at]


@pytest.mark.parametrize(("look", "edge"), [(DARK, "▁"), (ASCII, "_")])
def test_nothing_is_above_the_top_edge_of_the_machine(lab: Lab, look: Look, edge: str) -> None:
    """The chart has more rows than the machine needs: free processors and the area for backfilling end at the edge."""
    engine = lab.run("easy", 3, "1 0 2 50 50", "2 5 3 50 50", until=10)
    size = Size(40, 9)
    cells = paint(chart_of(engine, size), look, size)
    lines = cells.text.splitlines()
    row = next(number for number, line in enumerate(lines) if edge in line)
    assert lines[row].strip() == edge * (size.columns - 3)
    assert not "".join(lines[:row]).strip()
    assert (cells.bg[: row + 1] == BLANK).all()
    assert any(line.startswith(" 2") for line in lines[row + 1 : row + 3])


def test_nights_and_weekends_are_tinted_where_the_trace_has_dates(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 1 400000 400000", until=300000)
    dated = DARK.with_calendar(Calendar.of(Header(unix_start=1795132800, time_zone="UTC")))  # Friday 20 Nov 2026, 0:00
    size = Size(70, 12)
    tinted = {
        look.calendar is not None: paint(chart_of(engine, size, look, per_column=7200), look, size)
        for look in (DARK, dated)
    }
    left, row, rest = 3, 1, ink(Hue.GREY, Tone.GROUND)
    friday_noon, night, saturday_noon = (left + hour // 2 for hour in (12, 22, 36))
    assert [int(tinted[True].bg[row, column]) == rest for column in (friday_noon, night, saturday_noon)] == [
        False, True, True,
    ]  # fmt: skip
    assert not (tinted[False].bg == rest).any()
