"""Tables of jobs: the collector with which readers build a trace, and the reader of plain CSV with a header."""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from sys import intern

import numpy as np

from sim.support.errors import TraceError
from sim.support.files import unmarked
from sim.support.formatting import listed
from sim.workload.columns import NumberIds
from sim.workload.fidelity import Fidelity, Note
from sim.workload.model import Bools, Field, Floats, Header, Trace

LARGEST = 2.0**53  # above it a double cannot tell neighbouring seconds apart
WORDS = (Field.USER, Field.GROUP, Field.QUEUE)
NEEDED = (Field.SUBMIT, Field.RUN, Field.PROCS_ASKED)
PROCS = (Field.PROCS_USED, Field.PROCS_ASKED)


def number(value: object) -> float | None:
    """Return the number in a text or a JSON value; None if the value is missing, not finite, too large or no number.

    >>> number(" 2.50"), number("1&2"), number("nan"), number("1e400"), number(True)
    (2.5, None, None, None, None)
    """
    if not isinstance(value, (str, int, float)) or isinstance(value, bool):
        return None
    if isinstance(value, str) and "_" in value:
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if abs(result) <= LARGEST else None  # no comparison holds for nan


def shown(text: object) -> str:
    """Return a piece of a file for an error message: short, in quotes, on one line."""
    plain = str(text).strip()
    return repr(plain if len(plain) <= 60 else plain[:57] + "...")


