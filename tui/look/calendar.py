"""Calendar of a trace with a start date: its times as dates and weekdays in its own time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, tzinfo
from math import inf

from sim.support.formatting import Clock, clock
from sim.workload.model import Header

_NIGHT = 7, 20
_SATURDAY = 5
_WEEKDAYS = "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"
_MONTHS = "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"


@dataclass(frozen=True)
class Calendar:
    """Calendar of a trace; `start` is the time of the trace's second 0, in seconds since 1970."""

    start: float
    zone: tzinfo
    name: str

    @classmethod
    def of(cls, header: Header) -> Calendar | None:
        if header.unix_start is None:
            return None
        name, zone = header.clock
        return cls(header.unix_start, zone, name)

    def local(self, seconds: float) -> datetime | None:
        """Return a time of the trace as a date in its time zone; None if no date can express it."""
        try:
            return datetime.fromtimestamp(self.start + seconds, self.zone)
        except (OverflowError, ValueError, OSError):
            return None

    def moment(self, seconds: float) -> str:
        """Return a time of the trace as weekday, date and clock; if no date can express it, as a day of the trace."""
        local = self.local(seconds) if seconds < inf else None
        if local is None:
            return clock(seconds)
        return f"{_WEEKDAYS[local.weekday()]} {local.day} {_MONTHS[local.month - 1]} {local:%H:%M:%S}"

    def year(self, seconds: float) -> str:
        """Return the year of a time of the trace as text; "" if no date can express it."""
        local = self.local(seconds)
        return "" if local is None else str(local.year)

    def near(self, now: float) -> Clock:
        """Return a function that writes a time as text; it leaves out the date if that is the date of `now`."""
        today = self.moment(now).rpartition(" ")[0]

        def at(seconds: float) -> str:
            day, _, time = self.moment(seconds).rpartition(" ")
            return time if day == today else f"{day} {time}".strip()

        return at

    def shift(self, seconds: float) -> float:
        """Return the seconds to add to a time near `seconds` to get local time in seconds since 1970."""
        local = self.local(seconds)
        offset = local.utcoffset() if local is not None else None
        return self.start + (offset.total_seconds() if offset is not None else 0.0)

    def is_weekend(self, seconds: float) -> bool:
        local = self.local(seconds)
        return local is not None and local.weekday() >= _SATURDAY

    def is_night(self, seconds: float) -> bool:
        local = self.local(seconds)
        return local is not None and not _NIGHT[0] <= local.hour < _NIGHT[1]
