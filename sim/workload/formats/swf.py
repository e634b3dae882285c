"""Reader and writer of the Standard Workload Format: comments that start with ';', then one line of 18 numbers per job.

A good line has numbers for submit, run time and processors; another field that is no number counts as unknown. Blocks
of lines are converted at once if possible, else line by line, with the same result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import TraceError
from sim.workload.columns import halved, in_one, joined
from sim.workload.fidelity import Fidelity, Note
from sim.workload.formats.table import (
    LARGEST,
    LONGEST,
    MOST_JOBS,
    PROCS,
    Damage,
    Notes,
    blocks,
    id_numbers,
    number,
    repeated,
    whole_processors,
)
from sim.workload.model import Field, Floats, Header, Trace, Workload

WIDTH = len(Field)
FEWEST = Field.PROCS_USED + 1  # a line needs its fields up to the processors; the rest may be missing
EXPECTED = "lines of 18 numbers (Standard Workload Format)"
MOST_COMMENTS = 1 << 20
TOGETHER = 256
"""Number of blocks of lines whose arrays are merged into one array, which saves memory."""
AT_ONCE = 10_000
"""Number of jobs that are written at once; the numbers of millions of jobs would take gigabytes as objects."""


def read(text: str, name: str, path: object) -> Trace:
    return read_parts([text], name, path)


def read_parts(parts: Iterable[str], name: str, path: object) -> Trace:
    """Return the trace of a text in `parts` of whole lines, of which only one is in memory at a time."""
    comments: list[str] = []
    body, at = _Body(), 0
    for part in parts:
        for first, block in blocks(part):
            if not block.isspace():
                body.take(at + first, block, comments)
            if len(comments) > MOST_COMMENTS:
                raise TraceError(f"holds more than {MOST_COMMENTS:,} lines of comments; take them away", path)
            if body.damage.is_hopeless(body.jobs):
                break
        if body.damage.is_hopeless(body.jobs):
            break
        if body.jobs > MOST_JOBS:
            raise TraceError(f"has more than {MOST_JOBS:,} jobs; cut it into smaller files", path)
        at += part.count("\n")
    damaged = body.damage.judge(body.jobs, path)
    table, ids = body.table(), joined(body.ids)
    again = () if (np.diff(table[:, Field.ID]) > 0).all() else repeated(ids)
    assumed = body.notes.all() + again + whole_processors(table)
    header = header_of(comments)
    return Trace(name, "swf", ids, table, header, fidelity=Fidelity(damaged, assumed))


def _lines(block: str, first: int, comments: list[str]) -> Iterator[tuple[int, str]]:
    """Yield (line number, line) for the lines that describe jobs; the text of comments goes to `comments`."""
    for at, line in enumerate(block.split("\n"), start=first):
        start = line.lstrip()[:1]
        if start in (";", "#"):
            comments.append(line.lstrip()[1:])
        elif start:
            yield at, line


class _Body:
    """Collector of the jobs of a file."""

    def __init__(self) -> None:
        self.jobs = 0
        self.ids: list[list[str] | NDArray[Any]] = []
        """Ids of each block: an array of numbers if writing these gives the same text, otherwise texts"""
        self._rows: list[NDArray[Any]] = []
        self._merged = 0
        """Number of arrays at the beginning of `_rows` that were already merged from many blocks"""
        self.damage, self.notes = Damage(EXPECTED), Notes()

    @property
    def has_begun(self) -> bool:
        return bool(self.jobs or self.damage.count)

    def table(self) -> Floats:
        return in_one(self._rows or [np.empty((0, WIDTH))])

    def _add(self, ids: list[str] | NDArray[Any], rows: NDArray[Any]) -> None:
        self.jobs += len(rows)
        self.ids.append(ids)
        self._rows.append(rows)
        if len(self._rows) - self._merged == TOGETHER:  # a large piece of memory can be given back, small ones hardly
            self._rows[self._merged :] = [np.concatenate(self._rows[self._merged :])]
            self._merged += 1

    def take(self, first: int, block: str, comments: list[str]) -> None:
        if self._take_whole(block):
            return
        lines = list(_lines(block, first, comments))
        if lines and not self.has_begun and _names_columns(lines[0][1]):
            del lines[0]
        if not self._take_whole("\n".join(line for _, line in lines)):
            self._take_carefully(lines)

    def _take_whole(self, block: str) -> bool:
        """Add the jobs of a block at once and return True; if a line is unusual, add none and return False."""
        if len(block) > LONGEST or (known := _whole_block(block.strip())) is None:
            return False
        self._add(*known)
        return True

    def _take_carefully(self, lines: list[tuple[int, str]]) -> None:
        good, ids = [], []
        for at, line in lines:
            tokens = _tokens(line)
            values = [number(token) for token in tokens]
            if not tokens[0] or not _is_good(values):  # nothing before the first separator: all is one column off
                self.damage.add(at, line)
                continue
            for field, value in zip(Field, values, strict=False):
                if value is None:
                    what = f"field {field + 1} ({field.name.lower().replace('_', ' ')}) that is no number"
                    self.notes.add(f"{what}, taken as -1", f"line {at}")
            known = [-1.0 if value is None else value for value in values]
            good.append(known + [-1.0] * (WIDTH - len(known)))
            ids.append(tokens[0])
        if good:
            self._add(ids, np.array(good))


def _whole_block(block: str) -> tuple[list[str] | NDArray[Any], NDArray[Any]] | None:
    """Return the ids and rows of a block; None if a line has not 18 fields, or a field is no number."""
    text = block.encode()
    signs = np.frombuffer(text, np.uint8)
    is_blank, ends = signs <= ord(" "), np.flatnonzero(signs == ord("\n"))
    words = np.append(0, np.flatnonzero(is_blank[:-1] > is_blank[1:]) + 1)
    if len(words) != WIDTH * (len(ends) + 1):
        return None
    values = _numbers(text, np.int64, len(words))
    is_whole = values is not None
    values = _numbers(text, np.float64, len(words)) if values is None else values
    if values is None or not (values.min() >= -LARGEST and values.max() <= LARGEST):
        return None
    if (is_blank[words[:-1] + 1] & (signs[words[:-1]] < ord("."))).any():
        return None  # to numpy a sign alone is that of the next number
    rows, places = values.reshape(-1, WIDTH), words.reshape(-1, WIDTH)
    if (places[:-1, -1] > ends).any() or (places[1:, 0] < ends).any():
        return None
    if is_whole and (signs[places[:, 0]] > ord("0")).all():  # as they are written again
        return rows[:, 0].copy(), halved(rows)
    return [line.split(None, 1)[0] for line in block.split("\n")], rows


def _numbers(text: bytes, kind: type[np.int64] | type[np.float64], many: int) -> NDArray[Any] | None:
    """Return the `many` numbers of a text as an array; None if the text has more or fewer numbers, or other words.

    At a word that is no number, numpy stops and only warns. So a 0 is appended to the text: if it is read, all words
    before it are numbers. The warning need not become an error here; for that, the warning filters of the whole process
    would change, and traces are read in threads.
    """
    try:
        values = np.fromstring(text + b" 0", dtype=kind, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    return values[:-1] if len(values) == many + 1 else None


def _tokens(line: str) -> list[str]:
    """Return the first 18 fields of a line, separated by blanks or by the separators of similar formats."""
    tokens = line.split(None, WIDTH)
    if len(tokens) < FEWEST:
        mark = max(";|,", key=line.count)
        tokens = line.split(mark, WIDTH) if mark in line else tokens
    return tokens[:WIDTH]


def _is_good(values: list[float | None]) -> bool:
    if len(values) < FEWEST or values[Field.SUBMIT] is None or values[Field.RUN] is None:
        return False
    return any(values[field] is not None for field in PROCS if field < len(values))


def _names_columns(line: str) -> bool:
    tokens = _tokens(line)
    return len(tokens) >= FEWEST and all(number(token) is None for token in tokens)


# The header.

_KEY = re.compile(r"\s*([A-Za-z][A-Za-z_ ]{0,40}?)\s*:\s*(.*)")
_WHOLE = re.compile(r"-?\d{1,15}(?!\d)", re.ASCII)
_QUEUE = re.compile(r"(\d{1,9})(?!\d)[\s:,-]*(.*)", re.ASCII)


def header_of(comments: Iterable[str]) -> Header:
    """Return the header from the comments; of a repeated key the first sensible value counts."""
    kept = tuple(comments)
    values: dict[str, list[str]] = {}
    for key, value in _keys(kept):
        values.setdefault(key, []).append(value)
    queues: dict[int, str] = {}
    for value in values.get("queue", []):
        if match := _QUEUE.match(value):
            queues.setdefault(int(match[1]), match[2].strip())
    zone = values.get("timezonestring") or values.get("timezone") or []
    return Header(
        max_procs=_first_number(values.get("maxprocs", []), least=1),
        max_nodes=_first_number(values.get("maxnodes", []), least=1),
        unix_start=_first_number(values.get("unixstarttime", [])),
        time_zone=next(filter(None, zone), None),
        computer=next(filter(None, values.get("computer", [])), None),
        queues=queues,
        comments=kept,
    )


def _keys(comments: Iterable[str]) -> Iterator[tuple[str, str]]:
    for comment in comments:
        if match := _KEY.match(comment):
            yield match[1].lower().replace(" ", "").replace("_", ""), match[2].strip()


def _first_number(values: list[str], least: int | None = None) -> int | None:
    for value in values:
        if (match := _WHOLE.match(value)) and (least is None or int(match[0]) >= least):
            return int(match[0])
    return None


# Writing.


def write(trace: Trace, file: TextIO) -> None:
    """Write the header, corrected where the trace has other values, then a line of 18 numbers for each job."""
    for comment in _comments(trace.header) or [" Version: 2.2"]:
        file.write(";" + " ".join(comment.splitlines()) + "\n")
    for first in range(0, len(trace.table), AT_ONCE):
        rows = trace.table[first : first + AT_ONCE]
        whole = rows.astype(np.int64)
        if (whole == rows).all():
            file.writelines(" ".join(map(str, row)) + "\n" for row in whole.tolist())
            continue
        for row in rows.tolist():
            file.write(" ".join([str(int(v)) if v.is_integer() else repr(v) for v in row]) + "\n")


def _comments(header: Header) -> list[str]:
    """Return the header's comments; first lines for fields that they lack or give with another value."""
    said = header_of(header.comments)
    new: dict[str, list[str]] = {}
    for key, is_so, was in (
        ("Computer", header.computer, said.computer),
        ("UnixStartTime", header.unix_start, said.unix_start),
        ("TimeZoneString", header.time_zone, said.time_zone),
        ("MaxNodes", header.max_nodes, said.max_nodes),
        ("MaxProcs", header.max_procs, said.max_procs),
    ):
        if is_so is not None and is_so != was:
            new[key.lower()] = [f" {key}: {is_so}"]
    if header.queues and header.queues != said.queues:
        new["queue"] = [f" Queue: {queue} {name}" for queue, name in header.queues.items()]
    kept = [comment for comment in header.comments if not any(key in new for key, _ in _keys([comment]))]
    return [*chain.from_iterable(new.values()), *kept]


def from_workload(workload: Workload) -> Trace:
    """Return the jobs as a trace to be written; fields that a workload does not have are unknown (-1)."""
    columns: dict[Field, Iterable[float]] = {
        Field.ID: id_numbers(workload.ids),
        Field.SUBMIT: workload.submit,
        Field.WAIT: workload.wait,
        Field.RUN: workload.runtime,
        Field.PROCS_USED: workload.width,
        Field.PROCS_ASKED: workload.width,
        Field.ESTIMATE: workload.estimate,
        Field.STATUS: workload.status,
        Field.USER: workload.user,
        Field.GROUP: workload.group,
        Field.QUEUE: workload.queue,
    }
    table = np.full((len(workload), WIDTH), -1.0)
    for field, column in columns.items():
        table[:, field] = column
    header = replace(workload.header, max_procs=workload.procs)
    lost = tuple(
        Note(f"names of {field.name.lower()}s, which this format has no place for", len(words))
        for field, words in workload.names.items()
        if field is not Field.QUEUE
    )
    fidelity = workload.fidelity + Fidelity(skipped=lost)
    return Trace(workload.name, "swf", workload.ids, table, header, workload.names, fidelity)
