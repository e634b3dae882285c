from math import inf

from hypothesis import given
from hypothesis import strategies as st

from sim.workload.model import Header
from tui.look.calendar import Calendar

CTC = Header(unix_start=835466417, time_zone="US/Eastern")
"""Header of a trace that begins on Saturday, 22 June 1996, 19:00:17 in New York"""


def calendar(header: Header = CTC) -> Calendar:
    found = Calendar.of(header)
    assert found is not None
    return found


def test_dates_follow_the_zone_of_the_trace() -> None:
    assert Calendar.of(Header(time_zone="US/Eastern")) is None
    dates = calendar()
    begun = dates.local(0)
    assert begun is not None
    assert dates.moment(0) == f"{begun:%a} {begun.day} {begun:%b} {begun:%H:%M:%S}"
    assert dates.year(0) == "1996"
    assert calendar(Header(unix_start=0)).moment(3600) == "Thu 1 Jan 01:00:00"
    at = calendar(Header(unix_start=0)).near(7200)
    assert (at(10), at(86400)) == ("00:00:10", "Fri 2 Jan 00:00:00")
    dates = calendar(Header(unix_start=0))  # a Thursday
    day = 86400
    assert [dates.is_weekend(number * day) for number in range(6)] == [False, False, True, True, False, False]
    assert [dates.is_night(hour * 3600) for hour in (6, 7, 19, 20)] == [True, False, False, True]
    dates = calendar(Header(unix_start=846345600, time_zone="US/Eastern"))  # 26 October 1996, the day before it ends
    assert dates.shift(2 * 86400) - dates.shift(0) == -3600


@given(st.floats(-1e18, 1e18) | st.just(inf))
def test_moments_that_no_calendar_reaches_are_days(seconds: float) -> None:
    dates = calendar()
    assert dates.moment(seconds)
    assert dates.near(0)(seconds)
    assert dates.shift(min(seconds, 1e18)) == dates.shift(min(seconds, 1e18))
    assert dates.is_night(min(seconds, 1e18)) in (True, False)
