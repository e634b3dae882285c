"""Style of a figure: sizes that journals require, colours that also differ in grey, names, titles, ticks."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import click

from sim.support.errors import near
from sim.support.formatting import printable, quoted, shortened
from tui.lab.plotted import linear_ticks, log_ticks, tick_label

T = TypeVar("T")
COLOURS = ("#0b3c6f", "#dd7700", "#17805a", "#66bdee", "#a51d2d", "#ead24a", "#000000")
"""Colours that colour-blind people can tell apart, and grey prints too: L* differs by 9 or more."""
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))
MARKERS = "os^Dv<>pP*Xh"
HATCHES = ("", "///", "...", "xxx", "\\\\\\", "++", "ooo", "---")
KINDS = ("lines", "bars", "ecdf", "ccdf", "box", "violin", "heat", "scatter")
STYLES = ("colour", "grey")
LEGENDS = ("inside", "above", "right", "none")


@dataclass(frozen=True)
class FigureSize:
    """Size of a figure: width in inches, height in inches or None to choose it, and size of letters in points."""

    width: float
    height: float | None
    letters: float


LONGEST = 120
"""Largest number of letters of a title or a label; longer ones are shortened."""
SIZES = {"ieee": FigureSize(3.5, None, 8), "acm": FigureSize(3.33, None, 8), "slide": FigureSize(10, 5.6, 18)}
"""Mapping from name to size: `ieee` and `acm` are a column of their two-column pages, `slide` is a slide of 16:9."""


def parse_size(text: str) -> FigureSize:
    """Return the size that the user typed: ieee, acm, slide, or width and height in inches such as 7x2.5.

    >>> parse_size("7x2.5")
    FigureSize(width=7.0, height=2.5, letters=9)
    """
    if text in SIZES:
        return SIZES[text]
    try:
        width, height = map(float, text.lower().split("x"))
    except ValueError:
        width = height = 0.0
    if not (1 <= width <= 60 and 1 <= height <= 60):
        raise click.UsageError(f"--size {quoted(text)}: expected ieee, acm, slide or WxH in inches, like 7x2.5")
    return FigureSize(width, height, 9)


@dataclass(frozen=True)
class Style:
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Name to show for each label of lines, groups, traces and ticks that is to be replaced."""
    order: tuple[str, ...] = ()
    """Labels in the order in which they are drawn; labels that are missing here follow."""
    size: str = ""
    xlabel: str = ""
    ylabel: str = ""
    legend: str = "inside"
    style: str = "colour"
    log: bool = False
    same: bool = False
    """True if all panels have one range of the y axis"""
    in_time: bool = False
    """True if a logarithmic x axis is seconds"""
    bar: str = ""
    """Title of the bar of colours of a heat map"""
    mark: str = ""
    every: tuple[str, ...] = ()
    """Labels of all lines in the file: each has one colour, marker and dash, whatever a figure shows of them."""

    def named(self, label: str) -> str:
        return as_text(self.labels.get(label, label))

    def number(self, label: str, position: int) -> int:
        """Return which colour, marker and dash a label has; without `every`, by its position."""
        return self.every.index(label) if label in self.every else position

    def ordered(self, things: Mapping[str, T]) -> list[tuple[str, T]]:
        place = {label: at for at, label in enumerate(self.order)}
        return sorted(things.items(), key=lambda item: place.get(item[0], len(place)))

    def strokes(self, things: Mapping[str, T]) -> Iterator[tuple[str, T, int, str]]:
        """Yield (label, thing, number, colour) for each thing, in order."""
        ordered = self.ordered(things)
        for position, (label, thing) in enumerate(ordered):
            number = self.number(label, position)
            yield label, thing, number, self.colour(number, len(ordered))

    def colour(self, number: int, of: int) -> str:
        if self.style == "colour":
            return COLOURS[number % len(COLOURS)]
        shade = round(200 * number / max(of - 1, len(self.every) - 1, 1))
        return f"#{shade:02x}{shade:02x}{shade:02x}"

    @property
    def room(self) -> FigureSize | None:
        return parse_size(self.size) if self.size else None


def as_text(foreign: str) -> str:
    """Return the text escaped, so that matplotlib does not take parts of it for a formula or hide it."""
    text = printable(shortened(foreign, LONGEST)).replace("$", r"\$")
    return f"\u200b{text}" if text.startswith("_") else text


def parse_labels(given: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return a mapping from old to new name, parsed from texts OLD=NEW, where OLD is one of the `known` names. Both may
    contain =; the shortest known name counts.

    >>> parse_labels(["relaxed:omega=1=omega = 1;easy=EASY"], ["easy", "relaxed:omega=1"])
    {'relaxed:omega=1': 'omega = 1', 'easy': 'EASY'}
    """
    found = {}
    for part in (part for text in given for part in text.split(";") if part.strip()):
        ends = [at for at, letter in enumerate(part) if letter == "="]
        if not ends:
            raise click.UsageError(f"--labels {quoted(part)}: expected OLD=NEW, like easy=EASY")
        end = next((at for at in ends if part[:at].strip() in known), ends[-1])
        found[part[:end].strip()] = part[end + 1 :].strip()
    return found


def check_names(option: str, names: Iterable[str], known: Collection[str]) -> None:
    """Raise an error if one of the names that the user typed is nowhere in the figure's file."""
    for name in names:
        if name not in known:
            raise click.UsageError(f"{option}: nothing in the figure is called {quoted(name)}{near(name, known)}")


def wrapped(text: str, inches: float, letters: float) -> str:
    """Return the title of an axis, broken into lines that fit along a side of this many inches."""
    return "\n".join(textwrap.wrap(text, max(12, int(inches * 72 / (0.52 * letters)))))


TIMES = {1.0: "1 s", 10.0: "10 s", 60.0: "1 min", 600.0: "10 min", 3600.0: "1 h", 36000.0: "10 h", 86400.0: "1 d",
         864000.0: "10 d", 8640000.0: "100 d"}  # fmt: skip
"""Round times, for the ticks of a logarithmic axis of seconds"""


def times_along(axes: Any, low: float, high: float, most: int = 5) -> None:
    """Set ticks at round times on a logarithmic x axis of seconds."""
    axes.set_xscale("log")
    ticks = [tick for tick in TIMES if low * 0.99 <= tick <= high * 1.01] or [low]
    step = -(-len(ticks) // most)
    axes.xaxis.set_ticks(
        ticks, [TIMES.get(tick, f"{tick:g} s") if not at % step else "" for at, tick in enumerate(ticks)]
    )
    axes.xaxis.set_ticks([], minor=True)
    axes.set_xlim(low, high)


def named_ticks(axis: Any, ticks: Sequence[float]) -> None:
    axis.set_ticks(ticks, [tick_label(tick) for tick in ticks])
    axis.set_ticks([], minor=True)


def round_off(axes: Any, which: str, low: float, high: float, log: bool, most: int = 6) -> None:
    """Set round ticks, at most about `most`; a logarithmic axis is extended to the outer ticks."""
    axis = getattr(axes, f"{which}axis")
    limits = getattr(axes, f"set_{which}lim")
    if log:
        getattr(axes, f"set_{which}scale")("log")
        ticks = log_ticks(low, high, most + 2)
        named_ticks(axis, ticks)
        limits(min(low, ticks[0]), max(high, ticks[-1]))
    else:
        named_ticks(axis, linear_ticks(low, high, most))
        limits(low, high)
