"""The mouse on the replay screen: clicks, the wheel, dragging, scrubbing, tooltips."""

import re

from textual.events import MouseScrollUp
from textual.geometry import Offset

from tests.tui.replays import Replay, replay
from tests.tui.screens.seeing import cell, click, find, hover, seen
from tui.chart.scale import ChartView
from tui.screens.dialogs.policy_picker import PolicyPicker
from tui.screens.dialogs.prompt import Prompt
from tui.screens.dialogs.report import FidelityReport


def view(run: Replay) -> ChartView:
    assert run.scene.chart is not None
    return run.scene.chart.view


async def test_second_click_on_a_job_deselects_it() -> None:
    async with replay(at="#8") as run:
        spot = cell(run, 300, 0)
        await run.pilot.click("#chart", offset=spot)
        await run.settle()
        assert run.screen.state.selected == 0
        assert "6 of 10 processors" in seen(run, "#details")
        assert "J1" in seen(run, "#details")
        await run.pilot.click("#chart", offset=spot)
        await run.settle()
        assert run.screen.state.selected is None


async def test_a_click_on_the_other_chart_turns_to_that_run() -> None:
    async with replay(at="#6") as run:
        await run.press("V", *"fcfs", "enter")
        for chart, is_other in (("#beside", True), ("#chart", False)):
            await run.pilot.click(chart, offset=(60, 3))
            await run.settle()
            assert (" fcfs " in seen(run, "#queue")) == is_other


async def test_clicks_in_panels_select_jobs() -> None:
    async with replay(at="#5") as run:
        await click(run, "#queue", "4 > 0 free")
        assert run.screen.state.selected == 3
        assert "J4" in seen(run, "#details")
    async with replay("z-figure7", "gang-backfill", at="#5") as run:
        await click(run, "#matrix", "J4")
        assert run.screen.state.selected == 3


async def test_the_wheel_zooms_where_the_pointer_is() -> None:
    async with replay(at="#8") as run:
        before, spot = view(run), cell(run, 600, 3)
        await turn_wheel(run, spot)
        assert view(run).per_column < before.per_column
        assert cell(run, 600, 3).x == spot.x
        await turn_wheel(run, spot, shift=True)
        assert view(run).high - view(run).low < 10


async def turn_wheel(run: Replay, spot: Offset, *, shift: bool = False) -> None:
    await run.pilot._post_mouse_events([MouseScrollUp], "#chart", spot, shift=shift)
    await run.settle()


async def test_a_drag_moves_the_chart_and_selects_nothing() -> None:
    async with replay(at="#8") as run:
        before, spot = view(run), cell(run, 300, 0)
        await run.pilot.mouse_down("#chart", offset=spot)
        await hover(run, "#chart", spot + Offset(10, 0))
        await run.pilot.mouse_up("#chart", offset=spot + Offset(10, 0))
        await run.settle()
        assert view(run).first == before.first - 10
        assert run.screen.state.selected is None


async def test_a_click_on_the_strip_goes_to_that_moment_and_a_drag_on() -> None:
    async with replay() as run:
        curve = find(run, "#strip", "busy") + Offset(8, 0)
        await run.pilot.mouse_down("#strip", offset=curve)
        await run.settle()
        early = run.scene.clock
        assert 0 < early < 600
        await hover(run, "#strip", curve + Offset(25, 0))
        late = run.scene.clock
        assert 1000 < late < 1800
        await run.pilot.mouse_up("#strip", offset=curve + Offset(25, 0))
        await hover(run, "#strip", curve)
        assert run.scene.clock == late


async def test_keys_and_states_can_be_clicked() -> None:
    async with replay() as run:
        await click(run, "#keys", "step")
        assert run.step == 1
        await click(run, "#keys", "back")
        assert run.step == 0
        await click(run, "#keys", "go to")
        assert isinstance(run.app.screen, Prompt)
    async with replay() as run:
        await run.pilot.click("#top", offset=find(run, "#top", "‖"))
        await run.wait_for(lambda: run.step >= 1 and "pause" in seen(run, "#keys"))
        await click(run, "#keys", "pause")
        assert "‖" in seen(run, "#top")


async def test_what_stands_at_the_top_can_be_clicked() -> None:
    async with replay() as run:
        for text, dialog in (
            ("z-figure4", FidelityReport), ("easy", PolicyPicker), ("d0 00:00", Prompt), ("step 0", Prompt),
        ):  # fmt: skip
            await click(run, "#top", text)
            assert isinstance(run.app.screen, dialog)
            await run.press("escape")
        await click(run, "#top", "1m/s")
        assert "5m/s" in seen(run, "#top")


