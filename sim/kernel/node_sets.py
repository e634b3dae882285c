"""Sets of nodes in the fast loop, as bits: the nodes of each level, and the nodes that may be of use to a request."""

from __future__ import annotations

from sim.kernel.arrays import words
from sim.kernel.node_states import Requests
from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Word, Words, lowest_bit


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
        self.having, self.free = words(64 * self.words), words(self.words)
        """For each word of a set of nodes: for each bit of a state in `Requests.bounding`, which of the nodes have this
        bit in their states; and which are wholly free
        """
        self.useful, self.looked_at, self.worth = words(self.words), words(self.groups), words(self.groups)
        """Nodes that may be of use to the request of the present search, as a set of bits. Its words are computed when
        they are needed first. Then two sets of words: those computed, and those not known to be 0
        """

    def sort(self, at: Words) -> None:
        """Compute the sets from the states of the nodes."""
        for index in range(self.levels * self.words):
            self.bits[index] = 0
        for index in range(self.levels * self.groups):
            self.filled[index] = 0
        for index in range(len(self.used)):
            self.used[index] = 0
        for index in range(64 * self.words):
            self.having[index] = 0
        for index in range(self.words):
            self.free[index] = 0
        for node in range(self.asked.nodes):
            self.switch(self.asked.full[node], at[node], node, node + 1)

    # Changes

    def switch(self, was: Word, new: Word, first: int, last: int) -> None:
        """Change the sets of nodes: the nodes `first` to before `last` go from the state `was` to the state `new`."""
        asked = self.asked
        level, other, empty = asked.level(was), asked.level(new), asked.empty[first]
        changed: Word = (was ^ new) & asked.bounding
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
            bits: Word = changed
            while bits:
                self.having[64 * word + lowest_bit(bits)] ^= mask
                bits &= bits - 1
            if was == empty or new == empty:
                self.free[word] ^= mask
            first += many

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

    # Searches

    def used_from(self, level: int) -> int:
        """Return the first level with nodes, from `level` on; a number above all levels if there is none."""
        part = level >> 6
        if part < len(self.used):
            levels: Word = self.used[part] >> (level & 63) << (level & 63)
            while not levels and part + 1 < len(self.used):
                part += 1
                levels = self.used[part]
            if levels:
                return 64 * part + lowest_bit(levels)
        return self.levels

    def begin_search(self) -> None:
        """Forget which nodes were useful to the request of the last search."""
        for group in range(self.groups):
            self.looked_at[group], self.worth[group] = 0, EVERY

    def look_at(self, word: int, request: int, partition: int) -> None:
        """Compute which nodes of this word may be of use to the request in the partition."""
        asked, mask = self.asked, self.asked.mask[partition]
        one: Word = 1
        one <<= word & 63
        bits: Word = EVERY if mask < 0 else asked.allowed[mask * self.words + word]
        if asked.whole[partition]:
            bits &= self.free[word]
        needs: Word = asked.unit_in[request] & asked.bounding
        for kind in range(asked.kinds if needs else 0):
            field: Word = asked.mask_of[kind] << asked.field[kind] & asked.bounding
            if needs & field:
                bits &= self._having_at_least(needs & field, field, 64 * word)
        self.useful[word] = bits
        self.looked_at[word >> 6] |= one
        if not bits:
            self.worth[word >> 6] ^= one

    def _having_at_least(self, amount: Word, field: Word, at: int) -> Word:
        """Return which nodes have at least this amount in the bits `field` of their states. The sets of these nodes by
        bit begin at index `at` of `having`.

        Numbers are compared bit by bit, beginning with the lowest. A higher bit decides. Only if it is equal, the bits
        below it count.
        """
        enough: Word = EVERY
        while field:
            bit: Word = field & -field
            field ^= bit
            has: Word = self.having[at + lowest_bit(bit)]
            if amount & bit:
                enough &= has
            else:
                enough |= has
        return enough
