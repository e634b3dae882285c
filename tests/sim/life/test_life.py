"""The life of one job, on traces small enough to work out by hand.

Also tests sim.life.moments, sim.life.job_recorder.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np
import pytest

from sim.decisions.reasons_inferred import Heads
from sim.decisions.reasons_to_wait import MachineGoesDown, NoVictims, TooFewFree, WouldDelay
from sim.engine.engine import Engine
from sim.history.stretch_queries import InTheWay
from sim.life.life import Life, life_of
from sim.life.moments import Foreseen, Unplanned
from sim.life.story import figures
from sim.policies import parse_policy
from sim.workload.follows import After, Follow
from sim.workload.formats.swf import read as read_swf
from sim.workload.model import Workload
from sim.workload.outages import Outage
from sim.workload.reading import read
from sim.workload.transforms import Transforms
from tests.effort import calls

SAMPLES = Path(__file__).resolve().parents[3] / "sample_traces"


def workload(procs: int, *jobs: tuple[int, int, int, int]) -> Workload:
    """Return jobs 1, 2, ... given as (submit, processors, run time, estimate)."""
    lines = [f"; MaxProcs: {procs}"]
    for number, (submit, width, run, estimate) in enumerate(jobs, 1):
        lines.append(f"{number} {submit} -1 {run} {width} -1 -1 {width} {estimate}" + " -1" * 9)
    return Workload.of(read_swf("\n".join(lines), "little", "little.swf")).with_overruns()


def life(of: Workload, policy: str, job: str) -> Life:
    return life_of(of, parse_policy(policy), of.rank_of(job))


def sample(name: str) -> Workload:
    return Workload.of(read(SAMPLES / name)).with_overruns()


def moment_kinds(life: Life) -> list[tuple[float, str]]:
    """Return (time in seconds, name of the kind) of each event in the life."""
    return [(moment.time, type(moment).__name__) for moment in life.moments]


def test_a_job_behind_the_head_waits_for_two_reasons_in_turn() -> None:
    """Zhang's figure 4: job 4 does not fit until 600, would delay job 3 until 1200, then is first in the queue."""
    lived = life(sample("z-figure4.swf"), "easy", "4")
    assert [(w.time, w.until, type(w.state)) for w in lived.waits] == [
        (30, 600, TooFewFree),
        (600, 1200, WouldDelay),
        (1200, 1800, Heads),
    ]
    would_delay = lived.waits[1]
    assert would_delay.blocker is not None
    assert would_delay.blocker.id == "3"
    assert would_delay.numbers["extra"] == (2, 2)
    assert would_delay.ahead == (1, 1)
    assert [(p.time, p.job.id, p.behind) for p in lived.passes] == [(600, "5", True)]


def test_interrupted_jobs_are_told_of() -> None:
    of = workload(2, (0, 1, 100, 100), (0, 1, 100, 100)).with_outages([Outage(20, 50, 0b10)])
    assert [(w.time, w.until, w.state) for w in life(of, "fcfs", "2").waits] == [(20, 50, TooFewFree(0))]
    of = workload(2, (0, 2, 100, 100)).with_outages([Outage(20, inf, 0b10)])
    lived = life(of, "fcfs", "1")
    assert (lived.start, lived.end, lived.ran) == (0, None, None)
    assert "never ended" in figures(lived)


@pytest.mark.parametrize("policy", [
    "fcfs", "firstfit", "easy", "easy:depth=2", "conservative", "replan", "relaxed", "selective",
    "multiqueue:classes=900",
])  # fmt: skip
def test_who_would_run_into_maintenance_waits_for_that_and_not_for_room(policy: str) -> None:
    of = workload(4, (0, 2, 80, 80), (1, 2, 99, 99)).with_outages([Outage(70, 100, 0b1111, announced=True)])
    first, then = life(of, policy, "1").waits
    assert (first.until, first.state) == (70, MachineGoesDown(70, 80))
    assert (then.until, type(then.state) in (Heads, TooFewFree, NoVictims)) == (100, True)


def test_a_plan_moves_later_for_the_job_that_passed_and_not_for_another() -> None:
    """Ward's figure 1: job 3 passes job 2 at 20 and runs until 1220, which moves job 2's plan. Job 4 passes at 30 but
    has ended by 930."""
    lived = life(sample("w-figure1.swf"), "relaxed:omega=1.25", "2")
    moved = lived.plans[-1]
    assert (moved.time, moved.was, moved.at) == (20, 1000, 1220)
    assert [job.id for job in moved.passers] == ["3"]
    assert [p.job.id for p in lived.passes] == ["3", "4", "5"]


def test_a_head_that_is_overtaken_loses_its_planned_start() -> None:
    """With order=sjf, job 2 is first in the queue until the shorter job 3 arrives, which starts first."""
    of = workload(2, (0, 2, 50, 50), (10, 2, 30, 30), (20, 2, 5, 5))
    lived = life(of, "easy:order=sjf", "2")
    assert [(type(m), m.time) for m in lived.moments if isinstance(m, Foreseen | Unplanned)] == [
        (Foreseen, 10),
        (Unplanned, 20),
        (Foreseen, 50),
    ]
    (passed,) = lived.passes
    assert (passed.time, passed.job.id, passed.behind) == (50, "3", False)


