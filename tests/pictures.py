"""The pictures of the pages: the program on real workloads and in class, as SVG.

    python -m tests.pictures FOLDER_OF_TRACES

Writes tests/pictures/*.svg, or only the pictures named after the folder. FOLDER_OF_TRACES holds the log
KTH-SP2-1996-2.swf.gz of the Parallel Workloads Archive.
"""

import argparse
import asyncio
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import chdir
from dataclasses import replace
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from sim.lab.plan import SweepPlan
from sim.lab.plan_file import seeds
from sim.lab.sweep import sweep
from sim.live.cluster.slurm.adapter import SlurmSource
from sim.policies import parse_policy
from sim.policies.own.consent import Proof, agree
from sim.policies.own.naming import code_in
from sim.workload.source import Source
from tests.sim.live.cluster.slurm.answers import Captured
from tests.tui.live.watched import Recorded
from tests.tui.live.watched import settled as shown
from tui.app import Schedscope
from tui.authoring.cli.new import texts
from tui.cli.main import commands
from tui.lab.results.screen import ResultsScreen
from tui.live.program import LiveApp
from tui.live.watch import Replayed
from tui.look.palette import DARK
from tui.replay.opening import Opening
from tui.screens.replay.screen import ReplayScreen
from tui.widgets.svg_screenshot import Type, draw_still

FOLDER = Path(__file__).resolve().parent / "pictures"
KTH = "KTH-SP2-1996-2.swf.gz"
SIZE = (120, 36)
TO_CONSERVATIVE = ("p", *"conservative", "enter")
PICTURES: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    ("figure4", "z-figure4", "easy", ("g", *"600", "enter")),
    ("longest", KTH, "easy", ("W",)),
    ("cause", KTH, "easy", ("W", "r")),
    ("compared", KTH, "easy", ("W", "r", *TO_CONSERVATIVE, "v", "1", "d", "escape")),
    ("gang", "lublin-320", "gang-backfill", ("g", *"d3", "enter")),
)
"""(name, trace, policy, keys to press)"""
LAB: tuple[tuple[str, tuple[str, str], tuple[str, ...]], ...] = (
    ("reloaded", ("parameter(7.0,", "parameter(1.0,"), ("d",)),
    ("refused", ("Easy(order=self.order).decide(now)", "[now.start(job, 'first') for job in 2 * now.queue[:1]]"), ()),
)
"""(name, (text of the policy's file, its replacement), keys to press after that change)"""
WRITTEN: Mapping[str, str] = {
    "wall": "record backfilling --scene 2 --present --size 60x18 --large 24",
    "question": "record zkp-lies --scene 3 --size 100x30",
    "slide": "record z-figure4 --from #5 --size 60x18 --large 32",
    "pair": "draw z-figure4 --policy easy --beside fcfs --to 22m --slide",
    "ousterhout": "draw lublin-128 --policy gang-backfill --to 14h --matrix --slide",
}
"""For each picture, by name: the command of `schedscope` that writes it, without the option -o"""
TO_A_JOB = ("g", *"d9", "enter", "slash", *"J279", "enter")


async def picture(
    trace: str, policy: str, keys: tuple[str, ...], save: Callable[[], object] | None = None, then: tuple[str, ...] = ()
) -> str:
    """Return the screen as SVG after `keys`. With `save`: call it to change a file, wait for the reload, and then press
    the keys `then`."""
    app = Schedscope(Opening(Source(trace), parse_policy(policy)).prepare())
    async with app.run_test(size=SIZE) as pilot:
        await press(pilot, app, None, *keys)
        if save is not None:
            save()
            while app.replay is None or app.replay.state.news is None:
                await pilot.pause(0.05)
            await press(pilot, app, None, *then)
        await pilot.pause(0.5)
        drawn = app.replay.screenshot() if app.replay else ""
        app.exit()
    return drawn


