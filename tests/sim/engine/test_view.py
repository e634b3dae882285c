"""A live moment and a snapshot of it agree.

Also tests sim.engine.copies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given

from sim.engine.engine import Engine
from sim.engine.snapshot import Queued
from sim.workload.model import Workload
from tests.examples import examples
from tests.sim.conftest import Lab

LAB = Lab()
SPECS = ("easy", "conservative", "multiqueue:speculate=5", "selective:sf=1.5,tick=1", "gang-migrate-backfill")
SAID_BY_BOTH = ("waiting", "counts", "there")


@pytest.mark.parametrize("spec", SPECS)
@examples(10)
@given(workload=LAB.workloads())
def test_moment_and_snapshot_agree(spec: str, workload: Workload) -> None:
    engine = Engine(workload, spec)
    while engine.step():
        moment, shown = engine.moment, engine.snapshot()
        assert [getattr(moment, name) for name in SAID_BY_BOTH] == [getattr(shown, name) for name in SAID_BY_BOTH]
        assert [*moment.ends] == [*shown.ends]
        for rank in range(len(workload)):
            told, entry = moment.entry(rank), shown.entry(rank)
            assert told == (replace(entry, why=None) if isinstance(entry, Queued) else entry)
            assert moment.moved(rank) == shown.moved(rank)
            assert (moment.where(rank) is None) == (entry is None)


@pytest.mark.parametrize("name", ["reserved", "granted", "expected"])
def test_plans_of_a_moment_are_read_only(lab: Lab, name: str) -> None:
    moment = Engine(lab.workload(4, "1 0 4 10 10"), "easy").moment
    with pytest.raises(TypeError):
        cast(Any, getattr(moment, name))[0] = 5.0


def test_snapshot_shares_no_notes_with_the_run() -> None:
    engine = Engine(Lab().workload(4, "1 0 4 100 100", "2 1 4 50 50", "3 200 4 9 9"), "easy:order=multifactor")
    engine.advance(2)
    shown, live = engine.snapshot().notes, engine.moment.notes
    assert live
    assert shown == live
    assert not any(shown[name] is noted for name, noted in live.items())
