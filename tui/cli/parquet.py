"""Records as a Parquet file, where pyarrow is installed."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from sim.extras import extra
from sim.files import write_whole


def write_parquet(path: str, records: Sequence[dict[str, Any]]) -> None:
    """The file, whole or not at all; values of several kinds in one column become words."""
    arrow, parquet = (extra(module, "a Parquet file", "parquet") for module in ("pyarrow", "pyarrow.parquet"))
    names = list(records[0]) if records else []
    table = arrow.table({name: arrow.array(_alike([record[name] for record in records])) for name in names})
    data = io.BytesIO()
    parquet.write_table(table, data)
    with write_whole(path) as file:
        file.buffer.write(data.getvalue())


def _alike(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2:
        return values
    to = float if kinds <= {int, float, bool} else str
    return [None if value is None else to(value) for value in values]
