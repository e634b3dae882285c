"""Nodes of a machine in the fast loop: the state of each node, and where a request fits.

Nodes are grouped by their free cores, so that a search passes over nodes without enough free cores. Neighbouring nodes
that get the same number of tasks are a run, and changes are made run by run.
"""

from __future__ import annotations

from sim.kernel.node_states import MAGIC, WHOLE, Requests, States
from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Numbers, Word, copy_numbers, numbers, times, words


@cython.cclass
class Nodes:
    """States of the nodes at one time."""

    def __init__(self, asked: Requests, states: States) -> None:
        self.asked, self.states = asked, states
        self.at = numbers(asked.nodes)
        """For each node: number of its state"""
        self.sums = times(asked.kinds)
        """For each kind of resource: free amount of all nodes together"""
        self.levels: int = asked.most_cores + 2
        self.words: int = (asked.nodes + 63) // 64
        self.groups: int = (self.words + 63) // 64
        self.is_sorted, self.bits = False, words(self.levels * self.words)
        """For each level (see `States.level`): the nodes on it, as a set of bits; only up to date if `is_sorted`"""
        self.filled = words(self.levels * self.groups)
        """For each level: which words of `bits` are not 0, as a set of bits"""
        self.used = words((self.levels + 63) // 64)
        """Levels with nodes, as a set of bits"""
        self.keeping = words(0)
        """For each bound of requests (see `Requests.bounds`): the nodes that have enough free for it, as a set of bits;
        like `bits`, only up to date if `is_sorted`
        """
        self.bounds = numbers(32)
        """Indices in `keeping` at which the sets of nodes begin that the last search needed"""
        self.chosen, self.many, self.given = numbers(asked.nodes), numbers(asked.nodes), numbers(asked.nodes)
        """Runs of neighbouring nodes that the last search chose: first node, number of nodes, and number of tasks on
        each (`WHOLE` for the whole node)
        """
        self.runs = self.found = 0
        """Number of the runs of nodes in `chosen`, the result of the last search, and number of nodes in these runs"""
        self.short = 0
        """Number of tasks or nodes that the last search lacked if it counted all places, otherwise 0"""
        self.watched, self.room, self.watch = -1, 0, 0
        """Request whose places on all nodes are counted all the time, -1 for none; the number of these places; and a
        counter, increased whenever `rooms` becomes invalid
        """
        self.rooms, self.known = numbers(states.most), numbers(states.most)
        """For each state: places for the watched request, valid if `known` is equal to `watch`"""
        self.bit_at = numbers(64)
        """For each bit of a 64-bit word: its number (0 to 63). The index is the upper 6 bits of the product of the bit
        and `MAGIC`
        """
        for bit in range(64):
            self.bit_at[((MAGIC << bit) & EVERY) >> 58] = bit

    def begin(self, free: Numbers) -> None:
        """Set up the states of the nodes; `free` has the free amounts of each node."""
        kinds = self.asked.kinds
        for node in range(self.asked.nodes):
            for kind in range(kinds):
                self.states.sought[kind] = free[node * kinds + kind]
                self.sums[kind] += free[node * kinds + kind]
            self.at[node] = self.states.find(self.asked.like[node])

    def become(self, other: Nodes) -> None:
        """Copy the states of the other object."""
        copy_numbers(other.at, self.at, self.asked.nodes)
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
        self.keeping = words(self.asked.bounds * self.words)
        for node in range(self.asked.nodes):
            state = self.at[node]
            self._switch(-1, self.states.level[state], self.states.bounds[state], node, node + 1)
        self.is_sorted = True

    def _switch(self, level: int, other: int, bounds: int, first: int, last: int) -> None:
        """Move the nodes `first` to before `last`, which are all on the level `level`, to the level `other`; -1 for a
        level means none. Switch, for each of these bounds, whether the nodes keep it (have at least as much free).
        Before, all of these nodes keep it or none.
        """
        while first < last:
            word, bit, bound, left = first >> 6, first & 63, 0, bounds
            many = min(64 - bit, last - first)
            mask: Word = EVERY
            mask = mask >> (64 - many) << bit
            if level != other:
                if level >= 0:
                    self._switch_on(level, word, mask)
                self._switch_on(other, word, mask)
            while left:
                if left & 1:
                    self.keeping[bound * self.words + word] ^= mask
                left >>= 1
                bound += 1
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

    # Changes

    def shift(
        self, nodes: Numbers, many: Numbers, counts: Numbers, first: int, last: int, request: int, sign: int
    ) -> None:
        """Change the free resources of some nodes by what tasks of the request take there: give it back if `sign` is 1,
        take it if `sign` is -1.

        The nodes are the runs with the indices `first` to before `last`: `nodes` has the first node of each, `many` the
        number of nodes, and `counts` the number of tasks on each node. Each node may get a new state, so the caller
        makes sure that enough numbers of states are unused.
        """
        kinds, its, states = self.asked.kinds, request * self.asked.kinds, self.states
        known, counted, new, on, tasks = -1, 0, 0, 0, 0
        for run in range(first, last):
            node, end, count = nodes[run], nodes[run] + many[run], counts[run]
            while node < end:
                begin, was = node, self.at[node]
                if was != known or count != counted:
                    known, counted, new = was, count, states.after(was, request, count, sign)
                while node < end and self.at[node] == was:
                    self.at[node] = new
                    node += 1
                if count == WHOLE:
                    for kind in range(kinds):
                        self.sums[kind] += (states.free[new * kinds + kind] - states.free[was * kinds + kind]) * (
                            node - begin
                        )
                else:
                    on += node - begin
                    tasks += count * (node - begin)
                if self.watched >= 0:
                    more = self._places(new) - self._places(was)
                    if more:
                        self.room += more * self._allowed(self.watched, begin, node)
                if self.is_sorted:
                    level, other, bounds = states.level[was], states.level[new], states.bounds[was] ^ states.bounds[new]
                    if level != other or bounds:
                        self._switch(level, other, bounds, begin, node)
        for kind in range(kinds):
            self.sums[kind] += sign * (tasks * self.asked.each[its + kind] + on * self.asked.once[its + kind])

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
        self.watch += 1

    def _places(self, state: int) -> int:
        """Return the number of places for the watched request on a node in this state."""
        if self.known[state] != self.watch:
            self.known[state], self.rooms[state] = self.watch, self._places_for(self.watched, state)
        return self.rooms[state]

    def _places_for(self, request: int, state: int) -> int:
        """Return the number of places on a node in this state for the request, in its first partition."""
        wants = self.asked.wants[self.asked.first[request]]
        return self.states.room(state, request) if self.states.bounds[state] & wants == wants else 0

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
            places = self._places_for(request, state)
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
        spare, known, counted, less = self.room - places, -1, 0, 0
        for run in range(first, last):
            node, end, count = nodes[run], nodes[run] + many[run], counts[run]
            while node < end and spare >= 0:
                begin, was = node, self.at[node]
                while node < end and self.at[node] == was:
                    node += 1
                if was != known or count != counted:
                    known, counted, less = was, count, self._places(was)
                    if less and count != WHOLE and not is_whole:
                        less -= self.states.room_beside(was, self.watched, request, count)
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
        asked, least, left, known, places = self.asked, self.asked.least[request], self.asked.count[request], -1, 0
        is_whole, most, found, runs, follows = asked.whole[partition] == 1, asked.most[request], 0, 0, -1
        level, last, mask = 1, self.levels - 1, asked.mask[partition] * self.words
        if asked.sign > 0:
            level = asked.unit[request * asked.kinds]
        elif asked.sign < 0:
            last -= asked.unit[request * asked.kinds]
        bounds = self._bounds_of(partition)
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
                            known = self.at[node]
                            places = self.states.room(known, request)
                        room = places
                        if not room:
                            continue
                        if found == most:
                            return False
                        spared = least - found - 1
                        if spared > 0 and room > left - spared:
                            room = left - spared  # each further node must get a task
                        if room > left:
                            room = left
                        found += 1
                        left -= room
                        goes_on = room == places and found >= least
                        if is_whole:
                            room = WHOLE
                        if node == follows and self.given[runs - 1] == room:
                            self.many[runs - 1] += 1
                        else:
                            self.chosen[runs], self.many[runs], self.given[runs] = node, 1, room
                            runs += 1
                        while goes_on and left >= places and found < most:  # neighbours in the same state
                            lowest <<= 1
                            goes_on = (bits & lowest) != 0 and self.at[node + 1] == known
                            if goes_on:
                                bits ^= lowest
                                node += 1
                                found += 1
                                left -= places
                                self.many[runs - 1] += 1
                        follows = node + 1
                        if not left:
                            self.found, self.runs = found, runs
                            return True
            level = self._used_from(level + 1)
        self.short = left
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

    def _bounds_of(self, partition: int) -> int:
        """Write into the column `bounds`, for each bound of this partition of a request, the index at which its set of
        nodes begins in `keeping`; return the number of bounds.
        """
        wants, bound, count = self.asked.wants[partition], 0, 0
        while wants:
            if wants & 1:
                self.bounds[count] = bound * self.words
                count += 1
            wants >>= 1
            bound += 1
        return count
