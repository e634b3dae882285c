"""Nodes in the chart: names, cores that no waiting job can use, and lanes by how full nodes are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import inf, nextafter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sim.engine.snapshot import Snapshot
from sim.history.node_use import CoreStays, Use, Waits, barred, use_now, uses_at
from sim.history.past import Past
from sim.support.formatting import count, printable, shortened
from sim.workload.model import Workload
from sim.workload.shape import BARS, OPEN, Shape
from tui.chart.owners import ByOwner, Owners, Partitioned, gap_of
from tui.chart.partition_names import LaneName
from tui.chart.scale import ChartView

_WIDEST = 12
"""Largest width in columns of a node's name."""
_KEPT = 4096
"""Number of columns for which the nodes with useless cores are cached."""
LANES = ("full", "no use", "in part", "empty")
"""Lanes of nodes, from the bottom: all cores taken; some free, but of no use; some free; all free."""
_ROWS = 3
"""Least number of rows of pixels for each node with a band of memory"""
Bools = NDArray[np.bool_]


class Seen(NamedTuple):
    """For each node in one column: True if no waiting job can use its free cores, and eighths of memory in use."""

    useless: Bools
    memory: NDArray[np.int8]


class Span(NamedTuple):
    begin: float
    end: float
    cores: int


class NodeRows:
    def __init__(self, workload: Workload, shape: Shape) -> None:
        self._workload, self.shape = workload, shape
        self.names = tuple(
            (low, shortened(printable(node.name), _WIDEST))
            for low, node in zip(shape.first_core, shape.nodes, strict=False)
        )
        self._known: dict[tuple[object, int], Seen] = {}
        self._current: tuple[Snapshot, Use] | None = None

    def cut(self, view: ChartView) -> ChartView:
        """Return the view in which no band crosses the border of a node; nodes have several if rows suffice."""
        firsts = self.shape.first_core
        seen = [(low, high) for low, high in pairwise(firsts) if low < view.high and high > view.low]
        size = max(-(-(view.high - view.low) // view.rows), 1)
        if len(seen) > view.rows:
            return replace(view, cuts=firsts[:-1])
        while sum(-(-(high - low) // size) for low, high in seen) > view.rows:
            size += 1
        parts = ((low, high, -(-(high - low) // size)) for low, high in seen)
        return replace(
            view, cuts=tuple(low + (high - low) * at // many for low, high, many in parts for at in range(many))
        )

    def current(self, snapshot: Snapshot) -> Use:
        if self._current is None or self._current[0] is not snapshot:
            held = ((each.job.rank, each.processors) for each in snapshot.running)
            self._current = snapshot, use_now(self.shape, held, (job.rank for job in snapshot.queue.jobs))
        return self._current[1]

    def unused(self, now: Use) -> tuple[int, ...]:
        """Return the number of free cores, and of those useless for waiting jobs by each cause in `BARS`."""
        causes, free = barred(self.shape, now), now.free[:, 0]
        return int(free.sum()), *(int(free[causes == number].sum()) for number in range(len(BARS)))

    def seen(self, history: Past, view: ChartView, clock: float, now: Use) -> list[Seen]:
        """Return what columns up to now show of the nodes; past ones as they were in their middle."""
        last = min(max(view.column_of(clock), -1), view.columns - 1)
        axis = view.per_column, view.axis.kind
        missing = [column for column in range(last) if (axis, view.first + column) not in self._known]
        if len(self._known) > _KEPT:
            self._known.clear()
            missing = list(range(last))
        for column, use in zip(missing, self._uses(history, view, missing), strict=False):
            self._known[axis, view.first + column] = self._seen_use(use)
        past = [self._known[axis, view.first + column] for column in range(last)]
        return [*past, self._seen_use(now)] if last >= 0 else past

    def _seen_use(self, use: Use) -> Seen:
        has = self.shape.has[:, 1]
        eighths = -(-8 * (has - use.free[:, 1]) // np.maximum(has, 1))
        return Seen(barred(self.shape, use) != OPEN, eighths.astype(np.int8))

    def useless(self, seen: Sequence[Seen], view: ChartView, by_owner: ByOwner | None) -> Bools | None:
        """Return (band, column): True if most is useless for waiting jobs; None if it is nowhere."""
        edges = view.edges()
        found = np.zeros((len(edges) - 1, view.columns), np.bool_)
        for column, (nodes, _) in enumerate(seen):
            if nodes.any():
                found[:, column] = mostly(np.repeat(nodes, self.shape.has[:, 0]), edges, by_owner)
        return found if found.any() else None

    def useless_spans(self, history: Past, snapshot: Snapshot, view: ChartView, clock: float) -> Iterator[Span]:
        """Yield the times and cores of nodes useless for waiting jobs; equal neighbours are one."""
        seen, column = self.seen(history, view, clock, self.current(snapshot)), 0
        for same, run in groupby(seen, lambda each: each.useless.tobytes()):
            first, column = column, column + sum(1 for _ in run)
            if any(same):
                cores = np.repeat(seen[first].useless, self.shape.has[:, 0])
                end = min(view.time_at(column), clock)
                yield Span(view.time_at(first), end, bits_of(cores))

    @property
    def band_cores(self) -> tuple[int, ...]:
        """Return the lowest core of each node, and the number of all cores; empty if no node has memory."""
        return tuple(self.shape.first_core) if self.shape.has[:, 1].any() else ()

    def memory(self, seen: Sequence[Seen], view: ChartView) -> NDArray[np.int8]:
        found = np.full((len(self.shape.nodes), view.columns), -1, np.int8)
        for column, (_, eighths) in enumerate(seen):
            found[:, column] = eighths
        return found

    def _uses(self, history: Past, view: ChartView, columns: list[int]) -> Iterable[Use]:
        if not columns:
            return ()
        times = [view.time_at(column + 0.5) for column in columns]
        begin, end = view.time_at(columns[0]), nextafter(times[-1], inf)
        stays = CoreStays.of(
            (held.rank, held.start, inf if held.end is None else held.end, held.processors)
            for held in history.between(begin, end)
        )
        submit, start = self._workload.due, history.starts(len(self._workload))
        began = np.where(np.isnan(start), inf, start)
        ranks = np.flatnonzero((submit <= end) & (began > begin))
        return uses_at(self.shape, times, stays, Waits(ranks, submit[ranks], began[ranks]))

    def by_use(
        self, view: ChartView, clock: float, now: Use, by_rows: bool | None
    ) -> tuple[Partitioned, tuple[LaneName, ...]] | None:
        """Return named lanes of nodes by how full they are; `by_rows` None: only if nodes outnumber rows."""
        if not (by_rows if by_rows is not None else len(self.shape.nodes) > view.rows):
            return None
        groups = [
            (LaneName(name, "", count(len(self.shape.nodes_of(cores)), "node"), place=place), cores)
            for place, (name, cores) in enumerate(zip(LANES, self._by_use(now), strict=True))
            if cores
        ]
        return lanes_of(groups, view, clock, self.shape.cores)

    def _by_use(self, now: Use) -> Owners:
        free, has = now.free[:, 0], self.shape.has[:, 0]
        lane = np.where(free == has, 3, np.where(free > 0, 2, 0))
        lane[(barred(self.shape, now) != OPEN) & (free < has)] = 1
        cores = np.repeat(lane, has)
        return tuple(bits_of(cores == number) for number in range(len(LANES)))


def lanes_of(
    groups: Sequence[tuple[LaneName, int]], view: ChartView, clock: float, cores: int
) -> tuple[Partitioned, tuple[LaneName, ...]]:
    """Return lanes for groups of nodes, each with its name and cores (bits); the machine has `cores` cores."""
    sets = tuple(held for _, held in groups)
    gap = gap_of(view.high - view.low, view.rows, len(sets))
    return Partitioned(sets, sets, clock, cores, gap, is_fixed=True), tuple(name for name, _ in groups)


def bits_of(cores: Bools) -> int:
    return int.from_bytes(np.packbits(cores, bitorder="little").tobytes(), "little")


def has_bands(firsts: Sequence[int], low: int, high: int, rows: int) -> bool:
    """Return True if a band of memory fits above each visible node (of cores `low` to before `high`) in `rows`."""
    return bool(firsts) and _ROWS * _visible(firsts, low, high) <= rows


def with_bands(firsts: Sequence[int], view: ChartView, clock: float) -> Partitioned | None:
    """Return an order with room for a band above each node, or None; `firsts` as for `has_bands`."""
    if not has_bands(firsts, view.low, view.high, view.rows):
        return None
    sets = tuple((1 << high) - (1 << low) for low, high in pairwise(firsts))
    gap = gap_of(view.high - view.low, view.rows, _visible(firsts, view.low, view.high))
    return Partitioned(sets, sets, clock, firsts[-1], gap, is_fixed=True)


def placed_names(names: Iterable[tuple[int, str]], by_owner: ByOwner) -> tuple[tuple[int, str], ...]:
    """Return labels of nodes with the positions of their lowest cores in an order with bands of memory."""
    places = by_owner.orders[0].places
    return tuple((int(places[core]), name) for core, name in names)


def _visible(firsts: Sequence[int], low: int, high: int) -> int:
    return sum(first < high and end > low for first, end in pairwise(firsts))


def mostly(cores: Bools, edges: tuple[int, ...], by_owner: ByOwner | None) -> Bools:
    """Return, for each band between edges, if most cores are True; in lanes in the order of `by_owner`."""
    if by_owner is not None:
        order = by_owner.orders[0].processors
        cores = np.where(order >= 0, cores[order], False)
    sums = np.concatenate(([0], np.cumsum(cores)))
    upper, lower = np.array(edges[:-1]), np.array(edges[1:])
    found: Bools = 2 * (sums[upper] - sums[lower]) > upper - lower
    return found
