"""Choice of nodes for the tasks of a job: one node after another, or as Slurm chooses by default."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray


def in_order(room: NDArray[np.int64], tasks: int, least: int, most: int) -> NDArray[np.int64] | None:
    """Return the tasks on each node, or None if not all fit. The job takes `least` to `most` nodes; `room` has the
    tasks, at least 1, that fit on each node, in the order in which nodes are filled.

    >>> in_order(np.array([4, 4, 4]), 5, least=3, most=3)
    array([3, 1, 1])
    """
    counts: NDArray[np.int64] = np.minimum(room[:most].cumsum(), tasks)
    if least > 1:  # each further node must get a task
        counts = np.minimum(counts, tasks - np.maximum(least - 1 - np.arange(len(counts)), 0))
    if not len(counts) or counts[-1] < tasks:
        return None
    counts = counts[: int(counts.searchsorted(tasks)) + 1]
    counts[1:] -= counts[:-1].copy()
    return counts


def consecutive(room: Sequence[int], tasks: int, least: int, most: int) -> list[tuple[int, int]] | None:
    """Return (node, tasks) for each node that a job gets, or None; it takes `least` to `most` nodes, of which each has
    `room`.

    Neighbouring nodes with room are a run. The smallest run with room for the whole job is taken, or else the largest
    one, and then others for what is left. If single nodes of the run have room for all of it, the job gets the node
    with the least room among these. Otherwise it fills the nodes of the run in order. If `most` nodes are too few this
    way, nodes with little room are left out, and all begins anew.

    >>> consecutive([1, 2, 0, 4, 3], 2, 1, 5), consecutive([1, 2, 0, 4, 3], 3, 1, 5), consecutive([1, 2, 0, 2], 5, 1, 5)
    ([(1, 2)], [(0, 1), (1, 2)], [(0, 1), (1, 2), (3, 2)])
    """
    most = min(most, max(tasks, least))
    left = [max(have, 0) for have in room]
    for little in range(max(left, default=0)):
        if little:
            for node, have in enumerate(left):
                if have == little and sum(map(bool, left)) > least:
                    left[node] = 0
        found = _chosen(left, tasks, least, most)
        if found is not None:
            return sorted(found)
    return None


def _chosen(room: Sequence[int], tasks: int, least: int, most: int) -> list[tuple[int, int]] | None:
    filled = groupby(enumerate(room), key=lambda each: each[1] > 0)
    runs = [list(run) for has_room, run in filled if has_room]
    chosen: list[tuple[int, int]] = []
    while runs and len(chosen) < most:
        run = _best(runs, tasks, least - len(chosen))
        runs.remove(run)
        if least - len(chosen) <= 1 and (able := [each for each in run if each[1] >= tasks]):
            run = [min(able, key=lambda each: each[1])]
        for node, have in run:
            if len(chosen) == most or (tasks <= 0 and len(chosen) >= least):
                break
            if len(chosen) == most - 1 and have < tasks:
                continue
            count = max(min(have, tasks - max(least - len(chosen) - 1, 0)), 1)  # each further node must get a task
            chosen.append((node, count))
            tasks -= count
        if tasks <= 0 and len(chosen) >= least:
            return chosen
    return None


def _best(runs: Sequence[list[tuple[int, int]]], tasks: int, least: int) -> list[tuple[int, int]]:
    def fit(run: list[tuple[int, int]]) -> tuple[bool, int]:
        has = sum(have for _, have in run)
        enough = has >= tasks and len(run) >= least
        return not enough, has if enough else -has

    return min(runs, key=fit)
