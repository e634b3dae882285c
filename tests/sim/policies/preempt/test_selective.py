"""Also tests sim.policies.preempt.preemption, sim.policies.preempt.remembering, sim.policies.preempt.tolls,
sim.policies.preempt.xfactors."""

from dataclasses import dataclass, replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.decisions.decisions import Suspend
from sim.decisions.reasons_to_wait import AwaitsVictims, ClaimTaken
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.moment import Moment
from sim.history.stretch import Stretch
from sim.machine.processors import written
from sim.policies import Policy, parse_policy
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.selective import Selective, Tunable
from sim.policies.preempt.tolls import Tolls
from sim.timeline.scenario import Scenario, run
from sim.workload import replay
from sim.workload.model import Job, Workload
from sim.workload.reading import read
from tests.sim.conftest import Lab

SAMPLE = Path(__file__).parents[4] / "sample_traces" / "k-figure3.1.swf"

# Two processors. Job 2 has an xfactor of 2 when it has waited for 10 seconds.
PAIR = ("1 0 2 100 100", "2 0 2 10 10")


def stays(engine: Engine, job: str) -> list[tuple[float, float | None]]:
    return [(stretch.start, stretch.end) for stretch in stretches(engine, job)]


def stretches(engine: Engine, job: str) -> list[Stretch]:
    rank = engine.workload.rank_of(job)
    return [stretch for stretch in engine.history.stretches() if stretch.rank == rank]


def suspensions(engine: Engine) -> list[tuple[float, str]]:
    decided = engine.history.all_decisions()
    return [(engine.history.time_of(step), d.job.id) for step, d in decided if isinstance(d, Suspend)]


# When
def test_jobs_suspend_others_when_due(lab: Lab) -> None:
    engine = lab.run("selective:tick=1", 2, *PAIR)
    assert stays(engine, "1") == [(0, 10), (20, 110)]
    assert stays(engine, "2") == [(10, 20)]
    assert lab.instants(lab.run("selective:tick=1", 2, *PAIR)) == [0, 10, 20, 110]


@pytest.mark.parametrize(
    ("sf", "jobs", "at"),
    [
        ("1.5", ("1 0 1 180 180", "2 0 1 300 300", "3 0 1 300 300"), 420),  # 2.4 >= 1.5 * 1.6
        ("3", ("1 0 1 360 360", "2 0 1 3600 3600", "3 372 1 360 360"), 1200),  # 3.3 >= 3 * 1.1
    ],
)
def test_xfactor_exactly_sf_times_as_large_suffices(lab: Lab, sf: str, jobs: tuple[str, ...], at: float) -> None:
    assert lab.starts(f"selective:sf={sf}", 1, *jobs)["3"] == at


@pytest.mark.parametrize("tick", ["1.1", "3.3", "7.7"])
def test_ticks_may_be_numbers_that_binary_fractions_only_come_near(lab: Lab, tick: str) -> None:
    engine = lab.run(f"selective:tick={tick},sf=1.1", 2, *PAIR, "3 1 1 30 30", "4 2.2 2 7 9")
    assert engine.present._tally.finished == 4


# How often: K section 3.1
def figure_3_1(sf: float, tick: float = 1) -> Engine:
    engine = Engine(Workload.of(read(SAMPLE)).with_overruns(), Selective(sf=sf, tick=tick), watchers=[Checker])
    engine.run()
    return engine


def test_equal_jobs_suspend_each_other_as_the_sample_says() -> None:
    assert suspensions(figure_3_1(sf=2)) == []
    assert suspensions(figure_3_1(1.5, tick=60)) == [(1800, "1")]
    assert suspensions(figure_3_1(1.2, tick=60)) == [(720, "1"), (2340, "2"), (4320, "1")]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_equal_jobs_suspend_each_other_at_most_n_times(n: int) -> None:
    above, below = 2 ** (1 / (n + 1)), 2 ** (1 / (n + 1)) - 0.001
    assert len(suspensions(figure_3_1(above))) == n
    assert len(suspensions(figure_3_1(below))) == n + 1


