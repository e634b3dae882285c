"""Keepers: the keeper of a suspended job is the running job that determines its toll.

Of the jobs on its processors, that is the one with the largest xfactor or, if some are too wide to be suspended, the
widest. Until the keeper leaves, the toll cannot fall.
"""

from __future__ import annotations

from collections.abc import Iterable

NOBODY = -1
"""Number in place of a keeper's rank for an idle job that no single job blocks."""


class Keepers:
    """Two mappings of ranks: from each idle job to its keeper (the running job that blocks it), and from each keeper to
    its idle jobs.
    """

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
        """Record that the running job `keeper` blocks the idle job `rank`."""
        self.forget(rank)
        self.of[rank] = keeper
        if keeper in self.kept:
            self.kept[keeper].add(rank)
        else:
            self.kept[keeper] = {rank}

    def forget(self, rank: int) -> None:
        """Remove the idle job `rank` from both mappings; a keeper that blocks no other idle job is removed as well."""
        if rank in self.of:
            keeper = self.of.pop(rank)
            self.kept[keeper].remove(rank)
            if not self.kept[keeper]:
                del self.kept[keeper]

    def release(self, keepers: Iterable[int]) -> list[int]:
        """Remove these keepers from the record. Return the ranks of the idle jobs that they blocked."""
        kept, of = self.kept, self.of
        released: list[int] = []
        for keeper in keepers:
            if keeper in kept:
                for rank in kept.pop(keeper):
                    del of[rank]
                    released.append(rank)
        return released