async def press(pilot: Pilot[int], app: Schedscope, *keys: str | None) -> None:
    """Press one key after another; before each, wait until the effect of all earlier ones is shown. None only waits."""
    for key in keys:
        if key is not None:
            await pilot.press(key)
        while not settled(app.replay):
            await pilot.pause(0.05)


def lab_picture(was: str, now: str, then: tuple[str, ...]) -> str:
    """Return the picture of a run under a user-defined policy after a change of its file, in which `was` is replaced by
    `now`. The file is `fair.py` in the present folder."""
    file = Path("fair.py")
    text, _ = texts(file, "fair-share")
    file.write_text(text, encoding="utf-8")
    agree(code_in("./fair.py"), Proof.TYPED)
    save = partial(file.write_text, text.replace(was, now), encoding="utf-8")
    return asyncio.run(picture("lublin-128", "./fair.py", TO_A_JOB, save, then))


async def results_picture() -> str:
    """Return the picture of the results of README's sweep in the app."""
    factors = {"policy": ["easy", "relaxed:omega={0,1,2}"], "load": ["{0.8..1.2..0.2}"], "estimates": ["random:2"]}
    sweep(SweepPlan.of({"trace": ["lublin-128"], "seed": [seeds(5)], **factors}), "out.sqlite")
    app = Schedscope(None, results="out.sqlite")
    async with app.run_test(size=SIZE) as pilot:
        while not isinstance(app.screen, ResultsScreen) or app.screen.found is None:
            await pilot.pause(0.05)
        await pilot.press("w", *"policy!=relaxed:omega=0", "enter", "down", "down", "right")
        await pilot.pause(0.5)
        drawn = draw_still(app.screen._compositor.render_strips(), SIZE[0], app.look, Type.of(16), "out.sqlite")
        app.exit()
    return drawn


async def live_picture() -> str:
    """Return the picture of the live screen for a captured state of a real Slurm, with the jobs from its accounting; a
    waiting job is selected."""
    captured = Captured("24.11")
    source = SlurmSource(captured)
    cluster = replace(source.snapshot(), at=captured.at, cost=0.1)
    watch = Replayed(Recorded([cluster], source.history(0)), "week.slog")
    app = LiveApp(watch, DARK)
    async with app.run_test(size=SIZE) as pilot:
        await shown(pilot)
        await pilot.press("7", "2", "slash", *"J53", "enter")
        await shown(pilot)
        drawn = draw_still(app.screen._compositor.render_strips(), SIZE[0], app.look, Type.of(16), "a real cluster")
        app.exit()
    return drawn


def written(name: str) -> str:
    commands([*WRITTEN[name].split(), "-o", f"{name}.svg"], standalone_mode=False)
    return Path(f"{name}.svg").read_text(encoding="utf-8")


def settled(screen: ReplayScreen | None) -> bool:
    """Return True if the worker has answered every request, and the screen shows the last answer."""
    if screen is None or screen.is_behind or screen.shown is None or screen.shown.answers != screen.player.asked:
        return False
    scenes = [scene for scene in (screen.shown.scene, screen.shown.beside) if scene is not None]
    return all(scene.complete and scene.chart is not None and not scene.chart.pending for scene in scenes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", type=Path)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    traces = given.traces.resolve()
    made: dict[str, Callable[[], str]] = {
        name: partial(
            lambda *of: asyncio.run(picture(*of)), str(traces / trace) if trace == KTH else trace, policy, keys
        )
        for name, trace, policy, keys in PICTURES
    }
    made["live"] = lambda: asyncio.run(live_picture())
    made["results"] = lambda: asyncio.run(results_picture())
    made |= {name: partial(written, name) for name in WRITTEN}
    made |= {name: partial(lab_picture, was, now, then) for name, (was, now), then in LAB}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ |= {"SCHEDSCOPE_CONFIG": folder, "SCHEDSCOPE_STATE": folder}
        for name in given.names or made:
            (FOLDER / f"{name}.svg").write_text(made[name](), encoding="utf-8")
            print(f"{name}.svg")


if __name__ == "__main__":
    main()
