"""Multiple-queue backfilling with priorities, speculation and reservations (Lawson & Smirni, sections 2.1 and 2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from sim.decisions.decisions import Backfill, Decision, Divide, Expect, Keep, Reserve, Start
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
from sim.decisions.reasons_to_wait import PivotLater, TrialLater, WaitsForReserved
from sim.decisions.sentences import Reason
from sim.policies.backfill.room import no_room
from sim.policies.multiqueue.partitions import Classes, borrow, divided, own_idle
from sim.policies.multiqueue.pivots import Pivots
from sim.policies.orders import HighFirst, Order
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job


@policy("multiqueue", "LS sections 2.1 and 2.2, figure 2")
@dataclass(frozen=True)
class MultiQueue(Policy):
    """A queue and a partition of the machine for each class of estimates; idle processors are lent and borrowed.

    The first job of each queue is its pivot and has a planned start, recomputed at each pass. Every waiting job is
    considered once, high priority first. A pivot starts when its planned start is now. Another job starts if it fits in
    its partition and (a) ends by its pivot's start or (b) leaves its pivot enough, or (c) if it delays no pivot at all.
    A job runs on processors of its class's partition, which borrows what it lacks and keeps it until it is borrowed
    back. With classes=none it is plain backfilling of a single queue.

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
        0.0, "length in seconds of the speculative run of a long job (LS section 2.1); 0: none", low=0.0
    )
    speculate_over: float = parameter(
        1000.0, "the least estimate, in seconds, of a job that is tried (LS section 2.1)", low=0.0
    )
    keeps_reservations = True
    places = True
    on_nodes = False
    grants = True
    plans = "the heads"

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

    def decide(self, view: View) -> Iterator[Decision]:
        arrived = view.arrived
        if not view.owners:
            yield Divide(divided(view, self._classes))
            if not view.resized:
                arrived = sorted((job for job in view.queue if job.rank not in view.reserved), key=lambda job: job.rank)
        reserving = {job.rank for job in arrived if job.reserve is not None or self._is_tried(job)}
        queue = view.queue
        if not queue:
            return
        queue = self._queued(queue, view.reserved, reserving)
        pivots = Pivots(view, queue, self._classes)
        alone = len(reserving) == len(arrived)
        for job in arrived:
            if job.rank in reserving:
                yield from self._reserve(view, pivots if alone else pivots.before(job), job)
        if view.reserved:
            yield from self._serve_reserved(view, pivots)
        yield from self._serve_queues(view, pivots, queue)
        for pivot, start in pivots.planned():
            yield Expect(pivot, start)

    # Reservations and speculative runs

    def _is_tried(self, job: Job) -> bool:
        """Return True if the job gets a speculative run first: a run for a limited time, in case the job fails
        early.
        """
        return self.tries() and job.estimate >= self.speculate_over and job.reserve is None

    def _trial(self, job: Job) -> float:
        """Return the time limit of the job's speculative run in seconds."""
        return min(job.estimate, self.speculate)

    def _reserve(self, view: View, pivots: Pivots, job: Job) -> Iterator[Decision]:
        """Yield the decision that reserves a start for the job. If the user requested a start, it is reserved;
        otherwise a speculative run is planned that delays no pivot (first job of a queue).
        """
        if job.reserve is not None:
            at = view.plan.earliest(job.procs, job.estimate, max(view.now, job.reserve))
            yield Reserve(job, at, AskedFor(job.reserve))
            pivots.move()
        else:
            limit = self._trial(job)
            at = pivots.plan.earliest(job.procs, limit, view.now)
            yield Reserve(job, at, PlannedTrial(limit), limit)
            pivots.beside(job, at, limit)

    def _serve_reserved(self, view: View, pivots: Pivots) -> Iterator[Decision]:
        """Yield the starts of reserved jobs that are due, and of speculative runs that can start earlier without moving
        a planned start.
        """
        now = view.now
        for rank, at in sorted(view.reserved.items()):
            job = view.job(rank)
            if job.reserve is not None:
                if at <= now:
                    yield from self._start(view, job, Due())
                elif view.curious:
                    yield Keep(job, WaitsForReserved(at))
                continue
            limit = self._trial(job)
            if at <= now:
                yield from self._start(view, job, TrialDue(limit), limit=limit)
            elif job.procs <= view.free and pivots.room_instead(job, at, limit):
                yield from self._start(view, job, TrialEarly(limit, at), limit=limit)
                pivots.move()
            elif view.curious:
                other = pivots.comes_first(job, limit, at) if job.procs <= view.free else None
                yield Keep(job, TrialLater(at, limit, view.free, *(other or ())))

    # The queues

    def _queued(self, queue: list[Job], reserved: Mapping[int, float], reserving: set[int]) -> list[Job]:
        """Return the jobs of the queue without a reservation, those of high priority first.

        `reserved` maps ranks to reserved starts; jobs with ranks in `reserving` get a reservation in this pass.
        """
        if reserved or reserving:
            queue = [job for job in queue if job.rank not in reserved and job.rank not in reserving]
        if high := [job for job in queue if job.high]:
            return high + [job for job in queue if not job.high]
        return queue

    def _serve_queues(self, view: View, pivots: Pivots, queue: list[Job]) -> Iterator[Decision]:
        """Yield the decisions on the waiting jobs of all queues, each considered once (figure 2 of the paper)."""
        if not view.curious:
            free = view.free
            queue = [job for job in queue if job.procs <= free]
        for job in queue:
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
                continue
            partition = self._classes.of(job)
            if job is pivots.jobs[partition]:
                if pivots.start(partition) <= view.now:
                    borrowed = max(0, job.procs - pivots.idle(partition))
                    yield from self._start(view, job, PivotDue(partition, borrowed))
                    pivots.leave(partition)
                elif view.curious:
                    first = pivots.comes_first(job, job.estimate) or ()
                    yield Keep(job, PivotLater(pivots.start(partition), view.free, *first))
                continue
            if (job.procs, job.estimate) in pivots.refused:
                continue
            room = pivots.room(job)
            because = self._rule(view, pivots, job, partition, room)
            if because is not None:
                yield from self._start(view, job, because, Backfill)
                if room:
                    pivots.beside(job, view.now, job.estimate)
                else:
                    pivots.move()
            elif view.curious:
                yield Keep(job, pivots.obstacle(job))
            else:
                pivots.refused.add((job.procs, job.estimate))

    def _rule(self, view: View, pivots: Pivots, job: Job, partition: int, room: bool) -> Reason | None:
        """Return the reason by which a job that is not a pivot may start, rule (a), (b) or (c) of `MultiQueue`;
        otherwise None.

        `room` is True if the job moves no pivot and no reservation.
        """
        own = pivots.idle(partition)
        if job.procs <= own and (room or pivots.unreserved(job)):
            pivot, start, ends = pivots.jobs[partition], pivots.start(partition), view.now + job.estimate
            if ends <= start:
                return EndsBeforePivot(pivot, start, ends, own)
            if job.procs <= pivots.extra(partition):
                return SparesPivot(pivot, start, own, pivots.extra(partition))
        return DelaysNoPivot(own, max(0, job.procs - own)) if room else None

    def _start(
        self, view: View, job: Job, because: Reason, start: type[Start | Backfill] = Start, limit: float | None = None
    ) -> Iterator[Decision]:
        """Yield the decisions that start the job on its partition's lowest-numbered idle processors, borrowing those it
        lacks first.
        """
        partition = self._classes.of(job)
        yield from borrow(view, job, partition)
        yield start(job, because, own_idle(view, partition, job.procs), limit)
