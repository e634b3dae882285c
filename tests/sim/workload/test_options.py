import sqlite3
from contextlib import closing

import pytest

from sim.support.errors import ParameterError
from sim.workload.options import OPTIONS, Option


@pytest.mark.parametrize("option", OPTIONS.values(), ids=OPTIONS)
def test_every_option_says_what_it_means_and_takes_its_default(option: Option) -> None:
    assert option.meaning.endswith(".")
    assert option.choices or option.metavar or option.kind is bool
    option.check(option.default)
    assert option.taken(None) == option.default


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("jobs", -1, "the number of jobs must be between 0 and 1,000,000,000,000,000, got -1"),
        ("load", float("inf"), "the load factor must be between 0.000001 and 1,000,000, got inf"),
        ("reserve", float("nan"), "the fraction of reservations must be between 0 and 1, got nan"),
        ("lead", -1, "the lead of reservations must be between 0 and 1,000,000,000,000,000 seconds, got -1"),
        ("overrun", "ignore", "the overrun rule is kill or grow, got ignore"),
    ],
)
def test_what_is_out_of_range_is_told_in_one_wording(name: str, value: object, said: str) -> None:
    with pytest.raises(ParameterError) as refused:
        OPTIONS[name].check(value)
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("jobs", "7", "a whole number"), ("jobs", True, "a whole number"), ("load", "much", "a number"),
        ("offline", 1, "yes or no"), ("outage", ["1d..2d"], "a text, with ; between several"),
    ],
)  # fmt: skip
def test_another_kind_of_value_is_refused(name: str, given: object, expected: str) -> None:
    with pytest.raises(ParameterError, match=f"option {name}: expected {expected}, got "):
        OPTIONS[name].taken(given)


def test_the_greatest_seed_is_one_that_a_file_of_results_keeps() -> None:
    greatest = int(OPTIONS["seed"].high or 0)
    with closing(sqlite3.connect(":memory:")) as db:
        assert db.execute("SELECT ?", (greatest,)).fetchone() == (greatest,)
