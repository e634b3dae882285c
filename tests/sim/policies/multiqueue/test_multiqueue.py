"""Also tests sim.policies.multiqueue.partitions, sim.policies.multiqueue.pivots."""

from dataclasses import replace
from math import inf, nan
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.authoring.workloads import random_outages, random_workload
from sim.decisions import reasons as r
from sim.decisions import reasons_to_wait as to_wait
from sim.decisions.decisions import Backfill, Borrow, Start
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.workload import reading
from sim.workload.model import Workload
from sim.workload.samples import sample_path
from tests.sim.conftest import Lab

# The classes of most tests: short jobs below 100 s, long ones from there on.
TWO = "multiqueue:classes=100"

# Jobs from 20 s on are tried for 5 s.
TRIED = "multiqueue:classes=none,speculate=5,speculate_over=20"


def sample(name: str) -> Workload:
    return Workload.of(reading.read(sample_path(name))).with_overruns()


def run(workload: Workload, spec: str, until: float = inf) -> Engine:
    engine = Engine(workload, parse_policy(spec), watchers=[Checker])
    engine.run(until)
    return engine


def high(workload: Workload, *ids: str) -> Workload:
    return replace(workload, high=np.array([name in ids for name in workload.ids]))


def reserve(workload: Workload, **wanted: float) -> Workload:
    return replace(workload, reserve=np.array([wanted.get(f"J{name}", nan) for name in workload.ids]))


def borrowed(engine: Engine) -> list[tuple[str, int, int, int]]:
    decisions = (decision for _, decision in engine.history.all_decisions())
    return [(d.job.id, d.to, d.lender, d.processors) for d in decisions if isinstance(d, Borrow)]


# Partitions
def test_partitions_lend_and_keep_processors(lab: Lab) -> None:
    engine = lab.run("multiqueue", 8, "1 0 1 5 5")
    assert engine.present._machine.owners == [0b111, 0b111000, 0b11000000]
    # Both others have two idle processors; the one with the lower number lends, its lowest-numbered one.
    engine = lab.run("multiqueue", 6, "1 0 3 5 5", until=0)
    assert borrowed(engine) == [("1", 0, 1, 0b000100)]
    assert lab.start(engine, "1") == Start(engine.moment.jobs[0], r.PivotDue(partition=0, borrowed=1), on=0b000111)
    assert engine.present._machine.owners == [0b000111, 0b001000, 0b110000]
    engine = lab.run("multiqueue", 9, *LOANS, until=1)
    assert borrowed(engine) == [("2", 2, 0, 0b000000111), ("2", 2, 1, 0b000100000)]
    assert engine.present._machine.owners == [0, 0b000011000, 0b111100111]
    engine = lab.run("multiqueue", 9, *LOANS, "3 30000 1 10 10", until=29999)
    assert engine.present._machine.owners == [0, 0b000011000, 0b111100111]
    engine.run()
    assert borrowed(engine)[-1] == ("3", 0, 2, 0b000000001)


# Nine processors, three a partition. Job 1 holds two of the second, so that it has one idle, the first three.
LOANS = ("1 0 2 5000 5000", "2 1 7 20000 20000")


def test_partition_owns_the_processors_of_its_running_jobs(lab: Lab) -> None:
    """A long job holds the first processor, which an even division would give to the short jobs."""
    engine = lab.run("fcfs", 4, "1 0 1 200 200", until=0)
    engine.switch(TWO)
    assert engine.moment.owners == (0b0010, 0b1101)


def test_the_boundaries_of_the_papers_figure_move_as_its_caption_says() -> None:
    engine = run(sample("ls-figure1"), "multiqueue", until=0)
    sizes = {}
    for moment in (2000, 5000, 8000, 12000, 12800, 17000, 20000, 23000):
        engine.run(moment)
        sizes[moment] = [owned.bit_count() for owned in engine.present._machine.owners]
    assert list(sizes.values()) == [
        [5, 15, 10], [1, 19, 10], [4, 4, 22], [14, 4, 12], [6, 4, 20], [10, 0, 20], [15, 0, 15], [3, 12, 15],
    ]  # fmt: skip
    assert len(engine.history.owners_between(0, 30000)) == 1 + 8


# The three rules. Four processors, two a partition.

# The long job 1 holds the long partition until 120; from then on job 2 needs three. The short pivot, job 3, needs
# the whole machine: it is planned for 320, after both.
BOTH = ("1 0 2 120 120", "2 1 3 200 200", "3 2 4 10 10")


