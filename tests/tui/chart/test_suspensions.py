from math import inf

from tests.sim.conftest import Lab
from tests.tui.scenes import engine_of
from tui.chart.chart_maker import suspensions_between


def test_suspensions_name_their_jobs(lab: Lab) -> None:
    engine = engine_of("k-figure3.1", "selective:sf=1.2", until=2340)
    found = suspensions_between(engine.history, 0, 2340)
    assert found == ((720, 1, 0), (2340, 0, 1))
    assert suspensions_between(engine.history, 721, 2340) == found[1:]
    engine = lab.run("selective:sf=2,tick=60,memory=yes", 4, "1 0 4 600 600", "2 0 3 60 60")
    assert [each.kind for each in engine.history.of(0)].count("suspending") == 1
    assert [each[1:] for each in suspensions_between(engine.history, 0, 2000)] == [(1, 0)]
    engine = engine_of("lublin-128", "selective:sf=1.5", until=inf)
    assert engine.snapshot().totals.preemptions > 12
    assert suspensions_between(engine.history, 0, inf) == ()
