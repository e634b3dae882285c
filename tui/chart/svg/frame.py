"""Coordinates of the picture: time across, processors up."""

from __future__ import annotations

from dataclasses import dataclass

from sim.machine.processors import ranges
from tui.chart.axis import CLOCK, Axis
from tui.chart.svg.elements import Rect

LEFT, RIGHT, TITLE, AXIS, STRIP, LEGEND = 52, 16, 62, 26, 74, 26
"""Pixels around the chart: processor numbers, a margin, the title and the names of marks, times, numbers, signs."""
BAND = 16
"""Pixels of the band that shows the owners of the processors with partitions."""
LEAST_WIDTH, LEAST_HEIGHT = 320, 280


def inner_height(height: int) -> int:
    """Return the height of the chart in a picture of that height."""
    return height - TITLE - AXIS - STRIP - LEGEND


@dataclass(frozen=True, slots=True)
class Frame:
    """Frame of the chart: its rectangle in whole pixels, and the values at its edges."""

    left: int
    top: int
    width: int
    height: int
    begin: float
    end: float
    procs: int
    axis: Axis = CLOCK

    @classmethod
    def within(cls, size: tuple[int, int], begin: float, end: float, procs: int, has_band: bool, axis: Axis) -> Frame:
        """Return the chart in a picture of that size."""
        width, height = size
        left = LEFT + has_band * BAND
        return cls(left, TITLE, width - left - RIGHT, inner_height(height), begin, max(end, begin + 1), procs, axis)

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height

    @property
    def rows(self) -> int:
        """Return the number of pixel rows, at most one for each processor."""
        return min(self.procs, self.height)

    @property
    def first(self) -> float:
        """Return the time at the left edge, as a place on the axis."""
        return self.axis.place(self.begin)

    @property
    def per_pixel(self) -> float:
        """Return the places in a pixel."""
        return (self.axis.place(self.end) - self.first) / self.width

    def x(self, time: float) -> float:
        """Return the horizontal position of a time in pixels."""
        return self.left + (self.axis.place(time) - self.first) / self.per_pixel

    def y(self, processor: float) -> float:
        """Return the vertical position in pixels of a processor's lower edge.

        >>> Frame(0, 10, 100, 80, 0, 50, 8).y(0), Frame(0, 10, 100, 80, 0, 50, 8).y(8)
        (90.0, 10.0)
        """
        return self.bottom - processor * self.height / self.procs

    def rect(self, start: float, end: float, low: float, high: float) -> Rect:
        """Return the rectangle from `start` until `end` on processors `low` until `high`, cut off at the edges."""
        x, right = max(self.x(start), self.left), min(self.x(end), self.right)
        return Rect(x, self.y(high), max(right - x, 0.0), self.y(low) - self.y(high))

    def rects(self, start: float, end: float, processors: int) -> list[Rect]:
        """Return the rectangles of a set of processors for a time: one for each run of neighbours."""
        return [self.rect(start, end, low, high + 1) for low, high in ranges(processors)]
