"""Tables and charts of runs, in the forms that notebooks, pandas and polars use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from sim.support.errors import SchedscopeError
from sim.support.optional_imports import extra, pandas

PICTURES = "schedscope.pictures"
"""Group of entry points by which the program registers its function to draw charts, which the library lacks"""
MOST_JOBS = 50_000
"""Largest number of jobs of a run for which a notebook shows a chart by default"""
Drawn: TypeAlias = tuple[Any, str]
"""(engine with the run's state and history, title) of a chart"""


class Tabular:
    """Base of tables: columns of equal length by name, which pandas and polars can read."""

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        return pandas().DataFrame(self.columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Return the columns as an Arrow stream with nulls for unknown values; needs pyarrow."""
        arrow = extra("pyarrow", "an Arrow table", "parquet")
        columns = {
            name: arrow.array(column.tolist() if column.dtype == object else column, from_pandas=True)
            for name, column in self.columns.items()
        }
        return arrow.table(columns).__arrow_c_stream__(requested_schema)


class Table(Tabular):
    """Table with columns by name; `rows` says in words what a row stands for."""

    def __init__(self, rows: str, columns: Mapping[str, NDArray[Any]]) -> None:
        self._rows, self._columns = rows, columns

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        return self._columns

    def __len__(self) -> int:
        return len(next(iter(self._columns.values()), ()))

    def __repr__(self) -> str:
        return f"<Table {len(self):,} {self._rows}: {', '.join(self._columns)}>"


def picture_of(runs: Callable[[], Sequence[Drawn]], jobs: int) -> str | None:
    """Return charts of runs with `jobs` jobs, one below the other as SVG, or None."""
    if not 0 < jobs <= MOST_JOBS:
        return None
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        points = distribution("schedscope").entry_points.select(group=PICTURES)
    except PackageNotFoundError:
        return None
    for point in points:
        try:
            drawn: str = point.load()(runs())
        except SchedscopeError:
            return None
        return drawn
    return None
