"""Tables and pictures of runs, as notebooks show them and as pandas and polars read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from numpy.typing import NDArray

from sim.errors import SchedscopeError
from sim.optional_imports import extra, pandas

PICTURES = "schedscope.pictures"
"""Group of the entry point that draws: the library has no drawing code, and asks the program for it"""
MOST_JOBS = 50_000
"""Largest number of jobs for which a notebook shows a chart without being asked"""
Drawn: TypeAlias = tuple[Any, str]
"""Engine of a run, and the run's title"""


class Tabular:
    """Columns of equal length by name, which pandas and polars read."""

    @property
    def columns(self) -> Mapping[str, NDArray[Any]]:
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the columns as a data frame of pandas, where that is installed."""
        return pandas().DataFrame(self.columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Return the columns as a stream of Arrow; unknown values are null.

        `polars.DataFrame(it)` and `pandas.DataFrame.from_arrow(it)` read it; making it needs pyarrow.
        """
        arrow = extra("pyarrow", "an Arrow table", "parquet")
        columns = {
            name: arrow.array(column.tolist() if column.dtype == object else column, from_pandas=True)
            for name, column in self.columns.items()
        }
        return arrow.table(columns).__arrow_c_stream__(requested_schema)


class Table(Tabular):
    """Table of values with a title that says what its rows are."""

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
    """Return the chart of one run, or of two below each other, as SVG.

    None for more than `MOST_JOBS` jobs, where the program is not installed, or where the run cannot be made again.
    """
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
