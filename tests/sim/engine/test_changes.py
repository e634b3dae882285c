import json
from math import inf
from random import Random

import numpy as np
import pytest

from sim.authoring.workloads import random_outages, random_workload
from sim.decisions.decisions import Drop, Gone, Interrupt, Keep, Returned
from sim.decisions.reasons_to_wait import MachineGoesDown
from sim.decisions.sentences import why
from sim.engine import changes
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.metrics.aggregates import aggregates
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.why.evidence import evidence_of
from sim.workload.formats.nodes import read
from sim.workload.model import Workload
from sim.workload.outages import Outage
from tests.sim.conftest import Lab
from tests.truth.runs import FAMILIES, random_spec


def checked(workload: Workload, policy: str, curious: bool = False) -> Engine:
    engine = Engine(workload, policy, watchers=[Checker], curious=curious)
    engine.run()
    return engine


def starts(engine: Engine) -> list[float]:
    return list(engine.present._ledger.start)


def changing(lab: Lab, *rows: str, outages: list[Outage], procs: int = 4) -> Workload:
    return lab.workload(procs, *rows).with_outages(outages)


# Effects on jobs
def test_who_runs_on_what_fails_begins_again_from_nothing(lab: Lab) -> None:
    work = changing(lab, "1 0 2 100 100", "2 0 2 100 100", outages=[Outage(30, 60, 0b0011)])
    engine = checked(work, "fcfs", curious=True)
    assert list(engine.present._ledger.end) == [160, 100]
    assert list(engine.present._ledger.start) == [0, 0]
    assert list(engine.present._ledger.interruptions) == [1, 0]
    kinds = (Gone, Returned, Interrupt)
    told = [d for step in range(engine.step_count) for d in engine.history.decisions(step) if isinstance(d, kinds)]
    assert told == [Gone(0b0011, 60, False), Interrupt(work.jobs[0], 30), Returned(0b0011)]


@pytest.fixture
def half_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a failure cost half of a job's work, by a change at one place."""
    monkeypatch.setattr(changes, "work_kept", lambda job, ran: ran / 2)


@pytest.mark.usefixtures("half_kept")
def test_kept_work_is_not_done_again(lab: Lab) -> None:
    work = changing(lab, "1 0 2 100 100", "2 0 2 100 100", outages=[Outage(30, 60, 0b0011), Outage(70, 80, 0b0011)])
    for policy in ("fcfs", "conservative", "selective", "multiqueue:classes=none"):
        assert list(checked(work, policy).present._ledger.end) == [167.5, 100]


@pytest.mark.usefixtures("half_kept")
@pytest.mark.parametrize("family", ["easy", "conservative", "slack", "replan", "selective", "gang", "fcfs"])
def test_what_a_failure_costs_is_said_once_for_all_policies(family: str) -> None:
    interrupted = 0
    for seed in range(12):
        work = random_workload(40, seed)
        work = work.with_outages([*random_outages(Random(seed), work.procs)])
        watched, alone = checked(work, family, curious=True), Engine(work, family, curious=False)
        alone.run()
        assert np.array_equal(watched.schedule().end, alone.schedule().end, equal_nan=True)
        interrupted += watched.present._tally.interruptions
    assert interrupted


def test_a_job_that_ends_as_the_machine_goes_down_is_not_interrupted(lab: Lab) -> None:
    engine = checked(changing(lab, "1 0 4 100 100", outages=[Outage(100, 200, 0b1111, True)]), "easy")
    assert list(engine.present._ledger.end) == [100]
    assert engine.present._tally.interruptions == 0


def test_a_job_wider_than_what_is_there_waits_for_the_machine_to_grow(lab: Lab) -> None:
    grows = [Outage(-inf, 500, 0b1100)]
    engine = checked(changing(lab, "1 0 3 10 10", "2 1 1 10 10", outages=grows), "easy")
    assert starts(engine) == [500, 1]


def test_one_wider_than_all_that_will_ever_be_there_again_is_given_up(lab: Lab) -> None:
    shrinks = [Outage(50, inf, 0b1000)]
    engine = checked(changing(lab, "1 0 4 100 100", "2 10 4 5 5", "3 20 1 5 5", outages=shrinks), "fcfs")
    assert engine.moment.dropped == (0, 1)
    assert starts(engine)[2] == 50
    assert [d.job.id for s in range(engine.step_count) for d in engine.history.decisions(s) if isinstance(d, Drop)] == [
        "1", "2",
    ]  # fmt: skip


