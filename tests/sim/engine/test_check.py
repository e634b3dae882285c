import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import pytest

from sim.decisions.decisions import Reserve
from sim.decisions.reasons import Due, Fits
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.policies import Policy
from sim.policies.gang.gang import GangMigrate
from sim.support.errors import InvariantError
from sim.workload.follows import After, Follow
from sim.workload.formats import nodes
from sim.workload.limits import Bound, Limits
from sim.workload.model import Workload
from sim.workload.outages import Outage
from sim.workload.reading import read
from sim.workload.samples import sample_path
from sim.workload.transforms import first
from tests.sim.conftest import Lab

# Four processors, all estimates exact. Jobs 1 and 2 run on three of them, job 3 waits for all four.
# At 5 job 4 arrives and does not fit either. At 10 jobs 1 and 2 end.
JOBS = ("1 0 2 10 10", "2 0 1 10 10", "3 1 4 10 10", "4 5 2 10 10")
GANG = "gang:mpl=3,slice=2"


def begun(workload: Workload, policy: Policy | str, until: float, rules: Workload | None = None) -> Engine:
    """Return a run up to the time `until` that is checked at each step, by the rules of another workload if given."""
    checker = Checker if rules is None else lambda moment, _, history: Checker(moment, rules, history)
    engine = Engine(workload, policy, watchers=[checker])
    engine.run(until)
    return engine


def broken(engine: Engine, tamper: Callable[[Moment], object]) -> InvariantError:
    """Change the moment with `tamper`, and return the error that the checker then raises."""
    checker = Checker(engine.present, engine.workload, engine.history)
    checker()
    tamper(engine.present)
    with pytest.raises(InvariantError) as error:
        checker()
    return error.value


def share_a_processor(moment: Moment) -> None:
    moment._machine.held[1] = 0b0001


def take_one_more(moment: Moment) -> None:
    moment._machine.held[1] = 0b1100
    moment._machine.free_set = moment._machine.free = moment._free = 0


def lose_a_processor(moment: Moment) -> None:
    moment._machine.free_set = moment._machine.free = 0


def miscount(moment: Moment) -> None:
    moment._machine.free = 0


def miscount_in_the_moment(moment: Moment) -> None:
    moment._free = 0


def fail_unseen(moment: Moment) -> None:
    moment._outages = (Outage(0, 20, 0b1000),)


def shrink(moment: Moment) -> None:
    moment._procs = 3


def lose_a_job(moment: Moment) -> None:
    moment._waiting.remove(moment._jobs[2])


def queue_a_running_job(moment: Moment) -> None:
    moment._waiting.remove(moment._jobs[2])
    moment._waiting.add(moment._jobs[0])


def forget_an_expected_end(moment: Moment) -> None:
    moment._stays.in_order.pop()


def mistake_a_stay(moment: Moment) -> None:
    moment._running[0] = moment._running[0].recorded_by(7)


@pytest.mark.parametrize(
    ("tamper", "rule", "job"),
    [
        (share_a_processor, "a processor is held twice", "2"),
        (take_one_more, "it holds more or fewer processors than it requested", "2"),
        (lose_a_processor, "free and held processors together are not the available processors", None),
        (miscount, "the count of free processors is wrong", None),
        (miscount_in_the_moment, "the count of free processors is wrong", None),
        (fail_unseen, "the available processors differ from what the outages allow", None),
        (shrink, "a job waits for more processors than will ever be available", None),
        (lose_a_job, "3 jobs were submitted, but 2 wait, run, are suspended or ended", None),
        (queue_a_running_job, "a job is in two places", None),
        (forget_an_expected_end, "the list of expected ends does not name the running jobs", None),
        (mistake_a_stay, "the list of expected ends does not name the running jobs", None),
    ],
)
def test_a_broken_state_is_found(lab: Lab, tamper: Callable[[Moment], object], rule: str, job: str | None) -> None:
    error = broken(begun(lab.workload(4, *JOBS), "fcfs", 1), tamper)
    assert (error.rule, error.step, error.time, error.job) == (rule, 2, 1, job)


