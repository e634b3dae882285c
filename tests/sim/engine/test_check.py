"""The checker of runs finds every rule that is broken on purpose, and names step, time, job and rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sim.core.engine import Engine
from sim.core.moment import Moment
from sim.decisions.decisions import Decision, Reserve, Start
from sim.decisions.reasons import Due, Fits
from sim.core.check import Checker
from sim.errors import InvariantError
from sim.policies import Policy, parse_policy
from sim.policies.gang.gang import GangMigrate
from sim.workload.model import Workload
from sim.workload.reading import read
from sim.workload.samples import sample_path
from sim.workload.transforms import first

if TYPE_CHECKING:
    from tests.sim.conftest import Lab

# Four processors, all estimates exact. Jobs 1 and 2 run on three of them, job 3 waits for all four.
# At 5 job 4 arrives and does not fit either. At 10 jobs 1 and 2 end.
JOBS = ("1 0 2 10 10", "2 0 1 10 10", "3 1 4 10 10", "4 5 2 10 10")


def broken(lab: Lab, tamper: Callable[[Engine], object], policy: str = "fcfs", until: float = 1) -> InvariantError:
    """Run until `until`, change the engine's state with `tamper`, and return the error that the checker raises in the
    next step.
    """
    engine = lab.run(policy, 4, *JOBS, until=until)
    tamper(engine)
    with pytest.raises(InvariantError) as error:
        engine.step()
    return error.value


def share_a_processor(engine: Engine) -> None:
    engine.present._machine.held[1] = 0b0001


def take_one_more(engine: Engine) -> None:
    engine.present._machine.held[1] = 0b1100
    engine.present._machine.free_set = 0
    engine.present._machine.free = engine.moment.free = 0


def lose_a_processor(engine: Engine) -> None:
    engine.present._machine.free_set = 0
    engine.present._machine.free = 0


def miscount(engine: Engine) -> None:
    engine.present._machine.free = 0


def lose_a_job(engine: Engine) -> None:
    engine.present._waiting.remove(engine.moment.jobs[2])


def queue_a_running_job(engine: Engine) -> None:
    engine.present._waiting.remove(engine.moment.jobs[2])
    engine.present._waiting.add(engine.moment.jobs[0])


def forget_an_expected_end(engine: Engine) -> None:
    engine.state.ends.pop()


@pytest.mark.parametrize(
    ("tamper", "rule", "job"),
    [
        (share_a_processor, "a processor is held twice", "2"),
        (take_one_more, "it holds more or fewer processors than it requested", "2"),
        (lose_a_processor, "free and held processors together are not the available processors", None),
        (miscount, "the count of free processors is wrong", None),
        (lose_a_job, "4 jobs were submitted, but 3 wait, run, are suspended or ended", None),
        (queue_a_running_job, "a job is in two places", None),
        (forget_an_expected_end, "the list of expected ends does not name the running jobs", None),
    ],
)
def test_a_broken_state_is_found(lab: Lab, tamper: Callable[[Engine], object], rule: str, job: str | None) -> None:
    error = broken(lab, tamper)
    assert (error.rule, error.step, error.time, error.job) == (rule, 3, 5, job)


def test_the_error_is_one_line(lab: Lab) -> None:
    assert (
        str(broken(lab, share_a_processor))
        == "check failed at step 3, time d0 00:00:05, job 2: a processor is held twice"
    )


def test_a_start_before_the_submit_is_found_when_the_job_ends(lab: Lab) -> None:
    def tamper(engine: Engine) -> None:
        engine.present._ledger.start[0] = -1

    error = broken(lab, tamper, until=5)
    assert (error.rule, error.time, error.job) == ("it ran before it was submitted", 10, "1")


@pytest.mark.parametrize(("start", "made"), [(0.5, 9.5), (-0.5, 10.5)])
def test_a_run_of_the_wrong_length_is_found(lab: Lab, start: float, made: float) -> None:
    def tamper(engine: Engine) -> None:
        engine.history._start[1] = start

    error = broken(lab, tamper, until=5)
    assert (error.time, error.job) == (10, "2")
    assert error.rule == f"it made {made} s of progress and must make 10 s"


def test_a_plan_that_drifted_is_found(lab: Lab) -> None:
    error = broken(lab, lambda engine: engine.state.plan.take(50, 60, 1), policy="conservative")
    assert (error.rule, error.time) == ("the incrementally updated plan differs from one computed from scratch", 5)


@dataclass(frozen=True)
class Liar(Policy):
    """Policy that starts fitting jobs at 0, reserves 10 for job 3, and breaks this promise at 5."""

    name = "liar"
    keeps_reservations = True
    then: Callable[[Moment], Iterator[Decision]] = lambda view: iter(())

    def promises(self) -> bool:
        return True

    def decide(self, view: Moment) -> Iterator[Decision]:
        if view.now == 0:
            for job in view.queue:
                yield Start(job, Fits(view.free))
        elif view.now == 1:
            yield Reserve(view.job(2), 10, Due())
        else:
            yield from self.then(view)


def move_later(view: Moment) -> Iterator[Decision]:
    if view.now == 5:
        yield Reserve(view.job(2), 12, Due())


def start_late(view: Moment) -> Iterator[Decision]:
    if view.now == 5:
        yield Reserve(view.job(3), 20, Due())
    elif view.now == 20:
        for job in view.queue[:1]:
            yield Start(job, Fits(view.free))


def give_away_twice(view: Moment) -> Iterator[Decision]:
    if view.now == 5:
        yield Reserve(view.job(3), 10, Due())


@pytest.mark.parametrize(
    ("then", "rule", "time", "job"),
    [
        (move_later, "its promised start moved from d0 00:00:10 to d0 00:00:12", 5, "3"),
        (start_late, "it was promised d0 00:00:10 and started at d0 00:00:20", 20, "3"),
        (give_away_twice, "the plan gives away more processors than there are", 5, None),
    ],
)
def test_a_policy_that_breaks_its_word_is_found(
    lab: Lab, then: Callable[[Moment], Iterator[Decision]], rule: str, time: float, job: str | None
) -> None:
    engine = Engine(lab.workload(4, *JOBS), Liar(then=then), watchers=[Checker])
    with pytest.raises(InvariantError) as error:
        engine.run()
    assert (error.value.rule, error.value.time, error.value.job) == (rule, time, job)


def test_a_policy_that_promises_nothing_may_move_a_reservation_later(lab: Lab) -> None:
    engine = lab.run("replan:order=sjf", 2, "1 0 2 10 10", "2 1 2 10 10", "3 5 2 5 5")
    assert [at for at, _ in lab.reservations(engine, "2")] == [10, 15]


def test_without_the_check_nobody_looks(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), parse_policy("fcfs"))
    engine.run(until=1)
    engine.present._ledger.start[0] = -1
    engine.run()
    assert engine.schedule().start[0] == -1


def test_more_migrated_tasks_than_may_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # The policy moves as many as it likes and says that it may move none.
    workload = first(Workload.of(read(sample_path("lublin-128"))), 120).with_overruns()
    engine = Engine(workload, parse_policy("gang-migrate:mpl=2"), watchers=[Checker])
    engine.run()
    assert engine.schedule().migrations.any()
    monkeypatch.setattr(GangMigrate, "most_migrated", lambda self: 0)
    with pytest.raises(InvariantError, match=r"tasks migrated, 0 may"):
        Engine(workload, parse_policy("gang-migrate:mpl=2"), watchers=[Checker]).run()


def test_what_ends_a_moment_late_with_others_has_not_run_too_long(lab: Lab) -> None:
    """Each end is less than a microsecond after the one before, so that all three are one instant."""
    engine = lab.run("easy", 3, "1 0 1 1 9", "2 0 1 1.0000009 9", "3 0 1 1.0000018 9")
    assert engine.step_count == 2
