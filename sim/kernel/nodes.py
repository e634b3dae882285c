"""Nodes of a machine in the fast loop: the requests of the jobs, the free resources of each node, and where a request
fits.

The rules are those of `sim.workload.shape`. Equal requests share a number, so that one answer serves all jobs with the
same request. Nodes are grouped by their free cores, so that a search passes over nodes without enough free cores.
"""

from __future__ import annotations

from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Numbers, Word, numbers, times, words

MAGIC: Word = 0x03F79D71B4CB0A89
"""De Bruijn number: each shift to the left gives different upper 6 bits, which tell by how much it was shifted"""
WHOLE = 0
"""Value in place of a number of tasks, for a node that a job takes as a whole"""


@cython.cclass
class Requests:
    """Requests of the jobs for nodes, and the resources of each node when it is empty. A request may name several
    partitions.
    """

    def __init__(self, nodes: int, kinds: int, sign: int) -> None:
        self.nodes, self.kinds = nodes, kinds
        """Number of nodes, and of kinds of resources; the first kind is cores"""
        self.sign = sign
        """Order in which nodes are filled: 0 by number, 1 fewest free cores first, -1 most free cores first"""
        self.has = numbers(nodes * kinds)
        """For each node, and for each kind of resource: amount when the node is empty"""
        self.of = numbers(0)
        """For each job, by rank: number of its request"""
        self.each = self.once = self.unit = numbers(0)
        """For each request and kind: amount for each task (or node), amount once on each node, and the sum of both"""
        self.needed = numbers(kinds)
        """For each kind of resource: amount that even the smallest request needs on a node; a node with less is of no
        use
        """
        self.total = times(0)
        """For each request and kind: least amount that all nodes together must have free"""
        self.tasks = self.count = self.least = self.most = self.grows = numbers(0)
        """For each request: its tasks, 0 if it is for nodes; number of tasks or nodes; least and most nodes; and 1 if a
        request that fits always still fits when more is free
        """
        self.first = numbers(0)
        """For each request: index of its first partition in the columns `mask`, `whole` and `limit`; its partitions end
        where those of the next request begin
        """
        self.mask = self.whole = self.limit = numbers(0)
        """For each partition of a request: number of its set of nodes, -1 for all nodes; 1 if the job gets whole nodes;
        and the most nodes that the partition allows
        """
        self.allowed = numbers(0)
        """For each set of nodes, and each node: 1 if the node is in the set"""


