"""Also tests tui.replay.scene."""

import numpy as np
import pytest

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.outages import Outage
from tests.sim.conftest import Lab
from tests.tui.scenes import engine_of
from tui.replay.strip_maker import StripMaker, least_end

HALF_THEN_ALL = ("1 0 2 100 100", "2 50 2 50 50", "3 60 4 100 100")
"""Jobs as lines `id submit procs run estimate`. Two of four processors are used until 50, all until 200; job 3 waits
from 60 until 100."""


# The strip
def test_strip_ends_at_the_cursor(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, *HALF_THEN_ALL)
    strip = StripMaker(engine.workload).strip(engine.history, 200, 4)
    assert (strip.begin, strip.end) == (0, 200)
    assert strip.utilization == (0.5, 1.0, 1.0, 1.0)
    assert strip.waiting == pytest.approx((0, 0.8, 0, 0))
    engine = lab.run("fcfs", 4, *HALF_THEN_ALL, until=60)
    strip = StripMaker(engine.workload).strip(engine.history, engine.now, 8)
    assert strip.end == least_end(engine.workload) == 175
    assert (strip.known, strip.utilization[3:]) == (60, (None,) * 5)
    assert strip.utilization[:2] == (0.5, 0.5)
    engine = lab.run("fcfs", 4, *HALF_THEN_ALL)
    steps_until_100 = lab.instants(engine).index(100) + 1
    series = StripMaker(engine.workload).series(engine.history, steps_until_100, 2)
    assert series.utilization == (0.5, 1.0)
    assert series.wanted == pytest.approx((0, 3.2))


def test_reading_on_gives_what_reading_at_once_gives() -> None:
    engine = engine_of("lublin-128", "gang")
    grown = StripMaker(engine.workload)
    while engine.now < 400_000 and engine.step():
        if engine.step_count % 37 == 1:
            grown.strip(engine.history, engine.now, 50)
    anew = StripMaker(engine.workload)
    assert grown.strip(engine.history, engine.now, 50) == anew.strip(engine.history, engine.now, 50)


def test_strip_shows_what_was_used(lab: Lab) -> None:
    engine = engine_of("lublin-128", "easy", until=np.inf)
    strip = StripMaker(engine.workload).strip(engine.history, engine.now, 97)
    used = sum(share for share in strip.utilization if share is not None) * (strip.end - strip.begin) / 97
    assert used * 128 == pytest.approx(float(engine.workload.runtime @ engine.workload.width))
    workload = lab.workload(4, "1 0 2 100 100", "2 100 2 100 100").with_outages([Outage(100, 200, 0b0011)])
    engine = Engine(workload, parse_policy("fcfs"))
    engine.run()
    maker = StripMaker(workload)
    assert maker.strip(engine.history, 200, 2).utilization == (0.5, 1.0)
    assert maker.series(engine.history, engine.step_count, 2).utilization == (0.5, 1.0)
