"""Jobs as rows: what the readers build a trace with, and plain CSV whose first line names its columns.

`number` says what counts as a number in any file; `Rows` collects jobs and what had to be done to them. The
rule of what is beyond use is here as well: a file is refused when more of its lines are damaged than good.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from sys import intern

import numpy as np

from sim.errors import TraceError
from sim.files import unmarked
from sim.workload.model import Fidelity, Field, Floats, Header, Note, Trace

LARGEST = 2.0**53  # above it a double cannot tell neighbouring seconds apart
WORDS = (Field.USER, Field.GROUP, Field.QUEUE)
PROCS = (Field.PROCS_USED, Field.PROCS_ASKED)


def number(value: object) -> float | None:
    """The number that a text or a JSON value is, None where it is none that can be reckoned with.

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
    """A piece of a file as an error line can show it: short, quoted, on one line."""
    plain = str(text).strip()
    return repr(plain if len(plain) <= 60 else plain[:57] + "...")


class Notes:
    """Counts what happened by its wording, and remembers where it first did."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, what: str, where: str) -> None:
        count, first = self._found.get(what, (0, where))
        self._found[what] = (count + 1, first)

    def all(self) -> tuple[Note, ...]:
        return tuple(Note(what, count, first) for what, (count, first) in self._found.items())


@dataclass
class Damage:
    """The damaged lines (or other units) of one file, and whether there are too many of them."""

    expected: str
    unit: str = "line"
    count: int = 0
    line: int = 0
    got: str = ""

    def add(self, line: int, got: object) -> None:
        if not self.count:
            self.line, self.got = line, shown(got)
        self.count += 1

    def judge(self, good: int, path: object) -> tuple[Note, ...]:
        """What to say of them; a file with more damaged lines than good ones is refused."""
        if self.count > good:
            share = f"{self.count} of {self.count + good} {self.unit}s are damaged: " if good else ""
            line = self.line if self.unit == "line" else None
            raise TraceError(f"{share}expected {self.expected}, got {self.got}", path, line)
        return (Note(f"damaged {self.unit}s", self.count, f"{self.unit} {self.line}"),) if self.count else ()


class Rows:
    """Collects the jobs of a file one by one, with words where the file has words, and ends as a `Trace`."""

    def __init__(self, expected: str, unit: str = "line") -> None:
        self.ids: list[str] = []
        self.skipped, self.assumed, self.damage = Notes(), Notes(), Damage(expected, unit)
        self._values: list[list[float]] = []
        self._words: dict[Field, list[str]] = {field: [] for field in WORDS}
        self._accounts: list[str] = []

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, job_id: str, values: Mapping[Field, float], words: Mapping[Field, str], account: str = "") -> None:
        """One job: its numbers, and its user, group, queue and account as the file writes them."""
        self.ids.append(job_id)
        self._values.append([values.get(field, -1.0) for field in Field])
        for field, column in self._words.items():
            column.append(words.get(field, ""))
        self._accounts.append(intern(account))

    def trace(self, name: str, format: str, path: object, header: Header | None = None) -> Trace:
        """All that was collected, as a trace."""
        damaged = self.damage.judge(len(self), path)
        table = np.array(self._values, dtype=np.float64).reshape(-1, len(Field))
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


def repeated(ids: list[str]) -> tuple[Note, ...]:
    """What to say of ids that several jobs have."""
    if len(set(ids)) == len(ids):
        return ()
    again = next(job_id for job_id, count in Counter(ids).items() if count > 1)
    count = len(ids) - len(set(ids))
    return (Note("ids that come again (such as requeued jobs), kept as jobs of their own", count, f"job {again}"),)


def id_numbers(ids: list[str] | tuple[str, ...]) -> list[float]:
    """Numbers for the first field: the ids where all of them are whole numbers, else 1, 2, 3...

    >>> id_numbers(["7", "9"]), id_numbers(["7_1", "9"])
    ([7.0, 9.0], [1.0, 2.0])
    """
    values = [number(job_id) for job_id in ids]
    if any(value is None or not value.is_integer() for value in values):
        return [float(i) for i in range(1, len(ids) + 1)]
    return [value for value in values if value is not None]


def whole_processors(table: Floats) -> tuple[Note, ...]:
    """Rounds processors up to whole ones, in place, and says where."""
    column = table[:, PROCS]
    broken = np.flatnonzero((column != np.floor(column)).any(axis=1))
    if not len(broken):
        return ()
    table[:, PROCS] = np.ceil(column)
    return (Note("processors that are no whole number, rounded up", len(broken), f"row {broken[0] + 1}"),)


def _numbered(words: list[str]) -> tuple[list[float], tuple[str, ...]]:
    """A column of names as numbers: as they are where all are whole numbers, else in order of appearance.

    >>> _numbered(["3", "", "5"]), _numbered(["ann", "bob", "ann"])
    (([3.0, -1.0, 5.0], ()), ([0.0, 1.0, 0.0], ('ann', 'bob')))
    """
    values = [-1.0 if not word else number(word) for word in words]
    plain = [value for value in values if value is not None and value.is_integer()]
    if len(plain) == len(words):
        return plain, ()
    known: dict[str, int] = {}
    for word in words:
        if word:
            known.setdefault(word, len(known))
    return [float(known.get(word, -1)) for word in words], tuple(known)


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
    """A column's name without what people vary: case, blanks, underscores, quotes."""
    return re.sub(r"[^a-z0-9]", "", column[:80].lower())


