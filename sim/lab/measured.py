"""Measurements of a run for a results file: metrics, percentiles, means of batches, groups, overload.

A cut leaves out jobs at the beginning and at the end of the run: warm-up and cool-down.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sim.engine.schedule import Curves, Schedule
from sim.lab.kept import JOBS, packed
from sim.metrics.aggregates import Value, aggregates, fragmentation, over_time
from sim.metrics.catalogue import MEASURED, SPREADS, TAILS, Metric, meant
from sim.metrics.finished_jobs import FinishedJobs
from sim.metrics.groups import GroupRow
from sim.metrics.measure import GROUPS, PARTIES
from sim.support.errors import ParameterError
from sim.support.formatting import listed, parse_time, quoted, written_time
from sim.workload.model import Bools, Floats

BATCHES = 20
"""Number of batches of a run's jobs, by submission, whose means give a confidence interval within the run."""
QUEUE, GROWTH, FULL = 10, 1.5, 0.99
"""Limits for overload, either the first two or the third. They are the smallest number of waiting jobs in the last
quarter of the time of arrivals; their mean number then, as a multiple of that in the first half; the utilization.
"""
_BATCHED = (*SPREADS, "bounded_slowdown_z")
_BY_NAME = {entry.name: entry for entry in MEASURED}


def measured_metric(name: str) -> Metric:
    """Return the metric with this name, among all metrics of a results file."""
    if name not in _BY_NAME:
        raise ParameterError(f"no metric {quoted(name)}{meant(name, MEASURED)}")
    return _BY_NAME[name]


@dataclass(frozen=True)
class Measured:
    values: dict[str, Value]
    overload: str = ""
    """Warning that the run is overloaded, so that its means say little about the policy; "" if it is not."""
    batches: str = ""
    """JSON text of metric -> list of means, one for each batch of submissions; "" if there are too few jobs."""
    groups: dict[str, list[GroupRow]] = field(default_factory=dict)
    log: str = ""
    """Name of the recorded log, as given in the header of the trace file."""
    jobs: dict[str, list[bytes]] = field(default_factory=dict)
    """Compressed pieces of the finished jobs' columns by name; empty if jobs are not stored"""
    unlimited: tuple[str, ...] = ()
    """Names of the policies because of which the recorded limits did not count"""
    unweighed: str = ""
    """Warning that the policy slurm ran without the weights of the site; "" if it did not."""


def measured(schedule: Schedule, groups: Iterable[str] = (), cut: str = "") -> Measured:
    """Return the measurements of a schedule; `cut` says which jobs are left out, such as "10%,5%".

    `groups` names the groupings of jobs to measure; "jobs" among them stores the jobs.
    """
    jobs = FinishedJobs.of(schedule)
    if cut:
        jobs = jobs.where(Cut.of(cut).keeps(schedule.workload.submit)[jobs.ranks])
    values = aggregates(jobs)
    for name in SPREADS:
        column = getattr(jobs, name)
        tails = np.percentile(column, TAILS).tolist() if len(column) else [None] * len(TAILS)
        values |= {f"p{share}_{name}": tail for share, tail in zip(TAILS, tails, strict=True)}
    if cut and len(jobs):
        values |= _machine_meanwhile(schedule, float(jobs.submit.min()), float(jobs.submit.max()))
    else:
        values |= fragmentation(schedule)
    rows = {group.name: group.rows(jobs) for group in (*GROUPS, *PARTIES) if group.name in groups}
    kept = packed(jobs, rows) if JOBS in groups else {}
    log = schedule.workload.header.log
    return Measured(values, overload(schedule), _batches(jobs), rows, log, kept)


def _machine_meanwhile(schedule: Schedule, begin: float, finish: float) -> dict[str, Value]:
    found = over_time(schedule, 1, begin, finish)
    names = ("utilization", "loss_of_capacity")
    if not found.edges:
        return {}
    return {name: getattr(found, name)[0] for name in names} | dict(fragmentation(schedule, begin, finish))


def _batches(jobs: FinishedJobs) -> str:
    if len(jobs) < 2 * BATCHES:
        return ""
    cuts = np.linspace(0, len(jobs), BATCHES + 1).astype(np.int64)
    sizes = np.diff(cuts)

    def means(column: Floats) -> list[float]:
        return [float(f"{mean:.6g}") for mean in (np.add.reduceat(column, cuts[:-1]) / sizes).tolist()]

    return json.dumps({f"mean_{name}": means(getattr(jobs, name)) for name in _BATCHED})


