import asyncio
from collections.abc import Callable

import pytest
from textual.app import App
from textual.widget import Widget

from tests.tui.replays import replay
from tui.replay import requests as o
from tui.screens.replay.screen import AT_REST, Ticks

LONG = 1000.0


class Clock:
    """A clock that counts its ticks; `waits` are the seconds from each tick to the next."""

    def __init__(self, *waits: float, widget: Widget | None = None) -> None:
        self.many, self._waits = 0, iter(waits)
        self.ticks = Ticks(widget or Widget(), self._tick)
        self.on_tick: Callable[[], object] = lambda: None

    def _tick(self) -> float:
        self.many += 1
        self.on_tick()
        return next(self._waits, LONG)

    async def passes(self) -> int:
        for _ in range(20):
            await asyncio.sleep(0.001)
        return self.many


async def test_ticks_come_when_due_or_sooner() -> None:
    clock = Clock(0, 0, 0)
    assert await clock.passes() == 0
    clock.ticks.begin()
    assert await clock.passes() == 4
    clock = Clock()
    clock.ticks.begin()
    assert await clock.passes() == 1
    clock.ticks.wake(0)
    assert await clock.passes() == 2
    clock = Clock(0.005)
    clock.ticks.begin()
    clock.ticks.wake(LONG)
    assert await clock.passes() == 2
    clock = Clock()
    clock.on_tick = lambda: clock.ticks.wake(0)
    clock.ticks.begin()
    assert await clock.passes() == 1


@pytest.mark.parametrize("has_begun", [True, False])
async def test_what_has_ended_or_not_begun_is_not_woken(has_begun: bool) -> None:
    clock = Clock(0)
    if has_begun:
        clock.ticks.begin()
        clock.ticks.end()
    clock.ticks.wake(0)
    assert await clock.passes() == 0


async def test_what_goes_wrong_in_a_tick_goes_wrong_in_the_program() -> None:
    with pytest.raises(ZeroDivisionError):
        await _ticking(lambda: 1 // 0)


async def _ticking(on_tick: Callable[[], object]) -> None:
    app = App[None]()
    async with app.run_test() as pilot:
        clock = Clock(widget=app.screen)
        clock.on_tick = on_tick
        clock.ticks.begin()
        await pilot.pause(0.1)


async def test_ticks_are_rare_at_rest_and_paced_in_playback() -> None:
    async with replay("lublin-128") as run:
        await run.complete()
        assert run.screen.tick() == AT_REST
        run.screen.change(playing=True)
        await run.wait_for(lambda: run.screen.tick() > 2 / 30)
        run.screen.pause()
        run.screen.go(o.Move(1))
        assert run.screen.tick() == 1 / 30
        await run.settle()
