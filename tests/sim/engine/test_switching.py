"""Another policy takes over in the middle of a run (sim/RULES.md), and no job is lost, whatever policy ran before.

Also tests sim.engine.inherited.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sim.decisions.decisions import Await, Decision, Reserve, Resume, Start, Suspend, Switched
from sim.decisions.reasons import InOrder
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.history.past import Switch
from sim.machine.processors import written
from sim.policies import POLICIES, Policy, parse_policy
from sim.policies.backfill.easy import Easy
from sim.support.errors import ParameterError
from sim.timeline.scenario import Scenario
from sim.workload.limits import Bound, Limits
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.samples import sample_path

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

NAMES = sorted(POLICIES)
SPACE = ["fcfs", "firstfit", "easy", "conservative", "replan", "shadow", "relaxed", "slack", "multiqueue",
         "easy++", "lookahead", "greedy"]  # fmt: skip


def run(workload: Workload, first: str, *switches: tuple[float, str], placement: str = "lowest") -> Engine:
    """Run to the end with all checks; each switch is (time, spec of the policy from then on)."""
    engine = Engine(workload, parse_policy(first), watchers=[Checker], curious=False)
    for at, spec in switches:
        while (due := engine.next_time()) is not None and due < at:
            engine.step()
        if due is not None:
            engine.switch(parse_policy(spec), at)
    engine.run()
    return engine


def nothing_is_lost(engine: Engine) -> None:
    """Check that every job ran for its run time and ended, and that no suspended job, granted reservation or kept
    processor is left.
    """
    workload, schedule = engine.workload, engine.schedule()
    np.testing.assert_allclose(schedule.ran, workload.runtime, atol=1e-6)
    assert not np.isnan(schedule.end).any()
    assert (schedule.start >= workload.submit).all()
    assert not engine.moment.left
    assert not engine.moment.granted
    assert engine.present._machine.kept == 0


def test_rows_are_numbered_from_1_after_a_switch_at_the_start(lab: Lab) -> None:
    workload = lab.workload(4, "1 0 4 900 900", "2 0 4 900 900")
    scenario = Scenario(workload, "gang", [(0, "gang:cs=0.05")])
    engine = scenario.at_the_beginning()
    step = scenario.stepper(engine)
    while engine.now <= 0:
        step()
    assert engine.moment.rows.rows == (1, 2)


@pytest.fixture(scope="module")
def busy() -> Workload:
    """Return thirty jobs on 128 processors, which arrive faster than they can be run; some users request
    reservations.
    """
    workload = Workload.of(read(sample_path("lublin-128"))).with_overruns().take(slice(0, 30))
    submit = np.round(workload.submit * 0.4)
    draw = np.random.default_rng(0).random((2, len(workload)))
    return replace(workload, submit=submit, reserve=np.where(draw[0] < 0.15, np.round(submit + draw[1] * 2e4), np.nan))


@pytest.mark.parametrize("before", NAMES)
def test_every_policy_hands_over_to_every_other(busy: Workload, before: str) -> None:
    """The other hands back, too."""
    middle, late = np.quantile(busy.submit, [0.5, 0.9]).round().tolist()
    for after in NAMES[NAMES.index(before) :]:
        nothing_is_lost(run(busy, before, (middle, after), (late, before)))


@pytest.mark.parametrize("left", ["multiqueue:speculate=180", "selective:memory=yes", "gang-backfill:cs=0.05"])
def test_every_policy_adopts_what_three_kinds_of_policies_leave(busy: Workload, left: str) -> None:
    early, middle = np.quantile(busy.submit, [0.4, 0.7]).round().tolist()
    for after, last in zip(NAMES, [*NAMES[5:], *NAMES[:5]], strict=True):
        nothing_is_lost(run(busy, left, (early, after), (middle, last)))


# The step of the switch


def test_a_switch_is_a_step_of_its_own(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 3 10 10", "2 1 4 10 10", "3 2 1 8 8", until=2)
    engine.switch(parse_policy("easy"), 5)
    shown = engine.snapshot()
    assert (shown.step, shown.time, shown.policy, shown.arrived, shown.completed) == (4, 5, "easy", (), ())
    assert [type(d) for d in engine.history.decisions(3)] == [Switched, Reserve]
    assert shown.switches == (Switch(4, 5, Easy(), "fcfs"),)
    assert shown.switches == engine.history.switches


def test_what_is_due_at_the_switch_happens_first(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 4 10 10", "2 10 4 10 10", until=5)
    engine.switch(parse_policy("easy"), 10)
    shown = engine.snapshot()
    assert ([job.id for job in shown.completed], [job.id for job in shown.arrived]) == (["1"], ["2"])
    assert engine.moment.start_of(1) == 10


def test_a_switch_cannot_pass_what_is_due(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 4 10 10", until=5)
    for at in (-1, 11):
        with pytest.raises(ParameterError, match="must be at a time from d0 00:00:00 to d0 00:00:10"):
            engine.switch(parse_policy("easy"), at)


def test_the_same_policy_with_other_parameters(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10", "2 1 1 9 9", "3 1 1 2 2", until=1)
    engine.switch(parse_policy("fcfs:order=sjf"), 4)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 12, 10]
    assert engine.schedule().policy == "fcfs, from d0 00:00:04 on fcfs:order=sjf"


def test_processors_that_fail_are_no_switch_of_the_policy(lab: Lab) -> None:
    engine = lab.run("fcfs", 2, "1 0 1 10 10", until=1)
    engine.take_away(0b10, until=8)
    engine.run()
    assert engine.schedule().policy == "fcfs"


def test_all_who_wait_are_promised_a_start_in_queue_order(lab: Lab) -> None:
    engine = lab.run("fcfs", 1, "1 0 1 10 10", "2 1 1 9 9", "3 1 1 2 2", until=1)
    engine.switch(parse_policy("conservative:order=sjf"), 4)
    assert engine.moment.reserved == {1: 12, 2: 10}
    assert engine.present._ledger.promised[2] == 10


# Running jobs


def test_a_speculative_run_becomes_an_ordinary_one(lab: Lab) -> None:
    engine = lab.run("multiqueue:classes=none,speculate=5,speculate_over=10", 1, "1 0 1 20 30", "2 1 1 1 1", until=1)
    engine.switch(parse_policy("fcfs"), 3)
    [running] = engine.snapshot().running
    assert (running.kind, running.since, running.expected_end, running.ran) == ("run", 0, 30, 3)
    engine.run()
    assert engine.schedule().end.tolist() == [20, 21]
    assert [(s.kind, s.start, s.end) for s in engine.history.stretches()][:2] == [
        ("speculative", 0, 3), ("run", 3, 20)]  # fmt: skip


def test_partitions_are_of_even_size_and_own_what_runs(lab: Lab) -> None:
    engine = lab.run("fcfs", 4, "1 0 3 10 50", "2 0 1 10 5", until=0)
    engine.switch(parse_policy("multiqueue:classes=10"), 2)
    assert list(map(written, engine.present._machine.owners)) == ["3", "0-2"]
    engine.switch(parse_policy("easy"))
    assert engine.snapshot().owners == ()
    assert engine.history.owners_at(2) == ()


# Sharing in time


def gang(lab: Lab, until: float = 250) -> Engine:
    """Return an engine with three rows of one job each. At the default `until`, the second row has just got its first
    turn; the third has had none.
    """
    jobs = ("1 0 4 1000 2000", "2 1 4 1000 2000", "3 2 4 1000 2000")
    return lab.run("gang", 4, *jobs, until=until)


def test_the_row_on_turn_goes_on_and_the_others_are_put_aside(lab: Lab) -> None:
    engine = gang(lab, until=201)
    engine.switch(parse_policy("fcfs"), 250)
    shown = engine.snapshot()
    assert [(r.job.id, r.kind, r.ran) for r in shown.running] == [("2", "run", 49)]
    assert [(s.job.id, s.ran) for s in shown.suspended] == [("1", 201)]
    assert [q.job.id for q in shown.queue] == ["3"]
    assert shown.totals.preemptions == 1
    engine.run()
    nothing_is_lost(engine)
    assert engine.schedule().end.tolist() == [250 + 951 + 799, 250 + 951, 250 + 951 + 799 + 1000]


def test_switch_to_rows_puts_running_jobs_into_one_row(lab: Lab) -> None:
    engine = lab.run("immediate:slice=10", 4, "1 0 4 500 500", "2 20 2 500 500", "3 21 2 50 50", "4 22 4 5 5", until=22)
    assert list(engine.present._suspended) == [0]
    engine.switch(parse_policy("gang:mpl=2"), 25)
    matrix = engine.moment.rows
    rows = [[engine.workload.ids[rank] for rank in matrix.jobs if matrix.home(rank) == row] for row in matrix.rows]
    assert rows == [["2", "3"], ["1"]]
    assert not engine.present._suspended
    engine.run()
    nothing_is_lost(engine)


# Suspended jobs under a policy that never suspends


def put_aside(lab: Lab) -> Engine:
    """Return an engine at 20: job 1 (processors 0 and 1) has just been suspended for job 2, which runs there until 70
    by its estimate.
    """
    jobs = ("1 0 2 500 500", "2 20 2 40 50", "3 21 1 200 200", "4 22 2 10 10", "5 23 1 100 100")
    return lab.run("immediate:slice=10", 2, *jobs[:2], *jobs[2:], until=20)


@pytest.mark.parametrize("name", SPACE)
def test_a_suspended_job_goes_on_before_anything_starts(lab: Lab, name: str) -> None:
    engine = put_aside(lab)
    engine.switch(parse_policy(name), 20.5)
    assert engine.moment.awaited == 0
    decided = [d for d in engine.history.decisions(engine.step_count - 1) if isinstance(d, Await)]
    assert [d.job.id for d in decided] == ["1"]
    engine.run()
    nothing_is_lost(engine)
    assert [(s.start, s.end) for s in engine.history.stretches() if s.rank == 0] == [(0, 20), (60, 540)]


@pytest.mark.parametrize("name", [name for name in SPACE if name != "multiqueue"])
def test_processors_are_kept_for_the_first_that_must_go_on(lab: Lab, name: str) -> None:
    # Job 2 has one of job 1's three processors; job 3 would fit on the two free ones, but only job 4 may start.
    jobs = ("1 0 3 500 500", "2 20 1 40 50", "3 20 2 5 5", "4 21 1 5 5")
    engine = lab.run("immediate:slice=10", 4, *jobs[:1], "9 1 1 15 15", *jobs[1:], until=20)
    suspended = [engine.workload.ids[rank] for rank in engine.present._suspended]
    engine.switch(parse_policy(name))
    engine.run()
    nothing_is_lost(engine)
    assert all(id in {"1", "2", "9"} for id in suspended)


def test_when_nobody_is_suspended_any_more_promises_are_given(lab: Lab) -> None:
    engine = put_aside(lab)
    engine.switch(parse_policy("conservative"), 20.5)
    assert not engine.moment.promises
    engine.run(until=60)
    assert engine.moment.promises
    assert engine.present._ledger.promised[2] == engine.moment.reserved[2] == 540


# Reservations that were granted


def granted(lab: Lab) -> Engine:
    """Return an engine in which job 2 has a granted reservation of the whole machine from 50 on. Job 1 runs until 40;
    jobs 3 and 4 arrive at 20.
    """
    lines = ("1 0 1 40 40", "2 0 2 10 10", "3 20 1 100 100", "4 20 1 20 20")
    workload = replace(lab.workload(2, *lines), reserve=np.array([np.nan, 50, np.nan, np.nan]))
    engine = Engine(workload, parse_policy("multiqueue:classes=none"), watchers=[Checker])
    engine.run(until=0)
    assert engine.moment.granted == {1: 50}
    return engine


@pytest.mark.parametrize("name", [name for name in NAMES if not POLICIES[name].suspends])
def test_nobody_starts_who_is_in_the_way_of_a_granted_reservation(lab: Lab, name: str) -> None:
    engine = granted(lab)
    engine.switch(parse_policy(name), 10)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 50, 60, 20]


@pytest.mark.parametrize("name", ["selective", "tunable", "immediate"])
def test_a_policy_that_suspends_makes_room_when_a_reservation_is_due(lab: Lab, name: str) -> None:
    engine = granted(lab)
    engine.switch(parse_policy(name), 10)
    engine.run()
    assert engine.moment.start_of(1) == 50
    suspended = [d.job.id for _, d in engine.history.all_decisions() if isinstance(d, Suspend)]
    assert suspended[:2] == ["4", "3"]
    nothing_is_lost(engine)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("gang")])
def test_in_a_matrix_a_reserved_job_gets_a_row_that_comes_on_turn(lab: Lab, name: str) -> None:
    engine = granted(lab)
    engine.switch(parse_policy(name), 10)
    engine.run()
    assert engine.moment.start_of(1) == 50
    nothing_is_lost(engine)


class Counting(Policy):
    """Policy that starts every job that fits, and counts how often the engine reports that a job has completed."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        done = view.notes.setdefault("done", {})
        for job in view.completed:
            done[job.rank] = done.get(job.rank, 0) + 1
        for job in view.queue:
            if view.fits(job):
                yield Start(job, InOrder(view.free))


