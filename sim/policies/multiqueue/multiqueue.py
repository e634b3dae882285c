"""Multiple-queue backfilling with priorities, speculation and reservations (Lawson & Smirni, sections 2.1 and 2.2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sim.decisions.reasons import (
    AskedFor,
    DelaysNoPivot,
    Due,
    EndsBeforePivot,
    PivotDue,
    PlannedTrial,
    SparesPivot,
    TrialDue,
    TrialEarly,
)
from sim.decisions.reasons_to_wait import WaitsForReserved
from sim.decisions.sentences import Reason
from sim.machine.moment import is_by
from sim.policies.multiqueue.partitions import Classes
from sim.policies.multiqueue.pivots import Pivots
from sim.policies.orders import HighFirst, Order
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("multiqueue", "LS sections 2.1 and 2.2, figure 2")
@dataclass(frozen=True)
class MultiQueue(Policy):
    """A queue and a partition of the machine for each class of estimates; idle processors are lent and borrowed.

    The first job of each queue is its pivot and has a planned start, recomputed at each pass. Every waiting job is
    considered once, high priority first. A pivot starts when its planned start is now. Another job starts if it fits in
    its partition and (a) ends by its pivot's start or (b) leaves its pivot enough, or (c) if it delays no pivot at all.
    In no case may it delay a reservation (LS section 2.2). A job runs on processors of its class's partition, which
    borrows what it lacks and keeps it until another partition borrows it. With classes=none it is plain backfilling of
    a single queue.

    The paper leaves some points open: a job with a requested reservation has no speculative run. Requested reservations
    may delay pivots, speculative runs do not; of jobs that arrive together, the first by rank chooses first. Reserved
    jobs and speculative runs start before jobs of the queues, by rank. They belong to the partition of their class and
    borrow like other jobs. They are not in a queue, so they are never pivots. A job that starts from a queue without
    being its pivot counts as backfilled. On a machine where jobs run already, each partition also owns what its class's
    jobs hold, and all waiting jobs count as arrivals.
    """

    classes: str = parameter(
        "1000/10000", "estimates that separate the queues, in seconds (LS eq. 1); none: a single queue"
    )
    speculate: float = parameter(
        0.0, "length in seconds of the speculative run of a long job (LS section 2.1: 180); 0: none", low=0.0
    )
    speculate_over: float = parameter(
        1000.0, "the least estimate, in seconds, of a job with a speculative run (LS section 2.1)", low=0.0
    )
    keeps_reservations = True
    places = True
    on_nodes = False
    grants = True
    plans = "the heads"
    plans_by_rank = True

    def __post_init__(self) -> None:
        _ = self._classes

    @cached_property
    def _classes(self) -> Classes:
        return Classes.read(self.classes)

    def queues(self) -> tuple[str, ...]:
        return self._classes.names()

    def limits(self) -> tuple[float, ...]:
        return self._classes.limits

    def queue_of(self, job: Job) -> int:
        return self._classes.of(job)

    def line_order(self) -> Order:
        return HighFirst()

    def tries(self) -> bool:
        return self.speculate > 0

    def promises(self) -> bool:
        return True

    def decide(self, now: Moment) -> None:
        arrived = now.arrivals()
        if not now.owners:  # at the first pass, or because the number of processors has changed
            now.divide(self.classes)
            if not now.resized:
                arrived = now.unplanned()  # jobs that waited under an earlier policy, too
        pivots = now.pivots(self.classes, arrived)
        for job in arrived:
            if job.reserve is not None or (self.speculate > 0 and job.estimate >= self.speculate_over):
                pivots.leave_out(job)
        for job in pivots.left_out():  # jobs that need a reservation, so that they are in no queue
            self._reserve(now, pivots, job)
        for job in now.planned():
            self._serve_planned(now, pivots, job)
        for job in pivots.jobs():
            if not now.fits(job):
                now.keep(job)
                continue
            partition = pivots.queue_of(job)
            if job is not pivots.first(partition):
                self._backfill(now, pivots, job, partition)
            elif pivots.planned_start(partition) <= now.time:
                due = PivotDue(partition, max(0, job.procs - pivots.idle_in(partition)))
                now.begin(job, due, now.seats_in(partition, job))
                pivots.hand_on(job)
            elif now.curious:
                now.keep(job, pivots.later(job))
        for pivot in pivots.firsts():
            now.expect(pivot, pivots.planned_start(pivots.queue_of(pivot)))

    def _reserve(self, now: Moment, pivots: Pivots, job: Job) -> None:
        """Reserve a start for the job: the requested one, or else one for a speculative run (a trial of limited length)
        that delays no pivot (first job of a queue).
        """
        if job.reserve is not None:
            at = now.plan.earliest(job.procs, job.estimate, max(now.time, job.reserve))
            now.reserve(job, at, AskedFor(job.reserve))
            pivots.plan_again()
        else:
            limit = min(job.estimate, self.speculate)
            now.reserve_trial(job, pivots.place(job, limit), limit, PlannedTrial(limit))

    def _serve_planned(self, now: Moment, pivots: Pivots, job: Job) -> None:
        """Start the job if its reservation is due; a speculative run also earlier if that moves no planned start."""
        at, limit, partition = now.reserved_start(job), min(job.estimate, self.speculate), pivots.queue_of(job)
        is_due = at <= now.time and job.procs <= now.free  # a job may end less than a microsecond after `at`
        if job.reserve is not None:
            if is_due:
                now.begin(job, Due(), now.seats_in(partition, job))
            else:
                now.keep(job, WaitsForReserved(at))
        elif is_due:
            now.try_on(now.seats_in(partition, job), job, limit, TrialDue(limit))
        elif job.procs <= now.free and pivots.delays_none_instead(job, at, limit):
            now.try_on(now.seats_in(partition, job), job, limit, TrialEarly(limit, at))
            pivots.plan_again()
        elif now.curious:
            now.keep(job, pivots.trial_later(job, at, limit))

    def _backfill(self, now: Moment, pivots: Pivots, job: Job, partition: int) -> None:
        """Start a job that is not a pivot (first job of a queue) if one of the class's rules (a), (b) and (c) allows
        it. `partition` is that of the job.
        """
        own, ends, delays_none = pivots.idle_in(partition), now.time + job.estimate, pivots.delays_none(job)
        is_own = job.procs <= own and (delays_none or pivots.delays_no_reserved(job))
        pivot, start = pivots.first(partition), pivots.planned_start(partition)
        if is_own and is_by(ends, start):
            because: Reason = EndsBeforePivot(pivot, start, ends, own)
        elif is_own and job.procs <= pivots.extra_in(partition):
            because = SparesPivot(pivot, start, own, pivots.extra_in(partition))
        elif delays_none:
            because = DelaysNoPivot(own, max(0, job.procs - own))
        else:
            if now.curious:
                now.keep(job, pivots.obstacle(job))
            return
        now.backfill(job, because, now.seats_in(partition, job))
        if delays_none:
            pivots.occupy(job)
        else:
            pivots.plan_again()
