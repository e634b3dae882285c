"""Jobs that share processors in time: their turns from near, their rows side by side from afar."""

from __future__ import annotations

from sim.history.stretch import Stretch
from tui.chart.turns import by_columns


def test_columns_show_the_rows_one_after_the_other() -> None:
    first, second = Stretch(0, 0, 60, "gang", 0b1, (4,)), Stretch(1, 0, 60, "gang", 0b1, (7,))
    seen = [(s.rank, s.start, s.end) for s in by_columns([first, second], 0, 40, 10)]
    assert seen == [(0, 0, 10), (0, 20, 30), (1, 10, 20), (1, 30, 40)]


def test_a_job_in_every_row_is_seen_in_every_column() -> None:
    everywhere, other = Stretch(0, 0, None, "gang", 0b1, (4, 7)), Stretch(1, 0, None, "gang", 0b10, (7,))
    seen = [(s.rank, s.start, s.end) for s in by_columns([everywhere, other], 0, 40, 10)]
    assert seen == [(0, 0, 40), (1, 10, 20), (1, 30, 40)]


def test_a_moment_shows_the_same_row_in_every_window() -> None:
    rows = [Stretch(rank, 0, None, "gang", 0b1, (rank,)) for rank in range(3)]
    whole = [(s.rank, s.start) for s in by_columns(rows, 0, 90, 10) if s.start >= 40]
    assert sorted(whole) == sorted((s.rank, s.start) for s in by_columns(rows, 40, 90, 10))
