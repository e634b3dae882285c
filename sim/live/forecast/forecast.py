"""Forecasts of starts: the state of a cluster at one poll is simulated forward by Slurm's rules."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from math import inf, isnan, sqrt
from statistics import median
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from sim.decisions.reasons import AsRecorded
from sim.live.cluster.constraints import allowed
from sim.live.cluster.machine import machine_in_words, with_partitions
from sim.live.cluster.queue_order import tier_of
from sim.live.cluster.values import NODES_AWAY, PLANNED_FOR, Cluster, ClusterJob
from sim.live.forecast.limits import bounds_of, demands, is_known, is_limited
from sim.live.forecast.past import PastJobs
from sim.live.forecast.plan_ahead import Demands, PlanAhead, Waiting
from sim.live.forecast.priority_orders import ByPriority, points_of, priorities, tree_order
from sim.live.forecast.ranges import Range
from sim.policies.backfill.slurm import Entry, Slurm
from sim.policies.orders import Fcfs
from sim.timeline.scenario import run
from sim.workload.formats.nodes import shape_of
from sim.workload.formats.sacct_requests import AskedOfNodes, resources
from sim.workload.model import Job, Workload
from sim.workload.shape import Request, Seats, Shape

if TYPE_CHECKING:
    from sim.engine.moment import Moment

MOST_WAITING = 500
"""Largest number of waiting jobs that are simulated, by priority; also the default of Slurm's backfill."""
MOST_REPLANNED = 250_000
"""Largest product of jobs, waiting jobs and nodes with which a forecast with learnt run times makes a new plan whenever
a job ends, which takes about half a second. With more, it makes one plan, which is less exact but takes a hundredth of
the time.
"""
RESOLUTION = 60.0
"""Seconds to which ends are rounded up in a plan that is made once; less if jobs are short."""
MOST_EXACT = 2_000_000
"""Largest product of jobs and nodes with which far ends are planned as exactly as near ones."""
STEPS = 240
"""Number by which the median time limit is divided to get the rounding of ends."""
_GPUS = re.compile(r"(?:^|,)gres/gpu[^,]*")
UNLIMITED = 86400.0
"""Run time in seconds that is assumed for a job without a time limit."""


@dataclass(frozen=True)
class Model:
    """Model for a forecast: how long jobs are expected to run."""

    name: str
    quantile: float | None = None
    """Quantile (0 to 1) of the run times of comparable jobs that is taken; None if jobs run to their limits."""
    is_between: bool = False
    """True if starts lie between those under `LEARNT` and `LIMITS`; see `Foresight`."""


LIMITS = Model("nodes and limits")
LEARNT = Model("and learnt run times", quantile=0.5)
BETWEEN = Model("between these two", quantile=0.5, is_between=True)
MODELS = (LIMITS, LEARNT, BETWEEN)


