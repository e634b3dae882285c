"""Jobs typed in a few characters, and jobs changed in a run: withdrawn, changed or added.

A typed job is PROCESSORSxRUNTIME@SUBMIT, with /ESTIMATE after the run time if the estimate differs: `5x10m@0`, or
`4x20m/30m@2m`. Changes are in the words of the command line: `--without J3990 --change "J17:procs=4,submit=2h"
--add "5x10m@d3"`. `sim.workload.transforms.change_jobs` applies them. This module does not import numpy, because the
command line is parsed without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import NamedTuple

from sim.support.errors import ParameterError, similar
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


FIELDS = ("procs", "estimate", "run", "submit")
"""Fields of a job that can be changed, by the names that a user types."""
_CHANGE = re.compile(r"\s*(\S.*?)\s*:\s*(\w+\s*=.*)", re.DOTALL)
_WIDEST = 10**9
"""Largest number of processors that is read; the machine's size is checked when the jobs are known."""


class JobChange(NamedTuple):
    """Change of one job: its id, and the new values of some fields (times in seconds)."""

    job: str
    values: tuple[tuple[str, float], ...]

    @property
    def text(self) -> str:
        told = (
            f"{field}={value:.0f}" if field == "procs" else f"{field}={typed_time(value)}"
            for field, value in self.values
        )
        return f"{self.job}:{','.join(told)}"


@dataclass(frozen=True)
class JobChanges:
    """Changes of jobs, applied together: the ids of withdrawn jobs, changes of jobs, and added jobs in order."""

    without: tuple[str, ...] = ()
    change: tuple[JobChange, ...] = ()
    add: tuple[PuzzleJob, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for job in (*self.without, *(change.job for change in self.change)):
            if ";" in job:  # it would be read as two ids
                raise ParameterError(f"a job whose id has a semicolon cannot be changed, got {quoted(job)}")
            if _key(job) in seen:
                raise ParameterError(f"{job} is withdrawn or changed twice: name it once")
            seen.add(_key(job))

    def __bool__(self) -> bool:
        return bool(self.without or self.change or self.add)

    def __add__(self, other: JobChanges) -> JobChanges:
        """Return these changes and then the `other` ones, which replace earlier changes of the same jobs.

        >>> both = JobChanges(change=parse_changes("J1:procs=4,run=1h")) + JobChanges(change=parse_changes("1:procs=2"))
        >>> str(both), str(both + JobChanges(("J1",)))
        ('J1:procs=2,run=1h', 'without J1')
        """
        gone = {_key(job): job for job in (*self.without, *other.without)}
        values: dict[str, tuple[str, dict[str, float]]] = {}
        for job, changed in (*self.change, *other.change):
            values.setdefault(_key(job), (job, {}))[1].update(changed)
        kept = (JobChange(job, tuple(new.items())) for key, (job, new) in values.items() if key not in gone)
        return JobChanges(tuple(gone.values()), tuple(kept), self.add + other.add)

    def __str__(self) -> str:
        """Return the changes as words that follow a policy's name; "" if there are none."""
        return "; ".join(self.words)

    @property
    def words(self) -> list[str]:
        gone = [f"without {', '.join(self.without)}"] if self.without else []
        return [*gone, *(change.text for change in self.change), *(f"with {job.text}" for job in self.add)]

    @property
    def options(self) -> dict[str, str]:
        """Return the options of the command line that make these changes, by name."""
        written = {
            "without": "; ".join(self.without), "change": written_texts(self.change), "add": written_texts(self.add)
        }  # fmt: skip
        return {name: text for name, text in written.items() if text}

    @classmethod
    def of_options(cls, without: str = "", change: str = "", add: str = "") -> JobChanges:
        return cls(parse_without(without), parse_changes(change), parse_jobs(add))


def _key(job: str) -> str:
    """Return the id without a J that a user may type before a number."""
    return re.sub(r"^[jJ]\s*(?=\d)", "", job)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(";") if part.strip()]


def parse_without(text: str) -> tuple[str, ...]:
    return tuple(_parts(text))


def parse_changes(text: str) -> tuple[JobChange, ...]:
    """Return the changes in parts `JOB:FIELD=VALUE,...` between semicolons.

    >>> parse_changes("J17:procs=4, submit=2h; 0:18:run=90")
    (JobChange(job='J17', values=(('procs', 4.0), ('submit', 7200.0))), JobChange(job='0:18', values=(('run', 90.0),)))
    """
    return tuple(map(_change, _parts(text)))


def _change(text: str, now: float = 0.0) -> JobChange:
    found = _CHANGE.fullmatch(text)
    if found is None:
        raise ParameterError(f"expected JOB:FIELD=VALUE like J17:procs=4,estimate=2h, got {quoted(text)}")
    return JobChange(found[1], parse_values(found[2], now))


def parse_values(text: str, now: float = 0.0) -> tuple[tuple[str, float], ...]:
    """Return the new values in `FIELD=VALUE,...`; a time of day alone is on the day of `now`."""
    values: dict[str, float] = {}
    for part in text.split(","):
        field, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            raise ParameterError(f"expected FIELD=VALUE like procs=4,estimate=2h, got {quoted(part.strip())}")
        if field not in FIELDS:
            raise ParameterError(f"no field {quoted(field)}, there are {', '.join(FIELDS)}{similar(field, FIELDS)}")
        if field in values:
            raise ParameterError(f"{field} is given twice in {quoted(text)}")
        values[field] = _value(field, value, now)
    return tuple(values.items())


def _value(field: str, text: str, now: float) -> float:
    if field == "procs":
        if not (text.isdecimal() and 1 <= int(text[:10]) < _WIDEST):
            raise ParameterError(f"procs is a whole number of at least 1, got {quoted(text)}")
        return float(int(text[:10]))
    seconds = parse_time(text, now if field == "submit" else 0.0)
    if field != "submit" and seconds < 1:
        raise ParameterError(f"{field} is at least 1 second, got {quoted(text)}")
    return seconds


def parse_jobs(text: str) -> tuple[PuzzleJob, ...]:
    return tuple(parse_job(part, _WIDEST) for part in _parts(text))


def written_texts(made: Iterable[JobChange | PuzzleJob]) -> str:
    return "; ".join(each.text for each in made)
