"""Opening of SQLite files that may come from strangers, so that nothing in them runs and no other file is changed."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlite3 import Connection

LONGEST_VALUE = 1 << 28
"""Largest size in bytes of one value in a database file that may come from a stranger."""
MOST_PARTS = 200
"""Most tables and indices of a foreign file, as dangerous parts could hide among more."""
STEPS, STEPS_PER_BYTE, BETWEEN = 20_000_000, 400, 100_000
"""Limit of a query in steps of SQLite: for any file, for each byte of it; and steps between two checks."""
_BESIDE = ("-journal", "-wal", "-shm")
_NAMES_OTHERS = bytes.fromhex("d9d505f920a163d7")
"""Bytes at the end of an SQLite journal that belongs to a transaction over several files."""
_COMPUTES = re.compile(r"[\[`']|--|/\*|\b(?:AS|CHECK|COLLATE|DEFAULT|GENERATED|REFERENCES|USING)\b", re.IGNORECASE)
"""Words (such as CHECK) with which a table's definition computes, and signs that could hide such words."""


def connected(path: str | Path, options: str = "mode=ro", longest: int = LONGEST_VALUE, **more: Any) -> Connection:
    """Open an SQLite file that may come from a stranger, after following links as SQLite does. `options` are parameters
    of SQLite's URI; `longest` is the largest size of a value in bytes.

    Raise `sqlite3.DatabaseError` if another file next to it would block SQLite, or make it delete or write further
    files.
    """
    import sqlite3

    real = os.path.realpath(path)
    if leads_nowhere(path):
        raise sqlite3.DatabaseError("is a link to a missing or empty file; remove it")
    for end in _BESIDE:
        _check_beside(real + end)
    db: Connection = sqlite3.connect(f"{Path(real).as_uri()}?{options}", uri=True, **more)
    try:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
        db.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, 1_000_000)
        db.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        limit_steps(db, real)
        db.execute("PRAGMA trusted_schema = OFF")
    except BaseException:
        db.close()
        raise
    return db


def leads_nowhere(path: str | Path) -> bool:
    """Return True if the path is a link to a missing or empty file, where SQLite would make a new database."""
    return os.path.islink(path) and (not os.path.exists(path) or os.path.getsize(path) == 0)


def limit_steps(db: Connection, path: str | Path) -> None:
    """Make the next query stop after steps by the file's size: one of a damaged file may never end."""
    size = sum(os.path.getsize(each) for each in (path, f"{path}-wal") if os.path.exists(each))
    left = (STEPS + STEPS_PER_BYTE * size) // BETWEEN

    def is_over() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(is_over, BETWEEN)


def refuse_computing(db: Connection) -> None:
    """Raise `sqlite3.DatabaseError` if a view, trigger, index or column in the file computes something."""
    import sqlite3

    for count, (name, kind, text) in enumerate(db.execute("SELECT name, type, sql FROM sqlite_schema")):
        if count == MOST_PARTS:
            raise sqlite3.DatabaseError(f"expected at most {MOST_PARTS} tables and indices")
        if kind == "index" and text is None:
            continue
        if kind != "table" or not isinstance(text, str) or _COMPUTES.search(re.sub(r'"[^"]*"', '""', text)):
            raise sqlite3.DatabaseError("expected only tables of plain columns")
        quoted = str(name).replace('"', '""')
        if any(hidden for *_, hidden in db.execute(f'PRAGMA table_xinfo("{quoted}")')):
            raise sqlite3.DatabaseError("expected only tables of plain columns")


@contextmanager
def foreign_database(
    path: str | Path, tables: Collection[str], options: str = "mode=ro", longest: int = LONGEST_VALUE
) -> Iterator[Connection]:
    """Open a stranger's SQLite file for reading, as `connected`; `sqlite3.DatabaseError` if a table is missing."""
    import sqlite3

    with closing(connected(path, options, longest)) as db:
        refuse_computing(db)
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 100")}
        if not set(tables) <= there:
            raise sqlite3.DatabaseError(f"expected the tables {', '.join(sorted(tables))}")
        yield db


def _check_beside(path: str) -> None:
    import sqlite3

    try:
        found = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        raise sqlite3.DatabaseError(f"{os.path.basename(path)} is no ordinary file; remove it")
    if path.endswith("-journal"):
        with open(path, "rb") as file:
            file.seek(max(found.st_size - len(_NAMES_OTHERS), 0))
            if file.read() == _NAMES_OTHERS:
                raise sqlite3.DatabaseError(f"{os.path.basename(path)} is a journal that names other files; remove it")
