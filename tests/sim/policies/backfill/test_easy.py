import numpy as np
import pytest

from sim.decisions.decisions import Backfill
from sim.decisions.reasons import EarliestHole, EndsBefore, FitsExtra
from sim.decisions.reasons_to_wait import PlannedLater, WouldDelay
from sim.policies import parse_policy
from tests.sim.conftest import Lab

# Four processors. Job 1 holds three until 10; job 2 needs all four and becomes the head: shadow 10, extra 0.
HEAD = ("1 0 3 10 10", "2 1 4 10 10")

# Five processors. Job 1 holds three until 10; job 2 needs four: shadow 10, one extra.
EXTRA = ("1 0 3 10 10", "2 1 4 10 10")

# Four processors. Job 2 is the head (shadow 10, one extra); job 3 needs the whole machine after it, at 20.
DEEP = ("1 0 3 10 10", "2 1 3 10 10", "3 1 4 10 10", "4 2 1 50 50")


def test_head_passes_are_by_shadow_or_extra(lab: Lab) -> None:
    engine = lab.run("easy", 4, *HEAD, "3 2 1 8 8")
    assert engine.schedule().start.tolist() == [0, 10, 2]
    assert lab.start(engine, "3") == Backfill(
        engine.moment.jobs[2], EndsBefore(engine.moment.jobs[1], shadow=10, ends=10)
    )
    engine = lab.run("easy", 5, *EXTRA, "3 2 1 50 50")
    assert engine.schedule().start.tolist() == [0, 10, 2]
    assert lab.start(engine, "3") == Backfill(
        engine.moment.jobs[2], FitsExtra(engine.moment.jobs[1], shadow=10, extra=1)
    )
    # Two processors are free at 2, but the head leaves only one of them: job 3 takes it.
    engine = lab.run("easy", 5, *EXTRA, "3 2 1 50 50", "4 2 1 50 50", until=2)
    assert lab.kept(engine, "4") == WouldDelay(engine.moment.jobs[1], shadow=10, ends=52, extra=0)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 2, 20]


@pytest.mark.parametrize("of", ["easy", "relaxed:omega=1", "shadow:order=fcfs", "greedy", "lookahead", "easy++"])
def test_end_that_only_rounding_makes_later_is_in_time(lab: Lab, of: str) -> None:
    """Job 3 ends at 2.6 + 0.2, which is 2.8000000000000003; the head can start at 1.6 + 1.2, which is 2.8."""
    starts = lab.starts(of, 2, "1 1.6 1 1.2 1.2", "2 1.7 2 5 5", "3 2.6 1 0.2 0.2")
    assert starts == pytest.approx({"1": 1.6, "2": 2.8, "3": 2.6})


def test_promises_and_depth_protect_jobs(lab: Lab) -> None:
    engine = lab.run("easy", 4, *HEAD, "3 2 1 9 9")
    np.testing.assert_equal(engine.schedule().promised, [np.nan, 10, 20])
    assert parse_policy("easy").promises()
    assert not parse_policy("easy:order=sjf").promises()
    assert not parse_policy("easy:depth=2").promises()
    engine = lab.run("easy:depth=2", 4, *DEEP, until=2)
    assert lab.reservations(engine, "3") == [(20, EarliestHole(free=1))]
    assert lab.kept(engine, "4") == PlannedLater(at=30, free=1)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 10, 20, 30]
