"""Chart of an observed cluster at one time: the past, now, and the plan of the scheduler."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from sim.history.stretch import Stretch
from sim.live.cluster.observed import Observed
from sim.live.cluster.room import barred, free_on
from sim.live.cluster.values import Cluster, Node, Reservation
from sim.support.formatting import count, printable
from sim.workload.model import Field, Floats, Workload
from sim.workload.outages import Outage
from tui.chart.chart_maker import missing_in
from tui.chart.colours import Colours, Legend
from tui.chart.node_rows import LANES, lanes_of, mostly, placed_names, with_bands
from tui.chart.owners import ByOwner, Partitioned
from tui.chart.partition_names import LaneName
from tui.chart.raster import Frame, Raster, Shares, rasterise
from tui.chart.scale import NOW_AT, Camera, ChartView
from tui.chart.scene import Box, ChartScene, Mark, Outline
from tui.live.plan import plan_boxes
from tui.look.text import pad, shorten, sparkline

MODES = {
    "job": "which is which: each job keeps a colour of its own",
    "user": "user that submitted it",
    "account": "what it is charged to",
    "partition": "the partition that it was submitted to",
    "width": "how many cores it has",
    "length": "its time limit",
    "wait": "how long it waited",
}
"""For each way of colouring: what the colours of jobs mean, in words"""
_AS_REPLAY = {"partition": "queue", "account": "user"}
NAME = 12
"""Columns of a node's name at the axis."""
LEAST_SEEN, MOST_SEEN = 300.0, 6 * 3600.0
"""Shortest and longest past, in seconds, that the chart shows when the screen opens."""
ROOMY = 70
"""Smallest width of the chart in columns at which labels also show the used memory."""
GONE = "gone"
MOST_CAUSES = 3


@dataclass(frozen=True)
class Wish:
    """Wish of the user: the poll to show, and choices for its chart."""

    camera: Camera | None = None
    mode: str = "job"
    picture: int | None = None
    """Number of the poll to show; None to show the newest one and each that follows."""
    unicode: bool = True
    marks: tuple[Mark, ...] = ()
    ghost: Reservation | None = None
    """Frame of a job that does not exist yet, in the form of a reservation."""


