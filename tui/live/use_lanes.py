"""Lanes of an observed cluster, which group its nodes by how full they are."""

from __future__ import annotations

from collections import Counter

from sim.cluster.observed import Observed
from sim.cluster.room import barred, free_on
from sim.cluster.values import Cluster, Node
from sim.formatting import count, printable
from tui.chart.node_rows import LANES
from tui.chart.owners import Partitioned, gap_of
from tui.chart.partition_names import LaneName
from tui.chart.scale import ChartView

GONE = "gone"
"""Name of the lane for unavailable nodes."""
MOST_CAUSES = 3
"""Largest number of causes that the name of a lane lists."""


def lanes_by_use(
    observed: Observed, cluster: Cluster, view: ChartView, clock: float, by_rows: bool | None
) -> tuple[Partitioned, tuple[LaneName, ...]] | None:
    """Return lanes by the use of nodes with names; without `by_rows` only for more nodes than rows; or None."""
    rows = observed.layout.rows
    if not rows or not (by_rows if by_rows is not None else len(rows) > view.rows):
        return None
    useless = barred(cluster)
    lanes: dict[str, list[Node | None]] = {name: [] for name in (*LANES, GONE)}
    names: dict[str, list[str]] = {name: [] for name in lanes}
    for row in rows:
        node = cluster.node_of.get(row.node)
        free = 0 if node is None else free_on(cluster, node).cores
        if node is None or node.is_gone:
            lane = GONE
        elif free == node.cpus:
            lane = "empty"
        else:
            lane = "full" if not free else "no use" if node.name in useless else "in part"
        lanes[lane].append(node)
        names[lane].append(row.node)
    seen = [name for name in lanes if names[name]]
    sets = tuple(observed.layout.processors(names[name]) for name in seen)
    gap = gap_of(view.high - view.low, view.rows, len(sets))
    causes = {GONE: [reason_of(node) for node in lanes[GONE]], "no use": [useless[each] for each in names["no use"]]}
    told = (
        LaneName(each, "", count(len(names[each]), "node"), _most(causes.get(each, [])), place)
        for place, each in enumerate(lanes)
        if names[each]
    )
    return Partitioned(sets, sets, clock, observed.layout.cpus, gap, is_fixed=True), tuple(told)


def reason_of(node: Node | None) -> str:
    """Return the administrator's reason why a node is unavailable, without its time."""
    if node is None:
        return "not listed"
    return printable(node.reason.partition(" [")[0]) or "no reason given"


def _most(causes: list[str]) -> str:
    """Return the causes with the number of nodes of each, the most frequent first; "" if there are none.

    >>> _most(["disk", "cooling", "cooling"]), _most(["disk", "disk"])
    ('cooling (2), disk', 'disk')
    """
    counted = Counter(causes).most_common()
    if len(counted) == 1:
        return counted[0][0]
    return ", ".join(f"{cause} ({many:,})" if many > 1 else cause for cause, many in counted[:MOST_CAUSES])
