import pytest

from sim.decisions.reasons import EarliestHole
from sim.policies import parse_policy
from tests.sim.conftest import Lab

# Three processors. Job 1 holds two and ends at 20 instead of 100; job 2 holds one until 40. Promised on arrival:
# job 3 (two processors, 60 s) 100, and job 4 (one, 60 s) 40, next to job 1. From 20 on both could start earlier:
# the first to be moved gets 20, the other 40.
HOLE = ("1 0 2 20 100", "2 0 1 40 40", "3 1 2 60 60", "4 2 1 60 60")


def test_a_promise_is_the_first_hole_that_holds_the_job_whole(lab: Lab) -> None:
    # One processor is free between 2 and 20: too short for job 4 (19 s), long enough for job 5 (18 s).
    engine = lab.run("conservative", 4, "1 0 3 10 10", "2 1 3 10 10", "3 1 4 10 10", "4 2 1 19 19", "5 2 1 18 18")
    assert engine.schedule().promised.tolist() == [0, 10, 20, 30, 2]
    assert lab.reservations(engine, "4") == [(30, EarliestHole(free=1))]


@pytest.mark.parametrize(
    ("spec", "starts"),
    [
        ("conservative:compress=start", {"1": 0, "2": 0, "3": 40, "4": 20}),
        ("conservative:compress=queue", {"1": 0, "2": 0, "3": 20, "4": 40}),
        ("conservative:compress=none", {"1": 0, "2": 0, "3": 100, "4": 40}),
    ],
)
def test_who_moves_first_when_a_job_ends_early(lab: Lab, spec: str, starts: dict[str, float]) -> None:
    assert lab.starts(spec, 3, *HOLE) == starts


def test_promise_is_the_first_and_an_instant(lab: Lab) -> None:
    assert lab.run("conservative", 3, *HOLE).schedule().promised.tolist() == [0, 0, 100, 40]
    engine = lab.run("conservative:compress=none", 1, "1 0 1 20 100", "2 1 1 10 10")
    assert engine.schedule().start.tolist() == [0, 100]
    assert lab.instants(engine) == [0, 1, 20, 100, 110]
    engine = lab.run("conservative", 1, "1 0 1 20 100", "2 1 1 10 10")
    assert lab.instants(engine) == [0, 1, 20, 30]


@pytest.mark.parametrize(
    ("alias", "starts"),
    [
        # Both wait for job 1, which ends at 10 instead of 100: in order of arrival, or the shortest first.
        ("bf", {"1": 0, "2": 10, "3": 60}),
        ("lsbf", {"1": 0, "2": 30, "3": 10}),
    ],
)
def test_the_aliases_differ_in_who_moves_first(lab: Lab, alias: str, starts: dict[str, float]) -> None:
    assert lab.starts(alias, 1, "1 0 1 10 100", "2 1 1 50 50", "3 2 1 20 20") == starts


@pytest.mark.parametrize(
    ("alias", "spec"),
    [
        ("bf", "conservative:compress=queue"),
        ("lsbf", "conservative:compress=queue,order=sjf"),
        ("rbf:seed=3", "conservative:compress=queue,order=random,seed=3"),
        ("rlbf:seed=3", "conservative:compress=queue,order=random-length,seed=3"),
    ],
)
def test_what_the_aliases_stand_for(alias: str, spec: str) -> None:
    assert parse_policy(alias) == parse_policy(spec)
