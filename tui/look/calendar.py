"""Calendar of a trace with a start date: dates and weekdays in its own time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from math import inf

from sim.formatting import Clock, clock
from sim.workload.model import Header

_NIGHT = 7, 20
"""Hours of the day before and after which it is night."""
_SATURDAY = 5
_WEEKDAYS = "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"
_MONTHS = "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"


@dataclass(frozen=True)
class Calendar:
    """Moments of a trace as dates: `start` is its second 0 in seconds of Unix."""

    start: float
    zone: tzinfo
    name: str
    """Name of the time zone"""

    @classmethod
    def of(cls, header: Header) -> Calendar | None:
        """Return the calendar of a trace; None if its start date is unknown."""
        if header.unix_start is None:
            return None
        name, zone = header.clock
        return cls(header.unix_start, zone, name)

    def local(self, seconds: float) -> datetime | None:
        """Return a time in the trace's time zone, or None beyond all calendars."""
        try:
            return datetime.fromtimestamp(self.start + seconds, self.zone)
        except (OverflowError, ValueError, OSError):
            return None

    def moment(self, seconds: float) -> str:
        """Return a time as weekday, date and time; beyond all calendars, as days of the trace.

        >>> Calendar.of(Header(unix_start=839855347, time_zone="US/Pacific")).moment(3600)
        'Mon 12 Aug 07:09:07'
        """
        local = self.local(seconds) if seconds < inf else None
        if local is None:
            return clock(seconds)
        return f"{_WEEKDAYS[local.weekday()]} {local.day} {_MONTHS[local.month - 1]} {local:%H:%M:%S}"

    def year(self, seconds: float) -> str:
        """Return the year of a time; "" beyond all calendars."""
        local = self.local(seconds)
        return "" if local is None else str(local.year)

    def near(self, now: float) -> Clock:
        """Return a function that writes times as of `now`: without the date if it is today."""
        today = self.moment(now).rpartition(" ")[0]

        def at(seconds: float) -> str:
            day, _, time = self.moment(seconds).rpartition(" ")
            return time if day == today else f"{day} {time}".strip()

        return at

    def shift(self, seconds: float) -> float:
        """Return the seconds from a time of the trace to the same local time, counted from 1970."""
        local = self.local(seconds)
        offset = local.utcoffset() if local is not None else None
        return self.start + (offset.total_seconds() if offset is not None else 0.0)

    def is_weekend(self, seconds: float) -> bool:
        """Return True on Saturdays and Sundays."""
        local = self.local(seconds)
        return local is not None and local.weekday() >= _SATURDAY

    def is_night(self, seconds: float) -> bool:
        """Return True outside working hours."""
        local = self.local(seconds)
        return local is not None and not _NIGHT[0] <= local.hour < _NIGHT[1]
