"""Changes of the machine during a run (sim/RULES.md): processors that become available or go down, drained nodes.

Maintenance is announced, so every plan contains it. An unannounced failure invalidates the plans: reservations are
dropped and made again in the pass of that instant, in the order of their starts; requested ones move only if they must.
A job on failed processors is interrupted: its work is lost, and the job returns to the queue.
"""

from __future__ import annotations

from heapq import heappush
from math import inf

from sim.decisions.decisions import Drop, Gone, Interrupt, Reserve, Returned
from sim.decisions.reasons import AskedFor
from sim.engine.moment import Moment
from sim.history.stretch import INTERRUPTED, QUEUED
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.machine.plan import by_number
from sim.workload.model import Job
from sim.workload.outages import Outage, absent, known


def change_machine(moment: Moment, outages: tuple[Outage, ...]) -> None:
    """Apply the changes of the machine that are due now; `outages` are all of the run, announced or not."""
    now, machine, was, seen = moment._time, moment._machine, moment._machine.absent, moment._outages
    gone = absent(outages, now)
    moment._outages = known(outages, now)
    moment.look_ahead(now)
    moment._resized, moment._kept_plan = True, None
    if back := was & ~gone:
        moment._log(Returned(back))
    lost, failed = gone & ~was, gone & absent(set(moment._outages).difference(seen), now)
    _record_outages(moment, lost, failed)
    if lost:
        _interrupt(moment, lost)
    _give_up_places(moment)
    divided = bool(machine.owners)
    machine.lose(gone)
    if divided:
        moment._history.boundaries(now, ())
    if moment._sharing is not None:
        moment._sharing.matrix.resize(machine.there)
    moment._free = machine.free
    for job in sorted(job for job in moment._waiting.jobs.values() if job.procs > moment.most):
        drop(moment, job)
    if failed or moment._interrupted:
        _upset_plans(moment)


def _record_outages(moment: Moment, lost: int, failed: int) -> None:
    """Record in the history which processors went down now (`lost`), and which have a new failure (`failed`), whether
    they went down now or were already down.

    Processors that are only in `lost` went down for maintenance; those only in `failed` were already down.
    """
    if announced := lost & ~failed:
        moment._log(Gone(announced, moment.back(announced), announced=True))
    if sudden := failed & lost:
        moment._log(Gone(sudden, moment.back(sudden), announced=False))
    elif failed:
        moment._log(Gone(failed, moment.back(failed), announced=False, again=True))


def _interrupt(moment: Moment, lost: int) -> None:
    sharing, held = moment._sharing, moment._machine.held
    if sharing is not None:
        for rank in [rank for rank in sorted(sharing.ran) if sharing.matrix.columns(rank) & lost]:
            _leave_matrix(moment, rank)
        moment._machine.hold_only({rank: its for rank, its in held.items() if rank in sharing.ran})
        return
    for rank in [rank for rank in sorted(moment._running) if held[rank] & lost]:
        stay = moment._running[rank]
        ran = stay.ran_by(moment._time)
        moment._leave(stay, INTERRUPTED)
        moment._ousted.append(stay.job)
        _queue_again(moment, stay.job, ran)


def _leave_matrix(moment: Moment, rank: int) -> None:
    sharing, job = moment._shared(), moment._jobs[rank]
    ran, is_new = sharing.ran[rank], rank in sharing.new
    moment._tally.stalled -= sharing.stall[rank] * job.procs
    sharing.leave(rank)
    moment._ousted.append(job)
    moment._history.leave_matrix(rank, moment._time, QUEUED if is_new else INTERRUPTED)
    _queue_again(moment, job, ran, counts=not is_new)


def _give_up_places(moment: Moment) -> None:
    """Return suspended jobs to the queue if some of their own processors will never be available again."""
    lost = moment.gone_for_good
    for rank in [rank for rank, own in moment._suspended.items() if own & lost and rank not in moment._running]:
        _queue_again(moment, moment._jobs[rank], moment._ledger.ran[rank])


def _queue_again(moment: Moment, job: Job, ran: float, counts: bool = True) -> None:
    """Return the job, which has run for `ran` seconds, to the queue. With `counts` it is counted as interrupted."""
    rank, ledger, tally = job.rank, moment._ledger, moment._tally
    if moment._suspended.pop(rank, None) is not None:
        del moment._suspended_since[rank]
        moment._history.lose_place(rank, moment._time)
        if rank == moment._awaited:
            moment._keep_processors(None)
    tally.backfilled -= ledger.backfilled[rank]
    ledger.backfilled[rank], ledger.ran[rank] = 0, work_kept(job, ran)
    moment._waiting.add(job)
    moment._interrupted.append(job)
    if counts:
        ledger.interruptions[rank] += 1
        tally.interruptions += 1
    moment._log(Interrupt(job, ran))


def work_kept(job: Job, ran: float) -> float:
    """Return how many of the `ran` seconds of progress of an interrupted job are not lost: none. With more, the job
    runs only for the rest when it starts again.
    """
    return 0.0


def reserve_nodes(moment: Moment) -> None:
    """Tell the machine the time, as reservations of nodes depend on it. Cancel the waiting jobs whose reservation is
    over, or which their users withdraw. If nodes are drained now, drop the plans.
    """
    machine = moment._machine
    if not isinstance(machine, NodeMachine):
        return
    machine.now = moment._time
    for rank in [rank for rank in machine.confined if rank in moment._waiting.jobs]:
        job = moment._waiting.jobs[rank]
        if why := machine.why_late(job):
            moment._arrived = [other for other in moment._arrived if other is not job]
            drop(moment, job, why)
            moment._kept_plan = None
    if machine.shape.is_drained_at(moment._time, MOMENT):
        moment._resized, moment._kept_plan = True, None
        _upset_plans(moment)


def drop(moment: Moment, job: Job, why: str = "") -> None:
    """Cancel a job that can never start, because of `why` or because it needs too many processors."""
    rank = job.rank
    if rank in moment._waiting.jobs:
        moment._waiting.remove(job)
        if moment._limits is not None:
            moment._limits.leave(rank)
    for planned in (moment._reserved, moment._granted, moment._expected, moment._lasts, moment._row_planned):
        planned.pop(rank, None)
    moment._interrupted = [other for other in moment._interrupted if other is not job]
    moment._dropped += (rank,)
    if moment._releases is not None:
        moment._releases.ended(rank, moment._time, is_cancelled=True)
    moment._history.give_up(rank)
    moment._log(Drop(job, moment.most, why))


def _upset_plans(moment: Moment) -> None:
    moment._upset = True
    if moment._sharing is not None:
        return
    fallen = sorted((at, rank) for rank, at in moment._reserved.items() if rank not in moment._granted)
    moment._before = moment._reserved.copy()
    moment._forget_promises()
    keep_granted(moment)
    if moment._policy.keeps_reservations:
        moment._renewed = [moment._jobs[rank] for _, rank in fallen]


def keep_granted(moment: Moment) -> None:
    """Keep granted reservations at their times. One that no longer fits is moved to the earliest later time at which it
    fits.
    """
    if moment._granted:
        plan = by_number(moment._running_plan())
        for at, rank in sorted((at, rank) for rank, at in moment._granted.items()):
            job = moment._jobs[rank]
            later = plan.place(job.procs, job.estimate, max(at, moment._time))
            if later > at + MOMENT and job.reserve is not None:
                moment._granted[rank] = moment._reserved[rank] = later
                heappush(moment._timers, (later, rank, inf))
                moment._log(Reserve(job, later, AskedFor(job.reserve)))
    moment._kept_plan = None
