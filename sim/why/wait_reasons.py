"""Computation of why a job waits, and which jobs are ahead, must end first, or would be delayed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons import OfTheHead
from sim.decisions.reasons_inferred import FewBesideKept, Heads, NotConsidered, RowLater
from sim.decisions.reasons_on_nodes import RoomLater
from sim.decisions.reasons_to_wait import MachineGoesDown, PlannedLater, RoomUnseen, TooFewFree
from sim.decisions.sentences import Reason, words_of
from sim.engine.snapshot import Queued
from sim.engine.view import LiveView, View
from sim.machine.moment import MOMENT
from sim.machine.node_plan import NodePlan
from sim.machine.nodes import NodeMachine, shadow_on_nodes
from sim.machine.ousterhout_matrix import MatrixPicture
from sim.machine.plan import Ends
from sim.machine.plan import Plan as FreeRoom
from sim.why.facts import Free
from sim.workload.model import Job
from sim.workload.outages import closing


def why_it_waits(moment: View, queued: Queued, considered: Sequence[Decision]) -> Reason:
    """Return the policy's reason, or else one inferred from the decisions of the pass and the job's plan."""
    if queued.why is not None:
        return queued.why
    job, at, picture, (free, ends) = queued.job, queued.planned, moment.matrix, moment.outlook
    if picture is not None:
        free = most_free(moment.there, picture)[0]
    if at is None:
        return NotConsidered(stops_at(considered), free)
    if queued.row is not None:
        return RowLater(queued.row)
    if job.procs > free:
        held = free_now(moment)
        return TooFewFree(free) if held.kept_for is None else FewBesideKept(held.procs, held.kept, held.kept_for)
    if (down := _goes_down(moment, queued)) is not None:
        return down
    if (nodes := nodes_now(moment)) is not None:
        return RoomUnseen(at, free) if nodes.have_room(job) else RoomLater(at)
    is_free = has_room(job, moment.time or 0, free, ends, moment.queue.plans())
    return RoomUnseen(at, free) if is_free else PlannedLater(at, free)


def why_it_waits_now(
    moment: LiveView, job: Job, decisions: Sequence[Decision], planned: tuple[float | None, Reason | None]
) -> Reason:
    """Return the policy's last reason, or else as `why_it_waits`; `planned` is (start, reason), each or None."""
    given = next((d.because for d in reversed(decisions) if isinstance(d, Keep) and d.job is job), None)
    queued, (at, because) = moment.queue.entry(job.rank), planned
    assert queued is not None
    queued = replace(queued, planned=at, why=moment.obstacle(job) if given is None else given)
    if queued.why is None and isinstance(because, OfTheHead) and free_now(moment).kept_for is None:
        down = _goes_down(moment, queued)
        return Heads(room(moment)) if down is None or job.procs > moment.free else down
    return why_it_waits(moment, queued, decisions)


def _goes_down(moment: View, queued: Queued) -> MachineGoesDown | None:
    if moment.matrix is not None or queued.granted:
        return None
    now = moment.time or 0
    ends, closes = now + queued.lasts, closing(moment.outages, now)
    return MachineGoesDown(closes, ends) if ends > closes + MOMENT else None


def nodes_now(moment: View) -> NodesNow | None:
    if moment.nodes is None:
        return None
    return NodesNow(moment.nodes, moment.time or 0, moment.ends, moment.rules.keeps_reservations)


class NodesNow(NamedTuple):
    """Nodes of a machine at the time `now`, with the running jobs' `ends`: (expected end, rank, ignored), sorted."""

    machine: NodeMachine
    now: float
    ends: Ends
    keeps_reservations: bool
    """True if planned starts are kept from pass to pass, so that a job may have room before its own."""

    def have_room(self, job: Job) -> bool:
        """Return True if the job fits for its whole estimate next to all reservations, and plans are kept."""
        if not self.keeps_reservations:
            return False
        plan = NodePlan.of_running(self.now, self.machine, self.ends)
        for rank, (at, seats) in self.machine.promised.items():
            if rank != job.rank:
                since = max(at, self.now)
                plan.hold(job.replaced(rank=rank), since, max(at + self.machine.lasts[rank], since), seats)
        return plan.admits(job, self.now, job.estimate)