def separator(header: str) -> str:
    """What parts the columns of a header line: the commonest of tab, semicolon and comma."""
    return max("\t;,", key=header.count)


def meanings(header: list[str]) -> dict[str, int]:
    """Which column says what; of synonyms the one that comes first in `SYNONYMS`."""
    columns = [plain_name(column) for column in header]
    found: dict[str, int] = {}
    for meaning, names in SYNONYMS.items():
        for name in names:
            if name in columns:
                found.setdefault(meaning, columns.index(name))
    return found


def is_header(line: str) -> bool:
    """Whether a line names at least two of the columns that a table of jobs needs."""
    columns = meanings(line.split(separator(line)))
    return len(columns.keys() & {"submit", "procs", "runtime", "start", "end", "job"}) >= 2


MOST_LINES = 100  # of one record


def records(text: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text that are not blank, each with its first line; an unreadable one is empty."""
    lines = text.split("\n")
    at = next((i for i, line in enumerate(lines) if line.strip() and line.lstrip()[0] not in "#;"), 0)
    mark = separator(lines[at])
    marks = lines[at].count(mark)
    while at < len(lines):
        taken, cells = _record(lines[at : at + MOST_LINES] if '"' in lines[at] else lines[at : at + 1], mark, marks)
        if any(cells) or not taken:
            yield at + 1, cells
        at += taken or 1


def _record(lines: list[str], mark: str, marks: int) -> tuple[int, list[str]]:
    """The cells of the record at the beginning and how many lines it takes: none if a quote in it never closes.

    A quote does not reach over a line that has all columns before any quote of its own: then it strayed into its line.
    """
    if '"' not in lines[0] and len(lines[0]) < csv.field_size_limit():
        return 1, [cell.strip() for cell in lines[0].split(mark)]
    own = next((i for i, line in enumerate(lines) if i and line.partition('"')[0].count(mark) >= marks), len(lines))
    reader = csv.reader([*lines[:own], ""], delimiter=mark, skipinitialspace=True)
    try:
        cells = [cell.strip() for cell in next(reader)]
    except csv.Error:
        return 0, []
    return (reader.line_num, cells) if reader.line_num <= own else (0, [])


def read(text: str, name: str, path: object, format: str = "csv") -> Trace:
    """A table of jobs whose first line names the columns."""
    lines = records(text)
    first, header = next(lines, (1, []))
    columns = meanings(header)
    if "end" in columns and "start" in columns:
        columns.setdefault("runtime", -1)
    for needed in ("submit", "procs", "runtime"):
        if needed not in columns:
            there = shown(", ".join(header))
            raise TraceError(f"a table of jobs needs a column {needed!r}; there is {there}", path, first)
    rows = Rows("numbers for submit, procs and runtime")
    workloads: list[str] = []
    for line, cells in lines:
        cell = {meaning: unmarked(cells[i]) for meaning, i in columns.items() if 0 <= i < len(cells)}
        values = None if any(cells[len(header) :]) else _values(cell)  # with too many cells none is in its column
        if values is None:
            rows.damage.add(line, ",".join(cells))
            continue
        words = {field: cell.get(field.name.lower(), "") for field in WORDS}
        words = {field: "" if word == "-1" else word for field, word in words.items()}
        rows.add(cell.get("job") or str(len(rows) + 1), values, words, cell.get("account", ""))
        workloads.append(cell.get("workload", ""))
    if len(set(workloads)) > 1:  # ids are told apart as Batsim does
        rows.ids = [f"{workload}!{job}" for workload, job in zip(workloads, rows.ids, strict=True)]
    return rows.trace(name, format, path)


def _values(cell: Mapping[str, str]) -> dict[Field, float] | None:
    """The numbers of one job; None where one that is needed is no number. An empty run time: it never ran."""
    known = {meaning: number(text) for meaning, text in cell.items()}
    submit, procs, run = known.get("submit"), known.get("procs"), known.get("runtime")
    start, end, wait = known.get("start"), known.get("end"), known.get("wait")
    started = start is not None and start >= 0
    if run is None and not cell.get("runtime"):
        run = end - start if started and end is not None and start is not None else -1.0
    if submit is None or procs is None or run is None:
        return None
    if wait is None:
        wait = start - submit if started and start is not None else -1.0
    return {
        Field.SUBMIT: submit,
        Field.WAIT: wait if wait >= 0 else -1.0,
        Field.RUN: run,
        Field.PROCS_ASKED: procs,
        Field.ESTIMATE: known.get("estimate") or -1.0,
        Field.STATUS: -1.0 if (status := known.get("status")) is None else status,
    }
