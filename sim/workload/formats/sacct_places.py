"""Number of cores that each job of a dump had on each of its nodes; for a job on several nodes, sacct reports only the
sum.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Stay(NamedTuple):
    """Stay of a job from `start` until `end` on nodes, by number, with `cores` cores on all of them together."""

    start: float
    end: float
    cores: int
    nodes: tuple[int, ...]
    counts: tuple[int, ...] = ()
    """Number of the job's cores on each of the nodes; empty if unknown."""


def cores_by_node(stays: Sequence[Stay], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return for each stay the job's cores on each of its nodes; `sizes` has the cores of each node.

    Jobs on several nodes, in order of start, get the cores that are left. If too few are left, as suspended jobs count
    as users of theirs, a job's nodes get equal shares.

    >>> cores_by_node([Stay(0, 9, 3, (0,)), Stay(2, 5, 5, (0, 1)), Stay(9, 12, 5, (0, 1))], [4, 4])
    [(3,), (1, 4), (4, 1)]
    """
    found: list[tuple[int, ...]] = [stay.counts or (stay.cores,) for stay in stays]
    alone: dict[int, list[Stay]] = defaultdict(list)
    for stay in stays:
        if len(stay.nodes) == 1:
            alone[stay.nodes[0]].append(stay)
    use = {node: _Use(there) for node, there in alone.items()}
    shared: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for at in sorted((at for at, stay in enumerate(stays) if len(stay.nodes) != 1), key=lambda at: stays[at].start):
        start, end, cores, nodes, counts = stays[at]
        room = []
        for node in nodes:
            shared[node] = [held for held in shared[node] if held[0] > start]
            taken = sum(count for _, count in shared[node]) + (use[node].most(start, end) if node in use else 0)
            room.append(max(sizes[node] - taken, 0))
        found[at] = counts or _cores_per_node(cores, room)
        for node, count in zip(nodes, found[at], strict=True):
            shared[node].append((end, count))
    return found


def _cores_per_node(cores: int, room: list[int]) -> tuple[int, ...]:
    """Return the cores on each node: one, then as many as are free there (`room`); equal shares if too few are."""
    if sum(room) < cores or min(room, default=0) < 1 or cores < len(room):
        each, more = divmod(cores, max(len(room), 1))
        return tuple(each + (place < more) for place in range(len(room)))
    left = cores - len(room)
    counts = []
    for most in room:
        counts.append(1 + min(most - 1, left))
        left -= counts[-1] - 1
    return tuple(counts)


class _Use:
    """Number of cores of one node that are in use, as a function of time."""

    def __init__(self, stays: Sequence[Stay]) -> None:
        times = np.array([time for stay in stays for time in (stay.start, stay.end)])
        change = np.array([by for stay in stays for by in (stay.cores, -stay.cores)])
        order = np.lexsort((change, times))
        self._times, self._level = times[order], np.cumsum(change[order])

    def most(self, start: float, end: float) -> int:
        """Return the largest number of cores in use at any time from `start` until `end`."""
        first = int(np.searchsorted(self._times, start, side="right"))
        last = int(np.searchsorted(self._times, end, side="left"))
        return int(self._level[max(first - 1, 0) : max(last, first)].max(initial=0))
