"""Comparison of the starts in a recording of a cluster with the starts under a policy, for each reason to wait."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from math import inf
from pathlib import Path
from statistics import fmean, median

from sim.engine.schedule import Schedule
from sim.live.cluster.machine import Drains
from sim.live.cluster.recording import Recording
from sim.live.cluster.values import Cluster, ClusterJob
from sim.live.forecast.limits import bounds_of, demands
from sim.workload.limits import Bound, Limits
from sim.workload.model import Field, RecordedWorkload, Trace, Workload
from sim.workload.reserved_nodes import NodeReservation

NEAR = 60.0
"""Largest difference in seconds between two starts that agree."""
AT_ONCE = "none seen"
"""Name in place of a reason to wait, for jobs that no picture shows waiting."""
ALL = "all jobs"
HELD = frozenset({"BeginTime", "JobHeldUser", "JobHeldAdmin"})
"""Reasons to wait of jobs that no scheduler would start."""
ARRAY_LIMIT = "JobArrayTaskLimit"


@dataclass(frozen=True)
class Agreement:
    """Agreement between the starts of a group of jobs under a policy and their recorded starts."""

    reason: str
    """Last reason to wait that the scheduler gave for the jobs of this group; `ALL` for the group of all jobs."""
    jobs: int
    near: float
    """Share of the jobs that start at most `NEAR` seconds before or after their recorded start."""
    earlier: float
    """Share of jobs that start more than `NEAR` seconds before their recorded start; `later`: after it."""
    later: float
    median: float
    """Median of the absolute differences between the two starts, in seconds."""


@dataclass(frozen=True)
class Seen:
    """Facts about the jobs of a recording that are lost when the recording is converted to a trace."""

    jobs: Mapping[str, ClusterJob]
    """For each job (by id): its data in the latest picture (polled state of the cluster) that contains the job."""
    reasons: Mapping[str, str]
    """For each job (by id) that a picture shows waiting: the last reason to wait that the scheduler gave for it."""
    last: Cluster
    held: Mapping[str, float] = field(default_factory=dict)
    """For each job (by id) that was held, or was not to start before a certain time: time of the last picture that
    shows it so, in seconds since 1970.
    """
    at_once: Mapping[str, int] = field(default_factory=dict)
    """For each array of jobs (by number) with a limit on tasks that run at the same time: this limit."""
    settings: str = ""
    """Settings of the scheduler's priorities and backfill, in the form of its configuration; "" if unknown."""
    drains: Sequence[tuple[float, float | None, Sequence[str]]] = ()
    """For each time at which some nodes took no jobs: (first time, end, names of the nodes), in seconds since 1970."""
    tried: Mapping[str, str] = field(default_factory=dict)
    """For each job (by id) with several partitions: their names, separated by commas. After its start it has one."""

    @classmethod
    def of(cls, pictures: Iterable[Cluster]) -> Seen:
        """Return the facts from pictures (polled states of a cluster), which must be in order of time.

        Early recordings do not have the limits of arrays. An array of which a task waited for such a limit has the
        greatest number of tasks that ran at the same time.
        """
        jobs: dict[str, ClusterJob] = {}
        reasons: dict[str, str] = {}
        held: dict[str, float] = {}
        tried: dict[str, str] = {}
        limited, most = set[str](), Counter[str]()
        last, settings, drains = Cluster(0), "", Drains()
        for last in pictures:
            drains.add(last)
            jobs |= {job.id: job for job in last.jobs}
            reasons |= {job.id: job.reason or "None" for job in last.jobs if job.is_waiting}
            held |= {job.id: last.at for job in last.jobs if job.is_waiting and job.reason in HELD}
            tried |= {job.id: job.partition for job in last.jobs if job.is_waiting and "," in job.partition}
            limited |= {job.array for job in last.jobs if job.is_waiting and job.reason == ARRAY_LIMIT}
            most |= Counter(job.array for job in last.jobs if job.is_running and job.array)
            settings = last.settings or settings
        at_once = {array: most[array] for array in limited if most[array]}
        at_once |= {job.array: job.at_once for job in jobs.values() if job.array and job.at_once}
        return cls(jobs, reasons, last, held, at_once, settings, drains.spans(last.at), tried)

    @property
    def has_limits(self) -> bool:
        return bool(self.last.limits)

    def as_they_came(self, trace: Trace) -> Trace:
        """Return the trace in which jobs that were held come when that was over, which only the accounting tells."""
        table, begin = trace.table.copy(), float(trace.header.unix_start or 0)
        for row, job in enumerate(trace.ids):
            later = self.held.get(job, -inf) - begin - table[row, Field.SUBMIT]
            if later > 0:
                wait = table[row, Field.WAIT]
                table[row, Field.SUBMIT] += later
                table[row, Field.WAIT] = max(wait - later, 0.0) if wait >= 0 else wait
        return replace(trace, table=table)

    def ready(self, workload: Workload) -> RecordedWorkload:
        """Return the jobs, after all transforms, with the limits, the settings and the drains of the recording."""
        made = as_polled(workload, self)
        columns = {field.name: getattr(made, field.name) for field in fields(Workload)}
        return RecordedWorkload(**columns, recorded=recorded_limits(made, self), settings=self.settings)


