"""How long a frame of the chart takes: query, raster, plan, paint and what is sent. Run by hand:

    python -m tests.benchmarks.frames [FOLDER OF TRACES]

A screen of 200x60 cells plays on from the middle of a run, a step a frame, under EASY. The runs: 1,000 jobs from the
middle of CTC, all of its jobs, and all of them on 9,000 processors. Then the whole run is drawn as one picture, from
nothing. The time must not grow with the number of jobs.
"""

import argparse
import time
from pathlib import Path
from statistics import median, quantiles

from sim.engine.engine import Engine
from sim.engine.snapshot import Snapshot
from sim.policies import parse_policy
from sim.workload.model import Workload
from sim.workload.reading import read
from tests.benchmarks.logs import CTC, TRACES
from tui.chart.cells.cells import Brush, Cells
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import chart_size, paint
from tui.chart.chart_maker import ChartMaker
from tui.chart.scale import Camera
from tui.look.palette import DARK

SCREEN = Size(200, 60)
FRAMES = 300
A_COLUMN = 900


class Stage:
    """A run with its chart, drawn without a screen."""

    def __init__(self, workload: Workload, steps: int) -> None:
        self.engine = Engine(workload, parse_policy("easy"))
        self.engine.advance(steps)
        self.maker, self.brush = ChartMaker(workload), Brush(DARK)
        self.cells: Cells | None = None
        inner = chart_size(SCREEN, workload.procs)
        self.camera = Camera(A_COLUMN, 0, workload.procs, inner.columns, 2 * inner.rows)

    def draw(self, snapshot: Snapshot, camera: Camera, budget: float) -> bool:
        """Draw a frame, for at most about `budget` seconds; return True if columns are left to draw."""
        clock = snapshot.time or 0
        scene = self.maker.make(self.engine.history, snapshot, clock, camera, "job", budget)
        before, self.cells = self.cells, paint(scene, DARK, SCREEN)
        for span in self.cells.changed(before):
            self.brush.draw(self.cells, *span)
        return scene.pending

    def step(self) -> float:
        """Advance the run by a step; return the milliseconds that drawing it takes."""
        self.engine.step()
        snapshot = self.engine.snapshot()
        begin = time.perf_counter()
        self.draw(snapshot, self.camera, 0.02)
        return 1000 * (time.perf_counter() - begin)

    def whole(self) -> tuple[float, int, float]:
        """Draw the whole run from nothing; return (total ms, frames needed, ms of the longest frame)."""
        snapshot, workload = self.engine.snapshot(), self.engine.workload
        camera = self.camera.fitting(float(workload.submit[0]), snapshot.time or 0)
        self.maker = ChartMaker(workload)
        times, pending = [], True
        while pending:
            begin = time.perf_counter()
            pending = self.draw(snapshot, camera, 0.02)
            times.append(1000 * (time.perf_counter() - begin))
        return sum(times), len(times), max(times)


def play(*workloads: Workload) -> list[float]:
    """Print and return the median ms of a frame for each run; the runs take turns, so that other load affects all of
    them alike."""
    stages = [Stage(workload, len(workload)) for workload in workloads]
    for stage in stages:
        while stage.draw(stage.engine.snapshot(), stage.camera, 1):
            pass
    frames = [[stage.step() for stage in stages] for _ in range(FRAMES)]
    middles = []
    for workload, times in zip(workloads, zip(*frames, strict=True), strict=True):
        middles.append(median(times))
        p95 = quantiles(times, n=20)[-1]
        what = f"{len(workload):,} jobs on {workload.procs:,} processors"
        print(f"{what:<44}{middles[-1]:9.1f} ms{p95:9.1f} ms")
    return middles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=TRACES, type=Path)
    trace = read(parser.parse_args().folder / CTC)
    every = Workload.of(trace).with_overruns()
    print(f"{f'{SCREEN.columns}x{SCREEN.rows}, a step a frame':<44}{'median':>12}{'p95':>12}")
    middle = len(every) // 2
    wide = Workload.of(trace, 9000).with_overruns()
    few, many, _ = play(every.take(slice(middle - 500, middle + 500)), every, wide)
    print(f"{f'{len(every):,} jobs take':<44}{many / few:9.2f} times as long")
    stage = Stage(every, 2 * len(every))
    total, frames, longest = stage.whole()
    print(f"the whole run from nothing: {total:,.0f} ms in {frames} frames, the longest {longest:.0f} ms")


if __name__ == "__main__":
    main()
