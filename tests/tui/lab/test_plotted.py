from hypothesis import given
from hypothesis import strategies as st

from tui.lab.plotted import linear_ticks, log_ticks, time_unit

SMALL = st.floats(1e-6, 1e9)


@given(SMALL, st.floats(1.0, 1e8))
def test_log_ticks_are_1_2_5_and_few(low: float, ratio: float) -> None:
    ticks = log_ticks(low, low * ratio)
    assert 1 <= len(ticks) <= 11
    assert {f"{tick:e}"[0] for tick in ticks} <= set("125")
    assert ticks == sorted(ticks)
    assert ticks[0] <= low * 1.000001


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_linear_ticks_lie_within_and_are_few(low: float, span: float) -> None:
    ticks = linear_ticks(low, low + span)
    assert 1 <= len(ticks) <= 7
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in ticks)


def test_an_empty_range_has_one_tick() -> None:
    assert linear_ticks(3.0, 3.0) == [3.0]


def test_time_unit_keeps_numbers_short() -> None:
    assert [time_unit(longest)[1] for longest in (0.0, 100.0, 1000.0, 50_000.0, 1e6)] == ["s", "s", "min", "h", "d"]