class ChartMaker:
    """Maker of an observed cluster's charts; it keeps colours, and the bands (cores drawn together) of core sets."""

    def __init__(self) -> None:
        self._colours: tuple[Workload, str, Colours] | None = None
        self._known: tuple[Workload, Floats, Floats] | None = None
        """(Jobs seen, their starts, their ends); a time is nan if it is unknown or has not come"""
        self._shares: tuple[tuple[int, ...], Shares] | None = None
        self._plan: tuple[Cluster, float, tuple[Box, ...]] | None = None
        """The latest plan, with the state and the time that it is of; a new zoom or colour keeps it."""
        self.unused = Unused()
        """Nodes with free cores that no waiting job could use, at each poll that was seen"""

    def make(self, observed: Observed, cluster: Cluster, clock: float, camera: Camera, wish: Wish) -> ChartScene:
        """Return the chart at the time `clock`; `cluster` is the state at the poll that is shown."""
        workload = observed.workload
        view, lanes = camera.view(clock), None
        names = labels_of(observed, cluster, camera.columns >= ROOMY, wish.unicode)
        firsts = band_cores(observed, cluster)
        bands = with_bands(firsts, view, clock) if camera.memory else None
        by_use = None if bands else lanes_by_use(observed, cluster, view, clock, camera.by_rows)
        order = bands or (by_use[0] if by_use else None)
        if order is not None:
            view = order.view(view)
            lanes = ByOwner(order, None, view.axis, view.per_column, view.first, view.columns)
            names = placed_names(names, lanes) if bands else ()
        else:
            view = replace(view, cuts=tuple(row.low for row in reversed(observed.layout.rows)))
            names = racks_of(observed, view) or names
        stretches = observed.stretches(clock)
        plan = self._planned(observed, cluster, stretches, clock)
        times = self._times(observed, workload, clock)
        hues, legend = self._hues(workload, wish.mode, times, clock)
        outages = outages_of(observed, clock)
        framed = cluster.reservations if wish.ghost is None else (*cluster.reservations, wish.ghost)
        return ChartScene(
            view=view,
            clock=clock,
            since=None,
            raster=self._raster(stretches, plan, view, clock, lanes),
            plan=plan,
            owners=None,
            homes=None,
            missing=missing_in(view, outages, lanes),
            outages=outages,
            marks=wish.marks,
            mode=wish.mode,
            hues=hues,
            legend=legend,
            workload=workload,
            start=times[0],
            end=times[1],
            useless=self.unused.bands(observed, view, clock, lanes),
            names=names,
            by_owner=lanes,
            lane_names=by_use[1] if by_use else (),
            outlines=tuple(outlines_of(observed, framed, view, clock, lanes)),
            band_cores=firsts,
            memory=self.unused.memory(observed, view, clock) if bands else None,
        )

    def _planned(self, observed: Observed, cluster: Cluster, stretches: list[Stretch], clock: float) -> tuple[Box, ...]:
        if self._plan is None or self._plan[0] is not cluster or self._plan[1] != clock:
            running = [stretch for stretch in stretches if stretch.end is None]
            self._plan = cluster, clock, plan_boxes(observed, cluster, running, clock)
        return self._plan[2]

    def _raster(
        self, stretches: list[Stretch], plan: tuple[Box, ...], view: ChartView, clock: float, lanes: ByOwner | None
    ) -> Raster:
        """Return the pixels in three layers: jobs that ran above suspended ones above the plan."""
        ahead = [Stretch(box.rank, box.start, box.end, box.kind, box.processors) for box in plan]
        if lanes is not None:
            stretches, ahead = list(lanes.spread(stretches)), list(lanes.spread(ahead))
        edges = view.edges()
        if self._shares is None or self._shares[0] != edges:
            self._shares = edges, Shares(edges)
        frame, shares = Frame(view.per_column, view.first, view.columns, edges, view.axis), self._shares[1]
        begin, now = view.start, min(view.end, nextafter(clock, inf))
        seen = [s for s in stretches if (s.end is None or s.end > begin) and s.start < now]
        ran = [s for s in seen if s.kind == "run"]
        cut = [s for s in ran if s.is_cut and s.end is not None and s.end <= clock]
        trails = [s for s in seen if s.kind != "run"]
        past = rasterise(ran, frame, clock, shares, cut)
        if trails:
            past = past.above(rasterise(trails, frame, clock, shares))
        if view.end <= clock:
            return past
        ahead = [stretch for stretch in ahead if stretch.start < view.end]
        return past.above(rasterise(ahead, frame, inf, shares))

    def _hues(
        self, workload: Workload, mode: str, times: tuple[Floats, Floats], clock: float
    ) -> tuple[NDArray[np.uint8], Legend]:
        """Return each job's hue by rank, and the legend; `times` has starts and ends."""
        if self._colours is None or self._colours[0] is not workload or self._colours[1] != mode:
            seen = workload
            if mode == "account":
                words = workload.names.get(Field.GROUP, ())
                seen = replace(workload, user=workload.group, names={**workload.names, Field.USER: words})
            self._colours = workload, mode, Colours(seen)
        colours, name = self._colours[2], _AS_REPLAY.get(mode, mode)
        ranks = np.arange(len(workload), dtype=np.intp)
        return colours.of(name, ranks, *times, clock, lambda rank: None), colours.legend(name)

    def _times(self, observed: Observed, workload: Workload, clock: float) -> tuple[Floats, Floats]:
        """Return starts and ends by rank; nan if one had not happened at `clock`."""
        if self._known is None or self._known[0] is not workload:
            origin = observed.origin or 0.0
            start = np.array([_or_nan(job.start if not job.is_waiting else None) for job in observed.jobs]) - origin
            end = np.array([_or_nan(job.end if job.has_ended else None) for job in observed.jobs]) - origin
            self._known = workload, start, end
        _, start, end = self._known
        return np.where(start <= clock, start, np.nan), np.where(end <= clock, end, np.nan)


def first_camera(observed: Observed, clock: float, columns: int, rows: int) -> Camera:
    """Return the camera at the beginning: at most the last 6 hours, and all nodes."""
    stretches = observed.stretches(clock)
    begin = min((max(held.start, clock - MOST_SEEN) for held in stretches), default=clock)
    span = min(max(clock - begin, LEAST_SEEN), MOST_SEEN)
    whole = Camera(1, 0, max(observed.layout.cpus, 1), max(columns, 1), max(rows, 1))
    return whole.fitting(0, span / NOW_AT).following()


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def outlines_of(
    observed: Observed, framed: Iterable[Reservation], view: ChartView, clock: float, lanes: ByOwner | None = None
) -> Iterator[Outline]:
    """Yield an outline for each of `framed`, and one without frame for nodes gone at one time for one reason."""
    origin, layout = observed.origin or 0.0, observed.layout

    def placed(nodes: Iterable[str]) -> int:
        cores = layout.processors(nodes)
        return cores if lanes is None else lanes.orders[0].lifted(cores)

    for reserved in framed:
        start, end = reserved.start - origin, reserved.end - origin
        if start < view.end and end > view.start and (cores := placed(reserved.nodes)):
            yield Outline(reserved.name, start, end, cores, is_above=reserved.is_new)
    together: dict[tuple[str, float, float], list[str]] = {}
    for gone in observed.gone(clock):
        end = view.end if gone.end is None else gone.end
        if gone.start < view.end and end > view.start:
            together.setdefault((gone.reason, gone.start, end), []).append(gone.node)
    for (reason, start, end), nodes in together.items():
        yield Outline(reason, start, end, placed(nodes), is_framed=False)


