from math import inf

from tui.replay.speed import SPEEDS, Speed, first_speed


def test_every_speed_says_what_it_is() -> None:
    assert [speed.label for speed in SPEEDS] == [
        *("by event, 4 s", "by event, 2 s", "by event, 1 s", "10s/s", "1m/s", "5m/s", "15m/s", "1h/s", "4h/s", "12h/s"),
        *("1d/s", "4d/s", "14d/s", "top speed"),
    ]


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
