import asyncio
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

import pytest

from tests.tui.replays import Replay, replay, wait_until
from tests.tui.screens.seeing import seen
from tui.app import Schedscope
from tui.replay import requests as o
from tui.replay.controller import ReplayController
from tui.replay.speed import SPEEDS
from tui.screens.dialogs import Prompt
from tui.screens.replay.drawing import Drawing
from tui.screens.replay.messages import OpenEntry
from tui.widgets.bar import Scrubber

MOVES = 120


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which an entry is added whenever the screen is drawn."""
    drawn: list[str] = []
    draw = Drawing.draw

    def counted(drawing: Drawing, *args: Any) -> bool:
        drawn.append("drawn")
        return draw(drawing, *args)

    monkeypatch.setattr(Drawing, "draw", counted)
    return drawn


async def begun(run: Replay, drawn: list[str]) -> None:
    await run.complete()
    await run.pilot.pause(0.1)
    drawn.clear()


def scrub(run: Replay, move: int) -> None:
    strip = run.screen.query_one(Scrubber)
    strip.post_message(Scrubber.Scrubbed(10 + move % 40, strip.size.width - 2))


async def test_a_step_is_drawn_when_it_is_shown_and_not_when_it_is_asked_for(drawn: list[str]) -> None:
    async with replay() as run:
        await begun(run, drawn)
        run.screen.go(o.Move(1))
        assert not drawn
        await run.settle()
        assert (len(drawn), run.step) == (1, 1)


async def test_what_plays_is_seen_to_pause(drawn: list[str]) -> None:
    async with replay() as run:
        await begun(run, drawn)
        run.screen.change(playing=True)
        assert (len(drawn), run.screen.player.playing) == (1, True)
        run.screen.pause()
        assert (run.screen.is_behind, run.screen.player.playing) == (True, False)
        await run.settle()
        drawn.clear()
        run.screen.pause()
        assert (len(drawn), run.screen.is_behind) == (0, False)


async def test_piled_up_moments_are_one_journey_and_drawing(drawn: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    is_free, obeyed, obey = Event(), [], ReplayController.obey

    def slowly(controller: ReplayController, order: o.Order, *rest: Any) -> Any:
        obeyed.append(order)
        is_free.wait(30)
        return obey(controller, order, *rest)

    async with replay("lublin-128") as run:
        await begun(run, drawn)
        monkeypatch.setattr(ReplayController, "obey", slowly)
        scrub(run, 0)
        await run.wait_for(lambda: obeyed)
        for move in range(1, MOVES):
            scrub(run, move)
        await run.pilot.pause()
        assert not drawn
        is_free.set()
        await run.settle()
        assert len(obeyed) == 2
        assert 1 <= len(drawn) <= 3  # one for each of the two; a chart that was not complete yet comes again
        assert obeyed[-1] == o.GoToTime(run.scene.clock, scrubbed=True)


async def test_steps_that_piled_up_are_one_move() -> None:
    async with replay("lublin-128") as run:
        await run.complete()
        for _ in range(MOVES):
            await run.do("step(1)")
        await run.do("step(-1)")
        await run.settle()
        assert run.step == MOVES - 1


async def test_view_keys_draw_at_most_once_a_frame(drawn: list[str]) -> None:
    async with replay() as run:
        await begun(run, drawn)
        begin = monotonic()
        for _ in range(MOVES):
            await run.do("speed(1)")
            await run.do("speed(-1)")
        await run.settle()
        assert len(drawn) <= 1.5 * 30 * (monotonic() - begin) + 2


async def test_a_drag_is_not_drawn_more_often_than_frames(drawn: list[str]) -> None:
    async with replay("lublin-128") as run:
        await begun(run, drawn)
        begin = monotonic()
        for move in range(MOVES):
            scrub(run, move)
            await asyncio.sleep(1 / 240)
        await run.settle()
        assert len(drawn) <= 30 * (monotonic() - begin) + 2


async def test_what_a_screen_that_has_gone_still_wishes_breaks_nothing() -> None:
    async with replay() as run:
        gone = run.screen
        await run.do("open_trace('z-figure7')")
        await run.wait_for(lambda: run.screen is not gone and not gone.children)
        gone.wish()


async def test_settings_choose_policy_and_speed_of_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = tmp_path / "x.csv"
    trace.write_text("submit,procs,runtime\n0,4,60\n1,4,60\n2,1,60\n")
    (tmp_path / "settings.json").write_text('{"policy": "fcfs", "speed": "4h/s"}')
    monkeypatch.setenv("SCHEDSCOPE_CONFIG", str(tmp_path))
    app = Schedscope(None)
    async with app.run_test(size=(100, 30)):
        app.post_message(OpenEntry(str(trace)))
        await wait_until(lambda: app.replay is not None and app.replay.scene is not None)
        assert app.replay is not None
        assert app.replay.scene is not None
        assert app.replay.scene.snapshot.policy == "fcfs"
        assert SPEEDS[app.replay.state.speed].label == "4h/s"


async def test_two_keys_in_one_write_open_one_dialog() -> None:
    async with replay() as run:
        screens = len(run.app.screen_stack)
        run.screen.open(Prompt("Go to", "a step", str))
        run.screen.open(Prompt("Go to", "a step", str))
        await run.pilot.pause()
        assert len(run.app.screen_stack) == screens + 1


@pytest.mark.parametrize(("size", "told"), [((80, 24), "until J3"), ((200, 60), "may end by J3's start")])
async def test_the_shade_before_the_head_is_explained_where_it_is_narrow(size: tuple[int, int], told: str) -> None:
    async with replay(at="#6", size=size) as run:
        assert told in seen(run, "#chart")
