"""Partitions in the picture as SVG: their background, borrowed processors, and boundaries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sim.machine.processors import ranges
from tui.chart.colours import partition_hue
from tui.chart.owners import Band, Owners
from tui.chart.partition_names import LaneName
from tui.chart.scene import Drawing
from tui.chart.svg.elements import LETTER, Rect, element, number, outline, text, write_in
from tui.chart.svg.frame import BAND, LEFT, Frame
from tui.look.palette import Look, Tone, ink

_LARGEST, _INSET = 11, 4
"""Largest size in pixels of the letters on a bar, and width of the blank before them."""


class Boundary(NamedTuple):
    """Boundary below processor `at`, from `start` until `end`."""

    at: int
    start: float
    end: float


class _Division(NamedTuple):
    """Division of the machine from `begin` to `end`, in positions if partitions have lanes, else in processors."""

    begin: float
    end: float
    owners: Owners
    homes: Owners
    """Processors or positions (bits) that each partition owned at first."""


def _divisions(chart: Drawing, frame: Frame) -> Iterator[_Division]:
    if chart.by_owner is not None:
        for begin, end, order in chart.by_owner.spans(frame.begin, chart.until):
            yield _Division(begin, end, order.lifted_all(order.owners), order.lifted_all(chart.division))
        return
    divisions = _coarser(chart.history.owners_between(frame.begin, chart.clock), frame)
    untils = [*(since for since, _ in divisions[1:]), chart.clock]
    for (since, owners), until in zip(divisions, untils, strict=False):
        yield _Division(max(since, frame.begin), until, owners, chart.division)


def rects_of(chart: Drawing, frame: Frame, begin: float, end: float, processors: int) -> list[Rect]:
    """Return the rectangles of processors (bits), cut where the order of lanes changes."""
    if chart.by_owner is None:
        return frame.rects(begin, end, processors)
    spans = chart.by_owner.spans(begin, end)
    return [rect for since, until, order in spans for rect in frame.rects(since, until, order.lifted(processors))]


def draw_ground(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return the background: colours of present owners without lanes, of first owners with lanes."""
    drawn = []
    for begin, end, owners, homes in _divisions(chart, frame):
        for place, owned in enumerate(owners if chart.by_owner is None else homes):
            path = outline(frame.rects(begin, end, owned))
            drawn.append(element("path", d=path, fill=look.inks[ink(partition_hue(place), Tone.GROUND)]))
    return "".join(drawn)


def draw_borrowed(chart: Drawing, frame: Frame) -> str:
    drawn = []
    for begin, end, owners, homes in _divisions(chart, frame):
        loans = [owned & ~home for owned, home in zip(owners, homes, strict=False)]
        if borrowed := sum(loans):  # avoids counting twice
            path = outline(frame.rects(begin, end, borrowed))
            drawn.append(element("path", d=path, fill="url(#borrowed)"))
    return "".join(drawn)


def _name(chart: Drawing, place: int) -> LaneName:
    return chart.lane_names[place] if place < len(chart.lane_names) else LaneName(str(place), "")


# Lanes


class _Bar(NamedTuple):
    """Part of a partition's bar with one position and one set of numbers."""

    rect: Rect
    band: Band


def draw_bars(chart: Drawing, frame: Frame, look: Look) -> str:
    """Return the bars with names and sizes; a partition that grows or shrinks continues at another height."""
    bars = _bars(chart, frame)
    drawn = []
    for place, parts in bars.items():
        colour = look.inks[ink(partition_hue(place))]
        steps = [
            Rect(after.rect.x - 1, min(one.rect.y, after.rect.y), 2, abs(one.rect.y - after.rect.y) + after.rect.height)
            for one, after in pairwise(parts)
            if one.rect.x + one.rect.width == after.rect.x
        ]
        drawn.append(element("path", d=outline([*(bar.rect for bar in parts), *steps]), fill=colour))
    for place, parts in bars.items():  # above the lines that join them
        name, colour = _name(chart, place), look.inks[ink(partition_hue(place), Tone.TEXT)]
        drawn += [_name_that_fits(part, name, colour) for part in (_beside_now(bar, chart, frame) for bar in parts)]
    return "".join(drawn)


