"""Curves below the chart as SVG: processors in use, and waiting jobs, pixel by pixel."""

from __future__ import annotations

import numpy as np

from sim.history.past import Past
from sim.workload.model import Floats
from tui.chart.scene import Drawing
from tui.chart.svg.elements import Rect, element, number, text
from tui.chart.svg.frame import AXIS, Frame
from tui.look.palette import Look
from tui.look.text import number as spoken

_HEIGHT, _GAP = 28, 8


def averages(time: Floats, value: Floats, until: float, edges: Floats) -> Floats:
    """Return the mean of a value over time between each two neighbouring `edges`; the value is `value[i]` from
    `time[i]` on, and 0 after `until`.

    >>> averages(np.array([0.0, 10.0]), np.array([4.0, 2.0]), 20, np.array([0.0, 5.0, 15.0, 25.0])).tolist()
    [4.0, 3.0, 1.0]
    """
    moments = np.append(time, max(until, time[-1]))
    area = np.append(0, np.cumsum(value * np.diff(moments)))
    means: Floats = np.diff(np.interp(edges, moments, area)) / np.diff(edges)
    return means


def in_use_and_waiting(history: Past, frame: Frame, now: float, procs: int) -> tuple[Floats, Floats]:
    """Return, for columns of pixels up to now, the share in use and the number of waiting jobs."""
    time, free, waiting, _ = (np.array(column, dtype=np.float64) for column in history.columns())
    axis, last = frame.axis, frame.axis.place(frame.end)
    places = np.linspace(frame.first, last, frame.width + 1)
    edges = np.array([axis.time(place) for place in places[places <= axis.place(now) + frame.per_pixel / 2].tolist()])
    if len(edges) < 2 or not len(time):
        return np.zeros(0), np.zeros(0)
    use = averages(time, 1 - free / procs, now, edges)
    return use, averages(time, waiting, now, edges)


def strips(chart: Drawing, frame: Frame, look: Look) -> str:
    use, waiting = in_use_and_waiting(chart.history, frame, chart.clock, chart.workload.procs)
    top = frame.bottom + AXIS
    most = float(waiting.max(initial=0.0))
    first = _strip(frame, top, use, 1.0, ("in use", "100 %"), look.cool, look)
    return first + _strip(frame, top + _HEIGHT + _GAP, waiting, most, ("waiting", spoken(most, 0)), look.warm, look)


def _strip(frame: Frame, top: int, values: Floats, most: float, words: tuple[str, str], colour: str, look: Look) -> str:
    what, full = words
    ground = element("rect", **Rect(frame.left, top, frame.width, _HEIGHT)._asdict(), fill=look.surface)
    heights = values / most * _HEIGHT if most else values * 0
    curve = "".join(f"V{number(top + _HEIGHT - high)}h1" for high in heights.tolist())
    area = f"M{frame.left} {top + _HEIGHT}{curve}V{top + _HEIGHT}z"
    names = "".join(
        element("text", text(word), x=frame.left - 6, y=top + down, text_anchor="end", fill=look.dim)
        for word, down in ((full, 9), (what, _HEIGHT))
    )
    return ground + element("path", d=area, fill=colour, fill_opacity=0.75) + names
