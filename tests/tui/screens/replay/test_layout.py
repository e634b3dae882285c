"""Where panels are on screens of any size."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tui.screens.replay.layout import LEAST, PRECIOUS, WEIGHTS, arrange

NAMES = sorted(WEIGHTS)
SOME = st.sets(st.sampled_from(NAMES))


@given(
    width=st.integers(1, 300),
    height=st.integers(1, 120),
    available=SOME,
    hidden=st.sets(st.sampled_from([*NAMES, "strip", "metrics"])),
    over=st.none() | st.sampled_from(NAMES),
)
def test_nothing_stands_outside_the_screen(
    width: int, height: int, available: set[str], hidden: set[str], over: str | None
) -> None:
    found = arrange(width, height, available, hidden, over)
    room = max(height - 1 - found.sentence - found.keys - found.bottom, 0)
    assert found.side <= width
    assert found.metrics <= width
    assert sum(rows for _, rows in found.panels) == (room if found.panels else 0)
    assert all(rows >= LEAST for _, rows in found.panels) or found.small
    if not found.small:
        assert {name for name, _ in found.panels} <= available - hidden
        assert found.side <= width // 2


def test_side_by_side_the_panels_keep_their_order() -> None:
    panels = arrange(200, 60, NAMES).panels
    assert [name for name, _ in panels] == list(WEIGHTS)


def test_the_precious_ones_stay_where_there_is_little_room() -> None:
    shown = [name for name, _ in arrange(120, 28, NAMES).panels]
    assert set(shown) == set(PRECIOUS[: len(shown)])
    assert 0 < len(shown) < len(NAMES)


def test_a_small_screen_is_for_the_chart() -> None:
    found = arrange(80, 24, NAMES)
    assert (found.small, found.side, found.panels, found.keys) == (True, 0, (), 1)


def test_what_is_called_over_a_small_chart_is_shown_whatever_is_hidden() -> None:
    found = arrange(80, 24, NAMES, hidden=["details"], over="details")
    assert [name for name, _ in found.panels] == ["details"]
    assert found.side == 40


def test_who_hides_everything_has_the_chart_alone() -> None:
    found = arrange(120, 36, NAMES, [*NAMES, "strip", "metrics"])
    assert (found.side, found.panels, found.bottom, found.metrics) == (0, (), 0, 0)


def test_a_tiny_screen_has_no_line_of_keys() -> None:
    assert [arrange(20, height, NAMES).keys for height in (5, 7, 8, 30)] == [0, 0, 1, 2]
