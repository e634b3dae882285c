from xml.etree import ElementTree

from sim import Engine, read
from tui.chart.svg.drawing import Options, draw_matrix, drawing_of
from tui.look.palette import LOOKS

SVG = "{http://www.w3.org/2000/svg}"


def test_matrix_figure_hatches_replicas_and_marks_the_active_row() -> None:
    engine = Engine(read("lublin-128", jobs=80), "gang-backfill")
    engine.advance(100)
    matrix = engine.snapshot().matrix
    assert matrix is not None
    chart = drawing_of(engine, "gang-backfill", Options())
    made = draw_matrix(matrix, matrix.rows[1][0], chart, LOOKS["dark"], 800, 450, "sans-serif")
    picture = ElementTree.fromstring(made)
    words = [word.text or "" for word in picture.iter(f"{SVG}text")]
    assert [word for word in words if word.isdecimal()][: len(matrix.rows)] == [str(row) for row, _ in matrix.rows]
    assert "◂" in words
    replicas = sum(not cell.is_home for _, cells in matrix.rows for cell in cells)
    assert replicas
    assert made.count("url(#plan)") == replicas
    homes = {f"J{engine.workload.jobs[cell.rank].id}" for _, cells in matrix.rows for cell in cells if cell.is_home}
    assert {word for word in words if word.startswith("J")} <= homes