def stops_at(decisions: Sequence[Decision]) -> Job | None:
    """Return the last job that the policy kept waiting for another reason than a reservation, or None."""
    kept = (d.job for d in reversed(decisions) if isinstance(d, Keep) and not words_of(d.because).is_reserved)
    return next(kept, None)


def has_room(job: Job, now: float, free: int, ends: Ends, plans: Iterable[tuple[Job, float, float]]) -> bool:
    """Return True if the job fits from now on next to the running jobs and the plans (job, start, duration)."""
    until, changes = now + job.estimate, [(end, procs) for end, _, procs in ends]
    for other, start, lasts in plans:
        if other != job and start < until - MOMENT:
            changes += [(max(start, now), -other.procs), (max(start, now) + lasts, other.procs)]
    changes.sort(key=lambda change: (change[0], -change[1]))
    for time, change in changes:
        if time >= until - MOMENT:
            break
        free += change
        if free < job.procs:
            return False
    return True


# Room


def free_now(moment: View) -> Free:
    awaited = next((halted for halted in moment.suspended if halted.job.rank == moment.awaited), None)
    if awaited is None:
        return Free(moment.free)
    kept = (awaited.processors & moment.free_set).bit_count()
    return Free(moment.free, kept, awaited.job) if kept else Free(moment.free)


def room(moment: View) -> int:
    """Return the free processors, in a matrix those of the row with most, where replicas count as free."""
    picture = moment.matrix
    return moment.free if picture is None else most_free(moment.there, picture)[0]


def most_free(procs: int, picture: MatrixPicture) -> tuple[int, int]:
    """Return (free columns, row id) of the emptiest row, where replicas count as free; all and 0 without rows."""
    rows = ((row, (cell.columns.bit_count() for cell in cells if cell.is_home)) for row, cells in picture.rows)
    free, row = max(((procs - sum(held), -row) for row, held in rows), default=(procs, 0))
    return free, -row


class Holder(NamedTuple):
    """Job that holds processors until its expected end `until`, in seconds."""

    job: Job
    until: float


def must_end(running: Iterable[Holder], free: int, needed: int) -> tuple[Holder, ...]:
    """Return the jobs that must end before `needed` processors are free, in order of expected end."""
    found: list[Holder] = []
    for holder in running:
        if free >= needed:
            break
        found.append(holder)
        free += holder.job.procs
    return tuple(found)


def frees_nodes(on: NodesNow, job: Job) -> tuple[float, tuple[int, ...]] | None:
    """Return (earliest start, ranks of the jobs that must end by then); None if the job fits, or never does."""
    if on.machine.fits(job):
        return None
    try:
        at, free = shadow_on_nodes(on.machine, on.ends, job)
    except ValueError:
        return None
    seats = on.machine.seat(job.rank, free)
    nodes = frozenset[int]() if seats is None else frozenset(seats.nodes)
    before = [
        rank for end, rank, _ in on.ends if end <= at + MOMENT and nodes.intersection(on.machine.seats[rank].nodes)
    ]
    return (at, tuple(before)) if before else None


# The other jobs


class PlannedStart(NamedTuple):
    """Planned start of a job for `lasts` seconds; `stands`: reserved, not planned again at each pass."""

    job: Job
    at: float
    lasts: float
    stands: bool


class Delayed(NamedTuple):
    """Delay of the job `other`, planned for `at`: starting the considered job now would delay it by `seconds`."""

    other: Job
    at: float
    seconds: float


def delayed_by(job: Job, now: float, plan: FreeRoom, planned: Iterable[PlannedStart]) -> Iterator[Delayed]:
    """Yield the planned jobs that a start now would delay, and by how long; `plan` is changed."""
    plan.hold(job, now, now + job.estimate)
    for other, at, lasts, stands in sorted(planned, key=lambda plan: not plan.stands):
        since = max(at, now) if stands else now
        if other != job and (seconds := plan.put(other, since, lasts) - at) > MOMENT:
            yield Delayed(other, at, seconds)
