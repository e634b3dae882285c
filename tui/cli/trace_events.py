"""Export of a run as trace events for Perfetto and chrome://tracing: jobs on tracks of processors."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import isnan
from typing import Any, NamedTuple

from sim.engine.engine import Engine
from sim.history.stretch import Stretch
from sim.machine.processors import written
from sim.support.files import write_whole
from sim.support.formatting import name, printable, shortened

GROUPS = 32
"""Largest number of groups into which processors are divided if there are no partitions."""
_MICRO = 1e6
_QUEUE = 1
"""Number of the process that shows waiting jobs; groups of processors have the numbers after it."""
Event = dict[str, Any]


class Group(NamedTuple):
    """Group of processors that the export shows as one process with several tracks."""

    process: int
    title: str
    processors: int


def write_trace_events(engine: Engine, path: str, made_of: Mapping[str, Any]) -> None:
    """Write the run's events to a file, one per line, with `made_of`: the data needed to repeat the run."""
    with write_whole(path) as file:
        file.write(f'{{"displayTimeUnit": "ms", "otherData": {json.dumps(made_of)}, "traceEvents": [\n')
        for number, event in enumerate(trace_events(engine)):
            file.write((",\n" if number else "") + json.dumps(event))
        file.write("\n]}\n")


def trace_events(engine: Engine) -> Iterator[Event]:
    yield _title("process_name", _QUEUE, 0, "waiting")
    yield from _waiting(engine)
    groups = _groups(engine)
    stretches = list(engine.history.stretches())
    rows = sorted({row for stretch in stretches for row in stretch.rows})
    for place, row in enumerate(rows or [None]):
        there = stretches if row is None else [stretch for stretch in stretches if row in stretch.rows]
        for group in groups:
            yield from _track_of(engine, group, there, group.process + place * len(groups), row)
    yield from _counters(engine)


def _groups(engine: Engine) -> list[Group]:
    snapshot, procs = engine.snapshot(), engine.workload.procs
    if snapshot.queues and snapshot.division:  # of one queue alone there is no name
        names = [shortened(printable(queue)) for queue in snapshot.queues]
        return [Group(_QUEUE + 1 + n, names[n], mask) for n, mask in enumerate(snapshot.division)]
    size = -(-procs // GROUPS)
    firsts = range(0, procs, size)
    masks = [((1 << min(size, procs - first)) - 1) << first for first in firsts]
    return [Group(_QUEUE + 1 + n, f"processors {written(mask)}", mask) for n, mask in enumerate(masks)]


# Running jobs


def _track_of(
    engine: Engine, group: Group, stretches: Sequence[Stretch], process: int, row: int | None
) -> Iterator[Event]:
    """Yield a group's slices of jobs and ends of arrows to first starts; with `row` only of its stretches."""
    workload, now = engine.workload, engine.now
    here = [stretch for stretch in stretches if stretch.processors & group.processors]
    spans = [(stretch.start, now if stretch.end is None else stretch.end) for stretch in here]
    lanes = _lanes(spans)
    yield _title("process_name", process, 0, group.title if row is None else f"row {row}, {group.title}")
    yield {"ph": "M", "name": "process_sort_index", "pid": process, "tid": 0, "args": {"sort_index": process}}
    firsts = engine.history.starts(len(workload))
    for stretch, (start, end), lane in zip(here, spans, lanes, strict=True):
        job, track = workload.jobs[stretch.rank], {"pid": process, "tid": lane}
        about = {
            "processors": written(stretch.processors),
            "kind": stretch.kind,
            "ended by": stretch.ended_by or "",
            "estimate": job.estimate,
        }
        called = shortened(printable(name(job)))
        yield {"ph": "X", "name": called, "cat": stretch.kind, **_span(start, end), **track, "args": about}
        lowest, first = stretch.processors & -stretch.processors, float(firsts[stretch.rank])
        is_first = start <= first < end or start == first
        if is_first and lowest & group.processors and row == min(stretch.rows, default=None):
            yield {"ph": "f", "bp": "e", "name": "start", "cat": "wait", "id": stretch.rank, "ts": _at(first), **track}


# Waiting jobs


def _waiting(engine: Engine) -> Iterator[Event]:
    """Yield a slice for each job until its first start, and the beginning of the arrow to that start."""
    workload, now = engine.workload, engine.now
    firsts = engine.history.starts(len(workload)).tolist()
    there = [job for job in workload.jobs if job.submit <= now]
    spans = [(job.submit, now if isnan(firsts[job.rank]) else firsts[job.rank]) for job in there]
    for job, (submit, start), lane in zip(there, spans, _lanes(spans), strict=True):
        track = {"pid": _QUEUE, "tid": lane}
        about = {"processors": job.procs, "estimate": job.estimate}
        called = shortened(printable(name(job)))
        yield {"ph": "X", "name": called, "cat": "wait", **_span(submit, start), **track, "args": about}
        if not isnan(firsts[job.rank]):
            yield {"ph": "s", "name": "start", "cat": "wait", "id": job.rank, "ts": _at(submit), **track}


def _counters(engine: Engine) -> Iterator[Event]:
    time, free, waiting, _ = engine.history.columns()
    for at, unused, queue in zip(time, free, waiting, strict=True):
        used = {"processors": engine.workload.procs - unused}
        yield {"ph": "C", "name": "in use", "pid": _QUEUE, "ts": _at(at), "args": used}
        yield {"ph": "C", "name": "waiting", "pid": _QUEUE, "ts": _at(at), "args": {"jobs": queue}}


# Events


def _lanes(spans: Sequence[tuple[float, float]]) -> list[int]:
    """Return the number of a track (from 1) for each of these spans of time. Spans on one track do not overlap, and as
    few tracks as possible are used.

    >>> _lanes([(0, 10), (5, 20), (10, 12), (12, 13)])
    [1, 2, 1, 1]
    """
    lanes = [0] * len(spans)
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    for index in sorted(range(len(spans)), key=lambda index: spans[index]):
        start, end = spans[index]
        while busy and busy[0][0] <= start:
            heappush(free, heappop(busy)[1])
        lanes[index] = heappop(free) if free else len(busy) + 1
        heappush(busy, (max(end, start + 1 / _MICRO), lanes[index]))
    return lanes


def _title(what: str, process: int, track: int, title: str) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": title}}


def _span(start: float, end: float) -> Event:
    """Return an event's times; at least a microsecond long, because an arrow could not begin at it otherwise."""
    return {"ts": _at(start), "dur": max(_at(end) - _at(start), 1)}


def _at(seconds: float) -> int:
    return round(seconds * _MICRO)
