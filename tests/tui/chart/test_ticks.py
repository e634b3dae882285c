import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.workload.model import Header
from tui.chart.ticks import named, processors, times
from tui.look.calendar import Calendar


@pytest.mark.parametrize("step", [10, 1800, 43200])
def test_the_day_is_said_once_a_day(step: int) -> None:
    said = [name.split()[0] for _, name in named(range(0, 3 * 86400, step)) if name.startswith("d")]
    assert said == ["d0", "d1", "d2"]


def test_days_and_processors_are_named_once() -> None:
    assert [word for _, word in times(0, 2 * 86400, lambda name: 2 * 86400 / 9)] == [
        "d0 00:00", "06:00", "12:00", "18:00", "d1 00:00", "06:00", "12:00", "18:00", "d2 00:00",
    ]  # fmt: skip
    assert sorted(processors(0, 9, 2, clear=0.5)) == [0, 2, 4, 6, 9]  # not 8 and 9 next to each other
    assert sorted(processors(0, 127, 20, clear=0.5)) == [0, 20, 40, 60, 80, 100, 127]


@pytest.mark.parametrize("end", [1e9, 1e12, 1e15, 9e15])
def test_however_long_the_axis_is_few_moments_are_named(end: float) -> None:
    assert 2 <= len(times(0, end, lambda name: end / 9)) <= 10


@given(begin=st.integers(-(10**6), 10**8), length=st.integers(1, 10**8), most=st.integers(1, 20))
def test_all_named_moments_are_seen_and_not_too_many(begin: int, length: int, most: int) -> None:
    named = [moment for moment, _ in times(begin, begin + length, lambda name: length / most)]
    assert all(begin <= moment <= begin + length for moment in named)
    assert len(named) <= most + 1


@given(count=st.integers(1, 100_000), most=st.integers(2, 20))
def test_the_last_processor_is_always_named(count: int, most: int) -> None:
    named = sorted(processors(0, count - 1, count / most, clear=0.5))
    assert named[-1] == count - 1
    assert len(named) <= most + 1
    assert named == sorted(set(named))


def test_with_a_calendar_days_begin_at_midnight_of_the_trace() -> None:
    calendar = Calendar.of(Header(unix_start=839855347, time_zone="US/Pacific"))
    assert calendar is not None
    ticks = times(0, 3 * 86400, lambda name: 43200, calendar)
    assert [word for _, word in ticks][:3] == ["Mon 12 Aug 12:00", "Tue 13 Aug 00:00", "12:00"]
    assert all(calendar.moment(time).endswith(":00:00") for time, _ in ticks)
    assert times(0, 40 * 86400, lambda name: 5 * 86400, calendar)[0][1].count(" ") == 2
