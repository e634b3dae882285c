"""Formatting of times, names and numbers, the same for every screen and every sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from math import inf, isfinite
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias
from unicodedata import category

from sim.support.errors import ParameterError

if TYPE_CHECKING:
    from datetime import datetime

Clock: TypeAlias = Callable[[float], str]
"""Function that returns a time in seconds as text, in the form that a screen needs."""
LATEST = 10.0**15
"""Latest time and longest duration in seconds; beyond it, floating-point numbers are too inexact."""
_SECONDS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_NUMBER = r"(\d+(?:,\d\d\d)*(?:\.\d*)?)"
_UNITS = re.compile(
    rf"(?:{_NUMBER}w)?(?:{_NUMBER}d)?(?:{_NUMBER}h(?=$|\d))?(?:{_NUMBER}(?:min|m|(?<=h\d\d)$))?(?:{_NUMBER}(?:s|(?<=m\d\d)$))?",
    re.ASCII,
)
_PLAIN = re.compile(r"\d+(\.\d*)?", re.ASCII)
_CLOCK = re.compile(
    r"(-)?(?:d(\d+)|(\d+)(?:d|(?= )))?(?:(?:^|(?<=[d\d]) )(\d{1,2}):([0-5]\d)(?::([0-5]\d(?:\.\d+)?))?)?", re.ASCII
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[ t]\d\d:\d\d(?::\d\d)?)?", re.ASCII)
_STEP = re.compile(r"(?:#|step )\s*(\d[\d,]*)", re.ASCII)
A_TIME = "a time is seconds or like 12d4h30m (units w d h m s), d12 04:30 or a date"


# Times


def clock(seconds: float) -> str:
    """Return a simulated time as text: day, hours, minutes and seconds since time 0.

    >>> clock(12 * 86400 + 4 * 3600 + 31 * 60 + 7), clock(-5)
    ('d12 04:31:07', '-d0 00:00:05')
    """
    if seconds == inf:
        return "never"
    if seconds < 0:
        return "-" + clock(-seconds)
    whole = int(seconds)
    return f"d{whole // 86400} {whole % 86400 // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def exact_clock(seconds: float) -> str:
    """Return a simulated time as `clock` does, but with its fraction of a second, for error messages.

    >>> exact_clock(3600), exact_clock(86407.25), exact_clock(59.9999999), exact_clock(inf)
    ('d0 01:00:00', 'd1 00:00:07.25', 'd0 00:01:00', 'inf')
    """
    if not abs(seconds) <= LATEST:
        return f"{seconds:.12g}"
    micros = round(abs(seconds) * 1e6)
    fraction = f"{micros % 1_000_000:06}".rstrip("0")
    return clock(seconds / abs(seconds) * (micros // 1_000_000) if seconds else 0.0) + f".{fraction}" * bool(fraction)


def clock_near(now: float) -> Clock:
    """Return a function that writes a time as text to the second, and omits the day if it is the day of `now`.

    >>> at = clock_near(12 * 86400)
    >>> at(12 * 86400 + 17100), at(13 * 86400 + 7)
    ('04:45:00', 'd13 00:00:07')
    """

    def at(seconds: float) -> str:
        day, _, time = clock(seconds).partition(" ")
        return time if seconds // 86400 == now // 86400 else f"{day} {time}".rstrip()

    return at


def span(seconds: float | None) -> str:
    """Return a duration as text in its two largest units; a dash if `seconds` is None.

    >>> [span(s) for s in (0, 7.25, 45, 750, 7500, 1051200)]
    ['0s', '7.2s', '45s', '12m30', '2h05', '12d4h']
    >>> span(3599.9), span(86399.9), span(-90), span(None)
    ('1h00', '1d0h', '-1m30', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 0:
        return "-" + span(-seconds)
    if seconds < 10 and seconds != round(seconds):
        return f"{seconds:.1f}s"
    if not isfinite(seconds):
        return f"{seconds}"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}"
    minutes = round(seconds / 60)
    if minutes < 1440:
        return f"{minutes // 60}h{minutes % 60:02}"
    hours = round(seconds / 3600)
    return f"{hours // 24:,}d{hours % 24}h"


