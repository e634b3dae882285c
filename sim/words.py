"""Times, names and numbers as people write them: every screen and every sentence says them alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

from sim.workload.model import Job

Clock: TypeAlias = Callable[[float], str]
"""How a moment is written."""


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


# Names and numbers


def name(job: Job) -> str:
    """What people call the job.

    >>> name(Job(0, "17", 0, 1, 1)), name(Job(0, "w0!3", 0, 1, 1))
    ('J17', 'w0!3')
    """
    return f"J{job.id}" if job.id[:1].isdigit() else job.id


def processors(count: int) -> str:
    """A number of processors with its noun.

    >>> processors(1), processors(64)
    ('1 processor', '64 processors')
    """
    return f"{count:,} processor{'' if count == 1 else 's'}"


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
