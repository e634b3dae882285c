"""How a policy is named, written and registered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sim.decisions.decisions import Decision
from sim.errors import ParameterError
from sim.policies import ALIASES, POLICIES, Policy, parse_policy, written_policy
from sim.policies.backfill.easy import Easy
from sim.policies.orders import Delay, ShortestFirst, Ward
from sim.policies.parameters import parameters_of
from sim.policies.policy import default_order, policy
from sim.policies.view import View


def test_a_name_alone_stands_for_the_defaults() -> None:
    assert parse_policy("easy") == Easy()


def test_parameters_of_the_policy_and_of_its_order_stand_side_by_side() -> None:
    assert parse_policy("easy:order=delay,weight=0.5,depth=3") == Easy(order=Delay(weight=0.5), depth=3)


def test_a_policy_may_have_an_order_of_its_own() -> None:
    assert parse_policy("shadow").queue_order() == ShortestFirst()
    assert parse_policy("shadow:order=ward,r=2").queue_order() == Ward(r=2)


def test_blanks_and_an_empty_list_do_not_matter() -> None:
    assert parse_policy(" easy: depth=2, order=sjf ") == Easy(order=ShortestFirst(), depth=2)
    assert parse_policy("easy:") == Easy()


def test_what_comes_later_wins_also_over_an_alias() -> None:
    assert parse_policy("easy:depth=2,depth=3") == Easy(depth=3)
    assert parse_policy("bf:compress=none") == parse_policy("conservative:compress=none")


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("eazy", "no policy 'eazy'; did you mean 'easy'?"),
        ("easy:order=xfactr", "no order 'xfactr'; did you mean 'xfactor'?"),
        ("easy:dept=2", "easy has no parameter 'dept'; did you mean 'depth'?"),
        ("easy:weight=2", "easy has no parameter 'weight'; there is depth, order"),
        ("recorded:order=sjf", "recorded has no parameter 'order'"),
        ("easy:depth", "policy 'easy:depth': expected key=value, got 'depth'"),
        ("easy:depth=", "policy 'easy:depth=': expected key=value, got 'depth='"),
        ("easy:depth=0", "depth=0: expected whole number >= 1"),
        ("easy:order=delay,weight=-1", "weight=-1: expected number >= 0"),
        ("", "no policy ''"),
    ],
)
def test_a_wrong_spec_says_what_would_work(spec: str, error: str) -> None:
    with pytest.raises(ParameterError) as refused:
        parse_policy(spec)
    assert str(refused.value).startswith(error)


@pytest.mark.parametrize(
    ("spec", "shortest"),
    [
        ("easy:order=fcfs,depth=1", "easy"),
        ("easy:depth=4,order=sjf", "easy:order=sjf,depth=4"),
        ("easy:order=random,seed=0", "easy:order=random"),
        ("shadow:order=sjf,shadows=1", "shadow"),
        ("shadow:order=fcfs", "shadow:order=fcfs"),
        ("relaxed:omega=inf,r=2,order=ward", "relaxed:order=ward,r=2,omega=inf"),
        ("bf", "conservative:compress=queue"),
    ],
)
def test_a_policy_is_written_as_shortly_as_possible(spec: str, shortest: str) -> None:
    assert written_policy(parse_policy(spec)) == shortest
    assert parse_policy(shortest) == parse_policy(spec)


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_every_alias_stands_for_something(alias: str) -> None:
    assert alias not in POLICIES
    assert parse_policy(alias) == parse_policy(ALIASES[alias])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_the_defaults_of_every_policy_can_be_typed(name: str) -> None:
    made = parse_policy(name)
    assert made.name == name
    assert written_policy(made) == name
    for key, parameter in parameters_of(POLICIES[name]).items():
        assert getattr(made, key) == parameter.default


@pytest.mark.parametrize("taken", ["easy", "bf"])
def test_two_policies_of_one_name_are_refused(taken: str) -> None:
    before = POLICIES.get(taken)
    with pytest.raises(TypeError, match=f"two policies are called '{taken}'"):

        @policy(taken, "nowhere")
        @dataclass(frozen=True)
        class _Again(Policy):
            def decide(self, view: View) -> Iterator[Decision]:
                yield from ()

    assert POLICIES.get(taken) is before


def test_a_policy_without_an_order_serves_by_arrival() -> None:
    assert default_order(POLICIES["recorded"]) is None
    assert parse_policy("recorded").queue_order().name == "fcfs"


def test_a_policy_that_decides_nothing_says_so() -> None:
    with pytest.raises(NotImplementedError, match="decides nothing"):
        list(Policy().decide(None))  # type: ignore[arg-type]
