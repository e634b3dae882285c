"""Signs over the jobs: kills, the plan, boundaries of partitions, now and the marks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from sim.formatting import clock_near, name
from sim.machine.processors import ranges
from tui.chart.colours import partition_hue
from tui.chart.scene import Box, Drawing
from tui.chart.svg.elements import Rect, element, number, outline, text, write_in
from tui.chart.svg.frame import BAND, Frame
from tui.look.palette import Look, Tone, ink


class Boundary(NamedTuple):
    """Processor `at - 1` and processor `at` belonged to different partitions from `start` until `end`."""

    at: int
    start: float
    end: float


# Killed jobs


def draw_killed(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return crosses where jobs were killed: at the estimate, or at the end of a speculative run."""
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
    """Return running jobs until their expected ends and waiting ones at their planned starts, hatched.

    Jobs in `named` have their names in the past already.
    """
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


# Partitions


def draw_ground(chart: Drawing, frame: Frame, look: Look) -> str:
    """Draw the owners of the processors over time, behind the jobs."""
    drawn = []
    for (since, owners), until in _spans(chart, frame):
        for place, owned in enumerate(owners):
            path = outline(frame.rects(max(since, frame.begin), until, owned))
            drawn.append(element("path", d=path, fill=look.inks[ink(partition_hue(place), Tone.GROUND)]))
    return "".join(drawn)


def draw_missing(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return crosses where processors are unavailable."""
    drawn = []
    for outage in chart.outages:
        begin, end = max(outage.begins, frame.begin), min(outage.ends, chart.until)
        if begin < end:
            path = outline(frame.rects(begin, end, outage.processors))
            drawn.append(element("path", d=path, fill=look.background) + element("path", d=path, fill="url(#missing)"))
    return "".join(drawn)


def draw_borrowed(chart: Drawing, frame: Frame) -> str:
    """Draw dots on processors that a partition had borrowed."""
    drawn = []
    for (since, owners), until in _spans(chart, frame):
        loans = [owned & ~home for owned, home in zip(owners, chart.division, strict=False)]
        if borrowed := sum(loans):  # avoids counting twice
            path = outline(frame.rects(max(since, frame.begin), until, borrowed))
            drawn.append(element("path", d=path, fill="url(#borrowed)"))
    return "".join(drawn)


def _spans(chart: Drawing, frame: Frame) -> Iterator[tuple[tuple[float, tuple[int, ...]], float]]:
    """Yield each visible division into partitions with the time for which it held."""
    divisions = _coarser(chart.history.owners_between(frame.begin, chart.clock), frame)
    untils = [since for since, _ in divisions[1:]]
    return zip(divisions, [*untils, chart.clock], strict=True) if divisions else iter(())


def draw_boundaries(chart: Drawing, frame: Frame, look: Look) -> str:
    """Draw the boundaries of partitions over time, and a band on the left with the current owners."""
    divisions = chart.history.owners_between(frame.begin, chart.clock)
    if not divisions:
        return ""
    found = boundaries(_coarser(divisions, frame), chart.clock)
    path = "".join(
        f"M{number(frame.x(max(line.start, frame.begin)))} {number(frame.y(line.at))}H{number(frame.x(line.end))}"
        for line in found
    )
    lines = element("path", d=path, stroke=look.background, stroke_width=3, stroke_opacity=0.7)
    lines += element("path", d=path, stroke=look.text, stroke_width=1.2)
    return lines + "".join(_owner(place, owned, chart, frame, look) for place, owned in enumerate(divisions[-1][1]))


def _coarser(divisions: Sequence[tuple[float, tuple[int, ...]]], frame: Frame) -> list[tuple[float, tuple[int, ...]]]:
    """Return the divisions, of several within a pixel only the last."""
    last = {int(frame.x(max(since, frame.begin))): (since, owners) for since, owners in divisions}
    return list(last.values())


def boundaries(divisions: Sequence[tuple[float, tuple[int, ...]]], until: float) -> Iterator[Boundary]:
    """Yield the lines between partitions, each for the time it existed.

    >>> list(boundaries([(0, (0b0011, 0b1100)), (5, (0b0111, 0b1000))], 9))
    [Boundary(at=2, start=0, end=5), Boundary(at=3, start=5, end=9)]
    """
    standing: dict[int, float] = {}
    for since, owners in divisions:
        now = _edges(owners)
        for at in [at for at in standing if at not in now]:
            yield Boundary(at, standing.pop(at), since)
        for at in now:
            standing.setdefault(at, since)
    for at, since in standing.items():
        yield Boundary(at, since, until)


def _edges(owners: Sequence[int]) -> set[int]:
    """Return the processors whose lower neighbour has another owner."""
    return {first for owned in owners for first, _ in ranges(owned) if first}


def _owner(place: int, owned: int, chart: Drawing, frame: Frame, look: Look) -> str:
    rects = [
        Rect(frame.left - BAND, frame.y(high + 1), BAND - 3, frame.y(low) - frame.y(high + 1))
        for low, high in ranges(owned)
    ]
    if not rects:
        return ""
    hue = partition_hue(place)
    word = chart.queues[place] if place < len(chart.queues) else str(place)
    band = element("path", element("title", text(word)), d=outline(rects), fill=look.inks[ink(hue)])
    return band + write_in(max(rects, key=lambda r: r.height), word, look.inks[ink(hue, Tone.TEXT)])


# Moments


def draw_now(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return the line between past and plan."""
    if chart.until <= chart.clock:
        return ""
    x = frame.x(chart.clock)
    path = f"M{number(x)} {frame.top - 6}V{frame.bottom}"
    line = element("path", d=path, stroke=look.accent, stroke_width=2)
    return line + _label(x, "now", look.accent, frame)


def draw_marks(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return dotted lines at marks, such as switches and bookmarks, with names above."""
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