class Step(NamedTuple):
    """Point in a run, given by the number of steps that have been made until then."""

    number: int


Moment: TypeAlias = "float | datetime | Step"
"""Point in a run that a user may type: seconds, a date in the calendar of the trace, or a step of the run."""


def parse_time(text: str, now: float = 0.0) -> float:
    """Return a typed time in seconds. It may be a number of seconds, a duration, or a day and a time of day.

    A time of day alone belongs to the day of `now`.

    >>> parse_time("3600"), parse_time("1.5h"), parse_time("12d4h30m"), parse_time("2h05"), parse_time("1,200d 3h")
    (3600.0, 5400.0, 1053000.0, 7500.0, 103690800.0)
    >>> parse_time("d12 04:31:07"), parse_time("04:30")
    (1053067.0, 16200.0)
    >>> parse_time("yesterday")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    sim.support.errors.ParameterError: a time is seconds or like 12d4h30m (units w d h m s), d12 04:30 or a date, ...
    """
    typed = " ".join(text.lower().split())
    seconds = _of_clock(typed, now)
    if seconds is None and _PLAIN.fullmatch(typed):
        seconds = float(typed)
    if seconds is None:
        units = _UNITS.fullmatch(typed.replace(" ", ""))
        if units is None or not typed:
            raise ParameterError(f"{A_TIME}, got {quoted(text)}")
        parts = zip(units.groups(), _SECONDS.values(), strict=True)
        seconds = sum(float(number.replace(",", "")) * length for number, length in parts if number)
    if abs(seconds) > LATEST:
        raise ParameterError(f"no time is beyond {LATEST:,.0f} seconds, got {quoted(text)}")
    return seconds


def parse_moment(text: str, now: float = 0.0) -> Moment:
    """Return a typed point in a run: seconds, a date or a step; a time of day alone is on the day of `now`.

    >>> parse_moment("d12"), parse_moment("2026-11-21 04:30"), parse_moment("#1,200")
    (1036800.0, datetime.datetime(2026, 11, 21, 4, 30), Step(number=1200))
    """
    typed = " ".join(text.lower().split())
    if step := _STEP.fullmatch(typed):
        digits = step[1].replace(",", "")
        if len(digits) > 15:
            raise ParameterError(f"no step is beyond {LATEST:,.0f}, got {quoted(text)}")
        return Step(int(digits))
    if not _DATE.fullmatch(typed):
        return parse_time(text, now)
    from datetime import datetime

    try:
        return datetime.fromisoformat(typed)
    except ValueError as error:
        raise ParameterError(f"{quoted(text)} is in no calendar: {error}") from None


def written_time(moment: Moment) -> str:
    """Return a point in a run as text that `parse_moment` reads back exactly; "" for infinity.

    >>> written_time(86400.0), written_time(1e-07), written_time(float("inf"))
    ('86400', '0.0000001', '')
    """
    if isinstance(moment, Step):
        return f"#{moment.number}"
    if not isinstance(moment, float | int):
        return moment.isoformat(" ")
    from decimal import Decimal  # slow to import

    return "" if abs(moment) == float("inf") else f"{Decimal(repr(moment)).normalize():f}"


