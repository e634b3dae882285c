"""Opening of SQLite files that may come from strangers: nothing in them runs, and no other file is touched."""

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
"""Largest number of bytes of one value in a database from a foreign file."""
MOST_PARTS = 200
"""Largest number of tables and indices of a foreign file, so that nothing is hidden behind thousands of them."""
STEPS, STEPS_PER_BYTE, BETWEEN = 20_000_000, 400, 100_000
"""Steps of SQLite for one question: a number for any file, and more for each byte of it; steps between two checks."""
_BESIDE = ("-journal", "-wal", "-shm")
_NAMES_OTHERS = bytes.fromhex("d9d505f920a163d7")
"""End of a journal of SQLite that names a journal of several files."""
_COMPUTES = re.compile(r"[\[`']|--|/\*|\b(?:AS|CHECK|COLLATE|DEFAULT|GENERATED|REFERENCES|USING)\b", re.IGNORECASE)
"""Parts of a table's definition that compute something, or may hide such a part."""


def connected(path: str | Path, options: str = "mode=ro", longest: int = LONGEST_VALUE, **more: Any) -> Connection:
    """Open an untrusted SQLite file, whose links are followed first, as SQLite does.

    Raise `sqlite3.DatabaseError` if a file next to it would block SQLite, or lead it to delete or write another file.
    """
    import sqlite3

    real = os.path.realpath(path)
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


def limit_steps(db: Connection, path: str | Path) -> None:
    """Interrupt the next question after a number of steps that fits the file: damaged pages can be read for ever."""
    size = sum(os.path.getsize(each) for each in (path, f"{path}-wal") if os.path.exists(each))
    left = (STEPS + STEPS_PER_BYTE * size) // BETWEEN

    def is_over() -> bool:
        nonlocal left
        left -= 1
        return left < 0

    db.set_progress_handler(is_over, BETWEEN)


def refuse_computing(db: Connection) -> None:
    """Raise `sqlite3.DatabaseError` if a view, trigger, index or column of the file computes something."""
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
    """Open an untrusted SQLite file for reading. Raise `sqlite3.DatabaseError` unless it holds these tables."""
    import sqlite3

    with closing(connected(path, options, longest)) as db:
        refuse_computing(db)
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' LIMIT 100")}
        if not set(tables) <= there:
            raise sqlite3.DatabaseError(f"expected the tables {', '.join(sorted(tables))}")
        yield db


def _check_beside(path: str) -> None:
    """Raise an error if a file next to the database is unusual, or if its journal would make SQLite delete other
    files.
    """
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
