"""Statistics of a trace, as `schedscope inspect` shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

import numpy as np

from sim.workload.categories import CATEGORIES, COARSE, category, coarse_category
from sim.workload.fidelity import Fidelity
from sim.workload.model import Bools, Field, Floats, Ints, Trace, Workload
from sim.workload.shape import Shape

TOP = 5
"""Number of users, groups, queues and accounts that are listed."""
MOST_USED = 10
CRASH_ESTIMATE, CRASH_RUN = 1000.0, 180.0
"""Estimate above, and run time below, which a job may have crashed, in seconds (Lawson & Smirni table 1)."""
RUN_LIMITS = (10, 30, 60, 180, 600, 1800, 3600, 7200, 14400, 28800, 57600, 86400, 172800, 604800)
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
STATUSES = {0: "failed", 1: "completed", 2: "partial", 3: "partial, last", 4: "partial, failed", 5: "cancelled"}


@dataclass(frozen=True)
class Bin:
    """Bin of a histogram: `count` values are greater than `low` and at most `high`."""

    low: float
    high: float
    count: int


@dataclass(frozen=True)
class SpreadOf:
    """Mean, median, maximum (`most`) and standard deviation of the values in a column."""

    mean: float
    median: float
    most: float
    std: float


@dataclass(frozen=True)
class Party:
    """User, group or queue, with its number of jobs and its share of all processor-seconds."""

    label: str
    jobs: int
    work_share: float


@dataclass(frozen=True)
class Parties:
    """Different users (or groups, queues, accounts) of the jobs that have one, and those with the most jobs (`top`)."""

    count: int
    top: tuple[Party, ...]


@dataclass(frozen=True)
class Arrivals:
    """Numbers of submitted jobs by hour of the day and by weekday, in the time zone called `clock`."""

    clock: str
    first: datetime
    last: datetime
    by_hour: tuple[int, ...]
    by_weekday: tuple[int, ...]


@dataclass(frozen=True)
class EstimateQuality:
    """Accuracy of the users' estimates, over the jobs that have an estimate."""

    given: int
    most_used: tuple[tuple[float, int], ...]
    """Most frequent estimates, the most frequent first: pairs (estimate in seconds, number of jobs)."""
    values: int
    round: int
    """Number of jobs with a round estimate: a multiple of an hour or, below an hour, of 5 minutes."""
    over_factor: float
    ratio_quantiles: tuple[tuple[float, float], ...]
    """Pairs (share of the jobs, ratio of run time to estimate that this share does not exceed)."""
    ratio_bins: tuple[Bin, ...]
    """Histogram of the ratio of run time to estimate in steps of 0.1; above 1: longer than estimated."""
    exceeded: int
    crashed: int
    """Number of jobs that may have crashed: with a long estimate and a very short run (Lawson & Smirni table 1)."""


@dataclass(frozen=True)
class OnNodes:
    """Nodes of a machine, and how many jobs request resources other than cores."""

    kinds: tuple[tuple[int, int, int, tuple[tuple[str, int], ...]], ...]
    """For each kind of node: number of such nodes, cores, memory in MB, and other resources by name."""
    partitions: tuple[tuple[str, int, float | None, bool], ...]
    """For each partition: name, nodes, longest estimate in seconds or None, and True if jobs get whole nodes."""
    asking: tuple[tuple[str, int], ...]
    """Pairs (resource other than cores, number of jobs that request it), also "whole nodes" and "features"."""
    placed: int
    dependent: int = 0
    limited: int = 0
    """Number of jobs that are subject to a limit of a user, account or array."""
    reservations: int = 0
    confined: int = 0


@dataclass(frozen=True)
class Portrait:
    """Statistics of a workload; shares are of `jobs`, the jobs that can be simulated."""

    name: str
    format: str
    computer: str
    procs: int
    jobs: int
    in_file: int | None
    """Number of jobs in the file, including jobs that cannot be simulated; None if the trace is not given."""
    span: float
    """Time in seconds from the first to the last submission."""
    offered_load: float | None
    users: Parties
    groups: Parties
    queues: Parties
    accounts: Parties
    statuses: tuple[tuple[str, int], ...]
    width: SpreadOf | None
    widths: tuple[Bin, ...]
    serial: int
    powers_of_two: int
    """Number of jobs whose processors are an exact power of two, including serial jobs."""
    run: SpreadOf | None
    runs: tuple[Bin, ...]
    recorded_wait: SpreadOf | None
    gap: SpreadOf | None
    """Summary of the seconds between two submissions; None if there are fewer than two jobs."""
    ties: int
    """Number of jobs submitted in the same second as the job before."""
    arrivals: Arrivals | None
    estimates: EstimateQuality | None
    categories: tuple[int, ...]
    """Number of jobs in each of Kettimuthu's sixteen categories (by run time and width), in the order of CATEGORIES."""
    coarse: tuple[int, ...]
    """Number of jobs in each of the four coarse categories (by run time and width), in the order of COARSE."""
    fidelity: Fidelity
    on_nodes: OnNodes | None = None
    """Nodes of the machine and requests of them; None for a machine of equal processors."""


