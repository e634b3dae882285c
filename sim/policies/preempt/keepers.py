"""Keepers: for each idle job a running job that blocks it; while that one runs, the idle job cannot start or resume."""

from __future__ import annotations

from collections.abc import Iterable

NOBODY = -1
"""Entry for jobs that no single job blocks."""


class Keepers:
    """Blocking job (keeper) of each idle job, and idle jobs of each keeper; all by rank."""

    __slots__ = ("kept", "of")

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.kept: dict[int, set[int]] = {}

    def copy(self) -> Keepers:
        twin = Keepers()
        twin.of = self.of.copy()
        twin.kept = {keeper: kept.copy() for keeper, kept in self.kept.items()}
        return twin

    def keep(self, rank: int, keeper: int) -> None:
        """Set the idle job's keeper."""
        self.forget(rank)
        self.of[rank] = keeper
        if keeper in self.kept:
            self.kept[keeper].add(rank)
        else:
            self.kept[keeper] = {rank}

    def forget(self, rank: int) -> None:
        """Remove the idle job."""
        if rank in self.of:
            keeper = self.of.pop(rank)
            self.kept[keeper].remove(rank)
            if not self.kept[keeper]:
                del self.kept[keeper]

    def release(self, keepers: Iterable[int]) -> list[int]:
        """Remove these keepers; return the idle jobs that they blocked."""
        kept, of = self.kept, self.of
        released: list[int] = []
        for keeper in keepers:
            if keeper in kept:
                for rank in kept.pop(keeper):
                    del of[rank]
                    released.append(rank)
        return released
