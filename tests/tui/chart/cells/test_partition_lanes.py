import pytest

from tests.tui.chart.charts import chart_of
from tests.tui.scenes import engine_of
from tui.chart.cells.edges import margin_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.chart.cells.partition_lanes import bars
from tui.look.palette import DARK, Look

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
