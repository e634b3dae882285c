"""Export of a run as trace events for Perfetto and chrome://tracing: jobs, decisions and plans on tracks."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush, merge
from math import isnan
from typing import Any, NamedTuple

from sim.decisions.decisions import Decision, Expect, Reserve
from sim.decisions.matrix import ReserveRow
from sim.decisions.sentences import jobs_in, say
from sim.engine.engine import Engine
from sim.history.stretch import Stretch
from sim.machine.processors import written
from sim.stops.vocabulary import is_resume, is_start
from sim.support.files import write_whole
from sim.support.formatting import clock, name, printable, shortened
from sim.workload.model import Job

GROUPS = 32
"""Largest number of groups into which processors are divided if there are no partitions."""
_MICRO = 1e6
_QUEUE, _PLANS, _DECISIONS = 1, 2, 3
"""Numbers of the processes that show waiting jobs, planned starts, and decisions; groups of processors come after."""
Event = dict[str, Any]
Reasons = Mapping[int, Sequence[tuple[float, str]]]
"""For each rank: times at which the job was started or resumed, each with the sentence of the decision"""


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
    """Yield titles, then all other events by time; of the same time, slices before the arrows that begin or end in
    them."""
    history = engine.history
    made = [
        ToldDecision(step, history.time_of(step), each, printable(say(each))) for step, each in history.all_decisions()
    ]
    reasons, groups = _reasons(made), _groups(engine)
    stretches = list(engine.history.stretches())
    rows = sorted({row for stretch in stretches for row in stretch.rows})
    tracks = [_waiting(engine, reasons), _planned(engine, made), _decided(made)]
    for place, row in enumerate(rows or [None]):
        there = stretches if row is None else [stretch for stretch in stretches if row in stretch.rows]
        first = place * len(groups)
        tracks += [_track_of(engine, group, there, group.process + first, row, reasons) for group in groups]
    yield from merge(*tracks, _counters(engine), key=_time)


def _time(event: Event) -> int:
    return int(event.get("ts", -1))


def _groups(engine: Engine) -> list[Group]:
    snapshot, procs = engine.snapshot(), engine.workload.procs
    if snapshot.queues and snapshot.division:  # of one queue alone there is no name
        names = [shortened(printable(queue)) for queue in snapshot.queues]
        return [Group(_DECISIONS + 1 + n, names[n], mask) for n, mask in enumerate(snapshot.division)]
    size = -(-procs // GROUPS)
    firsts = range(0, procs, size)
    masks = [((1 << min(size, procs - first)) - 1) << first for first in firsts]
    return [Group(_DECISIONS + 1 + n, f"processors {written(mask)}", mask) for n, mask in enumerate(masks)]


# Running jobs


def _track_of(
    engine: Engine, group: Group, stretches: Sequence[Stretch], process: int, row: int | None, reasons: Reasons
) -> Iterator[Event]:
    """Yield a group's slices of jobs and ends of arrows to first starts; with `row` only of its stretches."""
    now = engine.now
    here = [stretch for stretch in stretches if stretch.processors & group.processors]
    spans = [(stretch.start, now if stretch.end is None else stretch.end) for stretch in here]
    lanes = _lanes(spans)
    yield _title("process_name", process, 0, group.title if row is None else f"row {row}, {group.title}")
    yield {"ph": "M", "name": "process_sort_index", "pid": process, "tid": 0, "args": {"sort_index": process}}
    firsts, ends = engine.history.starts(len(engine.workload)), []
    for stretch, (start, end), lane in zip(here, spans, lanes, strict=True):
        lowest, first = stretch.processors & -stretch.processors, float(firsts[stretch.rank])
        is_first = start <= first < end or start == first
        if is_first and lowest & group.processors and row == min(stretch.rows, default=None):
            arrow = {"ph": "f", "bp": "e", "name": "start", "cat": "wait", "id": stretch.rank, "ts": _at(first)}
            ends.append({**arrow, "pid": process, "tid": lane})
    slices = (
        _slice_of(engine, stretch, span, {"pid": process, "tid": lane}, reasons)
        for stretch, span, lane in zip(here, spans, lanes, strict=True)
    )
    yield from merge(slices, sorted(ends, key=_time), key=_time)


def _slice_of(
    engine: Engine, stretch: Stretch, span: tuple[float, float], track: Mapping[str, int], reasons: Reasons
) -> Event:
    job = engine.workload.jobs[stretch.rank]
    about = {
        "processors": written(stretch.processors),
        "kind": stretch.kind,
        "ended by": stretch.ended_by or "",
        "estimate": job.estimate,
        "reason": _reason(reasons, stretch.rank, span[0]),
    }
    return {"ph": "X", "name": _called(job), "cat": stretch.kind, **_span(*span), **track, "args": about}


