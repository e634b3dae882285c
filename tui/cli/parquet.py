"""Records as a Parquet file, where pyarrow is installed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from sim.errors import SchedscopeError


def write_parquet(path: str, records: Sequence[dict[str, Any]]) -> None:
    """The file, whole or not at all; values of several kinds in one column become words."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise SchedscopeError("a Parquet file needs pyarrow: pip install 'schedscope[parquet]'") from None
    names = list(records[0]) if records else []
    table = arrow.table({name: arrow.array(_alike([record[name] for record in records])) for name in names})
    draft = f"{path}.part"
    try:
        parquet.write_table(table, draft)
        os.replace(draft, path)
    except OSError as error:
        raise SchedscopeError(f"cannot write {path}: {error.strerror or error}") from None


def _alike(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    to = float if kinds <= {int, float, bool} else str
    return [None if value is None else to(value) for value in values]
