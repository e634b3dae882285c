"""Fixtures for tests of the app: the helpers of `tests.sim`, folders of their own for settings and state, and a policy
that fails."""

import asyncio
import gc
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import RLock
from time import monotonic
from types import SimpleNamespace
from typing import Any
from weakref import WeakSet

import pytest
from textual._context import active_app
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.pilot import Pilot
from textual.screen import Screen
from textual.strip import Strip

from sim.engine.moment import Moment
from sim.policies import POLICIES
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.registry import policy
from tests.sim.conftest import Lab
from tui.chart.cells.paint import sketch
from tui.look.settings import FOLDER_VARIABLE
from tui.screens.first import screen as first_screen
from tui.sessions.autosave import STATE
from tui.widgets.gantt import Gantt


@pytest.fixture(scope="session", autouse=True)
def _idle_when_all_is_handled() -> Iterator[None]:
    """Replace the wait of Textual's tests, which takes up to a second a key in a program with a worker, by one until
    all messages are handled. No message is sent to find that out if every widget waits for one."""

    async def idle(min_sleep: float = 0.0, max_sleep: float = 1.0) -> None:
        until, quiet, app, loop = monotonic() + max_sleep, 0, active_app.get(), asyncio.get_running_loop()
        while quiet < 3 and monotonic() < until:
            for _ in range(20):  # rounds, not seconds: on a busy machine few may pass in a while
                await asyncio.sleep(0)
                if not loop._ready:  # type: ignore[attr-defined]
                    break
            await asyncio.sleep(0.002)
            pumps = [app, *(pump for screen in app.screen_stack for pump in screen.walk_children(with_self=True))]
            quiet = quiet + 1 if all(pump._message_queue.empty() for pump in pumps if pump._message_queue) else 0

    async def wait(pilot: Pilot[Any], timeout: float = 30.0) -> bool:
        pumps = [pilot.app, *pilot.app.screen.walk_children(with_self=True)]
        if all(pump._message_queue.ready_event._waiters and pump._message_queue.empty() for pump in pumps):
            return True
        return await original(pilot, timeout)

    original = Pilot._wait_for_screen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("textual.app.wait_for_idle", idle)
        patch.setattr("textual.pilot.wait_for_idle", idle)
        patch.setattr(Pilot, "_wait_for_screen", wait)
        yield


@pytest.fixture(scope="session", autouse=True)
def _garbage_is_found() -> Iterator[None]:
    """Prevent the program from exempting its objects from garbage collection; otherwise hundreds of ended programs
    would stay in memory. As many small programs leave less garbage than a long one, they look for it less often. A
    watched cluster whose pictures come each hundredth of a second looks for no garbage after each.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tui.memory.YOUNG", 1_000_000)
        patch.setattr(gc, "freeze", lambda: None)
        patch.setattr(gc, "unfreeze", lambda: None)
        patch.setattr("tui.live.watch.gc", SimpleNamespace(collect=lambda: 0))
        yield


@pytest.fixture(scope="session", autouse=True)
def _styles_are_parsed_once() -> Iterator[None]:
    """Keep style sheets that are parsed; otherwise Textual parses them again for every app and every theme."""
    parsed: dict[Hashable, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules

    def remembered(sheet: Stylesheet, *css: Any, **more: Any) -> list[RuleSet]:
        key = css, tuple(more.items()), tuple(sheet._variables.items())
        if key not in parsed:
            parsed[key] = parse(sheet, *css, **more)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", remembered)
        yield


@pytest.fixture(scope="session", autouse=True)
def _pictures_of_the_menu_are_made_once() -> Iterator[None]:
    """Keep the pictures of samples and lessons, which a thread would draw again for each menu, also under others."""
    made, lock = dict[Hashable, Any](), RLock()

    def once(key: Hashable, make: Callable[[], Any]) -> Any:
        with lock:
            if key not in made:
                made[key] = make()
            return made[key]

    def thumbnail_once(entry: Any) -> SimpleNamespace:
        def chart(*size: int) -> Any:
            return once((entry, size), lambda: once(entry, lambda: thumbnail(entry)).chart(*size))

        return SimpleNamespace(chart=chart)

    def sketch_once(chart: Any, look: Any, size: Any) -> Any:
        return once((id(chart), look, size), lambda: (chart, sketch(chart, look, size)))[1]  # keeps the id's object

    thumbnail = first_screen._thumbnail
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(first_screen, "_thumbnail", thumbnail_once)
        patch.setattr(first_screen, "sketch", sketch_once)
        yield


@pytest.fixture(scope="session", autouse=True)
def drawn() -> Iterator[list[str]]:
    """Skip drawing, as a test without a terminal seldom needs it, and paint charts when a test reads them; a test that
    adds any text to the list gets it done."""
    wanted: list[str] = []
    refresh, paint, rows = Screen._compositor_refresh, Gantt._redraw, Gantt.render_lines
    due = WeakSet[Gantt]()

    def painted_later(chart: Gantt) -> None:
        due.add(chart)
        if wanted or not chart.app.is_headless:
            rows_when_painted(chart, Region())

    def rows_when_painted(chart: Gantt, crop: Region) -> list[Strip]:
        if chart in due:
            due.remove(chart)
            paint(chart)
        return rows(chart, crop)

    def unseen(screen: Screen[Any]) -> None:
        if wanted or not screen.app.is_headless:
            refresh(screen)
        else:
            screen._compositor._dirty_regions.clear()
            screen._dirty_widgets.clear()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Screen, "_compositor_refresh", unseen)
        patch.setattr(Gantt, "_redraw", painted_later)
        patch.setattr(Gantt, "render_lines", rows_when_painted)
        yield wanted


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def lab() -> Lab:
    return Lab()


@pytest.fixture(scope="session")
def _rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    room = tmp_path_factory.mktemp("rooms")
    return (room / str(number) for number in count())


@pytest.fixture(autouse=True)
def _own_folders(_rooms: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test its own folders for settings and sessions, so that it cannot read or change those of the user. And
    hide a Slurm of this machine, which would be the first entry of the menu."""
    monkeypatch.setattr("tui.menus.which", lambda name: None)
    for variable in (FOLDER_VARIABLE, STATE):
        folder = next(_rooms)
        folder.mkdir()
        monkeypatch.setenv(variable, str(folder))


@pytest.fixture
def broken() -> Iterator[str]:
    """Yield the name of a policy that fails in the middle of a run, at 600 s."""

    @policy("broken", "a test")
    @dataclass(frozen=True)
    class Broken(FirstComeFirstServed):
        """First come, first served, until it fails."""

        def decide(self, now: Moment) -> None:
            if now.time >= 600:
                raise ZeroDivisionError("nothing to share")
            super().decide(now)

    yield "broken"
    POLICIES.remove("broken")
