"""Frame of a picture: positions in pixels for times (to the right) and processors (upwards)."""

from __future__ import annotations

from dataclasses import dataclass

from sim.machine.processors import ranges
from tui.chart.axis import CLOCK, Axis
from tui.chart.svg.elements import Rect

LEFT, RIGHT, TITLE, AXIS, STRIP, LEGEND = 52, 16, 62, 26, 74, 26
"""Pixels around the chart: widths of processor numbers and margin; heights of title, times, curves and legend."""
BAND = 16
"""Width in pixels of the band at the left with each processor's present owner."""
LEAST_WIDTH, LEAST_HEIGHT = 320, 280


def inner_height(height: int) -> int:
    return height - TITLE - AXIS - STRIP - LEGEND


@dataclass(frozen=True, slots=True)
class Frame:
    """Rectangle of the chart in whole pixels, with its times and number of processors."""

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
        """Return the chart's frame in a picture of `size` pixels; `has_band` leaves space for owners."""
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
        return min(self.procs, self.height)

    @property
    def first(self) -> float:
        """Return the left edge's place on the axis: seconds, or events if these have one width."""
        return self.axis.place(self.begin)

    @property
    def per_pixel(self) -> float:
        """Return the width of a pixel on the axis: seconds, or events if these have one width."""
        return (self.axis.place(self.end) - self.first) / self.width

    def x(self, time: float) -> float:
        return self.left + (self.axis.place(time) - self.first) / self.per_pixel

    def y(self, processor: float) -> float:
        """Return the vertical position in pixels of a processor's lower edge."""
        return self.bottom - processor * self.height / self.procs

    def rect(self, start: float, end: float, low: float, high: float) -> Rect:
        """Return the rectangle of these times and processors; times outside of the chart are cut off."""
        x, right = max(self.x(start), self.left), min(self.x(end), self.right)
        return Rect(x, self.y(high), max(right - x, 0.0), self.y(low) - self.y(high))

    def rects(self, start: float, end: float, processors: int) -> list[Rect]:
        return [self.rect(start, end, low, high + 1) for low, high in ranges(processors)]
