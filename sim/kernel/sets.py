"""Sets of processors as bits, and lists of waiting jobs by the job or processor that blocks them (the keeper).

A set is an integer as in `sim.machine.processors`, stored in words of 64 processors.
"""

from __future__ import annotations

from sim.machine import cython
from sim.machine.columns import Numbers, Processors, Word, copy_numbers, numbers, words

A_WORD = 64
EVERY: Word = 0xFFFF_FFFF_FFFF_FFFF
"""Word in which all 64 processors are members"""


@cython.cclass
class Sets:
    """Sets of processors in one array; each set has a number."""

    def __init__(self, count: int, procs: int) -> None:
        self.words = (procs + A_WORD - 1) // A_WORD
        self.of = words(count * self.words)

    def put(self, number: int, processors: Processors) -> None:
        """Store an integer as the set with this number."""
        for word in range(self.words):
            self.of[number * self.words + word] = processors >> A_WORD * word & EVERY

    def told(self, number: int) -> Processors:
        """Return the set with this number as an integer."""
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
        """Remove the processors from the set `number` that are not in the set `other`."""
        for word in range(self.words):
            self.of[number * self.words + word] &= self.of[other * self.words + word]

    def add_one(self, number: int, processor: int) -> None:
        """Add one processor to the set."""
        bit: Word = 1
        self.of[number * self.words + (processor >> 6)] |= bit << (processor & 63)

    def meets(self, number: int, other: int) -> bool:
        """Return True if the sets have a processor in common."""
        for word in range(self.words):
            if self.of[number * self.words + word] & self.of[other * self.words + word]:
                return True
        return False

    def keep_apart(
        self, numbers: Numbers, count: int, first: int, which: Numbers, low: int, high: int, common: int
    ) -> int:
        """Keep those of `numbers` whose sets share nothing with the intersection of some other sets; return how many
        are kept.

        The other sets have the numbers `first` plus each value of `which` from index `low` to `high`.
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
        """Find the sets (columns of jobs) that share nothing with the taken columns of some row behind their home row.

        They are written into `found`; the result is their number. `which` has the indices of the rows' sets, counted
        from `first`, and `home` the index of each job's own row.
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

    def spread(
        self, numbers: Numbers, count: int, first: int, which: Numbers, many: int, full: int, left: Numbers,
        common: int, into: Numbers, places: Numbers,
    ) -> int:  # fmt: skip
        """Add each set to the first target set with which it shares nothing, round after round; return the number of
        additions.

        The targets are the sets `first + which[place]`, copied to `full + which[place]`, where the additions happen.
        The last two columns receive the added sets and their targets.
        """
        found = 0
        for place in range(many):
            self.become(full + which[place], first + which[place])
        copy_numbers(numbers, left, count)
        while count:
            hopeful, count = self.keep_apart(left, count, full, which, 0, many, common), 0
            for index in range(hopeful):
                number = left[index]
                for place in range(many):
                    if not self.meets(number, full + which[place]):
                        self.add(full + which[place], number)
                        into[found], places[found] = number, which[place]
                        left[count] = number
                        found += 1
                        count += 1
                        break
        return found

    def exceeds(self, number: int, other: int) -> bool:
        """Return True if the highest processor that is in only one of the two sets is in the set `number`."""
        for word in range(self.words - 1, -1, -1):
            if self.of[number * self.words + word] != self.of[other * self.words + word]:
                return self.of[number * self.words + word] > self.of[other * self.words + word]
        return False

    def first_after(self, number: int, processor: int) -> int:
        """Return the lowest processor above `processor` in the set `number`, or -1."""
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
        """Return the first processor of the set that is not in the set `other`, or -1."""
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
        """Add the lowest `count` processors of the set `other` that are not members yet; return how many are
        missing.
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
        """Move the lowest `count` processors from the set `other` to the set `number`; return them as an integer."""
        self.drop(number, number)
        self.take(number, other, count)
        self.drop(other, number)
        return self.told(number)


@cython.cclass
class Waiters:
    """Lists of waiting jobs, one for each keeper (the job or processor that blocks them), the latest first; linked by
    rank, with -1 at the end.
    """

    def __init__(self, jobs: int, keepers: int) -> None:
        self.keeper, self.then, self.before = blank(jobs), blank(jobs), blank(jobs)
        self.first = blank(keepers)

    def keep(self, rank: int, keeper: int) -> None:
        """Add the waiting job to the list of this keeper, the job or processor that blocks it."""
        self.forget(rank)
        then = self.first[keeper]
        self.keeper[rank] = keeper
        self.then[rank] = then
        self.before[rank] = -1
        if then >= 0:
            self.before[then] = rank
        self.first[keeper] = rank

    def forget(self, rank: int) -> None:
        """Remove the job from the list of its keeper."""
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