def _bars(chart: Drawing, frame: Frame) -> dict[int, list[_Bar]]:
    """Return the parts of each partition's bar, from left to right, with the number of the partition as key."""
    assert chart.by_owner is not None
    bars: dict[int, list[_Bar]] = {}
    for begin, end, order in chart.by_owner.spans(frame.begin, chart.until):
        bands = chart.by_owner.bands(order)
        for place, ((low, high), band) in enumerate(zip(order.borders, bands, strict=True)):
            rect, parts = frame.rect(begin, end, low, high), bars.setdefault(place, [])
            last = parts[-1] if parts else None
            if (
                last is not None
                and (last.rect.y, last.band) == (rect.y, band)
                and last.rect.x + last.rect.width == rect.x
            ):
                parts[-1] = last._replace(rect=last.rect._replace(width=last.rect.width + rect.width))
            else:
                parts.append(_Bar(rect, band))
    return bars


def _beside_now(bar: _Bar, chart: Drawing, frame: Frame) -> _Bar:
    rect, now = bar.rect, frame.x(chart.clock)
    if not rect.x < now < rect.x + rect.width:
        return bar
    parts = rect._replace(width=now - rect.x), rect._replace(x=now, width=rect.x + rect.width - now)
    return bar._replace(rect=max(parts, key=lambda part: part.width))


def _name_that_fits(bar: _Bar, name: LaneName, colour: str) -> str:
    size = min(_LARGEST, bar.rect.height - 2)
    room = (bar.rect.width - 2 * _INSET) / (size * LETTER) if size >= _LARGEST / 2 else 0
    told = next((told for told in (*name.told(bar.band), f"{bar.band.owns:,}") if len(told) <= room), "")
    x, y = bar.rect.x + _INSET, bar.rect.y + bar.rect.height / 2 + size * 0.36
    return element("text", text(told), x=x, y=y, font_size=size, fill=colour) if told else ""


def lane_labels(chart: Drawing, frame: Frame, look: Look) -> Iterator[str]:
    for place, parts in _bars(chart, frame).items():
        bar, word = parts[0], _name(chart, place).name
        if bar.rect.x == frame.left and len(word) * _LARGEST * LETTER <= LEFT:
            y = bar.rect.y + bar.rect.height / 2 + _LARGEST * 0.36
            yield element("text", text(word), x=LEFT - 5, y=y, text_anchor="end", fill=look.dim)


# By number


def draw_boundaries(chart: Drawing, frame: Frame, look: Look) -> str:
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
    """Return the divisions that are drawn: of several within one pixel only the last."""
    last = {int(frame.x(max(since, frame.begin))): (since, owners) for since, owners in divisions}
    return list(last.values())


def boundaries(divisions: Sequence[tuple[float, tuple[int, ...]]], until: float) -> Iterator[Boundary]:
    """Yield the boundaries between partitions, each with the time from which and until which it existed.

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
    return {first for owned in owners for first, _ in ranges(owned) if first}


def _owner(place: int, owned: int, chart: Drawing, frame: Frame, look: Look) -> str:
    rects = [
        Rect(frame.left - BAND, frame.y(high + 1), BAND - 3, frame.y(low) - frame.y(high + 1))
        for low, high in ranges(owned)
    ]
    if not rects:
        return ""
    hue = partition_hue(place)
    word = _name(chart, place).full
    band = element("path", element("title", text(word)), d=outline(rects), fill=look.inks[ink(hue)])
    return band + write_in(max(rects, key=lambda r: r.height), word, look.inks[ink(hue, Tone.TEXT)])
