"""Nodes of a machine in the fast loop: the state of each node, and where a request fits.

Nodes are grouped by their free cores, so that a search passes over nodes without enough free cores. Neighbouring nodes
that get the same number of tasks are a run, and changes are made run by run.
"""

from __future__ import annotations

from sim.kernel.arrays import numbers, times, words
from sim.kernel.node_sets import NodeSets
from sim.kernel.node_states import WHOLE, Requests, Runs
from sim.machine import cython
from sim.machine.columns import Numbers, Word, lowest_bit

MOST_LOGGED = 256
"""Largest number of freed runs of nodes that are remembered. If more have been freed since the last search for a
request, the search is made again
"""


@cython.cclass
class Nodes:
    """States of the nodes at one time."""

    def __init__(self, asked: Requests) -> None:
        self.asked, self.at = asked, words(asked.nodes)
        """Requests and, for each node, its state"""
        self.sets, self.is_sorted = NodeSets(asked), False
        """Sets of nodes by their states, which are only up to date if `is_sorted`, and whether they are"""
        self.sums = times(asked.kinds)
        """For each kind of resource: free amount of all nodes together"""
        self.chosen = Runs(asked.nodes)
        """Nodes that the last search chose"""
        self.runs = self.found = 0
        """Number of the runs of nodes in `chosen`, the result of the last search, and number of nodes in these runs"""
        self.left, self.follows = 0, -1
        """Tasks (or nodes) that a search still has to place, and the number that follows its last chosen node"""
        self.short = 0
        """Number of tasks or nodes that the last search lacked if it counted all places, otherwise 0"""
        self.watched, self.room = -1, 0
        """Request whose places on all nodes are counted all the time, -1 for none; and the number of these places"""
        self.places_on = numbers(asked.nodes)
        """For each node: number of its places for the watched request, whether or not that allows the node"""
        self.is_logging, self.logged, self.freed = False, 0, 0
        """True if runs of nodes are logged when resources are freed on them, number of all entries of the log until
        now, and how many times resources of a node were freed
        """
        self.log_node, self.log_many, self.log_state = numbers(MOST_LOGGED), numbers(MOST_LOGGED), words(MOST_LOGGED)
        """Runs of nodes whose resources were freed last, as first node, number of nodes and their state then (entry i
        is at index i modulo `MOST_LOGGED`)
        """

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

    # Changes

    def shift(self, runs: Runs, first: int, last: int, request: int, sign: int) -> None:
        """Change the free resources of some nodes by what tasks of the request take there: give it back if `sign` is 1,
        take it if `sign` is -1. The nodes are those of the runs with the indices `first` to before `last`. The sums of
        all nodes remain as they are; `count` changes these.
        """
        asked = self.asked
        for run in range(first, last):
            node, count = runs.node[run], runs.tasks[run]
            end = node + runs.many[run]
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
                if self.watched >= 0:
                    self._count_anew(new, begin, node)
                if self.is_sorted:
                    self.sets.switch(was, new, begin, node)
                if sign > 0 and self.is_logging:
                    self._log(begin, node - begin, new)

    def count(self, runs: Runs, first: int, last: int, request: int, sign: int) -> None:
        """Change the free amounts of all nodes together as `shift` changes those of each node."""
        asked, kinds, on, tasks = self.asked, self.asked.kinds, 0, 0
        for run in range(first, last):
            node, many = runs.node[run], runs.many[run]
            if runs.tasks[run] != WHOLE:
                on += many
                tasks += many * runs.tasks[run]
                continue
            for kind in range(kinds):
                amount = asked.before[(node + many) * kinds + kind] - asked.before[node * kinds + kind]
                self.sums[kind] += sign * amount
        for kind in range(kinds):
            its = request * kinds + kind
            self.sums[kind] += sign * (tasks * asked.each[its] + on * asked.once[its])

    def _log(self, node: int, many: int, state: Word) -> None:
        """Log that resources were freed on `many` nodes from `node` on, which are in this state now."""
        entry = self.logged & (MOST_LOGGED - 1)
        self.log_node[entry], self.log_many[entry], self.log_state[entry] = node, many, state
        self.logged += 1
        self.freed += many

    def places_freed(self, request: int, since: int) -> int:
        """Return an upper bound for the number of places for the request, in its first partition, on the nodes in the
        log from entry `since` on.
        """
        asked, places, is_whole = self.asked, 0, self.asked.whole[self.asked.first[request]] == 1
        guards: Word = asked.guards
        unit: Word = asked.unit_in[request]
        for number in range(since, self.logged):
            entry = number & (MOST_LOGGED - 1)
            node, many = self.log_node[entry], self.log_many[entry]
            state: Word = self.at[node] if many == 1 else self.log_state[entry]
            if ((state | guards) - unit) & guards == guards and (not is_whole or state == asked.empty[node]):
                places += asked.more_room(state, request) * self._allowed(request, node, node + many)
        return places

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
        self.watched, self.room, node = request, 0, 0
        while node < self.asked.nodes:
            begin, state = node, self.at[node]
            while node < self.asked.nodes and self.at[node] == state:
                self.places_on[node] = 0
                node += 1
            self._count_anew(state, begin, node)

    def _count_anew(self, state: Word, first: int, last: int) -> None:
        """Count the places for the watched request on the nodes `first` to before `last`, whose state is `state` now
        and was another before.
        """
        places = self._places_for(self.watched, state, first)
        more = places - self.places_on[first]
        if more:
            self.room += more * self._allowed(self.watched, first, last)
            for node in range(first, last):
                self.places_on[node] = places

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
            if self.asked.allowed[mask * self.sets.words + (first >> 6)] >> (first & 63) & 1:
                many += 1
            first += 1
        return many

    def keeps(self, places: int, runs: Runs, first: int, last: int, request: int) -> bool:
        """Return True if at least `places` places for the watched request would be left if tasks of the request
        `request` were put on the nodes of these runs, as in `shift`. No node may occur twice.
        """
        spare = self.room - places
        for run in range(first, last):
            spare -= self.lost(runs.node[run], runs.node[run] + runs.many[run], runs.tasks[run], request)
            if spare < 0:
                return False
        return spare >= 0

    def lost(self, node: int, end: int, count: int, request: int) -> int:
        """Return how many places for the watched request would be lost if `count` tasks of the request `request` were
        put on each of the nodes `node` to before `end`.
        """
        asked, lost, is_whole = self.asked, 0, self.asked.whole[self.asked.first[self.watched]] == 1
        change: Word = count * asked.each_in[request] + asked.once_in[request]
        while node < end:
            begin, was, less = node, self.at[node], self.places_on[node]
            while node < end and self.at[node] == was:
                node += 1
            if less and count != WHOLE and not is_whole:
                less -= self._places_for(self.watched, was - change, begin)
            if less:
                lost += less * self._allowed(self.watched, begin, node)
        return lost

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
            self.sets.sort(self.at)
            self.is_sorted = True
        for partition in range(asked.first[request], asked.first[request + 1]):
            if self._search(request, partition, self, -1) and self.found <= asked.limit[partition]:
                return True
        return False

    def choose_beside(self, request: int, then: Nodes, spare: int) -> bool:
        """Choose nodes as `choose` does, for a request with one partition. Return False, too, if more than `spare`
        places for the watched request of the nodes `then` would be lost on the chosen nodes.
        """
        partition, self.short = self.asked.first[request], 0
        if not self.is_sorted:
            self.sets.sort(self.at)
            self.is_sorted = True
        return self._search(request, partition, then, spare) and self.found <= self.asked.limit[partition]

    def _search(self, request: int, partition: int, then: Nodes, spare: int) -> bool:
        """Choose nodes of one of the request's partitions, in the order of the placement rule; return False if there
        are too few. If `spare` is 0 or more, the search also ends, with False, when more than `spare` places for the
        watched request of the nodes `then` would be lost on the chosen nodes.

        In a request of nodes instead of tasks, each node counts as one task.
        """
        asked, is_whole, most = self.asked, self.asked.whole[partition] == 1, self.asked.most[request]
        sets, level, places = self.sets, 1, 0
        last = sets.levels - 1
        guards: Word = asked.guards
        unit: Word = asked.unit_in[request]
        known: Word = 0  # a node in this state has no free core, so that it is on no level
        is_bounded = spare >= 0
        self.left, self.found, self.runs, self.follows = asked.count[request], 0, 0, -1
        sets.begin_search()
        if asked.sign > 0:
            level = asked.unit[request * asked.kinds]
        elif asked.sign < 0:
            last -= asked.unit[request * asked.kinds]
        level = sets.used_from(level)
        while level <= last:
            for group in range(sets.groups):
                rows: Word = sets.filled[level * sets.groups + group] & sets.worth[group]
                while rows:
                    lowest: Word = rows & -rows
                    rows ^= lowest
                    word = 64 * group + lowest_bit(lowest)
                    if not sets.looked_at[group] & lowest:
                        sets.look_at(word, request, partition)
                    bits: Word = sets.bits[level * sets.words + word] & sets.useful[word]
                    while bits:
                        lowest = bits & -bits
                        bits ^= lowest
                        node = 64 * word + lowest_bit(lowest)
                        if self.at[node] != known:
                            known, places = self.at[node], 0
                            if ((known | guards) - unit) & guards == guards:
                                places = asked.more_room(known, request)
                        if not places:
                            continue
                        if self.found == most:
                            return False
                        left, first = self.left, node
                        self._fill(node, places, request, is_whole)
                        if left - self.left == places and self.found >= asked.least[request]:
                            while bits & lowest << 1 and self.at[node + 1] == known and self.found < most:
                                if self.left < places:
                                    break
                                lowest <<= 1  # a neighbour in the same state
                                bits ^= lowest
                                node += 1
                                self.found += 1
                                self.left -= places
                                self.chosen.many[self.runs - 1] += 1
                            self.follows = node + 1
                        if is_bounded:
                            spare -= then.lost(first, node + 1, self.chosen.tasks[self.runs - 1], request)
                            if spare < 0:
                                return False
                        if not self.left:
                            return True
            level = sets.used_from(level + 1)
        self.short = self.left
        return False

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
        chosen, run = self.chosen, self.runs
        if node == self.follows and chosen.tasks[run - 1] == count:
            chosen.many[run - 1] += 1
        else:
            chosen.node[run], chosen.many[run], chosen.tasks[run] = node, 1, count
            self.runs += 1
        self.follows = node + 1
