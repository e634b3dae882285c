"""Blocking job of each idle job: while it stays, the idle job's chances cannot improve."""

from __future__ import annotations

from collections.abc import Iterable

NOBODY = -1
"""Keeper of jobs that no single job blocks."""


class Keepers:
    """Idle job -> its keeper, and the reverse; both by rank."""

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
        """Let the idle job wait for this keeper from now on."""
        self.forget(rank)
        self.of[rank] = keeper
        if keeper in self.kept:
            self.kept[keeper].add(rank)
        else:
            self.kept[keeper] = {rank}

    def forget(self, rank: int) -> None:
        """Remove the job and its keeper."""
        if rank in self.of:
            keeper = self.of.pop(rank)
            self.kept[keeper].remove(rank)
            if not self.kept[keeper]:
                del self.kept[keeper]

    def release(self, keepers: Iterable[int]) -> list[int]:
        """Remove these keepers; return the jobs that waited for them."""
        kept, of = self.kept, self.of
        released: list[int] = []
        for keeper in keepers:
            if keeper in kept:
                for rank in kept.pop(keeper):
                    del of[rank]
                    released.append(rank)
        return released
