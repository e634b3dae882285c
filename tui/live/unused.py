"""Free cores of an observed cluster that no waiting job can use, for its chart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sim.cluster.observed import Observed
from sim.cluster.room import barred
from sim.cluster.values import Cluster
from tui.chart.scale import ChartView

Bools = NDArray[np.bool_]
KEPT = 20_000
"""Largest number of polls for which the nodes with unusable free cores are kept."""


class Unused:
    """Nodes whose free cores no waiting job could use, at each poll that was seen."""

    def __init__(self) -> None:
        self._nodes: dict[float, frozenset[str]] = {}
        self._bands: dict[tuple[frozenset[str], tuple[int, ...], int], Bools] = {}

    def see(self, cluster: Cluster) -> None:
        """Store, for this poll, the nodes whose free cores no waiting job can use. To save memory, successive polls
        with equal sets of nodes share one set.
        """
        if len(self._nodes) >= KEPT:
            self._nodes.pop(next(iter(self._nodes)))
        nodes = frozenset(barred(cluster))
        last = next(reversed(self._nodes.values()), nodes)
        self._nodes[cluster.at] = last if last == nodes else nodes

    def bands(self, observed: Observed, view: ChartView, clock: float) -> Bools | None:
        """Return an array (band, column): True if no waiting job could use the free cores on most of the band. Return
        None if it would be False everywhere.

        The last poll before the middle of the column decides; columns after `clock` are False.
        """
        edges, origin, moments = view.edges(), observed.origin or 0.0, observed.moments
        found = np.zeros((len(edges) - 1, view.columns), np.bool_)
        if not moments:
            return None
        for column in range(min(view.column_of(clock), view.columns - 1) + 1):
            time = min(view.time_at(column + 0.5), clock)
            if time < moments[0]:
                continue
            nodes = self._nodes.get(moments[observed.picture_at(time)] + origin, frozenset())
            if nodes:
                found[:, column] = self._of(observed, nodes, edges)
        return found if found.any() else None

    def _of(self, observed: Observed, nodes: frozenset[str], edges: tuple[int, ...]) -> Bools:
        key = nodes, edges, observed.layout.cpus
        if key not in self._bands:
            if len(self._bands) > 500:
                self._bands.clear()
            cores = np.zeros(observed.layout.cpus + 1, np.int64)
            for row in observed.layout.rows:
                if row.node in nodes:
                    cores[row.low + 1 : row.high + 1] = 1
            sums = np.cumsum(cores)
            upper, lower = np.array(edges[:-1]), np.array(edges[1:])
            self._bands[key] = 2 * (sums[upper] - sums[lower]) > upper - lower
        return self._bands[key]
