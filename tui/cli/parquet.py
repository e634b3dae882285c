"""Writing of tables as Parquet or Arrow files, piece by piece, if pyarrow is installed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

import numpy as np

from sim.support.files import write_whole
from sim.support.optional_imports import extra

FORMS = (".parquet", ".arrow")
_PIECE = 100_000
Columns = Mapping[str, Any]
"""Values (array or list) of each column, all equally long; nan and None are missing values."""


def is_table(path: str | None) -> bool:
    return path is not None and path.lower().endswith(FORMS)


class TableWriter:
    """Writer of a table to an open file; the first rows that are written determine the types of the columns."""

    def __init__(self, file: Any, is_parquet: bool) -> None:
        what = "a Parquet file" if is_parquet else "an Arrow file"
        self._arrow = extra("pyarrow", what, "parquet")
        self._module = extra("pyarrow.parquet" if is_parquet else "pyarrow.ipc", what, "parquet")
        self._file, self._is_parquet = file, is_parquet
        self._writer: Any = None
        self._schema: Any = None

    def write(self, columns: Columns) -> None:
        arrays = {name: self._array(name, values) for name, values in columns.items()}
        table = self._arrow.table(arrays)
        if self._writer is None:
            self._schema = table.schema
            make = self._module.ParquetWriter if self._is_parquet else self._module.new_file
            self._writer = make(self._file, self._schema)
        self._writer.write_table(table)

    def close(self) -> None:
        """Close the file; if nothing was written, the table has no columns."""
        if self._writer is None:
            self.write({})
        self._writer.close()

    def _array(self, name: str, values: Any) -> Any:
        kind = None if self._schema is None else self._schema.field(name).type
        if isinstance(values, np.ndarray) and values.dtype != object:
            return self._arrow.array(values, from_pandas=True, type=kind)
        return self._arrow.array(_alike(list(values)), type=kind)


@contextmanager
def table_file(path: str, is_parquet: bool | None = None) -> Iterator[TableWriter]:
    """Open a table that replaces the file at `path` at the end; without `is_parquet` the name tells the format."""
    is_parquet = not path.lower().endswith(".arrow") if is_parquet is None else is_parquet
    with write_whole(path) as file:
        writer = TableWriter(file.buffer, is_parquet)
        yield writer
        writer.close()


def write_parquet(path: str, records: Sequence[dict[str, Any]], is_parquet: bool = True) -> None:
    """Write records as a Parquet or Arrow file; a column with values of different types becomes text."""
    with table_file(path, is_parquet) as writer:
        names = list(records[0]) if records else []
        writer.write({name: [record[name] for record in records] for name in names})


def write_rows_as_table(path: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    rest = iter(rows)
    with table_file(path) as writer:
        piece = list(islice(rest, _PIECE))
        while True:
            writer.write({name: [row[at] for row in piece] for at, name in enumerate(names)})
            if not (piece := list(islice(rest, _PIECE))):
                return


def _alike(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    to = float if kinds <= {int, float, bool} else str
    return [None if value is None else to(value) for value in values]