@dataclass(frozen=True)
class FromNow(Slurm):
    """Slurm's policy for a forecast: some jobs, which have the lowest ranks, already run when it begins."""

    keeps_whole_nodes: ClassVar[bool] = False  # plans of cores are nearer to the starts that come
    running: int = field(default=0, repr=False)
    """Number of jobs that already run when the simulation begins; they have the lowest ranks."""
    demands: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict, repr=False, compare=False)
    """For each job (by rank): (index in `most`, amount) of each limit that it counts against."""
    most: Sequence[float] = field(default=(), repr=False)
    """For each limit: largest amount of it that running jobs may take in total."""
    has_points: bool = field(default=False, repr=False)
    """True if the points of each partition are known for jobs with several partitions."""

    def decide(self, now: Moment) -> None:
        for job in now.queued():
            if job.rank < self.running:
                seats = now.where_it_ran(job)
                if seats is not None or now.fits(job):
                    now.begin(job, AsRecorded(now.time, 0.0), seats)
        super().decide(now)

    def _main(self, now: Moment) -> dict[int, Job]:
        """Start no job: in Slurm's main half a job that does not fit closes all nodes of its partitions for others. Any
        job that starts nevertheless starts in the backfill half, too.
        """
        return {}

    def is_held(self, view: Moment, job: Job) -> bool:
        own = self.demands.get(job.rank, ())
        if not own:
            return False
        used = self._used(view)
        return any(used[number] + amount > self.most[number] for number, amount in own)

    def _used(self, view: Moment) -> Counter[int]:
        running, kept = tuple(view.running), view.notes.setdefault("used", {})
        if running not in kept:
            kept.clear()
            kept[running] = Counter()
            for rank in running:
                for number, amount in self.demands.get(rank, ()):
                    kept[running][number] += amount
        found: Counter[int] = kept[running]
        return found

    def entries(self, view: Moment) -> list[Entry]:
        """Return each waiting job once if the points of partitions are unknown."""
        if self.has_points:
            return super().entries(view)
        queue, tiers = view.queue, view.tiers
        return [(job, -1) for job in (sorted(queue, key=lambda job: -tiers[job.rank]) if tiers else queue)]

    def to_plan(self, view: Moment, waiting: list[Entry]) -> list[Entry]:
        """Return the jobs of `waiting` up to the last one that could start now, which later plans do not change."""
        many = len(waiting)
        while many and (self.is_held(view, waiting[many - 1][0]) or not view.fits(waiting[many - 1][0])):
            many -= 1
        return waiting[:many]


def can_be_forecast(job: ClusterJob) -> bool:
    """Return True if the job waits for what the models cover: priority, resources or a limit."""
    if not job.is_waiting or not job.cpus:
        return False
    is_for_room = job.reason in (*PLANNED_FOR, "", "None") or job.reason.startswith(NODES_AWAY)
    return is_for_room or is_limited(job)


def forecast(cluster: Cluster, model: Model = LIMITS, past: PastJobs | None = None) -> dict[str, float]:
    """Return a mapping from the id of each waiting job to its forecast start, in seconds since 1970. Jobs whose reason
    to wait the models do not cover are missing. The mapping is empty if a running job has more than its nodes have.
    """
    found = _assumed(cluster, model, past)
    if found is None:
        return {}
    kept, shape, known, lengths = found.jobs, found.shape, found.demands, found.lengths
    running = sum(not job.is_waiting for job in kept)
    if model.quantile is None or len(kept) * (len(kept) - running) * len(shape.nodes) > MOST_REPLANNED:
        return {kept[place].id: cluster.at + start for place, start in _planned(cluster, found).items()}
    several, points = _several(cluster, kept)
    ranked = [
        replace(job, priority=round(max(several.get(place, {"": job.priority}).values())))
        for place, job in enumerate(kept)
    ]
    if several:
        groups = tuple(replace(group, factor=round(points.get(group.name, 0.0))) for group in shape.groups)
        shape = replace(shape, groups=groups)
    by = (shape.factors, float(max((group.factor for group in shape.groups), default=0))) if several else ((), 0.0)
    policy = FromNow(
        tree_order(cluster, ranked, *by) or (ByPriority([job.priority for job in ranked], *by) if several else Fcfs()),
        0.0,
        bf_resolution=1.0,
        running=running,
        demands=known.taken,
        most=known.most,
        has_points=bool(several),
    )
    workload = _workload(kept, [_left(cluster, job) for job in kept], lengths, shape)
    starts = zip(kept, run(workload, policy).start.tolist(), strict=True)
    return {job.id: cluster.at + start for job, start in starts if job.is_waiting and not isnan(start)}


def seconds_of(cluster: Cluster) -> float:
    """Return roughly how many seconds a usual computer takes for three forecasts of this picture."""
    waiting = min(sum(can_be_forecast(job) for job in cluster.queue), MOST_WAITING)
    jobs = len(cluster.running) + waiting
    replanned = jobs * waiting * len(cluster.nodes)
    each = 8e-6 * replanned if replanned <= MOST_REPLANNED else 1.2e-6 * jobs * len(cluster.nodes)
    return 0.01 + 1e-4 * jobs + each