class Notes:
    """Notes on what was changed while reading: for each wording, how often it occurred and where first."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}
        self._jobs: dict[str, list[str]] = defaultdict(list)

    def add(self, what: str, where: str) -> None:
        count, first = self._found.get(what, (0, where))
        self._found[what] = (count + 1, first)
        if where.startswith("job ") and count < MOST_NAMED:
            self._jobs[what].append(where[4:])

    def all(self) -> tuple[Note, ...]:
        return tuple(Note(what, count, first, self._jobs[what]) for what, (count, first) in self._found.items())


MOST_NAMED = 100_000
"""Largest number of jobs that one note names."""
LETTERS = 2**16
"""Approximate number of characters of a file that are processed at once."""
MOST_DAMAGED = 10_000
"""Number of damaged lines above which reading stops if good lines are fewer."""
MOST_IN_VAIN = 500_000
"""Line number after which reading stops if damaged lines outnumber good ones."""
MOST_COLUMNS = 10_000
MOST_JOBS = 100_000_000


@dataclass
class Damage:
    """Damaged units (lines, or for example jobs) of one file, with the first one, and whether they are too many."""

    expected: str
    unit: str = "line"
    count: int = 0
    line: int = 0
    got: str = ""

    def add(self, line: int, got: object) -> None:
        if not self.count:
            self.line, self.got = line, shown(got)
        self.count += 1

    def is_hopeless(self, good: int, line: int = 0) -> bool:
        """Return True if many units are damaged, and fewer good; one may span many lines up to `line`."""
        return self.count > good and (self.count > MOST_DAMAGED or line > MOST_IN_VAIN)

    def judge(self, good: int, path: object) -> tuple[Note, ...]:
        """Return notes about the damaged lines. Raise an error if more lines were damaged than good."""
        if self.count > good:
            share = f"{self.count} of {self.count + good} {self.unit}s are damaged: " if good else ""
            line = self.line if self.unit == "line" else None
            raise TraceError(f"{share}expected {self.expected}, got {self.got}", path, line)
        return (Note(f"damaged {self.unit}s", self.count, f"{self.unit} {self.line}"),) if self.count else ()


class JobRows:
    """Collector of the jobs of a file, which replaces words by numbers and finally makes a `Trace`."""

    def __init__(self, expected: str, unit: str = "line") -> None:
        self.ids: list[str] = []
        self.skipped, self.assumed, self.damage = Notes(), Notes(), Damage(expected, unit)
        self._values = array("d")
        self._words: dict[Field, list[str]] = {field: [] for field in WORDS}
        self._accounts: list[str] = []

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, job_id: str, values: Mapping[Field, float], words: Mapping[Field, str], account: str = "") -> None:
        """Add a job with its numbers by field, its user, group and queue as words, and its account ("" if unknown)."""
        self.ids.append(job_id)
        row = [-1.0] * len(Field)
        for field, value in values.items():
            row[field] = value
        self._values.extend(row)
        for field, column in self._words.items():
            column.append(intern(words.get(field, "")))
        self._accounts.append(intern(account))

    def add_all(
        self, ids: list[str], table: Floats, words: Mapping[Field, list[str]], accounts: list[str]
    ) -> None:  # fmt: skip
        self.ids += ids
        self._values.frombytes(table.tobytes())
        for field, column in self._words.items():
            column += map(intern, words[field])
        self._accounts += map(intern, accounts)

    def begin_at_zero(self) -> float | None:
        """Subtract the earliest submit time from all submit times and return it; None if there are no jobs."""
        submit = self._table()[:, Field.SUBMIT]
        first = float(submit.min()) if self.ids else None
        submit -= first or 0.0
        return first

    def _table(self) -> Floats:
        return np.frombuffer(self._values).reshape(-1, len(Field)) if self.ids else np.empty((0, len(Field)))

    def trace(self, name: str, format: str, path: object, header: Header | None = None) -> Trace:
        damaged = self.damage.judge(len(self), path)
        table = self._table()
        table[:, Field.ID] = id_numbers(self.ids)
        names: dict[Field, tuple[str, ...]] = {}
        for field, column in self._words.items():
            table[:, field], words = _numbered(column)
            if words:
                names[field] = words
        assumed = self.assumed.all() + repeated(self.ids) + whole_processors(table)
        fidelity = Fidelity(damaged + self.skipped.all(), assumed)
        header = header or Header()
        if not header.queues:
            header = replace(header, queues=dict(enumerate(names.get(Field.QUEUE, ()))))
        accounts = tuple(self._accounts) if any(self._accounts) else ()
        return Trace(name, format, tuple(self.ids), table, header, names, fidelity, accounts)


def repeated(ids: Sequence[str]) -> tuple[Note, ...]:
    """Return a note about ids that several jobs share; empty if all ids differ."""
    numbers = np.sort(_floats(ids))  # a set of millions of words takes as much as they do
    if (np.diff(numbers) > 0).all() or len(set(ids)) == len(ids):
        return ()
    again = next(job_id for job_id, count in Counter(ids).items() if count > 1)
    count = len(ids) - len(set(ids))
    return (Note("ids that come again (such as requeued jobs), kept as jobs of their own", count, f"job {again}"),)


def id_numbers(ids: Sequence[str]) -> Floats:
    """Return a number for each job: its id if all ids are whole numbers, otherwise 1, 2, 3...

    >>> id_numbers(["7", "9"]), id_numbers(["7_1", "9"])
    (array([7., 9.]), array([1., 2.]))
    """
    values = _floats(ids)
    if not (values == np.floor(values)).all():
        return np.arange(1.0, len(ids) + 1)
    return values


def whole_processors(table: Floats) -> tuple[Note, ...]:
    """Round processors up to whole numbers, in place; return a note about it, empty if nothing was rounded."""
    column = table[:, PROCS]
    broken = np.flatnonzero((column != np.floor(column)).any(axis=1))
    if not len(broken):
        return ()
    table[:, PROCS] = np.ceil(column)
    return (Note("processors that are no whole number, rounded up", len(broken), f"row {broken[0] + 1}"),)


def _numbered(words: list[str]) -> tuple[list[float], tuple[str, ...]]:
    """Return (numbers, different words): whole numbers stay, without words; others count by appearance, -1: none.

    >>> _numbered(["3", "", "5"]), _numbered(["ann", "bob", "ann"])
    (([3.0, -1.0, 5.0], ()), ([0.0, 1.0, 0.0], ('ann', 'bob')))
    """
    known = dict.fromkeys(words)
    values = {word: number(word) if word else -1.0 for word in known}
    plain = {word: value for word, value in values.items() if value is not None and value.is_integer()}
    if len(plain) == len(known):
        return [plain[word] for word in words], ()
    names = tuple(filter(None, known))
    places = {word: float(place) for place, word in enumerate(names)} | {"": -1.0}
    return [places[word] for word in words], names


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield (number of the first line, text) of each block of whole lines, into which the text is divided."""
    begin, first = 0, 1
    while begin < len(text):
        end = text.find("\n", begin + LETTERS)
        block = text[begin : len(text) if end < 0 else end]
        yield first, block
        begin, first = begin + len(block) + 1, first + block.count("\n") + 1


# Plain CSV.

SYNONYMS: dict[str, tuple[str, ...]] = {
    "job": ("job", "id", "jobid", "jobnumber"),
    "submit": ("submit", "submittime", "submitted", "subtime", "submissiontime", "arrival", "arrivaltime"),
    "procs": (
        "procs", "processors", "nprocs", "requestedprocessors", "requestednumberofprocessors",
        "requestednumberofresources", "width", "cores", "cpus", "ncpus", "cpusreq", "res", "size", "nodes",
    ),
    "runtime": ("runtime", "run", "duration", "executiontime", "elapsed"),
    "estimate": (
        "estimate", "walltime", "requestedtime", "timelimit", "requestedwalltime", "estimatedruntime", "reqtime",
    ),
    "wait": ("wait", "waittime", "waitingtime"),
    "start": ("start", "starttime", "startingtime"),
    "end": ("end", "endtime", "finish", "finishtime"),
    "user": ("user", "userid", "uid"),
    "group": ("group", "groupid", "gid"),
    "queue": ("queue", "queueid", "class"),
    "account": ("account", "accountid"),
    "status": ("status", "success"),
    "workload": ("workloadname",),
}  # fmt: skip


