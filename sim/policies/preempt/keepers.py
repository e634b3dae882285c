"""For whom each idle job waits: as long as its keeper does not leave, nothing can have become better for it."""

from __future__ import annotations

from collections.abc import Iterable

NOBODY = -1
"""The keeper of those for whom no single job is in the way."""


class Keepers:
    """Idle job -> its keeper, and the other way round; both by rank."""

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
        """The idle job waits for this one from now on."""
        self.forget(rank)
        self.of[rank] = keeper
        if keeper in self.kept:
            self.kept[keeper].add(rank)
        else:
            self.kept[keeper] = {rank}

    def forget(self, rank: int) -> None:
        """The job waits for nobody."""
        if rank in self.of:
            keeper = self.of.pop(rank)
            self.kept[keeper].remove(rank)
            if not self.kept[keeper]:
                del self.kept[keeper]

    def release(self, keepers: Iterable[int]) -> list[int]:
        """The jobs that waited for one of these; they wait for nobody from now on."""
        kept, of = self.kept, self.of
        released: list[int] = []
        for keeper in keepers:
            if keeper in kept:
                for rank in kept.pop(keeper):
                    del of[rank]
                    released.append(rank)
        return released
