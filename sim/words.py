"""Times, names and numbers as people write them: every screen and every sentence says them alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias
from unicodedata import category

from sim.errors import ParameterError

Clock: TypeAlias = Callable[[float], str]
"""How a moment is written."""
_SECONDS = {"w": 604800.0, "d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_UNITS = re.compile("".join(rf"(?:(\d+(?:\.\d*)?){unit})?" for unit in _SECONDS))
_PLAIN = re.compile(r"\d+(\.\d*)?")


# Times


def clock(seconds: float) -> str:
    """A moment of simulated time.

    >>> clock(12 * 86400 + 4 * 3600 + 31 * 60 + 7), clock(-5)
    ('d12 04:31:07', '-d0 00:00:05')
    """
    if seconds < 0:
        return "-" + clock(-seconds)
    whole = int(seconds)
    return f"d{whole // 86400} {whole % 86400 // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def clock_near(now: float) -> Clock:
    """Moments as a person says them at `now`: without the day if it is today, without seconds if there are none.

    >>> at = clock_near(12 * 86400)
    >>> at(12 * 86400 + 17100), at(13 * 86400 + 7)
    ('04:45', 'd13 00:00:07')
    """

    def at(seconds: float) -> str:
        day, _, time = clock(seconds).partition(" ")
        time = time.removesuffix(":00")
        return time if seconds // 86400 == now // 86400 else f"{day} {time}"

    return at


def span(seconds: float | None) -> str:
    """A length of time in its two greatest units; a dash for None.

    >>> [span(s) for s in (0, 7.25, 45, 750, 7500, 1051200)]
    ['0s', '7.2s', '45s', '12m30', '2h05', '12d4h']
    >>> span(3599.9), span(86399.9), span(-90), span(None)
    ('1h00', '1d0h', '-1m30', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 0:
        return "-" + span(-seconds)
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f}s"
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


def parse_time(text: str) -> float:
    """Seconds from plain seconds or from weeks, days, hours, minutes and seconds, in that order.

    >>> parse_time("3600"), parse_time("1.5h"), parse_time("12d4h30m"), parse_time("2w")
    (3600.0, 5400.0, 1053000.0, 1209600.0)
    >>> parse_time("yesterday")
    Traceback (most recent call last):
    sim.errors.ParameterError: a time is seconds or like 12d4h30m (units w d h m s), got 'yesterday'
    """
    stripped = text.strip().lower()
    if _PLAIN.fullmatch(stripped):
        return float(stripped)
    units = _UNITS.fullmatch(stripped)
    if units is None or not stripped:
        raise ParameterError(f"a time is seconds or like 12d4h30m (units w d h m s), got {text!r}")
    return sum(float(n) * length for n, length in zip(units.groups(), _SECONDS.values(), strict=True) if n)


# Names and numbers


class Named(Protocol):
    """A job, or what else goes by an id."""

    @property
    def id(self) -> str: ...


def name(job: Named) -> str:
    """What people call the job.

    >>> from types import SimpleNamespace as Job
    >>> name(Job(id="17")), name(Job(id="w0!3"))
    ('J17', 'w0!3')
    """
    return f"J{job.id}" if job.id[:1].isdigit() else job.id


def processors(many: int) -> str:
    """A number of processors with its noun.

    >>> processors(1), processors(64)
    ('1 processor', '64 processors')
    """
    return count(many, "processor")


def listed(words: Iterable[str], most: int = 4) -> str:
    """An enumeration; of a long one the beginning, and how many more there are.

    >>> listed(["J1", "J2", "J3"]), listed("abcdef", most=3)
    ('J1, J2 and J3', 'a, b, c and 3 more')
    """
    every = list(words)
    if len(every) > most + 1:
        every[most:] = [f"{len(every) - most} more"]
    return " and ".join(filter(None, (", ".join(every[:-1]), every[-1]))) if every else ""


def spelled(identifier: str) -> str:
    """A name of a program as a person writes it.

    >>> spelled("TooFewFree"), spelled("extra_p")
    ('too few free', 'extra p')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", identifier).replace("_", " ").lower()


def times(many: int) -> str:
    """How often.

    >>> times(1), times(2), times(1200)
    ('once', 'twice', '1,200 times')
    """
    return {1: "once", 2: "twice"}.get(many, f"{many:,} times")


def count(many: int, one: str, more: str = "") -> str:
    """A number and its noun.

    >>> count(1, "user"), count(2100, "user"), count(2, "entry", "entries")
    ('1 user', '2,100 users', '2 entries')
    """
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def percent(share: float | None, digits: int = 1) -> str:
    """A share of 1 in percent; what is little does not look like nothing, nor what is almost all like all.

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
    """Without what a terminal obeys, such as control characters and turns of direction: names come from files.

    >>> printable("low\\x1b[2J"), printable("abc\\u202edef")
    ('low?[2J', 'abc?def')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or category(c) == "Zs" else "?" for c in text)


def printable_lines(text: str) -> str:
    """Of a text that has lines, each.

    >>> printable_lines("a\\x07\\nb")
    'a?\\nb'
    """
    return "\n".join(map(printable, text.split("\n")))
