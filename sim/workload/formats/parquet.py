"""Reader of jobs in a Parquet file, if pyarrow is installed; columns have the same names as in a CSV table of jobs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.support.errors import TraceError
from sim.support.files import TIMES, most_unpacked
from sim.support.optional_imports import extra
from sim.workload.columns import halved, in_one, joined
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


def is_parquet(path: str | Path) -> bool:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe is read once
            return False
        with open(path, "rb") as file:
            return file.read(4) == MAGIC
    except (OSError, ValueError):
        return False


def read(path: str | Path, name: str, heard: Callable[[float], object] | None = None) -> Trace:
    """Return the trace of a file; rows without a number for submit, procs or runtime are left out and counted."""
    arrow, module = (extra(which, "a Parquet file", "parquet") for which in ("pyarrow", "pyarrow.parquet"))
    try:
        schema = module.read_schema(path)
        words = [field.name for field in schema if _is_words(arrow, field.type)]
        file = module.ParquetFile(path, read_dictionary=words)
        header = [str(column) for column in schema.names]
        wanted = {meaning: header[at] for meaning, at in needed_meanings(header, path).items() if at >= 0}
        jobs = _Jobs(arrow, path)
        jobs.check(_extent(file.metadata, set(wanted.values()), path))
        for batch in file.iter_batches(PIECE, columns=sorted(set(wanted.values()))):
            jobs.take({meaning: batch.column(column) for meaning, column in wanted.items()})
            if heard is not None:
                heard(jobs.rows / file.metadata.num_rows)
    except (arrow.ArrowException, OSError, UnicodeDecodeError, KeyError) as error:
        raise TraceError(f"is damaged Parquet: {str(error).splitlines()[0][:200]}", path) from None
    return jobs.trace(name)


def _is_words(arrow: Any, kind: Any) -> bool:
    return any(
        getattr(arrow.types, f"is_{name}")(kind) for name in ("string", "large_string", "binary", "large_binary")
    )


def _extent(metadata: Any, columns: Collection[str], path: str | Path) -> int:
    """Return the number of bytes that the columns take in memory, estimated from the file's metadata."""
    if metadata.num_rows > MOST_JOBS:
        raise TraceError(f"has {metadata.num_rows:,} rows; at most {MOST_JOBS:,} are read", path)
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    parts = [group.column(at) for group in groups for at in range(group.num_columns)]
    unpacked: int = sum(part.total_uncompressed_size for part in parts if part.path_in_schema in columns)
    return max(unpacked, 8 * int(metadata.num_rows) * len(columns))


class _Jobs:
    """Collector of the jobs of a Parquet file, piece by piece."""

    def __init__(self, arrow: Any, path: str | Path) -> None:
        self._arrow, self._path, self._letters = arrow, path, 0
        self._most = most_unpacked(os.path.getsize(path))
        self._ids: list[list[str] | NDArray[Any]] = []
        self._tables: list[NDArray[Any]] = []
        self._jobs = 0
        self._known: dict[Field, dict[str, int]] = {field: {} for field in WORDS}
        self.rows = 0
        """Number of rows taken so far, good or damaged"""
        self._damage = Damage("numbers for submit, procs and runtime", "row")

    def check(self, unpacked: int) -> None:
        if unpacked > self._most:
            raise TraceError(f"is no trace: it takes more than {TIMES} times its size in memory", self._path)

    def take(self, cells: Mapping[str, Any]) -> None:
        """Add the jobs of a piece; `cells` maps the meaning of a column, such as submit, to the column."""
        many = len(next(iter(cells.values())))
        unknown = np.full(many, np.nan)
        known = {meaning: self._numbers(cells[meaning]) if meaning in cells else unknown for meaning in NUMBERS}
        is_empty = np.asarray(cells["runtime"].is_null()) if "runtime" in cells else np.ones(many, dtype=np.bool_)
        table = numbers_of_jobs(known, is_empty)
        good: Bools = np.isfinite(table[:, NEEDED]).sum(axis=1) == len(NEEDED)
        for at in np.flatnonzero(~good)[:1].tolist():
            self._damage.add(self.rows + at + 1, table[at, NEEDED].tolist())
        self._damage.count += max(int((~good).sum()) - 1, 0)
        for field in WORDS:
            if (column := cells.get(field.name.lower())) is not None:
                table[:, field] = self._numbered(column, self._known[field])
        self._ids.append(self._ids_of(cells["job"], good) if "job" in cells else self.rows + 1 + np.flatnonzero(good))
        self._tables.append(halved(table[good]))
        self.rows += many
        self._jobs += int(good.sum())

    def _ids_of(self, column: Any, good: Bools) -> list[str] | NDArray[Any]:
        """Return the ids of `good` rows, as numbers if all are whole and above 0; the row's number if missing."""
        if self._arrow.types.is_integer(column.type) and not column.null_count:
            numbers: NDArray[Any] = column.to_numpy(zero_copy_only=False)[good]
            if not len(numbers) or (numbers.min() > 0 and numbers.max() <= LARGEST):
                return numbers
        words, places = self._distinct_words(column)
        self._letters += int(np.array([len(word or "") for word in words])[places].sum())
        self.check(self._letters)
        ids = enumerate(zip((words[place] for place in places.tolist()), good, strict=True), self.rows + 1)
        return [job or str(at) for at, (job, is_good) in ids if is_good]

    def _numbers(self, column: Any) -> Floats:
        values: Floats = np.asarray(column.cast(self._arrow.float64()).to_numpy(zero_copy_only=False))
        return np.where(np.abs(values) <= LARGEST, values, np.nan)

    def _numbered(self, column: Any, known: dict[str, int]) -> Floats:
        """Return the words of a column as numbers, -1 for a missing one; new words are added to `known`."""
        words, places = self._distinct_words(column)
        of_words = np.full(len(words), -1.0)
        for place in self._arrow.array(places).unique().to_pylist():
            if word := words[place]:
                of_words[place] = known.setdefault(word, len(known))
        numbers: Floats = of_words[places]
        return numbers

    def _distinct_words(self, column: Any) -> tuple[list[str | None], NDArray[np.int64]]:
        coded = column.dictionary_encode()
        words = [*coded.dictionary.cast(self._arrow.string()).to_pylist(), None]
        return words, coded.indices.fill_null(len(words) - 1).to_numpy(zero_copy_only=False)

    def trace(self, name: str) -> Trace:
        damaged = self._damage.judge(self._jobs, self._path)
        table, ids = in_one(self._tables or [np.empty((0, len(Field)))]), joined(self._ids)
        table[:, Field.ID] = id_numbers(ids)
        names = {field: tuple(known) for field, known in self._known.items() if known}
        header = Header(queues=dict(enumerate(names.get(Field.QUEUE, ()))))
        assumed = repeated(ids) + whole_processors(table)
        return Trace(name, "parquet", ids, table, header, names, Fidelity(damaged, assumed))