def longest(policy: str, column: str) -> Iterator[tuple[Life, int]]:
    """Yield the lives of three jobs for which it took longest until `column`, which are as in a run without recorded
    reasons, and how often each was suspended."""
    of = sample("lublin-128.swf").take(slice(0, 300))
    engine = Engine(of, parse_policy(policy), curious=False)
    engine.run()
    schedule = engine.schedule()
    for rank in np.argsort(of.submit - getattr(schedule, column))[:3].tolist():
        lived = life_of(of, parse_policy(policy), rank)
        assert (lived.start, lived.end) == (schedule.start[rank], schedule.end[rank])
        yield lived, schedule.preemptions[rank]


@pytest.mark.parametrize("policy", ["gang", "gang-backfill", "gang-migrate", "selective", "multiqueue:speculate=180"])
def test_a_watched_job_lives_as_it_does_when_nobody_watches(policy: str) -> None:
    assert all(len(lived.pauses) == suspended for lived, suspended in longest(policy, "end"))


@pytest.mark.parametrize(
    "policy", ["fcfs", "firstfit", "easy", "easy:depth=3", "conservative", "replan", "relaxed", "slack"]
)
def test_what_is_told_covers_the_wait_without_a_gap(policy: str) -> None:
    for lived, _ in longest(policy, "start"):
        assert lived.waits[0].time == lived.job.submit
        assert [w.until for w in lived.waits] == [w.time for w in lived.waits[1:]] + [lived.start]
        assert [m.time for m in lived.moments] == sorted(m.time for m in lived.moments)


def with_reasons(of: Workload, policy: str) -> int:
    """The calls of a run that records the reasons of all jobs."""
    return calls(lambda: Engine(of, parse_policy(policy)).run())


def test_a_job_late_in_a_long_log_is_found_for_less_than_the_reasons_of_all() -> None:
    of = sample("lublin-320.swf").take(slice(0, 3000))
    assert calls(lambda: life(of, "easy", "2900")) < with_reasons(of, "easy")


@pytest.mark.long
def test_a_job_that_is_suspended_for_weeks_is_told_quickly(shared: Path) -> None:
    """J4034 of KTH needs 98 of 100 processors and resumes only when no other job needs one of them."""
    of = Transforms(jobs=4600).apply(Workload.of(read(shared / "traces" / "KTH-SP2-1996-2.swf.gz"))).with_overruns()
    lived = []
    assert calls(lambda: lived.append(life(of, "immediate", "4034"))) < with_reasons(of, "immediate") / 2
    assert [round(pause.seconds / 86400) for pause in lived[0].pauses] == [21]


@pytest.mark.parametrize("policy", ["fcfs", "easy", "conservative", "multiqueue", "selective", "gang-backfill"])
def test_life_begins_when_the_jobs_before_it_have_ended(policy: str) -> None:
    jobs = workload(4, (0, 4, 100, 200), (5, 2, 50, 60), (10, 2, 50, 60), (12, 4, 50, 60), (400, 1, 5, 5))
    after = (None, None, Follow((After(1),), 30.0), None, Follow((After(2), After(3)), 7.0))
    chained = replace(jobs, follows=after)
    engine = Engine(chained, policy)
    engine.run()
    done = engine.schedule()
    for rank in range(len(jobs)):
        life = life_of(chained, policy, rank)
        assert (life.job.submit, life.start, life.end) == (done.workload.submit[rank], done.start[rank], done.end[rank])
        assert life.moments[0].time == life.job.submit


def test_only_later_submissions_pass_a_dependent_job() -> None:
    jobs = workload(4, (0, 4, 600, 600), (5, 2, 50, 60), (10, 4, 100, 100), (620, 1, 10, 10))
    chained = replace(jobs, follows=(None, Follow((After(0),), 0.0), None, None))
    first, later = life_of(chained, "fcfs", 1), life_of(chained, "fcfs", 2)
    assert (first.start, first.passes, first.in_its_way) == (700, (), InTheWay(inf, frozenset()))
    assert (later.start, later.passes) == (600, ())


def test_jobs_behind_a_cancelled_job_have_their_whole_life() -> None:
    """Job 1 does not fail, so job 2 is cancelled at 10; job 3 is submitted and placed in the same step."""
    of = workload(4, (0, 4, 10, 10), (1, 4, 10, 10), (2, 4, 20, 20))
    follows = (None, Follow((After(0, "not ok"),)), Follow((After(1, "any"),)))
    of = replace(of, follows=follows).with_outages([Outage(90, 95, 1)])
    for policy, first in (("easy", "Submitted"), ("gang", "Submitted")):
        assert moment_kinds(life(of, policy, "3"))[0] == (10, first)
        assert moment_kinds(life(of, policy, "2")) == [(10, "Told")]
        assert life(of, policy, "3").start == 10
