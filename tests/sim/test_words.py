"""Times, names and numbers, written and read."""

from __future__ import annotations

import pytest

from sim.errors import ParameterError
from sim.words import parse_time, span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0", 0), ("3600", 3600), ("90s", 90), ("1.5h", 5400), ("2w", 1209600), ("1D12H", 129600), ("0.5", 0.5)],
)
def test_times_as_typed(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-5", "4h12d", "3 hours", "nan", "1h30", "12:30"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="a time is seconds or like 12d4h30m"):
        parse_time(text)


@pytest.mark.parametrize("seconds", [0, 7, 45, 7200, 86400, 12 * 86400 + 4 * 3600])
def test_a_length_of_time_is_read_as_it_is_written(seconds: float) -> None:
    assert parse_time(span(seconds).replace("h00", "h")) == seconds