@cython.cclass
class Nodes:
    """Free resources of each node at one time."""

    def __init__(self, asked: Requests, most_cores: int) -> None:
        self.asked = asked
        self.free = numbers(asked.nodes * asked.kinds)
        """For each node and kind of resource: free amount"""
        self.sums = times(asked.kinds)
        """For each kind of resource: free amount of all nodes together"""
        self.levels: int = (most_cores if asked.sign else 1) + 1
        self.words: int = (asked.nodes + 63) // 64
        self.bits = words(self.levels * self.words)
        """For each level (number of free cores, see `level_of`): the nodes on it, as a set of bits"""
        self.at_level = numbers(self.levels)
        """For each level (number of free cores, see `level_of`): number of nodes on it"""
        self.chosen, self.given, self.found = numbers(asked.nodes), numbers(asked.nodes), 0
        """Nodes of the last search, the number of tasks that each gets (`WHOLE` for the whole node), and how many nodes
        there are
        """
        self.short = 0
        """Number of tasks or nodes that the last search lacked if it counted all places, otherwise 0"""
        self.watched, self.room = -1, 0
        """Request whose places on all nodes are counted all the time, -1 for none; and the number of these places"""
        self.bit_at = numbers(64)
        """For each bit of a 64-bit word: its number (0 to 63). The index is the upper 6 bits of the product of the bit
        and `MAGIC`
        """
        for bit in range(64):
            self.bit_at[((MAGIC << bit) & EVERY) >> 58] = bit

    def fill(self) -> None:
        """Compute all other data of this object from the column `free`."""
        kinds, nodes, levels = self.asked.kinds, self.asked.nodes, self.levels
        for kind in range(kinds):
            self.sums[kind] = 0.0
        for index in range(levels * self.words):
            self.bits[index] = 0
        for level in range(levels):
            self.at_level[level] = 0
        for node in range(nodes):
            for kind in range(kinds):
                self.sums[kind] += self.free[node * kinds + kind]
            level = self.level_of(node)
            one: Word = 1
            self.bits[level * self.words + (node >> 6)] |= one << (node & 63)
            self.at_level[level] += 1

    def level_of(self, node: int) -> int:
        """Return the level of the node: 0 if no request fits, otherwise its free cores or, where nodes are filled by
        number, 1.
        """
        at, asked = node * self.asked.kinds, self.asked
        for kind in range(asked.kinds):
            if self.free[at + kind] < asked.needed[kind]:
                return 0
        return self.free[at] if asked.sign else 1

    def become(self, other: Nodes) -> None:
        """Copy the free resources of the other object."""
        for index in range(self.asked.nodes * self.asked.kinds):
            self.free[index] = other.free[index]
        for index in range(self.levels * self.words):
            self.bits[index] = other.bits[index]
        for index in range(self.levels):
            self.at_level[index] = other.at_level[index]
        for index in range(self.asked.kinds):
            self.sums[index] = other.sums[index]
        self.watched = -1

    def shift(self, nodes: Numbers, counts: Numbers, first: int, last: int, request: int, sign: int) -> None:
        """Add to the free resources of some nodes what tasks of the request take there, times `sign`, which is 1 or -1.

        The nodes are `nodes[first:last]`, and `counts` has the number of tasks on each.
        """
        kinds, its, has_once = self.asked.kinds, request * self.asked.kinds, False
        many = tasks = 0
        for kind in range(kinds):
            has_once = has_once or self.asked.once[its + kind] > 0
        for seat in range(first, last):
            node, count = nodes[seat], counts[seat]
            at, word, bit = node * kinds, node >> 6, node & 63
            was = self.level_of(node)
            if self.watched >= 0:
                self.room -= self.room_on(node, self.watched, -1, 0)
            if count == WHOLE:
                for kind in range(kinds):
                    self.free[at + kind] += sign * self.asked.has[at + kind]
                    self.sums[kind] += sign * self.asked.has[at + kind]
            else:
                tasks += count
                many += 1
                count *= sign
                for kind in range(kinds):
                    self.free[at + kind] += count * self.asked.each[its + kind]
                if has_once:
                    for kind in range(kinds):
                        self.free[at + kind] += sign * self.asked.once[its + kind]
            if self.watched >= 0:
                self.room += self.room_on(node, self.watched, -1, 0)
            level = self.level_of(node)
            if was != level:
                mark: Word = 1
                mark <<= bit
                self.bits[was * self.words + word] ^= mark
                self.bits[level * self.words + word] ^= mark
                self.at_level[was] -= 1
                self.at_level[level] += 1
        for kind in range(kinds):
            self.sums[kind] += sign * (tasks * self.asked.each[its + kind] + many * self.asked.once[its + kind])

    def choose(self, request: int) -> bool:
        """Choose nodes for the request, in the first of its partitions in which it fits; return False if it does not
        fit.
        """
        asked = self.asked
        self.found = self.short = 0
        if self.lacks(request):
            return False
        for partition in range(asked.first[request], asked.first[request + 1]):
            if self.search(request, partition) and self.found <= asked.limit[partition]:
                return True
        return False

    def lacks(self, request: int) -> bool:
        """Return True if all nodes together have too little for the request."""
        kind, its = 0, request * self.asked.kinds
        while kind < self.asked.kinds and self.sums[kind] >= self.asked.total[its + kind]:
            kind += 1
        return kind < self.asked.kinds

    def can_count(self, request: int) -> bool:
        """Return True if the number of places on the nodes decides alone whether the request fits: it fits if there are
        as many as it needs.
        """
        asked, partition = self.asked, self.asked.first[request]
        is_simple = asked.grows[request] == 1 and asked.least[request] <= 1
        return is_simple and asked.first[request + 1] == partition + 1 and asked.limit[partition] >= asked.nodes

    def watch(self, request: int) -> None:
        """Count the places (tasks or nodes) for the request on all nodes, now and after every change."""
        self.watched, self.room = request, 0
        for node in range(self.asked.nodes):
            self.room += self.room_on(node, request, -1, 0)

    def loss(self, nodes: Numbers, counts: Numbers, first: int, last: int, request: int) -> int:
        """Return how many places for the watched request would be lost if tasks of the request `request` were put on
        some nodes.

        The nodes and tasks are as in `shift`, and no node occurs twice.
        """
        lost = 0
        for seat in range(first, last):
            lost += self.room_on(nodes[seat], self.watched, -1, 0)
            lost -= self.room_on(nodes[seat], self.watched, request, counts[seat])
        return lost

    def room_on(self, node: int, request: int, other: int, count: int) -> int:
        """Return the number of places for the request on the node, at most as many as it needs.

        If `other` is not -1, `count` tasks of this other request first take their resources.
        """
        asked, kinds, its, at = self.asked, self.asked.kinds, request * self.asked.kinds, node * self.asked.kinds
        partition, room, taken = asked.first[request], max(asked.tasks[request], 1), 0
        if asked.mask[partition] >= 0 and not asked.allowed[asked.mask[partition] * asked.nodes + node]:
            return 0
        if other >= 0 and (count == WHOLE or asked.whole[partition]):
            return 0
        if asked.whole[partition] and self.free[at] != asked.has[at]:
            return 0
        for kind in range(kinds):
            if other >= 0:
                taken = asked.each[other * kinds + kind] * count + asked.once[other * kinds + kind]
            fit, each = self.free[at + kind] - asked.once[its + kind] - taken, asked.each[its + kind]
            if fit < each or fit < 0:
                return 0
            if each > 1 and fit < each * room:
                room = fit // each
            elif each and fit < room:
                room = fit
        return room

    def search(self, request: int, partition: int) -> bool:
        """Choose nodes of one of the request's partitions, in the order of the placement rule; return False if there
        are too few.

        In a request of nodes instead of tasks, each node counts as one task.
        """
        asked, kinds, its, least = self.asked, self.asked.kinds, request * self.asked.kinds, self.asked.least[request]
        left, mask = asked.count[request], asked.mask[partition] * asked.nodes
        units = max(asked.tasks[request], 1)
        is_whole, most, found = asked.whole[partition] == 1, asked.most[request], 0
        low = asked.unit[its] if asked.sign else 1
        level, end, step = low, self.levels, 1
        if asked.sign < 0:
            level, end, step = self.levels - 1, low - 1, -1
        if low >= self.levels:
            return False
        while level != end:
            if self.at_level[level]:
                for word in range(self.words):
                    bits: Word = self.bits[level * self.words + word]
                    while bits:
                        lowest: Word = bits & -bits
                        bits ^= lowest
                        node = 64 * word + self.bit_at[((lowest * MAGIC) & EVERY) >> 58]
                        if mask >= 0 and not asked.allowed[mask + node]:
                            continue
                        at, room = node * kinds, units
                        if is_whole and self.free[at] != asked.has[at]:
                            continue
                        for kind in range(kinds):
                            fit = self.free[at + kind] - asked.once[its + kind]
                            each = asked.each[its + kind]
                            if fit < each or fit < 0:
                                room = 0
                                break
                            if each > 1 and fit < each * room:
                                room = fit // each
                            elif each and fit < room:
                                room = fit
                        if not room:
                            continue
                        if found == most:
                            return False
                        spared = least - found - 1
                        if spared > 0 and room > left - spared:
                            room = left - spared  # each further node must get a task
                        if room > left:
                            room = left
                        self.chosen[found] = node
                        self.given[found] = WHOLE if is_whole else room
                        found += 1
                        left -= room
                        if not left:
                            self.found = found
                            return True
            level += step
        self.short = left
        return False
