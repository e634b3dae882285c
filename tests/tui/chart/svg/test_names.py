"""Ids on blocks."""

from __future__ import annotations

from tui.chart.svg.elements import Rect
from tui.chart.svg.names import write_in


def test_a_name_stands_in_the_middle_of_its_block() -> None:
    written = write_in(Rect(100, 20, 60, 30), "J17", "#fff")
    assert 'x="130"' in written
    assert ">J17</text>" in written
    assert "rotate" not in written


def test_on_a_tall_block_it_is_turned() -> None:
    assert "rotate(-90" in write_in(Rect(0, 0, 12, 90), "J14022", "#fff")


def test_where_it_does_not_fit_there_is_none() -> None:
    assert write_in(Rect(0, 0, 12, 12), "J14022", "#fff") == ""
