"""Also tests sim.engine.yielded."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf, nan
from typing import Any, cast

import pytest

from sim.decisions.decisions import Backfill, Decision, Expect, Keep, Reserve, Resume, Start, Suspend, Wake
from sim.decisions.reasons import Due, Fits
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.policies import Policy
from sim.policies.gang.gang import GangMigrate
from sim.support.errors import DecisionError
from sim.workload.model import Job
from tests.sim.conftest import Lab

# Job 1 runs on three of four processors; job 2 needs two, job 3 one, job 4 has not been submitted.
JOBS = ("1 0 3 10 10", "2 5 2 10 10", "3 5 1 10 10", "4 9 1 1 1")
J4 = Job(rank=3, id="4", submit=9, procs=1, estimate=1)


@dataclass(frozen=True)
class Mischief(Policy):
    """Policy that starts fitting jobs at 0, and at 5 makes the decision `ask`, which is to be refused."""

    ask: Callable[[Moment], Any] = field(default=lambda view: None)
    seen: list[object] = field(default_factory=list)

    def decide(self, view: Moment) -> Iterator[Decision]:
        if view.now < 5:
            yield Start(view.queue[0], Fits(view.free))
            return
        self.seen.append(state_of(view))
        yield self.ask(view)


def state_of(view: Moment) -> object:
    return view.free, [job.id for job in view.queue], list(view.ends), dict(view.reserved)


def refused(lab: Lab, ask: Callable[[Moment], Any]) -> str:
    """Run a policy whose decision `ask` is refused; return the engine's message, and check that nothing was changed."""
    policy = Mischief(ask=ask)
    engine = Engine(lab.workload(4, *JOBS), policy)
    engine.step()
    with pytest.raises(DecisionError) as error:
        engine.step()
    assert policy.seen == [state_of(engine.present)]
    assert engine.present._machine.held == {0: 0b0111}
    assert engine.present._machine.free_set == 0b1000
    assert len(engine.history) == 1
    assert engine.schedule().start.tolist()[0] == 0
    return str(error.value)


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda view: Start(view.job(0), Fits(1)), "job 1 cannot start: it is not waiting"),
        (lambda view: Backfill(view.job(0), Fits(1)), "job 1 cannot start: it is not waiting"),
        (lambda view: Start(J4, Fits(1)), "job 4 cannot start: it is not waiting"),
        (lambda view: Start(view.job(1), Fits(1)), "job 2 cannot start: it needs 2, 1 are free"),
        (
            lambda view: Reserve(view.job(1), 4, Due()),
            "job 2 cannot get a reservation for d0 00:00:04: the time is already d0 00:00:05",
        ),
        (lambda view: Reserve(view.job(0), 9, Due()), "job 1 cannot get a reservation: it is not waiting"),
        (lambda view: Reserve(J4, 9, Due()), "job 4 cannot get a reservation: it is not waiting"),
        (lambda view: Wake(5), "a timer must be in the future: got d0 00:00:05 at time d0 00:00:05"),
        (lambda view: Wake(4), "a timer must be in the future: got d0 00:00:04 at time d0 00:00:05"),
        (lambda view: Wake(inf), "a timer must be in the future: got inf"),
        (lambda view: Reserve(view.job(1), inf, Due()), "job 2 cannot get a reservation for inf"),
        (lambda view: Reserve(view.job(1), 9, Due(), nan), "job 2 cannot get a reservation for nan s: expected 0 to"),
        (lambda view: Expect(view.job(1), nan), "job 2 cannot be expected at nan: the time is already d0 00:00:05"),
        (lambda view: Start(view.job(2), Fits(1), limit=-1), "job 3 cannot start for -1 s: expected 0 to"),
        (lambda view: Suspend(view.job(0), Due(), nan), "job 1 cannot be suspended for nan s: expected 0 to"),
        (lambda view: Suspend(view.job(0), Due(), inf), "job 1 cannot be suspended for inf s: expected 0 to"),
        (lambda view: Start(view.job(2), cast("Any", None)), "the reason of a decision about job 3 must be an object"),
        (lambda view: Reserve(view.job(1), 9, cast("Any", 1.5)), "or a text; got 1.5"),
        (lambda view: Suspend(view.job(0), cast("Any", Due)), "or a text; got the class Due"),
        (lambda view: Keep(view.job(1), cast("Any", ["quota"] * 99)), "or a text; got quota, quota"),
    ],
)
def test_nonsense_is_refused(lab: Lab, ask: Callable[[Moment], Any], error: str) -> None:
    assert error in refused(lab, ask)


@pytest.mark.parametrize(
    "ask",
    [
        lambda view: Reserve(view.job(1), nan, Due()),
        lambda view: Wake(nan),
        lambda view: Start(view.job(1).replaced(procs=1), Fits(1)),
        lambda view: Start(view.job(2).replaced(estimate=1), Fits(1)),
        lambda view: Reserve(view.job(1).replaced(estimate=1), 10, Due()),
    ],
    ids=["reserved for nan", "woken at nan", "a forged width", "a forged estimate", "a forged reservation"],
)
def test_what_is_not_as_it_was_submitted_is_refused(lab: Lab, ask: Callable[[Moment], Any]) -> None:
    refused(lab, ask)


@dataclass(frozen=True)
class Stalls(GangMigrate):
    """Gang policy that charges the first job a negative number of seconds for a migration."""

    def decide(self, now: Moment) -> None:
        super().decide(now)
        now.stall(now.job(0), -1, Due())


def test_a_stall_must_take_a_time_that_can_be(lab: Lab) -> None:
    with pytest.raises(DecisionError, match="job 1 cannot stall for -1 s: expected 0 to"):
        Engine(lab.workload(4, *JOBS), Stalls()).run()


@dataclass(frozen=True)
class Wakes(Policy):
    """Policy that suspends a job and asks to resume it at a time that is not a number."""

    suspends = True

    def decide(self, view: Moment) -> Iterator[Decision]:
        if view.now == 0:
            yield Start(view.queue[0], Fits(view.free))
        elif view.now == 5:
            yield Suspend(view.job(0), Due())
        else:
            yield Resume(view.job(0), Due(), nan)


def test_a_job_must_go_on_in_a_time_that_can_be(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), Wakes())
    with pytest.raises(DecisionError, match="job 1 cannot be resumed for nan s: expected 0 to"):
        engine.run()
    assert list(engine.present._suspended) == [0]


@dataclass(frozen=True)
class Twice(Policy):
    def decide(self, view: Moment) -> Iterator[Decision]:
        job = view.queue[0]
        yield Start(job, Fits(view.free))
        yield Start(job, Fits(view.free))


def test_a_job_cannot_be_started_twice_in_one_pass(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), Twice())
    with pytest.raises(DecisionError, match="job 1 cannot start: it is not waiting"):
        engine.step()
    assert (engine.moment.free, len(engine.history)) == (1, 1)


@dataclass(frozen=True)
class Idle(Policy):
    """Never starts anything."""

    name = "idle"

    def decide(self, view: Moment) -> Iterator[Decision]:
        yield from ()


def test_a_policy_that_never_starts_anything_is_told_off(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), Idle(), watchers=[Checker])
    with pytest.raises(DecisionError, match="idle leaves 4 jobs unfinished, the first is job 1"):
        engine.run()


def test_a_run_that_was_cut_short_may_leave_jobs_waiting(lab: Lab) -> None:
    engine = Engine(lab.workload(4, *JOBS), Idle(), watchers=[Checker])
    engine.run(until=9)
    assert len(engine.moment.waiting) == 4
