from math import inf

from tui.replay.speed import SPEEDS, Speed, first_speed


def test_faster_is_faster() -> None:
    counted = [1 / speed.moment for speed in SPEEDS if speed.moment]
    timed = [speed.seconds for speed in SPEEDS if speed.seconds]
    assert counted == sorted(counted)
    assert timed == sorted(timed)
    assert SPEEDS[-1] == Speed(seconds=inf)


def test_a_short_trace_begins_slowly_and_a_long_one_not_too_fast() -> None:
    assert [SPEEDS[first_speed(lasts)].label for lasts in (0, 600, 601, 1e5, 1e9)] == [
        *("10s/s", "10s/s", "1m/s", "1h/s", "1h/s")
    ]
