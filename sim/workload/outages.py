"""Outages and sizes of the machine: processors that are unavailable for a time (sim/RULES.md).

A machine whose size changes is simulated with the largest number of processors that it ever has; while it is smaller,
the processors with the highest numbers are unavailable. A failure affects some processors, maintenance all. Sets of
processors are integers, with bit i for processor i. This module does not import numpy, because the command line is
parsed without it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from io import StringIO
from math import inf
from typing import NamedTuple, TypeAlias

from sim.support.errors import ParameterError, TraceError
from sim.support.files import TextKind
from sim.support.formatting import Moment, Step, parse_moment, quoted, written_time

Calendar: TypeAlias = Callable[[float | datetime], float]
"""Function that returns the time in seconds of the trace for a number or a date"""
_CSV = TextKind("CSV of outages", 1 << 24, TraceError)
MOST = 10_000
"""Largest number of changes (sizes and outages) of one machine"""
WIDEST = 10_000_000
MOST_GONE = 100_000_000
"""Largest product of changes and processors, because each change keeps a bit for each processor"""
A_SET = f"processors are numbers from 0 to {WIDEST - 1:,}, like 0-63 or 0-3 8"


class Outage(NamedTuple):
    """Period from `begins` until `ends` in which the `processors` (a set, as bits) are unavailable."""

    begins: float
    """Begin of the outage; -inf if the processors were never available before."""
    ends: float
    """End of the outage; inf if the processors never return."""
    processors: int
    announced: bool = False
    """True if it is known from the start of the run; else it becomes known, with its end, when it begins."""


class Resize(NamedTuple):
    """Change of the machine's size to `procs` processors from the time `at` on, as a user typed it."""

    at: float | datetime
    procs: int


class Down(NamedTuple):
    """Outage as a user typed it; `processors` is a set such as "0-3 8", "" for the whole machine."""

    begins: float | datetime
    ends: float | datetime
    processors: str = ""
    announced: bool = True


# Typed values


def parse_machine(text: str) -> tuple[Resize, ...]:
    """Return the sizes of the machine with their times, from a text in which semicolons separate them.

    >>> parse_machine("10d=768; 20d=504")
    (Resize(at=864000.0, procs=768), Resize(at=1728000.0, procs=504))
    """
    return tuple(_resize(part) for part in _split_at_semicolons(text))


def parse_outages(text: str) -> tuple[Down, ...]:
    """Return the outages in parts `T0..T1`, `T0..T1: PROCESSORS`, or paths of CSV files, between semicolons.

    >>> parse_outages("5d..6d; d3 04:00..d3 06:00: 0-2 5")  # doctest: +NORMALIZE_WHITESPACE
    (Down(begins=432000.0, ends=518400.0, processors='', announced=True),
     Down(begins=273600.0, ends=280800.0, processors='0-2 5', announced=False))
    """
    found: list[Down] = []
    for part in _split_at_semicolons(text):
        found += read_outages(part) if part.lower().endswith(".csv") else [_down(part)]
    return tuple(found)


def read_outages(path: str) -> list[Down]:
    """Return the outages in a CSV file with the columns `from,to,processors,announced`; no processors: all."""
    try:
        rows = csv.DictReader(StringIO(_CSV.read(path), newline=""))
        if rows.fieldnames is None or not {"from", "to"} <= set(rows.fieldnames):
            raise TraceError("expected the columns from,to,processors,announced", path, 1)
        return [_row(row, path, rows.line_num) for row in rows]
    except csv.Error as error:
        raise TraceError(f"is no CSV of outages: {error}", path) from None


def written_machine(sizes: Iterable[Resize]) -> str:
    return "; ".join(f"{written_time(at)}={procs}" for at, procs in sizes)


def written_outages(outages: Iterable[Down]) -> str:
    """Return the outages as a user would type them."""
    told = []
    for begins, ends, gone, announced in outages:
        which = "" if announced else f": {gone or 'all'}"
        told.append(f"{written_time(begins)}..{written_time(ends)}{which}")
    return "; ".join(told)


