"""The widget that shows a panel's lines: scrolling, clicks, refreshes.

Also tests tui.look.sheets, tui.widgets.bar.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.events import MouseScrollDown
from textual.geometry import Region
from textual.message import Message
from textual.screen import Screen as BaseScreen
from textual.strip import Strip

from tests.tui.scenes import context_of, engine_of
from tui.look.palette import DARK
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import Context, worded
from tui.widgets.panel import Panel, add_scroll_mark, draw_rows, span_at

CONTEXT = context_of(engine_of("z-figure4", "easy", until=600))


def numbered(context: Context, size: Size, first: int) -> Sheet:
    """Return a panel with a hundred lines, one for each job, from line `first` on; the selected job's line must stay
    visible.
    """
    body = tuple(line(f"line {index}", rank=index) for index in range(first, min(100, first + size[1] - 1)))
    return Sheet("Numbers", (line("heading"),), body, first, 100, "a note", context.selected)


def with_action(context: Context, size: Size, first: int) -> Sheet:
    return Sheet("Actions", (), (line("press ", Span("here", "key", "ring('7')"), rank=3),), 0, 1)


class Wall(App[None]):
    """An app with one panel of 30 x 10 cells, which records the panel's messages."""

    CSS = "Panel { width: 30; height: 10; }"

    def __init__(self, panel: Panel) -> None:
        super().__init__()
        self.panel = panel
        self.told: list[Message] = []

    def compose(self) -> ComposeResult:
        yield self.panel

    def on_mount(self) -> None:
        self.panel.show(CONTEXT)

    def on_panel_picked(self, message: Panel.Picked) -> None:
        self.told.append(message)

    def on_panel_hovered(self, message: Panel.Hovered) -> None:
        self.told.append(message)

    def on_panel_maximise(self, message: Panel.Maximise) -> None:
        self.told.append(message)


