"""Sets of processors: those of each stretch, as integers on small machines and as ranges of numbers on large ones; and
tables of sets, for computing with all of them at once.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

from sim.workload.columns import Ints

_NARROW = 1024
"""Largest number of processors of a machine on which sets are stored as integers."""
_AT_ONCE = 1 << 22
"""Number of bytes of sets that are searched for ranges at once."""


class SetTable(Sequence[int]):
    """Sequence of sets of processors as bits, stored as ranges: those of set i are the rows from `begin[i]` to before
    `begin[i + 1]` of the columns `first` and `last`, in ascending order.
    """

    __slots__ = ("begin", "first", "last")

    def __init__(self, many: Ints, edges: Ints) -> None:
        """`many` has the number of ranges of each set, `edges` the first and last processor of each range."""
        self.begin: Ints = np.concatenate([[0], np.cumsum(many, dtype=np.int64)])
        self.first, self.last = edges[::2], edges[1::2]

    @classmethod
    def of(cls, sets: Sequence[int]) -> SetTable:
        """Return the table of these sets (bits).

        >>> table = SetTable.of([0b1011, 0, 0b1100])
        >>> table.first.tolist(), table.last.tolist(), list(table) == [0b1011, 0, 0b1100]
        ([0, 3, 2], [1, 3, 3], True)
        """
        many, edges = ranges_of(sets)
        return cls(many, edges)

    def __len__(self) -> int:
        return len(self.begin) - 1

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[int, ...]: ...
    def __getitem__(self, index: int | slice) -> int | tuple[int, ...]:
        if isinstance(index, slice):
            return tuple(self[each] for each in range(*index.indices(len(self))))
        rows = slice(*self.begin[range(len(self))[index] :][:2].tolist())
        return bits_in(self.first[rows].tolist(), self.last[rows].tolist())

    def __iter__(self) -> Iterator[int]:
        return map(self.__getitem__, range(len(self)))

    def take(self, index: Ints) -> SetTable:
        many = np.diff(self.begin)[index]
        rows = rows_of(self.begin[index], many)
        return SetTable(many, np.column_stack([self.first[rows], self.last[rows]]).ravel())


def rows_of(begin: Ints, many: Ints) -> Ints:
    """Return the indices of several spans one after another, each with `many` indices from `begin` on.

    >>> rows_of(np.array([7, 2]), np.array([1, 3])).tolist()
    [7, 2, 3, 4]
    """
    ends = np.cumsum(many, dtype=np.int64)
    rows: Ints = np.repeat(begin - ends + many, many) + np.arange(ends[-1] if len(ends) else 0)
    return rows


def bits_in(first: Sequence[int], last: Sequence[int]) -> int:
    found = 0
    for low, high in zip(first, last, strict=True):
        found |= (2 << high) - (1 << low)
    return found


def ranges_of(sets: Sequence[int]) -> tuple[Ints, Ints]:
    """Return the number of ranges of each set of processors (bits), and the first and last processor of each range."""
    size = max((processors.bit_length() for processors in sets), default=0) // 8 + 1
    step = max(_AT_ONCE // size, 1)
    many, edges = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for begin in range(0, len(sets), step):
        part = sets[begin : begin + step]
        changes = b"".join((processors ^ (processors << 1)).to_bytes(size, "little") for processors in part)
        found = np.frombuffer(changes, np.uint8)
        some = found.nonzero()[0]  # a few of thousands
        which, bit = np.unpackbits(found[some, None], axis=1, bitorder="little").nonzero()
        at = some[which] * 8 + bit
        many.append(np.bincount(at // (8 * size), minlength=len(part)) // 2)
        at %= 8 * size
        at[1::2] -= 1
        edges.append(at)
    return np.concatenate(many), np.concatenate(edges)


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
        if processors.bit_length() > _NARROW:
            self.place.append(self.write(processors))
        else:
            self.place.append(~len(self._sets))
            self._sets.append(processors)

    def extend(self, more: list[int]) -> None:
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
        lowest, place = (processors & -processors).bit_length() - 1, len(self.ranges)
        many, edges = ranges_of([processors >> lowest])
        self.ranges.append(int(many[0]))
        self.ranges.frombytes((edges + lowest).astype(np.int32).tobytes())
        return place

    def __getitem__(self, index: int) -> int:
        place = index if index < 0 else self.place[index]
        if place < 0:
            return self._sets[~place]
        ends = self.ranges[place + 1 : place + 1 + 2 * self.ranges[place]]
        found = bits_in(ends[::2], ends[1::2])
        if found.bit_length() <= _NARROW:
            self._sets.append(found)
            self.place[index] = ~(len(self._sets) - 1)
        return found

    def table(self, numbers: Ints) -> SetTable:
        """Return a table with the sets of the stretches with these numbers; a set is empty if its number is -1."""
        known = numbers >= 0
        place = np.frombuffer(self.place, np.int64)[numbers[known]]
        ranges, is_wide = np.frombuffer(self.ranges, np.int32), place >= 0
        narrow = SetTable.of([self._sets[~at] for at in place[~is_wide].tolist()])
        stored = np.concatenate([ranges, np.column_stack([narrow.first, narrow.last]).ravel()])
        many, begin, counts = np.empty_like(place), place + 1, np.zeros(len(numbers), np.int64)
        many[is_wide] = ranges[place[is_wide]]
        many[~is_wide], begin[~is_wide] = np.diff(narrow.begin), len(ranges) + 2 * narrow.begin[:-1]
        counts[known] = many
        return SetTable(counts, stored[rows_of(begin, 2 * many)])

    def until(self, count: int) -> ProcessorSets:
        """Return a copy with the sets of the first `count` stretches, to which the run of a new branch can append."""
        cut = ProcessorSets()
        cut.place, cut.ranges, cut._sets = self.place[:count], self.ranges[:], self._sets[:]
        return cut

    @property
    def size(self) -> int:
        return 4 * len(self.ranges) + 72 * len(self._sets)
