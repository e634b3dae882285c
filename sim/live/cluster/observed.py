"""History of an observed cluster: its pictures (states at each poll) as stretches, in which a job holds the same cores.

Charts, panels and conditions to stop a replay read it in the same way as the history of a simulated run. Cores are
numbered from the last node to the first, so that the first node is at the top of a chart; times are seconds since
`origin`.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from functools import reduce
from math import inf
from operator import or_
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from sim.history.stretch import Stretch
from sim.live.cluster.changes import Kind, PollEvent, changes
from sim.live.cluster.values import SUSPENDED, Cluster, ClusterJob, Node
from sim.machine.processors import lowest
from sim.workload.formats.sacct import stamp
from sim.workload.model import Field, Header, Ints, Workload

MOST_KEPT = 2_000
"""Total number of jobs in pictures that are kept complete; of older ones, stretches and kinds of events are."""
MOST_PAST = 50_000
"""Most ended stretches that are kept, the latest; and most jobs, if old jobs are forgotten (`past` of `Observed`)."""
MOST_EVENTS = 2_000
"""Largest number of events that are kept; older ones are computed again from the pictures when needed."""
MOST_DATES, FEW_DATES = 200, 20
"""Largest number of expected starts that are kept for a job: first while the job waits, second after its start."""
UTC = ZoneInfo("UTC")


class CoreRows(NamedTuple):
    """Numbers of the cores of one node in the chart: from `low` to `high` - 1."""

    node: str
    low: int
    high: int


class Dated(NamedTuple):
    """Expected start of a job (`start`), and time of the poll in which the scheduler reported it (`at`)."""

    at: float
    start: float


class Absence(NamedTuple):
    """Period in which no job could start on a node, with the administrator's reason; `end` is None while it lasts."""

    node: str
    start: float
    end: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class _Held:
    start: float
    processors: int
    kind: str
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Layout:
    """Numbers of the cores of all nodes, from 0 at the bottom of the chart to the first node at its top."""

    rows: tuple[CoreRows, ...]
    cpus: int

    @classmethod
    def of(cls, nodes: Iterable[Node]) -> Layout:
        """Return the layout of these nodes: a number for each core, the highest for the cores of the first node."""
        listed = list(nodes)
        top = total = sum(node.cpus for node in listed)
        rows = []
        for node in listed:
            rows.append(CoreRows(node.name, top - node.cpus, top))
            top -= node.cpus
        return cls(tuple(rows), total)

    def processors(self, nodes: Iterable[str]) -> int:
        """Return all cores of the nodes with these names, as bits: bit i stands for the core with number i."""
        known = {row.node: row for row in self.rows}
        return sum((1 << known[name].high) - (1 << known[name].low) for name in set(nodes) if name in known)


