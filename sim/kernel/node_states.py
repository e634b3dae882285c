"""Requests of the jobs for nodes, and states of nodes in the fast loop. A state is one word of 64 bits: the kind of a
node and its free amount of each resource, each in a field of its own.

The rules are those of `sim.workload.shape`. Equal requests share a number. Nodes in one state have room for the same
number of tasks of each request.
"""

from __future__ import annotations

from sim.kernel.arrays import numbers, times, words
from sim.machine import cython
from sim.machine.columns import Word, quotient

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
        self.has, self.before = numbers(nodes * kinds), times((nodes + 1) * kinds)
        """For each node, and for each kind of resource: amount when the node is empty, and sum of these amounts of all
        nodes before it. The second column has one more row, with the sums of all nodes
        """
        self.empty, self.full = words(nodes), words(nodes)
        """For each node: its state when nothing is taken, and when all is taken"""
        self.requests = 0
        """Number of different requests"""
        self.of = numbers(0)
        """For each job, by rank: number of its request"""
        self.each = self.once = self.unit = numbers(0)
        """For each request and kind: amount for each task (or node), amount once on each node, and the sum of both"""
        # Fields of states
        self.field, self.mask_of = numbers(kinds), words(kinds)
        """For each kind of resource: lowest bit of its field, and a mask as wide as the field"""
        self.guards: Word = 0
        """The bit above each field, which is 0 in all states. If it is set, subtracting a larger amount clears it"""
        self.bounding: Word = 0
        """The upper parts of all fields. A search passes over nodes in whose state such a part is smaller than in what
        the request needs
        """
        self.needed: Word = 0
        """State with the amounts that even the smallest request needs; a node with less of one of them is of no use"""
        self.each_in, self.once_in, self.unit_in = words(0), words(0), words(0)
        """For each request: the amounts `each`, `once` and `unit` as fields of a state; `unit` is at most one more than
        any node has
        """
        self.total = times(0)
        """For each request and kind: least amount that all nodes together must have free"""
        self.tasks = self.count = self.least = self.most = self.grows = numbers(0)
        """For each request: its tasks, 0 if it is for nodes; number of tasks or nodes; least and most nodes; and 1 if a
        request that fits always still fits when more is free
        """
        self.most_room = numbers(0)
        """For each request: upper bound for the number of its places on a node"""
        self.like, self.widest = numbers(0), numbers(0)
        """For each request: number of its class; for each class: its request for the most tasks or nodes. The requests
        of a class differ only in this number, and one of them fits if all nodes together have as many places as it
        needs. A request with other rules is alone in its class
        """
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

    def room(self, state: Word, request: int) -> int:
        """Return the number of places for the request on a node in this state, at most as many as it needs."""
        if ((state | self.guards) - self.unit_in[request]) & self.guards != self.guards:
            return 0
        return self.more_room(state, request)

    def more_room(self, state: Word, request: int) -> int:
        """Return what `room` returns, if there is room for one task."""
        if self.most_room[request] == 1:
            return 1
        room, its = max(self.tasks[request], 1), request * self.kinds
        for kind in range(self.kinds):
            each = self.each[its + kind]
            if each:
                fit = self.amount(state, kind) - self.once[its + kind]
                if fit < each * room:
                    room = fit if each == 1 else quotient(fit, each)
        return room

    def amount(self, state: Word, kind: int) -> int:
        """Return the free amount of a kind of resource in this state."""
        amount: int = state >> self.field[kind] & self.mask_of[kind]
        return amount

    def level(self, state: Word) -> int:
        """Return the level of a node in this state: 0 if no request fits; nodes of the lowest other level are filled
        first.
        """
        if ((state | self.guards) - self.needed) & self.guards != self.guards:
            return 0
        if not self.sign:
            return 1
        cores = self.amount(state, 0)
        return cores if self.sign > 0 else self.most_cores + 1 - cores


@cython.cclass
class Runs:
    """Runs of neighbouring nodes, each with as many tasks of one request on all of its nodes."""

    def __init__(self, most: int) -> None:
        self.node, self.many, self.tasks = numbers(most), numbers(most), numbers(most)
        """For each run: first node, number of nodes, and number of tasks on each; `WHOLE` for whole nodes"""

    def take(self, index: int, other: Runs, run: int) -> None:
        """Copy a run of the other object, the one with the index `run`, to the index `index` here."""
        self.node[index], self.many[index], self.tasks[index] = other.node[run], other.many[run], other.tasks[run]
