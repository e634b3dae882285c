"""Requests of the jobs for nodes, and states of nodes in the fast loop. A state is the kind of a node with its free
amount of each resource; nodes in the same state have room for the same number of tasks of each request.

The rules are those of `sim.workload.shape`. Equal requests share a number, and equal states do.
"""

from __future__ import annotations

from sim.kernel.sets import EVERY
from sim.machine import cython
from sim.machine.columns import Numbers, Word, numbers, times, words

MAGIC: Word = 0x03F79D71B4CB0A89
"""De Bruijn number: each shift to the left gives different upper 6 bits, which tell by how much it was shifted"""
REMEMBERED = 4096
"""Number of results of each kind that are remembered, a power of two; the upper `SLOT_BITS` bits of a product choose
the slot
"""
SLOT_BITS = 12
WHOLE = 0
"""Value in place of a number of tasks, for a node that a job takes as a whole"""


@cython.cclass
class Requests:
    """Requests of the jobs for nodes, and the resources of each node when it is empty. A request may name several
    partitions.
    """

    def __init__(self, nodes: int, kinds: int, sign: int, most_cores: int) -> None:
        self.most_cores = most_cores
        """Most cores of a node"""
        self.nodes, self.kinds = nodes, kinds
        """Number of nodes, and of kinds of resources; the first kind is cores"""
        self.sign = sign
        """Order in which nodes are filled: 0 by number, 1 fewest free cores first, -1 most free cores first"""
        self.has = numbers(nodes * kinds)
        """For each node, and for each kind of resource: amount when the node is empty"""
        self.like = numbers(nodes)
        """For each node: number of the first node that has the same resources when it is empty"""
        self.requests = 0
        """Number of different requests"""
        self.of = numbers(0)
        """For each job, by rank: number of its request"""
        self.each = self.once = self.unit = numbers(0)
        """For each request and kind: amount for each task (or node), amount once on each node, and the sum of both"""
        self.needed = numbers(kinds)
        """For each kind of resource: amount that even the smallest request needs on a node; a node with less is of no
        use
        """
        self.weight, self.is_exact = words(kinds), False
        """Weights of an amount of each kind. A state has a key, the number of its first like node plus the weighted sum
        of its free amounts, modulo 2**64; and True if different states have different keys
        """
        self.each_key = self.once_key = self.has_key = words(0)
        """Weighted sums of the amounts `each` and `once` of each request, and of the amounts `has` of each node"""
        self.total = times(0)
        """For each request and kind: least amount that all nodes together must have free"""
        self.tasks = self.count = self.least = self.most = self.grows = numbers(0)
        """For each request: its tasks, 0 if it is for nodes; number of tasks or nodes; least and most nodes; and 1 if a
        request that fits always still fits when more is free
        """
        self.most_room = numbers(0)
        """For each request: upper bound for the number of its places on a node"""
        self.first = numbers(0)
        """For each request: index of its first partition in the columns `mask`, `whole` and `limit`; its partitions end
        where those of the next request begin
        """
        self.mask = self.whole = self.limit = numbers(0)
        """For each partition of a request: number of its set of nodes, -1 for all nodes; 1 if the job gets whole nodes;
        and the most nodes that the partition allows
        """
        self.allowed = words(0)
        """Sets of nodes as bits; each set begins with a new word"""
        self.bounds, self.bound_kind, self.bound = 0, numbers(0), numbers(0)
        """Number of bounds; for each bound: its kind of resource, and an amount of it. A search passes over nodes that
        have less free than the bounds of its request. The last bound, of no kind, is that of a wholly free node
        """
        self.wants = numbers(0)
        """For each partition of a request: its bounds, as bits"""