def portrait(workload: Workload, trace: Trace | None = None) -> Portrait:
    """Return the statistics of a workload. Call it before `with_overruns`, which changes run times or estimates."""
    span = float(np.ptp(workload.submit)) if len(workload) else 0.0
    work = workload.width * workload.runtime
    gaps = np.diff(workload.submit)
    unstarted = trace.unstarted if trace else ()
    has_started = np.fromiter((id not in unstarted for id in workload.ids), bool, len(workload))
    return Portrait(
        name=workload.name,
        format=trace.format if trace else "",
        computer=workload.header.computer or "",
        procs=workload.procs,
        jobs=len(workload),
        in_file=len(trace.ids) if trace else None,
        span=span,
        offered_load=float(work.sum()) / (workload.procs * span) if span > 0 else None,
        users=_parties(workload.user, work, _namer(workload, Field.USER, "user")),
        groups=_parties(workload.group, work, _namer(workload, Field.GROUP, "group")),
        queues=_parties(workload.queue, work, _namer(workload, Field.QUEUE, "queue")),
        accounts=_accounts(workload, work),
        statuses=_statuses(workload.status),
        width=_spread_of(workload.width),
        widths=_width_bins(workload.width),
        serial=int((workload.width == 1).sum()),
        powers_of_two=int(((workload.width & (workload.width - 1)) == 0).sum()),
        run=_spread_of(workload.runtime),
        runs=_bins(workload.runtime, RUN_LIMITS),
        recorded_wait=_spread_of(workload.wait[(workload.wait >= 0) & has_started]),
        gap=_spread_of(gaps),
        ties=int((gaps == 0).sum()),
        arrivals=_arrivals(workload),
        estimates=_estimates(workload, trace),
        categories=_counts(category(workload.runtime, workload.width), len(CATEGORIES)),
        coarse=_counts(coarse_category(workload.runtime, workload.width), len(COARSE)),
        fidelity=workload.fidelity,
        on_nodes=_on_nodes(workload, workload.shape) if workload.shape else None,
    )


def _on_nodes(workload: Workload, shape: Shape) -> OnNodes:
    kinds = Counter((node.cores, node.memory, node.others) for node in shape.nodes)
    asking = Counter[str]()
    for request in shape.requests:
        once = request.per_node or (0,) * len(request.each)
        asked = {kind for kind, *both in zip(shape.kinds, request.each, once, strict=True) if any(both)} - {"cores"}
        whole = request.is_exclusive or any(shape.groups[number].is_exclusive for number in request.groups)
        asking.update(asked | ({"whole nodes"} if whole else set()) | ({"features"} if request.features else set()))
    return OnNodes(
        kinds=tuple((many, *kind) for kind, many in kinds.items()),
        partitions=tuple((g.name, len(g.nodes), g.most_time, g.is_exclusive) for g in shape.groups),
        asking=tuple(sorted(asking.items(), key=lambda each: (-each[1], each[0]))),
        placed=sum(seats is not None for seats in shape.ran),
        dependent=sum(follow is not None for follow in workload.follows),
        limited=sum(map(bool, workload.limits.demands)) if workload.limits else 0,
        reservations=len(shape.reservations),
        confined=sum(request.admitted.within >= 0 for request in shape.requests),
    )


def _spread_of(values: Floats | Ints) -> SpreadOf | None:
    if not len(values):
        return None
    return SpreadOf(float(values.mean()), float(np.median(values)), float(values.max()), float(values.std()))


def _counts(index: Ints, length: int) -> tuple[int, ...]:
    return tuple(np.bincount(index, minlength=length).tolist())


def _bins(values: Floats | Ints, limits: Sequence[float]) -> tuple[Bin, ...]:
    """Return a histogram with a bin up to each limit and one above all, without the empty bins at the end."""
    edges = [0.0, *(float(limit) for limit in limits), float("inf")]
    counts = _counts(np.searchsorted(limits, values, side="left"), len(limits) + 1)
    used = max((i + 1 for i, count in enumerate(counts) if count), default=0)
    return tuple(Bin(edges[i], edges[i + 1], counts[i]) for i in range(used))


def _width_bins(width: Ints) -> tuple[Bin, ...]:
    if not len(width):
        return ()
    return _bins(width, [2**i for i in range(int(width.max()).bit_length() + 1)])


