"""Whole picture as SVG: title, chart, axes, curves below, and legend."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf, isnan
from typing import NamedTuple

import numpy as np

from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.support.errors import ParameterError
from sim.support.formatting import clock, clock_near, count, name, processors
from sim.workload.model import Floats
from tui.chart.raster import Texture, texture_of
from tui.chart.scene import Box, Drawing
from tui.chart.svg.elements import Rect, element, number, outline, text, write_in
from tui.chart.svg.frame import AXIS, LEAST_HEIGHT, LEAST_WIDTH, LEFT, Frame
from tui.chart.svg.legend import draw_legend, textures
from tui.chart.svg.partition_shapes import draw_bars, draw_borrowed, draw_boundaries, draw_ground, lane_labels, rects_of
from tui.chart.svg.pixels import draw_pixels, split
from tui.chart.ticks import as_they_are, times, unit_of
from tui.chart.ticks import processors as named_processors
from tui.look.palette import Hue, Look, Tone, ink
from tui.look.text import number as spoken
from tui.look.text import shorten

_NODE, _LETTERS = 14, 7
"""Smallest distance in pixels between two nodes' names, and most characters of one."""
FONTS = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def draw_svg(chart: Drawing, look: Look, width: int, height: int) -> str:
    """Return the picture as the text of an SVG file, which has no scripts and does not refer to other files."""
    if width < LEAST_WIDTH or height < LEAST_HEIGHT:
        raise ParameterError(f"a picture needs at least {LEAST_WIDTH} x {LEAST_HEIGHT} pixels, got {width} x {height}")
    frame = frame_of(chart, width, height)
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


def frame_of(chart: Drawing, width: int, height: int) -> Frame:
    has_band = chart.by_owner is None and bool(chart.history.owners_at(chart.clock))
    places = chart.view.lanes * chart.view.stride or chart.view.high
    return Frame.within((width, height), chart.begin, chart.until, places, has_band, chart.view.axis)


def _layers(chart: Drawing, crosses: str, frame: Frame, look: Look) -> Iterator[str]:
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
    for node, low, end in _heights(chart, frame):
        middle = (frame.y(low) + frame.y(end)) / 2
        if middle - above >= _NODE:
            above, told = middle, text(shorten(node, _LETTERS))
            yield element("text", told, x=LEFT - 6, y=middle + 4, text_anchor="end", fill=look.dim)


def _between_nodes(chart: Drawing, frame: Frame, look: Look) -> str:
    seen = [low for _, low, end in _heights(chart, frame) if low and frame.y(low) - frame.y(end) >= _NODE]
    return "".join(
        element("path", d=f"M{frame.left} {number(frame.y(low))}H{frame.right}", stroke=look.faint) for low in seen
    )


def _heights(chart: Drawing, frame: Frame) -> Iterator[tuple[str, int, int]]:
    if chart.lanes or chart.by_owner is not None:
        return
    ends = [low for low, _ in chart.names[1:]] + [frame.procs]
    for (low, node), end in reversed(list(zip(chart.names, ends, strict=False))):
        yield node, low, end


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


# Jobs.

_DETAIL = 3000
"""Largest number of blocks that are drawn as elements of their own, with a tooltip each."""
_OVER = {Texture.TRIAL: "url(#speculative)", Texture.SWITCHING: "url(#switching)", Texture.REPLICA: "url(#plan)"}
_TONES = {Texture.SOLID: Tone.FULL, Texture.REPLICA: Tone.HALF}


class Block(NamedTuple):
    rank: int
    texture: Texture
    rects: tuple[Rect, ...]

    @property
    def largest(self) -> Rect:
        return max(self.rects, key=lambda rect: rect.area)


def blocks_of(stretches: Iterable[Stretch], frame: Frame) -> list[Block]:
    found: dict[tuple[int, Texture], list[Rect]] = {}
    for stretch in stretches:
        rects = frame.rects(stretch.start, stretch.end or stretch.start, stretch.processors)
        found.setdefault((stretch.rank, texture_of(stretch.kind)), []).extend(rects)
    return [Block(*key, tuple(rects)) for key, rects in sorted(found.items())]


def draw_blocks(drawn: list[Block], chart: Drawing, look: Look) -> str:
    """Return blocks with tooltips as SVG; of more than `_DETAIL`, one element per colour and texture without."""
    if len(drawn) > _DETAIL:
        by_hue: dict[tuple[int, Texture], list[Rect]] = {}
        for block in drawn:
            by_hue.setdefault((int(chart.hues[block.rank]), block.texture), []).extend(block.rects)
        return "".join(_shape(rects, hue, texture, look) for (hue, texture), rects in sorted(by_hue.items()))
    return "".join(
        element(
            "g",
            element("title", text(_tooltip(block.rank, chart, look))),
            _shape(block.rects, int(chart.hues[block.rank]), block.texture, look, _edge(block.largest)),
        )
        for block in drawn
    )


def _shape(rects: Iterable[Rect], hue: int, texture: Texture, look: Look, edge: float | None = None) -> str:
    path = outline(rects)
    stroke = None if edge is None else look.surface
    if texture == Texture.TRAIL:
        return element("path", d=path, fill=f"url(#trail{hue})")
    fill = look.inks[ink(hue, _TONES.get(texture, Tone.MOST))]
    shape = element("path", d=path, fill=fill, stroke=stroke, stroke_width=edge)
    return shape + element("path", d=path, fill=_OVER[texture]) if texture in _OVER else shape


def _edge(rect: Rect) -> float | None:
    return 1.0 if min(rect.width, rect.height) >= 5 else None