def _several(cluster: Cluster, jobs: Sequence[ClusterJob]) -> tuple[dict[int, dict[str, float]], dict[str, float]]:
    """Return the priorities in each of its partitions of each waiting job that names several, by index in `jobs`, and
    the points of each partition.
    """
    if not any("," in job.partition for job in jobs if job.is_waiting):
        return {}, {}
    points = points_of(cluster)
    found = {
        place: priorities(job, cluster.parts.get(job.number), points)
        for place, job in enumerate(jobs) if job.is_waiting
    }  # fmt: skip
    return {place: each for place, each in found.items() if each}, points


class Assumed(NamedTuple):
    """Assumptions of a forecast: its jobs, first the running ones, and the machine."""

    jobs: list[ClusterJob]
    shape: Shape
    demands: Demands
    lengths: list[float]
    """Seconds for which each job runs from now or from its start on."""


def _assumed(cluster: Cluster, model: Model, past: PastJobs | None) -> Assumed | None:
    """Return what a forecast assumes; None if no forecast would be true."""
    if cluster.is_private or not cluster.nodes:
        return None
    running = [job for job in cluster.running if job.nodes and job.cpus]
    jobs = [*running, *islice((job for job in cluster.queue if can_be_forecast(job)), MOST_WAITING)]
    bounds = bounds_of(cluster)
    most = tuple(bound.limit.most for bound in bounds)
    shape = _shape(cluster, jobs)
    keep = []
    for place, job in enumerate(jobs):
        own = demands([job], bounds)[0]
        fits = not shape.why_never(shape.requests[place], _left(cluster, job))
        if job.is_running and not fits:
            return None
        if job.is_running or (fits and is_known(job, bounds) and all(amount <= most[number] for number, amount in own)):
            keep.append(place)
    kept = [jobs[place] for place in keep]
    lengths = [_expected(cluster, job, model, past) for job in kept]
    return Assumed(kept, shape.take(keep), Demands(most, demands(kept, bounds)), lengths)


def _planned(cluster: Cluster, assumed: Assumed) -> dict[int, float]:
    """Return the start of each waiting job, by its index, in a plan made once. Starts are seconds from now.

    The jobs that a limit holds back now take their places behind all others, as Slurm's backfill passes over them. A
    job with several partitions is planned once for each, with its priority there.
    """
    plan, waiting = plan_of(cluster, assumed)
    return {place: start for place, start in plan.starts(waiting).items() if start < inf}


def plan_of(cluster: Cluster, assumed: Assumed) -> tuple[PlanAhead, list[Waiting]]:
    """Return the plan with the running jobs alone, and the waiting jobs in the order in which it takes them."""
    jobs, shape = assumed.jobs, assumed.shape
    running, entries = list[tuple[int, Seats, float]](), list[tuple[bool, int, float, Waiting]]()
    tiers = {each.name: each.tier for each in cluster.partitions}
    several, _ = _several(cluster, jobs)
    for place, (job, length) in enumerate(zip(jobs, assumed.lengths, strict=True)):
        if job.is_waiting:
            request, own = shape.requests[place], several.get(place, {})
            for number in request.groups if own else ():
                name = shape.groups[number].name
                if not shape.why_never(replace(request, groups=(number,)), _left(cluster, job)):
                    entries.append(
                        (is_limited(job), -tiers.get(name, 0), -own[name], Waiting(place, length, only=number))
                    )
            if not own:
                entries.append((is_limited(job), -tier_of(cluster, job), -job.priority, Waiting(place, length)))
        elif seats := (shape.ran and shape.ran[place]) or shape.seat(shape.requests[place], shape.has):
            running.append((place, seats, length))
    limits = [job.limit for job in jobs if job.limit]
    grain = min(max(median(limits or [0.0]) / STEPS, 1.0), RESOLUTION)
    is_coarse = len(jobs) * len(shape.nodes) > MOST_EXACT
    plan = PlanAhead(shape, assumed.demands, running, grain, is_coarse, cluster.at)
    return plan, [each for *_, each in sorted(entries, key=lambda each: each[:3])]


