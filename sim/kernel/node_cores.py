"""Cores of nodes in the fast loop: which are free, and which of them a job gets."""

from __future__ import annotations

from sim.kernel.arrays import numbers, words
from sim.kernel.loop import Loop
from sim.kernel.node_states import WHOLE, Requests
from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Word, lowest_bit


@cython.cclass
class NodeCores(Loop):
    """Fast loop whose cores belong to nodes, numbered node after node."""

    def __init__(
        self, jobs: int, procs: int, most_running: int, nodes: int, kinds: int, sign: int, most_cores: int
    ) -> None:
        Loop.__init__(self, jobs, procs, most_running)
        self.asked = Requests(nodes, kinds, sign, most_cores)
        self.first_core, self.first_word, self.node_of = numbers(nodes + 1), numbers(nodes + 1), numbers(procs)
        self.alike_until = numbers(nodes)
        """For each node: the next node that has another number of cores"""
        self.cores = words((procs + 63) // 64 + nodes)
        """Free cores of each node, as sets of bits; each node begins with a new word. If one job has all cores of a
        node, the bits of these cores remain unchanged until it ends
        """

    def begin_cores(self) -> None:
        """Set up the columns about cores, with all cores free."""
        core = word = 0
        for node in range(self.asked.nodes):
            self.first_core[node], self.first_word[node] = core, word
            many = self.asked.has[node * self.asked.kinds]
            for index in range(core, core + many):
                self.node_of[index] = node
            core += many
            word += (many + 63) // 64
        self.first_core[self.asked.nodes], self.first_word[self.asked.nodes] = core, word
        until = self.asked.nodes
        for left in range(self.asked.nodes):
            node = self.asked.nodes - 1 - left
            if left and self._cores_of(node) != self._cores_of(node + 1):
                until = node + 1
            self.alike_until[node] = until
            self._switch(node, self.first_core[node], self.first_core[node + 1] - 1)

    def _cores_of(self, node: int) -> int:
        return self.first_core[node + 1] - self.first_core[node]

    def mark_cores(self, first: int, last: int) -> None:
        """Switch the cores from `first` to `last`, which one job takes or gives back: free ones become taken, taken
        ones free. Nodes of which the job has all cores are left as they are.
        """
        node = self.node_of[first]
        begin, end = self.first_core[node], self.first_core[node + 1]
        if last < end:
            if first > begin or last < end - 1:
                self._switch(node, first, last)
            return
        if first > begin:
            self._switch(node, first, end - 1)
        other = self.node_of[last]
        if last < self.first_core[other + 1] - 1:
            self._switch(other, self.first_core[other], last)

    def _switch(self, node: int, first: int, last: int) -> None:
        """Switch the cores from `first` to `last` of the node: free ones become taken, taken ones free."""
        begin, word = self.first_core[node], self.first_word[node]
        bit, stop = first - begin, last + 1 - begin
        one: Word = EVERY
        if stop <= 64:
            self.cores[word] ^= one >> (64 - stop + bit) << bit
            return
        while bit < stop:
            many = min(64 - (bit & 63), stop - bit)
            mask: Word = EVERY
            self.cores[word + (bit >> 6)] ^= mask >> (64 - many) << (bit & 63)
            bit += many

    def _take_cores(self, node: int, many: int, place: int, at: int) -> int:
        """Take the `many` lowest-numbered free cores of the node, and write them to the history's ranges at index `at`;
        return the index behind them. The ranges of the job begin at index `place`.
        """
        ranges, word, core = self.h_ranges, self.first_word[node], self.first_core[node]
        while many:
            bits: Word = self.cores[word]
            if not bits:
                word += 1
                core += 64
                continue
            mask: Word = EVERY
            bit, length = 0, min(many, 64)
            mask >>= 64 - length
            if bits & mask != mask:  # not all at the beginning of the word
                bit = lowest_bit(bits)
                ended: Word = ~(bits >> bit) & EVERY
                length = min(lowest_bit(ended), many) if ended else many
                mask = EVERY
                mask >>= 64 - length
            self.cores[word] = bits ^ (mask << bit)
            if at > place and ranges[at - 1] == core + bit - 1:
                ranges[at - 1] = core + bit + length - 1
            else:
                ranges[at] = core + bit
                ranges[at + 1] = core + bit + length - 1
                at += 2
            many -= length
        return at

    def _give_back(self, at: int, procs: int) -> None:
        many, ranges = self.h_ranges[at], self.h_ranges
        for index in range(at + 1, at + 1 + 2 * many, 2):
            self.mark_cores(ranges[index], ranges[index + 1])
            self.free += ranges[index + 1] - ranges[index] + 1
        self.pieces -= many

    def _take_run(self, node: int, last: int, count: int, cores: int, place: int, at: int) -> int:
        """Take `cores` cores of each of the nodes `node` to before `last`, as `_take_cores` does for one node. Take all
        of their cores if `count`, the number of tasks on each, is `WHOLE`.
        """
        ranges = self.h_ranges
        while node < last:
            begin = node
            if count == WHOLE:
                node = last
            elif self.first_core[node + 1] - self.first_core[node] == cores:
                node = min(last, self.alike_until[node])
            if node > begin:
                first, end = self.first_core[begin], self.first_core[node] - 1
                self.free -= end - first + 1
                if at > place and ranges[at - 1] == first - 1:
                    ranges[at - 1] = end
                else:
                    ranges[at], ranges[at + 1] = first, end
                    at += 2
            else:
                at = self._take_cores(node, cores, place, at)
                self.free -= cores
                node += 1
        return at
