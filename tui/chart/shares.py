"""Share of each band of the chart that sets of processors cover, such as the processors of jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_MOST_BITS = 1 << 22
"""Largest number of bits that are examined at once: number of sets times number of processors in the chart."""
_MOST_KNOWN = 8192
"""Largest number of sets for which computed shares are kept"""
_KNOWN_BITS = 1 << 28
"""Largest number of bits of these sets together: 32 MB"""

Shared: TypeAlias = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]
"""Index of a set, a band that it touches, and the share of the band that it covers."""


class Shares:
    """Shares of bands (processors between two of the `edges`) that sets of processors cover. Shares are kept for reuse,
    because a job has the same set in many frames.

    >>> sets, bands, share = Shares((4, 2, 0)).of([0b0110, 0b0011])
    >>> sets.tolist(), bands.tolist(), share.tolist()
    ([0, 0, 1], [0, 1, 1], [0.5, 0.5, 1.0])
    """

    def __init__(self, edges: tuple[int, ...]) -> None:
        self._low, self._count = edges[-1], edges[0] - edges[-1]
        self._begins = np.array(edges[:0:-1]) - self._low
        self._sizes = -np.diff(edges)
        self._known: dict[int, tuple[NDArray[np.intp], NDArray[np.float64]]] = {}
        self._most = min(_MOST_KNOWN, _KNOWN_BITS // max(self._count, 1))

    def of(self, sets: Sequence[int]) -> Shared:
        """Return the bands that each of these sets (bits) touches, and the share of the band that the set covers."""
        if len(sets) > self._most:
            return self._look(sets)
        if missing := list({s: None for s in sets if s not in self._known}):
            if len(self._known) + len(missing) > self._most:
                self._known, missing = {}, list(dict.fromkeys(sets))
            self._remember(missing)
        known = self._known
        found = [known[s] for s in sets]
        counts = np.fromiter((len(bands) for bands, _ in found), np.intp, len(found))
        bands = np.concatenate([bands for bands, _ in found])
        return np.repeat(np.arange(len(found)), counts), bands, np.concatenate([share for _, share in found])

    def _remember(self, sets: list[int]) -> None:
        owner, bands, share = self._look(sets)
        at = np.searchsorted(owner, np.arange(len(sets) + 1))
        for index, one in enumerate(sets):
            piece = slice(at[index], at[index + 1])
            self._known[one] = bands[piece], share[piece]

    def _look(self, sets: Sequence[int]) -> Shared:
        """Return the shares of these sets, computed from their bits, at most `_MOST_BITS` at once."""
        portion = max(_MOST_BITS // max(self._count, 1), 1)
        parts = [self._portion(sets[i : i + portion], i) for i in range(0, len(sets), portion)]
        owner, bands, share = (np.concatenate(column) for column in zip(*parts, strict=True))
        return owner, bands, share

    def _portion(self, sets: Sequence[int], offset: int) -> Shared:
        size, all_ = (self._count + 7) // 8, (1 << self._count) - 1
        data = b"".join([(s >> self._low & all_).to_bytes(size, "little") for s in sets])
        packed = np.frombuffer(data, np.uint8).reshape(len(sets), size)
        bits = np.unpackbits(packed, axis=1, bitorder="little", count=self._count)
        counts = np.add.reduceat(bits, self._begins, axis=1, dtype=np.int32)[:, ::-1]
        owner, bands = np.nonzero(counts)
        return owner + offset, bands, counts[owner, bands] / self._sizes[bands]
