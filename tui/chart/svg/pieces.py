"""What ran, in pieces: each a job on neighbouring processors for some time, as columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sim.history.history import Stretch
from sim.machine.processors import ranges

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

SOLID, SPECULATIVE, SWITCHING, TRAIL = range(4)
TEXTURES = {"speculative": SPECULATIVE, "suspending": SWITCHING, "resuming": SWITCHING, "trail": TRAIL}
"""Kind of a stretch -> how it looks; all others are solid."""


@dataclass(frozen=True)
class Pieces:
    """Columns of equal length: job, from when until when, on which processors, and how it looks."""

    rank: Ints
    start: Floats
    end: Floats
    low: Ints
    high: Ints
    """One more than the last processor."""
    texture: Ints

    def __len__(self) -> int:
        return len(self.rank)

    def where(self, chosen: Bools) -> Pieces:
        """Only these."""
        return Pieces(
            self.rank[chosen],
            self.start[chosen],
            self.end[chosen],
            self.low[chosen],
            self.high[chosen],
            self.texture[chosen],
        )


def pieces_of(stretches: Iterable[Stretch], begin: float, end: float) -> Pieces:
    """The stretches cut at the edges of a window of time and at gaps between processors."""
    rows = [
        (s.rank, max(s.start, begin), _end(s, end), low, high + 1, TEXTURES.get(s.kind, SOLID))
        for s in stretches
        for low, high in ranges(s.processors)
        if max(s.start, begin) < _end(s, end)
    ]
    table = np.array(rows, dtype=np.float64).reshape(-1, 6)
    rank, low, high, texture = (table[:, column].astype(np.int64) for column in (0, 3, 4, 5))
    return Pieces(rank, table[:, 1], table[:, 2], low, high, texture)


def _end(stretch: Stretch, end: float) -> float:
    return end if stretch.end is None else min(stretch.end, end)
