"""Nodes of a machine in the fast loop: the state of each node, and where a request fits.

Nodes are grouped by their free cores, so that a search passes over nodes without enough free cores. Neighbouring nodes
that get the same number of tasks are a run, and changes are made run by run.
"""

from __future__ import annotations

from sim.kernel.arrays import numbers, times, words
from sim.kernel.node_states import MAGIC, WHOLE, Requests
from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Numbers, Word

FEW = 32
"""A search sorts the nodes with room for a task of the request if they are fewer. Otherwise it goes level by level,
because it needs only some of them
"""


@cython.cclass
class Nodes:
    """States of the nodes at one time."""

    def __init__(self, asked: Requests) -> None:
        self.asked, self.at = asked, words(asked.nodes)
        """Requests and, for each node, its state"""
        self.sums = times(asked.kinds)
        """For each kind of resource: free amount of all nodes together"""
        self.levels: int = asked.most_cores + 2
        self.words: int = (asked.nodes + 63) // 64
        self.groups: int = (self.words + 63) // 64
        self.is_sorted, self.bits = False, words(self.levels * self.words)
        """For each level but 0 (see `Requests.level`): its nodes, as a set of bits; only up to date if `is_sorted`"""
        self.filled = words(self.levels * self.groups)
        """For each level: which words of `bits` are not 0, as a set of bits"""
        self.used = words((self.levels + 63) // 64)
        """Levels with nodes, as a set of bits"""
        self.keeping = words(0)
        """For each bound (see `Requests.bound_from`): the nodes that keep it, as a set of bits; like `bits`, only up to
        date if `is_sorted`
        """
        self.bounds = numbers(asked.kinds + 2)
        """Indices in `keeping` at which the sets of nodes begin that the last search needed"""
        self.chosen, self.many, self.given = numbers(asked.nodes), numbers(asked.nodes), numbers(asked.nodes)
        """Runs of neighbouring nodes that the last search chose: first node, number of nodes, and number of tasks on
        each (`WHOLE` for the whole node)
        """
        self.runs = self.found = 0
        """Number of the runs of nodes in `chosen`, the result of the last search, and number of nodes in these runs"""
        self.left, self.follows = 0, -1
        """Tasks (or nodes) that a search still has to place, and the number that follows its last chosen node"""
        self.able, self.able_level = numbers(FEW), numbers(FEW)
        """Nodes with room for a task of the request, in the order in which they are filled, and their levels"""
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

    def begin(self, free: Numbers) -> None:
        """Set up the states of the nodes; `free` has the free amounts of each node."""
        asked = self.asked
        for node in range(asked.nodes):
            state: Word = asked.full[node]
            for kind in range(asked.kinds):
                amount: Word = free[node * asked.kinds + kind]
                state += amount << asked.field[kind]
                self.sums[kind] += free[node * asked.kinds + kind]
            self.at[node] = state

    def become(self, other: Nodes) -> None:
        """Copy the states of the other object."""
        for node in range(self.asked.nodes):
            self.at[node] = other.at[node]
        for index in range(self.asked.kinds):
            self.sums[index] = other.sums[index]
        self.watched, self.is_sorted = -1, False

    # Nodes by level

    def _sort(self) -> None:
        """Compute the sets of nodes that searches need."""
        for index in range(self.levels * self.words):
            self.bits[index] = 0
        for index in range(self.levels * self.groups):
            self.filled[index] = 0
        for index in range(len(self.used)):
            self.used[index] = 0
        self.keeping = words((self.asked.first_bound[self.asked.kinds] + 2) * self.words)
        for node in range(self.asked.nodes):
            self._switch(self.asked.full[node], self.at[node], node, node + 1)
        self.is_sorted = True

    def _switch(self, was: Word, new: Word, first: int, last: int) -> None:
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

    # Changes

    def shift(
        self, nodes: Numbers, many: Numbers, counts: Numbers, first: int, last: int, request: int, sign: int
    ) -> None:
        """Change the free resources of some nodes by what tasks of the request take there: give it back if `sign` is 1,
        take it if `sign` is -1.

        The nodes are the runs with the indices `first` to before `last`: `nodes` has the first node of each, `many` the
        number of nodes, and `counts` the number of tasks on each node.
        """
        asked, kinds, its, on, tasks = self.asked, self.asked.kinds, request * self.asked.kinds, 0, 0
        guards: Word = asked.guards
        unit: Word = asked.unit_in[self.watched] if self.watched >= 0 else EVERY
        for run in range(first, last):
            node, end, count = nodes[run], nodes[run] + many[run], counts[run]
            change: Word = count * asked.each_in[request] + asked.once_in[request]
            while node < end:
                begin, was = node, self.at[node]
                if count == WHOLE:
                    new: Word = asked.empty[node] if sign > 0 else asked.full[node]
                else:
                    new = was + change if sign > 0 else was - change
                while node < end and self.at[node] == was:
                    self.at[node] = new
                    node += 1
                if count == WHOLE:
                    for kind in range(kinds):
                        self.sums[kind] += sign * asked.has[begin * kinds + kind] * (node - begin)
                else:
                    on += node - begin
                    tasks += count * (node - begin)
                if self.watched >= 0 and (((was if sign < 0 else new) | guards) - unit) & guards == guards:
                    more = self._places(new, begin) - self._places(was, begin)
                    if more:
                        self.room += more * self._allowed(self.watched, begin, node)
                if self.is_sorted:
                    self._switch(was, new, begin, node)
        for kind in range(kinds):
            self.sums[kind] += sign * (tasks * asked.each[its + kind] + on * asked.once[its + kind])

    # Places

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

    def begin_to_watch(self, request: int) -> None:
        """Count the places (tasks or nodes) for the request on all nodes, now and after every change."""
        self.watched, self.room = request, self.room_on(0, self.asked.nodes, request)

    def _places(self, state: Word, node: int) -> int:
        """Return the number of places for the watched request on the node, if it is in this state."""
        return self._places_for(self.watched, state, node)

    def _places_for(self, request: int, state: Word, node: int) -> int:
        """Return the number of places for the request, in its first partition, on the node, if it is in this state."""
        if self.asked.whole[self.asked.first[request]] and state != self.asked.empty[node]:
            return 0
        return self.asked.room(state, request)

    def _allowed(self, request: int, first: int, last: int) -> int:
        """Return how many of the nodes `first` to before `last` the first partition of the request allows."""
        mask, many = self.asked.mask[self.asked.first[request]], 0
        if mask < 0:
            return last - first
        while first < last:
            if self.asked.allowed[mask * self.words + (first >> 6)] >> (first & 63) & 1:
                many += 1
            first += 1
        return many

    def room_on(self, first: int, last: int, request: int) -> int:
        """Return the number of places for the request on the nodes `first` to before `last`, in its first partition."""
        room = 0
        while first < last:
            begin, state = first, self.at[first]
            while first < last and self.at[first] == state:
                first += 1
            places = self._places_for(request, state, begin)
            if places:
                room += places * self._allowed(request, begin, first)
        return room

    def keeps(
        self, places: int, nodes: Numbers, many: Numbers, counts: Numbers, first: int, last: int, request: int
    ) -> bool:
        """Return True if at least `places` places for the watched request would be left if tasks of the request
        `request` were put on some nodes.

        The nodes and tasks are as in `shift`, and no node occurs twice.
        """
        is_whole = self.asked.whole[self.asked.first[self.watched]] == 1
        asked, spare = self.asked, self.room - places
        for run in range(first, last):
            node, end, count = nodes[run], nodes[run] + many[run], counts[run]
            change: Word = count * asked.each_in[request] + asked.once_in[request]
            while node < end and spare >= 0:
                begin, was = node, self.at[node]
                while node < end and self.at[node] == was:
                    node += 1
                less = self._places(was, begin)
                if less and count != WHOLE and not is_whole:
                    less -= asked.room(was - change, self.watched)
                if less:
                    spare -= less * self._allowed(self.watched, begin, node)
            if spare < 0:
                return False
        return spare >= 0

    # Searches

    def choose(self, request: int) -> bool:
        """Choose nodes for the request, in the first of its partitions in which it fits; return False if it does not
        fit.
        """
        asked = self.asked
        self.found = self.runs = self.short = 0
        if self.lacks(request):
            return False
        if not self.is_sorted:
            self._sort()
        for partition in range(asked.first[request], asked.first[request + 1]):
            if self._search(request, partition) and self.found <= asked.limit[partition]:
                return True
        return False

    def _search(self, request: int, partition: int) -> bool:
        """Choose nodes of one of the request's partitions, in the order of the placement rule; return False if there
        are too few.

        In a request of nodes instead of tasks, each node counts as one task.
        """
        asked, is_whole = self.asked, self.asked.whole[partition] == 1
        self.left, self.found, self.runs, self.follows = asked.count[request], 0, 0, -1
        bounds = self._bounds_of(request, is_whole)
        few = FEW if self.left > FEW * asked.most_room[request] else self._few_able(request, partition, bounds)
        if few == FEW:
            return self._search_by_level(request, partition, bounds)
        for index in range(few):
            if self.found == asked.most[request]:
                return False
            node = self.able[index]
            self._fill(node, asked.room(self.at[node], request), request, is_whole)
            if not self.left:
                return True
        self.short = self.left
        return False

    def _few_able(self, request: int, partition: int, bounds: int) -> int:
        """Write the nodes with room for a task of the request into the column `able`, in the order in which they are
        filled; return their number. Stop at `FEW`.
        """
        asked, mask, count = self.asked, self.asked.mask[partition] * self.words, 0
        guards: Word = asked.guards
        unit: Word = asked.unit_in[request]
        for word in range(self.words):
            bits: Word = self.keeping[self.bounds[0] + word]
            for bound in range(1, bounds):
                bits &= self.keeping[self.bounds[bound] + word]
            if mask >= 0:
                bits &= asked.allowed[mask + word]
            while bits:
                lowest: Word = bits & -bits
                bits ^= lowest
                node = 64 * word + self.bit_at[((lowest * MAGIC) & EVERY) >> 58]
                if ((self.at[node] | guards) - unit) & guards == guards:
                    self.able[count] = node
                    count += 1
                    if count == FEW:
                        return FEW
        if asked.sign:
            self._sort_able(count)
        return count

    def _sort_able(self, count: int) -> None:
        """Sort the first `count` nodes of the column `able`, which are in the order of their numbers, by level."""
        for index in range(count):
            node, place = self.able[index], index
            level = self.asked.level(self.at[node])
            while place and self.able_level[place - 1] > level:
                self.able_level[place], self.able[place] = self.able_level[place - 1], self.able[place - 1]
                place -= 1
            self.able_level[place], self.able[place] = level, node

    def _fill(self, node: int, room: int, request: int, is_whole: bool) -> None:
        """Choose the node, which has `room` places for the request, for as many tasks as possible."""
        spared = self.asked.least[request] - self.found - 1
        if spared > 0 and room > self.left - spared:
            room = self.left - spared  # each further node must get a task
        if room > self.left:
            room = self.left
        self.found += 1
        self.left -= room
        count = WHOLE if is_whole else room
        if node == self.follows and self.given[self.runs - 1] == count:
            self.many[self.runs - 1] += 1
        else:
            self.chosen[self.runs], self.many[self.runs], self.given[self.runs] = node, 1, count
            self.runs += 1
        self.follows = node + 1

    def _search_by_level(self, request: int, partition: int, bounds: int) -> bool:
        """Choose nodes as `_search` does, but level by level."""
        asked, is_whole, most = self.asked, self.asked.whole[partition] == 1, self.asked.most[request]
        level, last, mask, places = 1, self.levels - 1, asked.mask[partition] * self.words, 0
        guards: Word = asked.guards
        unit: Word = asked.unit_in[request]
        known: Word = 0  # a node in this state has no free core, so that it is on no level
        if asked.sign > 0:
            level = asked.unit[request * asked.kinds]
        elif asked.sign < 0:
            last -= asked.unit[request * asked.kinds]
        level = self._used_from(level)
        while level <= last:
            for group in range(self.groups):
                rows: Word = self.filled[level * self.groups + group]
                while rows:
                    lowest: Word = rows & -rows
                    rows ^= lowest
                    word = 64 * group + self.bit_at[((lowest * MAGIC) & EVERY) >> 58]
                    bits: Word = self.bits[level * self.words + word]
                    if mask >= 0:
                        bits &= asked.allowed[mask + word]
                    for bound in range(bounds):
                        bits &= self.keeping[self.bounds[bound] + word]
                    while bits:
                        lowest = bits & -bits
                        bits ^= lowest
                        node = 64 * word + self.bit_at[((lowest * MAGIC) & EVERY) >> 58]
                        if self.at[node] != known:
                            known, places = self.at[node], 0
                            if ((known | guards) - unit) & guards == guards:
                                places = asked.room(known, request)
                        if not places:
                            continue
                        if self.found == most:
                            return False
                        left = self.left
                        self._fill(node, places, request, is_whole)
                        if not self.left:
                            return True
                        if left - self.left == places and self.found >= asked.least[request]:
                            while bits & lowest << 1 and self.at[node + 1] == known and self.found < most:
                                if self.left < places:
                                    break
                                lowest <<= 1  # a neighbour in the same state
                                bits ^= lowest
                                node += 1
                                self.found += 1
                                self.left -= places
                                self.many[self.runs - 1] += 1
                            self.follows = node + 1
                            if not self.left:
                                return True
            level = self._used_from(level + 1)
        self.short = self.left
        return False

    def _used_from(self, level: int) -> int:
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

    def _bounds_of(self, request: int, is_whole: bool) -> int:
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
