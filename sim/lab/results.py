"""The file of results: one SQLite file with a row for each run, written by one process in whole transactions.

runs(key, trace, sha256, policy, parameters, code, cut, version, the options of the workload..., asked, cpu, error,
     overload, batches)
metrics(key, every metric...)
groups(key, grouping, label, place, the metrics of jobs...)
jobs(key, name, part, data): compressed columns of jobs; only in a file whose sweep kept them
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from time import sleep
from types import NoneType
from typing import Any, NamedTuple

from sim.lab.kept import Kept, unpacked
from sim.lab.plan import VARIED, version
from sim.lab.work import Outcome
from sim.metrics.catalogue import MEASURED, METRICS
from sim.support.databases import connected, leads_nowhere, limit_steps, refuse_computing
from sim.support.errors import NotThereError, SchedscopeError
from sim.support.files import most_unpacked
from sim.support.formatting import quoted, shortened

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

APPLICATION = 0x5C4ED5C0
"""Number stored at the beginning of an SQLite file (its application id) that marks it as a results file."""
LONGEST = 10**7
"""Largest size in bytes of one value that is read, because a results file may come from a stranger."""
FACTORS = ("trace", "policy", *VARIED, "cut", "version")
"""Names of columns of runs that can be used in conditions and as rows and columns of tables."""
_ABOUT = ("sha256", "parameters", "code", "asked", "cpu", "error", "overload", "batches", "log")
_TABLES = {
    "runs": ("key", *FACTORS, *_ABOUT),
    "metrics": ("key", *(entry.name for entry in MEASURED)),
    "groups": ("key", "grouping", "label", "place", *(entry.name for entry in METRICS)),
}
_WORDS = {"key", "trace", "policy", "cut", "version", "grouping", "label", *_ABOUT} - {"cpu"}
_WORDS |= {name for name, option in VARIED.items() if option.kind is str}
"""Columns of words; other options of the workload are words or numbers, all else is numbers."""
_JOBS = "jobs"
_OF_JOBS = ("key", "name", "part", "data")
_KEYS = {"runs": "key", "metrics": "key", "groups": "key, grouping, place"}


class ResultsError(SchedscopeError):
    """Error for a results file that cannot be read or written."""


class StoredRun(NamedTuple):
    asked: frozenset[str]
    """Names of the groupings that were measured, and "jobs" if the jobs were stored."""
    failed: bool


class Results(AbstractContextManager["Results"]):
    """Open results file, to be used as a context manager."""

    def __init__(self, path: str | Path, write: bool = False) -> None:
        self.path = Path(path)
        self.keeps_jobs = False
        self._unpacked: dict[str, int] = {}
        """For each run (by key) whose jobs have been read: size in bytes that these jobs take in memory"""
        self._lock = _locked(self.path) if write else None
        try:
            with self._in_one_line():
                self._db = self._opened(write)
        except BaseException:
            self._unlock()
            raise

    def __exit__(self, *_: object) -> None:
        self._db.close()
        self._unlock()  # after: closing any file of ours gives SQLite's own locks up

    def known(self) -> dict[str, StoredRun]:
        """Return the runs that the file has, as a mapping from key to run."""
        with self._limited_query():
            rows = self._db.execute("SELECT key, asked, error FROM runs")
            checked = self._of_their_kinds(rows, ("key", "asked", "error"))
            return {key: StoredRun(frozenset((asked or "").split()), bool(error)) for key, asked, error in checked}

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Store the outcomes of runs in one transaction; an outcome replaces an earlier outcome of the same run."""
        made, kept = {}, []
        for outcome in outcomes:
            made[outcome.run.key] = _rows_of(outcome)
            for name, parts in (outcome.measured.jobs if outcome.measured else {}).items():
                kept += [(outcome.run.key, name, part, data) for part, data in enumerate(parts)]
        keys = [(key,) for key in made]
        with self._limited_query(), self._db:
            for table, columns in _TABLES.items():
                self._db.executemany(f"DELETE FROM {table} WHERE key = ?", keys)
                names, marks = ", ".join(map(_quoted_column, columns)), ", ".join("?" * len(columns))
                rows = (tuple(map(row.get, columns)) for of in made.values() for row in of[table])
                self._db.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", rows)
            self._keep(keys, kept)

    def _keep(self, keys: list[tuple[str]], kept: list[tuple[str, str, int, bytes]]) -> None:
        if kept and not self.keeps_jobs:
            self._db.execute(f"CREATE TABLE {_JOBS} ({', '.join(_OF_JOBS)}, PRIMARY KEY (key, name, part))")
            self.keeps_jobs = True
        if self.keeps_jobs:
            self._db.executemany(f"DELETE FROM {_JOBS} WHERE key = ?", keys)
            self._db.executemany(f"INSERT INTO {_JOBS} VALUES (?, ?, ?, ?)", kept)

    def jobs_of(self, key: str) -> Kept:
        """Return the finished jobs of a run; they are there only if its sweep had the option `--keep jobs`."""
        pieces: dict[str, list[bytes]] = {}
        with self._limited_query():
            question = f"SELECT name, data FROM {_JOBS} WHERE key = ? ORDER BY name, part"
            found = self._db.execute(question, (key,)) if self.keeps_jobs else ()
            for name, data in found:
                if not isinstance(name, str) or not isinstance(data, bytes):
                    raise ResultsError(f"{self.path}: is damaged: a column of jobs is none")
                pieces.setdefault(name, []).append(data)
        if not pieces:
            raise NotThereError(f"{self.path} has no jobs of its runs; sweep again with --keep jobs")
        others = sum(size for other, size in self._unpacked.items() if other != key)
        if (kept := unpacked(pieces, most_unpacked(os.path.getsize(self.path)) - others)) is None:
            raise ResultsError(f"{self.path}: is damaged: the jobs of a run cannot be read")
        self._unpacked[key] = kept.size
        return kept

    def rows(self, columns: Sequence[str], groups: str = "", also: Sequence[str] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield these columns of every run by key or, with the grouping `groups`, of every group of each run.

        `also` are metrics of the run or the group. A column that an older file lacks has None.
        """
        table, of = ("groups", "g") if groups else ("metrics", "m")
        chosen = [self._column("r", "runs", name) for name in columns]
        chosen += [self._column(of, table, name) for name in also]
        join = "JOIN groups g ON g.key = r.key AND g.grouping = ?" if groups else "LEFT JOIN metrics m ON m.key = r.key"
        order = "r.key, g.place" if groups else "r.key"
        asked = f"SELECT {', '.join(chosen)} FROM runs r {join} ORDER BY {order}"
        with self._limited_query():
            found = self._db.execute(asked, (groups,) if groups else ())
            yield from self._of_their_kinds(found, (*columns, *also))

    def policies(self) -> list[tuple[str, str]]:
        """Return a pair for each policy of the runs: its spec without defaults, and its spec with all parameters."""
        with self._limited_query():
            columns = ("policy", "parameters")
            chosen = ", ".join(self._column("r", "runs", name) for name in columns)
            return list(self._of_their_kinds(self._db.execute(f"SELECT DISTINCT {chosen} FROM runs r"), columns))

    def groupings(self) -> list[str]:
        with self._limited_query():
            found = self._db.execute("SELECT DISTINCT grouping FROM groups ORDER BY grouping")
            return [name for (name,) in self._of_their_kinds(found, ("grouping",))]

    def _of_their_kinds(self, rows: Iterable[tuple[Any, ...]], names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows; raise an error if a value has a type that its column (from `names`) does not allow."""
        kinds = [_kind_of(name) for name in names]
        for row in rows:
            if not all(map(isinstance, row, kinds)):
                name = next(
                    name for name, value, kind in zip(names, row, kinds, strict=True) if not isinstance(value, kind)
                )
                raise ResultsError(f"{self.path}: is damaged: a {name} in it is {quoted(str(row[names.index(name)]))}")
            yield row

    # Opening

    def _opened(self, write: bool) -> sqlite3.Connection:
        if os.path.isdir(self.path):
            raise ResultsError(f"{self.path}: is a directory; give the path of a file of results in it")
        if not write and not os.path.isfile(self.path):
            raise ResultsError(f"{self.path}: no such file of results; schedscope sweep ... -o {self.path} makes one")
        db = connected(self.path, f"mode={'rwc' if write else 'ro'}", LONGEST, timeout=30.0)
        try:
            refuse_computing(db)
            if write and not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
                _create(db)
            self._columns = self._checked(db)
            if write:
                self._widen(db)
        except BaseException:
            db.close()
            raise
        return db

    def _checked(self, db: sqlite3.Connection) -> dict[str, list[str]]:
        """Return table -> names of columns; raise an error if these are not those of a results file."""
        (application,) = db.execute("PRAGMA application_id").fetchone()
        kinds = dict(db.execute("SELECT name, type FROM sqlite_schema WHERE type <> 'index'"))
        self.keeps_jobs = kinds.pop(_JOBS, "") == "table"
        if application != APPLICATION or kinds != dict.fromkeys(_TABLES, "table"):
            raise ResultsError(f"{self.path}: is no file of results of schedscope sweep")
        return {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in _TABLES}

    def _widen(self, db: sqlite3.Connection) -> None:
        """Add to the file's tables those columns that this version of the program has and an older file lacks."""
        with db:
            for table, columns in _TABLES.items():
                for name in columns:
                    if name not in self._columns[table]:
                        db.execute(f"ALTER TABLE {table} ADD COLUMN {_quoted_column(name)}")
                        self._columns[table].append(name)

    def _column(self, of: str, table: str, name: str) -> str:
        if name not in _TABLES[table] and name not in self._columns[table]:
            raise NotThereError(f"{self.path} has no {quoted(name)}")
        return f"{of}.{_quoted_column(name)}" if name in self._columns[table] else "NULL"

    @contextmanager
    def _limited_query(self) -> Iterator[None]:
        """Interrupt a query that takes too many steps; errors of SQLite become a `ResultsError` of one line."""
        with self._in_one_line():
            limit_steps(self._db, self.path)
            yield

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        """Replace errors of SQLite in this context by a `ResultsError` of one line."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            what = "is no file of results" if "not a database" in str(error) else shortened(str(error), 200)
            raise ResultsError(f"{self.path}: {what}") from None
        except UnicodeDecodeError:
            raise ResultsError(f"{self.path}: is damaged: a name in it is no text") from None

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _kind_of(column: str) -> tuple[type, ...]:
    if column in _WORDS:
        return str, NoneType
    return (str, int, float, NoneType) if column in VARIED else (int, float, NoneType)


def _quoted_column(column: str) -> str:
    return f'"{column}"'


def _create(db: sqlite3.Connection) -> None:
    db.execute("BEGIN")
    db.execute(f"PRAGMA application_id = {APPLICATION}")
    for table, columns in _TABLES.items():
        defined = ", ".join(map(_quoted_column, columns))
        db.execute(f"CREATE TABLE {table} ({defined}, PRIMARY KEY ({_KEYS[table]}))")
    db.execute("COMMIT")


def _locked(path: Path) -> int | None:
    """Lock the file, as far as the system can, until the descriptor is closed; raise an error if it is locked."""
    if leads_nowhere(path):
        raise ResultsError(f"{path}: is a link to a missing or empty file; remove it")
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}") from None
    for _ in range(20 if fcntl else 0):  # the workers of one that was killed go within moments
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return handle
        sleep(0.1)
    if fcntl is None:
        return handle
    os.close(handle)
    raise ResultsError(f"{path}: another sweep or table writes it: name another file with -o")


def _rows_of(outcome: Outcome) -> dict[str, list[Mapping[str, Any]]]:
    run, found, key = outcome.run, outcome.measured, {"key": outcome.run.key}
    about = {
        **key,
        **run._asdict(),
        **dict(run.options),
        "version": version(),
        "asked": " ".join(sorted(outcome.groups)),
        "cpu": outcome.cpu,
        "error": outcome.error,
        "overload": found.overload if found else "",
        "batches": found.batches if found else "",
        "log": found.log if found else "",
    }
    del about["options"]
    groups: list[Mapping[str, Any]] = [
        {**key, "grouping": name, "label": row.label, "place": place, **row.values}
        for name, rows in (found.groups if found else {}).items()
        for place, row in enumerate(rows)
    ]
    return {"runs": [about], "metrics": [{**key, **found.values}] if found else [], "groups": groups}
