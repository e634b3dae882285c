"""Rows that are kept: only what changed is drawn again, and what is shown no more is gone."""

from __future__ import annotations

import gc

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region

from tui.widgets.rows import Row, Rows


class Stand(App[None]):
    def compose(self) -> ComposeResult:
        yield Rows()


def row(*texts: str) -> list[Segment]:
    return [Segment(text) for text in texts]


async def test_only_the_columns_that_changed_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Stand().run_test(size=(6, 3)) as pilot:
        rows, refreshed = pilot.app.query_one(Rows), list[Region]()
        rows.put({0: row("ab", "cd", "ef"), 1: row("abcdef")})
        monkeypatch.setattr(rows, "refresh", lambda *regions: refreshed.extend(regions))
        rows.put({0: row("ab", "xy", "ef"), 1: row("abcdef"), 2: row("ghijkl")})
        assert refreshed == [Region(2, 0, 2, 1), Region(0, 2, 6, 1)]
        assert [rows.render_line(y).text for y in range(3)] == ["abxyef", "abcdef", "ghijkl"]
        rows.forget()
        rows.put({1: row("abcdef")})
        assert refreshed[2:] == [Region(0, 1, 6, 1)]


@pytest.mark.parametrize(
    ("now", "was", "changed"),
    [
        (("日本", "a"), ("日本", "b"), (4, 5)),
        (("a", "日", "c"), ("x", "日", "c"), (0, 1)),
        (("a", "a", "a"), ("a", "aa"), (1, 3)),
        (("aa", "b"), ("a", "ab"), (0, 3)),
    ],
)
def test_a_row_knows_where_it_differs(now: tuple[str, ...], was: tuple[str, ...], changed: tuple[int, int]) -> None:
    assert Row(row(*now)).changed(Row(row(*was))) == changed


def test_a_row_that_is_shown_no_more_is_gone_before_anybody_looks_for_garbage() -> None:
    gc.collect()
    gc.disable()
    try:
        shown = Row(row("ab", "c"), 3)
        assert [strip.text for strip in shown.divide([3])] == ["abc"]
        assert [strip.text for strip in shown.divide([1, 3])] == ["a", "bc"]
        del shown
        assert gc.collect() == 0
    finally:
        gc.enable()
