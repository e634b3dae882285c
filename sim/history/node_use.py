"""Use of the nodes of a machine over time, recomputed from the cores that jobs held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from math import inf
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sim.history.processor_sets import SetTable, rows_of
from sim.workload.columns import Floats, Ints
from sim.workload.shape import BARS, OPEN, Amounts, Request, Shape

_CELLS = 1 << 18
"""Number of amounts, of all nodes at several times, that are computed at once."""
_JOBS_AT_ONCE = 1024
"""Number of jobs whose amounts on nodes are computed at once."""


class CoreStays(NamedTuple):
    """Stays of jobs on their cores, in columns: rank of the job, begin and end of the stay in seconds, and the cores.
    The end is infinite while the job runs.
    """

    rank: Ints
    start: Floats
    end: Floats
    cores: SetTable

    @classmethod
    def of(cls, stays: Iterable[tuple[int, float, float, int]]) -> Self:
        """Return the columns of these stays, each given as rank, begin, end and cores (bits)."""
        rank, start, end, cores = tuple(zip(*stays, strict=True)) or ((), (), (), ())
        return cls(np.array(rank, np.int64), np.array(start, float), np.array(end, float), SetTable.of(cores))


class Waits(NamedTuple):
    """Waiting jobs, in columns: rank, submission and start in seconds; the start is infinite for a job that still
    waits.
    """

    rank: Ints
    submit: Floats
    start: Floats


class Use(NamedTuple):
    """Use of the nodes at one time: free amounts of each resource on each node, and the smallest requests of waiting
    jobs.

    A request is left out if another one needs at most as much of every resource.
    """

    free: Amounts
    waiting: tuple[Request, ...]


class Holdings(NamedTuple):
    """Nodes that jobs hold, in columns with a row for each node of each job: index of the job, node, and the amount of
    each resource that the job takes there.
    """

    job: Ints
    node: Ints
    amounts: Amounts


class Holders:
    """Recomputes from the cores of jobs what they hold on the nodes."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        requests, self._number = shape.numbered_requests
        size = len(requests), len(shape.kinds)
        self._once = np.array([request.amounts(0) for request in requests], np.int64).reshape(size)
        self._each = np.array([request.each for request in requests], np.int64).reshape(size)
        self._in_tasks = np.array([request.tasks is not None for request in requests], np.bool_)
        self._exclusive = np.array([_may_be_whole(shape, request) for request in requests], np.bool_)

    def holdings(self, ranks: Ints, cores: SetTable) -> Holdings:
        """Return what the jobs `ranks` hold on these cores, one set for each job."""
        job, node, many = _cores_on(self.shape, cores)
        request, has = self._number[ranks][job], self.shape.has
        tasks = np.where(self._in_tasks[request], many // np.maximum(self._each[request, 0], 1), 1)
        amounts = self._each[request] * tasks[:, None]
        if self._once.any():
            amounts += self._once[request]
        whole = self._exclusive[request] & (many == has[node, 0])
        amounts[whole] = has[node[whole]]
        if self.shape.ran:
            begin = np.searchsorted(job, np.arange(len(ranks) + 1))
            for number, rank in enumerate(ranks.tolist()):
                rows, ran = slice(begin[number], begin[number + 1]), self.shape.ran[rank]
                if ran is not None and ran.nodes == tuple(node[rows].tolist()):
                    amounts[rows] = ran.columns[1]
        return Holdings(job, node, amounts)


def _may_be_whole(shape: Shape, request: Request) -> bool:
    return request.is_exclusive or any(shape.groups[number].is_exclusive for number in request.groups)


def _cores_on(shape: Shape, sets: SetTable) -> tuple[Ints, Ints, Ints]:
    """Return three columns with a row for each node of each set of cores: index of the set, node, and number of the
    node's cores in the set.
    """
    firsts = np.array(shape.first_core)
    low, high = (np.searchsorted(firsts, column, "right") - 1 for column in (sets.first, sets.last))
    spans = high - low + 1  # one range of cores may be on several nodes
    node = rows_of(low, spans)
    first, last = (np.repeat(column, spans) for column in (sets.first, sets.last))
    many = np.minimum(last + 1, firsts[node + 1]) - np.maximum(first, firsts[node])
    index = np.repeat(np.repeat(np.arange(len(sets)), np.diff(sets.begin)), spans)
    index, node, many = index[many > 0], node[many > 0], many[many > 0]
    is_new = np.ones(len(node), np.bool_)  # one node may have several ranges of a set
    is_new[1:] = (index[1:] != index[:-1]) | (node[1:] != node[:-1])
    rows = np.flatnonzero(is_new)
    return index[rows], node[rows], np.add.reduceat(many, rows) if len(rows) else many


def nodes_on(shape: Shape, sets: SetTable) -> tuple[tuple[int, ...], ...]:
    index, node, _ = _cores_on(shape, sets)
    ends = np.searchsorted(index, np.arange(1, len(sets) + 1)).tolist()
    found = node.tolist()
    return tuple(tuple(found[begin:end]) for begin, end in pairwise([0, *ends]))


def uses_at(shape: Shape, times: Sequence[float], stays: CoreStays, waits: Waits) -> Iterator[Use]:
    """Yield the use of the nodes at each of the times, which are in ascending order. All events of that time are
    included.
    """
    requests, number = shape.numbered_requests
    seen, first, last = _spans(times, waits.submit, waits.start)
    asked, waiting = number[waits.rank[seen]], Counter[int]()
    changes = _by_time(first, asked, len(times)), _by_time(last, asked, len(times))
    for free, came, went in zip(_free_at(shape, times, stays), *changes, strict=True):
        waiting.update(came)
        waiting.subtract(went)
        waiting = +waiting
        yield Use(free, smallest_requests(frozenset(map(requests.__getitem__, waiting))))


def _free_at(shape: Shape, times: Sequence[float], stays: CoreStays) -> Iterator[Amounts]:
    """Yield the free amounts of each resource on each node at each of the times."""
    holders, now = Holders(shape), shape.has
    seen, first, last = _spans(times, stays.start, stays.end)
    held = [(np.zeros(0, np.int64), np.zeros(0, np.int64), now[:0])]  # time at which it is free again, node, amounts
    step = max(_CELLS // max(now.size, 1), 1)
    for begin in range(0, len(times), step):
        free = np.zeros((min(step, len(times) - begin), *now.shape), np.int64)
        free[0], end = now, begin + len(free)
        one, until = np.searchsorted(first, [begin, end]).tolist()
        for part in range(one, until, _JOBS_AT_ONCE):
            rows = slice(part, min(part + _JOBS_AT_ONCE, until))
            job, node, amounts = holders.holdings(stays.rank[seen[rows]], stays.cores.take(seen[rows]))
            _add(free, first[rows][job] - begin, node, -amounts)
            held.append((last[rows][job], node, amounts))
        at, node, amounts = map(np.concatenate, zip(*held, strict=True))
        ended = at < end
        _add(free, at[ended] - begin, node[ended], amounts[ended])
        held = [(at[~ended], node[~ended], amounts[~ended])]
        free.cumsum(axis=0, out=free)
        now = free[-1]
        yield from free


def _add(free: Amounts, at: Ints, node: Ints, amounts: Amounts) -> None:
    """Add amounts, a row for each, to those of a node at one of several times."""
    places = at * free.shape[1] + node
    for kind, column in enumerate(amounts.T):
        np.add.at(free.reshape(-1, free.shape[2])[:, kind], places, column)  # several times faster than whole rows


def _spans(times: Sequence[float], start: Floats, end: Floats) -> tuple[Ints, Ints, Ints]:
    """Return three columns about the spans of time that include one of the times: index of the span, and the indices
    of the first time in it and of the first time after it. They are in the order of the second column.
    """
    first, last = (np.searchsorted(times, column, "left") for column in (start, end))
    (seen,) = (first < last).nonzero()
    seen = seen[first[seen].argsort(kind="stable")]
    return seen, first[seen], last[seen]


def _by_time(at: Ints, values: NDArray[np.integer[Any]], times: int) -> list[list[int]]:
    order = at.argsort(kind="stable")
    ends, found = np.searchsorted(at[order], np.arange(times + 1)).tolist(), values[order].tolist()
    return [found[begin:end] for begin, end in pairwise(ends)]


def use_now(shape: Shape, held: Iterable[tuple[int, int]], waiting: Iterable[int]) -> Use:
    """Return the present use of the nodes; `held` has (rank, cores as bits) of each running job, `waiting` the ranks of
    waiting jobs.
    """
    stays = CoreStays.of((rank, 0.0, inf, cores) for rank, cores in held)
    queue = np.fromiter(waiting, np.int64)
    waits = Waits(queue, np.zeros(len(queue)), np.full(len(queue), inf))
    (found,) = uses_at(shape, (0.0,), stays, waits)
    return found


@lru_cache(256)
def smallest_requests(requests: frozenset[Request]) -> tuple[Request, ...]:
    """Return the smallest requests. A request is left out if another one for the same nodes needs at most as much of
    every resource.
    """
    units = dict[tuple[object, ...], set[tuple[int, ...]]]()
    some = dict[tuple[object, ...], Request]()
    for request in requests:
        kind, unit = (request.features, request.groups, request.is_exclusive), request.amounts(1)
        units.setdefault(kind, set()).add(unit)
        some[*kind, unit] = request
    return tuple(
        some[*kind, one]
        for kind, amounts in units.items()
        for one in sorted(amounts)
        if not any(other != one and all(a <= b for a, b in zip(other, one, strict=True)) for other in amounts)
    )


def barred(shape: Shape, use: Use) -> NDArray[np.int8]:
    """Return for each node the cause why no waiting job can use its free cores, as an index into `BARS`.

    The index is `OPEN` if a waiting job fits on the node, if the node has no free cores, or if no job waits. If there
    are different causes for different jobs, the one with the largest number in `_WEIGHTS` is returned.
    """
    none = np.full(len(use.free), OPEN, np.int8)
    if not use.waiting:
        return none
    found = np.array([shape.bars(request, use.free) for request in use.waiting])
    weight = np.array([_WEIGHTS[name] for name in BARS] + [len(BARS)])  # `OPEN` is the last index
    heaviest = np.argmax(weight[found], axis=0)
    causes: NDArray[np.int8] = np.where(use.free[:, 0] > 0, found[heaviest, np.arange(len(none))], none)
    return causes


_WEIGHTS = {"place": 0, "cores": 1, "gpus": 2, "memory": 3}
"""For each cause why a job cannot use a node: its precedence. If causes differ between jobs, the one with the largest
number is reported.
"""
