"""Figures of results in SVG, PDF or PNG files, drawn by the library matplotlib."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, suppress
from typing import Any, NamedTuple, TypeVar
from warnings import catch_warnings

import numpy as np

from sim.lab.distributions import Cloud, Spread, Week
from sim.lab.series import Panel, Point
from sim.support.errors import ParameterError
from sim.support.files import write_whole
from sim.support.optional_imports import extra
from sim.workload.model import Floats
from tui.lab.cli.figure_style import (
    DASHES,
    HATCHES,
    MARKERS,
    FigureSize,
    Style,
    as_text,
    round_off,
    times_along,
    wrapped,
)
from tui.lab.plotted import tick_label, time_unit

P = TypeVar("P")
NARROWEST = 1.6
"""Smallest width in inches of a panel."""
ACROSS, MOST_NAMED = 4, 5
HOLLOW = "hollow: overloaded"
Draw = Callable[[Any, P, Style], None]


def save_figure(out: str, panels: Sequence[P], titles: tuple[str, str], style: Style, draw: Draw[P]) -> None:
    matplotlib = _matplotlib()
    size, across = _layout(style.room, len(panels))
    down = -(-len(panels) // across)
    settings = {
        "svg.hashsalt": "schedscope", "svg.fonttype": "none", "pdf.fonttype": 42, "ps.fonttype": 42,
        "font.size": size.letters, "axes.titlesize": size.letters, "legend.fontsize": size.letters * 0.9,
        "xtick.labelsize": size.letters * 0.9, "ytick.labelsize": size.letters * 0.9, "axes.linewidth": 0.6,
        "lines.linewidth": size.letters / 7, "lines.markersize": size.letters / 2.4, "hatch.linewidth": 0.5,
    }  # fmt: skip
    # settings of a user could start LaTeX
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(settings)
        figure = matplotlib.figure.Figure(figsize=(size.width, size.height or 2.3 * down), layout="constrained")
        axes = figure.subplots(down, across, squeeze=False, sharey=style.same)
        for number, panel in enumerate(panels):
            draw(axes[number // across][number % across], panel, style)
        if style.same:
            limits = [each.get_ylim() for each in axes.flat[: len(panels)]]
            axes.flat[0].set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        for empty in range(len(panels), down * across):
            axes[empty // across][empty % across].set_axis_off()
        sides = (style.xlabel or titles[0], size.width), (style.ylabel or titles[1], 0.8 * figure.get_figheight())
        across_title, up_title = (wrapped(as_text(title), inches, size.letters) for title, inches in sides)
        figure.supxlabel(across_title, fontsize=size.letters)
        figure.supylabel(up_title, fontsize=size.letters, multialignment="center")
        _finish(figure, axes, style, size.letters)
        form = os.path.splitext(out)[1].lower()[1:]
        data = io.BytesIO()
        about: dict[str, Any] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form, {})
        if style.mark:
            about["Software" if form == "png" else "Creator"] = style.mark
        with catch_warnings(record=True, action="always") as warned:
            figure.savefig(data, format=form, dpi=300 if style.room else 200, metadata=about)
        if any("collapsed" in str(warning.message) for warning in warned):
            told = f"a figure of {size.width:g} inches has no room for its words: give a larger --size"
            raise ParameterError(f"{told}, or fewer panels by --where" if len(panels) > 1 else told)
    with write_whole(out) as file:
        file.buffer.write(data.getvalue())


def _layout(room: FigureSize | None, panels: int) -> tuple[FigureSize, int]:
    """Return the size of a figure, and how many panels are side by side; without `room` it is chosen."""
    if room is None:
        across = min(3, panels)
        return FigureSize(1 + 4.2 * across, 0.4 + 3.2 * -(-panels // across), 9), across
    across = max(1, min(ACROSS, panels, int(room.width * 8 / room.letters // NARROWEST)))
    if panels == ACROSS and across == 3:
        across = 2
    down = -(-panels // across)
    return FigureSize(
        room.width, room.height or (0.5 + (1.5 if down > 1 or across > 1 else 1.8) * down), room.letters
    ), across


def _finish(figure: Any, axes: Any, style: Style, letters: float) -> None:
    """Add the title, and a legend in which each label occurs once. `letters` is the font size in points."""
    known: dict[str, Any] = {}
    for panel in axes.flat:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            known.setdefault(label, handle)
    known = {label: known[label] for label in sorted(known, key=HOLLOW.__eq__) if label}
    handles, title = (list(known.values()), list(known)), as_text(style.title) or None
    where = "none" if not known else "above" if style.legend == "inside" and axes.size > 1 else style.legend
    if where == "above":
        longest = max(map(len, known)) + 6
        across = max(1, min(len(known), int(figure.get_figwidth() * 72 / (0.55 * letters) / longest)))
        figure.legend(*handles, loc="outside upper center", ncols=across, frameon=False, title=title)
        return
    if title:
        figure.suptitle(title, fontsize=letters * 1.1)
    if where == "inside":
        axes[0][0].legend(*handles, frameon=False)
    elif where == "right":
        figure.legend(*handles, loc="outside right upper", frameon=False)


def in_unit(panels: Sequence[Panel], unit: str, title: str) -> tuple[list[Panel], str]:
    """Return the panels with seconds in a unit that keeps numbers short, and the axis title with this unit."""
    if unit != "s" or not title.endswith("(s)"):
        return list(panels), title
    every = [point.mean.value for panel in panels for line in panel.lines.values() for point in line]
    many, name = time_unit(max(map(abs, every), default=0.0))
    made = [
        Panel(panel.title, {label: [_scaled(point, many) for point in line] for label, line in panel.lines.items()},
              panel.ticks)
        for panel in panels
    ]  # fmt: skip
    return made, f"{title.removesuffix('(s)')}({name})"


def _scaled(point: Point, many: float) -> Point:
    half, edges = point.mean.half, point.edges
    mean = point.mean._replace(value=point.mean.value / many, half=None if half is None else half / many)
    return point._replace(mean=mean, edges=edges and (edges[0] / many, edges[1] / many))


def draw_lines(axes: Any, panel: Panel, style: Style) -> None:
    """Draw a line for each label, with the confidence band of its means; points of overloaded runs are hollow."""
    for label, line, number, colour in style.strokes(panel.lines):
        marker = MARKERS[number % len(MARKERS)]
        xs, ys = [point.x for point in line], [point.mean.value for point in line]
        dash = "" if panel.ticks else DASHES[number % len(DASHES)]
        axes.plot(xs, ys, linestyle=dash, color=colour, marker=marker, label=style.named(label))
        hollow = [point for point in line if point.overloaded]
        if hollow:
            at = [point.x for point in hollow], [point.mean.value for point in hollow]
            axes.plot(*at, linestyle="", marker=marker, markerfacecolor="white", markeredgecolor=colour)
            axes.plot([], [], "o", markerfacecolor="white", markeredgecolor="grey", label=HOLLOW)
        if panel.ticks:
            axes.errorbar(xs, ys, _whiskers(line), color=colour, linestyle="", capsize=2)
        elif any(point.mean.half for point in line):
            low, high = _band(line, style.log)
            axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
    _finish_means(axes, panel, style)
    xs = sorted({point.x for line in panel.lines.values() for point in line})
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), [style.named(tick) for tick in panel.ticks], rotation=20)
    elif len(xs) <= 2 * MOST_NAMED:
        axes.set_xticks(xs, _some([tick_label(x) for x in xs]))


def _band(line: Sequence[Point], log: bool) -> tuple[list[float], list[float]]:
    low, high = ([point.ends[end] for point in line] for end in (0, 1))
    if log:
        low = [max(edge, point.mean.value / 100) for edge, point in zip(low, line, strict=True)]
    return low, high


def _whiskers(line: Sequence[Point]) -> list[list[float]]:
    """Return two lists with an entry for each point: how far its interval reaches below the mean, and how far above."""
    return [[abs(point.ends[end] - point.mean.value) for point in line] for end in (0, 1)]


def draw_bars(axes: Any, panel: Panel, style: Style) -> None:
    """Draw a group of bars, one for each label, at each position, with the confidence intervals of the means."""
    lines = style.ordered(panel.lines)
    places = sorted({point.x for _, line in lines for point in line})
    names = panel.ticks or [tick_label(place) for place in places]
    wide = 0.8 / max(len(lines), 1)
    for position, (label, line) in enumerate(lines):
        number = style.number(label, position)
        at = [places.index(point.x) + (position + 0.5) * wide - 0.4 for point in line]
        axes.bar(
            at, [point.mean.value for point in line], wide * 0.95, color=style.colour(number, len(lines)),
            hatch=HATCHES[number % len(HATCHES)], edgecolor="white", linewidth=0.4, label=style.named(label),
        )  # fmt: skip
        if any(point.mean.half for point in line):
            ys = [point.mean.value for point in line]
            axes.errorbar(at, ys, _whiskers(line), color="black", linestyle="", capsize=1.5, lw=0.7)
    _finish_means(axes, panel, style)
    shown = [style.named(name) for name in names] if panel.ticks else _some(list(names))
    axes.set_xticks(range(len(names)), shown, rotation=20 if panel.ticks else 0)


def _some(names: list[str]) -> list[str]:
    return names if len(names) <= MOST_NAMED else [name if not at % 2 else "" for at, name in enumerate(names)]


def _finish_means(axes: Any, panel: Panel, style: Style) -> None:
    points = [point for line in panel.lines.values() for point in line]
    values = [point.mean.value for point in points]
    edges = [end for point in points for end in point.ends]
    if style.log:
        if min(values) <= 0:
            raise ParameterError("by orders of magnitude nothing can be drawn that is 0 or less, and some means are")
        low = min(edge for line in panel.lines.values() for edge in _band(line, True)[0])
        round_off(axes, "y", low, max(*values, *edges), log=True)
    else:
        low, high = min(0.0, *edges), max(*edges, 0.0)
        round_off(axes, "y", 1.05 * low, 1.05 * high or 1.0, log=False)
    title_panel(axes, panel.title, style)


def draw_shares(axes: Any, panel: Panel, style: Style) -> None:
    """Draw the share of jobs up to each value, for each label, on a logarithmic axis: all values must be above 0."""
    for label, line, number, colour in style.strokes(panel.lines):
        xs = [point.x for point in line]
        dash = DASHES[number % len(DASHES)]
        axes.step(
            xs, [p.mean.value for p in line], where="post", color=colour, linestyle=dash, label=style.named(label)
        )
        if any(point.mean.half for point in line):
            low, high = ([point.ends[end] for point in line] for end in (0, 1))
            axes.fill_between(xs, low, high, step="post", color=colour, alpha=0.18, linewidth=0)
    xs = [point.x for line in panel.lines.values() for point in line]
    if style.in_time:
        times_along(axes, min(xs), max(xs))
    else:
        round_off(axes, "x", min(xs), max(xs), log=True, most=4)
    ys = [point.mean.value for line in panel.lines.values() for point in line if point.mean.value > 0]
    if style.log:
        round_off(axes, "y", max(min(ys, default=0.001), 1e-6), 1.0, log=True)
    else:
        round_off(axes, "y", 0.0, 1.0, log=False)
    title_panel(axes, panel.title, style)


def title_panel(axes: Any, title: str, style: Style) -> None:
    axes.set_title(", ".join(map(style.named, title.split(", "))))
    axes.grid(alpha=0.25, linewidth=0.5)
    axes.set_axisbelow(True)


def _matplotlib() -> Any:
    """Return matplotlib, imported from another folder: it would read a file `matplotlibrc` in the current one."""
    with suppress(OSError), chdir(os.sep):
        matplotlib = extra("matplotlib", "a figure", "plot")
        extra("matplotlib.figure", "a figure", "plot")
        return matplotlib
    return extra("matplotlib", "a figure", "plot")


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
    _finish_spread(axes, panel, style, WHISKERS)


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
    _finish_spread(axes, panel, style, (0, 100))


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


def _finish_spread(axes: Any, panel: Spread, style: Style, within: tuple[int, int]) -> None:
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
    for label, (xs, ys), number, colour in style.strokes(panel.dots):
        drawn = {"linestyle": "", "marker": MARKERS[number % len(MARKERS)], "color": colour}
        axes.plot(xs, ys, **drawn, markersize=2, alpha=0.4, rasterized=True, markeredgewidth=0)
        axes.plot([], [], **drawn, label=style.named(label))
    every = [np.concatenate([of[axis] for of in panel.dots.values()]) for axis in (0, 1)]
    round_off(axes, "x", float(every[0].min()), float(every[0].max()), log=True, most=4)
    low, high = float(every[1].min()), float(every[1].max())
    round_off(axes, "y", low, high, style.log)
    title_panel(axes, panel.title, style)