# Decisions


class ToldDecision(NamedTuple):
    """Decision with its sentence; `step` counts from 0."""

    step: int
    time: float
    decision: Decision
    sentence: str


def _reasons(made: Sequence[ToldDecision]) -> Reasons:
    found: dict[int, list[tuple[float, str]]] = defaultdict(list)
    for _, time, decision, sentence in made:
        if is_start(decision) or is_resume(decision):
            found[jobs_in(decision)[0].rank].append((time, sentence))
    return found


def _reason(reasons: Reasons, rank: int, at: float) -> str:
    """Return the sentence of the last decision to start or resume a job until `at`, or ""."""
    there = reasons.get(rank, ())
    index = bisect_right(there, at, key=lambda each: each[0])
    return there[index - 1][1] if index else ""


def _decided(made: Sequence[ToldDecision]) -> Iterator[Event]:
    """Yield an instant for each decision, on one track for each kind."""
    kinds = dict.fromkeys(type(each.decision).__name__.lower() for each in made)
    tracks = {kind: number for number, kind in enumerate(kinds, 1)}
    yield _title("process_name", _DECISIONS, 0, "decisions")
    yield from (_title("thread_name", _DECISIONS, number, kind) for kind, number in tracks.items())
    for step, time, decision, sentence in made:
        kind = type(decision).__name__.lower()
        called = " ".join(map(_called, jobs_in(decision)[:1])) or kind
        about = {"step": step + 1, "sentence": sentence}
        track = {"pid": _DECISIONS, "tid": tracks[kind], "ts": _at(time)}
        yield {"ph": "i", "s": "t", "name": called, "cat": kind, **track, "args": about}


class PlannedSlice(NamedTuple):
    """Planned start of a job, which stands from `made` until another one replaces it or the job starts."""

    job: Job
    made: float
    until: float
    at: float
    sentence: str


def _planned(engine: Engine, made: Sequence[ToldDecision]) -> Iterator[Event]:
    """Yield a slice for each planned start, from its decision until it is replaced or the job starts."""
    yield _title("process_name", _PLANS, 0, "planned starts")
    plans = _plans(engine, made)
    for plan, lane in zip(plans, _lanes([(plan.made, plan.until) for plan in plans]), strict=True):
        called = f"{_called(plan.job)} at {clock(plan.at)}"
        track = {**_span(plan.made, plan.until), "pid": _PLANS, "tid": lane}
        yield {"ph": "X", "name": called, "cat": "plan", **track, "args": {"sentence": plan.sentence}}


def _plans(engine: Engine, made: Sequence[ToldDecision]) -> list[PlannedSlice]:
    firsts, last = engine.history.starts(len(engine.workload)).tolist(), dict[int, int]()
    plans: list[PlannedSlice] = []
    for _, time, decision, sentence in made:
        if isinstance(decision, Reserve | Expect | ReserveRow):
            rank = decision.job.rank
            if (before := last.get(rank)) is not None:
                if plans[before].at == decision.at:
                    continue
                plans[before] = plans[before]._replace(until=time)
            last[rank] = len(plans)
            until = engine.now if isnan(firsts[rank]) else firsts[rank]
            plans.append(PlannedSlice(decision.job, time, until, decision.at, sentence))
    return plans


# Waiting jobs


def _waiting(engine: Engine, reasons: Reasons) -> Iterator[Event]:
    """Yield a slice for each job until its first start, and the beginning of the arrow to that start."""
    yield _title("process_name", _QUEUE, 0, "waiting")
    workload, now = engine.workload, engine.now
    firsts = engine.history.starts(len(workload)).tolist()
    there = [job for job in workload.jobs if job.submit <= now]
    spans = [(job.submit, now if isnan(firsts[job.rank]) else firsts[job.rank]) for job in there]
    for job, (submit, start), lane in zip(there, spans, _lanes(spans), strict=True):
        track = {"pid": _QUEUE, "tid": lane}
        about = {"processors": job.procs, "estimate": job.estimate, "reason": _reason(reasons, job.rank, start)}
        yield {"ph": "X", "name": _called(job), "cat": "wait", **_span(submit, start), **track, "args": about}
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


def _called(job: Job) -> str:
    return shortened(printable(name(job)))


def _title(what: str, process: int, track: int, title: str) -> Event:
    return {"ph": "M", "name": what, "pid": process, "tid": track, "args": {"name": title}}


def _span(start: float, end: float) -> Event:
    """Return an event's times; at least a microsecond long, because an arrow could not begin at it otherwise."""
    return {"ts": _at(start), "dur": max(_at(end) - _at(start), 1)}


def _at(seconds: float) -> int:
    return round(seconds * _MICRO)
