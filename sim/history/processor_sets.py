"""Storage of the processors of each stretch: as integers on small machines, as ranges of numbers on large ones."""

from __future__ import annotations

from array import array

import numpy as np

_NARROW = 1024
"""Largest number of processors of a machine on which sets are stored as integers."""


class ProcessorSets:
    """Storage of one set of processors for each stretch: `sets[i]` is the set of the stretch with number i, as bits.

    Further sets that belong to no stretch can be in `_sets`; the set at index i there is read by `sets[~i]`.
    """

    __slots__ = ("_sets", "place", "ranges")

    def __init__(self) -> None:
        self._sets: list[int] = []
        self.ranges = array("i")
        """Sets stored as ranges, one set after another. For each set: the number of its ranges, then the first and last
        processor of each range
        """
        self.place = array("q")
        """For each stretch: index in `ranges` at which its set begins; if the set is stored as an integer, ~index of it
        in `_sets`
        """

    def __len__(self) -> int:
        return len(self.place)

    def append(self, processors: int) -> None:
        """Append the processors of a stretch."""
        if processors.bit_length() > _NARROW:
            self.place.append(self.write(processors))
        else:
            self.place.append(~len(self._sets))
            self._sets.append(processors)

    def extend(self, more: list[int]) -> None:
        """Append the processors of several stretches."""
        if max(more).bit_length() > _NARROW:
            for processors in more:
                self.append(processors)
        else:
            known = len(self._sets)
            self.place.extend(range(~known, ~known - len(more), -1))
            self._sets += more

    def write(self, processors: int) -> int:
        """Store a set of processors (bits) as ranges without assigning it to a stretch; return the index in `ranges` at
        which it begins.
        """
        place, lowest = len(self.ranges), (processors & -processors).bit_length() - 1
        span = processors >> lowest
        changes = span ^ (span << 1)
        bits = np.frombuffer(changes.to_bytes(-(-changes.bit_length() // 8), "little"), np.uint8)
        some = bits.nonzero()[0]  # a few of thousands
        which, bit = np.unpackbits(bits[some, None], axis=1, bitorder="little").nonzero()
        edges = some[which] * 8 + bit + lowest
        edges[1::2] -= 1
        self.ranges.append(len(edges) // 2)
        self.ranges.frombytes(edges.astype(np.int32).tobytes())
        return place

    def __getitem__(self, index: int) -> int:
        place = index if index < 0 else self.place[index]
        if place < 0:
            return self._sets[~place]
        ends = self.ranges[place + 1 : place + 1 + 2 * self.ranges[place]]
        found = 0
        for first, last in zip(ends[::2], ends[1::2], strict=True):
            found |= (2 << last) - (1 << first)
        if found.bit_length() <= _NARROW:
            self._sets.append(found)
            self.place[index] = ~(len(self._sets) - 1)
        return found

    def until(self, count: int) -> ProcessorSets:
        """Return a copy with the sets of the first `count` stretches, to which the run of a new branch can append."""
        cut = ProcessorSets()
        cut.place, cut.ranges, cut._sets = self.place[:count], self.ranges[:], self._sets[:]
        return cut

    @property
    def size(self) -> int:
        """Return the approximate size in bytes of the stored sets; the column `place` is not counted."""
        return 4 * len(self.ranges) + 72 * len(self._sets)
