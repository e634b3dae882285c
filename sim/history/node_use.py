"""Use of the nodes of a machine over time, recomputed from the cores that jobs held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.workload.shape import BARS, OPEN, Amounts, Request, Seats, Shape


class Stay(NamedTuple):
    """Stay of a job on its cores (bits) from `start` to `end`, in seconds; `end` is infinite while the job runs."""

    rank: int
    start: float
    end: float
    cores: int


class Use(NamedTuple):
    """Use of the nodes at one time: free amounts of each resource on each node, and the smallest requests of waiting
    jobs.

    A request is left out if another one needs at most as much of every resource.
    """

    free: Amounts
    waiting: tuple[Request, ...]


def seats_of(shape: Shape, rank: int, cores: int) -> Seats:
    """Return the nodes on which the job `rank` holds these cores (bits), with the amount of each resource that it takes
    there.
    """
    request, held = shape.requests[rank], _cores_on(shape, cores)
    nodes = tuple(np.flatnonzero(held).tolist())
    ran = shape.ran[rank] if shape.ran else None
    if ran is not None and ran.nodes == nodes:
        return ran
    exclusive = request.is_exclusive or any(shape.groups[number].is_exclusive for number in request.groups)
    known: dict[int, tuple[int, ...]] = {}
    amounts = []
    for node, many in zip(nodes, held[list(nodes)].tolist(), strict=True):
        if exclusive and many == shape.has[node, 0]:
            amounts.append(tuple(shape.has[node].tolist()))
        else:
            if many not in known:
                known[many] = request.amounts(1 if request.tasks is None else many // max(request.each[0], 1))
            amounts.append(known[many])
    return Seats(nodes, tuple(amounts))


def _cores_on(shape: Shape, cores: int) -> NDArray[np.int64]:
    """Return, for each node, the number of its cores in a set of cores (bits)."""
    packed = np.frombuffer(cores.to_bytes((shape.cores + 7) // 8, "little"), np.uint8)
    bits = np.unpackbits(packed, bitorder="little", count=shape.cores)
    found: NDArray[np.int64] = np.add.reduceat(bits, shape.first_core[:-1], dtype=np.int64)
    return found


def uses_at(
    shape: Shape, times: Sequence[float], stays: Iterable[Stay], queue: Iterable[tuple[int, float, float]]
) -> Iterator[Use]:
    """Yield the use of the nodes at each of the times, which are in ascending order. All events of that time are
    included.

    `queue` has the rank, the submission and the start of jobs; the start is infinite for a job that still waits.
    """
    listed = [(stay.start, 1, stay) for stay in stays]
    events: list[tuple[float, int, Stay | int]] = [*listed, *((stay.end, 0, stay) for _, _, stay in listed)]
    for rank, submit, start in queue:
        if start > submit:
            events += [(submit, 2, rank), (start, 3, rank)]
    events = sorted((event for event in events if event[0] < inf), key=lambda event: event[:2])
    free, waiting, done = shape.has.copy(), Counter[Request](), 0
    for time in times:
        while done < len(events) and events[done][0] <= time:
            _, kind, what = events[done]
            done += 1
            if isinstance(what, Stay):
                nodes, amounts = seats_of(shape, what.rank, what.cores)
                if nodes:
                    free[list(nodes)] += (1 - 2 * kind) * np.array(amounts)
            else:
                waiting[shape.requests[what]] += 5 - 2 * kind
        yield Use(free, smallest_requests(frozenset(request for request, many in waiting.items() if many > 0)))


def use_now(shape: Shape, held: Iterable[tuple[int, int]], waiting: Iterable[int]) -> Use:
    """Return the present use of the nodes; `held` has (rank, cores as bits) of each running job, `waiting` the ranks of
    waiting jobs.
    """
    stays = [Stay(rank, 0.0, inf, cores) for rank, cores in held]
    (found,) = uses_at(shape, (0.0,), stays, ((rank, -1.0, inf) for rank in waiting))
    return found


@lru_cache(256)
def smallest_requests(requests: frozenset[Request]) -> tuple[Request, ...]:
    """Return the smallest requests. A request is left out if another one for the same nodes needs at most as much of
    every resource.
    """
    units = dict[tuple[object, ...], set[tuple[int, ...]]]()
    some = dict[tuple[object, ...], Request]()
    for request in requests:
        kind = request.features, request.groups, request.is_exclusive
        units.setdefault(kind, set()).add(request.amounts(1))
        some[*kind, request.amounts(1)] = request
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
