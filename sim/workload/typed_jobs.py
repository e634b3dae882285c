"""Job typed in a few characters, as in a puzzle: `5x10m@0`, or `4x20m/30m@2m` with an estimate.

PROCESSORSxRUNTIME@SUBMIT, with /ESTIMATE after the run time if the estimate differs. This module does not import numpy,
because the command line is parsed without it.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from sim.support.errors import ParameterError
from sim.support.formatting import parse_time, quoted, written_time

MOST_SECONDS = 10**8
_JOB = re.compile(r"(\d{1,99})\s*[x×*]\s*([^/@]+?)(?:\s*/\s*([^/@]+?))?(?:\s*@\s*([^/@]+?))?", re.IGNORECASE)
_UNITS = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


class PuzzleJob(NamedTuple):
    """Job typed as in a puzzle; times are whole seconds."""

    procs: int
    run: int
    submit: int = 0
    asked: int | None = None
    """Estimate in seconds if it differs from the run time, otherwise None."""

    @property
    def estimate(self) -> int:
        return self.run if self.asked is None else self.asked

    @property
    def text(self) -> str:
        """Return the job in the notation of a puzzle.

        >>> PuzzleJob(5, 600).text, PuzzleJob(2, 90, 60, 120).text
        ('5x10m@0', '2x1m30s/2m@1m')
        """
        asked = "" if self.asked is None else f"/{typed_time(self.asked)}"
        return f"{self.procs}x{typed_time(self.run)}{asked}@{typed_time(self.submit)}"


def parse_job(text: str, procs: int, now: float = 0.0) -> PuzzleJob:
    """Return a typed job for a machine of `procs` processors; a time of day alone is on the day of `now`.

    >>> parse_job("4x20m/30m@2m", 10)
    PuzzleJob(procs=4, run=1200, submit=120, asked=1800)
    """
    found = _JOB.fullmatch(text.strip())
    if found is None:
        raise ParameterError(f"expected PROCESSORSxRUNTIME@SUBMIT like 5x10m@0, got {quoted(text[:40])}")
    width = int(found[1])
    if not 1 <= width <= procs:
        raise ParameterError(f"needs 1 to {procs:,} processors, got {width:,}")
    run, asked, submit = (None if each is None else _seconds(each, now) for each in found.groups()[1:])
    assert run is not None
    if run < 1 or (asked is not None and asked < 1):
        raise ParameterError("run time and estimate must be at least 1 second")
    return PuzzleJob(width, run, submit or 0, None if asked == run else asked)


def _seconds(text: str, now: float) -> int:
    seconds = parse_time(text, now)
    if not isfinite(seconds) or not 0 <= seconds <= MOST_SECONDS:
        raise ParameterError(f"{quoted(text[:40])} is no time from 0 to {MOST_SECONDS:,} seconds")
    return round(seconds)


def typed_time(seconds: float) -> str:
    """Return a time in seconds as the shortest exact text.

    >>> typed_time(5400), typed_time(0), typed_time(2.5)
    ('1h30m', '0', '2.5')
    """
    if seconds != int(seconds) or seconds < 0:
        return written_time(seconds)
    parts, rest = [], int(seconds)
    for unit, size in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0"
