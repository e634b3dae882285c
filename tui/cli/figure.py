"""A plot of results as a file, by matplotlib: SVG, PDF or PNG."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from typing import Any

from sim.experiments.series import Panel
from sim.extras import extra
from sim.files import write_whole
from sim.words import printable, shortened

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f7f7f")
"""Of Okabe and Ito: told apart on white, by colour-blind eyes as well; the marker differs, too."""
MARKERS = "os^Dv<>pP*Xh"
ACROSS = 3


def save_figure(out: str, made: Sequence[Panel], titles: tuple[str, str], log: bool) -> None:
    """Write the figure, a panel beside the other."""
    matplotlib = extra("matplotlib", "a figure", "plot")
    extra("matplotlib.figure", "a figure", "plot")
    across = min(ACROSS, len(made))
    down = -(-len(made) // across)
    with matplotlib.rc_context({"svg.hashsalt": "schedscope", "svg.fonttype": "none", "font.size": 9}):
        figure = matplotlib.figure.Figure(figsize=(1 + 4.2 * across, 0.4 + 3.2 * down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False)
        for number, panel in enumerate(made):
            _draw(axes[number // across][number % across], panel, log)
        for empty in range(len(made), down * across):
            axes[empty // across][empty % across].set_axis_off()
        figure.supxlabel(titles[0])
        figure.supylabel(titles[1])
        handles, labels = axes[0][0].get_legend_handles_labels()
        if any(labels):
            axes[0][0].legend(handles, labels, frameon=False)
        form = os.path.splitext(out)[1].lower()[1:]
        data = io.BytesIO()
        about: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
        figure.savefig(data, format=form, dpi=200, metadata=about)
    with write_whole(out) as file:
        file.buffer.write(data.getvalue())


def _draw(axes: Any, panel: Panel, log: bool) -> None:
    """Lines with bands of confidence; hollow where a run is overloaded."""
    for number, (label, line) in enumerate(panel.lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        xs, ys = [point.x for point in line], [point.mean.value for point in line]
        style = {"color": colour, "marker": MARKERS[number % len(MARKERS)], "markersize": 4, "label": _text(label)}
        axes.plot(xs, ys, linestyle="" if panel.ticks else "-", **style)
        hollow = [point for point in line if point.overloaded]
        if hollow:
            at = [point.x for point in hollow], [point.mean.value for point in hollow]
            axes.plot(*at, linestyle="", marker="o", markersize=7, markerfacecolor="none", markeredgecolor=colour)
        if panel.ticks:
            axes.errorbar(xs, ys, [p.mean.half or 0.0 for p in line], color=colour, linestyle="", capsize=2)
        elif any(point.mean.half for point in line):
            low, high = ([p.mean.value + sign * (p.mean.half or 0.0) for p in line] for sign in (-1, 1))
            axes.fill_between(xs, low, high, color=colour, alpha=0.15, linewidth=0)
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=min(0.0, *(point.mean.value for line in panel.lines.values() for point in line)))
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), [_text(tick) for tick in panel.ticks], rotation=20)
    axes.set_title(_text(panel.title), fontsize=9)
    axes.grid(alpha=0.25)


def _text(foreign: str) -> str:
    """A name as it is: neither a formula to matplotlib, nor something that a legend leaves out."""
    text = printable(shortened(foreign)).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text