def parse_set(text: str) -> int:
    """Return the set of processors, as bits, that a text such as "0-3 8" names; blanks or commas separate its parts.

    >>> bin(parse_set("0-3 8, 10-12"))
    '0b1110100001111'
    """
    chosen = 0
    for part in re.split(r"[\s,]+", text.strip()):
        match = re.fullmatch(r"(\d{1,8})(?:-(\d{1,8}))?", part)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if not first <= last < WIDEST:
            raise ParameterError(f"{A_SET}, got {quoted(text.strip())}")
        chosen |= (2 << last) - (1 << first)
    return chosen


def _split_at_semicolons(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, text.split(";")))


def _resize(text: str) -> Resize:
    time, equals, procs = text.partition("=")
    if not equals or not re.fullmatch(r"\s*\d{1,8}\s*", procs) or not 0 < int(procs) <= WIDEST:
        raise ParameterError(f"a size of the machine is T=N like 30d=768, N from 1 to {WIDEST:,}, got {quoted(text)}")
    return Resize(_time_or_date(time), int(procs))


def _down(text: str) -> Down:
    span, colon, which = text.rpartition(": ")
    if not colon:
        span, which = text, ""
        if (last := text.rpartition(":"))[1] and not _is_span(text) and _is_span(last[0]):
            span, _, which = last
    begin, dots, end = span.partition("..")
    if not dots:
        raise ParameterError(f"an outage is T0..T1 or T0..T1: 0-63, or a file .csv, got {quoted(text)}")
    begins, ends = _time_or_date(begin or "0"), _time_or_date(end) if end.strip() else inf
    if not which.strip():
        return _checked(Down(begins, ends), text)
    return _checked(Down(begins, ends, _set_as_typed(which), announced=False), text)


def _set_as_typed(text: str) -> str:
    if text.strip() == "all":
        return ""
    parse_set(text)
    return " ".join(text.split())


def _is_span(text: str) -> bool:
    begin, dots, end = text.partition("..")
    try:
        return bool(dots) and all(not part.strip() or _time_or_date(part) is not None for part in (begin, end))
    except ParameterError:
        return False


def _time_or_date(text: str) -> float | datetime:
    moment: Moment = parse_moment(text)
    if isinstance(moment, Step):
        raise ParameterError(
            f"a machine changes at times or dates, for steps are known after a run; got {quoted(text)}"
        )
    return moment


def _checked(outage: Down, text: str) -> Down:
    begins, ends = outage.begins, outage.ends
    if isinstance(begins, float | int) and isinstance(ends, float | int) and not begins < ends:
        raise ParameterError(f"an outage ends after it begins, got {quoted(text)}")
    if not outage.processors and ends == inf:
        raise ParameterError(f"the whole machine comes back some time, got {quoted(text)}: say when, like 5d..6d")
    return outage


def _row(row: dict[str, str | None], path: str, line: int) -> Down:
    said = {key: (row.get(key) or "").strip() for key in ("from", "to", "processors", "announced")}
    yes, no = said["announced"].lower() in ("yes", "true", "1"), said["announced"].lower() in ("no", "false", "0")
    try:
        if said["announced"] and not yes and not no:
            raise ParameterError(f"announced is yes or no, got {quoted(said['announced'])}")
        if said["processors"] and yes:
            raise ParameterError("only the whole machine can be announced; leave its processors empty, or say no")
        which, ends = _set_as_typed(said["processors"] or "all"), _time_or_date(said["to"]) if said["to"] else inf
        announced = not which and not no
        return _checked(Down(_time_or_date(said["from"] or "0"), ends, which, announced), ",".join(said.values()))
    except ParameterError as error:
        raise TraceError(str(error), path, line) from None


# Use


def most_procs(procs: int, sizes: Iterable[Resize]) -> int:
    return max([procs, *(size.procs for size in sizes)])


