"""Text about the point of the chart under the mouse pointer."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from itertools import islice
from math import inf
from typing import NamedTuple, Protocol, TypeVar

from sim.decisions.wording import Hole
from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.machine.processors import written
from sim.support.formatting import Clock, clock_near, name, printable, processors, span
from sim.why.explanation import submit_of
from sim.workload.model import Field, Workload
from sim.workload.outages import Outage
from tui.chart.scene import ChartScene
from tui.look.calendar import Calendar

_LOOKED_AT = 500
"""Number of waiting jobs, from the head, among which a job is looked up; queues may be long."""


class Spot(NamedTuple):
    """Point of the chart: a time, and the lowest processor of the row of pixels there."""

    time: float
    processor: int
    rank: int | None


class Pictured(Protocol):
    @property
    def chart(self) -> ChartScene | None: ...

    @property
    def clock(self) -> float: ...

    @property
    def known(self) -> float:
        """Return the last time, in seconds, up to which the run is simulated or the cluster was observed."""

    def planned_start(self, rank: int) -> float | None:
        """Return the planned start of a waiting job, None if unknown."""

    def hover(self, rank: int, calendar: Calendar | None = None) -> str:
        """Return text about the job under the pointer."""

    def hover_free(self, spot: Spot, calendar: Calendar | None = None) -> str:
        """Return text about a place under the pointer that has no job."""


def spot_at(chart: ChartScene, column: int, row: int) -> Spot | None:
    """Return the place at a column and a row of pixels; None outside, or between two partitions."""
    view = chart.view
    between = view.processors_at(row)
    if between is None or not 0 <= column < view.columns:
        return None
    rank = int(chart.raster.rank[view.band_rows()[row], column])
    processor = between[0]
    if chart.by_owner is not None:
        there = chart.by_owner.of(column).processors[between[0] : between[1] + 1]
        there = there[there >= 0]
        if not len(there):
            return None  # between two partitions
        processor = int(there[0])
    return Spot(view.time_at(column + 0.5), processor, rank if rank >= 0 else None)


def job_span(chart: ChartScene, rank: int) -> tuple[float, float] | None:
    """Return (submission, end) in seconds, the end real, planned or now; None if it is not later."""
    end = float(chart.end[rank])
    if not end <= chart.clock:
        end = max((box.end for box in chart.plan if box.rank == rank), default=chart.clock)
    begin = _submit(chart, rank)
    return (begin, end) if begin is not None and begin < end else None


def _submit(chart: ChartScene, rank: int) -> float | None:
    def start_of(other: int) -> float | None:
        start = float(chart.start[other])
        return start if start <= chart.clock else None

    def end_of(other: int) -> float | None:
        end = float(chart.end[other])
        return end if end <= chart.clock else None

    def cancelled_at(other: int) -> float | None:
        time = chart.cancelled.get(other, inf)
        return time if time <= chart.clock else None

    return submit_of(chart.workload, rank, start_of, end_of, cancelled_at)


def hover_text(chart: ChartScene, snapshot: Snapshot, rank: int, calendar: Calendar | None = None) -> str:
    """Return a line about the job as of now, with a second one on its wait, or its end or start to come."""
    workload, clock = chart.workload, chart.clock
    job, at = workload.jobs[rank], _clock_near(clock, calendar)
    if (submit := _submit(chart, rank)) is not None and submit != job.submit:
        job = job.replaced(submit=submit)
    parts = [name(job), processors(job.procs)]
    start, end = float(chart.start[rank]), float(chart.end[rank])
    more = ""
    if stopped := _find(snapshot.suspended, rank):
        parts += [f"suspended since {at(stopped.since)}", f"ran {span(stopped.ran)} of {span(job.estimate)}"]
    elif end <= clock:
        parts += [f"{at(start)} – {at(end)}", f"ran {span(float(workload.runtime[rank]))} of {span(job.estimate)}"]
        more = f"waited {span(job.waited(start))}" + ", killed at its estimate" * bool(workload.killed[rank])
    elif runs := _find(snapshot.running, rank):
        since = start if start <= clock else runs.since
        ran = runs.ran + (clock - (snapshot.time or 0.0) if runs.kind != "gang" else 0)
        parts += [f"started {at(since)}", f"ran {span(ran)} of {span(job.estimate)}"]
        ends = f"ends by {at(runs.expected_end)}, " if runs.expected_end > clock else ""
        more = f"{ends}on {_shortened(_processors_text(workload, runs.processors))}"
    else:
        waits = _find(islice(snapshot.queue, _LOOKED_AT), rank)
        parts += [f"waits since {at(job.submit)}", f"estimate {span(job.estimate)}"]
        if waits is not None and waits.planned is not None:
            more = f"{'reserved' if waits.reserved else 'planned'} for {at(waits.planned)}"
    if job.user >= 0:
        parts.append(_user(workload, job.user))
    if chart.mode in ("queue", "partition") and (label := dict(chart.legend).get(int(chart.hues[rank]))):
        parts.append(label)
    return " · ".join(parts) + ("\n" + more if more else "")


def free_text(chart: ChartScene, spot: Spot, calendar: Calendar | None = None) -> str:
    at = _clock_near(chart.clock, calendar)
    for outage in chart.outages:
        if outage.begins <= spot.time < outage.ends and outage.processors >> spot.processor & 1:
            return f"{_processor_text(chart.workload, spot.processor)} is not there: {_outage_text(outage, at)}"
    if spot.time > chart.clock:
        told = f"at {at(spot.time)} nothing is planned on {_processor_text(chart.workload, spot.processor)}"
        return told if chart.hole is None else f"{told}{_who_may_pass(chart.hole, spot, at)}"
    useless = ", but no waiting job had room on the node" if _is_useless(chart, spot) else ""
    return f"at {at(spot.time)} {_processor_text(chart.workload, spot.processor)} was free{useless}"


def _processor_text(workload: Workload, processor: int) -> str:
    shape = workload.shape
    if shape is None:
        return f"processor {processor:,}"
    node = bisect_right(shape.first_core, processor) - 1
    return f"core {processor - shape.first_core[node]} of {printable(shape.nodes[node].name)}"


def _is_useless(chart: ChartScene, spot: Spot) -> bool:
    column, edges = chart.view.column_of(spot.time), chart.view.edges()
    if chart.useless is None or chart.by_owner is not None or not 0 <= column < chart.view.columns:
        return False
    band = next((at for at, low in enumerate(edges[1:]) if spot.processor >= low), None)
    return band is not None and bool(chart.useless[band, column])


def _processors_text(workload: Workload, cores: int) -> str:
    shape = workload.shape
    return written(cores) if shape is None else ", ".join(printable(shape.nodes[n].name) for n in shape.nodes_of(cores))


def _who_may_pass(hole: Hole, spot: Spot, at: Clock) -> str:
    """Return which jobs may start here: jobs that end by the head's start, or that use what the head leaves free."""
    head, until, extra = hole
    if spot.time < until:
        return f"\na job that ends by {at(until)}, when {name(head)} is to start, may pass it"
    if extra and spot.time < until + head.estimate:
        return f"\na job that needs no more than the {extra:,} that {name(head)} leaves free may pass it"
    return ""


