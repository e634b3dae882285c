"""Whole picture as SVG: title, chart, axes, curves below, and legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from sim.support.errors import ParameterError
from sim.support.formatting import clock, count, processors
from tui.chart.raster import texture_of
from tui.chart.scene import Drawing
from tui.chart.svg.elements import element, number, text
from tui.chart.svg.frame import LEAST_HEIGHT, LEAST_WIDTH, LEFT, Frame
from tui.chart.svg.jobs import blocks_of, draw_blocks, draw_names
from tui.chart.svg.legend import draw_legend, textures
from tui.chart.svg.overlay_shapes import (
    draw_killed,
    draw_marks,
    draw_missing,
    draw_now,
    draw_plan,
    draw_useless,
)
from tui.chart.svg.partition_shapes import draw_bars, draw_borrowed, draw_boundaries, draw_ground, lane_labels
from tui.chart.svg.pixels import draw_pixels, split
from tui.chart.svg.strips import in_use_and_waiting, strips
from tui.chart.ticks import as_they_are, times, unit_of
from tui.chart.ticks import processors as named_processors
from tui.look.palette import Look
from tui.look.text import shorten

_NODE, _LETTERS = 14, 7
"""Smallest distance in pixels between two nodes' names, and most characters of one."""
FONTS = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def draw_svg(chart: Drawing, look: Look, width: int, height: int) -> str:
    """Return the picture as the text of an SVG file, which has no scripts and does not refer to other files."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        raise ParameterError(f"a picture needs at least {LEAST_WIDTH} x {LEAST_HEIGHT} pixels, got {width} x {height}")
    has_band = chart.by_owner is None and bool(chart.history.owners_at(chart.clock))
    places = chart.view.lanes * chart.view.stride or chart.view.high
    frame = Frame.within((width, height), chart.begin, chart.until, places, has_band, chart.view.axis)
    kinds = {*(stretch.kind for stretch in (*chart.ran, *chart.trails)), *(box.kind for box in chart.plan)}
    seen = {texture_of(kind) for kind in kinds}
    crosses = draw_killed(chart, frame, look)
    inside = [
        element("title", text(_title(chart)), id="title"),
        element("desc", text(_description(chart, frame, look)), id="description"),
        textures(sorted(set(chart.hues.tolist())), look),
        element("rect", width=width, height=height, fill=look.background),
        _heading(chart, frame, look),
        element("rect", x=frame.left, y=frame.top, width=frame.width, height=frame.height, fill=look.surface),
        *_layers(chart, crosses, frame, look),
        _axes(chart, frame, look),
        strips(chart, frame, look),
        draw_legend(chart, seen, bool(crosses), frame.left, frame.right, height - 10, look),
    ]
    return (
        element(
            "svg", *inside, xmlns="http://www.w3.org/2000/svg", width=width, height=height,
            viewBox=f"0 0 {width} {height}", role="img", aria_labelledby="title description",
            font_family=FONTS, font_size=11, fill="none",
        )
        + "\n"
    )  # fmt: skip


def _layers(chart: Drawing, crosses: str, frame: Frame, look: Look) -> Iterator[str]:
    """Yield the parts of the chart, the lowest first; `crosses` are those on killed jobs."""
    trails, _ = split(chart.trails, frame, chart.clock)
    large, small = split(chart.ran, frame, chart.clock)
    drawn = blocks_of(large, frame)
    sharp = [
        draw_ground(chart, frame, look),
        _between_nodes(chart, frame, look),
        draw_useless(chart, frame, look),
        draw_missing(chart, frame, look),
        draw_blocks(blocks_of(trails, frame), chart, look),
        draw_pixels(small, frame, chart.hues, look),
        draw_blocks(drawn, chart, look),
        draw_borrowed(chart, frame),
        draw_plan(chart, {block.rank for block in drawn}, frame, look),
    ]
    yield element("g", *sharp, shape_rendering="crispEdges")
    yield draw_names(drawn, chart, look)
    yield crosses
    yield draw_boundaries(chart, frame, look) if chart.by_owner is None else draw_bars(chart, frame, look)
    yield draw_marks(chart, frame, look)
    yield draw_now(chart, frame, look)


# Words


def _title(chart: Drawing) -> str:
    return f"{chart.workload.name} · {chart.title} · {processors(chart.workload.procs)}"


def _window(chart: Drawing, look: Look) -> str:
    at = clock if look.calendar is None else look.calendar.moment
    year = "" if look.calendar is None else f" {look.calendar.year(chart.clock)}".rstrip()
    return f"{at(chart.begin)} to {at(chart.clock)}{year}"


def _description(chart: Drawing, frame: Frame, look: Look) -> str:
    use, waiting = in_use_and_waiting(chart.history, frame, chart.clock, chart.workload.procs)
    ran = len({stretch.rank for stretch in chart.history.between(chart.begin, chart.clock)})
    told = f"Processors upwards, time to the right, from {_window(chart, look)}: {count(ran, 'job')} on processors"
    if not len(use):
        return told + "."
    return told + f", {use.mean():.0%} of the machine in use, at most {count(round(waiting.max()), 'job')} waiting."


def _heading(chart: Drawing, frame: Frame, look: Look) -> str:
    title = element("text", text(_title(chart)), x=16, y=24, font_size=15, font_weight="bold", fill=look.text)
    upwards = "rows of the matrix" if chart.lanes else "nodes" if chart.names else "processors"
    upwards = upwards if chart.by_owner is None else "processors by partition"
    unit = unit_of([word for _, word in _ticks(frame, look)])
    across = "by event to the right, times" if frame.axis.by_event else "time to the right"
    words = f"{_window(chart, look)} · {upwards} upwards, {across}{unit and f' in {unit}'}"
    return title + element("text", text(words), x=16, y=42, fill=look.dim)


# Axes


def _axes(chart: Drawing, frame: Frame, look: Look) -> str:
    drawn = []
    for time, word in _ticks(frame, look):
        x = frame.x(time)
        drawn.append(element("path", d=f"M{number(x)} {frame.bottom}v4", stroke=look.dim))
        if x < frame.right - 12:
            drawn.append(element("text", text(word), x=x, y=frame.bottom + 16, text_anchor="middle", fill=look.dim))
    if chart.lanes:
        return "".join([*drawn, *_lanes(chart, frame, look)])
    if chart.by_owner is not None:
        return "".join([*drawn, *lane_labels(chart, frame, look)])
    if chart.names:
        return "".join([*drawn, *_nodes(chart, frame, look)])
    for number_of in sorted(named_processors(0, frame.procs - 1, frame.procs / max(frame.height // 36, 2), clear=0.5)):
        y = (frame.y(number_of) + frame.y(number_of + 1)) / 2
        drawn.append(element("path", d=f"M{LEFT - 4} {number(y)}h-3", stroke=look.dim))
        drawn.append(element("text", f"{number_of:,}", x=LEFT - 10, y=y + 4, text_anchor="end", fill=look.dim))
    return "".join(drawn)


def _nodes(chart: Drawing, frame: Frame, look: Look) -> Iterator[str]:
    """Yield the names of nodes left of the chart; one too near to the one above is left out."""
    above = -inf
    for name, low, end in _heights(chart, frame):
        middle = (frame.y(low) + frame.y(end)) / 2
        if middle - above >= _NODE:
            above, told = middle, text(shorten(name, _LETTERS))
            yield element("text", told, x=LEFT - 6, y=middle + 4, text_anchor="end", fill=look.dim)


def _between_nodes(chart: Drawing, frame: Frame, look: Look) -> str:
    seen = [low for _, low, end in _heights(chart, frame) if low and frame.y(low) - frame.y(end) >= _NODE]
    return "".join(
        element("path", d=f"M{frame.left} {number(frame.y(low))}H{frame.right}", stroke=look.faint) for low in seen
    )


def _heights(chart: Drawing, frame: Frame) -> Iterator[tuple[str, int, int]]:
    """Yield (name, lowest core, end) of each node, from the top; nothing in lanes."""
    if chart.lanes or chart.by_owner is not None:
        return
    ends = [low for low, _ in chart.names[1:]] + [frame.procs]
    for (low, name), end in reversed(list(zip(chart.names, ends, strict=False))):
        yield name, low, end


def _ticks(frame: Frame, look: Look) -> Sequence[tuple[float, str]]:
    if frame.axis.by_event:
        end = frame.axis.place(frame.end)
        return as_they_are(frame.axis.named(frame.first, end, (end - frame.first) / (frame.width // 80)), look.calendar)
    room = (frame.end - frame.begin) / (frame.width // 80)
    return times(frame.begin, frame.end, lambda _: room, look.calendar)


def _lanes(chart: Drawing, frame: Frame, look: Look) -> Iterator[str]:
    for place, lane in enumerate(reversed(chart.lanes)):
        top, y = frame.y((place + 1) * chart.view.stride), frame.y((place + 0.5) * chart.view.stride)
        if lane.row is not None:
            word, colour = f"row {lane.row}", look.accent if lane.is_on_turn else look.dim
            yield element("text", word, x=LEFT - 8, y=y + 4, text_anchor="end", fill=colour)
        yield element("path", d=f"M{frame.left} {number(top)}h{frame.width}", stroke=look.faint)