def test_the_error_is_one_line(lab: Lab) -> None:
    error = broken(begun(lab.workload(4, *JOBS), "fcfs", 1), share_a_processor)
    assert str(error) == "check failed at step 2, time d0 00:00:01, job 2: a processor is held twice"


# The matrix: jobs 1 and 2 are in row 1, which is active, job 3 is in row 2
def overlap(moment: Moment) -> None:
    moment._matrix()._columns[1] = 0b0001


def widen(moment: Moment) -> None:
    moment._matrix()._columns[1], moment._matrix()._used[1] = 0b1100, 0b1111


def lose_a_column(moment: Moment) -> None:
    moment._outages = (Outage(0, inf, 0b1000),)
    moment._machine.lose(0b1000)
    moment._free = moment._machine.free


def forget_a_row(moment: Moment) -> None:
    moment._shared().turns.rows = (1,)


def mistake_the_home(moment: Moment) -> None:
    moment._matrix()._home[0] = 2


def mistake_the_turn(moment: Moment) -> None:
    moment._shared().turns.row = 2


@pytest.mark.parametrize(
    ("tamper", "rule", "job"),
    [
        (overlap, "in row 1 of the matrix columns 0 are held twice", None),
        (widen, "it stands in another number of columns than it asked for", "2"),
        (lose_a_column, "it stands in columns that are not there", "3"),
        (forget_a_row, "the row clock and the matrix have different rows", None),
        (mistake_the_home, "its home row is not the first of its rows", "1"),
        (mistake_the_turn, "the processors are not held by the row on turn", None),
    ],
)
def test_a_broken_matrix_is_found(lab: Lab, tamper: Callable[[Moment], object], rule: str, job: str | None) -> None:
    error = broken(begun(lab.workload(4, *JOBS), GANG, 1), tamper)
    assert (error.rule, error.job) == (rule, job)


def test_wrong_progress_in_the_matrix_is_found(lab: Lab) -> None:
    engine = begun(lab.workload(4, *JOBS), GANG, 5)
    engine.present._shared().ran[0] += 3
    with pytest.raises(InvariantError, match="job 1: it made 7 s of progress and must make 10 s"):
        engine.run()


@dataclass(frozen=True)
class Quiet(GangMigrate):
    """Policy that moves as many tasks as it likes and says that it may move none."""

    name = "quiet"

    def most_migrated(self) -> int:
        return 0


def test_more_migrated_tasks_than_may_are_found() -> None:
    workload = first(Workload.of(read(sample_path("lublin-128"))), 120).with_overruns()
    assert begun(workload, GangMigrate(mpl=2), inf).schedule().migrations.any()
    with pytest.raises(InvariantError, match=r"tasks migrated, 0 may"):
        begun(workload, Quiet(mpl=2), inf)


@pytest.mark.parametrize(
    ("owners", "rule"),
    [
        ([0b0111, 0b1100], "a processor has two owners"),
        ([0b0011, 0b1000], "a processor has no owner, or is owned and not there"),
    ],
)
def test_a_broken_partition_is_found(lab: Lab, owners: list[int], rule: str) -> None:
    def tamper(moment: Moment) -> None:
        moment._machine.owners = owners

    assert broken(begun(lab.workload(4, *JOBS), "multiqueue:classes=5", 1), tamper).rule == rule


# Progress and suspension
def test_a_start_before_the_submit_is_found_when_the_job_ends(lab: Lab) -> None:
    engine = begun(lab.workload(4, *JOBS), "fcfs", 5)
    engine.present._ledger.start[0] = -1
    with pytest.raises(InvariantError) as error:
        engine.step()
    assert (error.value.rule, error.value.time, error.value.job) == ("it ran before it was submitted", 10, "1")