def facts_of(path: Path, heard: Callable[[float], object] | None = None) -> Seen:
    """Return the facts of a recording; `heard` is called with the share of its pictures that has been read."""
    recording = Recording(path)
    many = len(recording.times())

    def pictures() -> Iterator[Cluster]:
        for number, cluster in enumerate(recording.pictures(), 1):
            yield cluster
            if heard is not None:
                heard(min(number / many, 1.0))

    return Seen.of(pictures())


def has_limits(path: Path) -> bool:
    """Return True if the last picture of a recording has limits; no other picture is read."""
    return bool(Recording(path).at(inf).limits)


def as_polled(workload: Workload, seen: Seen) -> Workload:
    """Return the workload with the facts that early recordings have in their pictures only: the times at which nodes
    took no jobs, and all partitions of jobs that had several.
    """
    shape, zero = workload.shape, float(workload.header.unix_start or 0)
    if shape is None:
        return workload
    numbers = {node.name: at for at, node in enumerate(shape.nodes)}
    drains = [
        NodeReservation("a drain", start - zero, end - zero, members, is_drain=True)
        for start, end, names in seen.drains
        if end and (members := frozenset(numbers[name] for name in names if name in numbers)) and start < end
    ]
    others = [each for each in shape.reservations if not each.is_drain]
    groups, requests = {group.name: at for at, group in enumerate(shape.groups)}, list(shape.requests)
    for rank, job in enumerate(workload.ids):
        named = tuple(groups[name] for name in seen.tried.get(job, "").split(",") if name in groups)
        if named:
            requests[rank] = shape.within_limits(replace(requests[rank], groups=named), float(workload.estimate[rank]))
    return replace(workload, shape=replace(shape, reservations=(*others, *drains), requests=tuple(requests)))


def recorded_limits(workload: Workload, seen: Seen) -> Limits | None:
    """Return the limits of accounts, users, QOS (Slurm's qualities of service) and arrays that were recorded for these
    jobs; None if no job has one.

    A limit does not apply to a job that exceeds it even alone, because that job did run in reality.
    """
    rules = bounds_of(seen.last)
    jobs = [seen.jobs.get(job) for job in workload.ids]
    known = demands([job for job in jobs if job is not None], rules)
    own = iter(known.values())
    listed = (() if job is None else next(own) for job in jobs)
    bounds = [Bound(rule.limit.what, int(rule.limit.most), "of it", rule.limit.name) for rule in rules]
    arrays = {array: len(bounds) + at for at, array in enumerate(seen.at_once)}
    bounds += [Bound(ARRAY_LIMIT, most, "jobs", f"array {array}") for array, most in seen.at_once.items()]
    own_array = ([(arrays[job.array], 1)] if job is not None and job.array in arrays else [] for job in jobs)
    kept = tuple(
        (*(one for one in each if one[1] <= rules[one[0]].limit.most), *array)
        for each, array in zip(listed, own_array, strict=True)
    )
    return Limits(tuple(bounds), kept) if any(kept) else None


def agreements(schedule: Schedule, seen: Seen, jobs: Workload) -> list[Agreement]:
    """Return agreements of a schedule with the recorded starts of `jobs`, the workload that was run: one for all jobs,
    and one for each last reason to wait.

    In the schedule's own workload, jobs that depend on others are submitted when these have ended in the run.
    """
    recorded = jobs.recorded_start.tolist()
    found: dict[str, list[float]] = defaultdict(list)
    for job, start, came in zip(schedule.workload.ids, schedule.start.tolist(), recorded, strict=True):
        has_come = (last := seen.jobs.get(job)) is None or not last.is_waiting  # else its start is assumed
        if start == start and came == came and has_come:
            for group in (ALL, seen.reasons.get(job, AT_ONCE)):
                found[group].append(start - came)
    made = [_agreement(reason, differences) for reason, differences in found.items()]
    return sorted(made, key=lambda one: (one.reason != ALL, -one.jobs, one.reason))


def _agreement(reason: str, differences: list[float]) -> Agreement:
    return Agreement(
        reason,
        len(differences),
        fmean(abs(one) <= NEAR for one in differences),
        fmean(one < -NEAR for one in differences),
        fmean(one > NEAR for one in differences),
        median(map(abs, differences)),
    )
