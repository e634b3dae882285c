"""What stands over the jobs: ends of killed ones, the plan, boundaries of partitions, now and the marks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from sim.history.history import Stretch
from sim.machine.processors import ranges
from sim.words import name
from tui.chart.colours import partition_hue
from tui.chart.scene import Box, Mark
from tui.chart.svg.elements import Rect, element, number, outline, text
from tui.chart.svg.frame import BAND, Frame
from tui.chart.svg.names import write_in
from tui.chart.svg.subject import Subject
from tui.look.palette import Look, Tone, ink


class Boundary(NamedTuple):
    """Processor `at - 1` and processor `at` belonged to different partitions from `start` until `end`."""

    at: int
    start: float
    end: float


# Killed jobs


def draw_killed(stretches: Iterable[Stretch], subject: Subject, frame: Frame, look: Look) -> str:
    """A cross where a job was killed: at its estimate, or at the end of a speculative run."""
    crosses = []
    for stretch in stretches:
        if subject.chronicle.is_cut(stretch) and stretch.end is not None and stretch.end <= frame.end:
            start = max(stretch.start, frame.begin)
            rects = [frame.rect(start, stretch.end, low, high + 1) for low, high in ranges(stretch.processors)]
            rect = max(rects, key=lambda r: r.height)
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


def draw_plan(subject: Subject, named: Collection[int], frame: Frame, look: Look) -> str:
    """Running jobs until their expected end and waiting ones where they are planned, hatched.

    Jobs that are `named` in what is past are not named again.
    """
    boxes = (box for box in subject.plan if subject.now < box.end and box.start < frame.end)
    return "".join(_box(box, box.rank not in named, subject, frame, look) for box in boxes)


def _box(box: Box, is_named: bool, subject: Subject, frame: Frame, look: Look) -> str:
    start = max(box.start, subject.now)
    rects = [frame.rect(start, box.end, low, high + 1) for low, high in ranges(box.processors)]
    largest = max(rects, key=lambda rect: rect.width * rect.height)
    hue, path = int(subject.hues[box.rank]), outline(rects)
    edge = look.inks[ink(hue)] if min(largest.width, largest.height) >= 5 else None
    dashes = "3 2" if box.kind == "planned" else None
    shape = element("path", d=path, fill=look.inks[ink(hue, Tone.PLAN)])
    shape += element("path", d=path, fill="url(#plan)", stroke=edge, stroke_width=0.8, stroke_dasharray=dashes)
    word = name(subject.workload.jobs[box.rank])
    return shape + write_in(largest, word, look.text) if is_named else shape


# Partitions


def draw_boundaries(subject: Subject, frame: Frame, look: Look) -> str:
    """Where partitions met, over time, and in a band on the left who owns what now."""
    divisions = subject.history.owners_between(frame.begin, subject.now)
    if not divisions:
        return ""
    found = boundaries(_coarser(divisions, frame), subject.now)
    path = "".join(
        f"M{number(frame.x(max(line.start, frame.begin)))} {number(frame.y(line.at))}H{number(frame.x(line.end))}"
        for line in found
    )
    lines = element("path", d=path, stroke=look.background, stroke_width=3, stroke_opacity=0.7)
    lines += element("path", d=path, stroke=look.text, stroke_width=1.2)
    return lines + "".join(_owner(place, owned, subject, frame, look) for place, owned in enumerate(divisions[-1][1]))


def _coarser(divisions: Sequence[tuple[float, tuple[int, ...]]], frame: Frame) -> list[tuple[float, tuple[int, ...]]]:
    """Of the divisions that share a pixel only the last."""
    last = {int(frame.x(max(since, frame.begin))): (since, owners) for since, owners in divisions}
    return list(last.values())


def boundaries(divisions: Sequence[tuple[float, tuple[int, ...]]], until: float) -> Iterator[Boundary]:
    """The lines between partitions, each as long as it stood.

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
    """The processors whose lower neighbour has another owner."""
    return {first for owned in owners for first, _ in ranges(owned) if first}


def _owner(place: int, owned: int, subject: Subject, frame: Frame, look: Look) -> str:
    rects = [
        Rect(frame.left - BAND, frame.y(high + 1), BAND - 3, frame.y(low) - frame.y(high + 1))
        for low, high in ranges(owned)
    ]
    if not rects:
        return ""
    hue = partition_hue(place)
    word = subject.queues[place] if place < len(subject.queues) else str(place)
    band = element("path", element("title", text(word)), d=outline(rects), fill=look.inks[ink(hue)])
    return band + write_in(max(rects, key=lambda r: r.height), word, look.inks[ink(hue, Tone.TEXT)])


# Moments


def draw_now(subject: Subject, frame: Frame, look: Look) -> str:
    """The line between what was and what is planned."""
    if subject.end <= subject.now:
        return ""
    x = frame.x(subject.now)
    path = f"M{number(x)} {frame.top - 6}V{frame.bottom}"
    line = element("path", d=path, stroke=look.accent, stroke_width=2)
    return line + _label(x, "now", look.accent, frame)


def draw_marks(marks: Iterable[Mark], frame: Frame, look: Look) -> str:
    """Dotted lines with their names above: switches, bookmarks."""
    drawn = []
    for mark in marks:
        if frame.begin <= mark.time <= frame.end:
            x = frame.x(mark.time)
            path = f"M{number(x)} {frame.top - 6}V{frame.bottom}"
            drawn.append(element("path", d=path, stroke=look.text, stroke_width=1.4, stroke_dasharray="2 3"))
            drawn.append(_label(x, mark.text, look.text, frame))
    return "".join(drawn)


def _label(x: float, word: str, colour: str, frame: Frame) -> str:
    anchor = "end" if x > frame.right - 120 else "start"
    shift = -4 if anchor == "end" else 4
    return element("text", text(word), x=x + shift, y=frame.top - 3, fill=colour, text_anchor=anchor)
