"""Accepted pictures of the live screen, for a captured state of Slurm 24.11 and the jobs started before it.

Look at a changed picture before you accept it: `pytest -n0 tests/tui/live/screens/test_golden.py --snapshot-update`.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from textual.pilot import Pilot

from sim.live.cluster.slurm.adapter import SlurmSource
from tests.sim.live.cluster.slurm.answers import Captured
from tests.tui.live.watched import Recorded, settled
from tui.live.forecaster import Ahead
from tui.live.program import LiveApp
from tui.live.scene import LiveScene
from tui.live.watch import Replayed
from tui.look.palette import DARK

SHOTS: dict[str, tuple[tuple[int, int], tuple[str, ...]]] = {
    "80x24": ((80, 24), ()),
    "80x24-why": ((80, 24), ("w",)),
    "80x24-queue": ((80, 24), ("tab",)),
    "120x36": ((120, 36), ("w", "c")),
    "120x36-help": ((120, 36), ("question_mark",)),
}


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use UTC for all times in the test, so that pictures do not depend on the machine's time zone."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture(scope="module")
def forecasts() -> list[Ahead]:
    return []


@pytest.mark.parametrize("name", SHOTS)
def test_the_live_screen(name: str, snap_compare: Callable[..., bool], forecasts: list[Ahead]) -> None:
    size, keys = SHOTS[name]
    commands = Captured("24.11")
    slurm = SlurmSource(commands)
    cluster = replace(slurm.snapshot(), at=commands.at, cost=0.1)
    running = {job.id for job in cluster.running[:4]}
    before = replace(cluster, at=commands.at - 60, jobs=tuple(job for job in cluster.jobs if job.id not in running))
    watch = Replayed(Recorded((before, cluster), slurm.history(0.0)), "week.slog")
    watch.forecaster._lines = [*forecasts]
    app = LiveApp(watch, DARK)

    def is_forecast(scene: LiveScene) -> bool:
        """Return True if the forecasts are made and scored, so that nothing on the screen changes any more."""
        made = watch.forecaster.made(scene.picture)
        return made is not None and made.is_scored and scene.forecasts is made.forecasts

    async def prepare(pilot: Pilot[Any]) -> None:
        await settled(pilot, is_forecast)
        for key in keys:
            await pilot.press(key)
            await settled(pilot, is_forecast)
        forecasts[:] = watch.forecaster._lines

    assert snap_compare(app, terminal_size=size, run_before=prepare)
