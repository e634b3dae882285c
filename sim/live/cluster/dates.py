"""Times of a real cluster as text, in the time zone of the program."""

from __future__ import annotations

from datetime import datetime

DAY = 86400.0


def here(*times: float) -> list[datetime] | None:
    """Return times in the time zone of the program; None if one of them is out of Python's dates."""
    try:
        return [datetime.fromtimestamp(time).astimezone() for time in times]
    except (ValueError, OverflowError, OSError):
        return None


def date(at: float | None, now: float) -> str:
    """Return the time of day, with the date if it is not that of `now`; "an unknown time" for None."""
    if at is None or (found := here(at, now)) is None:
        return "an unknown time"
    moment, today = found
    if moment.date() == today.date():
        return f"{moment:%H:%M:%S}" if abs(at - now) < 600 else f"{moment:%H:%M}"
    return f"{moment:%Y-%m-%d %H:%M}" if moment.year != today.year else f"{moment:%a %d %b %H:%M}"


def until(end: float | None, now: float) -> str:
    """Return the end at the time limit, perhaps overdue, as text after a verb or a number; "" if there is none."""
    if not end:
        return ""
    return f" until {date(end, now)} at most" if end >= now else f", overdue since {date(end, now)}"
