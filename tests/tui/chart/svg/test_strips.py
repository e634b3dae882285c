import numpy as np
import pytest

from sim.history.history import History
from sim.workload.model import Floats
from tui.chart.svg.frame import Frame
from tui.chart.svg.picture import averages, in_use_and_waiting


def steps(*values: float) -> Floats:
    return np.array(values, dtype=np.float64)


def test_averages_are_over_time() -> None:
    assert averages(steps(0, 5, 6), steps(0, 10, 0), 20, steps(0, 10, 20)).tolist() == [1, 0]
    assert averages(steps(10), steps(3), 20, steps(0, 10, 20)).tolist() == [0, 3]


def test_what_is_in_use_and_who_waits_by_pixel() -> None:
    history = History()
    history.collector.close_step(0, free=2, waiting=0, wanted=0)
    history.collector.close_step(50, free=0, waiting=3, wanted=9)
    frame = Frame(left=0, top=0, width=4, height=10, begin=0, end=100, procs=4)
    use, waiting = in_use_and_waiting(history, frame, 100, 4)
    assert use.tolist() == pytest.approx([0.5, 0.5, 1, 1])
    assert waiting.tolist() == [0, 0, 3, 3]


def test_right_of_now_nothing_is_known() -> None:
    history = History()
    history.collector.close_step(0, free=0, waiting=0, wanted=0)
    frame = Frame(left=0, top=0, width=4, height=10, begin=0, end=100, procs=4)
    assert len(in_use_and_waiting(history, frame, 50, 4)[0]) == 2
