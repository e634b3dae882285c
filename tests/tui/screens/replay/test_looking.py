"""Also tests tui.screens.replay.state."""

from pathlib import Path

import pytest
from textual.events import Key

from tests.tui.replays import replay
from tests.tui.screens.seeing import enter, noted, seen
from tui.screens.dialogs.choice import ChoiceDialog
from tui.screens.dialogs.prompt import Prompt
from tui.widgets.panel import Panel


async def test_slash_finds_a_job_or_says_so() -> None:
    async with replay(at="#5") as run:
        await run.press("slash")
        assert isinstance(run.app.screen, Prompt)
        await enter(run, "J4")
        assert run.screen.state.selected == 3
        assert "4 of 10 processors" in seen(run, "#details")
        assert "J4" in seen(run, "#details")
    async with replay(at="#5") as run:
        await run.press("slash")
        await enter(run, "17")
        assert isinstance(run.app.screen, Prompt)
        assert "'17'" in run.text
        await run.press("escape")
        assert run.screen.state.selected is None
    async with replay(at="#5") as run:
        for key, letter in (("slash", "/"), ("J", "J"), ("4", "4"), ("enter", None)):
            run.app.post_message(Key(key, letter))  # all at once, as a slow line brings them
        await run.settle()
        assert run.screen.state.selected == 3


async def test_w_walks_the_queue_or_says_that_nobody_waits() -> None:
    async with replay(at="#5") as run:
        seen_first = []
        for _ in range(4):
            await run.press("w")
            seen_first.append(run.screen.state.selected)
        assert seen_first == [2, 3, 4, 2]
        assert "J3 is first in the queue: needs 8 > 0 free" in seen(run, "#details")
    async with replay(at="#2") as run:
        await run.press("w")
        assert "no job waits now" in noted(run)
        assert run.screen.state.selected is None


async def test_c_colours_jobs_by_something_else() -> None:
    async with replay(at="#5") as run:
        await run.press("c")
        assert isinstance(run.app.screen, ChoiceDialog)
        assert "▸ 1  job" in run.text
        key = next(line.split()[0] for line in run.text.splitlines() if " width " in line)
        await run.press(key)
        chart = run.scene.chart
        assert chart is not None
        assert chart.mode == "width"
        await run.press("c")
        assert f"▸ {key}  width" in run.text


async def test_tab_walks_the_focus_through_chart_and_panels() -> None:
    async with replay(at="#5") as run:
        assert run.screen.focused is run.screen.query_one("#chart")
        await run.press("tab")
        assert run.screen.focused is run.screen.query_one("#queue")
        await run.press("shift+tab")
        assert run.screen.focused is run.screen.query_one("#chart")


async def test_keys_of_the_chart_apply_wherever_the_focus_is_and_escape_gives_it_back() -> None:
    async with replay(at="#5") as run:
        await run.press("plus", "shift+left")
        from_chart = run.screen.state.camera
        await run.press("A", "tab", "tab", "plus", "shift+left")
        assert run.screen.in_focus == "decisions"
        assert run.screen.state.camera == from_chart
        await run.press("w", "escape")
        assert run.screen.in_focus == "chart"
        assert run.screen.state.selected == 2
        await run.press("escape")
        assert run.screen.state.selected is None


@pytest.mark.parametrize(
    ("trace", "policy", "panel", "keys", "rank"),
    [
        ("z-figure4", "easy", "queue", ("down", "down"), 4),
        ("z-figure4", "easy", "decisions", ("down", "up"), 4),
        ("ls-figure1", "multiqueue", "partitions", ("down", "down"), 5),
    ],
)
@pytest.mark.parametrize("size", [(80, 24), (120, 50)])
async def test_a_cursor_selects_a_row(
    trace: str, policy: str, panel: str, keys: tuple[str, ...], rank: int, size: tuple[int, int]
) -> None:
    async with replay(trace, policy, at="#5", size=size) as run:
        while run.screen.in_focus != panel:
            await run.press("tab")
        assert seen(run, f"#{panel}").splitlines()[0].startswith("▎")
        await run.press(*keys, "enter")
        assert run.screen.state.selected == rank
        await run.press("escape")
        assert run.screen.in_focus == "chart"


async def test_on_a_small_screen_panels_come_over_the_chart_in_turn() -> None:
    async with replay(at="#5", size=(80, 24)) as run:
        assert seen(run, "#side") == ""
        await run.press("tab")
        assert "Queue" in seen(run, "#side")
        await run.press("tab")
        assert "Decisions" in seen(run, "#side")
        await run.press("shift+tab", "shift+tab")
        assert seen(run, "#side") == ""
        await run.press("2")
        assert "Decisions" in seen(run, "#side")
        await run.press("2")
        assert seen(run, "#side") == ""


