"""Sets of processors, stored as bits in one array, and lists of waiting jobs, grouped by the job or processor that
blocks them (the keeper).

A set is an integer as in `sim.machine.processors`, stored in words of 64 processors.
"""

from __future__ import annotations

from sim.kernel.arrays import numbers, words
from sim.machine import cython
from sim.machine.columns import Numbers, Processors, Word

A_WORD = 64
EVERY: Word = 0xFFFF_FFFF_FFFF_FFFF
"""Word of a set in which all 64 processors are members"""


@cython.cclass
class Sets:
    """Sets of processors in one array, each identified by a number."""

    def __init__(self, count: int, procs: int) -> None:
        self.words = (procs + A_WORD - 1) // A_WORD
        self.of = words(count * self.words)

    def put(self, number: int, processors: Processors) -> None:
        """Store `processors` (an integer in which bit i stands for processor i) as the set with this number."""
        for word in range(self.words):
            self.of[number * self.words + word] = processors >> A_WORD * word & EVERY

    def told(self, number: int) -> Processors:
        """Return the set `number` as an integer in which bit i stands for processor i."""
        processors: Processors = 0
        for word in range(self.words - 1, -1, -1):
            processors = processors << A_WORD | self.of[number * self.words + word]
        return processors

    def become(self, number: int, other: int) -> None:
        """Make the set `number` equal to the set `other`."""
        for word in range(self.words):
            self.of[number * self.words + word] = self.of[other * self.words + word]

    def add(self, number: int, other: int) -> None:
        """Add all processors of the set `other` to the set `number`."""
        for word in range(self.words):
            self.of[number * self.words + word] |= self.of[other * self.words + word]

    def drop(self, number: int, other: int) -> None:
        """Remove all processors of the set `other` from the set `number`."""
        for word in range(self.words):
            self.of[number * self.words + word] &= ~self.of[other * self.words + word]

    def keep(self, number: int, other: int) -> None:
        """Remove from the set `number` all processors that are not in the set `other`."""
        for word in range(self.words):
            self.of[number * self.words + word] &= self.of[other * self.words + word]

    def add_one(self, number: int, processor: int) -> None:
        """Add one processor to the set `number`."""
        bit: Word = 1
        self.of[number * self.words + (processor >> 6)] |= bit << (processor & 63)

    def meets(self, number: int, other: int) -> bool:
        """Return True if the sets `number` and `other` have a processor in common."""
        for word in range(self.words):
            if self.of[number * self.words + word] & self.of[other * self.words + word]:
                return True
        return False

    def keep_apart(
        self, numbers: Numbers, count: int, first: int, which: Numbers, low: int, high: int, common: int
    ) -> int:
        """Keep those of the first `count` sets in `numbers` that are disjoint from the intersection of some other sets;
        return how many are kept.

        The other sets have the numbers `first + which[i]` for i from `low` to before `high`. The set `common` is used
        as working space.
        """
        kept = 0
        self.become(common, first + which[low])
        for index in range(low + 1, high):
            self.keep(common, first + which[index])
        for index in range(count):
            number = numbers[index]
            if not self.meets(number, common):
                numbers[kept] = number
                kept += 1
        return kept

    def movable(
        self,
        numbers: Numbers,
        low: int,
        high: int,
        first: int,
        which: Numbers,
        many: int,
        home: Numbers,
        found: Numbers,
        common: int,
    ) -> int:
        """Find jobs that could move to a later row: their set of columns is disjoint from the taken columns of some row
        behind their home row.

        The jobs are `numbers[low:high]`; the found ones are written into `found`, and their count is returned. The set
        of row i has the number `first + which[i]`, and there are `many` rows. `home[job]` is the value in `which` of
        the job's home row. The set `common` is working space.
        """
        kept = 0
        for index in range(low, high):
            found[index - low] = numbers[index]
        count = self.keep_apart(found, high - low, first, which, 0, many, common)
        for index in range(count):
            number, place = found[index], many - 1
            while which[place] != home[number]:
                if not self.meets(number, first + which[place]):
                    found[kept] = number
                    kept += 1
                    break
                place -= 1
        return kept

    def first_after(self, number: int, processor: int) -> int:
        """Return the lowest processor above `processor` in the set `number`; -1 if there is no such processor."""
        processor += 1
        while processor < self.words * A_WORD:
            rest = self.of[number * self.words + (processor >> 6)] >> (processor & 63)
            if rest:
                while not rest & 1:
                    rest >>= 1
                    processor += 1
                return processor
            processor = ((processor >> 6) + 1) << 6
        return -1

    def first_beside(self, number: int, other: int) -> int:
        """Return the lowest processor of the set `number` that is not in the set `other`; -1 if there is no such
        processor.
        """
        for word in range(self.words):
            rest = self.of[number * self.words + word] & ~self.of[other * self.words + word]
            if rest:
                processor = word << 6
                while not rest & 1:
                    rest >>= 1
                    processor += 1
                return processor
        return -1

    def take(self, number: int, other: int, count: int) -> int:
        """Add to the set `number` the lowest `count` processors of the set `other` that it does not contain yet; return
        how many of the `count` were not available.
        """
        for word in range(self.words):
            at = number * self.words + word
            rest = self.of[other * self.words + word] & ~self.of[at]
            while rest and count > 0:
                self.of[at] |= rest & -rest
                rest &= rest - 1
                count -= 1
        return count

    def move(self, number: int, other: int, count: int) -> Processors:
        """Make the set `number` equal to the lowest `count` processors of the set `other`, and remove them from
        `other`; return them as an integer.
        """
        self.drop(number, number)
        self.take(number, other, count)
        self.drop(other, number)
        return self.told(number)


@cython.cclass
class Waiters:
    """Lists of waiting jobs, one list for each keeper (the job or processor that blocks these jobs).

    A list begins with the job added last. `first` has the first job of each list, `then` the next job of each job; -1
    ends a list.
    """

    def __init__(self, jobs: int, keepers: int) -> None:
        self.keeper, self.then, self.before = blank(jobs), blank(jobs), blank(jobs)
        self.first = blank(keepers)

    def keep(self, rank: int, keeper: int) -> None:
        """Move the waiting job to the front of the list of `keeper`, the job or processor that blocks it."""
        self.forget(rank)
        then = self.first[keeper]
        self.keeper[rank] = keeper
        self.then[rank] = then
        self.before[rank] = -1
        if then >= 0:
            self.before[then] = rank
        self.first[keeper] = rank

    def forget(self, rank: int) -> None:
        """Remove the job from the list that it is in, if any."""
        keeper = self.keeper[rank]
        if keeper < 0:
            return
        then, before = self.then[rank], self.before[rank]
        if before < 0:
            self.first[keeper] = then
        else:
            self.then[before] = then
        if then >= 0:
            self.before[then] = before
        self.keeper[rank] = -1


def blank(count: int) -> Numbers:
    """Return a new column of `count` values, all -1."""
    column = numbers(count)
    for index in range(count):
        column[index] = -1
    return column
