"""The pictures of the README: the program on real workloads, as SVG.

    python -m tests.pictures FOLDER_OF_TRACES

writes tests/pictures/*.svg. FOLDER_OF_TRACES holds the log KTH-SP2-1996-2.swf.gz of the Parallel Workloads Archive.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from sim.policies import parse_policy
from sim.workload.source import Source
from tui.app import Schedscope
from tui.replay.opening import Opening
from tui.screens.replay.screen import ReplayScreen

FOLDER = Path(__file__).parent / "pictures"
KTH = "KTH-SP2-1996-2.swf.gz"
SIZE = (120, 36)
TO_CONSERVATIVE = ("p", *"conservative", "enter")
PICTURES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("longest", KTH, "easy", ("W",)),
    ("cause", KTH, "easy", ("W", "r")),
    ("compared", KTH, "easy", ("W", "r", *TO_CONSERVATIVE, "v", "1", "d", "escape")),
    ("gang", "lublin-320", "gang-backfill", ("g", *"d3", "enter")),
)
"""(name, trace, policy, the keys that are pressed)"""


async def picture(trace: str, policy: str, keys: tuple[str, ...]) -> str:
    """What the screen shows when these keys have been pressed."""
    app = Schedscope(Opening(Source(trace), parse_policy(policy)).prepare())
    async with app.run_test(size=SIZE) as pilot:
        for key in (None, *keys):
            if key is not None:
                await pilot.press(key)
            while not settled(app.replay):
                await pilot.pause(0.05)
        await pilot.pause(0.5)
        drawn = app.replay.screenshot() if app.replay else ""
        app.exit()
    return drawn


def settled(screen: ReplayScreen | None) -> bool:
    """Has the worker done everything, and is it on the screen?"""
    if screen is None or screen.is_behind or screen.shown is None or screen.shown.answers != screen.player.asked:
        return False
    scenes = [scene for scene in (screen.shown.scene, screen.shown.beside) if scene is not None]
    return all(scene.complete and scene.chart is not None and not scene.chart.pending for scene in scenes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path)
    traces = parser.parse_args().traces
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"SCHEDSCOPE_CONFIG": folder, "SCHEDSCOPE_STATE": folder}
        for name, trace, policy, keys in PICTURES:
            where = str(traces / trace) if trace == KTH else trace
            drawn = asyncio.run(picture(where, policy, keys))
            (FOLDER / f"{name}.svg").write_text(drawn, encoding="utf-8")
            print(f"{name}.svg")


if __name__ == "__main__":
    main()
