"""Film of the screen, made without a terminal. The program plays by an artificial clock, and a picture is taken at each
time of a frame.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import NamedTuple, TypeAlias

from rich.segment import Segment

from sim.engine.policy_calls import LONGEST_PASS
from sim.session.session import Bookmark
from sim.support.errors import SchedscopeError
from tui.app import Guest, Schedscope
from tui.classroom.guide import walk_of
from tui.look.palette import LOOKS, Look
from tui.replay.opening import Prepared
from tui.replay.requests import GoTo, GoToJob, GoToTime, Order, parse_place
from tui.replay.speed import SPEEDS
from tui.screens.replay.screen import ReplayScreen

Rows: TypeAlias = tuple[tuple[Segment, ...], ...]
STILL = 2.0
"""Seconds for which the first and the last picture of a film are shown."""
A_WORD = 0.35
"""Seconds that a viewer needs to read one word of a lesson."""
PATIENCE = 60.0
"""Longest time in seconds of the real clock to wait until a picture is drawn."""
WHOLE = 10.0
"""Longest time in seconds to wait until the whole run is computed; then the film begins without the rest."""
A_GLANCE = 0.002
"""Seconds between two checks whether a picture has been drawn."""
CALM = 3
"""Number of checks in a row that must find no activity before the picture counts as drawn."""


class Picture(NamedTuple):
    """Picture of the film, with its time in seconds since the beginning of the film."""

    at: float
    rows: Rows
    marks: tuple[str, ...] = ()
    """Names of the parts of the film that begin with this picture; usually empty."""


@dataclass(frozen=True)
class RecordingOptions:
    size: tuple[int, int] = (120, 36)
    begin: str | None = None
    """Time at which the film begins, as the user typed it; None for the time at which the run opens."""
    until: str | None = None
    """Time at which the film ends, as the user typed it; None for the end of the run."""
    speed: int | None = None
    """Index of the speed in `SPEEDS`; None for the speed with which the screen begins."""
    seconds: float = 60.0
    fps: int = 10
    look: Look = LOOKS["dark"]


class Clock:
    """Artificial clock of the program that is recorded; its time changes only when the recorder sets it."""

    def __init__(self) -> None:
        self.time = 0.0

    def __call__(self) -> float:
        return self.time


class Camera:
    """Recorder that opens one run in the program, plays it and takes pictures of the screen."""

    def __init__(self, prepared: Prepared, plan: RecordingOptions) -> None:
        self._prepared, self._plan, self._clock = prepared, plan, Clock()
        self._app = Schedscope(prepared, guest=Guest(plan.look, self._clock))
        self.has_ended = False
        self.failure: SchedscopeError | None = None
        """Error of the policy that ended the recording early, or None"""

    async def film(self) -> AsyncGenerator[Picture, None]:
        """Yield the pictures of the film; a picture that equals the one before is left out."""
        plan = self._plan
        async with self._app.run_test(size=plan.size) as pilot:
            await pilot.pause()
            await self._settle(whole=True)
            screen = self._screen
            screen.change(filmed=True)
            await self._settle()
            workload = self._prepared.about.workload
            end = None if plan.until is None else parse_place(plan.until, workload)
            if plan.begin is not None:
                screen.ask(parse_place(plan.begin, workload))
                await self._settle()
            if screen.state.guide is not None:
                async for picture in self._walk():
                    yield picture
                self._app.exit()
                return
            ahead = self._bookmarks()
            yield Picture(0.0, self._picture_now(), tuple(self._reached_bookmarks(ahead)))
            self._clock.time = STILL
            if plan.speed is not None:
                screen.change(speed=plan.speed)
            screen.change(playing=True)
            async for picture in self._play(ahead, end):
                yield picture
            screen.change(playing=False)
            await self._settle()
            yield Picture(self._clock.time, self._picture_now())
            yield Picture(self._clock.time + STILL, self._picture_now())
            self._app.exit()

    async def _walk(self) -> AsyncIterator[Picture]:
        """Yield pictures of a lesson's scenes, long enough to be read; questions first without the answer."""
        screen, title, at = self._screen, "", 0.0
        while (walk := walk_of(screen.state.guide)) is not None:
            marks = (walk.staged.title,) if walk.staged.title != title else ()
            yield Picture(at, self._picture_now(), marks)
            title, at = walk.staged.title, at + STILL + len(walk.text.split()) * A_WORD
            if walk.is_at_the_end:
                self.has_ended = True
                yield Picture(at, self._picture_now())
                return
            await screen.run_action("lesson_next")
            await self._settle()

    async def _play(self, ahead: list[Bookmark], end: Order | None) -> AsyncIterator[Picture]:
        screen, plan, last = self._screen, self._plan, self._picture_now()
        screen.tick()
        while screen.state.playing and not self._is_at(end):
            if self._clock.time >= plan.seconds - STILL:
                return
            self._clock.time += 1 / plan.fps
            screen.tick()
            await self._settle()
            taken, marks = self._picture_now(), tuple(self._reached_bookmarks(ahead))
            if taken != last or marks:
                yield Picture(self._clock.time, taken, marks)
                last = taken
        self.has_ended = True
        if not self._is_at(end) and (broken := self._prepared.timeline.branch.error):
            self.failure = broken.error

    def _is_at(self, end: Order | None) -> bool:
        scene = self._screen.scene
        if scene is None or end is None:
            return False
        match end:
            case GoToTime(time):
                return scene.clock >= time
            case GoTo(step):
                return scene.snapshot.step >= step
            case GoToJob(rank, start):
                submit = self._prepared.about.workload.jobs[rank].submit
                there = [job.job.rank for job in scene.snapshot.queue]
                return scene.clock >= submit and not (start and rank in there)
        return False

    @property
    def _screen(self) -> ReplayScreen:
        if self._app.replay is None:
            raise SchedscopeError("the replay could not be opened")
        return self._app.replay

    def _bookmarks(self) -> list[Bookmark]:
        screen = self._screen
        branch = screen.scene.branch if screen.scene else ""
        return sorted((mark for mark in screen.state.bookmarks if mark.branch == branch), key=lambda mark: mark.step)

    def _reached_bookmarks(self, ahead: list[Bookmark]) -> Iterator[str]:
        """Yield the names of the bookmarks that the replay has reached, and remove them from `ahead`."""
        step = self._screen.scene.snapshot.step if self._screen.scene else 0
        while ahead and ahead[0].step <= step:
            yield ahead.pop(0).name

    def _picture_now(self) -> Rows:
        return tuple(tuple(strip) for strip in self._app.screen._compositor.render_strips())

    async def _settle(self, whole: bool = False) -> None:
        """Wait until all requests are drawn; with `whole`, also (at most `WHOLE` seconds) until the run is computed."""
        began, calm, asked = monotonic(), 0, -1
        while calm < CALM or (whole and not self._is_whole() and monotonic() < began + WHOLE):
            if not self._app.is_running:
                raise SchedscopeError("interrupted: the film is not done")
            if monotonic() > began + PATIENCE:
                what, _ = self._screen.player.progress or ("the screen does not come", None)
                raise SchedscopeError(f"{what}: it cannot be filmed")
            self._screen.player.be_patient(LONGEST_PASS)
            await self._drawn()
            is_calm = self._is_settled() and self._screen.player.asked == asked
            calm, asked = (calm + 1 if is_calm else 0), self._screen.player.asked

    async def _drawn(self) -> None:
        done = asyncio.Event()
        self._screen.call_after_refresh(done.set)
        await done.wait()
        await asyncio.sleep(A_GLANCE)

    def _is_settled(self) -> bool:
        screen = self._screen
        if screen.is_behind or screen.shown is None or screen.shown.answers != screen.player.asked:
            return False
        scenes, cameras = (screen.shown.scene, screen.shown.beside), (screen.state.camera, screen.state.beside)
        for scene, gantt, camera in zip(scenes, screen.charts, cameras, strict=True):
            if scene is not None and not (gantt.is_fitted and gantt.camera == camera):
                return False
        return not any(scene and scene.chart and scene.chart.pending for scene in scenes)

    def _is_whole(self) -> bool:
        scene = self._screen.scene
        return scene is not None and (scene.complete or scene.is_veiled)


SPEED_NAMES = [speed.label.removesuffix("/s") for speed in SPEEDS if not speed.moment]


def speed_of(label: str) -> int:
    """Return the index in `SPEEDS` of the speed that a user typed without the end "/s"."""
    return next(index for index, speed in enumerate(SPEEDS) if label == speed.label.removesuffix("/s"))
