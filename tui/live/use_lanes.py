"""Lanes of an observed cluster, which group its nodes by how full they are."""

from __future__ import annotations

from sim.cluster.observed import Observed
from sim.cluster.room import barred, free_on
from sim.cluster.values import Cluster
from sim.formatting import count
from tui.chart.node_rows import LANES
from tui.chart.owners import Partitioned, gap_of
from tui.chart.partition_names import LaneName
from tui.chart.scale import ChartView

_GONE = len(LANES)
"""Number of the lane for unavailable nodes: one more than the number of the last lane of a simulated machine"""


def lanes_by_use(
    observed: Observed, cluster: Cluster, view: ChartView, clock: float, by_rows: bool | None
) -> tuple[Partitioned, tuple[LaneName, ...]] | None:
    """Return lanes for the nodes as they are at the poll that is shown, with the lanes' names; None if the chart shows
    the nodes in their fixed order, without lanes.

    `by_rows` is the user's choice. If it is None, there are lanes only if there are more nodes than rows.
    """
    rows = observed.layout.rows
    if not rows or not (by_rows if by_rows is not None else len(rows) > view.rows):
        return None
    useless = barred(cluster)
    lanes: list[list[str]] = [[] for _ in (*LANES, "gone")]
    for row in rows:
        node = cluster.node_of.get(row.node)
        free = 0 if node is None else free_on(cluster, node).cores
        if node is None or node.is_gone:
            lane = _GONE
        elif free == node.cpus:
            lane = LANES.index("empty")
        else:
            lane = LANES.index("full" if not free else "no use" if node.name in useless else "in part")
        lanes[lane].append(row.node)
    sets = tuple(map(observed.layout.processors, lanes))
    gap = gap_of(view.high - view.low, view.rows, len(sets))
    names = (LaneName(name, "", count(len(nodes), "node")) for name, nodes in zip((*LANES, "gone"), lanes, strict=True))
    return Partitioned(sets, sets, clock, observed.layout.cpus, gap, is_fixed=True), tuple(names)
