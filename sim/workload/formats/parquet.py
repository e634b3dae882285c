"""Reader of jobs in a Parquet file, if pyarrow is installed; columns have the same names as in a CSV table of jobs.

Whole columns are converted, so that ten million jobs take seconds; nothing else in the file is read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sim.errors import TraceError
from sim.optional_imports import extra
from sim.workload.fidelity import Fidelity
from sim.workload.formats.table import (
    LARGEST,
    MOST_JOBS,
    NEEDED,
    NUMBERS,
    WORDS,
    Damage,
    id_numbers,
    needed_meanings,
    numbers_of_jobs,
    repeated,
    whole_processors,
)
from sim.workload.model import Bools, Field, Floats, Header, Trace

MAGIC = b"PAR1"
PIECE = 500_000
"""Number of rows that are converted at once."""


def is_parquet(path: str | Path) -> bool:
    """Return True if the file is a regular file and begins like Parquet."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe is read once
            return False
        with open(path, "rb") as file:
            return file.read(4) == MAGIC
    except (OSError, ValueError):
        return False


def read(path: str | Path, name: str) -> Trace:
    """Return the trace of a file; rows without submit, procs or runtime are left out and counted."""
    arrow, module = (extra(which, "a Parquet file", "parquet") for which in ("pyarrow", "pyarrow.parquet"))
    try:
        file = module.ParquetFile(path)
        header = [str(column) for column in file.schema_arrow.names]
        columns = {meaning: at for meaning, at in needed_meanings(header, path).items() if at >= 0}
        if file.metadata.num_rows > MOST_JOBS:
            raise TraceError(f"has {file.metadata.num_rows:,} rows; at most {MOST_JOBS:,} are read", path)
        jobs = _Jobs(arrow)
        wanted = {meaning: header[at] for meaning, at in columns.items()}
        for batch in file.iter_batches(PIECE, columns=sorted(set(wanted.values()))):
            jobs.take({meaning: batch.column(column) for meaning, column in wanted.items()})
    except (arrow.ArrowException, OSError, UnicodeDecodeError, KeyError) as error:
        raise TraceError(f"is damaged Parquet: {str(error).splitlines()[0][:200]}", path) from None
    return jobs.trace(name, path)


class _Jobs:
    """Collector of the jobs read so far."""

    def __init__(self, arrow: Any) -> None:
        self._arrow = arrow
        self._ids: list[str] = []
        self._tables: list[Floats] = []
        self._known: dict[Field, dict[str, int]] = {field: {} for field in WORDS}
        self._rows = 0
        self._damage = Damage("numbers for submit, procs and runtime", "row")

    def take(self, cells: Mapping[str, Any]) -> None:
        """Add the jobs of one piece of the file, given as columns by meaning."""
        many = len(next(iter(cells.values())))
        unknown = np.full(many, np.nan)
        known = {meaning: self._numbers(cells[meaning]) if meaning in cells else unknown for meaning in NUMBERS}
        is_empty = np.asarray(cells["runtime"].is_null()) if "runtime" in cells else np.ones(many, dtype=np.bool_)
        table = numbers_of_jobs(known, is_empty)
        good: Bools = np.isfinite(table[:, NEEDED]).sum(axis=1) == len(NEEDED)
        for at in np.flatnonzero(~good)[:1].tolist():
            self._damage.add(self._rows + at + 1, table[at, NEEDED].tolist())
        self._damage.count += max(int((~good).sum()) - 1, 0)
        for field in WORDS:
            if (column := cells.get(field.name.lower())) is not None:
                table[:, field] = self._numbered(column, self._known[field])
        if "job" in cells:
            ids = cells["job"].cast(self._arrow.string()).to_pylist()
            self._ids += [
                job or str(self._rows + at)
                for at, (job, is_good) in enumerate(zip(ids, good, strict=True), 1)
                if is_good
            ]
        else:
            self._ids += map(str, (self._rows + 1 + np.flatnonzero(good)).tolist())
        self._tables.append(table[good])
        self._rows += many

    def _numbers(self, column: Any) -> Floats:
        """Return a column as numbers, nan for missing ones."""
        values: Floats = np.asarray(column.cast(self._arrow.float64()).to_numpy(zero_copy_only=False))
        return np.where(np.abs(values) <= LARGEST, values, np.nan)

    def _numbered(self, column: Any, known: dict[str, int]) -> Floats:
        """Return a column of words as numbers: known words have numbers in `known`, new ones the next; -1 for missing
        words.
        """
        coded = column.cast(self._arrow.string()).dictionary_encode()
        words = [known.setdefault(word, len(known)) if word else -1 for word in coded.dictionary.to_pylist()]
        places = coded.indices.fill_null(len(words)).to_numpy(zero_copy_only=False)
        numbers: Floats = np.array([*words, -1], dtype=np.float64)[places]
        return numbers

    def trace(self, name: str, path: object) -> Trace:
        """Return all jobs as a trace."""
        damaged = self._damage.judge(len(self._ids), path)
        end = len(self._ids)
        table = np.empty((end, len(Field)), order="F")
        while self._tables:
            piece = self._tables.pop()
            table[end - len(piece) : end] = piece
            end -= len(piece)
        table[:, Field.ID] = id_numbers(self._ids)
        names = {field: tuple(known) for field, known in self._known.items() if known}
        header = Header(queues=dict(enumerate(names.get(Field.QUEUE, ()))))
        assumed = repeated(self._ids) + whole_processors(table)
        return Trace(name, "parquet", tuple(self._ids), table, header, names, Fidelity(damaged, assumed))
