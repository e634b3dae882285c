"""The replay screen as a user meets it: open it on a trace, press keys, and wait for the results."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from gc import collect, freeze
from itertools import count
from time import monotonic
from typing import Any

from textual.app import App
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from sim.policies import parse_policy
from sim.policies.own.consent import Proof
from sim.session.session import Session
from sim.workload.source import Source
from tui.app import Schedscope
from tui.replay.opening import Opening
from tui.replay.scene import Scene
from tui.screens.replay.screen import ReplayScreen
from tui.sessions.session_conversion import reopened

PATIENCE = 30.0
"""Seconds after which a missing event fails the test, even on a busy machine."""
_BEGUN, _MANY = count(1), 64
"""Counter of programs, and the number of programs after which the memory of ended ones is released"""
_DUE = ("_layout_required", "_scroll_required", "_recompose_required", "_refresh_styles_required")
"""Attributes of a widget that are True while Textual has postponed work on it"""


class Replay:
    """A user at the replay screen: presses keys and reads."""

    def __init__(self, app: Schedscope, pilot: Pilot[int]) -> None:
        self.app, self.pilot = app, pilot

    @property
    def screen(self) -> ReplayScreen:
        assert self.app.replay is not None
        return self.app.replay

    @property
    def scene(self) -> Scene:
        assert self.screen.scene is not None
        return self.screen.scene

    @property
    def session(self) -> Session:
        assert self.app.session is not None
        return self.app.session

    @property
    def step(self) -> int:
        return self.scene.snapshot.step

    @property
    def text(self) -> str:
        return "\n".join(rows_of(self.app.screen))

    @property
    def told(self) -> str:
        return "\n".join(note.message for note in self.app._notifications)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settle()

    async def do(self, action: str) -> None:
        await self.screen.run_action(action)

    async def ask(self, order: Any) -> None:
        self.screen.ask(order)
        await self.settle()

    async def wait_for(self, what: Callable[[], object]) -> None:
        """Wait until `what` returns a true value; fail after `PATIENCE` seconds."""
        await wait_until(what)

    async def settle(self) -> None:
        """Wait until the worker has answered everything, and all of it is on the screen."""
        await painted(self.pilot)
        while not self._is_settled():
            await self.wait_for(self._is_settled)
            await painted(self.pilot)

    async def complete(self) -> None:
        await self.wait_for(lambda: self.screen.scene is not None and self.scene.complete)
        await self.settle()

    def _is_settled(self) -> bool:
        screen = self.screen
        if screen.is_behind or screen.shown is None or screen.shown.answers != screen.player.asked:
            return False
        scenes = (screen.shown.scene, screen.shown.beside)
        return not any(scene and scene.chart and scene.chart.pending for scene in scenes)


def rows_of(screen: Screen[Any], rows: range | None = None) -> list[str]:
    """Return the text of these rows of the screen, of all rows by default."""
    compositor = screen._compositor
    width, height = compositor.size
    shown = range(height) if rows is None else range(height)[rows.start : rows.stop]
    chops = compositor._render_chops(Region(0, shown.start, width, len(shown)), shown.__contains__)
    return ["".join(strip.text for strip in chops[row].values() if strip) for row in shown]


async def wait_until(what: Callable[[], object]) -> None:
    """Wait until `what` returns a true value; fail after `PATIENCE` seconds."""
    end, pause = monotonic() + PATIENCE, 0.005
    while not what():
        assert monotonic() < end, "what was waited for did not come"
        await asyncio.sleep(pause)
        pause = min(1.5 * pause, 0.05)  # to look takes as long as to draw the screen


async def finished(app: App[Any]) -> None:
    """Wait until each worker has ended or is cancelled. Textual's own waiting fails if one is cancelled meanwhile."""
    await wait_until(lambda: all(worker.is_finished for worker in app.workers))


async def painted(pilot: Pilot[Any]) -> None:
    """Wait until every widget has handled its messages and is laid out and drawn; Textual's own pause may end
    before."""
    end = monotonic() + PATIENCE
    await pilot.pause()
    while _is_painting(pilot.app):
        assert monotonic() < end, "the screen is never drawn whole"
        await pilot.pause()


def _is_painting(app: App[Any]) -> bool:
    if app._exit:
        return False
    widgets = [*app.screen.walk_children(Widget, with_self=True)]
    if app.screen._dirty_widgets or any(
        node._message_queue.qsize() or node._next_callbacks for node in [app, *widgets]
    ):
        return True
    if any(getattr(widget, due) for widget in widgets for due in _DUE):
        return True
    shown = app.screen._compositor  # a widget out of sight may be due to be drawn for ever
    return any(widget._repaint_required and widget in shown for widget in widgets)


@asynccontextmanager
async def replay(
    trace: str = "z-figure4",
    policy: str = "easy",
    size: tuple[int, int] = (120, 36),
    *,
    session: Session | None = None,
    notifications: bool = False,
    **opening: Any,
) -> AsyncIterator[Replay]:
    """Run the program on a trace or, if given, on a session; yield a user of it, and end it properly afterwards."""
    if not next(_BEGUN) % _MANY:
        collect()
        freeze()  # what is left stays for all tests, as caches do: the next search skips it
    if session is not None:
        opened = reopened(session)
    else:
        opened = Opening(Source(trace), parse_policy(policy, Proof.TYPED), **opening)
    app = Schedscope(opened.prepare())
    async with app.run_test(size=size, notifications=notifications) as pilot:
        run = Replay(app, pilot)
        await run.settle()
        yield run
        app.exit()


@asynccontextmanager
async def first_screen(size: tuple[int, int] = (120, 36)) -> AsyncIterator[Replay]:
    """Run the program as it opens without a trace, on its first screen."""
    app = Schedscope(None)
    async with app.run_test(size=size) as pilot:
        yield Replay(app, pilot)
        app.exit()