def test_rules_let_jobs_pass_pivots(lab: Lab) -> None:
    engine = lab.run(TWO, 4, *BOTH, "4 50 2 99 99")
    pivot = engine.moment.jobs[2]
    because = r.EndsBeforePivot(pivot, start=320, ends=149, idle=2)
    assert lab.start(engine, "4") == Backfill(engine.moment.jobs[3], because, on=0b0011)
    assert engine.moment.start_of(1) == 149
    # Six processors, three a partition. The short job 2 holds two until 50, when the pivot, job 3, needs them.
    engine = lab.run(TWO, 6, "1 0 3 100 100", "2 0 2 50 50", "3 1 2 10 10", "4 2 1 90 90")
    spares = r.SparesPivot(engine.moment.jobs[2], start=50, idle=1, extra=1)
    assert lab.start(engine, "4") == Backfill(engine.moment.jobs[3], spares, on=0b000100)
    assert engine.moment.start_of(2) == 50
    engine = lab.run(TWO, 4, "1 0 2 50 50", "2 1 3 10 10", "3 2 1 20 20")
    assert lab.start(engine, "3") == Backfill(engine.moment.jobs[2], r.DelaysNoPivot(idle=0, borrowed=1), on=0b0100)
    assert engine.schedule().start.tolist() == [0, 50, 2]


def test_pivots_wait_by_priority_and_plan(lab: Lab) -> None:
    # The long processors are taken until 120. Job 3 would have to borrow a short one until 250, but job 2, the
    # pivot, needs all four at 120.
    engine = lab.run(TWO, 4, "1 0 2 120 120", "2 1 4 200 200", "3 50 1 200 200", until=50)
    assert lab.kept(engine, "3") == to_wait.WouldDelayPivot(engine.moment.jobs[1], start=120, later=250, ends=250)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 120, 320]
    # A processor is free, and job 3 needs one, but job 2 of the other queue is before it and needs both from 50 on.
    engine = lab.run(TWO, 2, "1 0 1 50 50", "2 1 2 10 10", "3 2 1 200 200", until=2)
    assert lab.kept(engine, "2") == to_wait.TooFewFree(free=1)
    assert lab.kept(engine, "3") == to_wait.PivotLater(at=60, free=1, other=engine.workload.jobs[1], then=50)
    assert [queued.planned for queued in engine.snapshot().queue] == [50, 60]
    workload = lab.workload(2, "1 0 2 10 10", "2 1 2 5 5", "3 2 2 200 200")
    assert run(workload, TWO).schedule().start.tolist() == [0, 10, 15]
    assert run(high(workload, "3"), TWO).schedule().start.tolist() == [0, 210, 10]


@given(data=st.data())
def test_a_single_queue_without_extras_is_easy(lab: Lab, data: st.DataObject) -> None:
    workload = data.draw(lab.workloads())
    easy, single = run(workload, "easy").schedule(), run(workload, "multiqueue:classes=none").schedule()
    assert single.start.tolist() == easy.start.tolist()
    assert single.backfilled.tolist() == easy.backfilled.tolist()


# Speculative runs
def test_speculative_runs_start_where_they_harm_nobody(lab: Lab) -> None:
    engine = lab.run(TRIED, 2, "1 0 2 30 40", "2 3 2 10 10")
    assert lab.start(engine, "1") == Start(engine.moment.jobs[0], r.TrialDue(limit=5), on=0b11, limit=5)
    schedule = engine.schedule()
    assert schedule.start.tolist() == [0, 35]
    assert schedule.end.tolist() == [35, 45]
    engine = lab.run(TRIED, 2, "1 0 2 10 10", "2 1 2 8 8", "3 2 1 30 30", until=2)
    assert lab.reservations(engine, "3") == [(18, r.PlannedTrial(limit=5))]
    assert lab.kept(engine, "3") == to_wait.TrialLater(at=18, limit=5, free=0)
    engine.run()
    assert engine.moment.start_of(2) == 18
    assert lab.start(engine, "3").because == r.TrialDue(limit=5)
    # Job 1 ends at 4 instead of 10.
    engine = lab.run(TRIED, 2, "1 0 2 4 10", "2 1 2 30 30")
    assert lab.start(engine, "2").because == r.TrialEarly(limit=5, reserved=10)
    assert engine.moment.start_of(1) == 4


