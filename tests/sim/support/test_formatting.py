from contextlib import suppress
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.support.errors import ParameterError
from sim.support.formatting import Moment, Step, clock, clock_near, parse_moment, parse_time, span


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("0", 0), ("3600", 3600), ("90s", 90), ("1.5h", 5400), ("2w", 1209600), ("1D12H", 129600), ("0.5", 0.5),
        ("d12 04:31:07", 1053067), ("d12", 1036800), ("12d 4:30", 1053000), ("04:30", 16200), ("-d0 00:00:05", -5),
        ("d0 00:00:07.25", 7.25),
        ("2h05", 7500), ("12m30", 750), ("12d 4h 30m", 1053000), ("1,234d5h", 106635600), ("15 min", 900),
        ("2026d", 2026 * 86400),
    ],
)  # fmt: skip
def test_times_as_typed(text: str, seconds: float) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-5", "4h12d", "3 hours", "nan", "2h5", "4:3", "tomorrow", "#7"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="a time is seconds or like 12d4h30m"):
        parse_time(text)


@given(st.integers(0, 10**12))
def test_a_length_of_time_is_read_as_it_is_written(seconds: int) -> None:
    assert span(parse_time(span(seconds))) == span(seconds)


@given(st.integers(-(10**9), 10**12))
def test_a_moment_is_read_as_it_is_written(seconds: int) -> None:
    assert parse_time(clock(seconds)) == seconds
    assert parse_time(clock_near(seconds)(abs(seconds)), now=abs(seconds)) == abs(seconds)


@given(st.integers(-(10**5), 10**9), st.integers(0, 86399))
def test_a_time_of_day_is_one_of_the_day_of_now(now: int, later: int) -> None:
    today = abs(now) // 86400 * 86400
    assert parse_time(clock_near(today)(today + later), now=abs(now)) == today + later


@pytest.mark.parametrize(("text", "moment"), [
    ("#1,200", Step(1200)), ("Step 7", Step(7)), ("2026-11-21", datetime(2026, 11, 21)),
    ("2026-11-21 04:30", datetime(2026, 11, 21, 4, 30)), ("2026-11-21T04:30:07", datetime(2026, 11, 21, 4, 30, 7)),
    ("12d4h", 1051200.0),
])  # fmt: skip
def test_moments_as_typed(text: str, moment: Moment) -> None:
    assert parse_moment(text) == moment


@pytest.mark.parametrize("text", ["2026-13-01", "2026-02-30 10:00", "0000-01-01"])
def test_a_date_that_is_in_no_calendar_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="is in no calendar"):
        parse_moment(text)


@pytest.mark.parametrize("text", ["9" * 400, "d" + "9" * 400, "1" * 16 + "w", "99999999999d"])
def test_times_end_somewhere(text: str) -> None:
    with pytest.raises(ParameterError, match="no time is beyond 1,000,000,000,000,000 seconds") as error:
        parse_moment(text)
    assert len(str(error.value)) < 120


@pytest.mark.parametrize("text", ["#" + "9" * 400, "step 1,000,000,000,000,000"])
def test_steps_end_somewhere_too(text: str) -> None:
    with pytest.raises(ParameterError, match="no step is beyond 1,000,000,000,000,000, got ") as error:
        parse_moment(text)
    assert len(str(error.value)) < 120


@given(st.text(max_size=20) | st.from_regex(r"[#dhms0-9:., -]{0,20}", fullmatch=True))
def test_whatever_is_typed_is_a_moment_or_refused(text: str) -> None:
    with suppress(ParameterError):
        assert isinstance(parse_moment(text), float | datetime | Step)
