"""Plan of future jobs as boxes in the chart, to the right of now."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import nsmallest
from math import inf

from sim.engine.snapshot import Queued, Running, Snapshot
from sim.history.node_use import use_now
from sim.machine.ousterhout_matrix import MatrixPicture
from sim.machine.processors import lowest
from sim.workload.outages import absent
from sim.workload.shape import Shape
from tui.chart.lanes import are_seen
from tui.chart.scale import ChartView
from tui.chart.scene import Box

_LOOKED_AT = 500
"""Number of waiting jobs, from the head, among which the chart searches for planned jobs"""
_MOST = 200
_MOST_ON_NODES = 20
"""Largest number of planned jobs that the machine's rule places, which takes long; others get the lowest cores."""


def plan_boxes(
    snapshot: Snapshot, view: ChartView, clock: float, turn: float | None = None, shape: Shape | None = None
) -> tuple[Box, ...]:
    """Return boxes of running jobs until expected ends, and of waiting ones from planned starts; `turn` in seconds."""
    if view.end <= clock:
        return ()
    if snapshot.matrix is not None:
        return tuple(_turns(snapshot, snapshot.matrix, view, clock, turn))
    return tuple(_boxes(snapshot, view.end, clock, shape))


def _boxes(snapshot: Snapshot, before: float, clock: float, shape: Shape | None = None) -> Iterator[Box]:
    running = [run for run in snapshot.running if run.expected_end > clock]
    placed = list(_boxes_of(_planned(snapshot, before), running, snapshot, shape))
    expected = [box for run in running for box in _expected(run, clock, placed)]
    yield from (*expected, *placed, *_rests(snapshot, [*expected, *placed], clock))


def planned_times(snapshot: Snapshot) -> Iterator[float]:
    yield from (run.expected_end for run in snapshot.running)
    for queued in _planned(snapshot, inf):
        start = queued.planned or 0.0
        yield from (start, start + queued.job.estimate)
    if snapshot.suspended and snapshot.time is not None:
        for box in _boxes(snapshot, inf, snapshot.time):
            yield from (box.start, box.end)


def planned_start(snapshot: Snapshot, rank: int) -> float | None:
    place = snapshot.queue.place_of(rank)
    return None if place is None else snapshot.queue[place].planned


def _planned(snapshot: Snapshot, before: float) -> list[Queued]:
    planned = snapshot.queue.planned_before(before, _LOOKED_AT)
    return nsmallest(_MOST, planned, key=lambda queued: (queued.planned or 0.0, queued.job.rank))


def _expected(run: Running, clock: float, placed: list[Box]) -> Iterator[Box]:
    left = run.processors
    for box in placed:
        if left & box.processors and box.start < run.expected_end:
            yield Box(run.job.rank, clock, box.start, left & box.processors, "expected")
            left &= ~box.processors
    if left:
        yield Box(run.job.rank, clock, run.expected_end, left, "expected")


def _boxes_of(planned: list[Queued], running: list[Running], snapshot: Snapshot, shape: Shape | None) -> Iterator[Box]:
    """Yield boxes of the planned jobs. A plan has only the number of processors, so each job gets the lowest processors
    that are free for all its time; on nodes, the placement rule chooses.

    If too few are free, a job also gets processors of running jobs that are predicted to have ended by its planned
    start; these jobs may then still run.
    """
    placed: list[Box] = []
    everything = (1 << snapshot.procs) - 1
    for queued in planned:
        job, start = queued.job, queued.planned or 0.0
        end = start + job.estimate
        then = taken = absent(snapshot.outages, start)
        for run in running:
            if run.expected_end > start:
                taken |= run.processors
                if run.predicted_end is None or run.predicted_end > start:
                    then |= run.processors
        for outage in snapshot.outages:
            if start < outage.begins < end:
                taken |= outage.processors
        for box in placed:
            if box.start < end and start < box.end:
                taken |= box.processors
                if box.start <= start:
                    then |= box.processors
        own = snapshot.owners[queued.place] if queued.place < len(snapshot.owners) else 0
        chosen = 0
        if shape is not None and len(placed) < _MOST_ON_NODES:
            held = [(run.job.rank, run.processors) for run in running if run.expected_end > start]
            held += [(box.rank, box.processors) for box in placed if box.start < end and start < box.end]
            chosen = _on_nodes(shape, job.rank, held, everything & ~taken)
        chosen = chosen or _lowest(everything & ~taken, everything & ~then, job.procs, own)
        if chosen:
            placed.append(Box(job.rank, start, end, chosen, "reserved" if queued.reserved else "planned"))
            yield placed[-1]


