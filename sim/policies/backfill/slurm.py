"""Slurm's scheduler: its main half starts jobs by priority, its backfill half runs at most every bf_interval
seconds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, inf
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from sim.decisions.reasons import InOrder, NewPlan, Planned
from sim.decisions.reasons_on_nodes import BehindInPartition
from sim.machine.moment import MOMENT, is_by
from sim.machine.node_map import NodeMap
from sim.machine.node_plan import NodePlan
from sim.machine.plan import Plan
from sim.policies.multifactor import Multifactor
from sim.policies.orders import Order
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered, order_field
from sim.policies.registry import policy
from sim.workload.model import Job
from sim.workload.shape import Seats

if TYPE_CHECKING:
    from sim.engine.moment import Moment

DAY = 86400.0
Entry: TypeAlias = tuple[Job, int]
"""Entry of the queue: a waiting job, and the number of the partition in which it is tried; -1 for all that it may
use.
"""


@policy("slurm", "Slurm's documentation")
@dataclass(frozen=True)
class Slurm(Ordered):
    """Slurm's main scheduler and its backfill, by multifactor priority.

    In every pass the jobs start in order of priority while they fit. The first that does not fit closes its partitions
    for the rest of that half, and all of their nodes, also for other partitions with these nodes. A job closes its
    partitions, too, if they have fewer open nodes than it needs at least.

    The backfill half runs at most every bf_interval seconds: it makes a new plan, in which each job, by priority, gets
    the earliest start within bf_window. Jobs planned for now start, the others take their place in the plan. There they
    keep their nodes whole: no job behind them may use a free core of these nodes at the same time, although the job
    itself may need only a part. No job on these nodes may end at the very time they begin. Nothing is promised. A
    place lasts from its start to its end, both rounded down to multiples of bf_resolution. The ends of running jobs are
    not tried one by one, but in windows that double, so a planned start may be later than needed. On equal processors
    all ends are tried, and planned starts are rounded up instead.

    Jobs of partitions with a higher tier (PriorityTier) come first. On equal processors there is one partition. A job
    that names several partitions is in the queue once for each of them, with the tier and the factor of that partition.
    It is tried in that partition alone, closes only that one, and takes a place in the plan for each.

    Jobs that name a reservation of nodes come before all others, and only close this reservation.

    The parameters have the names and defaults of Slurm's SchedulerParameters; bf_window is in seconds, not minutes.
    Slurm's main half looks at the first default_queue_depth jobs only, here at all.
    """

    asks_limits = True
    keeps_whole_nodes: ClassVar[bool] = True
    """True if planned jobs leave nothing free on their nodes, as in Slurm."""

    order: Order = order_field(Multifactor())
    bf_interval: float = parameter(30.0, "least time between two backfill halves", low=0.0, is_time=True)
    bf_window: float = parameter(DAY, "how far ahead starts are planned", low=1.0, is_time=True)
    bf_resolution: float = parameter(60.0, "times in the plan are rounded to multiples of this", low=1.0, is_time=True)
    bf_max_job_test: int = parameter(500, "jobs considered in a backfill half", low=1)
    bf_max_job_user: int = parameter(0, "jobs of one user considered in a backfill half; 0 for all", low=0)

    def decide(self, now: Moment) -> None:
        behind = self._main(now)
        # in the notes: the time of the last backfill half (under 0), and the planned starts that it found, by rank
        clock, planned = now.notes.setdefault("backfilled", {}), now.notes.setdefault("planned", {})
        waiting = self.entries(now)
        due = clock.get(0, now.time - self.bf_interval) + self.bf_interval
        if waiting and is_by(due, now.time):
            clock[0] = now.time
            self._backfill(now, self.to_plan(now, waiting), planned)
            waiting = self.entries(now) if now.curious else []
        elif waiting:
            told: set[int] = set()
            for job, only in waiting:
                if is_by(now.time, planned.get(job.rank, -1)) and job.rank not in told:
                    now.reserve(job, planned[job.rank], NewPlan())
                if only >= 0:
                    told.add(job.rank)
            now.wake_once(due)
        still = {job.rank for job, _ in waiting} if behind else set()
        for job, only in waiting:
            if job.rank in behind and behind[job.rank].rank in still:  # the backfill half may have started that job
                now.keep(job, BehindInPartition(behind.pop(job.rank) if only >= 0 else behind[job.rank]))

    def entries(self, view: Moment) -> list[Entry]:
        return view.once_a_partition() if view.has_nodes else [(job, -1) for job in view.queue]

    def to_plan(self, view: Moment, waiting: list[Entry]) -> list[Entry]:
        """Return the entries to plan in the backfill half: all of them, unless a derived class leaves some out."""
        return waiting

    def planned_nodes(self, notes: Mapping[str, Any]) -> Mapping[int, tuple[float, Seats]]:
        planned: Mapping[int, tuple[float, Seats]] = notes.get("planned_nodes", {})
        return planned

    def is_held(self, view: Moment, job: Job) -> bool:
        return view.is_held(job)

    def _main(self, now: Moment) -> dict[int, Job]:
        """Start jobs by priority until one does not fit. Return a mapping from the rank of each job still waiting to
        the job that blocks it; an empty one if the run does not record reasons.
        """
        closed: dict[int, Job] = {}
        behind: dict[int, Job] = {}
        started: set[int] = set()
        tells_more = now.curious or now.has_nodes
        for job, only in self.entries(now):
            if closed and not tells_more:
                break  # all other jobs wait behind this one
            if job.rank in started or self.is_held(now, job):
                continue
            names = now.open_partitions(job, closed)
            if only >= 0:
                names = (only,) if only in names else ()
            if not names:
                if now.curious and (ahead := _first_ahead(now, job, only, closed)) is not job:
                    behind[job.rank] = ahead  # a job of several partitions may have closed its nodes itself
                for name in now.partitions(job) if only < 0 else (only,):
                    closed.setdefault(name, job)
            elif (closed or only >= 0) and (seats := now.seats_outside(job, closed, only)) is not None:
                started.add(job.rank)
                if closed:
                    now.backfill(job, InOrder(now.free), seats)
                else:
                    now.begin(job, InOrder(now.free), seats)
            elif not closed and only < 0 and now.fits(job):
                now.begin(job, InOrder(now.free))
            else:
                closed.update(dict.fromkeys(names, job))
        return behind

    def _backfill(self, now: Moment, waiting: list[Entry], planned: dict[int, float]) -> None:
        """Make a new plan for the jobs with the highest priority; start the jobs whose planned start is now. Replace
        the content of `planned` by the later planned starts (rank -> time).
        """
        future, time, until = self._future(now), now.time, now.time + self.bf_window
        nodes = now.notes.setdefault("planned_nodes", {})
        planned.clear()
        nodes.clear()
        tested: Counter[int] = Counter()
        started: set[int] = set()
        several: dict[int, Job] = {}
        for place, (job, only) in enumerate(waiting[: self.bf_max_job_test]):
            if job.rank in started:
                continue
            if self.bf_max_job_user:
                tested[job.user] += 1
                if tested[job.user] > self.bf_max_job_user:
                    continue
            if self.is_held(now, job):
                continue
            found = future.find(job, only, until)
            if found is None:
                continue
            at, seats = found
            if at <= time:
                for told in (planned, nodes, several) if only >= 0 else ():
                    told.pop(job.rank, None)
                started.add(job.rank)
                if place:
                    now.backfill(job, Planned(), seats)
                else:
                    now.begin(job, Planned(), seats)
            elif at < planned.get(job.rank, inf):  # no other partition has it earlier
                planned[job.rank] = at
                if seats is not None:
                    nodes[job.rank] = at, seats
                if only < 0:
                    now.reserve(job, at, NewPlan())
                else:
                    several[job.rank] = job
        for rank, job in several.items():
            now.reserve(job, planned[rank], NewPlan())

    def _future(self, view: Moment) -> NodeMap | _Exact:
        plan = view.draft()
        plan.leave_out_drained()
        if isinstance(plan, NodePlan) and self.keeps_whole_nodes:
            return NodeMap(plan, self.bf_resolution)
        return _Exact(plan, view.now, 0.0 if view.has_nodes else self.bf_resolution)


class _Exact:
    """Plan in which a job gets the first start at which its processors, or its cores of nodes, are free."""

    def __init__(self, plan: Plan, now: float, grain: float) -> None:
        """Begin with the running jobs in `plan`. Starts are rounded up to multiples of `grain` seconds, if not 0."""
        self._plan, self._now, self._grain = plan, now, grain

    def find(self, job: Job, only: int, until: float) -> tuple[float, Seats | None] | None:
        """Return (start of the job up to `until`, what it gets of which nodes) and hold that; None if there is no such
        start. The job is tried in the partition `only`; -1 stands for all that it may use.
        """
        plan = self._plan
        plan.narrow(job, only)
        at = plan.find(job, self._now)
        while self._grain and self._now < at and is_by(at, until):
            rounded = ceil((at - MOMENT) / self._grain) * self._grain
            if is_by(rounded, at) or plan.admits(job, rounded, job.estimate):
                at = rounded
                break
            at = plan.find(job, rounded)
        is_inside = isinstance(plan, NodePlan) and plan.request_of(job).admitted.within >= 0
        if not is_by(at, until) or (
            is_inside and not plan.admits(job, at, job.estimate)
        ):  # its reservation will be over
            return None
        plan.hold(job, at, at + job.estimate)
        return at, plan.seats_of(job)


def _first_ahead(now: Moment, job: Job, only: int, closed: dict[int, Job]) -> Job:
    """Return the blocking job: its partition, together with the partitions closed before it, leaves `job` too few nodes
    in the partition `only` (-1: in all).
    """
    names: list[int] = []
    for name, ahead in closed.items():
        names.append(name)
        found = now.open_partitions(job, names)
        if not found or (only >= 0 and only not in found):
            return ahead
    raise AssertionError("no closed partition has its nodes")
