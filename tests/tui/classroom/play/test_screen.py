"""Also tests tui.classroom.play.page, tui.classroom.cli.play."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from textual.pilot import Pilot

from sim.classroom.play.game import Game
from sim.classroom.play.scoring import IN_SHORT, RIVALS
from sim.support.formatting import span
from sim.workload.model import Workload
from sim.workload.replay import read
from tests.tui.cli.program import error, schedscope
from tests.tui.replays import finished, painted, wait_until
from tui.classroom.play.page import own_chart
from tui.classroom.play.screen import PlayScreen
from tui.classroom.screens import Begun
from tui.screens.dialogs.choice import ChoiceDialog
from tui.widgets.cell_rows import Lines

FIVE = read("10 procs; 6x10m@0; 4x20m@0; 8x10m@20s; 4x15m@30s; 5x8m20s@40s")
TWO = read("4 procs; 4x1m@0; 1x1m@0")


def text(screen: PlayScreen) -> str:
    return "\n".join(
        "".join(piece.text for piece in each.cells(y, 0, each.size.width))
        for each in screen.query(Lines)
        for y in range(each.size.height)
    )


@asynccontextmanager
async def playing(
    size: tuple[int, int] = (80, 24), seeds: list[int] | None = None
) -> AsyncIterator[tuple[Begun, Pilot[int], PlayScreen]]:
    def hours(seed: int) -> Workload:
        if seeds is not None:
            seeds.append(seed)
        return TWO

    app = Begun(lambda look, is_guest: PlayScreen(FIVE, look, "five", hours=hours, seed=7))
    async with app.run_test(size=size) as pilot:
        await wait_until(lambda: isinstance(app.screen, PlayScreen) and "Queue" in text(app.screen))
        screen = app.screen
        assert isinstance(screen, PlayScreen)
        yield app, pilot, screen
        app.exit()


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (60, 18)])
async def test_a_game_is_played_and_scored(size: tuple[int, int]) -> None:
    async with playing(size) as (_, pilot, screen):
        assert "Queue: 2 waiting, 3 to come" in text(screen)
        assert "five seed 7" in text(screen)
        await pilot.press("enter", "enter")
        assert "0 of 10 free   ends at most in: J1 6p 10m00" in text(screen)
        chart = text(screen).partition("Queue")[0].splitlines()[2:]
        assert [row.index(name) for name in ("░J2░", "░J1░") for row in chart if name in row] == [4, 4]
        assert any(row.startswith("   d0 00:00:00 ") for row in chart)
        await pilot.press("3", "space", "1")
        assert "J3 needs 8 > 0 free" in text(screen)
        await pilot.press("space", "space", "space", "down", "down", "enter")
        assert [job.id for job in screen.game.running] == ["2", "5"]
        await pilot.press("u", "2", "space", "space", "space", "space")
        while not screen.game.is_over:
            await pilot.press("enter" if screen.game.fitting[:1] == screen.game.queue[:1] else "space")
        await finished(pilot.app)
        await painted(pilot)
        assert "The same hours" in text(screen)
        assert "conservative" in text(screen)
        assert "The decisions that cost most" in text(screen)
        assert "You are number" in text(screen)
        await pilot.press(*["down"] * 40)
        assert "waited" in text(screen)
        if size[0] >= 80:
            assert "promises may slip" in text(screen)
        await pilot.press("N")
        assert "Queue: 2 waiting, 3 to come" in text(screen)


async def test_begun_game_is_left_only_when_asked_for() -> None:
    seeds: list[int] = []
    async with playing(seeds=seeds) as (app, pilot, screen):
        await pilot.press("enter", "escape")
        assert isinstance(app.screen, ChoiceDialog)
        await pilot.press("s")
        assert isinstance(app.screen, PlayScreen)
        await pilot.press("O")
        await pilot.press("l")
        assert (screen.game.moves, screen.game.workload) == ((), TWO)
        given = re.findall(r"five seed (\d+)", text(screen))
        assert given == [str(seeds[-1])]
        await pilot.press("escape")
        assert not isinstance(app.screen, PlayScreen | ChoiceDialog)


async def test_clock_of_an_idle_machine_goes_on_only_when_asked_twice() -> None:
    async with playing() as (_, pilot, screen):
        await pilot.press("space")
        assert "J1, J2 would fit" in text(screen)
        assert screen.game.now == 0
        await pilot.press("space")
        assert screen.game.now == 20


async def test_choice_stays_in_the_queue_when_the_terminal_is_tiny() -> None:
    async with playing() as (app, pilot, screen):
        await pilot.resize_terminal(1, 1)
        await pilot.press("up", "enter")
        assert [job.id for job in screen.game.running] == ["1"]
        await pilot.press("enter", "up", "enter")
        assert ([job.id for job in screen.game.running], screen.game.queue) == (["1", "2"], ())
        assert app.return_code is None


async def test_clock_can_be_clicked_and_says_what_happened() -> None:
    async with playing() as (_, pilot, screen):
        await pilot.press("enter")
        assert "mean wait 0s, worst 0s J1" in text(screen)
        keys = text(screen).splitlines()[-1]
        for _ in range(4):
            await pilot.click("#keys", offset=(keys.index("clock"), 0))
        assert "d0 00:10:00: J1 ended" in text(screen)
        assert "worst 10m00 J2" in text(screen)


def test_each_policy_of_the_scores_is_explained() -> None:
    assert tuple(IN_SHORT) == RIVALS


async def test_one_processor_is_not_plural() -> None:
    async with playing() as (_, pilot, screen):
        await pilot.press("O")
        await pilot.pause()
        assert "1 proc " in text(screen)
        assert "1 procs" not in text(screen)


def test_a_game_needs_a_terminal_and_a_trace() -> None:
    line = error("play")[1]
    assert line.startswith("a game needs a terminal; without one use schedscope run, ")
    assert schedscope("run", "z-figure4", "--policy", "fcfs", "--policy", "easy").returncode == 0
    assert "no such file" in error("play", "nothing-there.swf")[1]
    assert "at least 2 jobs" in error("play", "4 procs; 1x1m@0")[1]


def test_the_own_game_is_drawn_with_its_waits() -> None:
    game = Game(FIVE).started(0).started(1)
    while not game.is_over:
        game = game.started(game.fitting[0].rank) if game.fitting else game.waited()
    rows = [each.text for each in own_chart(game, 80)]
    assert "Your hours" in rows[1]
    assert len(rows) == 2 + len(FIVE)
    first, last = rows[2], max(rows[2:], key=lambda row: row.count("·"))
    assert "·" not in first
    assert "waited" not in first
    longest = max(range(len(FIVE)), key=game.waits)
    assert last.startswith(f" J{longest + 1} ")
    assert f"waited {span(game.waits(longest))}" in last
    assert all(len(row) <= 80 for row in rows)
