from pathlib import Path

import pytest
from rich.cells import cell_len

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.replay import read
from tests.tui.chart.charts import chart_of
from tui.chart.cells.cells import Brush, Cells
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.look.palette import DARK

BRUSH = Brush(DARK)


def drawn(cells: Cells, row: int = 0, begin: int = 0, end: int | None = None) -> str:
    columns = cells.chars.shape[1]
    return "".join(segment.text for segment in BRUSH.draw(cells, row, begin, columns if end is None else end))


def written(*texts: tuple[int, str], columns: int = 8) -> Cells:
    """Return a picture of one row, in which the texts are written from their columns on."""
    cells = Cells.blank(1, columns)
    for column, text in texts:
        cells.write(0, column, text, 1)
    return cells


@pytest.mark.parametrize(("texts", "row"), [
    ([(1, "日本")], " 日本   "), ([(5, "日本")], "     日 "), ([(-1, "日本")], " 本     "),
    ([(1, "日本"), (2, "a")], "  a本   "), ([(1, "日本"), (1, "a")], " a 本   "), ([(1, "e\u0301x\u0323")], " éx     "),
])  # fmt: skip
def test_rows_keep_their_width(texts: list[tuple[int, str]], row: str) -> None:
    cells = written(*texts)
    assert drawn(cells) == row
    assert cell_len(row) == 8
    assert "".join(BRUSH.runs(cells, [(0, 0, 8)])[0].texts) == row


def test_wide_characters_stay_whole() -> None:
    cells = written((1, "日本"))
    assert [drawn(cells, 0, begin, end) for begin, end in ((2, 5), (1, 4), (2, 3))] == [" 本", "日 ", " "]
    before = written((1, "日本"))
    assert written((1, "日木")).changed(before) == [(0, 3, 5)]
    cells = written((1, "日本"))
    cells.fg[0, 2] = 2
    assert cells.changed(before) == [(0, 1, 3)]


def test_chart_with_wide_names_keeps_its_width(tmp_path: Path) -> None:
    table = tmp_path / "wide.csv"
    table.write_text("id,submit,procs,runtime\n日本語の仕事,0,4,600\n次の仕事,0,4,600\n", "utf-8")
    engine = Engine(read(str(table)), parse_policy("easy"))
    engine.step()
    size = Size(60, 8)
    cells = paint(chart_of(engine, size, DARK, per_column=30), DARK, size, None)
    rows = [drawn(cells, row) for row in range(len(cells.chars))]
    assert [any(name in row for row in rows) for name in ("日本語の仕事", "次の仕事")] == [True, True]
    assert {cell_len(row) for row in rows} == {60}
