import pytest

from sim.support.errors import ParameterError
from sim.workload.ranges import expand


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