def _tooltip(rank: int, chart: Drawing, look: Look) -> str:
    at = clock if look.calendar is None else look.calendar.moment
    job = chart.workload.jobs[rank]
    end = float(chart.end[rank])
    said = f"{name(job)}: {processors(job.procs)}, submitted {at(job.submit)}"
    if isnan(end):
        return said
    return f"{said}, {'killed' if chart.workload.killed[rank] else 'ended'} {at(end)}"


def draw_names(drawn: Iterable[Block], chart: Drawing, look: Look) -> str:
    """Return each job's name in its largest rectangle; one that does not fit is left out."""
    largest: dict[int, Rect] = {}
    for block in drawn:
        rects = (*block.rects, largest.get(block.rank, block.largest))
        largest[block.rank] = max(rects, key=lambda rect: rect.area)
    return "".join(
        write_in(rect, name(chart.workload.jobs[rank]), look.inks[ink(int(chart.hues[rank]), Tone.TEXT)])
        for rank, rect in largest.items()
    )


# Strips.

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


# Overlays.


# Killed jobs


def draw_killed(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return crosses as SVG where jobs were killed: at their estimate, or at the limit of a speculative run."""
    crosses = []
    for stretch in chart.cut:
        rects = frame.rects(max(stretch.start, frame.begin), stretch.end or stretch.start, stretch.processors)
        rect = max(rects, key=lambda rect: rect.height)
        arm = min(rect.width, rect.height, 9) / 2 - 1
        if arm >= 1.5:
            x, y, across = rect.x + rect.width - arm - 1.5, rect.y + rect.height / 2, 2 * arm
            crosses.append(
                f"M{number(x - arm)} {number(y - arm)}l{number(across)} {number(across)}"
                f"m0 {number(-across)}l{number(-across)} {number(across)}"
            )
    if not crosses:
        return ""
    path = "".join(crosses)
    return element("path", d=path, stroke=look.background, stroke_width=3.4) + element(
        "path", d=path, stroke=look.bad, stroke_width=1.6
    )


# The plan


def draw_plan(chart: Drawing, named: Collection[int], frame: Frame, look: Look) -> str:
    """Return the plan as SVG, hatched; jobs in `named` (ranks) have their names in the past part."""
    boxes = (box for box in chart.plan if chart.clock < box.end and box.start < frame.end)
    return "".join(_box(box, box.rank not in named, chart, frame, look) for box in boxes)


def _box(box: Box, is_named: bool, chart: Drawing, frame: Frame, look: Look) -> str:
    start = max(box.start, chart.clock)
    rects = frame.rects(start, box.end, box.processors)
    largest = max(rects, key=lambda rect: rect.area)
    hue, path = int(chart.hues[box.rank]), outline(rects)
    is_framed = box.kind != "expected" and min(largest.width, largest.height) >= 5
    edge = look.inks[ink(hue)] if is_framed else None
    dashes = "3 2" if box.kind == "planned" else None
    shape = element("path", d=path, fill=look.inks[ink(hue, Tone.PLAN)])
    shape += element("path", d=path, fill="url(#plan)", stroke=edge, stroke_width=1.2, stroke_dasharray=dashes)
    word = name(chart.workload.jobs[box.rank])
    return shape + write_in(largest, word, look.text) if is_named else shape


# Unavailable processors


def draw_missing(chart: Drawing, frame: Frame, look: Look) -> str:
    drawn = []
    for outage in chart.outages:
        begin, end = max(outage.begins, frame.begin), min(outage.ends, chart.until)
        if begin < end:
            path = outline(rects_of(chart, frame, begin, end, outage.processors))
            drawn.append(element("path", d=path, fill=look.background) + element("path", d=path, fill="url(#missing)"))
    return "".join(drawn)


# Useless cores


def draw_useless(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return dots on grey where free cores are useless for waiting jobs; jobs are drawn over them."""
    drawn = []
    for since, until, cores in chart.useless_spans:
        begin, end = max(since, frame.begin), min(until, chart.clock)
        if begin < end:
            path = outline(rects_of(chart, frame, begin, end, cores))
            drawn.append(element("path", d=path, fill=look.inks[ink(Hue.GREY, Tone.GROUND)]))
            drawn.append(element("path", d=path, fill="url(#useless)"))
    return "".join(drawn)


# Moments


def draw_now(chart: Drawing, frame: Frame, look: Look) -> str:
    if chart.until <= chart.clock:
        return ""
    x = frame.x(chart.clock)
    path = f"M{number(x)} {frame.top - 6}V{frame.bottom}"
    line = element("path", d=path, stroke=look.accent, stroke_width=2)
    return line + _label(x, "now", look.accent, frame)


def draw_marks(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return dotted lines at the times of marks (switches, bookmarks), with names above."""
    drawn, near = [], clock_near if look.calendar is None else look.calendar.near
    for mark in chart.marks:
        if frame.begin <= mark.time <= frame.end:
            x = frame.x(mark.time)
            path = f"M{number(x)} {frame.top - 6}V{frame.bottom}"
            drawn.append(element("path", d=path, stroke=look.text, stroke_width=1.4, stroke_dasharray="2 3"))
            drawn.append(_label(x, mark.told(near), look.text, frame))
    return "".join(drawn)


def _label(x: float, word: str, colour: str, frame: Frame) -> str:
    anchor = "end" if x > frame.right - 120 else "start"
    shift = -4 if anchor == "end" else 4
    return element("text", text(word), x=x + shift, y=frame.top - 3, fill=colour, text_anchor=anchor)