def plan_before(cluster: Cluster, new: Sequence[ClusterJob]) -> tuple[PlanAhead, dict[str, int]] | None:
    """Return the plan of the jobs that come before all of `new`, and the numbers in it of those jobs of `new` that may
    fit; None if no forecast would be true. Jobs run to their limits.
    """
    known = [job for job in cluster.queue if can_be_forecast(job)][: MOST_WAITING - len(new)]
    assumed = _assumed(replace(cluster, jobs=(*cluster.running, *known, *new)), LIMITS, None)
    if assumed is None:
        return None
    ids, numbers = {job.id for job in new}, {job.id: place for place, job in enumerate(assumed.jobs)}
    plan, waiting = plan_of(cluster, assumed)
    plan.starts(takewhile(lambda each: assumed.jobs[each.number].id not in ids, waiting))
    return plan, {id: numbers[id] for id in ids if id in numbers}


@dataclass(frozen=True)
class Foresight:
    """Forecasts of one picture (polled state of a cluster) under several models, each made at most once."""

    cluster: Cluster
    past: PastJobs
    _made: dict[Model, dict[str, float]] = field(default_factory=dict, repr=False)

    def starts(self, model: Model) -> dict[str, float]:
        """Return a mapping from the id of each waiting job to its start under the model, in seconds since 1970.

        Between two starts the wait is the geometric mean of the two waits. Jobs that arrive later take a part of what
        others leave free by ending before their limits, and the longer the wait, the more of them arrive.
        """
        key = replace(model, name="")
        if key not in self._made and model.is_between:
            early, limits, now = self.starts(LEARNT), self.starts(LIMITS), self.cluster.at
            self._made[key] = {
                job: now + sqrt((start - now) * (max(limits.get(job, start), start) - now))
                for job, start in early.items()
            }
        elif key not in self._made:
            self._made[key] = forecast(self.cluster, model, self.past)
        return self._made[key]

    def spans(self, share: float) -> dict[str, Range]:
        """Return a mapping from the id of each job to the range of its starts between short and long run times.

        The share `share` of the past run times lies between the two. The range contains the start under `BETWEEN`.
        """
        first, last = (self.starts(replace(LEARNT, quantile=(1 + end) / 2)) for end in (-share, share))
        ends = {job: (first.get(job, at), at, last.get(job, at)) for job, at in self.starts(BETWEEN).items()}
        return {job: Range(min(each), max(each)) for job, each in ends.items()}  # a longer job may let another one pass


def _left(cluster: Cluster, job: ClusterJob) -> float:
    """Return the seconds until a running job reaches its limit; of a waiting job, its whole limit."""
    if job.is_waiting:
        return max(job.limit or UNLIMITED, 1.0)
    return max((job.end or cluster.at + UNLIMITED) - cluster.at, 1.0)


def _expected(cluster: Cluster, job: ClusterJob, model: Model, past: PastJobs | None) -> float:
    most = _left(cluster, job)
    if model.quantile is None or past is None:
        return most
    so_far = 0.0 if job.is_waiting else max(cluster.at - (job.start or cluster.at), 0.0)
    length = past.length(job, model.quantile, so_far)
    return most if length is None else min(max(length - so_far, 1.0), most)


def _shape(cluster: Cluster, jobs: Sequence[ClusterJob]) -> Shape:
    cluster, features = _with_constraints(with_partitions(cluster), jobs)
    machine = shape_of(json.loads(machine_in_words(cluster)), cluster.name).reserved_since(cluster.at, cluster.name)
    gone = {at for at, node in enumerate(cluster.nodes) if node.is_gone}
    groups = tuple(replace(group, nodes=group.nodes - gone) for group in machine.groups)
    asked = AskedOfNodes(replace(machine, groups=groups))
    for job in jobs:
        # whole nodes come with all their GPUs, of which no two nodes need have as many
        tres = _GPUS.sub("", job.tres) if job.is_running and job.is_exclusive else job.tres
        row = {
            "partition": job.partition, "reqtres": tres, "alloctres": tres, "nodelist": ",".join(job.nodes),
            "reqmem": f"{job.memory}Mn" if job.memory else "", "reqnodes": str(job.nodes_wanted),
            "reservation": job.reservation,
        }  # fmt: skip
        if job.gpus and "gres/gpu" not in job.tres:
            row["reqtres"] += f",gres/gpu={job.gpus * job.nodes_wanted}"
        counts = {held.node: held.mask.bit_count() for held in job.cores}
        asked.add(row, job.cpus, None if job.is_waiting else 0.0, 1.0, counts)
    shape = asked.shape
    asked_for = zip(jobs, shape.requests, features, strict=True)
    requests = tuple(replace(_as_asked(job, each), features=own) for job, each, own in asked_for)
    ran = tuple(_held(shape, each, seats) for each, seats in zip(requests, shape.ran, strict=True)) if shape.ran else ()
    return replace(shape, requests=requests, ran=ran)


