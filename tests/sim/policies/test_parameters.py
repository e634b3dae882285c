from dataclasses import dataclass
from math import inf
from typing import Any, Literal

import pytest

from sim.policies.parameters import Parameter, as_typed, parameter, parameters_of
from sim.support.errors import ParameterError


@dataclass(frozen=True)
class Example:
    depth: int = parameter(1, "how deep", low=1)
    share: float = parameter(0.5, "which part", low=0, high=1)
    way: Literal["up", "down"] = parameter("up", "where to", choices=("up", "down"))
    quick: bool = parameter(False, "in a hurry?")
    limit: float | None = parameter(None, "how far, if at all", high=9)
    hidden: int = 3


PARAMETERS = parameters_of(Example)


def test_the_fields_that_have_a_meaning_are_the_parameters() -> None:
    assert list(PARAMETERS) == ["depth", "share", "way", "quick", "limit"]
    assert PARAMETERS["depth"] == Parameter("depth", int, 1, "how deep", low=1)


@pytest.mark.parametrize(("name", "words"), [
    ("depth", "whole number >= 1"), ("share", "number from 0 to 1"), ("way", "up | down"), ("quick", "yes | no"),
    ("limit", "number <= 9"),
])  # fmt: skip
def test_a_range_in_words(name: str, words: str) -> None:
    assert PARAMETERS[name].range == words


@pytest.mark.parametrize(("name", "text", "value"), [
    ("depth", "1", 1), ("share", "0", 0.0), ("share", "1", 1.0), ("way", "down", "down"), ("quick", "yes", True),
    ("quick", "false", False), ("limit", "-9", -9.0),
])  # fmt: skip
def test_what_is_accepted(name: str, text: str, value: Any) -> None:
    parsed = PARAMETERS[name].parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("depth", "0", "depth=0: expected whole number >= 1"),
        ("depth", "1.5", "depth=1.5: expected whole number >= 1"),
        ("share", "1.01", "share=1.01: expected number from 0 to 1"),
        ("share", "nan", "share=nan: expected number from 0 to 1"),
        ("way", "dawn", "way=dawn: expected up | down; did you mean 'down'?"),
        ("quick", "maybe", "quick=maybe: expected yes | no"),
        ("limit", "far", "limit=far: expected number <= 9"),
        ("limit", "-inf", "limit=-inf: expected number <= 9"),
    ],
)
def test_what_is_refused_and_what_would_work(name: str, text: str, error: str) -> None:
    with pytest.raises(ParameterError) as refused:
        PARAMETERS[name].parse(text)
    assert str(refused.value) == error


@pytest.mark.parametrize(
    ("value", "text"), [(2.0, "2"), (0.1, "0.1"), (inf, "inf"), (True, "yes"), (False, "no"), (3, "3"), ("up", "up")]
)
def test_a_value_is_written_as_it_is_typed(value: Any, text: str) -> None:
    assert as_typed(value) == text


@pytest.mark.parametrize(
    ("text", "said"), [("1e16", "no number is beyond 1,000,000,000,000,000"), ("9" * 5000, "\\.\\.\\.:")]
)
def test_no_number_is_greater_than_any_time(text: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said) as error:
        Parameter("weight", float, 1.0, "", low=0).parse(text)
    assert len(str(error.value)) < 200