def plain_name(column: str) -> str:
    return re.sub(r"[^a-z0-9]", "", column[:80].lower())


def separator(header: str) -> str:
    return max("\t;,", key=header.count)


def meanings(header: list[str]) -> dict[str, int]:
    """Return the meaning of each column -> its index; of several with one meaning, the first in `SYNONYMS`."""
    columns = [plain_name(column) for column in header]
    found: dict[str, int] = {}
    for meaning, names in SYNONYMS.items():
        for name in names:
            if name in columns:
                found.setdefault(meaning, columns.index(name))
    return found


def is_header(line: str) -> bool:
    columns = meanings(line.split(separator(line)))
    return len(columns.keys() & {"submit", "procs", "runtime", "start", "end", "job"}) >= 2


OF_EVALYS = {"startingtime", "executiontime", "finishtime", "waitingtime", "turnaroundtime", "success"}
"""Columns of jobs.csv as Batsim writes it, from another simulation; its processors are not read"""


def is_of_evalys(line: str) -> bool:
    columns = {plain_name(column) for column in line.split(separator(line))}
    return {"jobid", "submissiontime"} <= columns and len(columns & OF_EVALYS) >= 3


NUMBERS = ("submit", "procs", "runtime", "estimate", "wait", "start", "end", "status")
MOST_LINES, LONGEST = 100, 2**20
"""Largest number of lines of a record, and of characters of a line."""
LARGE = 2**23
"""Largest number of characters of a text in which a quote may remain unclosed; in a longer text this is an error."""
BLOCK = 4096
_BLANK = re.compile(r"[^\S\n]")
_BLANK_LINES = re.compile(r"\s*\n")