# Victims
@pytest.mark.parametrize(("procs", "start"), [(4, 10), (3, 100)])
def test_a_job_does_not_suspend_one_more_than_twice_as_wide(lab: Lab, procs: int, start: float) -> None:
    assert lab.starts("selective:tick=10", 8, "1 0 8 100 100", f"2 0 {procs} 10 10")["2"] == start


# Four processors. Job 4 makes way at 20 on 0 and 1; job 5 leaves 0 at 30, as job 2 does 2, and job 6 leaves 1 at 40.
SEATED = (
    "1 0 2 5 5", "2 0 1 30 200", "3 0 1 200 200", "4 6 2 100 100", "5 6 1 10 10", "6 6 1 20 20", "7 30 1 50 50",
)  # fmt: skip


@pytest.mark.parametrize(("seats", "seat", "back"), [("apart", "2", 40), ("lowest", "0", 80)])
def test_a_new_job_sits_apart_from_the_suspended_or_by_number(lab: Lab, seats: str, seat: str, back: float) -> None:
    engine = lab.run(f"selective:tick=10,seats={seats}", 4, *SEATED)
    assert [(written(s.processors), s.start) for s in stretches(engine, "7")] == [(seat, 30)]
    assert [(written(s.processors), s.start) for s in stretches(engine, "4")] == [("0-1", 6), ("0-1", back)]


def test_seats_and_restarts_choose_processors(lab: Lab) -> None:
    assert past(lab.workload(4, *SEATED), Selective(tick=10)) == past(
        lab.workload(4, *SEATED), Selective(tick=10, seats="apart")
    )
    engine = lab.run("selective:tick=10,restart=any", 4, *SEATED)
    assert [(written(s.processors), s.start) for s in stretches(engine, "4")] == [("0-1", 6), ("0 2", 30)]
    assert [(written(s.processors), s.start) for s in stretches(engine, "7")] == [("1", 40)]


# Memory
def test_memory_makes_suspending_and_resuming_last(lab: Lab) -> None:
    policy = parse_policy("selective:tick=1,memory=yes,bandwidth=100")
    assert isinstance(policy, Preemptive)
    engine = lab.run(policy, 2, *PAIR)
    takes = policy.overhead(engine.moment.jobs[0])
    assert 1 < takes < 10
    times = [(s.kind, s.start) for s in stretches(engine, "1")]
    assert [kind for kind, _ in times] == ["run", "suspending", "resuming", "run"]
    assert [start for _, start in times] == pytest.approx([0, 10, 20 + takes, 20 + 2 * takes])
    assert stays(engine, "2") == [pytest.approx((10 + takes, 20 + takes))]
    assert engine.schedule().end[0] == pytest.approx(110 + 2 * takes)


def test_memory_is_written_by_processors_and_bandwidth() -> None:
    job = Job(0, "1", 0, 1, 10)
    assert Selective(memory=True, bandwidth=1).overhead(job) == 4 * Selective(memory=True, bandwidth=4).overhead(job)
    assert 100 <= Selective(memory=True, bandwidth=1).overhead(job) <= 1000
    assert Selective().overhead(job) == 0
    narrow, wide = Job(0, "1", 0, 1, 10), Job(0, "1", 0, 8, 10)
    assert Selective(memory=True).overhead(narrow) == 8 * Selective(memory=True).overhead(wide)


def test_job_with_a_promised_start_on_a_claim_is_no_victim(lab: Lab) -> None:
    """Job 3 may start at 20 by its granted reservation, on processors that job 2, suspended for job 4, left first."""
    of = lab.workload(2, "1 0 1 100 100", "2 1 1 10 10", "3 1 1 50 50", "4 2 2 1 1")
    of = replace(of, reserve=np.array([np.nan, np.nan, 20, np.nan]))
    then = (6.0, "selective:tick=1,memory=yes,bandwidth=20")
    scenario = Scenario(of, "multiqueue:classes=none", (then,))
    one, two, three, _ = of.jobs
    for until, why in ((6, AwaitsVictims((two, one))), (30, AwaitsVictims((one,))), (50, ClaimTaken((three,)))):
        assert lab.kept(scenario.watched(until), "4") == why