def outages_of(observed: Observed, clock: float) -> tuple[Outage, ...]:
    layout = observed.layout
    return tuple(
        Outage(gone.start, inf if gone.end is None else gone.end, layout.processors([gone.node]))
        for gone in observed.gone(clock)
    )


def band_cores(observed: Observed, cluster: Cluster) -> tuple[int, ...]:
    """Return the lowest core of each node, and the number of cores; empty if no node's memory is known."""
    if not any(node.memory for node in cluster.nodes):
        return ()
    return (*(row.low for row in reversed(observed.layout.rows)), observed.layout.cpus)


def racks_of(observed: Observed, view: ChartView) -> tuple[tuple[int, str], ...]:
    """Return (lowest core, name) of racks: r01 of r01n07; empty if nodes have space for names, or names no racks."""
    rows = [row for row in reversed(observed.layout.rows) if row.low < view.high and row.high > view.low]
    if 2 * len(rows) <= view.rows:
        return ()
    found: list[tuple[int, str]] = []
    for row in rows:
        if not (rack := rack_of(row.node)):
            return ()
        if not found or found[-1][1] != rack:
            found.append((row.low, rack))
    names = [name for _, name in found]
    if len(set(names)) < len(names) or 2 * len(names) > view.rows:
        return ()
    width = min(max(map(len, names)), NAME)
    return tuple((low, pad(shorten(printable(name), width), width)) for low, name in found)


def rack_of(node: str) -> str:
    """Return the name of a node's rack, "" if its name has fewer than two numbers.

    >>> rack_of("r01n07"), rack_of("rack3-node12"), rack_of("n12")
    ('r01', 'rack3', '')
    """
    found = _RACK.match(node)
    return found[1] if found else ""


_RACK = re.compile(r"(\D*\d+)\D+\d+\D*$")


def labels_of(observed: Observed, cluster: Cluster, roomy: bool, unicode: bool = True) -> tuple[tuple[int, str], ...]:
    """Return (lowest core, label) of nodes, from the lowest up; with `roomy` also used GPUs and memory."""
    found = []
    has_gpus = roomy and any(node.gpus for node in cluster.nodes)
    width = min(max((len(row.node) for row in observed.layout.rows), default=0), NAME)
    for row in reversed(observed.layout.rows):
        label = pad(shorten(printable(row.node), width), width)
        node = cluster.node_of.get(row.node)
        if roomy and node is not None:
            gpus = f"{node.gpus_taken}/{node.gpus}" if node.gpus else ""
            label += f" {gpus:>3}" if has_gpus else ""
            label += _level(node, unicode)
        found.append((row.low, label))
    return tuple(found)


def _level(node: Node, unicode: bool) -> str:
    """Return a block character as high as the used share of the node's memory; blank if unknown."""
    if not node.memory:
        return "  "
    return " " + sparkline([min(node.memory_taken / node.memory, 1.0), 1.0], unicode)[:1]


def lanes_by_use(
    observed: Observed, cluster: Cluster, view: ChartView, clock: float, by_rows: bool | None
) -> tuple[Partitioned, tuple[LaneName, ...]] | None:
    """Return lanes by the use of nodes, and their names; without a choice `by_rows` only if nodes outnumber rows."""
    rows = observed.layout.rows
    if not rows or not (by_rows if by_rows is not None else len(rows) > view.rows):
        return None
    useless = barred(cluster)
    names: dict[str, list[str]] = {name: [] for name in (*LANES, GONE)}
    for row in rows:
        node = cluster.node_of.get(row.node)
        free = 0 if node is None else free_on(cluster, node).cores
        if node is None or node.is_gone:
            lane = GONE
        elif free == node.cpus:
            lane = "empty"
        else:
            lane = "full" if not free else "no use" if node.name in useless else "in part"
        names[lane].append(row.node)
    causes = {
        GONE: [reason_of(cluster.node_of.get(name)) for name in names[GONE]],
        "no use": [useless[name] for name in names["no use"]],
    }
    groups = [
        (
            LaneName(lane, "", count(len(there), "node"), _most(causes.get(lane, [])), place),
            observed.layout.processors(there),
        )
        for place, (lane, there) in enumerate(names.items())
        if there
    ]
    return lanes_of(groups, view, clock, observed.layout.cpus)


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