def _outage_text(outage: Outage, at: Clock) -> str:
    if outage.begins == -inf:
        return f"it comes at {at(outage.ends)}" if outage.ends < inf else "it never was"
    since = f"{'down for maintenance, as announced,' if outage.announced else 'gone'} since {at(outage.begins)}"
    return f"{since}, {'for good' if outage.ends == inf else f'until {at(outage.ends)}'}"


def measured(chart: ChartScene, one: Spot, other: Spot, calendar: Calendar | None = None) -> str:
    at, (begin, end) = _clock_near(chart.clock, calendar), sorted((one.time, other.time))
    low, high = sorted((one.processor, other.processor))
    across = f"; {processors(high - low + 1)}, {low:,} to {high:,}" if high > low else ""
    return f"{span(end - begin)}, from {at(begin)} to {at(end)}{across}"


def _clock_near(now: float, calendar: Calendar | None) -> Clock:
    return clock_near(now) if calendar is None else calendar.near(now)


def _user(workload: Workload, user: int) -> str:
    names = workload.names.get(Field.USER, ())
    return names[user] if user < len(names) else f"user {user}"


def _shortened(text: str, most: int = 40) -> str:
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + " …"


Found = TypeVar("Found", Running, Suspended, Queued)


def _find(jobs: Iterable[Found], rank: int) -> Found | None:
    return next((found for found in jobs if found.job.rank == rank), None)