@cython.cclass
class States:
    """Numbered states of nodes. A state that no node has any more keeps its number until there are too many."""

    def __init__(self, asked: Requests) -> None:
        self.asked = asked
        self.most: int = 4 * asked.nodes + 256
        self.count = 0
        self.free, self.like = numbers(self.most * asked.kinds), numbers(self.most)
        """For each state and kind of resource: free amount; for each state: a node with the same resources (see
        `Requests.like`)
        """
        self.level, self.bounds = numbers(self.most), numbers(self.most)
        """For each state: its level, and the bounds it keeps. The level is 0 if no request fits; nodes of the lowest
        other level are filled first. The bounds are bits: amounts (see `Requests.bounds`) of which as much is free
        """
        self.size = 1
        while self.size < 2 * self.most:
            self.size *= 2
        self.slots, self.sought, self.renamed = numbers(self.size), numbers(asked.kinds), numbers(self.most)
        """Hash table with the number of each state plus 1, 0 where a slot is empty; free amounts that `find` looks for;
        and space for new numbers of states
        """
        self.key = words(self.most)
        """For each state: its key (see `Requests.weight`)"""
        self.asked_room, self.room_is = words(REMEMBERED), numbers(REMEMBERED)
        """Last results of `room`: for each slot the question, as a number above 0, and the answer"""

    def find(self, like: int) -> int:
        """Return the number of the state with the free amounts `sought`, for nodes with the same resources as the node
        `like`.
        """
        kinds = self.asked.kinds
        key: Word = like
        for kind in range(kinds):
            key += self.sought[kind] * self.asked.weight[kind]
        key &= EVERY
        slot = self._slot_of(key, like)
        return self.slots[slot] - 1 if self.slots[slot] else self._add(slot, key, like)

    def _add(self, slot: int, key: Word, like: int) -> int:
        """Number a new state, with the free amounts `sought` and the key `key`, for this slot of the hash table; return
        the number.
        """
        state, kinds = self.count, self.asked.kinds
        self.count += 1
        self.slots[slot], self.like[state], self.key[state] = state + 1, like, key
        is_useful, kept, is_whole = True, 0, True
        for kind in range(kinds):
            amount = self.free[state * kinds + kind] = self.sought[kind]
            is_useful = is_useful and amount >= self.asked.needed[kind]
            is_whole = is_whole and amount == self.asked.has[like * kinds + kind]
        for bound in range(self.asked.bounds - 1):
            if self.sought[self.asked.bound_kind[bound]] >= self.asked.bound[bound]:
                kept += 1 << bound
        self.bounds[state] = kept + (1 << (self.asked.bounds - 1) if is_whole else 0)
        cores, sign = self.sought[0], self.asked.sign
        level = cores if sign > 0 else self.asked.most_cores + 1 - cores if sign < 0 else 1
        self.level[state] = level if is_useful else 0
        return state

    def _slot_of(self, key: Word, like: int) -> int:
        """Return the slot of the state with this key, for nodes with the same resources as the node `like`; if there
        is none, return the empty slot in which it belongs. Unless keys are exact, the free amounts are `sought`.
        """
        slot = ((key * MAGIC) & EVERY) >> 32 & (self.size - 1)
        while self.slots[slot]:
            state = self.slots[slot] - 1
            if self.key[state] == key and (self.asked.is_exact or self._is_sought(state, like)):
                return slot
            slot = (slot + 1) & (self.size - 1)
        return slot

    def _is_sought(self, state: int, like: int) -> bool:
        kind, kinds = 0, self.asked.kinds
        while kind < kinds and self.free[state * kinds + kind] == self.sought[kind]:
            kind += 1
        return kind == kinds and self.like[state] == like

    def after(self, state: int, request: int, count: int, sign: int) -> int:
        """Return the state of a node in the state `state` after `count` tasks of the request took their resources
        (`sign` is -1) or gave them back (1).
        """
        like, key = self.like[state], self.key[state]
        if count == WHOLE:
            change = self.asked.has_key[like]
        else:
            change = count * self.asked.each_key[request] + self.asked.once_key[request]
        key = (key + change if sign > 0 else key - change) & EVERY
        if not self.asked.is_exact:
            self._seek(state, request, count, sign)
        slot = self._slot_of(key, like)
        if self.slots[slot]:
            return self.slots[slot] - 1
        self._seek(state, request, count, sign)
        return self._add(slot, key, like)

    def _seek(self, state: int, request: int, count: int, sign: int) -> None:
        """Write the free amounts of the state that `after` looks for into the column `sought`."""
        kinds, at, its, tasks = self.asked.kinds, state * self.asked.kinds, request * self.asked.kinds, sign * count
        for kind in range(kinds):
            if count == WHOLE:
                change = sign * self.asked.has[self.like[state] * kinds + kind]
            else:
                change = tasks * self.asked.each[its + kind] + sign * self.asked.once[its + kind]
            self.sought[kind] = self.free[at + kind] + change

    def keep_only(self, some: Numbers, others: Numbers) -> None:
        """Forget all states except those in the columns `some` and `others`. Number these anew, and write the new
        numbers into both columns.
        """
        kinds, many, nodes = self.asked.kinds, self.count, self.asked.nodes
        for state in range(many):
            self.renamed[state] = -1
        for node in range(nodes):
            self.renamed[some[node]] = self.renamed[others[node]] = 0
        for slot in range(self.size):
            self.slots[slot] = 0
        self.count = 0
        for slot in range(REMEMBERED):
            self.asked_room[slot] = 0
        for state in range(many):
            if not self.renamed[state]:
                for kind in range(kinds):
                    self.sought[kind] = self.free[state * kinds + kind]
                self.renamed[state] = self.find(self.like[state])
        for node in range(nodes):
            some[node], others[node] = self.renamed[some[node]], self.renamed[others[node]]

    def room(self, state: int, request: int) -> int:
        """Return the number of places for the request on a node in this state, at most as many as it needs."""
        question: Word = state * self.asked.requests + request + 1
        slot = ((question * MAGIC) & EVERY) >> (64 - SLOT_BITS)
        if self.asked_room[slot] != question:
            self.asked_room[slot], self.room_is[slot] = question, self.room_beside(state, request, -1, 0)
        return self.room_is[slot]

    def room_beside(self, state: int, request: int, other: int, count: int) -> int:
        """Return the number of places for the request on a node in this state, at most as many as it needs.

        If `other` is not -1, `count` tasks of this other request first take their resources.
        """
        asked, kinds, its, at = self.asked, self.asked.kinds, request * self.asked.kinds, state * self.asked.kinds
        room, taken = max(asked.tasks[request], 1), 0
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
