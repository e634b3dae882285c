import pytest

from sim.engine.engine import Engine
from tests.sim.conftest import Lab
from tests.tui.chart.charts import chart_of, picture
from tests.tui.scenes import engine_of
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import paint
from tui.look.palette import DARK

SIZE = Size(78, 16)


@pytest.fixture
def halted() -> Engine:
    return engine_of("k-figure3.1", "selective:sf=1.2", until=2340)


def test_pieces_of_jobs_are_named(halted: Engine, lab: Lab) -> None:
    row = next(row for row in picture(halted, DARK, SIZE, per_column=120).splitlines() if "J1" in row)
    assert (row.count("J1"), row.count("J2")) == (2, 2)
    chart = chart_of(halted, SIZE, per_column=120)
    rests = [(box.start, box.end, box.kind) for box in chart.plan if box.rank == 1]
    # J1 has run 720 of its 3600 s and goes on at 2340; J2 has run 1620 of its own.
    assert rests == [(2340 + 2880, 2340 + 2880 + 1980, "planned")]
    # Job 2 holds processors 2 to 5; job 3 gets 0, 1, 6 and 7.
    engine = lab.run("fcfs", 8, "1 0 2 10 10", "2 0 4 300 300", "3 20 4 200 200", until=100)
    size = Size(60, 18)
    told = paint(chart_of(engine, size, per_column=5), DARK, size).text
    assert (told.count("J2"), told.count("J3")) == (1, 2)
