"""Cameras of the two charts: the ranges of time and of processors that each shows."""

from __future__ import annotations

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
