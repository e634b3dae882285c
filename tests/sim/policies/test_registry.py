from dataclasses import dataclass

import pytest

from sim.policies import POLICIES, parse_policy, written_policy
from sim.policies.backfill.easy import Easy
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.orders import Delay, Order, ShortestFirst, Ward
from sim.policies.parameters import parameters_of
from sim.policies.policy import order_field
from sim.policies.registry import Registry, policy, policy_of
from sim.support.errors import ParameterError


def test_specs_are_read_with_all_their_parts() -> None:
    assert parse_policy("easy:order=delay,weight=0.5,depth=3") == Easy(order=Delay(weight=0.5), depth=3)
    assert parse_policy("shadow").queue_order() == ShortestFirst()
    assert parse_policy("shadow:order=ward,r=2").queue_order() == Ward(r=2)
    assert parse_policy(" easy: depth=2, order=sjf ") == Easy(order=ShortestFirst(), depth=2)
    assert parse_policy("easy:") == Easy()
    assert parse_policy("easy:depth=2,depth=3") == Easy(depth=3)
    assert parse_policy("bf:compress=none") == parse_policy("conservative:compress=none")
    assert policy_of("easy:depth=2") == policy_of(Easy(depth=2)) == Easy(depth=2)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        ("eazy", "no policy 'eazy'; did you mean 'easy'?"),
        ("easy:order=xfactr", "no order 'xfactr'; did you mean 'xfactor'?"),
        ("easy:dept=2", "easy has no parameter 'dept'; did you mean 'depth'?"),
        ("easy:weight=2", "easy has no parameter 'weight'; there is depth, "),
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


@pytest.mark.parametrize("alias", sorted(POLICIES.aliases))
def test_every_alias_stands_for_something(alias: str) -> None:
    assert alias not in POLICIES
    assert parse_policy(alias) == parse_policy(POLICIES.aliases[alias])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_the_defaults_of_every_policy_can_be_typed(name: str) -> None:
    made = parse_policy(name)
    assert made.name == name
    assert written_policy(made) == name
    for key, parameter in parameters_of(POLICIES[name]).items():
        assert getattr(made, key) == parameter.default


# A registry of one's own
@dataclass(frozen=True)
class Mine(FirstComeFirstServed):
    """A policy that a test has written."""

    name = "mine"


@dataclass(frozen=True)
class Better(FirstComeFirstServed):
    """A second policy with the same name, which replaces the first."""

    name = "mine"


@pytest.fixture
def registry() -> Registry:
    made = Registry()
    made.add(Mine, {"m": "mine"})
    return made


def test_registered_policies_are_found_and_replaced(registry: Registry) -> None:
    assert registry.parse("mine") == registry.parse("m") == Mine()
    assert registry.names == ("mine", "m")
    assert registry.aliases_of("mine") == ("m",)
    registry.add(Better, {"b": "mine"}, replace=True)
    assert registry.parse("mine") == Better()
    assert dict(registry.aliases) == {"b": "mine"}


def test_replacement_may_keep_only_the_aliases_it_replaces(registry: Registry) -> None:
    registry.add(Better, {"m": "mine"}, replace=True)
    assert dict(registry.aliases) == {"m": "mine"}
    registry.add(Easy, {"e": "easy"})
    with pytest.raises(TypeError, match="two policies are called 'e'"):
        registry.add(Mine, {"e": "mine"}, replace=True)
    assert registry["mine"] is Better
    assert dict(registry.aliases) == {"m": "mine", "e": "easy"}


def test_registry_refuses_what_hides_another(registry: Registry) -> None:
    with pytest.raises(TypeError, match="two policies are called 'mine'"):
        registry.add(Better)
    assert registry["mine"] is Mine
    with pytest.raises(TypeError, match="two policies are called 'mine'"):
        registry.add(Easy, {"mine": "easy"})
    assert list(registry) == ["mine"]


def test_what_was_removed_is_gone_with_its_short_names(registry: Registry) -> None:
    with pytest.raises(ParameterError, match="no policy 'mime'; did you mean 'mine'"):
        registry.remove("mime")
    registry.remove("mine")
    assert registry.names == ()
    with pytest.raises(ParameterError, match="no policy 'm'"):
        registry.parse("m")


def test_one_of_the_registered_is_written_in_a_test_and_forgotten() -> None:
    @policy("passing", "a test", p="passing")
    @dataclass(frozen=True)
    class Passing(FirstComeFirstServed):
        """A policy that is registered only during this test."""

    try:
        assert written_policy(parse_policy("p")) == "passing"
    finally:
        POLICIES.remove("passing")
    assert "passing" not in POLICIES


@dataclass(frozen=True)
class Waiting(Easy):
    """Policy whose default order is `delay`, with its own default for the weight."""

    name = "waiting"
    order: Order = order_field(Delay(weight=0.5))


@pytest.mark.parametrize(("typed", "meant"), [("", Delay(0.5)), ("weight=0.001", Delay(0.001)), ("weight=3", Delay(3))])
def test_the_order_that_a_policy_comes_with_keeps_its_parameters(typed: str, meant: Delay) -> None:
    registry = Registry()
    registry.add(Waiting)
    policy = registry.parse(f"waiting:{typed}")
    assert policy.queue_order() == meant
    assert registry.parse(written_policy(policy)) == policy
    assert registry.parse(f"waiting:order=delay,{typed}").queue_order() == meant