def _on_nodes(shape: Shape, rank: int, held: list[tuple[int, int]], free: int) -> int:
    """Return the cores, as bits, that `rank` would get on nodes; 0 if it does not fit; `held` are (rank, cores)."""
    seats = shape.seat(shape.requests[rank], use_now(shape, held, ()).free)
    chosen, firsts = 0, shape.first_core
    for node, amounts in zip(*seats, strict=True) if seats is not None else ():
        own = free >> firsts[node] & ((1 << (firsts[node + 1] - firsts[node])) - 1)
        if own.bit_count() < amounts[0]:
            return 0
        chosen |= lowest(own, amounts[0]) << firsts[node]
    return chosen


def _rests(snapshot: Snapshot, ahead: list[Box], clock: float) -> Iterator[Box]:
    ahead = list(ahead)
    for halted in snapshot.suspended[:_MOST]:
        left = halted.job.estimate - halted.ran
        there = sorted((box for box in ahead if box.processors & halted.processors), key=lambda box: box.start)
        start = clock
        for box in there:
            if box.start < start + left and start < box.end:
                start = box.end
        if left > 0:
            ahead.append(Box(halted.job.rank, start, start + left, halted.processors, "planned"))
            yield ahead[-1]


def _lowest(free: int, free_then: int, count: int, own: int = 0) -> int:
    """Return the `count` lowest processors, of `own` first, of `free`, else of `free_then`, too; 0 if too few."""
    if free.bit_count() >= count:
        first = lowest(free & own, min((free & own).bit_count(), count))
        return first | lowest(free & ~own, count - first.bit_count())
    others = free_then & ~free
    missing = count - free.bit_count()
    return free | lowest(others, missing) if others.bit_count() >= missing else 0


def _turns(
    snapshot: Snapshot, matrix: MatrixPicture, view: ChartView, clock: float, turn: float | None
) -> Iterator[Box]:
    """Yield boxes of future turns of matrix rows; if they are too short to see, one box per job."""
    ends = {run.job.rank: run.expected_end for run in snapshot.running}
    if view.lanes > 1 or turn is None or snapshot.turn_end is None or not are_seen(turn, view.seconds):
        for row, cells in matrix.rows:
            there = (c for c in cells if ends[c.rank] > clock)
            yield from (Box(c.rank, clock, ends[c.rank], c.columns, "sharing", (row,)) for c in there)
        return
    for begin, end, row in _slots(matrix, view, clock, turn, snapshot.turn_end):
        for cell in matrix.rows[row][1]:
            until = min(end, ends[cell.rank])
            if until > begin:
                yield Box(cell.rank, begin, until, cell.columns, "expected")


def _slots(
    matrix: MatrixPicture, view: ChartView, clock: float, turn: float, end: float
) -> Iterator[tuple[float, float, int]]:
    """Yield (begin, end, index of the row) of the rest of the present turn, until `end`, and visible later ones."""
    places = {row: place for place, (row, _) in enumerate(matrix.rows)}
    count = len(places)
    if not count:
        return
    place, begin = places.get(matrix.on_turn or 0, 0), clock
    while begin < view.end:
        if end > begin:
            yield begin, end, place
            begin = end
        place, end = (place + 1) % count, end + turn
