"""Plans of free processors, compared with one number for each second; and their compression, compared with a plain
version.

Also tests sim.machine.trials.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.machine.moment import MOMENT
from sim.machine.profile import Profile
from sim.machine.trials import Trials
from sim.workload.model import Job
from tests.examples import examples

SIZE = 6
HORIZON = 80

takes = st.lists(st.tuples(st.integers(0, 20), st.integers(1, 10), st.integers(1, 2)), max_size=8)


@dataclass
class Seconds:
    """The simplest plan: the number of free processors in each second."""

    free: list[int] = field(default_factory=lambda: [SIZE] * HORIZON)

    def take(self, start: int, end: int, procs: int) -> None:
        for second in range(start, end):
            self.free[second] -= procs

    def earliest(self, procs: int, duration: int, after: int) -> int:
        return next(t for t in range(after, HORIZON) if min(self.free[t : t + duration]) >= procs)


def both(jobs: list[tuple[int, int, int]]) -> tuple[Profile, Seconds]:
    plan, plain = Profile(0, SIZE), Seconds()
    for after, duration, procs in jobs:
        start = plan.earliest(procs, duration, after)
        assert start == plain.earliest(procs, duration, after)
        plan.take(start, start + duration, procs)
        plain.take(int(start), int(start) + duration, procs)
    return plan, plain


def second_by_second(plan: Profile, since: int = 0) -> list[int]:
    steps = list(plan.steps())
    return [next(free for t, free in reversed(steps) if t <= s) for s in range(since, HORIZON)]


@given(takes)
def test_a_plan_is_what_it_is_second_by_second(jobs: list[tuple[int, int, int]]) -> None:
    plan, plain = both(jobs)
    assert second_by_second(plan) == plain.free


@given(takes)
def test_a_plan_is_no_longer_than_it_must_be(jobs: list[tuple[int, int, int]]) -> None:
    plan, _ = both(jobs)
    assert all(a < b and free != then for (a, free), (b, then) in pairwise(plan.steps()))


@given(takes, st.integers(1, SIZE), st.integers(1, 10), st.integers(0, 30))
def test_a_place_is_the_first_to_fit(jobs: list[tuple[int, int, int]], procs: int, duration: int, after: int) -> None:
    plan, _ = both(jobs)
    start = plan.earliest(procs, duration, after)
    assert plan.fits(procs, start, duration)
    assert not any(plan.fits(procs, earlier, duration) for earlier in range(after, int(start)))


@given(takes, st.tuples(st.integers(0, 20), st.integers(1, 10), st.integers(1, 2)))
def test_giving_back_undoes_taking(jobs: list[tuple[int, int, int]], job: tuple[int, int, int]) -> None:
    plan, _ = both(jobs)
    start, duration, procs = job
    changed = plan.copy()
    changed.take(start, start + duration, procs)
    assert changed != plan
    changed.take(start, start + duration, -procs)
    assert changed == plan


@given(takes, st.integers(0, 30))
def test_advancing_forgets_the_past_and_nothing_else(jobs: list[tuple[int, int, int]], now: int) -> None:
    plan, plain = both(jobs)
    plan.advance(now)
    assert next(plan.steps())[0] == now
    assert second_by_second(plan, now) == plain.free[now:]


def test_plans_begin_now_and_count_all_ends() -> None:
    plan = Profile.of_running(5, 1, [(10, 0, 2), (10, 3, 1), (20, 1, 4)])
    assert list(plan.steps()) == [(5, 1), (10, 4), (20, 8)]
    with pytest.raises(ValueError, match=r"5\.0 is before the plan's present 10\.0"):
        Profile(10.0, 4).take(5.0, 15.0, 1)
    with pytest.raises(ValueError, match="5 processors are never free"):
        Profile(0, 4).earliest(5, 1, 0)


def test_what_lasts_a_moment_but_for_rounding_takes_nothing() -> None:
    start, end = 7779.469895497861, 7779.469896497862
    assert end - start > MOMENT >= end - MOMENT - start == 0
    profile = Profile(start, 4)
    profile.take(start, end, 1)
    assert list(profile.steps()) == [(start, 4)]


@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 12), st.integers(1, SIZE)), min_size=1, max_size=14),
    st.lists(st.integers(0, 12), min_size=14, max_size=14),
    st.randoms(use_true_random=False),
)
@examples(200)
def test_compression_releases_and_places(jobs: list[tuple[int, int, int]], gaps: list[int], random: object) -> None:
    # Reservations are at any time from their earliest start on, so that there are holes to move into.
    plan, reserved, waiting = Profile(0, SIZE), {}, []
    for rank, (late, duration, procs) in enumerate(jobs):
        job = Job(rank, str(rank + 1), 0, procs, duration)
        at = plan.earliest(procs, duration, late + gaps[rank])
        plan.take(at, at + duration, procs)
        reserved[rank] = at
        waiting.append(job)
    random.shuffle(waiting)  # type: ignore[attr-defined]
    plain, expected = plan.copy(), dict(reserved)
    for job in waiting:
        was = expected[job.rank]
        plain.take(was, was + job.estimate, -job.procs)
        expected[job.rank] = plain.place(job.procs, job.estimate, 0)
    trials = Trials()
    for job in waiting:
        was = reserved[job.rank]
        at = plan.sooner(job, was, 0, trials)
        plan.take(was, was + job.estimate, -job.procs)
        plan.take(at, at + job.estimate, job.procs)
        reserved[job.rank] = at
    assert reserved == expected
