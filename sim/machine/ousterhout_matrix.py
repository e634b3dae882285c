"""The Ousterhout matrix of gang scheduling: rows and columns with their jobs (Zhang et al. 2000, section 4).

A column is a processor; a row is a virtual machine that gets a share of the time. A job has a set of columns, a home
row, and possibly replicas: copies of itself in other rows, in the same columns. Sets of columns are integers with a bit
for each column, as in `sim.machine.processors`. Policies decide on all moves; this module checks that they are
possible, and raises a `DecisionError` before it changes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count as counted
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from sim.machine.processors import lowest, written
from sim.support.errors import DecisionError


class Cell(NamedTuple):
    """Job in one row of the matrix, with its columns as bits; `is_home` is True in its home row and False for a replica
    (a copy in another row).
    """

    rank: int
    columns: int
    is_home: bool


class MatrixPicture(NamedTuple):
    """Copy of the matrix at one time: its rows as (id, cells) in order, and the id `on_turn` of the active row.
    `on_turn` is None if no row is active or the active row is not known.
    """

    procs: int
    rows: tuple[tuple[int, tuple[Cell, ...]], ...]
    on_turn: int | None


class MatrixView:
    """Ousterhout matrix as a policy sees it: read-only, with `procs` columns in each row."""

    __slots__ = ("_all", "_columns", "_gone", "_home", "_rows", "_rows_of", "_used", "procs", "size")

    def __init__(self, procs: int) -> None:
        self.procs = self.size = procs
        """Number of columns (`procs`), and number of the columns whose processors are available now (`size`)"""
        self._rows: list[int] = []
        self._all = (1 << procs) - 1
        self._used: dict[int, int] = {}
        """For each row, by id: the columns that jobs occupy, as bits"""
        self._columns: dict[int, int] = {}
        """For each job, by rank, in the order of placement: its columns as bits"""
        self._home: dict[int, int] = {}
        self._rows_of: dict[int, tuple[int, ...]] = {}
        """For each job, by rank: the ids of its rows, its home row first"""
        self._gone: set[int] = set()
        """Ids of rows removed since the last cleaning (removal of all replicas); a new row gets none of these ids"""

    @property
    def rows(self) -> Sequence[int]:
        """Return the ids of the rows, in the order of their turns."""
        return tuple(self._rows)

    def __len__(self) -> int:
        return len(self._home)

    def __contains__(self, rank: int) -> bool:
        return rank in self._home

    @property
    def jobs(self) -> list[int]:
        return list(self._columns)

    def columns(self, rank: int) -> int:
        """Return the job's columns as bits; they are the same in all its rows."""
        return self._columns[rank]

    def home(self, rank: int) -> int:
        return self._home[rank]

    def rows_of(self, rank: int) -> tuple[int, ...]:
        """Return the ids of all rows of the job, its home row first."""
        return self._rows_of[rank]

    def standing_in(self, row: int) -> list[int]:
        rows_of = self._rows_of
        return [rank for rank in self._columns if row in rows_of[rank]]

    def homes(self) -> dict[int, list[int]]:
        """Return, for each row id, the ranks of the jobs that have their home there, in order of placement."""
        homes: dict[int, list[int]] = {row: [] for row in self._rows}
        home = self._home
        for rank in self._columns:
            homes[home[rank]].append(rank)
        return homes

    def placed_otherwise(self, known: Mapping[int, Any]) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return (rank, columns as bits, row ids) of the jobs with other columns or rows than those in `known`."""
        found, rows_of = list[tuple[int, int, tuple[int, ...]]](), self._rows_of
        for rank, columns in self._columns.items():
            was, rows = known.get(rank), rows_of[rank]
            if was is None or was[1] != rows or was[0] != columns:
                found.append((rank, columns, rows))
        return found

    def with_room(self, procs: int) -> list[tuple[int, int]]:
        """Return (number of free columns, row id) of each row with at least `procs` free columns, in ascending order of
        free columns, then in row order.
        """
        rows = [(free, row) for row, used in self._used.items() if (free := self.size - used.bit_count()) >= procs]
        return sorted(rows, key=itemgetter(0)) if len(rows) > 1 else rows

    def that_fit(self, ranks: Iterable[int], *rows: int) -> list[int]:
        """Return those of the jobs for which each column is free in one of these rows, not always in the same one."""
        columns, used = self._columns, -1
        for row in rows:
            used &= self._used[row]
        return [rank for rank in ranks if not columns[rank] & used]

    def used(self, row: int) -> int:
        return self._used[row]

    def free_columns(self, row: int) -> int:
        return self._all & ~self._used[row]

    def free(self, row: int) -> int:
        return self.size - self._used[row].bit_count()

    def lowest_free(self, row: int, count: int) -> int:
        return lowest(self.free_columns(row), count)

    def in_the_way(self, columns: int, row: int) -> list[int]:
        if not self._used[row] & columns:
            return []
        rows_of = self._rows_of
        return [rank for rank, held in self._columns.items() if held & columns and row in rows_of[rank]]

    def room_for_replica(self, rank: int) -> int | None:
        """Return the first row in which all columns of the job are free, or None."""
        columns, used = self._columns[rank], self._used
        for row in self._rows:
            if not used[row] & columns:
                return row
        return None

    def occupied_rows(self) -> list[int]:
        return [row for row in self._rows if self._used[row]]

    @property
    def next_row(self) -> int:
        """Return the id that the next new row will get: the lowest one that no row has now or had since the last
        cleaning (removal of all replicas).
        """
        return next(row for row in counted(1) if row not in self._used and row not in self._gone)

    @property
    def has_replicas(self) -> bool:
        return sum(map(len, self._rows_of.values())) > len(self._rows_of)

    def picture(self, on_turn: int | None = None) -> MatrixPicture:
        rows: dict[int, list[Cell]] = {row: [] for row in self._rows}
        for rank, columns in self._columns.items():
            home = self._home[rank]
            for row in self._rows_of[rank]:
                rows[row].append(Cell(rank, columns, row == home))
        return MatrixPicture(self.procs, tuple((row, tuple(cells)) for row, cells in rows.items()), on_turn)


class Matrix(MatrixView):
    """Ousterhout matrix with operations that change it, for the engine.

    >>> matrix = Matrix(4)
    >>> first, second = matrix.open_row(), matrix.open_row()
    >>> matrix.place(7, first, 0b0011)
    >>> matrix.replicate(7, second)
    >>> matrix.rows_of(7), matrix.view.free(second)
    ((1, 2), 2)
    """

    __slots__ = ("view",)

    def __init__(self, procs: int) -> None:
        super().__init__(procs)
        self.view = MatrixView(procs)
        """Read-only view, which always shows the present state of this matrix."""
        for name in _SHARED:
            setattr(self.view, name, getattr(self, name))

    def copy(self) -> Matrix:
        twin = Matrix(self.procs)
        twin.resize(self._all)
        twin._rows.extend(self._rows)
        for name in _SHARED[1:]:
            getattr(twin, name).update(getattr(self, name))
        return twin

    def resize(self, there: int) -> None:
        """Set the columns that are available in every row to `there` (as bits), with those of all jobs."""
        for matrix in (self, self.view):
            matrix._all, matrix.size = there, there.bit_count()

    @property
    def standing(self) -> dict[int, tuple[int, ...]]:
        """Return the rows of each job by rank: the matrix's own dictionary, which the caller must not change."""
        return self._rows_of

    def open_row(self) -> int:
        row = self.next_row
        self._rows.append(row)
        self._used[row] = 0
        return row

    def place(self, rank: int, row: int, columns: int) -> None:
        if rank in self._home:
            self._refuse(rank, "is in the matrix already")
        self._demand(rank, row, columns, self._used.get(row, 0))
        self._used[row] |= columns
        self._columns[rank], self._home[rank], self._rows_of[rank] = columns, row, (row,)

    def move(self, rank: int, row: int, columns: int | None = None) -> None:
        """Make `row` the job's home row. The job keeps its columns unless `columns` (as bits) gives others; then `row`
        may also be its present home, so that only the columns change.

        The job must not have replicas (call `clean` before), as they would stay in the old columns.
        """
        was, home = self._demand_place(rank)
        if len(self._rows_of[rank]) > 1:
            self._refuse(rank, "cannot move: it is replicated")
        if columns is None:
            columns = was
        elif columns.bit_count() != was.bit_count():
            self._refuse(rank, f"cannot move from {was.bit_count()} columns to {columns.bit_count()}")
        taken = self._used.get(row, 0)
        self._demand(rank, row, columns, taken & ~was if row == home else taken)
        self._used[home] &= ~was
        self._used[row] |= columns
        self._columns[rank], self._home[rank], self._rows_of[rank] = columns, row, (row,)

    def replicate(self, rank: int, row: int) -> None:
        columns, used = self._columns.get(rank, 0), self._used.get(row)
        if not columns or used is None or columns & used:
            self._demand_place(rank)
            self._demand(rank, row, columns, used or 0)
        self._used[row] |= columns
        self._rows_of[rank] += (row,)

    def clean(self) -> None:
        """Remove all replicas, so that every job is in its home row only; ids of removed rows may be used again."""
        self._gone.clear()
        used, columns, rows_of = self._used, self._columns, self._rows_of
        used.update(dict.fromkeys(used, 0))
        for rank, home in self._home.items():
            used[home] |= columns[rank]
            rows_of[rank] = (home,)

    def drop_empty_rows(self) -> list[int]:
        gone = [row for row in self._rows if not self._used[row]]
        for row in gone:
            del self._used[row]
        self._gone.update(gone)
        self._rows[:] = self._used
        return gone

    def remove(self, rank: int) -> None:
        columns, _ = self._demand_place(rank)
        for row in self._rows_of[rank]:
            self._used[row] &= ~columns
        del self._columns[rank], self._home[rank], self._rows_of[rank]

    # Checks

    def _demand_place(self, rank: int) -> tuple[int, int]:
        if rank not in self._home:
            self._refuse(rank, "is not in the matrix")
        return self._columns[rank], self._home[rank]

    def _demand(self, rank: int, row: int, columns: int, taken: int) -> None:
        if row not in self._used:
            self._refuse(rank, f"cannot be placed in row {row}: there is no such row")
        if columns <= 0 or columns & ~self._all:
            self._refuse(rank, f"cannot be placed in columns {written(max(columns, 0)) or 'none'} of {self.procs}")
        if columns & taken:
            self._refuse(rank, f"cannot be placed in row {row}: columns {written(columns & taken)} are taken")

    def _refuse(self, rank: int, what: str) -> NoReturn:
        raise DecisionError(f"the job of rank {rank} {what}")

    def held_twice(self) -> Iterator[tuple[int, int]]:
        """Yield (row id, columns as bits) where jobs overlap or the record of occupied columns is wrong."""
        for row in self._rows:
            seen = 0
            for rank in self.standing_in(row):
                if seen & self._columns[rank]:
                    yield row, seen & self._columns[rank]
                seen |= self._columns[rank]
            if seen != self._used[row]:
                yield row, seen ^ self._used[row]


_SHARED = ("_rows", "_used", "_columns", "_home", "_rows_of", "_gone")
"""Names of the attributes that a matrix shares with its read-only view. Their contents change, but the objects are
never replaced.
"""
