"""Which moments and processors are named."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.chart.svg.ticks import processors, times


def test_the_day_is_said_once() -> None:
    assert [word for _, word in times(0, 2 * 86400, 9)] == [
        "d0 00:00", "06:00", "12:00", "18:00", "d1 00:00", "06:00", "12:00", "18:00", "d2 00:00",
    ]  # fmt: skip


def test_a_minute_is_named_to_the_second_and_a_year_by_its_days() -> None:
    assert [word for _, word in times(0, 20, 2)] == ["d0 00:00:00", "00:00:10", "00:00:20"]
    assert [word for _, word in times(0, 340 * 86400, 4)] == ["d0", "d100", "d200", "d300"]


@given(begin=st.integers(-(10**6), 10**8), length=st.integers(1, 10**8), most=st.integers(1, 20))
def test_all_named_moments_are_seen_and_not_too_many(begin: int, length: int, most: int) -> None:
    named = [moment for moment, _ in times(begin, begin + length, most)]
    assert all(begin <= moment <= begin + length for moment in named)
    assert len(named) <= most + 1


@given(count=st.integers(1, 100_000), most=st.integers(2, 20))
def test_the_last_processor_is_always_named(count: int, most: int) -> None:
    named = processors(count, most)
    assert named[-1] == count - 1
    assert len(named) <= most + 1
    assert named == sorted(set(named))
