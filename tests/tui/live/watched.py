"""A made-up cluster, a recording of a real run, and the screen that shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from time import monotonic
from typing import Any

from textual.pilot import Pilot

from sim.live.cluster.pace import LEAST, SLOW
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import ClusterError
from tests.sim.live.cluster.captures import series
from tests.tui.replays import PATIENCE, painted, rows_of
from tui.live.chart import Wish
from tui.live.program import LiveApp
from tui.live.scene import LiveScene
from tui.live.screens.screen import LiveScreen
from tui.live.watch import Watch
from tui.widgets.gantt import Gantt


class Recorded:
    """A recording in memory: the states of a recorded run, by their times."""

    def __init__(self, pictures: Iterable[Cluster], ended: tuple[ClusterJob, ...] = ()) -> None:
        self.pictures = {cluster.at: cluster for cluster in pictures}
        self.ended = ended

    @classmethod
    def of(cls, shared: Path, version: str) -> Recorded:
        return cls(series(shared, version))

    def times(self) -> tuple[float, ...]:
        return tuple(self.pictures)

    def history(self) -> tuple[ClusterJob, ...]:
        return self.ended

    def at(self, time: float) -> Cluster:
        return self.pictures[max(at for at in self.pictures if at <= time + 0.001)]


class Scripted:
    """A made-up scheduler that gives one prepared state after another; in place of a state, None stands for a failed
    poll.

    The last state is repeated, at ever longer intervals, so that a busy machine has time to draw it.
    """

    def __init__(self, *pictures: Cluster | None, ended: tuple[ClusterJob, ...] = ()) -> None:
        self.pictures, self.ended = list(pictures), ended
        self.asked = 0
        self._given: object = self  # no picture

    def snapshot(self) -> Cluster:
        self.asked += 1
        found, before = self.pictures[0], self._given
        self._given = found
        if len(self.pictures) > 1:
            self.pictures.pop(0)
        if found is None:
            raise ClusterError("squeue: Unable to contact slurm controller")
        return replace(found, cost=2 * SLOW * LEAST) if found is before else found

    def history(self, since: float) -> tuple[ClusterJob, ...]:
        return self.ended


@contextmanager
def heard(watch: Watch, wish: Wish | None = None) -> Iterator[Callable[[Callable[[LiveScene], bool]], LiveScene]]:
    """Start the watch; yield a function that waits for a scene for which the given condition holds, and returns it."""
    newest: list[LiveScene] = []
    failures: list[Exception] = []
    came = Event()

    def hear(scene: LiveScene) -> None:
        newest.append(scene)
        came.set()

    def until(holds: Callable[[LiveScene], bool]) -> LiveScene:
        end = monotonic() + PATIENCE
        while monotonic() < end:
            came.clear()
            if failures:
                raise failures[0]
            if newest and holds(newest[-1]):
                return newest[-1]
            came.wait(0.05)
        raise AssertionError("no such scene came")

    watch.wish(wish or Wish())
    watch.begin(hear, failures.append)
    try:
        yield until
    finally:
        watch.stop()


async def settled(pilot: Pilot[Any], holds: Callable[[LiveScene], bool] = lambda scene: True) -> LiveScene:
    """Wait until the screen shows a completely drawn scene for which `holds` is true; return it."""
    screen = pilot.app.screen_stack[-1]
    end = monotonic() + PATIENCE
    while monotonic() < end:
        await painted(pilot)
        live = next((found for found in pilot.app.screen_stack if isinstance(found, LiveScreen)), None)
        if live is not None and live.scene is not None and live.scene.chart is not None and live._newest is None:
            wanted = live.state.picture
            is_there = live.scene.follows if wanted is None else live.scene.picture == wanted
            chart = live.query_one("#chart", Gantt)
            fits = not chart.display or chart.camera is None or chart.camera.columns == live.scene.chart.view.columns
            if live.scene.state.reading is None and is_there and live._is_aimed and fits and holds(live.scene):
                await painted(pilot)
                return live.scene
        await asyncio.sleep(0.02)
    raise AssertionError(f"no such scene on {screen}")


def text_of(app: LiveApp) -> str:
    return "\n".join(rows_of(app.screen))