def overload(schedule: Schedule) -> str:
    """Return a warning if a mean says more about the length of the run than about the policy, otherwise ""."""
    submit, line = np.sort(schedule.workload.submit), schedule.curves  # with feedback ranks are not in this order
    if len(submit) < 2 * BATCHES or not submit[-1] > submit[0] or not len(line.time):
        return ""
    half, last = (submit[0] + share * (submit[-1] - submit[0]) for share in (0.5, 0.75))
    least, late = _waiting(line, last, submit[-1])
    _, early = _waiting(line, submit[0], half)
    if least >= QUEUE and late >= GROWTH * early:
        return f"{early:,.0f} jobs wait on average in the first half, {late:,.0f} in the last quarter, always {least:,}"
    used = min(over_time(schedule, 4, float(submit[0]), float(submit[-1])).utilization[1:], default=0.0)
    return f"the machine is full: {used:.1%} used" if used > FULL else ""


def _waiting(line: Curves, begin: float, end: float) -> tuple[int, float]:
    """Return the least and the mean number of waiting jobs between two times."""
    first, stop = np.maximum(np.searchsorted(line.time, (begin, end), side="right"), (0, 1))
    number = line.waiting[max(first - 1, 0) : stop]
    edges = np.concatenate(((begin,), line.time[first:stop], (end,)))[-len(number) - 1 :]
    return int(number.min()), float(np.average(number, weights=np.diff(edges)))


def batches_of(text: str) -> dict[str, Any]:
    """Return the stored means of batches as a mapping from metric to list; empty if the text is damaged or empty."""
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Cut:
    """Parts at the beginning and end of a run whose jobs are not measured: a share of the jobs, or a span of time."""

    first: tuple[float, bool] = (0.0, True)
    """(amount, flag) for the beginning: a share of the jobs (0 to 1) if the flag is True, otherwise seconds."""
    last: tuple[float, bool] = (0.0, True)

    @classmethod
    def of(cls, text: str) -> Cut:
        """Return the cut typed as `FIRST,LAST`, with parts such as 10% or 7d; without LAST, the end is measured.

        >>> Cut.of("10%,7d").written, Cut.of("0%").written
        ('10%,604800', '')
        """
        first, _, last = text.partition(",")
        cut = cls(_end(first, text), _end(last, text))
        if sum(amount for amount, is_share in (cut.first, cut.last) if is_share) >= 1:
            raise ParameterError(f"a cut leaves jobs over, unlike {quoted(text)}")
        return cut

    @property
    def written(self) -> str:
        """Return the cut as text in the form that `of` reads; "" if all jobs are measured."""
        return ",".join(map(_written_end, (self.first, self.last))) if self.first[0] or self.last[0] else ""

    @property
    def told(self) -> str:
        """Return in words which jobs are not measured; "all jobs" if none is left out.

        >>> Cut.of("10%").told, Cut.of("7d,5%").told
        ('without the first 10 % of the jobs', 'without the jobs of the first 7 days and the last 5 % of the jobs')
        """
        parts = [("first", self.first), ("last", self.last)]
        words = [
            f"the {name} {end[0] * 100:.12g} % of the jobs"
            if end[1]
            else f"the jobs of the {name} {end[0] / 86400:.12g} days"
            for name, end in parts
            if end[0]
        ]
        return f"without {listed(words)}" if words else "all jobs"

    def keeps(self, submit: Floats) -> Bools:
        """Return True for each measured job; `submit` has the submit times of all jobs, in rank order."""
        kept = np.ones(len(submit), dtype=np.bool_)
        for (amount, is_share), back in ((self.first, False), (self.last, True)):
            if is_share:
                many = int(len(submit) * amount)
                kept[len(submit) - many if back else 0 : len(submit) if back else many] = False
            elif len(submit):
                kept &= submit <= submit.max() - amount if back else submit >= submit.min() + amount
        return kept


def _end(text: str, whole: str) -> tuple[float, bool]:
    text = text.strip()
    if not text:
        return 0.0, True
    if not text.endswith("%"):
        return max(parse_time(text), 0.0), False
    try:
        share = float(text[:-1]) / 100
    except ValueError:
        share = -1.0
    if not 0 <= share < 1:
        raise ParameterError(f"a cut is like 10%,5% or 7d,7d, got {quoted(whole)}")
    return share, True


def _written_end(end: tuple[float, bool]) -> str:
    amount, is_share = end
    return f"{amount * 100:.12g}%" if is_share else written_time(amount)