def test_suspended_job_waits_for_processors_that_may_return(lab: Lab) -> None:
    jobs = ("1 0 4 1000 1000", "2 1 4 100 100")
    back = checked(changing(lab, *jobs, outages=[Outage(250, 400, 0b0001)]), "selective:sf=1.5,tick=10")
    gone = checked(changing(lab, *jobs[:1], outages=[Outage(250, 400, 0b0001)]), "selective")
    assert back.present._ledger.preemptions[0] == 1
    assert gone.present._ledger.interruptions[0] == 1


def test_failure_while_memory_is_written_leaves_nobody_suspended(lab: Lab) -> None:
    rows = ("1 0 1 400 400", "2 1 4 40 40")
    work = changing(lab, *rows, outages=[Outage(130, 140, 0b0001)])
    engine = checked(work, "selective:tick=60,sf=1,memory=yes")
    assert next(s.ended_by for s in engine.history.stretches() if s.kind == "suspending") == "interrupted"
    assert engine.schedule().curves.suspended.min() == 0


def test_rows_of_a_matrix_lose_columns_and_get_them_back(lab: Lab) -> None:
    rows = ("1 0 4 100 100", "2 0 4 100 100", "3 0 2 30 30")
    engine = checked(changing(lab, *rows, outages=[Outage(50, 90, 0b1100)]), "gang:slice=10")
    assert engine.present._ledger.interruptions[0] == engine.present._ledger.interruptions[1] == 1
    assert not np.isnan(np.array(engine.present._ledger.end)).any()


def test_partitions_are_split_evenly_again(lab: Lab) -> None:
    rows = ("1 0 1 200 200", "2 60 1 10 10")
    work = changing(lab, *rows, outages=[Outage(50, 100, 0b001111)], procs=6)
    engine = Engine(work, "multiqueue:classes=100", watchers=[Checker])
    sizes = {}
    while engine.step():
        sizes[engine.now] = sorted(owned.bit_count() for owned in engine.present._machine.owners)
    assert (sizes[0], sizes[50], sizes[100]) == ([3, 3], [1, 1], [3, 3])


# Plans
@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "replan", "relaxed", "gang:mpl=1", "selective"])
def test_nothing_is_started_that_would_run_into_maintenance(lab: Lab, policy: str) -> None:
    down = [Outage(100, 150, 0b1111, True)]
    engine = checked(changing(lab, "1 0 2 120 120", "2 0 4 30 30", outages=down), policy)
    assert starts(engine)[0] == 150
    assert engine.present._tally.interruptions == 0


def test_what_waits_for_maintenance_says_so(lab: Lab) -> None:
    work = changing(lab, "1 0 2 120 120", outages=[Outage(100, 150, 0b1111, True)])
    engine = Engine(work, "firstfit")
    engine.step()
    kept = [d.because for d in engine.moment.decisions if isinstance(d, Keep)]
    assert kept == [MachineGoesDown(100, 120)]
    assert why(kept[0], work.jobs[0], "{:g}".format) == "would end at 120 > maintenance of the machine at 100"


def test_a_promise_that_a_failure_breaks_is_made_again_and_kept(lab: Lab) -> None:
    rows = ("1 0 2 100 100", "2 0 2 50 50", "3 0 4 10 10", "4 0 2 20 20")
    engine = checked(changing(lab, *rows, outages=[Outage(20, 300, 0b0001)]), "conservative")
    assert starts(engine)[3] < starts(engine)[2] == 300


def test_metrics_count_available_processors_only(lab: Lab) -> None:
    work = changing(lab, "1 0 2 100 100", outages=[Outage(-inf, inf, 0b1100)])
    assert aggregates(checked(work, "fcfs").schedule())["utilization"] == 1


def test_failure_after_the_end_is_no_instant(lab: Lab) -> None:
    """Job 1 ends at 10, before its expected end at 100, so that easy++ needs no pass at 100."""
    rows, fails = ["1 0 2 10 100", "2 1 2 10 10"], Outage(50, inf, 0b01)
    engine = checked(changing(lab, *rows, outages=[fails], procs=2), "easy++", curious=True)
    assert list(engine.history.times()) == [0, 1, 10, 20]


