"""Plan of an observed scheduler as boxes in the chart, of waiting jobs only if it has cores left for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf, nextafter

from sim.history.stretch import Stretch
from sim.live.cluster.observed import CoreRows, Observed
from sim.live.cluster.values import Cluster, ClusterJob
from sim.machine.processors import lowest
from tui.chart.scene import Box

MOST_PLANNED = 200
"""Largest number of waiting jobs in the plan; those with the earliest expected starts are taken."""
UNLIMITED = 86400.0
"""Seconds for which a job without a time limit is drawn in the plan."""


class Plan:
    def __init__(self, rows: Iterable[CoreRows]) -> None:
        self._rows = {row.node: row for row in rows}
        self._busy: dict[str, list[tuple[float, float, int]]] = {name: [] for name in self._rows}
        self._largest = max((row.high - row.low for row in self._rows.values()), default=0)
        self._full: dict[str, float] = {}
        """Time until which each full node has no free core: most of a busy machine is full for hours."""

    def begin(self, time: float) -> None:
        """Note which nodes are full at `time`, before which no job is placed."""
        for name, busy in self._busy.items():
            if not self._free(name, time, nextafter(time, inf)):
                self._full[name] = min(until for start, until, _ in busy if start <= time < until)

    def take(self, processors: int, nodes: Iterable[str], start: float, end: float) -> None:
        for name in nodes:
            row = self._rows.get(name)
            if row is not None and (part := processors >> row.low & ((1 << (row.high - row.low)) - 1)):
                self._busy[name].append((start, end, part))

    def place(self, job: ClusterJob, nodes: Iterable[str], start: float, end: float) -> int:
        """Take free cores (bits) for a job on these nodes, about equally many on each; 0 if it does not fit."""
        wanted = max(job.nodes_wanted, 1)
        free = self._enough(job, nodes, start, end, wanted)
        chosen = list(free)[: len(free) if len(free) <= wanted or not job.planned_nodes else wanted]
        if not job.planned_nodes:
            chosen = sorted(chosen, key=lambda name: -free[name].bit_count())[:wanted] if wanted > 1 else chosen
        left, found = job.cpus, 0
        if len(chosen) >= wanted and wanted > 1:
            share = -(-job.cpus // len(chosen))
            for name in chosen:
                count = min(share, left, free[name].bit_count())
                found, left = self._add(name, free, count, found), left - count
        for name in chosen:
            if left > 0 and (count := min(left, free[name].bit_count())):
                if not job.planned_nodes and wanted == 1 and count < left:
                    continue  # a job on one node needs it whole on that node
                found, left = self._add(name, free, count, found), left - count
        if left > 0:
            return 0
        self.take(found, chosen, start, end)
        return found

    def _enough(self, job: ClusterJob, nodes: Iterable[str], start: float, end: float, wanted: int) -> dict[str, int]:
        """Return free cores by node; without planned nodes, only as many nodes as `place` needs, for speed."""
        free: dict[str, int] = {}
        largest = self._largest if wanted > 1 else job.cpus
        left = wanted
        for name in nodes:
            if self._full.get(name, -inf) <= start and name in self._rows and (found := self._free(name, start, end)):
                free[name] = found
                left -= found.bit_count() >= largest
                if not left and not job.planned_nodes:
                    break
        return free

    def _add(self, name: str, free: dict[str, int], count: int, found: int) -> int:
        taken = lowest(free[name], count) if count else 0
        free[name] &= ~taken
        return found | taken << self._rows[name].low

    def _free(self, name: str, start: float, end: float) -> int:
        row = self._rows[name]
        free = (1 << (row.high - row.low)) - 1
        for begin, until, part in self._busy[name]:
            if begin < end and start < until:
                free &= ~part
        return free


def plan_boxes(observed: Observed, cluster: Cluster, running: Iterable[Stretch], clock: float) -> tuple[Box, ...]:
    """Return boxes of running jobs until their limits, and of waiting jobs from their expected starts."""
    origin = observed.origin or 0.0
    plan, boxes = Plan(observed.layout.rows), []
    for held in running:
        last = observed.jobs[held.rank]
        job = cluster.job_of.get(last.id, last)  # as it was then: it may have ended since
        end = job.end - origin if job.end is not None and not job.has_ended else clock + UNLIMITED
        if held.kind == "run" and end > clock:
            boxes.append(Box(held.rank, clock, end, held.processors, "expected"))
            plan.take(held.processors, job.nodes, clock, end)
    if cluster.is_private:
        return tuple(boxes)  # jobs are hidden, so no plan would be true
    for node in cluster.nodes:
        if node.is_gone:
            plan.take(observed.layout.processors([node.name]), [node.name], clock, inf)
    for reserved in cluster.reservations:
        if reserved.is_maintenance:
            cores = observed.layout.processors(reserved.nodes)
            plan.take(cores, reserved.nodes, reserved.start - origin, reserved.end - origin)
    return (*boxes, *_placed(observed, cluster, plan, clock))


def _placed(observed: Observed, cluster: Cluster, plan: Plan, clock: float) -> Iterator[Box]:
    origin = observed.origin or 0.0
    known = {partition.name: partition.nodes for partition in cluster.partitions}
    every = [row.node for row in observed.layout.rows]
    plan.begin(clock)
    waiting = sorted((job for job in cluster.queue if job.is_planned), key=lambda job: job.start or 0.0)
    for job in waiting[:MOST_PLANNED]:
        start = max((job.start or 0.0) - origin, clock)
        end = start + (job.limit or UNLIMITED)
        nodes = job.planned_nodes or known.get(job.partition.partition(",")[0]) or every
        if cores := plan.place(job, nodes, start, end):
            yield Box(observed.ranks[job.id], start, end, cores, "planned")
