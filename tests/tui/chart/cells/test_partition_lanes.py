import pytest

from tests.tui.chart.charts import chart_of
from tests.tui.scenes import engine_of
from tui.chart.cells.edges import margin_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.chart.cells.partition_lanes import bars
from tui.chart.colours import partition_hue
from tui.look.palette import DARK, Look, Tone, ink

ENGINE = engine_of("ls-figure1", "multiqueue", until=8000)
LEFT = margin_of(30, ["medium"])


def rows_of(size: Size, look: Look = DARK, per_column: float = 480) -> list[str]:
    return paint(chart_of(ENGINE, size, look, per_column=per_column), look, size).text.splitlines()


@pytest.mark.parametrize("size", [Size(60, 14), Size(76, 16), Size(90, 30), Size(140, 50)])
def test_lanes_are_named_with_what_they_have(size: Size) -> None:
    told = rows_of(size)
    order = [next(at for at, row in enumerate(told) if name in row) for name in ("long", "medium", "short")]
    assert order == sorted(order)
    assert any("22 = 10 own + 12 borrowed" in row or "22, 12 borrowed" in row for row in told)
    assert any("4 of its 10, 6 lent" in row or ": 4, 6 lent" in row for row in told)


def test_lines_part_the_lanes_and_step_with_the_boundary() -> None:
    size = Size(90, 40)
    chart = chart_of(ENGINE, size, per_column=480)
    drawn = paint(chart, DARK, size)
    before, now = (LEFT + chart.view.column_of(time) for time in (100, 9000))
    lines = [
        [row for row in range(38) if chr(drawn.chars[row, column]) in "█▀▄" and bars(drawn)[row, column]]
        for column in (before, now)
    ]
    tops = [[row for row in rows if row - 1 not in rows] for rows in lines]
    assert [len(rows) for rows in tops] == [2, 3]  # names are written upon the others
    assert tops[1][1] > tops[0][0]  # long has more than before


def test_lanes_are_readable_without_colours() -> None:
    rows = rows_of(Size(76, 16), DARK.with_mode("ascii"))
    assert all(row.isascii() for row in rows)
    assert sum("=====" in row for row in rows) >= 2
    assert any(" long >= 2h47: 22 = 10 own + 12 borrowed" in row for row in rows)
    assert any("---:---:" in row for row in rows)  # J6 runs on borrowed processors
    assert any(".:.:.:" in row for row in rows)
    assert any("━━━━━" in row for row in rows_of(Size(76, 16), DARK.with_mode("mono")))


def test_borrowed_processors_have_the_tint_of_their_owner() -> None:
    size = Size(140, 60)
    chart = chart_of(ENGINE, size, per_column=480)
    drawn = paint(chart, DARK, size)
    assert chart.owners is not None
    assert chart.homes is not None
    free = LEFT + chart.view.column_of(10 * 3600)
    tints = {int(drawn.bg[row, free]) for row in range(58)}
    assert {ink(partition_hue(part), Tone.GROUND) for part in range(3)} <= tints
    band = next(
        b for b in range(chart.view.bands) if chart.owners[b, free - LEFT] == 2 and chart.homes[b, free - LEFT] == 0
    )
    row = chart.view.band_rows().index(band) // 2 + 1
    assert int(drawn.bg[row, free]) == ink(partition_hue(0), Tone.GROUND)
