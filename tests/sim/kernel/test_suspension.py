"""The fast loop for policies that suspend jobs gives the same results as the engine with its policies, in every
respect.

Also tests sim.kernel.sets, sim.kernel.tolls, sim.engine.express.preempting.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.engine import Engine
from sim.kernel import choice
from sim.kernel.known import known
from sim.policies import parse_policy
from tests.examples import examples
from tests.sim.kernel.test_loop import ANY, FEW, IS_BUILT, LUBLIN, agree, agree_from_a_checkpoint, by, moves

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

LOOPS = ["compiled"] if IS_BUILT else []
"""The loop that has the rules of these policies, if it exists"""
SPECS = [
    "selective:tick=1", "selective:sf=1.2,tick=2.5", "selective:sf=1,tick=3,seats=lowest", "tunable:sf=1,tick=1",
    "tunable:sf=1.3,tick=2,limit=0.3", "tunable:sf=1.5,tick=1,limit=0", "tunable:sf=1,tick=10,limit=0.5", "selective",
    "immediate:slice=1", "immediate:slice=7.5,seats=lowest",
]  # fmt: skip
OTHERS = [
    "easy",
    "conservative",
    "immediate:slice=2,memory=yes,bandwidth=50",
    "selective:tick=1,memory=yes,bandwidth=50",
    "tunable:tick=1,restart=any",
    "gang",
]


@pytest.mark.parametrize("loop", LOOPS)
@given(data=ANY)
@examples(150)
def test_a_run_is_the_same(lab: Lab, loop: str, data: st.DataObject) -> None:
    agree(data.draw(lab.workloads()), data.draw(st.sampled_from(SPECS)), loops=[loop])


@pytest.mark.parametrize("loop", LOOPS)
@given(data=ANY)
@examples(100)
def test_a_run_with_halts_single_steps_and_switches_is_the_same(lab: Lab, loop: str, data: st.DataObject) -> None:
    to = st.sampled_from([*SPECS, *OTHERS])
    agree(data.draw(lab.workloads()), data.draw(to), *data.draw(moves(to)), loops=[loop])


@pytest.mark.parametrize("loop", LOOPS)
@given(data=ANY)
@examples(50)
def test_a_run_that_is_taken_up_from_a_checkpoint_is_the_same(lab: Lab, loop: str, data: st.DataObject) -> None:
    agree_from_a_checkpoint(
        data.draw(lab.workloads()), data.draw(st.sampled_from(SPECS)), data.draw(st.integers(1, 60)), [loop]
    )


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("spec", ["selective:sf=1.5", "tunable", "immediate"])
def test_a_longer_run_is_the_same(loop: str, spec: str) -> None:
    agree(LUBLIN, spec, lambda engine: engine.advance(700), loops=[loop])


@pytest.mark.parametrize("loop", LOOPS)
def test_the_engine_is_not_asked_where_the_loop_knows_the_policy(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for spec in ("selective", "tunable:seats=lowest", "immediate"):
        engine = by(loop, FEW, spec)
        monkeypatch.setattr(engine, "_happen", None)
        engine.run()


@pytest.mark.parametrize("loop", LOOPS)
def test_who_was_suspended_is_open_at_a_mark(loop: str) -> None:
    """A chart finds the suspensions in a range of time through the marks that a history makes now and then."""
    alone, both = by("off", LUBLIN, "selective:sf=1.5"), by(loop, LUBLIN, "selective:sf=1.5")
    for engine in (alone, both):
        engine.run()
    day = 86400
    days = range(0, int(alone.now), day)
    found = [[engine.history.pauses(at, at + day) for at in days] for engine in (alone, both)]
    assert found[0] == found[1]
    assert any(found[0])


def test_what_the_loop_does_not_know_is_left_to_the_engine() -> None:
    for spec in ("selective:memory=yes", "tunable:restart=any", "immediate:memory=yes"):
        assert known(parse_policy(spec), choice.compiled()) is None
    wide = replace(FEW, procs=2000)
    assert Engine(wide, "selective", curious=False).hurry() == 0
