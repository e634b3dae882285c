import sqlite3
from contextlib import closing

import pytest

from sim.support.errors import ParameterError
from sim.workload.options import OPTIONS, Option, expand


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


@pytest.mark.parametrize(("text", "values"), [
    ("easy", ["easy"]), ("{1,2,5}", ["1", "2", "5"]), ("factor:{1..3}", ["factor:1", "factor:2", "factor:3"]),
    ("{0.8..1.4..0.1}", ["0.8", "0.9", "1.0", "1.1", "1.2", "1.3", "1.4"]), ("{1..2..0.4}", ["1.0", "1.4", "1.8"]),
    ("{3..1}", ["3", "2", "1"]), ("{-1..1}", ["-1", "0", "1"]),
    ("relaxed:omega={0,1..2,inf}", ["relaxed:omega=0", "relaxed:omega=1", "relaxed:omega=2", "relaxed:omega=inf"]),
    ("{a,b}-{1,2}", ["a-1", "a-2", "b-1", "b-2"]),
])  # fmt: skip
def test_what_a_range_stands_for(text: str, values: list[str]) -> None:
    assert expand(text) == values


@pytest.mark.parametrize(("text", "said"), [
    ("{1,{2,3}}", "none in another"), ("{1,2", "none in another"), ("1}", "none in another"), ("{}", "is no value"),
    ("{1,,2}", "is no value"), ("{1..}", "is no value and no range"), ("{1..x}", "is no value and no range"),
    ("{1..5..0}", "has no end"), ("{1..1000000000}", "1,000,000,000 values; at most 100,000"),
    ("{1..99999}{1..99999}{1..99999}", "999,970,000,299,999 values"),
    ("{0..1..0.000000000000001}", "1,000,000,000,000,001 values"),
    ("{1.." + "9" * 5000 + "}", "is no value and no range"),
])  # fmt: skip
def test_what_is_no_range_or_too_much_is_refused_in_a_line(text: str, said: str) -> None:
    with pytest.raises(ParameterError) as error:
        expand(text)
    assert said in str(error.value)
    assert len(str(error.value)) < 250