async def test_a_click_on_a_title_shows_the_panel_alone_and_back() -> None:
    async with replay(at="#5") as run:
        await click(run, "#queue", "Queue")
        assert run.screen.query_one("#queue").size.width > 100
        await click(run, "#queue", "Queue")
        assert run.screen.query_one("#queue").size.width < 60


async def test_the_pointer_tells_about_the_job_below_it() -> None:
    async with replay(at="#8") as run:
        await hover(run, "#chart", cell(run, 300, 0))
        assert str(run.screen.chart.tooltip).startswith("J1 · 6 processors")
        await hover(run, "#chart", cell(run, 1150, 2))
        assert str(run.screen.chart.tooltip) == "at 00:19:07 processor 2 was free"


async def test_the_pointer_tells_in_every_panel_what_is_below_it() -> None:
    async with replay("ls-figure1", "multiqueue", at="#8") as run:
        await run.complete()
        await hover(run, "#queue", find(run, "#queue", "14 > 4 free, ~03:20"))
        assert tooltip(run, "#queue").startswith("J7 · 14 processors")
        await hover(run, "#partitions", find(run, "#partitions", "─────────█"))
        assert tooltip(run, "#partitions") == "processor 0: in use, owned by long, originally short"
        await hover(run, "#queue", find(run, "#queue", "waited"))
        assert tooltip(run, "#queue").startswith("Time since its submission;")
        await hover(run, "#queue", Offset(2, 0))
        assert tooltip(run, "#queue").startswith("The waiting jobs in the policy's order")
        await hover(run, "#metrics", find(run, "#metrics", "mean wait"))
        assert tooltip(run, "#metrics").endswith("mean over the jobs.")
        await hover(run, "#top", find(run, "#top", "multiqueue"))
        assert tooltip(run, "#top").startswith("p: Continue from here under another policy")
        await hover(run, "#strip", Offset(20, 1))
        assert "in use, " in tooltip(run, "#strip")
        assert "a click goes there" in tooltip(run, "#strip")
    async with replay("z-figure7", "gang-backfill", at="#9") as run:
        await hover(run, "#matrix", find(run, "#matrix", "J6"))
        assert tooltip(run, "#matrix").startswith("J6 · 4 processors")


def tooltip(run: Replay, panel: str) -> str:
    return str(run.screen.query_one(panel).tooltip)


async def test_a_drag_with_shift_measures_time_and_processors() -> None:
    async with replay(at="#8") as run:
        before = view(run)
        await run.pilot.mouse_down("#chart", offset=cell(run, 600, 0), shift=True)
        await hover(run, "#chart", cell(run, 1200, 5))
        assert "├" in seen(run, "#chart")
        await run.pilot.mouse_up("#chart", offset=cell(run, 1200, 5), shift=True)
        await run.settle()
        assert "9m45, from 00:10:07 to 00:19:52; 6 processors, 0 to 5" in seen(run, "#sentence")
        assert "├" not in seen(run, "#chart")
        assert view(run) == before
        assert run.screen.state.selected is None


async def test_the_job_of_the_line_under_the_pointer_is_lit_in_other_panels() -> None:
    async with replay(at="#5") as run:
        await hover(run, "#queue", find(run, "#queue", "4 > 0 free"))
        assert run.screen.state.hovered == 3
        await hover(run, "#chart")
        assert run.screen.state.hovered is None


async def test_measured_span_tells_what_happened_in_it() -> None:
    async with replay(at="00:30") as run:
        begin, end = cell(run, 560, 5), cell(run, 1300, 5)
        await run.pilot.mouse_down("#chart", offset=begin, shift=True)
        await run.pilot.hover("#chart", offset=end)
        await run.pilot.mouse_up("#chart", offset=end, shift=True)
        await run.settle()
        assert re.search(
            r"from 00:09:\d\d to .*: 4 jobs, 2 started, mean wait 14m.* used, .* lost", seen(run, "#sentence")
        )
        assert run.scene.clock == 1800


async def test_click_on_a_column_sorts_the_queue_and_back() -> None:
    async with replay(at="#6") as run:
        await click(run, "#queue", "  procs")
        assert "▼procs" in seen(run, "#queue")
        assert procs_of(run) == [8, 4]
        await click(run, "#queue", "▼procs")
        assert procs_of(run) == [4, 8]
        await click(run, "#queue", "▲procs")
        assert procs_of(run) == [8, 4]
        assert not {"▼", "▲"} & {*seen(run, "#queue")}


def procs_of(run: Replay) -> list[int]:
    rows = [line[1:].split() for line in seen(run, "#queue").splitlines()[2:] if line[1:].strip()]
    return [int(row[2]) for row in rows]