class Observed:
    """History of a cluster: one thread adds pictures by time; others ask for pictures, jobs, dates, the workload."""

    def __init__(self, zone: tzinfo = UTC, past: float = inf) -> None:
        """Make an empty history. A job is forgotten `past` seconds after its last listing; `zone` is for dates."""
        self.zone, self._limit = zone, past
        self._begin = -inf
        """Time, in seconds since the origin, before which jobs may have been forgotten."""
        self._seen = array("d")
        """For each rank: when the job was last listed or held cores, in seconds since the origin."""
        self._kinds_known: dict[frozenset[Kind], frozenset[Kind]] = {}
        self.origin: float | None = None
        """Midnight (in the cluster's zone) before the first picture, in seconds since 1970; times count from here."""
        self.layout = Layout((), 0)
        self.moments: list[float] = []
        """Times of all pictures, in seconds since the origin."""
        self.kinds: list[frozenset[Kind]] = []
        """For each picture: kinds of the events between this picture and the one before."""
        self._events: dict[int, tuple[PollEvent, ...]] = {}
        """For the number of each picture: events since the picture before; those of the oldest may be missing."""
        self._count = 0
        self.jobs: list[ClusterJob] = []
        """For each rank: the job as it was in the last picture that contained it; a forgotten job has an empty id."""
        self._nobody = ClusterJob("", "", "COMPLETED")
        self.ranks: dict[str, int] = {}
        self.doubled = 0
        """Number of cores that, according to the scheduler, two jobs held at once in the last picture."""
        self._kept: dict[int, Cluster] = {}
        """Pictures in memory by their numbers, which follow one another."""
        self.first_kept = 0
        """Number of the earliest picture that is still complete."""
        self.last: Cluster | None = None
        self._size = 0
        self._past: deque[Stretch] = deque(maxlen=MOST_PAST)
        self._open: dict[int, _Held] = {}
        self._dates: dict[int, array[float]] = {}
        """For the rank of each job: times of polls, each followed by the start that was expected at this poll."""
        self.levels: list[tuple[float, int]] = []
        """For each picture: share of the cores in use, and number of waiting jobs."""
        self._gone: list[Absence] = []
        self._additions = 0
        self._workload: tuple[int, Workload] | None = None
        """Number of additions, and the workload of the jobs seen until then."""

    # Input

    def add(self, cluster: Cluster) -> tuple[PollEvent, ...]:
        """Add the next picture; return the events between it and the one before."""
        before = self.last
        if self.origin is None:
            local = datetime.fromtimestamp(cluster.at, self.zone)
            self.origin = local.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
            self._nobody = replace(self._nobody, submit=self.origin)
        cluster = sharing(cluster, before)
        if before is None or cluster.nodes is not before.nodes:
            self._lay_out(cluster)
            self._note_gone(cluster)
        happened = changes(before, cluster)
        self.moments.append(cluster.at - self.origin)
        self._note_events(happened)
        self._keep(cluster)
        taken = sum(job.cpus for job in cluster.running) / cluster.cpus if cluster.cpus else 0.0
        self.levels.append((min(taken, 1.0), len(cluster.queue)))
        self._take_in(cluster, before)
        self._forget(self.moments[-1])
        self._additions += 1
        return happened

    def add_past(self, ended: Iterable[ClusterJob]) -> None:
        """Add jobs that ended before the first picture; they are assumed to have held free cores of their nodes."""
        if self.origin is None:
            return
        taken: dict[str, list[tuple[float, int]]] = {}
        found: list[Stretch] = []
        for job in sorted(ended, key=lambda job: job.start or 0.0):
            if job.start is None or job.end is None or not job.nodes or job.id in self.ranks or job.end <= job.start:
                continue
            start, end = job.start - self.origin, job.end - self.origin
            processors, held_now = 0, _union(held.processors for held in self._open.values() if held.start < end)
            for name, count in job.spread.items():
                busy = [(until, mask) for until, mask in taken.get(name, []) if until > start]
                mask = self._free_on(name, count, _union(mask for _, mask in busy) | held_now)
                taken[name] = [*busy, (end, mask)]
                processors |= mask
            if processors:
                found.append(Stretch(self._rank_of(job, end), start, end, "run", processors, ended_by=_ending(job)))
        self._past.extendleft(sorted(found, key=lambda stretch: stretch.end or 0.0, reverse=True))
        self._additions += 1

    # Answers

    def at(self, picture: int) -> Cluster | None:
        """Return the picture with the number `picture`; None if it was dropped."""
        return self._kept.get(picture)

    @property
    def first_known(self) -> int:
        """Return the number of the earliest picture of which no job has been forgotten."""
        return min(bisect_left(self.moments, self._begin), max(len(self.moments) - 1, 0))

    def picture_at(self, time: float) -> int:
        """Return the number of the last picture up to `time`; 0 (the first picture) if `time` is earlier."""
        return max(bisect_right(self.moments, time) - 1, 0)

    def stretches(self, until: float) -> list[Stretch]:
        """Return the stretches (periods in which a job held the same cores) that were known at the time `until`."""
        found = [
            s if s.end is None or s.end <= until else s._replace(end=None, ended_by=None)
            for s in self._past
            if s.start <= until
        ]
        found += [
            Stretch(rank, held.start, None, held.kind, held.processors)
            for rank, held in self._open.items()
            if held.start <= until
        ]
        return found

    def dates(self, rank: int, until: float) -> tuple[Dated, ...]:
        """Return the job's expected starts known at the time `until`; an unchanged start is not repeated."""
        numbers = tuple(self._dates.get(rank, ()))  # a copy: the other thread goes on
        return tuple(Dated(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True) if pair[0] <= until)

    def gone(self, until: float) -> tuple[Absence, ...]:
        """Return the periods in which nodes were drained or down, as known at the time `until`."""
        known = (gone for gone in self._gone if gone.start <= until)
        return tuple(g if g.end is None or g.end <= until else g._replace(end=None) for g in known)

    def happened(self, picture: int) -> tuple[PollEvent, ...] | None:
        """Return the events between this picture and the one before; None if they were dropped."""
        found = self._events.get(picture)
        return found if found is not None or not 0 <= picture < len(self.kinds) or self.kinds[picture] else ()

    @property
    def workload(self) -> Workload:
        """Return all jobs seen until now as a workload, in rank order, for functions that expect a workload."""
        additions, known = self._additions, self._workload  # read once: the other thread goes on
        if known is None or known[0] != additions:
            made = _workload_of(tuple(self.jobs), max(self.layout.cpus, 1), self.origin or 0.0, self.zone)
            known = self._workload = additions, made
        return known[1]

    # Steps of taking in a picture

    def _note_events(self, happened: tuple[PollEvent, ...]) -> None:
        kinds = frozenset(event.kind for event in happened)
        self.kinds.append(self._kinds_known.setdefault(kinds, kinds))
        self._events[len(self.moments) - 1] = happened
        self._count += max(len(happened), 1)
        while self._count > MOST_EVENTS and len(self._events) > 2:
            self._count -= max(len(self._events.pop(next(iter(self._events)))), 1)

    def _keep(self, cluster: Cluster) -> None:
        self._kept[len(self.moments) - 1] = self.last = cluster
        self._size += len(cluster.jobs)
        while self._size > MOST_KEPT and len(self._kept) > 2:
            self.first_kept += 1
            self._size -= len(self._kept.pop(self.first_kept - 1).jobs)

    def _forget(self, now: float) -> None:
        if self._limit == inf:
            return
        begin, self._begin = self._begin, max(self._begin, now - self._limit)  # one picture later, for other threads
        if len(self.ranks) > MOST_PAST:
            self._begin = max(self._begin, sorted(self._seen[rank] for rank in self.ranks.values())[-MOST_PAST])
        for id, rank in [(id, rank) for id, rank in self.ranks.items() if self._seen[rank] < begin]:
            del self.ranks[id]
            self._dates.pop(rank, None)
            self.jobs[rank] = self._nobody
        self._past = deque((s for s in self._past if s.end is None or s.end >= begin), MOST_PAST)
        self._gone = [gone for gone in self._gone if gone.end is None or gone.end >= begin]

    def _lay_out(self, cluster: Cluster) -> None:
        """Number the cores of all nodes. If nodes were added or removed, renumber the cores of the stretches."""
        before, self.layout = self.layout, Layout.of(cluster.nodes)
        if not before.rows or before == self.layout:
            return
        now = {row.node: row for row in self.layout.rows}

        def moved(processors: int) -> int:
            found = 0
            for row in before.rows:
                part = processors >> row.low & ((1 << (row.high - row.low)) - 1)
                if part and row.node in now:
                    there = now[row.node]
                    found |= (part & ((1 << (there.high - there.low)) - 1)) << there.low
            return found

        self._past = deque((s._replace(processors=moved(s.processors)) for s in self._past), MOST_PAST)
        self._open = {
            rank: _Held(held.start, moved(held.processors), held.kind, held.nodes) for rank, held in self._open.items()
        }

    def _note_gone(self, cluster: Cluster) -> None:
        """Record which nodes became unavailable (since the time in the reason, if any) or available again."""
        now = cluster.at - (self.origin or 0.0)
        open_now = {gone.node: place for place, gone in enumerate(self._gone) if gone.end is None}
        for node in cluster.nodes:
            place = open_now.get(node.name)
            if node.is_gone and place is None:
                said = re.search(r"@(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\]$", node.reason)
                since = stamp(said[1], self.zone) if said else None
                start = now if since is None else min(since - (self.origin or 0.0), now)
                reason = node.reason.partition(" [")[0] or "+".join(sorted(node.states))
                self._gone.append(Absence(node.name, start, None, reason))
            elif place is not None and not node.is_gone:
                self._gone[place] = self._gone[place]._replace(end=now)

    def _take_in(self, cluster: Cluster, before: Cluster | None) -> None:
        now = self.moments[-1]
        holds = [job for job in cluster.jobs if job.nodes and (job.is_running or job.state == SUSPENDED)]
        held_by = {job.id for job in holds}
        for job in cluster.jobs:
            rank = self._rank_of(job, now)
            if job.is_waiting and job.start is not None:
                self._date(rank, now, job.start - (self.origin or 0.0))
            elif len(dates := self._dates.get(rank, ())) > 2 * FEW_DATES and not job.is_waiting:
                self._dates[rank] = array("d", dates[-2 * FEW_DATES :])
        for rank in [rank for rank in self._open if self.jobs[rank].id not in held_by]:
            self._close(rank, self._end_of(self.jobs[rank], cluster, now), _ending(self.jobs[rank]))
        self._add_short(cluster, before)
        self.doubled, busy = 0, 0
        for job in sorted(holds, key=lambda job: not job.cores):
            busy |= self._hold(job, self.ranks[job.id], now, busy)

    def _end_of(self, job: ClusterJob, cluster: Cluster, now: float) -> float:
        """Return the end of a job that holds no cores any more: as reported by the scheduler, otherwise `now`."""
        seen = cluster.job_of.get(job.id)
        end = seen.end if seen is not None and seen.has_ended else None
        return now if end is None else min(end - (self.origin or 0.0), now)

    def _add_short(self, cluster: Cluster, before: Cluster | None) -> None:
        """Add stretches for jobs that started and ended since the picture `before`, if they are still listed."""
        for job in cluster.jobs:
            was = before.job_of.get(job.id) if before is not None else None
            if not job.has_ended or job.start is None or job.end is None or not job.nodes or job.end <= job.start:
                continue
            if before is None or was is None or was.is_waiting:
                origin = self.origin or 0.0
                processors = _union(self._free_on(name, count, 0) for name, count in job.spread.items())
                start, end = job.start - origin, job.end - origin
                self._past.append(Stretch(self.ranks[job.id], start, end, "run", processors, ended_by=_ending(job)))

    def _hold(self, job: ClusterJob, rank: int, now: float, busy: int) -> int:
        """Record the cores that a job holds now, and return them as bits; `busy` (bits) are cores of other jobs."""
        kind = "suspended" if job.state == SUSPENDED else "run"
        was = self._open.get(rank)
        if job.cores:
            low = {row.node: row for row in self.layout.rows}
            processors = _union(
                _mirrored(held.mask, low[held.node].high - low[held.node].low) << low[held.node].low
                for held in job.cores
                if held.node in low
            )
        elif was is not None and was.nodes == job.nodes and not was.processors & busy:
            processors = was.processors
        else:
            processors = _union(self._free_on(name, count, busy) for name, count in job.spread.items())
        if kind == "run":
            self.doubled += (processors & busy).bit_count()
        if was is None or (was.processors, was.kind) != (processors, kind):
            start = now if was is not None else max((job.start or 0.0) - (self.origin or 0.0), -1e9)
            if was is not None and was.nodes == job.nodes and was.kind == kind:
                start = was.start  # only now it is known which cores these were
                del self._open[rank]
            elif was is not None:
                self._close(rank, now, "moved")
            self._open[rank] = _Held(min(start, now), processors, kind, job.nodes)
        return processors if kind == "run" else 0

    def _close(self, rank: int, end: float, ended_by: str) -> None:
        held = self._open.pop(rank)
        self._seen[rank] = max(self._seen[rank], end)
        if end > held.start:
            self._past.append(Stretch(rank, held.start, end, held.kind, held.processors, ended_by=ended_by))

    def _free_on(self, node: str, count: int, busy: int) -> int:
        """Return `count` cores of a node as bits: free ones and, if these are too few, also cores in `busy`."""
        row = next((row for row in self.layout.rows if row.node == node), None)
        if row is None:
            return 0
        size = row.high - row.low
        free = _mirrored(~(busy >> row.low) & ((1 << size) - 1), size)
        count = min(count, size)
        chosen = lowest(free, min(count, free.bit_count())) if free else 0
        missing = count - chosen.bit_count()
        if missing:
            chosen |= lowest(((1 << size) - 1) & ~chosen, missing)
        return _mirrored(chosen, size) << row.low

    def _rank_of(self, job: ClusterJob, seen: float) -> int:
        rank = self.ranks.get(job.id)
        if rank is None:
            rank = self.ranks[job.id] = len(self.jobs)
            self.jobs.append(job)
            self._seen.append(seen)
        else:
            self.jobs[rank], self._seen[rank] = job, seen
        return rank

    def _date(self, rank: int, at: float, start: float) -> None:
        dates = self._dates.setdefault(rank, array("d"))
        if not dates or abs(dates[-1] - start) > 1:
            self._dates[rank] = array("d", (*dates[2 - 2 * MOST_DATES :], at, start))