# Remembered values
@dataclass(frozen=True)
class Forgetful(Selective):
    """Selective suspension without a memory of tolls: each question for a toll begins from nothing."""

    def _tolls(self, view: Moment) -> Tolls:
        view.notes.pop("tolls", None)
        return super()._tolls(view)


@dataclass(frozen=True)
class ForgetfulTunable(Forgetful, Tunable):
    """The tunable form of it."""


def past(workload: Workload, policy: Policy) -> list[Stretch]:
    engine = Engine(workload, policy, watchers=[Checker])
    engine.run()
    return list(engine.history.stretches())


def test_job_that_leaves_after_its_threshold_was_reviewed_is_forgotten() -> None:
    """It takes a thousand jobs of a busy sample until a threshold counts of a job that no longer runs."""
    of = replay.read("lublin-128", estimates="exact")
    runs = [run(of, policy) for policy in (Tunable(sf=1.5), ForgetfulTunable(sf=1.5))]
    assert (runs[0].start == runs[1].start).all()


@pytest.mark.parametrize("policy", ["selective", "tunable", "adaptive:below=selective"])
def test_started_job_leaves_no_tick_behind(lab: Lab, policy: str) -> None:
    """Job 2 could preempt at 240, but it starts at 30, when job 1 ends early."""
    assert lab.instants(lab.run(policy, 2, "1 0 2 30 1000", "2 0 2 20 200")) == [0, 30, 50]


def test_resumed_job_leaves_no_tick_behind(lab: Lab) -> None:
    """Job 3 is suspended, resumes when nothing runs, and ends: nothing can preempt any more."""
    jobs = ("1 0 7 29 29", "2 0 7 35 35", "3 20 2 39 39", "4 22 1 2 2")
    assert lab.instants(lab.run("tunable", 7, *jobs)) == [0, 20, 22, 29, 31, 60, 95, 103]


# One processor. Job 1 ends at 100 with slowdown 1; job 2 starts then, with xfactor 2. Job 3's is 4 at 130.
JOBS = ("1 0 1 100 100", "2 0 1 100 100", "3 100 1 10 10")


def test_limit_protects_by_the_mean_of_the_category(lab: Lab) -> None:
    # Its xfactor is 2, and the limit is 1.5 times the mean slowdown of the one finished job of its category, which is
    # 1.
    assert lab.starts("tunable:tick=10", 1, *JOBS)["3"] == 200
    # Jobs 3 and 4 start at 100 with xfactor 2. Job 4 ends at 150 with slowdown 3, which raises the limit from 1.5 to
    # 2.5.
    jobs = ("1 0 1 100 100", "2 0 1 100 100", "3 0 1 100 100", "4 0 1 50 100", "5 100 2 10 10")
    assert lab.starts("selective:tick=10", 2, *jobs)["5"] == 130
    assert lab.starts("tunable:tick=10", 2, *jobs)["5"] == 150
    # Job 2 ran from 99 to 100, but its bounded slowdown is only 10.9. Job 3's xfactor of 2 exceeds 0.15 times that, but
    # not 0.2 times.
    short = ("1 0 1 99 700", "2 0 1 1 100", "3 0 1 100 100", "4 100 1 10 10")
    assert lab.starts("tunable:tick=10,limit=0.2", 1, *short)["4"] == 130
    assert lab.starts("tunable:tick=10,limit=0.15", 1, *short)["4"] == 200


def test_who_takes_over_counts_the_jobs_that_finished_before(lab: Lab) -> None:
    """Job 1, which ended under the earlier policy, counts in the mean slowdown."""
    engine = lab.run("fcfs", 1, *JOBS, until=105)
    engine.switch(parse_policy("tunable:tick=10"), 110)
    engine.run(inf)
    assert engine.schedule().start[2] == 200


def test_ended_job_is_not_suspended_after_its_limit_changed(lab: Lab) -> None:
    """When job 2 ends, the limit of its category changes, so the xfactors are compared anew; job 3 is such a job, and
    has ended when job 5 looks for jobs to suspend."""
    jobs = ("1 10 2 40 40", "2 15 1 7 7", "3 35 2 5 10", "4 45 2 60 65", "5 55 3 25 25")
    assert lab.starts("tunable:sf=1,tick=10,limit=0.5", 4, *jobs)["5"] == 105
