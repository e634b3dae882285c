import pytest
from hypothesis import given

from sim.decisions.decisions import Backfill, Borrow, Decision, Divide, Expect, Reserve, Resume, Start, Suspend
from sim.decisions.matrix import ReserveRow
from sim.engine.engine import Engine
from sim.policies import parse_policy
from sim.why.last_change import Division, HolderOf, PlanOf, last_change, trace_back
from sim.workload.model import Workload
from sim.workload.outages import Outage
from tests.examples import examples
from tests.sim.conftest import Lab

LAB = Lab()


def changed(engine: Engine, what: PlanOf | HolderOf | Division, cursor: int) -> tuple[int, Decision | None]:
    found = last_change(engine.history, what, cursor)
    assert found is not None
    return found


@pytest.fixture
def narrow(lab: Lab) -> Engine:
    return lab.run("easy", 4, "1 0 2 50 60", "2 5 4 100 100", "3 10 2 40 40", "4 12 1 500 500")


def test_unchanged_plans_are_no_change(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 3 50 50", "2 5 4 100 100", "3 10 1 10 10", "4 12 4 5 5")
    step, decision = changed(engine, PlanOf(1), 4)
    assert (step, type(decision)) == (2, Reserve)
    before = lab.run("conservative", 4, "1 0 3 100 100", "2 5 4 50 50")
    engine = Engine(before.workload.with_outages([Outage(20, 50, 0b1000)]), "conservative")
    engine.run()
    assert [type(decision).__name__ for decision in engine.history.decisions(2)][:2] == ["Gone", "Reserve"]
    assert changed(engine, PlanOf(1), 4)[0] == 2


def test_a_plan_moved_when_a_job_ended_early(lab: Lab) -> None:
    engine = lab.run("easy", 4, "1 0 2 20 60", "2 0 2 30 40", "3 5 4 10 10")
    step, decision = changed(engine, PlanOf(2), engine.step_count)
    assert engine.history.time_of(step - 1) == 20
    assert isinstance(decision, Reserve)
    assert decision.at == 40
    _, earlier = changed(engine, PlanOf(2), step)
    assert isinstance(earlier, Reserve)
    assert earlier.at == 60


def test_who_takes_over_and_plans_nothing_gives_a_plan_up(lab: Lab) -> None:
    engine = lab.run("replan", 4, "1 0 4 100 100", "2 5 4 10 10", until=5)
    engine.switch(parse_policy("firstfit"), 20)
    engine.switch(parse_policy("conservative"), 40)
    found = changed(engine, PlanOf(1), engine.step_count + 1)
    assert engine.history.time_of(found[0] - 1) == 40


def test_where_rows_take_turns_a_plan_moves_too(lab: Lab) -> None:
    # job 1 ends long before its estimate, and 4 is replanned
    jobs = ("1 0 4 100 400", "2 1 4 300 300", "3 2 4 50 50", "4 3 4 60 60")
    engine = lab.run("gang-backfill:mpl=2,slice=10", 4, *jobs, until=220)
    found = changed(engine, PlanOf(3), engine.step_count)
    assert isinstance(found[1], ReserveRow)
    assert engine.history.time_of(found[0] - 1) == 190


def test_places_without_a_cause_have_none(narrow: Engine, lab: Lab) -> None:
    assert last_change(narrow.history, PlanOf(0), 6) is None
    assert last_change(lab.run("easy", 4, "1 0 2 50 50").history, HolderOf(3), 2) is None
    assert last_change(narrow.history, Division(), 6) is None


def test_processors_change_by_decisions_or_ends(narrow: Engine, lab: Lab) -> None:
    step, decision = changed(narrow, HolderOf(3), 5)
    assert step == 3
    assert isinstance(decision, Backfill)
    assert decision.job.id == "3"
    step, decision = changed(narrow, HolderOf(0), 6)
    assert (step, type(decision)) == (5, Start)
    engine = lab.run("easy", 4, "1 0 2 50 50", "2 80 1 5 5")
    assert last_change(engine.history, HolderOf(1), 3) == (2, None)


def test_a_suspended_job_was_sent_away_and_came_back(lab: Lab) -> None:
    engine = lab.run("selective:sf=1.5", 4, "1 0 4 7200 7200", "2 0 2 60 60")
    step, came = changed(engine, HolderOf(3), engine.step_count)
    assert isinstance(came, Resume)
    assert isinstance(changed(engine, HolderOf(3), step)[1], Suspend)


def test_boundary_was_last_moved_by_a_loan_then_by_the_division(lab: Lab) -> None:
    engine = lab.run("multiqueue:classes=100/1000", 6, "1 0 2 50 50", "2 1 4 50 50")
    step, loan = changed(engine, Division(), 3)
    assert (step, type(loan)) == (2, Borrow)
    step, first = changed(engine, Division(), 2)
    assert (step, type(first)) == (1, Divide)


def test_start_counts_as_a_change_even_if_suspended_at_once(lab: Lab) -> None:
    policy = "tunable:sf=1.5,tick=10,memory=yes,bandwidth=20,restart=any"
    jobs = ("1 10 1 230 2400", "2 10 6 5 15", "3 20 2 3 3", "4 22 5 540 5400")
    engine = lab.run(policy, 6, *jobs, until=20)
    assert engine.history.stretch(1).start == engine.history.stretch(1).end
    found = changed(engine, HolderOf(1), engine.step_count + 1)
    assert (found[0], type(found[1])) == (engine.step_count, Start)


@pytest.mark.parametrize("what", [PlanOf(0), HolderOf(0), Division()])
def test_before_the_first_step_nothing_happened(narrow: Engine, what: PlanOf | HolderOf | Division) -> None:
    assert last_change(narrow.history, what, 1) is None
    assert last_change(narrow.history, what, 0) is None


def test_whoever_searches_long_may_give_up(lab: Lab) -> None:
    many = [f"{number} {number * 10} 1 5 5" for number in range(1, 1500)]
    engine = lab.run("easy", 2, *many)
    assert next(trace_back(engine.history, PlanOf(0), engine.step_count)) is None
    assert last_change(engine.history, PlanOf(0), engine.step_count, should_quit=lambda: True) is None


@examples(40)
@given(workload=LAB.workloads())
def test_the_holder_is_the_same_from_the_cause_on(workload: Workload) -> None:
    engine = Engine(workload, parse_policy("selective:tick=1"))
    holders = [frozenset[int]()]
    while engine.step():
        holders.append(frozenset(rank for rank, held in engine.present._machine.held.items() if held & 1))
    for cursor in range(1, len(holders)):
        found = last_change(engine.history, HolderOf(0), cursor)
        since = 0 if found is None else found[0]
        assert len(set(holders[since:cursor])) == 1
        assert found is None or holders[since] != holders[since - 1]


def test_pivots_plan_changes_by_an_early_end_or_an_arrival(lab: Lab) -> None:
    # Job 3 needs the whole machine: it is planned for 60 at first, for 40 when job 1 ends at 20.
    engine = lab.run("multiqueue:classes=none", 4, "1 0 2 20 60", "2 0 2 30 40", "3 5 4 10 10")
    found = last_change(engine.history, PlanOf(2), engine.step_count)
    assert found == (3, Expect(engine.workload.jobs[2], 40))
    assert last_change(engine.history, PlanOf(2), 3) == (2, Expect(engine.workload.jobs[2], 60))
