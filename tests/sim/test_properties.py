"""Properties that hold for every policy with all valid parameters on any workload."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.decisions.matrix import ReserveRow
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.history.stretch import Stretch
from sim.machine.moment import MOMENT
from sim.machine.processors import Placement
from sim.policies import POLICIES, parse_policy, written_policy
from sim.workload.model import Workload
from tests.examples import examples
from tests.sim.conftest import Lab

# Policies under which a job holds its processors from its start to its end.
SPACE_SHARING = [
    "fcfs", "firstfit", "easy", "conservative", "replan", "shadow", "relaxed", "slack", "recorded",
    "easy++", "lookahead", "greedy",
]  # fmt: skip


def run(workload: Workload, spec: str, placement: Placement = "lowest") -> Engine:
    engine = Engine(workload, parse_policy(spec), watchers=[Checker], placement=placement)
    engine.run()
    return engine


def held_twice(stretches: list[Stretch]) -> bool:
    """Return True if a processor is in two stretches at the same time."""
    by_processor: dict[int, list[tuple[float, float]]] = {}
    for stretch in stretches:
        assert stretch.end is not None
        for processor in range(stretch.processors.bit_length()):
            if stretch.processors >> processor & 1:
                by_processor.setdefault(processor, []).append((stretch.start, stretch.end))
    return any(end > start + 1e-9 for each in by_processor.values() for (_, end), (start, _) in pairwise(sorted(each)))


@pytest.mark.parametrize("name", sorted(POLICIES))
@given(data=st.data())
@examples(12)
def test_every_job_runs_as_long_as_it_must_on_processors_of_its_own(lab: Lab, name: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads())
    engine = run(workload, data.draw(lab.specs(name)))
    stretches, schedule = list(engine.history.segments()), engine.schedule()
    assert len(stretches) < 20_000, "bounds that are too wide make the tests slow and prove nothing more"
    assert not held_twice(stretches)
    assert all(s.processors.bit_count() == workload.width[s.rank] for s in stretches)
    assert all(s.processors < 1 << workload.procs for s in stretches)
    assert all(s.start >= workload.submit[s.rank] for s in stretches)
    assert (schedule.start >= workload.submit).all()
    np.testing.assert_allclose(schedule.ran, workload.runtime, atol=1e-6)
    held = np.zeros(len(workload))
    for s in stretches:
        held[s.rank] += (s.end or 0) - s.start
    assert (held >= workload.runtime - 1e-6).all()
    if name in SPACE_SHARING:
        assert [s.rank for s in sorted(stretches)] == list(range(len(workload)))
        assert [s.start for s in sorted(stretches)] == schedule.start.tolist()
        np.testing.assert_allclose(held, workload.runtime, atol=1e-6)


@pytest.mark.parametrize("name", sorted(POLICIES))
@given(data=st.data())
@examples(12)
def test_last_instant_is_the_last_end_or_arrival(lab: Lab, name: str, data: st.DataObject) -> None:
    """A timer that is no longer needed causes no instant, with and without recorded reasons, and after a switch."""
    workload, watched = data.draw(lab.workloads()), data.draw(st.booleans())
    engine = Engine(workload, parse_policy(data.draw(lab.specs(name))), curious=watched)
    if data.draw(st.booleans()):
        engine.advance(data.draw(st.integers(1, 12)))
        if engine.next_time() is not None:
            engine.switch(data.draw(lab.specs(data.draw(st.sampled_from(sorted(POLICIES))))))
    engine.run()
    last = max(engine.history.ends(len(workload)).max(), workload.submit.max())
    assert engine.now <= max([last, *(switch.time for switch in engine.moment.switches)]) + MOMENT


@pytest.mark.parametrize("name", sorted(POLICIES))
@given(data=st.data())
@examples(10)
def test_same_inputs_give_the_same_run_in_every_mode(lab: Lab, name: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads())
    policy = parse_policy(data.draw(lab.specs(name)))
    assert parse_policy(written_policy(policy)) == policy
    once, again = Engine(workload, policy), Engine(workload, policy, curious=False)
    once.run()
    while again.step():
        pass
    assert list(once.history.stretches()) == list(again.history.stretches())
    watched, unwatched = (list(engine.history.all_decisions()) for engine in (once, again))
    in_rows = [decision for decision in watched if isinstance(decision[1], ReserveRow)]  # more with reasons
    assert [d for d in watched if d not in in_rows] == [d for d in unwatched if not isinstance(d[1], ReserveRow)]
    assert once.history.columns() == again.history.columns()
    np.testing.assert_equal(once.schedule().start, again.schedule().start)


@pytest.mark.parametrize("name", SPACE_SHARING)
@given(data=st.data())
@examples(10)
def test_who_gets_which_processors_does_not_change_the_schedule(lab: Lab, name: str, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads())
    spec = data.draw(lab.specs(name))
    lowest, together = (run(workload, spec, placement) for placement in ("lowest", "together"))
    assert lowest.schedule().start.tolist() == together.schedule().start.tolist()
