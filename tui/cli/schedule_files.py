"""Files about a schedule as CSV, Parquet or Arrow: jobs, stretches (a job on its processors), decisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.engine import Engine
from sim.history.decision_table import DECISIONS, decision_rows
from sim.machine.processors import written
from sim.metrics.fairness import Fairness
from sim.support.files import write_rows, write_whole
from tui.cli.parquet import is_table, table_file, write_rows_as_table


def write_csv(path: str, rows: Iterable[Sequence[object]]) -> None:
    with write_whole(path) as file:
        write_rows(file, rows)


def write_schedule(path: str, engine: Engine, fairness: Fairness | None = None) -> None:
    if not is_table(path):
        write_csv(path, schedule_rows(engine, fairness))
        return
    with table_file(path) as writer:
        writer.write({name: _typed(column) for name, column in _columns(engine, fairness).items()})


def write_segments(path: str, engine: Engine) -> None:
    if not is_table(path):
        write_csv(path, segment_rows(engine))
        return
    ids = engine.workload.ids
    rows = ((ids[s.rank], s.start, s.end, s.kind, written(s.processors)) for s in engine.history.segments())
    write_rows_as_table(path, SEGMENTS, rows)


def write_decisions(path: str, engine: Engine) -> None:
    rows = decision_rows(engine.history)
    if is_table(path):
        write_rows_as_table(path, DECISIONS, rows)
        return
    texts = ((step, exactly(time), kind, job, told) for step, time, kind, job, told in rows)
    write_csv(path, _with_head(DECISIONS, texts))


SEGMENTS = ("job", "start", "end", "kind", "processors")


def _with_head(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[Sequence[object]]:
    yield head
    yield from rows


def _columns(engine: Engine, fairness: Fairness | None) -> dict[str, NDArray[Any]]:
    return engine.schedule().columns | (fairness.columns if fairness is not None else {})


def schedule_rows(engine: Engine, fairness: Fairness | None = None) -> Iterator[Sequence[object]]:
    columns = _columns(engine, fairness)
    yield tuple(columns)
    yield from zip(*(_cells(column) for column in columns.values()), strict=True)


def _cells(column: NDArray[Any]) -> Iterable[str]:
    values: list[Any] = column.tolist()
    return values if column.dtype == object else map(exactly, values)


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    if column.dtype == object or column.dtype.kind != "f":
        return column
    return np.where(np.isfinite(column), column, np.nan)


def segment_rows(engine: Engine) -> Iterator[Sequence[object]]:
    yield SEGMENTS
    ids = engine.workload.ids
    for stretch in engine.history.segments():
        end = "" if stretch.end is None else exactly(stretch.end)
        yield ids[stretch.rank], exactly(stretch.start), end, stretch.kind, written(stretch.processors)


def exactly(value: float) -> str:
    """Return a number as text that reads back as the same number; "" for nan."""
    if isnan(value):
        return ""
    return str(int(value)) if isfinite(value) and float(value).is_integer() else repr(float(value))
