import random
from dataclasses import replace

import pytest
from hypothesis import given

from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.stops.grammar import Stop, parse_stop
from sim.stops.instants import OfMoment, Record
from sim.stops.vocabulary import CHANGES, DEEDS, EVENTS, MEASURES
from sim.workload.model import Workload
from sim.workload.replay import read
from tests.examples import examples
from tests.sim.conftest import Lab
from tests.truth.submissions import random_follows

LAB = Lab()
SPECS = (
    "easy", "conservative", "relaxed", "multiqueue:speculate=5", "selective:sf=1.5,tick=1", "gang-migrate-backfill",
)  # fmt: skip
STOPS = [
    parse_stop(f"{text} > 1" if text in MEASURES else text)
    for text in (*MEASURES, *EVENTS, *CHANGES, *(f"job 3 {deed}" for deed in DEEDS))
]


@pytest.mark.parametrize("spec", SPECS)
@examples(15)
@given(workload=LAB.workloads())
def test_an_engine_says_what_its_snapshot_says(spec: str, workload: Workload) -> None:
    engine = Engine(workload, parse_policy(spec))
    running = True
    while running:
        snapshot, live = OfMoment(engine.snapshot()), OfMoment(engine.moment)
        assert [stop.read(live) for stop in STOPS] == [stop.read(snapshot) for stop in STOPS]
        running = engine.step()


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("seed", range(3))
def test_overtaken_counts_by_the_submissions_of_the_run(spec: str, seed: int) -> None:
    """Each waiting job is compared with each started one, on a machine that may lose jobs for good."""
    lot = random.Random(seed)
    workload = read("lublin-128", jobs=60, load=4, outage="2h..3h:0-99")
    workload = replace(workload, follows=random_follows(lot, len(workload)))
    engine, most = Engine(workload, parse_policy(spec)), 0
    while engine.step():
        now, snapshot = engine.moment, engine.snapshot()
        keys = {rank: (now.jobs[rank].submit, rank) for rank in range(len(workload)) if now.has_come(rank)}
        waiting = {job.rank for job in now.waiting}
        begun = keys.keys() - waiting - {*now.dropped}
        passed = max((sum(keys[rank] > keys[one] for rank in begun) for one in waiting), default=0)
        assert now.most_overtaken == snapshot.most_overtaken == passed
        most = max(most, passed)
    assert (most > 0) or spec != "easy"


@pytest.mark.parametrize("spec", [spec for spec in SPECS if "gang" not in spec])
@examples(15)
@given(workload=LAB.workloads())
def test_the_history_says_what_the_snapshots_said(spec: str, workload: Workload) -> None:
    cheap = [stop for stop in STOPS if stop.cheap]
    engine = Engine(workload, parse_policy(spec))
    told = [_read(cheap, engine)]
    while engine.step():
        told.append(_read(cheap, engine))
    record = Record(engine.history, workload)
    assert [[stop.read(record.after(step)) for stop in cheap] for step in range(len(told))] == told


@pytest.mark.parametrize("spec", SPECS)
def test_history_has_the_size_of_a_changing_machine(spec: str) -> None:
    workload = read("lublin-128", jobs=150, machine="3h=64;9h=128", outage="1d..30h;34h..35h:0-99")
    stop = parse_stop("utilization > 0.5")
    engine = Engine(workload, parse_policy(spec))
    told, snapshots = [_read([stop], engine)], [engine.snapshot()]
    while engine.step():
        told.append(_read([stop], engine))
        snapshots.append(engine.snapshot())
    record = Record(engine.history, workload)
    assert [record.after(step).procs for step in range(len(told))] == [snapshot.there for snapshot in snapshots]
    assert {snapshot.there for snapshot in snapshots} == {0, 28, 64, 128}
    if "gang" not in spec:
        assert [[stop.read(record.after(step))] for step in range(len(told))] == told


def _read(stops: list[Stop], engine: Engine) -> list[object]:
    snapshot = OfMoment(engine.snapshot())
    return [stop.read(snapshot) for stop in stops]


def test_a_switch_at_the_time_of_a_step_submits_nobody_again(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 4 10 10", "2 5 4 10 10"), parse_policy("fcfs"))
    engine.run(5)
    engine.switch(parse_policy("easy"))
    record = Record(engine.history, engine.workload)
    assert [len(record.after(step).arrived) for step in range(4)] == [0, 1, 1, 0]
    assert parse_stop("switch").holds(None, record.after(3))