class Ringing(BaseScreen[None]):
    """A screen with one action, which records its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.rung: list[str] = []

    def action_ring(self, what: str) -> None:
        self.rung.append(what)


def seen(panel: Panel) -> list[str]:
    """Return the lines of text on the panel, without the marks of the focus and of the scroll position."""
    return [panel.render_line(y).text[1:-1].strip() for y in range(panel.size.height)]


def edge(panel: Panel) -> str:
    """Return the left edge of the panel, which shows the focus and the cursor."""
    return "".join(panel.render_line(y).text[0] for y in range(panel.size.height))


async def test_it_shows_the_title_the_heading_and_the_first_lines() -> None:
    async with Wall(Panel(numbered)).run_test() as pilot:
        await pilot.pause()
        panel = pilot.app.query_one(Panel)
        assert seen(panel)[0] == "Numbers ───────────── a note"
        assert seen(panel)[1:] == ["heading", *(f"line {number}" for number in range(8))]


async def test_keys_move_a_cursor_the_wheel_scrolls_and_the_heading_stays() -> None:
    async with Wall(Panel(numbered)).run_test() as pilot:
        panel = pilot.app.query_one(Panel)
        places = []
        for key in ("down", "pagedown", "down", "up", "pageup", "pageup"):
            await pilot.press(key)
            places.append((panel.under_cursor, seen(panel)[2]))
        assert places == [
            ("line 1", "line 0"), ("line 8", "line 3"), ("line 9", "line 4"), ("line 8", "line 4"),
            ("line 1", "line 1"), ("line 0", "line 0"),
        ]  # fmt: skip
        assert edge(panel) == "▎▎▸▎▎▎▎▎▎▎"
        await pilot._post_mouse_events([MouseScrollDown], Panel)
        assert seen(panel)[1:3] == ["heading", "line 3"]
        pilot.app.set_focus(None)
        await pilot.pause()
        assert edge(panel) == " " * 10


def told_of_jobs(context: Context, size: Size, first: int) -> Sheet:
    """Return a panel with a title, a sentence on a job that is wrapped, a link, and a sentence on no job."""
    sentence = worded("J3 waits: it needs more processors than are free", context, 20, rank=2)
    body = (line("Waiting"), line(""), *sentence, line(Span("phase", "", "ring('7')")), line("J4 ends", rank=3))
    return Sheet("Told", (), body, 0, len(body))


async def test_the_cursor_goes_from_entry_to_entry_and_enter_selects() -> None:
    app = Wall(Panel(told_of_jobs))
    async with app.run_test() as pilot:
        entries = []
        for key in ("enter", "down", "enter", "down", "down", "enter", "down"):
            await pilot.press(key)
            entries.append(app.panel.under_cursor)
        waits = "J3 waits: it needs more processors than are free"
        assert entries == ["Waiting", waits, waits, "phase", "J4 ends", "J4 ends", "J4 ends"]
        assert [m.rank for m in app.told if isinstance(m, Panel.Picked)] == [2, 3]


async def test_without_focus_keys_do_not_scroll() -> None:
    async with Wall(Panel(numbered)).run_test() as pilot:
        pilot.app.set_focus(None)
        await pilot.press("down", "pagedown")
        assert seen(pilot.app.query_one(Panel))[2] == "line 0"


async def test_what_is_selected_comes_into_sight_and_scrolling_away_is_allowed() -> None:
    async with Wall(Panel(numbered)).run_test() as pilot:
        panel = pilot.app.query_one(Panel)
        panel.show(replace(CONTEXT, selected=50))
        assert seen(panel)[9] == "line 50"
        await pilot.press(*["pageup"] * 9)
        panel.show(replace(CONTEXT, selected=50, hovered=3))
        assert seen(panel)[2] == "line 0"


async def test_a_click_on_a_line_picks_its_job() -> None:
    app = Wall(Panel(numbered))
    async with app.run_test() as pilot:
        await pilot.click(Panel, offset=(5, 4))
        await pilot.pause()
        assert [m.rank for m in app.told if isinstance(m, Panel.Picked)] == [2]


async def test_a_click_on_a_span_with_an_action_runs_it_and_picks_nothing() -> None:
    class Screen(Wall):
        def get_default_screen(self) -> BaseScreen[None]:
            return Ringing()

    app = Screen(Panel(with_action))
    async with app.run_test() as pilot:
        await pilot.click(Panel, offset=(8, 1))
        await pilot.pause()
        assert isinstance(app.screen, Ringing)
        assert app.screen.rung == ["7"]
        assert not [m for m in app.told if isinstance(m, Panel.Picked)]


async def test_a_click_on_the_title_asks_to_maximise() -> None:
    app = Wall(Panel(numbered))
    async with app.run_test() as pilot:
        await pilot.click(Panel, offset=(3, 0))
        await pilot.pause()
        assert [m.control for m in app.told if isinstance(m, Panel.Maximise)] == [app.panel]


async def test_the_pointer_tells_which_job_it_is_over_and_when_it_leaves() -> None:
    app = Wall(Panel(numbered))
    async with app.run_test() as pilot:
        for offset in ((3, 3), (9, 3), (3, 5), (3, 1)):
            await pilot.hover(Panel, offset=offset)
        await pilot.pause()
        assert [m.rank for m in app.told if isinstance(m, Panel.Hovered)] == [1, 3, None]


async def test_only_lines_that_changed_are_refreshed(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Wall(Panel(numbered)).run_test() as pilot:
        await pilot.pause()
        panel, refreshed = pilot.app.query_one(Panel), list[Region]()
        monkeypatch.setattr(panel, "refresh", lambda *regions: refreshed.extend(regions))
        panel.show(replace(CONTEXT, hovered=2))
        assert [region.y for region in refreshed] == [4]
        refreshed.clear()
        panel.show(replace(CONTEXT, hovered=2))
        assert not refreshed


# From a sheet to rows


def strips_of(sheet: Sheet, context: Context = CONTEXT) -> list[Strip]:
    return [Strip(row) for row in draw_rows(sheet, sheet.body, context, 20, 4)]


def test_every_cell_has_a_style() -> None:
    strips = strips_of(Sheet("Title", (), (line("short"), line("a line that is wider than it may be"))))
    assert [strip.cell_length for strip in strips] == [20] * 4
    assert all(segment.style and segment.style.bgcolor for strip in strips for segment in strip)


def test_the_lines_of_the_selected_and_the_hovered_job_stand_out() -> None:
    sheet = Sheet("", (), (line("a", rank=1), line("b", rank=2), line("c")))
    grounds = [list(strip)[1].style for strip in strips_of(sheet, replace(CONTEXT, selected=1, hovered=2))[1:]]
    assert grounds == [DARK.style("surface select"), DARK.style("surface hover"), DARK.style("surface")]


def test_a_terminal_without_unicode_gets_ascii() -> None:
    strips = strips_of(
        Sheet("Title", (), (line("12 – 14 · 3"),), note="1"), replace(CONTEXT, look=DARK.with_mode("ascii"))
    )
    assert [strip.text.strip() for strip in strips[:2]] == ["Title ---------- 1", "12 - 14 - 3"]


def test_a_click_finds_the_span_below_it() -> None:
    drawn = Line((Span("日本"), Span("abc", "dim")))
    assert [getattr(span_at(drawn, column), "text", None) for column in (0, 3, 4, 6, 7, -1)] == [
        "日本", "日本", "abc", "abc", None, None,
    ]  # fmt: skip


@pytest.mark.parametrize(("first", "marked"), [(0, 1), (45, 5), (90, 10)])
def test_the_scroll_mark_tells_which_part_is_seen(first: int, marked: int) -> None:
    drawn = add_scroll_mark([[Segment(" " * 5)]] * 11, 1, range(first, first + 10), 100, DARK)
    assert [y for y, row in enumerate(drawn) if row[-1].text.endswith("▐")] == [marked]


def test_a_body_that_is_seen_whole_has_no_scroll_mark() -> None:
    rows = [[Segment(" " * 5)]] * 4
    assert add_scroll_mark(rows, 1, range(3), 3, DARK) == rows