@pytest.mark.parametrize(("start", "made"), [(0.5, 9.5), (-0.5, 10.5)])
def test_a_run_of_the_wrong_length_is_found(lab: Lab, start: float, made: float) -> None:
    engine = begun(lab.workload(4, *JOBS), "fcfs", 5)
    engine.history._start[1] = start
    with pytest.raises(InvariantError) as error:
        engine.step()
    assert (error.value.time, error.value.job) == (10, "2")
    assert error.value.rule == f"it made {made} s of progress and must make 10 s"


@pytest.mark.parametrize(("outcome", "what"), [("any", "ended"), ("start", "started")])
def test_a_start_before_the_job_that_it_waits_for_is_found(lab: Lab, outcome: Any, what: str) -> None:
    workload = lab.workload(4, *JOBS)
    rules = replace(workload, follows=(Follow((After(2, outcome),)), None, None, None))
    with pytest.raises(InvariantError) as error:
        begun(workload, "fcfs", inf, rules)
    assert error.value.rule == f"it started before job 3 had {what}, which it waits for"


def suspended(lab: Lab) -> Engine:
    """Return a run with jobs 1 and 2 suspended by a switch in the turn of job 3, at whose end they resume."""
    engine = begun(lab.workload(4, *JOBS[:3]), GANG, 2)
    engine.switch("fcfs", 3)
    assert [*engine.present._suspended] == [0, 1]
    return engine


def test_a_suspended_job_that_moves_is_found(lab: Lab) -> None:
    def tamper(moment: Moment) -> None:
        moment._suspended[0] = 0b1001

    error = broken(suspended(lab), tamper)
    assert (error.rule, error.job) == ("a suspended job's processors changed", "1")


def test_a_job_that_resumes_elsewhere_is_found(lab: Lab) -> None:
    engine = suspended(lab)
    engine.present._suspended[0] = 0b1001
    checker = Checker(engine.present, engine.workload, engine.history)
    engine.present._suspended[0] = 0b0011
    engine._after_step.clear()
    engine.step()
    with pytest.raises(InvariantError, match="job 1: it was resumed on other processors than its own"):
        checker()


# Rules of the workload: of limits, and of nodes
@pytest.mark.parametrize(
    ("limits", "rule", "job"),
    [
        (
            Limits((Bound("L", 2, "cores", "a"),), (((0, 2),), ((0, 1),), (), ())),
            "may hold 2 cores and holds more",
            "2",
        ),
        (Limits((Bound("L", 1, "jobs", "a"),), ((),) * 4, ((0,),) * 4), "may have 1 jobs submitted and has 2", None),
    ],
)
def test_a_broken_limit_is_found(lab: Lab, limits: Limits, rule: str, job: str | None) -> None:
    workload = lab.workload(4, *JOBS)
    with pytest.raises(InvariantError) as error:
        begun(workload, "fcfs", inf, replace(workload, limits=limits))
    assert (error.value.rule, error.value.job) == (f"a {rule}", job)


def on_nodes(**more: Any) -> Workload:
    jobs = [{"id": name, "submit": 0, "run": 10, "tasks": 3, "cores": 1, "user": name} for name in "ab"]
    case = {"nodes": [{"count": 2, "cores": 4, "mem": 8}], "jobs": jobs, **more}
    return Workload.of(nodes.read(json.dumps(case), "nodes", "nodes"))


def test_a_miscounted_node_is_found() -> None:
    def tamper(moment: Moment) -> None:
        machine: Any = moment._machine
        machine.left[0] -= 1

    error = broken(begun(on_nodes(), "fcfs", 0), tamper)
    assert error.rule == "the free resources of a node are counted wrongly"


def test_a_start_on_reserved_nodes_is_found() -> None:
    reservations = [{"name": "r", "nodes": [0], "start": 0, "end": 50, "users": ["b"]}]
    with pytest.raises(InvariantError, match="job a: it started on nodes that a reservation keeps from it"):
        begun(on_nodes(), "fcfs", 0, on_nodes(reservations=reservations))