def test_a_policy_that_is_asked_again_is_told_once_who_completed(lab: Lab) -> None:
    """When job 1 completes at 40, job 3 still runs, so that the start granted to job 2 must wait."""
    engine = granted(lab)
    engine.switch(Counting(), 10)
    engine.run()
    assert engine.schedule().start.tolist() == [0, 50, 60, 20]
    assert engine.present.notes["done"] == {0: 1, 1: 1, 2: 1, 3: 1}


def test_a_reservation_outlives_several_policies(lab: Lab) -> None:
    engine = granted(lab)
    for at, name in ((5, "easy"), (21, "gang"), (30, "conservative"), (31, "multiqueue")):
        engine.run(until=at - 0.5)
        engine.switch(parse_policy(name), at)
    engine.run()
    assert engine.moment.start_of(1) == 50
    nothing_is_lost(engine)


def test_who_goes_on_is_told(lab: Lab) -> None:
    engine = put_aside(lab)
    engine.switch(parse_policy("easy"), 20.5)
    engine.run()
    kinds = [type(d) for _, d in engine.history.all_decisions() if isinstance(d, Switched | Await | Resume | Start)]
    assert kinds[:5] == [Start, Start, Switched, Await, Resume]


def test_switched_policy_promises_nothing_if_jobs_have_limits(lab: Lab) -> None:
    """J2 is held back by the limit of its user until 10. Then it stands ahead of J3, which had a start at 10."""
    limits = Limits((Bound("AssocGrpCpuLimit", 2, "cores", "user a"),), (((0, 1),), ((0, 2),), ()), ((), (), ()))
    workload = replace(lab.workload(3, "1 0 1 10 10", "2 0 2 100 100", "3 1 3 5 5"), limits=limits)
    engine = run(workload, "fcfs", (1, "easy"))
    assert engine.schedule().start.tolist() == [0, 10, 110]
    assert np.isnan(engine.schedule().promised).all()
