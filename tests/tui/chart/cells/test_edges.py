from itertools import pairwise

import numpy as np
import pytest

from tui.chart.axis import ByEvent
from tui.chart.cells.edges import axis_titles, node_ticks, processor_ticks, time_axis, time_ticks
from tui.chart.scale import EVENTS, LADDER, ChartView


@pytest.mark.parametrize("per_column", LADDER)
def test_no_two_times_touch_at_any_zoom(per_column: float) -> None:
    view = ChartView(per_column, 7, 120, 40, 0, 9)
    ticks = time_ticks(view)
    assert 3 <= len(ticks) <= 12
    _, times = time_axis(view, 0)
    shown = [label for tick in ticks if (label := tick.label) in times]
    assert len(shown) >= len(ticks) - 2


def test_times_and_now_stand_in_their_places() -> None:
    view = ChartView(900, 90, 120, 40, 0, 9)
    assert [tick.label for tick in time_ticks(view)] == [
        "d1 00:00", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "d2 00:00", "03:00",
    ]  # fmt: skip
    view = ChartView(60, 0, 40, 40, 0, 9)
    assert time_axis(view, 20 * 60)[0].index("now") == 21
    assert "now" not in time_axis(view, 40 * 60)[0]
    assert time_axis(view, 39 * 60)[0].endswith("┴")
    assert "".join(time_axis(ChartView(60, 0, 40, 40, 0, 9), 600, ascii_only=True)).isascii()


@pytest.mark.parametrize(("procs", "rows"), [(1, 40), (8, 40), (100, 60), (338, 116), (9000, 44)])
def test_edge_labels_lowest_and_highest_processor_apart(procs: int, rows: int) -> None:
    ticks = processor_ticks(ChartView(60, 0, 40, rows, 0, procs), folds=2)
    assert {"0", str(procs - 1)} <= {tick.label for tick in ticks}
    places = sorted(tick.at for tick in ticks)
    assert all(b - a > 1 for a, b in pairwise(places))
    assert all(0 <= place < rows // 2 for place in places)


@pytest.mark.parametrize("per_column", EVENTS[:8])
@pytest.mark.parametrize("columns", [55, 67, 130])
def test_by_event_the_axis_says_so_and_no_time_is_cut(per_column: float, columns: int) -> None:
    axis = ByEvent("a run", np.cumsum(np.arange(2000.0) % 700 + 1), [])
    view = ChartView(per_column, int(40 / per_column), columns, 40, 0, 9, axis=axis)
    line, times = time_axis(view, view.time_at(columns // 2))
    assert any("event" in title for _, title in axis_titles(line, ["procs"], ["by event", "events"]))
    assert len(times) == columns
    assert {tick.label for tick in time_ticks(view)} & {*times.split()}


NODES = tuple((4 * number, f"n{9 - number}") for number in range(9))


def test_nodes_have_edges() -> None:
    roomy = node_ticks(ChartView(60, 0, 40, 36, 0, 36), NODES, 2)
    assert [(tick.at, tick.label) for tick in roomy] == [(2 * row, f"n{row + 1}") for row in range(9)]
    tight = node_ticks(ChartView(60, 0, 40, 8, 0, 36, cuts=tuple(low for low, _ in NODES)), NODES, 2)
    assert [tick.label for tick in tight] == ["n1", "n4", "n6", "n8"]
    assert node_ticks(ChartView(60, 0, 40, 8, 4, 12), NODES, 1)[0].label == "n7"
    cuts = (0, 2, 6, 8)  # nodes of 2, 4 and 2 cores
    assert ChartView(60, 0, 40, 4, 0, 8, cuts=cuts).edges() == (8, 6, 2, 0)
    assert ChartView(60, 0, 40, 2, 0, 8, cuts=cuts).edges() == (8, 2, 0)
    assert ChartView(60, 0, 40, 8, 0, 8, cuts=cuts).edges() == tuple(range(8, -1, -1))
    assert max(ChartView(60, 0, 40, 7, 0, 8, cuts=cuts).band_rows()) == 2
