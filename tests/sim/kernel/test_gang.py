"""The fast loop for gang scheduling gives the same results as the engine with its policies, in every respect.

Also tests sim.kernel.clock, sim.kernel.sharing, sim.kernel.matrix_rows, sim.engine.express.gangs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.workload.source import Source
from tests.examples import examples
from tests.sim.kernel.test_loop import ANY, FEW, LOOPS, LUBLIN, agree, agree_from_a_checkpoint, by, moves

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

ROWS = ["mpl=1", "mpl=2,slice=1", "mpl=3,slice=3,cs=0.1", "slice=2.5,cs=0.05", "mpl=9,slice=7,cs=0.3"]
COSTS = ["mpl=3,slice=2,cost=1.5,q=9", "mpl=4,slice=5,cost=0", "mpl=3,slice=2,cs=0.1,cost=0.3,q=3"]
ALONE, MOVING = ["gang", "gang-backfill"], ["gang-migrate", "gang-migrate-backfill"]
SPECS = [*ALONE, *MOVING]
SPECS += [f"{name}:{options}" for name in [*ALONE, *MOVING] for options in ROWS]
SPECS += [f"{name}:{options}" for name in MOVING for options in COSTS]
ONLY = [loop for loop in LOOPS if loop == "compiled"]
"""The compiled loop, if it was built: the interpreted one leaves these policies to the engine"""
OTHERS = ["easy", "selective:tick=1", "immediate:slice=2", "immediate:slice=2,memory=yes,bandwidth=50"]


@given(data=ANY)
@examples(80)
def test_a_run_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree(data.draw(lab.workloads()), data.draw(st.sampled_from(SPECS)), loops=ONLY)


@given(data=ANY)
@examples(60)
def test_a_run_with_halts_single_steps_and_switches_is_the_same(lab: Lab, data: st.DataObject) -> None:
    to = st.sampled_from([*SPECS, *OTHERS])
    agree(data.draw(lab.workloads()), data.draw(to), *data.draw(moves(to)), loops=ONLY)


@given(data=ANY)
@examples(25)
def test_a_run_that_is_taken_up_from_a_checkpoint_is_the_same(lab: Lab, data: st.DataObject) -> None:
    agree_from_a_checkpoint(
        data.draw(lab.workloads()), data.draw(st.sampled_from(SPECS)), data.draw(st.integers(1, 60)), loops=ONLY
    )


@pytest.mark.parametrize("spec", ["gang", "gang-backfill:cs=0.05", "gang-migrate", "gang-migrate-backfill"])
def test_a_longer_run_is_the_same(spec: str) -> None:
    agree(LUBLIN, spec, lambda engine: engine.advance(700), loops=ONLY)


@pytest.mark.skipif("compiled" not in LOOPS, reason="the policy runs in the compiled loop only")
def test_the_engine_is_not_asked_where_the_loop_knows_the_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    for spec in [*ALONE, *MOVING]:
        engine = by("compiled", FEW, spec)
        monkeypatch.setattr(engine, "_happen", None)
        engine.run()


def test_large_matrices_are_left_to_the_engine() -> None:
    assert Engine(replace(FEW, procs=2000), "gang", curious=False).hurry() == 0
    assert Engine(FEW, parse_policy("gang-backfill:mpl=25"), curious=False).hurry() == 0
    assert Engine(FEW, parse_policy("gang-migrate:q=100000"), curious=False).hurry() == 0


def test_turns_that_are_too_many_to_be_counted_are_left_to_the_engine() -> None:
    """After a run time of 10^15 s, floating-point numbers can no longer tell turns of a second apart."""
    for lasts, are_too_many in [(1e6, False), (1e15, True)]:
        long = replace(FEW, runtime=FEW.runtime + lasts, estimate=FEW.estimate + lasts)
        assert (Engine(long, parse_policy("gang:slice=1"), curious=False).hurry() == 0) is are_too_many


@pytest.mark.parametrize("loop", ONLY)
def test_step_has_more_decisions_than_reserved_room(loop: str) -> None:
    """1,499 wide jobs and a narrow one arrive at once; the narrow one passes all others, each of which gets a planned
    start.
    """
    _, workload = Source("lublin-320").read()
    width = np.array([*[200] * 1499, 1])
    crowd = replace(workload.take(slice(1500)), submit=np.zeros(1500), width=width)
    engines = [by(which, crowd, "gang-backfill:mpl=2") for which in ("off", loop)]
    for engine in engines:
        engine.advance(1)
    alone, both = (list(engine.history.all_decisions()) for engine in engines)
    assert len(alone) == 1500
    assert both == alone


def test_job_changes_rows_while_others_migrate() -> None:
    """Job 25 moves to a fuller row in which its columns are free, at the instant at which other jobs migrate in that
    row.
    """
    submit = [0, 0, 0, 1, 2, *[22] * 12, 42, 42, *[44.5] * 9]
    width = [10, 10, 5, 1, 1, 10, 1, 1, 2, 2, 10, 10, 10, 9, 1, 10, 1, 10, 1, 10, 1, 1, 1, 1, 2, 2, 7, 7]
    length = np.array([10, 27, 18, 1, 27, 1, 1, 2, 25, 10, 1, 1, 1, 1, 17, 15, 1, 8, 20, 1, 1, 1, 1, 3, 5, 5, 4, 4.0])
    crowd = replace(
        LUBLIN.take(slice(28)), procs=10, submit=np.array(submit, float), width=np.array(width), runtime=length,
        estimate=length,
    )  # fmt: skip
    agree(crowd, "gang-migrate-backfill:slice=2.5,cs=0.05", loops=ONLY)
