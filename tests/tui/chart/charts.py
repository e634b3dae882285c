"""Charts of real engines, for the tests of what is drawn."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sim.engine.engine import Engine
from tui.chart.cells.cells import Cells
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import chart_size, paint
from tui.chart.chart_maker import ChartMaker
from tui.chart.scale import Camera
from tui.chart.scene import ChartScene, Mark
from tui.look.palette import DARK, Look
from tui.replay.scene import Scene, StripScene
from tui.widgets.svg_screenshot import SHAPES

LONG = 60.0
SIZE = Size(44, 10)


def chart_of(
    engine: Engine,
    size: Size = SIZE,
    look: Look = DARK,
    *,
    per_column: float = 10,
    first: int = 0,
    mode: str = "job",
    marks: Sequence[Mark] = (),
    maker: ChartMaker | None = None,
    by_rows: bool | None = None,
    memory: bool = False,
) -> ChartScene:
    """Return the chart of the engine's present state on a screen of `size`; its first column is column `first` of the
    time axis, with `per_column` seconds a column."""
    inner = chart_size(size, engine.moment.procs)
    rows = inner.rows * (2 if look.colour else 1)
    camera = Camera(per_column, 0, engine.moment.procs, inner.columns, rows, follow=False, first=first, by_rows=by_rows)
    camera = replace(camera, memory=memory)
    maker = maker or ChartMaker(engine.workload)
    return maker.make(engine.history, engine.snapshot(), engine.now, camera, mode, LONG, marks)


def picture(engine: Engine, look: Look, size: Size, selected: int | None = None, **chosen: float) -> str:
    return paint(chart_of(engine, size, look, **chosen), look, size, selected).text  # type: ignore[arg-type]


def inks_of(cells: Cells) -> NDArray[np.uint16]:
    """Return the ink at each eighth of the width, and half of the height, of each cell; texts count as background."""
    inks = np.repeat(np.repeat(cells.bg, 2, axis=0), 8, axis=1)
    for row, column in np.ndindex(*cells.chars.shape):
        sign = chr(cells.chars[row, column])
        for x, y, width, height in SHAPES.get(sign, []) if sign in "▀▄█▏▎▍▌▋▊▉▐▘▝▖▗▚▞▙▛▜▟" else []:
            rows = slice(2 * row + round(2 * y), 2 * row + round(2 * (y + height)))
            inks[rows, 8 * column + round(8 * x) : 8 * column + round(8 * (x + width))] = cells.fg[row, column]
    return inks


def scene_of(engine: Engine, chart: ChartScene) -> Scene:
    snapshot = engine.snapshot()
    strip = StripScene(begin=0, end=engine.now, known=engine.now, utilization=(), waiting=())
    return Scene(snapshot, engine.now, engine.step_count, snapshot.next_time is None, chart, strip)