def records(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the first line, cells) of each record; no cells if unreadable. Blank ones are left out."""
    at, place, mark, marks = 0, 0, "", 0
    has_blanks = _BLANK.search(text) is not None
    while place <= len(text):
        if text[place : place + 1].isspace() and (blank := _BLANK_LINES.match(text, place)):
            at, place = at + blank[0].count("\n"), blank.end()
            continue
        end = _end(text, place)
        line = text[place:end] if end - place <= LONGEST else '"'
        if not mark and (not line.strip() or line.lstrip()[0] in "#;"):
            taken, place = 1, end + 1
        elif not mark:
            mark = separator(line)
            marks = line.count(mark)
            continue
        elif '"' not in line and len(line) < csv.field_size_limit():
            cells = line.split(mark)
            if has_blanks:
                cells = [cell.strip() for cell in cells]
            if any(cells):
                yield at + 1, cells
            taken, place = 1, end + 1
        else:
            taken, place, cells = _quoted(text, place, mark, marks) if end - place <= LONGEST else (1, end + 1, [])
            yield at + 1, cells
        at += taken


def _end(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end


def _quoted(text: str, place: int, mark: str, marks: int) -> tuple[int, int, list[str]]:
    """Return (lines, position after it, cells) of the record with quotes at `place`; no cells if one stays open."""
    ends: list[int] = []
    reader = csv.reader(_lines_of_record(text, place, mark, marks, ends), delimiter=mark, skipinitialspace=True)
    try:
        cells = [cell.strip() for cell in next(reader)]
    except csv.Error:
        return 1, ends[0], []
    taken = reader.line_num
    return (taken, ends[taken - 1], cells) if taken <= len(ends) else (1, ends[0], [])


def _lines_of_record(text: str, place: int, mark: str, marks: int, ends: list[int]) -> Iterator[str]:
    """Yield the lines that the record at `place` may include, then an empty one; `ends` gets each one's end.

    They end before a line that seems a whole record, with `marks` separators before its first quote: then the open
    quote is a mistake.
    """
    while place <= len(text) and len(ends) < MOST_LINES:
        end = _end(text, place)
        line = text[place : min(end, place + LONGEST)]
        if ends and line.partition('"')[0].count(mark) >= marks:
            break
        place = end + 1
        ends.append(place)
        yield line
    yield ""


def read(text: str, name: str, path: object, format: str = "csv") -> Trace:
    lines = records(text)
    first, header = next(lines, (1, []))
    columns = needed_meanings(header, path, first)
    rows = JobRows("numbers for submit, procs and runtime")
    workloads: list[str] = []
    while block := list(islice(lines, BLOCK)):
        if len(text) > LARGE and (unread := next((line for line, cells in block if not cells), 0)):
            raise TraceError("has a quote that nothing closes, or a line without end; mend it", path, unread)
        _take(block, columns, len(header), rows, workloads)
        if rows.damage.is_hopeless(len(rows)):
            break
    if len(set(workloads)) > 1:  # ids are told apart as Batsim does
        rows.ids = [f"{workload}!{job}" for workload, job in zip(workloads, rows.ids, strict=True)]
    return rows.trace(name, format, path)


def needed_meanings(header: list[str], path: object, line: int | None = None) -> dict[str, int]:
    """Return the meaning of each column -> its index, -1 for a run time from start and end; all are needed."""
    columns = meanings(header)
    if "end" in columns and "start" in columns:
        columns.setdefault("runtime", -1)
    if missing := [repr(needed) for needed in ("submit", "procs", "runtime") if needed not in columns]:
        there, columns_of = shown(", ".join(header)), "a column" if len(missing) == 1 else "columns"
        raise TraceError(f"a table of jobs needs {columns_of} {listed(missing)}; there is {there}", path, line)
    return columns


def _take(
    block: list[tuple[int, list[str]]], columns: Mapping[str, int], width: int, rows: JobRows, workloads: list[str]
) -> None:
    """Add the jobs of a block of records, column by column; `workloads` receives the names in that column."""
    across = list(zip(*(_as_wide(cells, width) for _, cells in block), strict=True))
    cell = {meaning: across[at] for meaning, at in columns.items() if at >= 0}
    table = _values(cell, len(block))
    good: Bools = np.isfinite(table[:, NEEDED]).sum(axis=1) == len(NEEDED)
    good[[at for at, (_, cells) in enumerate(block) if any(cells[width:])]] = False  # none is in its column
    for at in np.flatnonzero(~good).tolist():
        line, cells = block[at]
        rows.damage.add(line, ",".join(cells))
    kept = np.flatnonzero(good).tolist()
    none = ("",) * len(block)
    ids = [_text(cell.get("job", none)[at]) or str(len(rows) + place) for place, at in enumerate(kept, 1)]
    words = {field: cell.get(field.name.lower(), none) for field in WORDS}
    known = {word: _text(word) for column in words.values() for word in set(column)} | {"-1": ""}
    accounts = [_text(cell.get("account", none)[at]) for at in kept]
    rows.add_all(ids, table[good], {f: [known[column[at]] for at in kept] for f, column in words.items()}, accounts)
    if "workload" in cell:
        workloads += [cell["workload"][at] for at in kept]


def _as_wide(cells: list[str], width: int) -> list[str]:
    return cells if len(cells) == width else [*cells[:width], *[""] * (width - len(cells))]


def _text(cell: str) -> str:
    return unmarked(cell) if cell[:1] == "'" else cell


def _values(cell: Mapping[str, Sequence[str]], many: int) -> Floats:
    """Return a row of numbers for each job; nan where submit, procs or runtime is missing."""
    unknown = np.full(many, np.nan)
    known = {meaning: _floats(cell[meaning]) if meaning in cell else unknown for meaning in NUMBERS}
    is_empty = np.array([not text for text in cell["runtime"]]) if "runtime" in cell else np.ones(many, dtype=bool)
    return numbers_of_jobs(known, is_empty)


def numbers_of_jobs(known: Mapping[str, Floats], is_empty: Bools) -> Floats:
    """Return a row of numbers for each job; nan where a number for submit, procs or runtime is missing."""
    submit, run, start, end = (known[meaning] for meaning in ("submit", "runtime", "start", "end"))
    began = start >= 0
    if np.isnan(run).any():
        lasted = np.where(began & ~np.isnan(end), end - start, -1.0)
        run = np.where(is_empty, lasted, run)
    wait = np.where(np.isnan(known["wait"]), np.where(began, start - submit, -1.0), known["wait"])
    table = np.full((len(submit), len(Field)), -1.0)
    table[:, Field.SUBMIT], table[:, Field.RUN], table[:, Field.PROCS_ASKED] = submit, run, known["procs"]
    table[:, Field.WAIT] = np.where(wait >= 0, wait, -1.0)
    table[:, Field.ESTIMATE] = np.where(np.nan_to_num(known["estimate"]) != 0, known["estimate"], -1.0)
    table[:, Field.STATUS] = np.where(np.isnan(known["status"]), -1.0, known["status"])
    return table


def _floats(column: Sequence[str]) -> Floats:
    if isinstance(column, NumberIds):
        return column.numbers.astype(np.float64)
    if "_" not in "".join(column):
        try:
            values = np.fromiter(map(float, column), float, len(column))
            if (np.abs(values) <= LARGEST).all():
                return values
        except ValueError:
            pass
    known = {text: number(_text(text)) for text in set(column)}
    return np.array([np.nan if (value := known[text]) is None else value for text in column])