def _held(shape: Shape, request: Request, seats: Seats | None) -> Seats | None:
    """Return what a running job holds on its nodes. Memory for each node is not in proportion to its cores there."""
    if seats is None or not request.per_node:
        return seats
    whole = [tuple(shape.has[node].tolist()) for node in seats.nodes]
    held = zip(seats.amounts, whole, strict=True)
    return Seats(seats.nodes, tuple(each if each == most else request.amounts(each[0]) for each, most in held))


def _with_constraints(cluster: Cluster, jobs: Sequence[ClusterJob]) -> tuple[Cluster, list[frozenset[str]]]:
    """Return the cluster with a feature for each set of nodes to which constraints restrict waiting jobs."""
    sets, features = dict[frozenset[str], str](), list[frozenset[str]]()
    for job in jobs:
        is_free = not (job.is_waiting and (job.features or job.required or job.excluded))
        names = frozenset[str]() if is_free else frozenset(node.name for node in allowed(cluster, job))
        features.append(frozenset() if is_free else frozenset({sets.setdefault(names, f"set {len(sets)}")}))
    nodes = (
        replace(node, features=tuple(feature for names, feature in sets.items() if node.name in names))
        for node in cluster.nodes
    )
    return replace(cluster, nodes=tuple(nodes)), features


def _as_asked(job: ClusterJob, request: Request) -> Request:
    """Return the request with what only the list of jobs says: whole nodes, or an exact number of nodes."""
    if not job.is_waiting:
        return replace(_with_memory_of_nodes(job, request), groups=())
    request = replace(request, is_exclusive=True) if job.is_exclusive else request
    request = _with_memory_of_nodes(job, request)
    many, tasks = job.most_nodes, request.tasks
    if tasks is None or not many or many != job.nodes_wanted or tasks % many:
        return request
    once = request.per_node or (0,) * len(request.each)
    each = tuple(amount * (tasks // many) + own for amount, own in zip(request.each, once, strict=True))
    return replace(request, each=each, nodes=many, tasks=None, least=1, per_node=())


def _workload(
    jobs: Sequence[ClusterJob], estimates: Sequence[float], lengths: Sequence[float], shape: Shape
) -> Workload:
    users = {name: number for number, name in enumerate(dict.fromkeys(job.user for job in jobs))}
    return Workload.known_by(
        tuple(job.id for job in jobs),
        name="from now",
        procs=shape.cores,
        submit=np.zeros(len(jobs)),
        width=np.array([job.cpus for job in jobs], np.int64),
        runtime=np.array(lengths, float),
        estimate=np.array(estimates, float),
        user=np.array([users[job.user] for job in jobs], np.int64),
        shape=shape,
    )


def _with_memory_of_nodes(job: ClusterJob, request: Request) -> Request:
    """Return the request with memory for each node, not each core, if that is nearer to what the job asks for."""
    told = resources(job.tres)
    total, nodes = told.get("mem", 0.0), max(told.get("node", 0.0), job.nodes_wanted, 1)
    if not job.memory or not request.each[1:2] or request.tasks is None or not total:
        return request
    if abs(total - job.memory * nodes) >= abs(total - job.memory * job.cpus):
        return request
    once = request.per_node or (0,) * len(request.each)
    each = (request.each[0], 0, *request.each[2:])
    return replace(request, each=each, per_node=(once[0], job.memory, *once[2:]))