@pytest.mark.parametrize("policy", ["easy", "easy++", "replan"])
def test_what_comes_back_and_is_kept_for_a_suspended_job_is_counted_once(lab: Lab, policy: str) -> None:
    """Job 1 is to resume on all processors at 100, when job 2 ends. Processors that are available again from 60 on are
    kept for job 1; job 3 would delay it."""
    rows = ("1 0 4 200 200", "2 0 2 50 50", "3 40 1 100 100")
    engine = Engine(changing(lab, *rows, outages=[Outage(30, 60, 0b0101)]), "gang:mpl=2,slice=10", watchers=[Checker])
    engine.run(25)
    engine.switch(parse_policy(policy), 25)
    engine.run(40)
    assert engine.moment.awaited == 1
    if policy == "replan":
        told = evidence_of(engine.snapshot(), 2, "{:g}".format)
        assert told is not None
        assert told.clauses[0].endswith("needs 1, 1 free now, but 1 stays free for its estimate of 1m40 only from 300.")
    engine.run()
    assert starts(engine)[2] == 300


# Cases by hand
def test_processors_can_be_taken_away_in_the_middle(lab: Lab) -> None:
    engine = Engine(lab.workload(4, "1 0 4 100 100", "2 10 1 5 5"), "easy", watchers=[Checker])
    engine.step()
    engine.take_away(0b0001, 200, at=5)
    assert engine.now == 5
    engine.run()
    assert (starts(engine), list(engine.present._ledger.end)) == ([0, 10], [300, 15])
    with pytest.raises(ParameterError):
        engine.take_away(0b10000)


# Any policy and any change
@pytest.mark.parametrize("family", FAMILIES)
def test_every_policy_bears_every_change(family: str) -> None:
    """Runs with outages are checked: whole, from a checkpoint, with and without reasons, and after a switch to another
    policy."""
    for seed in range(8):
        lot = Random(f"{family} {seed}")
        work = random_workload(lot.randint(0, 10_000))
        work = work.with_outages(random_outages(lot, work.procs))
        spec = random_spec(lot, family)
        first = Engine(work, spec, watchers=[Checker], curious=seed % 2 == 0)
        half = [first.step() for _ in range(lot.randint(1, 12))]
        kept = first.checkpoint()
        first.run()
        again = first.at(kept, first.history.until(len(half) if all(half) else kept.step, kept.free))
        again.run()
        plain = Engine(work, spec, curious=False)
        plain.run()
        ends = [np.array(engine.present._ledger.end) for engine in (first, again, plain)]
        assert np.array_equal(ends[0], ends[1], equal_nan=True)
        assert np.array_equal(ends[0], ends[2], equal_nan=True)
        assert int(np.isnan(ends[0]).sum()) == len(first.moment.dropped)
        switched = Engine(work, spec, watchers=[Checker], curious=False)
        if switched.step() and switched.step():
            switched.switch(random_spec(lot, lot.choice(FAMILIES)))
        switched.run()


# Nodes that are drained


def on_two_nodes(**beside: object) -> Workload:
    """Return a job on each of two nodes, one for either, one for both, and another for one; n2 is drained meanwhile."""
    rows = [("a", 0, 4, 50, 1), ("b", 0, 4, 50, 1), ("c", 20, 4, 30, 1), ("d", 21, 8, 10, 2), ("e", 22, 4, 60, 1)]
    jobs = [
        {"id": id, "submit": at, "tasks": tasks, "run": run, "estimate": run, "least_nodes": least}
        for id, at, tasks, run, least in rows
    ]
    drain = {"name": "a drain", "drained": True, "start": 10, "end": 100, "nodes": "n2"}
    nodes = [{"name": "n1", "cores": 4}, {"name": "n2", "cores": 4}]
    made = {"nodes": nodes, "jobs": jobs, "reservations": [drain]} | beside
    return Workload.of(read(json.dumps(made), "drained", "drained.json"))


@pytest.mark.parametrize(("policy", "found"), [
    ("fcfs", [0, 0, 50, 100, 110]), ("easy", [0, 0, 50, 100, 110]), ("conservative", [0, 0, 50, 100, 110]),
    ("firstfit", [0, 0, 50, 140, 80]), ("slurm:order=fcfs,bf_interval=1,bf_resolution=1", [0, 0, 50, 140, 80]),
])  # fmt: skip
def test_nothing_starts_on_drained_nodes_and_what_runs_goes_on(policy: str, found: list[int]) -> None:
    """Slurm keeps no place for a job that needs the drained node, because nobody knows when it comes back."""
    assert starts(checked(on_two_nodes(), policy)) == found


@pytest.mark.parametrize("policy", ["conservative", "replan", "slack", "relaxed"])
def test_a_promise_on_nodes_that_are_drained_meanwhile_is_made_again(policy: str) -> None:
    drain = {"name": "a drain", "drained": True, "start": 30, "end": 100, "nodes": "n2"}
    assert starts(checked(on_two_nodes(reservations=[drain]), policy))[3] == 100
