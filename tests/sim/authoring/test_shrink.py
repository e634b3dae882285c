from pathlib import Path

import pytest

from sim.authoring.shrink import smallest_difference
from sim.engine.engine import Engine
from sim.policies import parse_policy

pytestmark = pytest.mark.usefixtures("own_program")

HERE = Path(__file__).parent


def test_two_that_differ_do_so_on_a_few_jobs() -> None:
    one, other = parse_policy("fcfs"), parse_policy("easy")
    small = smallest_difference(one, other)
    assert small is not None
    assert len(small) == 3
    starts = [Engine(small, policy, curious=False) for policy in (one, other)]
    for engine in starts:
        engine.run()
    assert starts[0].schedule().start.tolist() != starts[1].schedule().start.tolist()


def test_two_that_do_not_differ_have_none() -> None:
    assert smallest_difference(parse_policy("easy"), parse_policy("easy:depth=1")) is None


def test_one_that_fails_differs_from_nobody() -> None:
    broken = parse_policy(str(HERE / "broken" / "starts_twice.py"))
    assert smallest_difference(parse_policy("firstfit"), broken) is None
