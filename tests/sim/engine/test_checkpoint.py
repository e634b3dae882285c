"""A run continues from any of its checkpoints as it did the first time.

Also tests sim.engine.fields, sim.engine.results.
"""

import random
import re
from pathlib import Path

import pytest

import sim.engine
from sim.authoring.workloads import random_outages
from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.history.history import Unwritten
from tests.truth.runs import CHANGING, FAMILIES, random_spec, random_workload

WITHIN_A_PASS = {"_is_around", "_only", "_passed_over", "_said", "_planned_again", "_held_back"}
IN_ANOTHER_FORM = {"_jobs", "_waiting", "_ledger"}


def test_every_field_is_copied_or_named_as_left_out() -> None:
    text = Path(sim.engine.__file__ or "").with_name("fields.py").read_text(encoding="utf-8")
    declared, copied = (set(re.findall(r"\b(_[a-z]\w*)\b(?=:| = )", text)), set(re.findall(r"other\.(_\w+)", text)))
    assert declared - copied == WITHIN_A_PASS | IN_ANOTHER_FORM | {"_curious", "_resting"}


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_runs_continue_from_checkpoints_as_the_first_time(seed: int) -> None:
    for more in range(6):
        lot = random.Random(f"checkpoints {seed} {more}")
        workload = random_workload(lot)
        if lot.random() < 0.4:
            workload = workload.with_outages(random_outages(lot, workload.procs, until=400))
        engine = Engine(workload, random_spec(lot, CHANGING[(seed * 6 + more) % len(CHANGING)]))
        made, kept, switches = [engine.snapshot()], [engine.checkpoint()], dict[int, str]()
        while True:
            if lot.random() < 0.03 and engine.step_count > 2:
                switches[engine.step_count] = other = random_spec(lot, lot.choice(FAMILIES))
                engine.switch(other)
            elif not engine.step():
                break
            made.append(engine.snapshot())
            kept.append(engine.checkpoint())
        for checkpoint in lot.sample(kept, min(len(kept), 6)):
            repeated = engine.at(checkpoint, Unwritten())
            assert snapshots(repeated, switches) == made[checkpoint.step :]
        start = lot.choice(kept)
        branch = engine.at(start, engine.history.until(start.step, start.free))
        snapshots(branch, switches)
        assert [*branch.history.stretches()] == [*engine.history.stretches()]
        assert branch.history.columns() == engine.history.columns()


def snapshots(engine: Engine, switches: dict[int, str]) -> list[Snapshot]:
    """Run the engine to its end with these switches; return its snapshots from now on."""
    found = [engine.snapshot()]
    while True:
        if engine.step_count in switches:
            engine.switch(switches[engine.step_count])
        elif not engine.step():
            return found
        found.append(engine.snapshot())
