"""Signs over the jobs of the picture as SVG: ends by a kill, the plan, unavailable processors, now, and marks."""

from __future__ import annotations

from collections.abc import Collection

from sim.support.formatting import clock_near, name
from tui.chart.scene import Box, Drawing
from tui.chart.svg.elements import element, number, outline, text, write_in
from tui.chart.svg.frame import Frame
from tui.chart.svg.partition_shapes import rects_of
from tui.look.palette import Hue, Look, Tone, ink

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
