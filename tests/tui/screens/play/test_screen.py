"""The game's screen.

Also tests tui.screens.play.page, tui.cli.play.
"""

from __future__ import annotations

import pytest

from sim.workload.source import read
from tests.tui.cli.program import error
from tui.beginnings import Begun
from tui.screens.play.screen import PlayScreen
from tui.widgets.cell_rows import Lines

FIVE = read("10 procs; 6x10m@0; 4x20m@0; 8x10m@20s; 4x15m@30s; 5x8m20s@40s")


def text(screen: PlayScreen) -> str:
    return "\n".join(
        "".join(piece.text for piece in each.cells(y, 0, each.size.width))
        for each in screen.query(Lines)
        for y in range(each.size.height)
    )


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (60, 18)])
async def test_a_game_is_played_and_scored(size: tuple[int, int]) -> None:
    app = Begun(lambda look, is_guest: PlayScreen(FIVE, look, "five"))
    async with app.run_test(size=size) as pilot:
        for _ in range(100):
            await pilot.pause(0.02)
            if isinstance(app.screen, PlayScreen):
                break
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        for _ in range(100):
            if "Queue" in text(screen):
                break
            await pilot.pause(0.02)
        assert "Queue: 2 waiting, 3 to come" in text(screen)
        await pilot.press("enter", "enter")
        assert "0 of 10 free" in text(screen)
        await pilot.press("3", "space", "1")
        assert "J3 needs 8 > 0 free" in text(screen)
        await pilot.press("space", "space", "space", "down", "down", "enter")
        assert [job.id for job in screen.game.running] == ["2", "5"]
        await pilot.press("u", "2", "space", "space", "space", "space")
        while not screen.game.is_over:
            await pilot.press("enter" if screen.game.fitting[:1] == screen.game.queue[:1] else "space")
        await screen.workers.wait_for_complete()
        await pilot.pause()
        assert "The same hours" in text(screen)
        assert "conservative" in text(screen)
        assert "The decisions that cost most" in text(screen)
        assert "You are number" in text(screen)
        await pilot.press("N")
        assert "Queue: 2 waiting, 3 to come" in text(screen)
        app.exit()


def test_a_game_needs_a_terminal_and_a_trace() -> None:
    assert "a game needs a terminal" in error("play")[1]
    assert "no such file" in error("play", "nothing-there.swf")[1]
    assert "at least 2 jobs" in error("play", "4 procs; 1x1m@0")[1]
