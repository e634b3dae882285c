from dataclasses import replace

import pytest

from sim.policies import parse_policy
from tests.tui.replays import replay
from tui.replay.requests import Compare


@pytest.mark.parametrize("by_event", [False, True], ids=["by the clock", "by event"])
async def test_while_it_plays_both_charts_turn_pages_together(by_event: bool) -> None:
    async with replay("lublin-128", "easy", at="#100") as run:
        await run.ask(Compare(parse_policy("fcfs"), from_start=False))
        screen = run.screen
        if by_event:
            await run.do("by_event")
            await run.do("in_chart('space_by_event')")
        one, other = screen.charts
        assert one.camera is not None
        assert not one.camera.pages
        await run.pilot.press("space")
        await run.wait_for(lambda: one.camera is not None and one.camera.pages)
        await run.pilot.press("space")
        assert other.camera == replace(one.camera, rows=other.camera.rows)  # type: ignore[union-attr]


async def test_a_jump_out_of_the_visible_part_follows_now_again() -> None:
    async with replay("lublin-128", "easy", at="#100") as run:
        one, other = run.screen.charts
        await run.do("in_chart('pan(-1)')")
        here = one.camera
        assert here is not None
        assert not here.follow
        await run.press("right")
        assert one.camera == here
        await run.press("g", *"d9", "enter")
        assert one.camera == replace(here, follow=True, pages=False)
        assert other.camera is not None
        assert other.camera.follow
        assert run.scene.chart is not None
        assert run.scene.chart.view.shows(run.scene.clock)


async def test_a_jump_within_the_visible_part_moves_nothing() -> None:
    async with replay("lublin-128", "easy", at="#100") as run:
        await run.do("in_chart('pan(-1)')")
        here = run.screen.charts[0].camera
        await run.press("g", *"#98", "enter")
        assert run.screen.charts[0].camera == here
