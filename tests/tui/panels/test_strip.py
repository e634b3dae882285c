"""The strip of the whole run."""

from __future__ import annotations

from typing import Any

from sim.policies.columns import Column
from tests.sim.conftest import Lab
from tests.tui.scenes import context_of, scene_of
from tui.chart.scene import Mark
from tui.look.palette import DARK, Look
from tui.panels.context import Context
from tui.panels.strip import column_of, plot_columns, strip_lines, time_at
from tui.replay.scene import StripScene

WIDTH = 33
"""Width of the strip in columns, of which twenty have curves."""
RUN = StripScene(
    begin=0, end=2000, known=1000,
    utilization=(0.5, 1.0, 0.25, 0.5, None, None, None, None, None, None),
    waiting=(0, 2, 8, 4, None, None, None, None, None, None),
)  # fmt: skip


def half_way(lab: Lab, look: Look = DARK, marks: tuple[Mark, ...] = (), **fields: Any) -> Context:
    """Return the context at 500 s of a run that is computed up to 1000 s and lasts at least 2000 s; three of four
    processors are in use."""
    engine = lab.run("fcfs", 4, "1 0 3 1000 2000", "2 100 4 1000 1000", until=100)
    run = StripScene(RUN.begin, RUN.end, RUN.known, RUN.utilization, RUN.waiting, marks)
    context = context_of(engine)
    return Context(context.about, scene_of(engine, clock=500, strip=run, **fields), look)


def texts(context: Context, rows: int) -> list[str]:
    return [line.text.rstrip() for line in strip_lines(context, WIDTH, rows)]


# Drawing
def test_strip_has_two_curves_with_values_and_dots_for_unknown(lab: Lab) -> None:
    assert texts(half_way(lab), 4) == [
        "busy  ▄▄██▂▂▄▄············   75 %",
        "queue   ▂▂██▄▄············  1 job",
        "       now ▲",
        "      d0 00:00    d0 00:33",
    ]


def test_a_number_of_the_policys_own_is_a_third_curve_where_it_is_known(lab: Lab) -> None:
    numbers = ((Column("priority"), ((200.0, 1.0), (400.0, 8.0), (600.0, 4.0))),)
    assert texts(half_way(lab, numbers=numbers), 4)[2:] == ["prio…   ▁▁██▄                   8", "       now ▲"]
    assert texts(half_way(lab, numbers=numbers), 3) == texts(half_way(lab), 3)
    below = ((Column("debt"), ((0.0, -4.0), (1900.0, 0.0))),)
    assert texts(half_way(lab, numbers=below), 4)[2] == "debt                     █     -4"


def test_dates_of_a_short_time_differ_by_their_seconds(lab: Lab) -> None:
    def dates(seconds: float) -> list[str]:
        run = StripScene(0, seconds, seconds, RUN.utilization, RUN.waiting, ())
        engine = lab.run("fcfs", 4, "1 0 3 1000 2000", until=100)
        context = Context(context_of(engine).about, scene_of(engine, clock=0, strip=run), DARK)
        return [told.strip() for told in strip_lines(context, 2 * WIDTH, 4)[-1].text.split("d0") if told.strip()]

    assert dates(20) == ["00:00:00", "00:00:20"]
    assert dates(119) == ["00:00:00", "00:01:59"]
    assert dates(120) == ["00:00", "00:01", "00:02"]
    assert dates(0) == ["00:00:00"]


def test_strip_is_ascii_and_odd(lab: Lab) -> None:
    context = half_way(lab, DARK.with_mode("ascii"), (Mark(1600, "switch", "to easy"),))
    assert "".join(texts(context, 7)).isascii()
    assert texts(context, 2)[1][6:26] == "  ..#^--........%..."
    engine = lab.run("fcfs", 4, "1 0 3 1000 2000", until=-1)
    context = context_of(engine)
    assert texts(context, 4)[0] == "busy  ····················    0 %"
    assert column_of(StripScene(5, 5, 5, (), ()), 5, 10) == 0


# Clicks
def test_a_click_on_a_column_goes_to_a_moment_in_that_column() -> None:
    columns = plot_columns(WIDTH)
    for column in range(columns):
        assert column_of(RUN, time_at(RUN, column + 6, WIDTH), columns) == column
    assert time_at(RUN, 6, WIDTH) == RUN.begin
    assert time_at(RUN, 6 + columns - 1, WIDTH) == RUN.end