# Reservations
def test_a_reservation_is_honoured_by_pivots_and_by_the_rules(lab: Lab) -> None:
    # Job 1 asks for 10 and takes both processors until 15. Job 2 would end at 12, job 4 at 11, job 3 at 10.
    workload = lab.workload(2, "1 0 2 5 5", "2 0 2 12 12", "3 1 1 9 9", "4 1 1 10 10")
    engine = run(reserve(workload, J1=10), "multiqueue:classes=none", until=1)
    assert lab.kept(engine, "1") == to_wait.WaitsForReserved(at=10)
    assert lab.kept(engine, "4") == to_wait.TouchesReservation(engine.moment.jobs[0], at=10, ends=11)
    engine.run()
    assert engine.schedule().start.tolist() == [10, 15, 1, 27]
    assert lab.start(engine, "1").because == r.Due()


def test_reservations_are_granted_as_early_as_can_be(lab: Lab) -> None:
    # Job 1 is expected to end at 20 and ends at 5: too late for job 2, which asked for 10 and was given 20.
    workload = reserve(lab.workload(2, "1 0 2 5 20", "2 1 2 5 5"), J2=10)
    engine = run(workload, "multiqueue")
    assert lab.reservations(engine, "2") == [(20, r.AskedFor(wanted=10))]
    assert engine.moment.start_of(1) == 20
    engine = run(reserve(lab.workload(2, "1 0 2 30 30"), J1=10), TRIED)
    assert engine.schedule().end.tolist() == [40]
    assert engine.schedule().start.tolist() == [10]


# Parameters
@pytest.mark.parametrize("classes", ["10000/1000", "1000/1000", "0/1000", "-5", "short", "1000/", "nan", "inf"])
def test_classes_that_do_not_ascend_are_refused(classes: str) -> None:
    with pytest.raises(ParameterError) as refused:
        parse_policy(f"multiqueue:classes={classes}")
    expected = "seconds > 0 in ascending order with slashes between them, like 1000/10000, or none"
    assert str(refused.value) == f"classes={classes}: expected {expected}; no number is beyond 1,000,000,000,000,000"


def test_a_small_machine_and_a_long_queue_come_out_to_the_second(shared: Path) -> None:
    for case in sorted((shared / "cases").glob("t*.expected")):
        workload = Workload.of(reading.read(case.with_suffix(".swf"))).with_overruns()
        for line in case.read_text().splitlines():
            spec, *cells = line.split()
            if spec.startswith("multiqueue"):
                starts = run(workload, spec).schedule().start.tolist()
                expected = [float(cell.split(":")[1]) for cell in cells]
                assert starts == expected, f"{case.stem} {spec}"


def test_refused_job_is_tried_again_after_a_pivot_is_delayed(lab: Lab) -> None:
    # At 10 the pivot 3 is to start at 45, so 5 may not, until 6 in the other partition delays 3 to 110.
    lines = ("1 0 3 45 45", "2 0 1 400 400", "3 10 7 40 40", "4 10 8 100 100", "5 10 1 40 40", "6 10 3 100 100")
    engine = lab.run("multiqueue:classes=50", 8, *lines, "7 12 8 40 40", until=12)
    assert [run.job.id for run in engine.present._running.values()] == ["1", "2", "6", "5"]
    assert engine.present._running[4].since == 12


@pytest.mark.parametrize(
    ("spec", "slowdown"), [("multiqueue:speculate=180", 77.6), ("multiqueue:classes=none,speculate=180", 83.2)]
)
def test_the_papers_finding_on_kth_comes_out(shared: Path, spec: str, slowdown: float) -> None:
    log = reading.read(shared / "traces" / "KTH-SP2-1996-2.swf.gz")
    workload = Workload.of(log, procs=100).with_overruns()
    engine = Engine(workload, parse_policy(spec), curious=False)
    engine.run()
    slowdowns = (engine.schedule().end - workload.submit) / workload.runtime
    assert round(float(np.mean(slowdowns)), 1) == slowdown


def test_kept_job_names_a_pivot_that_it_would_delay() -> None:
    """With failures, maintenance and speculative runs, too."""
    found = 0
    for seed in range(60):
        draw = Random(seed)
        workload = random_workload(seed)
        workload = workload.with_outages(random_outages(draw, workload.procs))
        spec = f"multiqueue:classes={draw.choice(('5/20', '10', 'none'))},speculate={draw.choice((3, 10))}"
        engine = Engine(workload, f"{spec},speculate_over={draw.choice((1, 5, 20))}", watchers=[Checker])
        while engine.step():
            reasons = [getattr(decision, "because", None) for decision in engine.moment.decisions]
            delays = [reason for reason in reasons if isinstance(reason, to_wait.WouldDelayPivot)]
            assert all(reason.later > reason.start for reason in delays), (seed, engine.now)
            found += len(delays)
    assert found > 40