def _of_clock(typed: str, now: float) -> float | None:
    if not (match := _CLOCK.fullmatch(typed)) or (match[2] is None and match[4] is None):
        return None
    hours, minutes, seconds = int(match[4] or 0), int(match[5] or 0), float(match[6] or 0)
    if hours > 23:
        raise ParameterError(f"{quoted(typed)} is no time of day: hours go to 23")
    after = float(match[2] or match[3] or now // 86400) * 86400 + hours * 3600 + minutes * 60 + seconds
    return -after if match[1] else after


def quoted(text: str) -> str:
    """Return a text that a user typed, in quotes and shortened if it is long, for an error message."""
    return repr(shortened(text))


def shortened(text: str, most: int = 40) -> str:
    """Return a text cut to at most `most` characters; a text that is cut has dots at its end.

    >>> shortened("9" * 400)
    '99999999999999999999999999999999999999...'
    """
    return text if len(text) <= most else text[: most - 2] + "..."


# Names and numbers


class HasId(Protocol):
    """Job, or another object with an attribute `id`."""

    @property
    def id(self) -> str: ...


def name(job: HasId) -> str:
    """Return the name of a job for the screen: its id, with a J in front if the id begins with a digit.

    >>> from types import SimpleNamespace as Job
    >>> name(Job(id="17")), name(Job(id="w0!3"))
    ('J17', 'w0!3')
    """
    return f"J{job.id}" if job.id[:1].isdigit() else job.id


def processors(many: int) -> str:
    return count(many, "processor")


def processors_wanted(procs: int, whole: int, there: int, when: str) -> str:
    """Return text on how many processors a job needs, and how many the machine has (`whole`).

    If only `there` of its `whole` processors are available, the text names that number and the time `when` instead.

    >>> processors_wanted(4, 10, 10, "now"), processors_wanted(4, 10, 3, "now")
    ('4 of 10 processors', '4 processors, 3 there now')
    """
    return f"{procs:,} of {processors(whole)}" if there == whole else f"{processors(procs)}, {there:,} there {when}"


def listed(words: Iterable[str], most: int = 4) -> str:
    """Return a list as text; of more than `most` words, the first ones and the number of the others.

    >>> listed(["J1", "J2", "J3"]), listed("abcdef", most=3)
    ('J1, J2 and J3', 'a, b, c and 3 more')
    """
    every = list(words)
    if len(every) > most + 1:
        every[most:] = [f"{len(every) - most:,} more"]
    return " and ".join(filter(None, (", ".join(every[:-1]), every[-1]))) if every else ""


def spelled(identifier: str) -> str:
    """Return an identifier of the code as separate words in small letters.

    >>> spelled("TooFewFree"), spelled("extra_p")
    ('too few free', 'extra p')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", identifier).replace("_", " ").lower()


def times(many: int) -> str:
    """Return a number of repetitions as text, such as once or twice.

    >>> times(1), times(2), times(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(many, f"{many:,} times")


def nth(place: int) -> str:
    teens = place % 100 in (11, 12, 13)
    return f"{place:,}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(place % 10, 'th')}"


def count(many: int, one: str, more: str = "") -> str:
    """Return a number as text with its noun: `one` for 1, otherwise `more` (by default `one` with an s).

    >>> count(1, "user"), count(2100, "user"), count(2, "entry", "entries")
    ('1 user', '2,100 users', '2 entries')
    """
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share (0 to 1) in percent, a dash for None. A small share is never written as 0, nor a large one as 100.

    >>> percent(0.126), percent(1), percent(0.00001), percent(0.99999), percent(None)
    ('12.6 %', '100.0 %', '<0.1 %', '>99.9 %', '–')
    """
    if share is None:
        return "–"
    least = 10.0**-digits
    if 0 < 100 * share < least / 2:
        return f"<{least:.{digits}f} %"
    if 100 - least / 2 <= 100 * share < 100:
        return f">{100 - least:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def printable(text: str) -> str:
    r"""Return the text with `?` in place of control characters and of characters that change the writing direction.
    Names from foreign files can contain both.

    >>> printable("low\x1b[2J"), printable("abc\u202edef")
    ('low?[2J', 'abc?def')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or category(c) == "Zs" else "?" for c in text)


def printable_lines(text: str) -> str:
    """Return the text with `?` for control characters, except for line ends."""
    return "\n".join(map(printable, text.split("\n")))
