"""Means and plots of results as text, the latter by the library plotext; round numbers for the axes of all plots."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import Any, NamedTuple

from sim.lab.pivot import PivotCell, Value
from sim.lab.series import Panel, said
from sim.metrics.catalogue import Metric
from sim.support.errors import ParameterError
from sim.support.formatting import printable, shortened
from sim.support.optional_imports import extra
from tui.look.palette import JOB_COLOURS
from tui.look.text import cell, plain

_UNITS = ((1.0, "s"), (60.0, "min"), (3600.0, "h"), (86400.0, "d"))


def log_ticks(low: float, high: float, most: int = 10) -> list[float]:
    """Return numbers 1, 2 or 5 times powers of ten around a range above 0; fewer if there would be more than `most`.

    >>> log_ticks(55, 3747.7)
    [50.0, 100.0, 200.0, 500.0, 1000.0, 2000.0, 5000.0]
    >>> log_ticks(1, 1e9)
    [1.0, 100.0, 10000.0, 1000000.0, 100000000.0]
    """
    first, last = floor(log10(low)), ceil(log10(high))
    fine = [float(f"{step}e{power}") for power in range(first, last + 1) for step in (1, 2, 5)]
    begin = max((at for at, tick in enumerate(fine) if tick <= low * (1 + 1e-9)), default=0)
    end = min((at for at, tick in enumerate(fine) if tick >= high * (1 - 1e-9)), default=len(fine) - 1)
    if end + 1 - begin <= most:
        return fine[begin : end + 1]
    return [float(f"1e{power}") for power in range(first, last + 1, max(1, ceil((last - first + 1) / most * 1.9)))]


def linear_ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Return equally spaced round numbers within a range; their distance is 1, 2 or 5 times a power of ten.

    >>> linear_ticks(0, 3747.7)
    [0.0, 1000.0, 2000.0, 3000.0]
    >>> linear_ticks(0.6, 1.2)
    [0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2]
    """
    if not high > low:
        return [low]
    power = floor(log10((high - low) / most))
    steps = (float(f"{step}e{power + more}") for more in (0, 1, 2) for step in (1, 2, 5))
    step = next(step for step in steps if floor(high / step + 1e-9) - ceil(low / step - 1e-9) < most)
    places = range(ceil(low / step - 1e-9), floor(high / step + 1e-9) + 1)
    return [float(f"{place * step:.12g}") for place in places]


def value_in_words(value: Value) -> str:
    """Return the value of a factor as text of limited length; a dash for None."""
    return printable(shortened(said(value), 28))


def mean_in_words(of: PivotCell | None, metric: Metric) -> str:
    """Return a mean with half its interval and a sign: * for the best, ! for overloaded runs."""
    if of is None:
        return "·  "
    half = "" if of.mean.half is None else f" ±{cell(metric, of.mean.half)}"
    return f"{cell(metric, of.mean.value)}{half} {'*' if of.best else '!' if of.overloaded else ' '}"


def tick_label(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:.12f}".rstrip("0")


def time_unit(largest: float) -> tuple[float, str]:
    return next(unit for unit in reversed(_UNITS) if largest >= 4 * unit[0] or unit[0] == 1.0)


MARKERS = "●▲■◆○△□◇+x*#"
ASCII_MARKERS = "ox+*#@%&=abc"
GAP = 3
"""Least number of blanks between the titles of the two axes"""


class Manner(NamedTuple):
    columns: int
    rows: int
    colour: bool = True
    unicode: bool = True
    log: bool = False
    log_x: bool = False


def plotted(panel: Panel, titles: tuple[str, str], manner: Manner) -> str:
    """Return one panel of a plot, with its axes and titles, as text with terminal colours."""
    plotext = extra("plotext", "a plot", "plot")
    if manner.log and any(point.mean.value <= 0 for line in panel.lines.values() for point in line):
        raise ParameterError("by orders of magnitude nothing can be drawn that is 0 or less, and some means are")
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)
    plotext.plotsize(manner.columns, manner.rows)
    markers = MARKERS if manner.unicode else ASCII_MARKERS
    for number, (label, line) in enumerate(panel.lines.items()):
        drawn: dict[str, Any] = {"color": _rgb(JOB_COLOURS[number % len(JOB_COLOURS)])} if manner.colour else {}
        xs, ys = [point.x for point in line], [point.mean.value for point in line]
        ends = [point.ends for point in line]
        ends = [(max(low, 0.01 * y), high) for (low, high), y in zip(ends, ys, strict=True)] if manner.log else ends
        if any(low < high for low, high in ends):
            middles = [(low + high) / 2 for low, high in ends]
            plotext.error(xs, middles, yerr=[high - low for low, high in ends], **drawn)
        if not panel.ticks:
            plotext.plot(xs, ys, marker="hd" if manner.colour else "·" if manner.unicode else ".", **drawn)
        marker = markers[number % len(markers)]
        plotext.scatter(xs, ys, marker=marker, label=printable(shortened(label)) or None, **drawn)
    values = [point.mean.value for line in panel.lines.values() for point in line]
    if manner.log:
        plotext.yscale("log")
        yticks = log_ticks(min(values), max(values), 8)
    else:
        ends = [point.ends for line in panel.lines.values() for point in line]
        yticks = linear_ticks(min(low for low, _ in ends), max(high for _, high in ends))
    marks = list(map(tick_label, yticks))
    plotext.yticks(yticks, marks)
    if panel.ticks:
        plotext.xticks(list(range(len(panel.ticks))), [printable(shortened(tick, 16)) for tick in panel.ticks])
    else:
        xs = sorted({point.x for line in panel.lines.values() for point in line})
        if len(xs) <= 12:
            plotext.xticks(xs, [f"{x:g}" for x in xs])
        elif manner.log_x and xs[0] > 0:
            plotext.xscale("log")
            xticks = log_ticks(xs[0], xs[-1], 8)
            plotext.xticks(xticks, list(map(tick_label, xticks)))
    plotext.title(printable(shortened(panel.title, 60)))
    _entitle(plotext, titles, manner.columns, max(map(len, marks), default=0) + 1)
    text: str = plotext.build()
    if manner.colour:
        return text
    text = plotext.uncolorize(text)
    return text if manner.unicode else plain(text)


def _entitle(plotext: Any, titles: tuple[str, str], columns: int, margin: int) -> None:
    """Set the titles of both axes, which share the last line. That of the y axis is at the left end. That of the x axis
    is in the middle; where it would come too close to the other, it is at the right end. `margin` is the number of
    columns left of the plot.
    """
    across, upwards = titles[0], shortened(titles[1], max(columns - len(titles[0]) - GAP - 1, 3))
    plotext.ylabel(upwards)
    if (margin + columns - len(across)) // 2 < len(upwards) + GAP:
        plotext.ylabel(across, yside="right")
    else:
        plotext.xlabel(across)


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue
