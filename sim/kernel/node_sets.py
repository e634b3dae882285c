"""Sets of nodes in the fast loop, as bits: for each level its nodes, and for each bound the nodes that keep it."""

from __future__ import annotations

from sim.kernel.arrays import numbers, words
from sim.kernel.node_states import MAGIC, Requests
from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Word, Words


@cython.cclass
class NodeSets:
    """Sets of nodes by their states, with which searches pass over nodes that are of no use."""

    def __init__(self, asked: Requests) -> None:
        self.asked = asked
        self.levels: int = asked.most_cores + 2
        self.words: int = (asked.nodes + 63) // 64
        self.groups: int = (self.words + 63) // 64
        self.bits = words(self.levels * self.words)
        """For each level but 0 (see `Requests.level`): its nodes, as a set of bits"""
        self.filled = words(self.levels * self.groups)
        """For each level: which words of `bits` are not 0, as a set of bits"""
        self.used = words((self.levels + 63) // 64)
        """Levels with nodes, as a set of bits"""
        self.keeping = words(0)
        """For each bound (see `Requests.bound_from`): the nodes that keep it, as a set of bits"""
        self.bounds = numbers(asked.kinds + 2)
        """Indices in `keeping` at which the sets of nodes begin that the last search needed"""
        self.bit_at = numbers(64)
        """For each bit of a 64-bit word: its number (0 to 63). The index is the upper 6 bits of the product of the bit
        and `MAGIC`
        """
        for bit in range(64):
            self.bit_at[((MAGIC << bit) & EVERY) >> 58] = bit

    def sort(self, at: Words) -> None:
        """Compute the sets from the states of the nodes."""
        for index in range(self.levels * self.words):
            self.bits[index] = 0
        for index in range(self.levels * self.groups):
            self.filled[index] = 0
        for index in range(len(self.used)):
            self.used[index] = 0
        self.keeping = words((self.asked.first_bound[self.asked.kinds] + 2) * self.words)
        for node in range(self.asked.nodes):
            self.switch(self.asked.full[node], at[node], node, node + 1)

    def switch(self, was: Word, new: Word, first: int, last: int) -> None:
        """Change the sets of nodes: the nodes `first` to before `last` go from the state `was` to the state `new`."""
        asked = self.asked
        level, other, empty = asked.level(was), asked.level(new), asked.empty[first]
        others = asked.first_bound[asked.kinds] * self.words
        while first < last:
            word, bit = first >> 6, first & 63
            many = min(64 - bit, last - first)
            mask: Word = EVERY
            mask = mask >> (64 - many) << bit
            if level != other:
                if level:
                    self._switch_on(level, word, mask)
                if other:
                    self._switch_on(other, word, mask)
            if (was ^ new) & asked.bounding:
                self._switch_bounds(was, new, word, mask)
            if (was == empty) != (new == empty):
                self.keeping[others + word] ^= mask
            if (level == 0) != (other == 0):
                self.keeping[others + self.words + word] ^= mask
            first += many

    def _switch_bounds(self, was: Word, new: Word, word: int, mask: Word) -> None:
        """Switch which bounds are kept by nodes that go from the state `was` to the state `new`: `mask` has their bits
        in this word of the sets.
        """
        asked = self.asked
        for kind in range(asked.kinds):
            if not asked.bound(was ^ new, kind):
                continue
            lower, upper = asked.bound(was, kind), asked.bound(new, kind)
            if lower > upper:
                lower, upper = upper, lower
            at = (asked.first_bound[kind] + lower) * self.words + word
            while lower < upper:
                self.keeping[at] ^= mask
                at += self.words
                lower += 1

    def _switch_on(self, level: int, word: int, mask: Word) -> None:
        """Switch whether nodes of this word of the set are on the level: `mask` has their bits."""
        at = level * self.words + word
        before: Word = self.bits[at]
        self.bits[at] = before ^ mask
        if not before or before == mask:
            self._switch_word(level, word)

    def _switch_word(self, level: int, word: int) -> None:
        """Switch whether the word `word` of the set of nodes on this level is 0 in `filled`; if need be, switch in
        `used` whether there are nodes on this level.
        """
        at = level * self.groups + (word >> 6)
        one: Word = 1
        before: Word = self.filled[at]
        self.filled[at] = before ^ one << (word & 63)
        if before and self.filled[at]:
            return
        for group in range(level * self.groups, (level + 1) * self.groups):
            if group != at and self.filled[group]:
                return
        self.used[level >> 6] ^= one << (level & 63)

    def used_from(self, level: int) -> int:
        """Return the first level with nodes, from `level` on; a number above all levels if there is none."""
        part = level >> 6
        if part < len(self.used):
            levels: Word = self.used[part] >> (level & 63) << (level & 63)
            while not levels and part + 1 < len(self.used):
                part += 1
                levels = self.used[part]
            if levels:
                return 64 * part + self.bit_at[(((levels & -levels) * MAGIC) & EVERY) >> 58]
        return self.levels

    def bounds_of(self, request: int, is_whole: bool) -> int:
        """Write into the column `bounds`, for each bound of this request, the index at which its set of nodes begins in
        `keeping`; return the number of bounds. `is_whole` is True if nodes have to be wholly free.
        """
        asked, count = self.asked, 0
        for kind in range(asked.kinds):
            bound = asked.bound(asked.unit_in[request], kind)
            if bound:
                self.bounds[count] = (asked.first_bound[kind] + bound - 1) * self.words
                count += 1
        if is_whole:
            self.bounds[count] = asked.first_bound[asked.kinds] * self.words
            count += 1
        elif not asked.bound(asked.unit_in[request], 0):
            self.bounds[count] = (asked.first_bound[asked.kinds] + 1) * self.words
            count += 1
        return count
