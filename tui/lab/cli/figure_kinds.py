"""Drawing of figures of distributions: boxes and violins, a heat map of the week, a cloud of jobs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from sim.lab.distributions import Cloud, Spread, Week
from sim.workload.model import Floats
from tui.lab.cli.figure import title_panel
from tui.lab.cli.figure_style import HATCHES, MARKERS, Style, as_text, round_off

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
WHISKERS = (5, 95)
"""Percentages of jobs whose value is below the lower, and below the upper whisker of a box."""
_BINS = 60
_KERNEL = np.array([1, 3, 6, 7, 6, 3, 1]) / 27


class _Place(NamedTuple):
    at: float
    wide: float
    values: Floats
    fill: dict[str, Any]


def draw_boxes(axes: Any, panel: Spread, style: Style) -> None:
    """Draw a box for each group of jobs: quartiles and median, with whiskers from 5 to 95 % of the jobs."""
    for box in _places(panel, style):
        made = axes.boxplot(
            [box.values], positions=[box.at], widths=0.85 * box.wide, whis=WHISKERS, showfliers=False,
            patch_artist=True, medianprops={"color": "white", "linewidth": 1.4}, manage_ticks=False,
        )  # fmt: skip
        made["boxes"][0].set(**box.fill)
    _finish(axes, panel, style, WHISKERS)


def draw_violins(axes: Any, panel: Spread, style: Style) -> None:
    for violin in _places(panel, style):
        scaled = np.log10(violin.values) if style.log else violin.values
        counts, edges = np.histogram(scaled, _BINS)
        density = np.convolve(np.pad(counts, 3), _KERNEL, mode="valid")
        middle = (edges[:-1] + edges[1:]) / 2
        half = 0.45 * violin.wide * density / max(float(density.max()), 1e-9)
        axes.fill_betweenx(10**middle if style.log else middle, violin.at - half, violin.at + half, **violin.fill)
        line = violin.at - violin.wide / 3, violin.at + violin.wide / 3
        axes.plot(line, [np.median(violin.values)] * 2, color="white", linewidth=1.4)
    _finish(axes, panel, style, (0, 100))


def _places(panel: Spread, style: Style) -> Iterator[_Place]:
    """Yield the boxes (or violins) of a panel; those at the same tick are side by side, a colour for each label."""
    labels = style.ordered(panel.values)
    wide = 0.8 / len(labels)
    for position, (label, of) in enumerate(labels):
        number = style.number(label, position)
        fill: dict[str, Any] = {
            "facecolor": style.colour(number, len(labels)), "hatch": HATCHES[number % len(HATCHES)],
            "edgecolor": "black", "linewidth": 0.6, "label": style.named(label),
        }  # fmt: skip
        for tick, values in of.items():
            at = _ticks(panel, style).index(tick) + (position + 0.5) * wide - 0.4
            yield _Place(at, wide, values, fill)
            fill = {**fill, "label": None}


def _ticks(panel: Spread, style: Style) -> list[str]:
    return [tick for tick, _ in style.ordered(dict.fromkeys(panel.ticks))]


def _finish(axes: Any, panel: Spread, style: Style, within: tuple[int, int]) -> None:
    every = [np.percentile(values, within) for of in panel.values.values() for values in of.values()]
    low, high = float(min(each[0] for each in every)), float(max(each[1] for each in every))
    round_off(axes, "y", low if style.log else min(low, 0.0), high if style.log else 1.05 * high or 1.0, style.log)
    title_panel(axes, panel.title, style)
    ticks = _ticks(panel, style)
    axes.set_xticks(range(len(ticks)), [style.named(tick) for tick in ticks], rotation=20 if len(ticks) > 4 else 0)
    axes.set_xlim(-0.5, len(ticks) - 0.5)


def draw_week(axes: Any, panel: Week, style: Style) -> None:
    """Draw a week as a heat map: a row for each day, a column for each hour, darker for larger values."""
    colours = "viridis_r" if style.style == "colour" else "Greys"
    image = axes.imshow(panel.values, aspect="auto", cmap=colours, interpolation="nearest", origin="upper")
    axes.set_yticks(range(7), DAYS)
    axes.set_xticks(range(0, 24, 6), [str(hour) for hour in range(0, 24, 6)])
    axes.set_title(", ".join(map(style.named, panel.title.split(", "))))
    axes.figure.colorbar(image, ax=axes, pad=0.02).set_label(as_text(style.bar))


def draw_cloud(axes: Any, panel: Cloud, style: Style) -> None:
    """Draw a dot for each job, the number of its processors against the panel's quantity."""
    dots = style.ordered(panel.dots)
    for position, (label, (xs, ys)) in enumerate(dots):
        number = style.number(label, position)
        marker, colour = MARKERS[number % len(MARKERS)], style.colour(number, len(dots))
        axes.plot(
            xs,
            ys,
            linestyle="",
            marker=marker,
            markersize=2,
            alpha=0.4,
            rasterized=True,
            markeredgewidth=0,
            color=colour,
        )
        axes.plot([], [], linestyle="", marker=marker, color=colour, label=style.named(label))
    every = [np.concatenate([of[axis] for _, of in dots]) for axis in (0, 1)]
    round_off(axes, "x", float(every[0].min()), float(every[0].max()), log=True, most=4)
    low, high = float(every[1].min()), float(every[1].max())
    round_off(axes, "y", low, high, style.log)
    title_panel(axes, panel.title, style)
