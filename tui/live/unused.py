"""Nodes of an observed cluster at its polls, for its chart: free cores that no waiting job can use, and memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from sim.live.cluster.observed import Observed
from sim.live.cluster.room import barred
from sim.live.cluster.values import Cluster
from tui.chart.node_rows import mostly
from tui.chart.owners import ByOwner
from tui.chart.scale import ChartView

Bools = NDArray[np.bool_]
KEPT = 20_000
"""Largest number of polls for which the nodes with unusable free cores are kept."""


class Unused:
    """Nodes whose free cores no waiting job could use, and the memory of all nodes, at each poll that was seen."""

    def __init__(self) -> None:
        self._nodes: dict[float, frozenset[str]] = {}
        self._memory: dict[float, Mapping[str, int]] = {}
        """Eighths of each node's memory in use, by time of poll; -1 if its memory is unknown"""
        self._bands: dict[tuple[object, ...], Bools] = {}

    def see(self, cluster: Cluster) -> None:
        """Store the poll's nodes without use for waiting jobs, and memory; polls with equal values share them."""
        if len(self._nodes) >= KEPT:
            self._memory.pop(next(iter(self._nodes)), None)
            self._nodes.pop(next(iter(self._nodes)))
        nodes = frozenset(barred(cluster))
        last = next(reversed(self._nodes.values()), nodes)
        self._nodes[cluster.at] = last if last == nodes else nodes
        memory = {node.name: -(-8 * min(node.memory_taken, node.memory) // node.memory) if node.memory else -1
                  for node in cluster.nodes}  # fmt: skip
        had = next(reversed(self._memory.values()), memory)
        self._memory[cluster.at] = had if had == memory else memory

    def memory(self, observed: Observed, view: ChartView, clock: float) -> NDArray[np.int8]:
        """Return (node, column): eighths of memory, -1 if unknown; the last poll before a column's middle counts."""
        rows = observed.layout.rows[::-1]
        found = np.full((len(rows), view.columns), -1, np.int8)
        levels, last = np.full(len(rows), -1, np.int8), None
        for column, poll in _polls(observed, view, clock):
            if known := self._memory.get(poll):
                if known is not last:
                    levels, last = np.array([known.get(row.node, -1) for row in rows], np.int8), known
                found[:, column] = levels
        return found

    def bands(self, observed: Observed, view: ChartView, clock: float, by_owner: ByOwner | None = None) -> Bools | None:
        """Return (band, column): True where most cores are useless for waiting jobs, up to `clock`; None if nowhere."""
        edges = view.edges()
        found = np.zeros((len(edges) - 1, view.columns), np.bool_)
        for column, poll in _polls(observed, view, clock):
            if nodes := self._nodes.get(poll):
                found[:, column] = self._of(observed, nodes, edges, by_owner)
        return found if found.any() else None

    def _of(self, observed: Observed, nodes: frozenset[str], edges: tuple[int, ...], by_owner: ByOwner | None) -> Bools:
        key = nodes, edges, observed.layout.cpus, () if by_owner is None else by_owner.division
        if key not in self._bands:
            if len(self._bands) > 500:
                self._bands.clear()
            cores = np.zeros(observed.layout.cpus, np.bool_)
            for row in observed.layout.rows:
                if row.node in nodes:
                    cores[row.low : row.high] = True
            self._bands[key] = mostly(cores, edges, by_owner)
        return self._bands[key]


def _polls(observed: Observed, view: ChartView, clock: float) -> Iterator[tuple[int, float]]:
    """Yield each column up to `clock` with the time of the last poll before its middle, in seconds since 1970."""
    moments, origin = observed.moments, observed.origin or 0.0
    for column in range(min(view.column_of(clock), view.columns - 1) + 1):
        time = min(view.time_at(column + 0.5), clock)
        if moments and time >= moments[0]:
            yield column, moments[observed.picture_at(time)] + origin
