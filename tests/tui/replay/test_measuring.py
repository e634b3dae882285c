import pytest

from tests.tui.replay.test_controller import Replayed
from tui.replay import requests as o


# z-figure4 under easy: J1 (6 processors) runs until 600 s, J2 (4) until 1200; J5 starts at 600 after 560 s, J3 at 1200.
@pytest.fixture
def at_the_end() -> Replayed:
    run = Replayed()
    run.does(o.GoToEnd())
    return run


def test_measured_span_tells_what_happened(at_the_end: Replayed) -> None:
    told = at_the_end.does(o.Measure(600, 1100, "8m20"))
    assert told == "8m20: 2 jobs, 1 started, mean wait 9m20, 90.0 % used, 10.0 % lost while jobs waited"
    told = at_the_end.does(o.Measure(100, 200, "1m40"))
    assert told == "1m40: 2 jobs, 0 started, 100.0 % used, 0.0 % lost while jobs waited"
    was = at_the_end.place
    at_the_end.does(o.Measure(0, 100, ""))
    assert at_the_end.place == was


def test_measured_span_ends_now() -> None:
    run = Replayed()
    run.does(o.GoTo(6))
    assert "until now: 2 jobs, 0 started" in str(run.does(o.Measure(100, 5000, "1h22")))
    assert run.does(o.Measure(700, 900, "3m20")) == "3m20: all of it is still to come"
