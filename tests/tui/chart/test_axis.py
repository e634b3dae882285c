import numpy as np
import pytest

from sim.engine.engine import Engine
from tests.sim.conftest import Lab
from tui.chart.axis import ByEvent, Steps

AXIS = ByEvent("a run", np.array([5.0, 10, 10.5, 3600]), [4000.0, 9000])


@pytest.mark.parametrize("time", [-700.0, 5, 7, 10.25, 3600, 3700, 9000, 20000])
def test_a_place_leads_back_to_its_moment(time: float) -> None:
    assert AXIS.time(AXIS.place(time)) == pytest.approx(time)
    assert AXIS.places(np.array([time]))[0] == pytest.approx(AXIS.place(time))


def test_places_and_moments_belong_together() -> None:
    assert [AXIS.place(time) for time in (5, 10, 10.5, 3600, 4000, 9000)] == [0, 1, 2, 3, 4, 5]
    assert (AXIS.settled(3700), AXIS.last) == (3, 5)
    assert AXIS.named(-3, 99, 1.5) == [5, 10.5, 4000]
    assert AXIS.named(1.5, 4, 1.5) == [10.5]


def test_steps_of_runs_are_read_together(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 3 200 300", "2 5 2 100 100", "3 100 1 40 40"), "easy")
    steps, seen = Steps(), []
    while engine.step():
        seen.append(engine.now)
        assert steps.of(engine.history.as_of(engine.step_count), engine.now).tolist() == sorted(set(seen))
    assert steps.of(engine.history.as_of(2), seen[1]).tolist() == seen[:2]
    one, other, steps = np.array([0.0, 1, 5, 9]), np.array([0.0, 2, 5]), Steps()
    assert steps.together([one[:2], other[:1]], 1).tolist() == [0, 1]
    assert steps.together([one[:3], other], 5).tolist() == [0, 1, 2, 5]
    assert steps.together([one[:2], other[:2]], 2).tolist() == [0, 1, 2]
    assert steps.together([one, other], 9).tolist() == [0, 1, 2, 5, 9]