def sharing(cluster: Cluster, before: Cluster | None) -> Cluster:
    """Return the picture `cluster`; values equal to those in `before` become the same objects, to save memory."""
    if before is None:
        return cluster
    known: Mapping[str, ClusterJob] = before.job_of
    found = {name: was if (was := getattr(before, name)) == getattr(cluster, name) else getattr(cluster, name)
             for name in _SHARED}  # fmt: skip
    jobs = tuple(was if (was := known.get(job.id)) == job and was is not None else job for job in cluster.jobs)
    return replace(cluster, jobs=jobs, **found)


_SHARED = ("nodes", "partitions", "reservations", "limits", "parts")


def _mirrored(mask: int, size: int) -> int:
    """Return the set of cores `mask` with its `size` bits reversed: a chart shows a node's first core at the top.

    >>> bin(_mirrored(0b0011, 4))
    '0b1100'
    """
    return int(f"{mask & ((1 << size) - 1):0{size}b}"[::-1], 2) if size else 0


def _union(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _ending(job: ClusterJob) -> str:
    """Return how the last stretch ended: "killed", "interrupted" if a node failed or the job waits again, or "done"."""
    if job.state in ("TIMEOUT", "CANCELLED", "OUT_OF_MEMORY", "DEADLINE", "PREEMPTED"):
        return "killed"
    return "interrupted" if job.is_waiting or job.state in ("NODE_FAIL", "BOOT_FAIL") else "done"


def _workload_of(jobs: Sequence[ClusterJob], procs: int, origin: float, zone: tzinfo) -> Workload:
    """Return the jobs as a workload of `procs` processors; a job without a time limit gets an estimate of a day."""
    accounts = tuple(job.account for job in jobs)
    user, users = _numbered([job.user for job in jobs])
    group, groups = _numbered(accounts)
    queue, queues = _numbered([job.partition for job in jobs])
    limit = np.array([job.limit or 86400.0 for job in jobs], float)
    known = [(job.end - job.start) if job.has_ended and job.start and job.end else None for job in jobs]
    runtime = np.array([limit[at] if ran is None else max(ran, 1.0) for at, ran in enumerate(known)], float)
    return Workload.known_by(
        tuple(job.id for job in jobs),
        name="cluster",
        procs=procs,
        submit=np.array([job.submit - origin for job in jobs], float),
        width=np.array([max(job.cpus, 1) for job in jobs], np.int64),
        runtime=runtime,
        estimate=limit,
        user=user,
        group=group,
        queue=queue,
        header=Header(max_procs=procs, unix_start=int(origin), time_zone=str(zone)),
        names={Field.USER: users, Field.GROUP: groups, Field.QUEUE: queues},
        accounts=accounts,
    )


def _numbered(words: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Return a number for each word, such as a user name, -1 for "", and the words in order of their numbers."""
    known = {word: number for number, word in enumerate(dict.fromkeys(filter(None, words)))}
    return np.array([known.get(word, -1) for word in words], np.int64), tuple(known)
