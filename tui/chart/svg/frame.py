"""Frame of a picture: positions in pixels for times (to the right) and processors (upwards)."""

from __future__ import annotations

from dataclasses import dataclass

from sim.machine.processors import ranges
from tui.chart.axis import CLOCK, Axis
from tui.chart.svg.elements import Rect

LEFT, RIGHT, TITLE, AXIS, STRIP, LEGEND = 52, 16, 62, 26, 74, 26
"""Sizes in pixels of the areas around the chart: widths of the processor numbers and of the right margin. Then heights
of the title, the times, the curves and the legend.
"""
BAND = 16
"""Width in pixels of the band at the left that shows the present owner of each processor, if there are partitions."""
LEAST_WIDTH, LEAST_HEIGHT = 320, 280


def inner_height(height: int) -> int:
    """Return the height of the chart itself, in a picture of this height."""
    return height - TITLE - AXIS - STRIP - LEGEND


@dataclass(frozen=True, slots=True)
class Frame:
    """Rectangle of the chart in whole pixels, with the times and the number of processors that are shown in it."""

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
        """Return the frame of the chart in a picture of `size` (width, height) pixels; `has_band` leaves space for the
        owners of processors.
        """
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
        """Return the number of rows of pixels: the height, or the number of processors if that is smaller."""
        return min(self.procs, self.height)

    @property
    def first(self) -> float:
        """Return the position of the left edge on the axis of time: in seconds, or in events if all events have the
        same width.
        """
        return self.axis.place(self.begin)

    @property
    def per_pixel(self) -> float:
        """Return the width of a pixel on the axis of time: in seconds, or in events if all events have the same
        width.
        """
        return (self.axis.place(self.end) - self.first) / self.width

    def x(self, time: float) -> float:
        """Return the horizontal position of a time, in pixels."""
        return self.left + (self.axis.place(time) - self.first) / self.per_pixel

    def y(self, processor: float) -> float:
        """Return the vertical position in pixels of a processor's lower edge.

        >>> Frame(0, 10, 100, 80, 0, 50, 8).y(0), Frame(0, 10, 100, 80, 0, 50, 8).y(8)
        (90.0, 10.0)
        """
        return self.bottom - processor * self.height / self.procs

    def rect(self, start: float, end: float, low: float, high: float) -> Rect:
        """Return the rectangle of the times from `start` to `end` and the processors from `low` to before `high`; times
        outside of the chart are cut off.
        """
        x, right = max(self.x(start), self.left), min(self.x(end), self.right)
        return Rect(x, self.y(high), max(right - x, 0.0), self.y(low) - self.y(high))

    def rects(self, start: float, end: float, processors: int) -> list[Rect]:
        """Return one rectangle for each range of neighbouring processors in a set (bits), from `start` to `end`."""
        return [self.rect(start, end, low, high + 1) for low, high in ranges(processors)]