def outages_of(procs: int, sizes: Sequence[Resize], downs: Iterable[Down], calendar: Calendar) -> tuple[Outage, ...]:
    """Return all outages of a machine that begins with `procs` processors; `calendar` converts dates to seconds."""
    most, found = most_procs(procs, sizes), list[Outage]()
    downs = tuple(downs)
    _check_extent(len(sizes) + len(downs), most)
    everything = (1 << most) - 1
    times = sorted((calendar(at), size) for at, size in sizes)
    since, size = -inf, procs
    for at, other in [*times, (inf, procs)]:
        if size < most and at > since:
            found.append(Outage(since, at, everything ^ ((1 << size) - 1)))
        since, size = at, other
    for begin, end, which, announced in downs:
        begins, ends = calendar(begin), calendar(end)
        if not begins < ends:
            raise ParameterError(f"an outage ends after it begins, got {written_time(begins)}..{written_time(ends)}")
        gone = parse_set(which) if which else everything
        if gone & ~everything:
            raise ParameterError(f"no processor {gone.bit_length() - 1} to fail: there are {most:,}, from 0 on")
        found.append(Outage(begins, ends, gone, announced))
    return tuple(sorted(found))


def _check_extent(changes: int, procs: int) -> None:
    if changes > MOST:
        raise ParameterError(f"{changes:,} changes of the machine are more than the {MOST:,} that are handled")
    if changes * procs > MOST_GONE:
        most = MOST_GONE // procs
        raise ParameterError(f"{changes:,} changes of {procs:,} processors are too many; at most {most:,} are handled")


def absent(outages: Iterable[Outage], time: float) -> int:
    gone = 0
    for outage in outages:
        if outage.begins <= time < outage.ends:
            gone |= outage.processors
    return gone


def absences(outages: Iterable[Outage], times: Iterable[float]) -> Iterator[int]:
    """Yield the set of unavailable processors, as bits, for each of these times, which must be in ascending order.

    >>> list(absences([Outage(5, 9, 0b11), Outage(7, 20, 0b110)], [-inf, 5, 7, 9, 20]))
    [0, 3, 7, 6, 0]
    """
    ahead, gone = sorted(outages, reverse=True), list[Outage]()
    for time in times:
        gone = [outage for outage in gone if time < outage.ends]
        while ahead and ahead[-1].begins <= time:
            gone.append(ahead.pop())
        yield absent(gone, time)


def known(outages: Iterable[Outage], time: float) -> tuple[Outage, ...]:
    return tuple(outage for outage in outages if outage.announced or outage.begins <= time)


def changes_of(outages: Iterable[Outage]) -> list[float]:
    return sorted({time for outage in outages for time in outage[:2] if abs(time) != inf})


def closing(outages: Iterable[Outage], time: float) -> float:
    """Return the begin of the next announced outage of the whole machine after `time`; infinite if there is none."""
    return min((outage.begins for outage in outages if outage.announced and outage.begins > time), default=inf)


def sizes_over_time(outages: Sequence[Outage], procs: int) -> list[tuple[float, int]]:
    """Return (time, available processors from then on) for each change of the machine; the first is at -inf.

    >>> sizes_over_time([Outage(5, 9, 0b11)], 4)
    [(-inf, 4), (5, 2), (9, 4)]
    """
    times = [-inf, *changes_of(outages)]
    gone = absences(outages, times)
    return [(time, procs - each.bit_count()) for time, each in zip(times, gone, strict=True)]


def capacity(outages: Sequence[Outage], procs: int, begin: float, end: float) -> float:
    """Return the processor-seconds that are available from `begin` until `end`.

    >>> capacity([Outage(5, 9, 0b11)], 4, 0, 10), capacity([], 4, 0, 10)
    (32, 40)
    """
    steps = [(max(since, begin), count) for since, count in sizes_over_time(outages, procs)]
    return sum(
        count * max(min(until, end) - since, 0)
        for (since, count), (until, _) in zip(steps, [*steps[1:], (end, 0)], strict=True)
    )


def gone_for_good(outages: Iterable[Outage], time: float) -> int:
    """Return the processors, as bits, that are unavailable at a time and never return."""
    return absent((outage for outage in outages if outage.ends == inf), time)
