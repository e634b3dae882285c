"""Questions of gang scheduling policies about the Ousterhout matrix, answered from a `MatrixView`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


class RankedRows:
    """Rows of the matrix in the order of their population, as they were when this object was made; of equally
    populated rows, the later one comes first. Jobs are asked for as they are now.
    """

    def __init__(self, view: Moment) -> None:
        self._view, self._matrix = view, view.matrix
        matrix = view.matrix
        self._held = {row: matrix.used(row).bit_count() for row in reversed(matrix.rows)}
        self.rows = sorted(self._held, key=self._held.__getitem__)
        """Rows, the least populated first"""
        self._homes: dict[int, list[int]] = {}
        """For each row: ranks of the jobs whose home it was when this mapping was made"""
        self._may_differ = True
        """True if the caller may have moved jobs since then"""

    def fuller_rows(self, row: int) -> Sequence[int]:
        if self._may_differ:
            self._homes, self._may_differ = self._matrix.homes(), False
        return self.rows[: self.rows.index(row) : -1]

    def targets(self, row: int) -> Sequence[int]:
        """Return the more populated rows, the most populated first; none if no job finds its columns free there."""
        targets = self.fuller_rows(row)
        return targets if self._matrix.that_fit(self._homes[row], *targets) else ()

    def movable(self, row: int, target: int) -> Sequence[Job]:
        """Return the jobs whose home is the row and whose columns are free in the row `target`, in order of placement.
        Ask for the targets of the row first.
        """
        ranks = self._matrix.that_fit(self._homes[row], target)
        return self._jobs([rank for rank in ranks if self._matrix.home(rank) == row]) if ranks else ()

    def narrow_enough(self, row: int, target: int) -> Sequence[Job]:
        """Return the jobs whose home is the row, and which need no more columns than are free in the row `target`, in
        order of placement. Ask for the rows that are fuller than the row first.
        """
        matrix, free = self._matrix, self._matrix.free(target)
        return self._jobs(
            [rank for rank in self._homes[row] if matrix.columns(rank).bit_count() <= free and matrix.home(rank) == row]
        )

    def population(self, row: int) -> int:
        return self._held[row]

    def _jobs(self, ranks: list[int]) -> Sequence[Job]:
        jobs = [self._view.job(rank) for rank in ranks]
        self._may_differ = self._may_differ or bool(jobs)
        return jobs