# Plans and promises
def test_a_plan_that_drifted_is_found(lab: Lab) -> None:
    def tamper(moment: Moment) -> None:
        plan: Any = moment._kept_plan
        plan.take(50, 60, 1)

    error = broken(begun(lab.workload(4, *JOBS), "conservative", 5), tamper)
    assert error.rule == "the incrementally updated plan differs from one computed from scratch"


def test_a_check_leaves_the_plan_as_it_is(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), "conservative")
    engine.run(5)
    engine.present._kept_plan = None
    Checker(engine.present, engine.workload, engine.history)()
    assert engine.present._kept_plan is None


def test_a_late_start_that_was_granted_is_found(lab: Lab) -> None:
    engine = begun(lab.workload(4, *JOBS), "fcfs", 1)
    engine.present._granted[2] = 0.5
    with pytest.raises(InvariantError, match=r"job 3: it starts later than .*, the start reserved by its user"):
        Checker(engine.present, engine.workload, engine.history)()


@dataclass(frozen=True)
class Liar(Policy):
    """Policy that starts fitting jobs at 0, reserves 10 for job 3, and breaks this promise at 5."""

    name = "liar"
    keeps_reservations = True
    then: Callable[[Moment], object] = lambda now: None

    def promises(self) -> bool:
        return True

    def decide(self, now: Any) -> None:
        if now.time == 0:
            for job in now.queue:
                now.start(job, Fits(now.free))
        elif now.time == 1:
            now.reserve(now.job(2), 10, Due())
        else:
            self.then(now)


def move_later(now: Moment) -> None:
    if now.time == 5:
        now.reserve(now.job(2), 12, Due())


def start_late(now: Moment) -> None:
    if now.time == 5:
        now.reserve(now.job(3), 20, Due())
    elif now.time == 20:
        now.start(now.queue[0], Fits(now.free))


def give_away_twice(now: Moment) -> None:
    if now.time == 5:
        now.reserve(now.job(3), 10, Due())


@pytest.mark.parametrize(
    ("then", "rule", "time", "job"),
    [
        (move_later, "its promised start moved from d0 00:00:10 to d0 00:00:12", 5, "3"),
        (start_late, "it was promised d0 00:00:10 and started at d0 00:00:20", 20, "3"),
        (give_away_twice, "the plan gives away more processors than there are", 5, None),
    ],
)
def test_a_policy_that_breaks_its_word_is_found(
    lab: Lab, then: Callable[[Moment], object], rule: str, time: float, job: str | None
) -> None:
    with pytest.raises(InvariantError) as error:
        begun(lab.workload(4, *JOBS), Liar(then=then), inf)
    assert (error.value.rule, error.value.time, error.value.job) == (rule, time, job)


def test_a_policy_that_promises_nothing_may_move_a_reservation_later(lab: Lab) -> None:
    engine = begun(lab.workload(2, "1 0 2 10 10", "2 1 2 10 10", "3 5 2 5 5"), "replan:order=sjf", inf)
    decisions = [decision for _, decision in engine.history.all_decisions()]
    assert [each.at for each in decisions if isinstance(each, Reserve) and each.job.id == "2"] == [10, 15]


def test_without_the_check_nobody_looks(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), "fcfs")
    engine.run(until=1)
    engine.present._ledger.start[0] = -1
    engine.run()
    assert engine.schedule().start[0] == -1


def test_what_ends_a_moment_late_with_others_has_not_run_too_long(lab: Lab) -> None:
    """Each end is less than a microsecond after the one before, so that all three are one instant."""
    engine = begun(lab.workload(3, "1 0 1 1 9", "2 0 1 1.0000009 9", "3 0 1 1.0000018 9"), "easy", inf)
    assert engine.step_count == 2
