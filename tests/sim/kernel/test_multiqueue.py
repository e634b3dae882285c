"""The fast loop for multiqueue backfilling gives the same results as the engine with its policy, in every respect.

Also tests sim.kernel.partitions, sim.engine.express.dividing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.engine import Engine
from sim.workload.outages import Outage
from tests.examples import examples
from tests.sim.kernel.test_loop import ANY, FEW, LOOPS, LUBLIN, agree, agree_from_a_checkpoint, by, moves, shaken

if TYPE_CHECKING:
    from sim.workload.model import Workload
    from tests.sim.conftest import Lab

SPECS = [
    "multiqueue:classes=10/30", "multiqueue:classes=none", "multiqueue:classes=2.5/5/20/40", "multiqueue",
    "multiqueue:classes=10/30,speculate=3,speculate_over=5", "multiqueue:classes=20,speculate=10,speculate_over=0",
    "multiqueue:classes=none,speculate=2.5,speculate_over=10",
]  # fmt: skip
OTHERS = ["easy", "conservative", "immediate:slice=2", "gang"]


@st.composite
def workloads(draw: st.DrawFn, lab: Lab) -> Workload:
    """Draw workloads, some of them with jobs of high priority, a processor that fails, or maintenance of the whole
    machine.
    """
    workload = draw(lab.workloads())
    high = draw(st.sampled_from([0.0, 0.0, 0.3]))
    fails, goes = Outage(9.5, 30, 1), Outage(40, 55.25, (1 << workload.procs) - 1, announced=True)
    outages = draw(st.sampled_from([(), (), (goes,), *[(fails,), (fails, goes)] * (workload.procs > 1)]))
    is_high = np.random.default_rng(len(workload)).random(len(workload)) < high
    return replace(workload, high=is_high, outages=outages)


@given(data=ANY)
@examples(150)
def test_a_run_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree(data.draw(workloads(lab)), data.draw(st.sampled_from(SPECS)))


@given(data=ANY)
@examples(100)
def test_a_run_with_halts_single_steps_and_switches_is_the_same(lab: Lab, data: st.DataObject) -> None:
    to = st.sampled_from([*SPECS, *OTHERS])
    agree(data.draw(workloads(lab)), data.draw(to), *data.draw(moves(to)))


@given(data=ANY)
@examples(50)
def test_a_run_that_is_taken_up_from_a_checkpoint_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree_from_a_checkpoint(data.draw(workloads(lab)), data.draw(st.sampled_from(SPECS)), data.draw(st.integers(1, 60)))


@pytest.mark.parametrize("spec", ["multiqueue", "multiqueue:classes=none", "multiqueue:speculate=180"])
def test_a_longer_run_is_the_same(spec: str) -> None:
    agree(LUBLIN, spec, lambda engine: engine.advance(700))


def test_due_speculative_run_waits_for_an_end_at_the_same_time() -> None:
    """It once borrowed processors without end, because none were idle."""
    agree(shaken(367), "multiqueue:classes=10/30,speculate=10,speculate_over=10")


@pytest.mark.skipif("compiled" not in LOOPS, reason="the policy runs in the compiled loop only")
def test_the_engine_is_not_asked_when_the_machine_is_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    for spec in ("multiqueue", "multiqueue:speculate=180"):
        engine = by("compiled", FEW, spec)
        engine.step()
        monkeypatch.setattr(engine, "_happen", None)
        engine.run()


def test_what_the_loop_does_not_know_is_left_to_the_engine() -> None:
    for workload in (replace(FEW, procs=2000), replace(FEW, reserve=FEW.submit + 5)):
        engine = Engine(workload, "multiqueue", curious=False)
        engine.step()
        assert engine.hurry() == 0