async def test_z_shows_the_focused_panel_alone_and_back() -> None:
    async with replay(at="#5") as run:
        await run.press("tab", "z")
        assert run.screen.query_one("#queue").size.width > 100
        assert "3 waiting" in run.text
        assert "Whole run" not in run.text
        await run.press("z")
        assert run.screen.query_one("#queue").size.width < 60
        assert "Whole run" in run.text


PANELS = [
    ("z-figure4", "easy", {"1": "queue", "2": "decisions", "3": "details", "6": "metrics", "7": "strip"}),
    ("z-figure7", "gang-backfill", {"4": "matrix", "m": "matrix"}), ("ls-figure1", "multiqueue", {"5": "partitions"}),
]  # fmt: skip


@pytest.mark.parametrize(("trace", "policy", "panels"), PANELS)
async def test_a_number_hides_a_panel_and_shows_it_again(trace: str, policy: str, panels: dict[str, str]) -> None:
    async with replay(trace, policy, at="#3", size=(120, 50)) as run:
        for key, name in panels.items():
            assert seen(run, f"#{name}")
            await run.press(key)
            assert seen(run, f"#{name}") == ""
            await run.press(key)
            assert seen(run, f"#{name}")


async def test_what_is_hidden_is_remembered() -> None:
    async with replay() as run:
        await run.press("7")
        assert run.app.settings.panels["strip"] is False
        assert run.app.settings.panels["queue"] is True


async def test_a_question_mark_lists_every_key() -> None:
    async with replay() as run:
        await run.press("question_mark")
        assert run.text.index("The eight keys") < run.text.index("Here: the chart")
        assert "Play, or pause." in run.text


async def test_enter_takes_the_current_choice() -> None:
    async with replay() as run:
        await run.press("c", "enter")
        assert run.app.screen is run.screen
        assert run.screen.state.colour == "job"


async def test_arrow_to_a_start_out_of_sight_covers_no_promise() -> None:
    async with replay("w-figure1", "relaxed:omega=1.25", at="20", size=(80, 24)) as run:
        await run.press("w")
        assert "J2 promised 00:16:40, now +3m40 " in run.text
        assert " J2 d0 00:20 ▸" in run.text


async def test_keys_without_effect_say_what_to_do() -> None:
    async with replay() as run:
        await run.press("o")
        assert "no job is selected" in seen(run, "#sentence")
        await run.press("escape")
        assert "H returns to the samples" in seen(run, "#sentence")


async def test_keys_restore_all_panels_and_the_first_zoom() -> None:
    async with replay("lublin-128", at="#300") as run:
        await run.complete()
        camera = run.screen.chart.camera
        assert camera is not None
        await run.press("1", "7", "plus", "right_curly_bracket", "h")
        assert "hidden: 1 queue, 7 strip" in run.text
        assert run.screen.chart.camera != camera
        await run.press("a", "A")
        assert "hidden" not in run.text.splitlines()[0]
        again = run.screen.chart.camera
        assert again is not None
        assert again.sized(camera.columns, camera.rows) == camera


async def test_playing_turns_pages_unless_somebody_likes_it_to_scroll() -> None:
    async with replay("lublin-128", at="#300") as run:
        await run.do("toggle_play")
        camera = run.screen.chart.camera
        assert camera is not None
        assert camera.pages
        await run.pilot.press("N")
        await run.wait_for(lambda: "while it plays the chart scrolls" in run.text)
        assert run.screen.chart.camera == camera.following()


async def test_a_panel_has_the_rows_that_its_content_needs() -> None:
    async with replay("ls-figure1", "multiqueue", at="#7") as run:
        rows = {panel.id: panel.size.height for panel in run.screen.query(Panel) if panel.display}
        assert rows["decisions"] < rows["partitions"]
        assert "12 > 11 free, ~02:13:20" in seen(run, "#queue")
        await run.press("right", "left")
        assert {panel.id: panel.size.height for panel in run.screen.query(Panel) if panel.display} == rows


async def test_dates_are_one_key_away(tmp_path: Path) -> None:
    file = tmp_path / "dated.swf"
    job = "1 0 -1 90000 4 -1 -1 4 90000 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    file.write_text(f"; MaxProcs: 8\n; UnixStartTime: 0\n; TimeZoneString: UTC\n{job}")
    async with replay(str(file)) as run:
        await run.press("right")
        assert "d0 00:00:00" in seen(run, "#top")
        await run.press("t")
        assert "Thu 1 Jan 1970 00:00:00" in seen(run, "#top")
        assert "Thu 1 Jan" in seen(run, "#chart")
        assert "UTC" in noted(run)
        await run.press("f", "p", *"fcfs", "enter", "B")
        assert "fcfs from Thu 1 Jan 00:00:00" in run.text
        await run.press("escape", "t")
        assert "d0 00:00:00" in seen(run, "#top")


async def test_trace_without_a_beginning_says_so() -> None:
    async with replay() as run:
        await run.press("right", "t")
        assert "does not say when it began" in noted(run)