def _namer(workload: Workload, which: Field, kind: str) -> Callable[[int], str]:
    words = workload.names.get(which, ())
    titles = workload.header.queues if which is Field.QUEUE else {}

    def name(number: int) -> str:
        word = words[number] if number < len(words) else titles.get(number, "")
        return word.strip() or f"{kind} {number}"

    return name


def _parties(numbers: Ints, work: Floats, name: Callable[[int], str]) -> Parties:
    known = numbers >= 0
    found, index = np.unique(numbers[known], return_inverse=True)
    jobs = np.bincount(index, minlength=len(found))
    share = np.bincount(index, weights=work[known], minlength=len(found)) / max(float(work.sum()), 1.0)
    first = np.argsort(-jobs, kind="stable")[:TOP]
    top = tuple(Party(name(int(found[i])), int(jobs[i]), float(share[i])) for i in first)
    return Parties(len(found), top)


def _accounts(workload: Workload, work: Floats) -> Parties:
    accounts = np.array(workload.accounts or [""] * len(workload), dtype=object)
    names, index = np.unique(accounts, return_inverse=True)
    return _parties(np.where(names == "", -1, np.arange(len(names)))[index], work, lambda number: str(names[number]))


def _statuses(status: Ints) -> tuple[tuple[str, int], ...]:
    codes, counts = np.unique(status, return_counts=True)
    pairs = sorted(zip(codes.tolist(), counts.tolist(), strict=True), key=lambda pair: -pair[1])
    return tuple((STATUSES.get(code, f"status {code}"), count) for code, count in pairs if code != -1)


def _arrivals(workload: Workload) -> Arrivals | None:
    begin = workload.header.unix_start
    if begin is None or not len(workload):
        return None
    clock, zone = workload.header.clock
    try:
        seconds = _local(np.floor(workload.submit + begin).astype(np.int64), zone)
        first, last = (datetime.fromtimestamp(int(s), UTC) for s in (seconds.min(), seconds.max()))
    except (OverflowError, ValueError, OSError):
        return None
    return Arrivals(
        clock=clock,
        first=first.replace(tzinfo=None),
        last=last.replace(tzinfo=None),
        by_hour=_counts(seconds % 86400 // 3600, 24),
        by_weekday=_counts((seconds // 86400 + 3) % 7, 7),  # 1 January 1970 was a Thursday
    )


def _local(seconds: Ints, zone: tzinfo) -> Ints:
    quarters, index = np.unique(seconds // 900, return_inverse=True)
    moments = (datetime.fromtimestamp(quarter * 900, zone) for quarter in quarters.tolist())
    shifts = [int((moment.utcoffset() or timedelta()).total_seconds()) for moment in moments]
    return seconds + np.array(shifts, dtype=np.int64)[index]


def _estimates(workload: Workload, trace: Trace | None) -> EstimateQuality | None:
    given = _has_estimate(workload, trace)
    if not given.any():
        return None
    estimate, run = workload.estimate[given], workload.runtime[given]
    values, uses = np.unique(estimate, return_counts=True)
    first = np.argsort(-uses, kind="stable")[:MOST_USED]
    share_used = run / estimate
    quantiles = np.quantile(share_used, QUANTILES).tolist()
    return EstimateQuality(
        given=int(given.sum()),
        most_used=tuple((float(values[i]), int(uses[i])) for i in first),
        values=len(values),
        round=int(_is_round(estimate).sum()),
        over_factor=float(estimate.mean() / run.mean()),
        ratio_quantiles=tuple(zip(QUANTILES, quantiles, strict=True)),
        ratio_bins=_bins(share_used, [i / 10 for i in range(1, 11)]),
        exceeded=int((run > estimate).sum()),
        crashed=int(((estimate > CRASH_ESTIMATE) & (run < CRASH_RUN)).sum()),
    )


def _has_estimate(workload: Workload, trace: Trace | None) -> Bools:
    """Return True for each job with an estimate in the trace; if that is None, for all if any job has one."""
    if trace is not None:
        known = dict(zip(trace.ids, (trace.column(Field.ESTIMATE) > 0).tolist(), strict=True))
        return np.array([known.get(job, False) for job in workload.ids], dtype=bool)
    without = sum(note.count for note in workload.fidelity.assumed if note.what.startswith("no estimate"))
    return np.full(len(workload), without < len(workload))


def _is_round(estimate: Floats) -> Bools:
    """Return True for each round estimate: a multiple of an hour or, below an hour, of 5 minutes."""
    in_steps: Bools = np.where(estimate < 3600, estimate % 300 == 0, estimate % 3600 == 0)
    return in_steps
