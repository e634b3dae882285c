"""Application of changes of the machine during a run (sim/RULES.md): processors that become available or go down.

Maintenance is announced, so every plan contains it. An unannounced failure invalidates the plans: reservations are
dropped and made again in the pass of that instant, in the order of their starts; requested ones move only if they must.
A job on failed processors is interrupted: its work is lost, and the job returns to the queue.
"""

from __future__ import annotations

from sim.decisions.decisions import Drop, Gone, Interrupt, Returned
from sim.engine.policy_switch import keep_granted
from sim.engine.transitions import Transitions
from sim.history.stretch import INTERRUPTED, QUEUED
from sim.machine.moment import MOMENT
from sim.machine.nodes import NodeMachine
from sim.workload.model import Job
from sim.workload.outages import absent, known


class MachineChanges:
    """Changes of the machine during a run, with their effects on jobs and plans."""

    def __init__(self, transitions: Transitions) -> None:
        self._transitions, self._state, self._history = transitions, transitions.state, transitions.history

    def happen(self) -> None:
        """Apply the changes of the machine that are due now."""
        state, outages = self._state, self._transitions.future.outages
        now, was, seen = state.now, state.machine.absent, state.outages
        gone = absent(outages, now)
        state.outages = known(outages, now)
        state.look_ahead(now)
        state.resized, state.kept_plan = True, None
        if back := was & ~gone:
            self._transitions.log(Returned(back))
        lost, failed = gone & ~was, gone & absent(set(state.outages).difference(seen), now)
        self._record_outages(lost, failed)
        if lost:
            self._interrupt(lost)
        self._give_up_places()
        divided = bool(state.machine.owners)
        state.machine.lose(gone)
        if divided:
            self._history.boundaries(now, ())
        if state.sharing:
            state.sharing.matrix.resize(state.machine.there)
        state.free = state.machine.free
        for job in sorted(job for job in state.waiting.jobs.values() if job.procs > state.most):
            self.drop(job)
        future = self._transitions.future
        future.leaving[:] = sorted((time, rank) for rank, time in future.leaves.items())
        if failed or state.interrupted:
            self._upset_plans()

    def _record_outages(self, lost: int, failed: int) -> None:
        """Record in the history which processors went down now (`lost`), and which have a new failure (`failed`),
        whether they went down now or were already down.

        Processors that are only in `lost` went down for maintenance; those only in `failed` were already down.
        """
        back, log = self._state.back, self._transitions.log
        if announced := lost & ~failed:
            log(Gone(announced, back(announced), announced=True))
        if sudden := failed & lost:
            log(Gone(sudden, back(sudden), announced=False))
        elif failed:
            log(Gone(failed, back(failed), announced=False, again=True))

    def _interrupt(self, lost: int) -> None:
        """Interrupt all jobs that run on any of the processors `lost` (bits); the jobs return to the queue."""
        state, sharing = self._state, self._state.sharing
        if sharing is not None:
            for rank in [rank for rank in sorted(sharing.ran) if sharing.matrix.columns(rank) & lost]:
                self._leave_matrix(rank)
            state.machine.hold_only({rank: held for rank, held in state.machine.held.items() if rank in sharing.ran})
            return
        held = state.machine.held
        for rank in [rank for rank in sorted(state.running) if held[rank] & lost]:
            allocation = state.running[rank]
            ran = allocation.ran_by(state.now)
            self._transitions.leave(allocation, INTERRUPTED)
            state.ousted.append(allocation.job)
            self._queue_again(allocation.job, ran)

    def _leave_matrix(self, rank: int) -> None:
        state, sharing = self._state, self._state.sharing
        assert sharing is not None
        ran, is_new = sharing.ran[rank], rank in sharing.new
        state.tally.stalled -= sharing.stall[rank] * state.jobs[rank].procs
        sharing.leave(rank)
        state.ousted.append(state.jobs[rank])
        self._history.leave_matrix(rank, state.now, QUEUED if is_new else INTERRUPTED)
        self._queue_again(state.jobs[rank], ran, counts=not is_new)

    def _give_up_places(self) -> None:
        """Return suspended jobs to the queue if some of the processors on which they would resume will never be
        available again.
        """
        state = self._state
        lost = state.gone_for_good
        for rank in [rank for rank, own in state.suspended.items() if own & lost and rank not in state.running]:
            self._queue_again(state.jobs[rank], state.ledger.ran[rank])

    def _queue_again(self, job: Job, ran: float, counts: bool = True) -> None:
        """Return the job, which has made `ran` seconds of progress, to the queue. With `counts` it is counted as
        interrupted.
        """
        state, rank = self._state, job.rank
        if state.suspended.pop(rank, None) is not None:
            del state.suspended_since[rank]
            self._history.lose_place(rank, state.now)
            if rank == state.awaited:
                self._transitions.keep_processors(None)
        state.tally.backfilled -= state.ledger.backfilled[rank]
        state.ledger.backfilled[rank], state.ledger.ran[rank] = 0, work_kept(job, ran)
        state.waiting.add(job)
        state.interrupted.append(job)
        if counts:
            state.ledger.interruptions[rank] += 1
            state.tally.interruptions += 1
        self._transitions.log(Interrupt(job, ran))

    def reserve_nodes(self) -> None:
        """Tell the machine the time, as reservations of nodes depend on it. Cancel the waiting jobs whose reservation
        is over, or which their users withdraw. If nodes are drained now, drop the plans.
        """
        state = self._state
        if not isinstance(state.machine, NodeMachine):
            return
        state.machine.now = state.now
        for rank in [rank for rank in state.machine.confined if rank in state.waiting.jobs]:
            job = state.waiting.jobs[rank]
            if why := state.machine.why_late(job):
                state.arrived = [other for other in state.arrived if other is not job]
                self.drop(job, why)
                state.kept_plan = None
        if state.machine.shape.is_drained_at(state.now, MOMENT):
            state.resized, state.kept_plan = True, None
            self._upset_plans()

    def drop(self, job: Job, why: str = "") -> None:
        """Cancel a job that needs more processors than will ever be available again, or that can never start because of
        `why`.
        """
        state, rank = self._state, job.rank
        if rank in state.waiting.jobs:
            state.waiting.remove(job)
            if state.limits is not None:
                state.limits.leave(rank)
        for planned in (state.reserved, state.granted, state.expected, state.lasts, state.row_planned):
            planned.pop(rank, None)
        state.interrupted = [other for other in state.interrupted if other is not job]
        state.dropped += (rank,)
        if state.releases is not None:
            state.releases.ended(rank, state.now, is_cancelled=True)
        self._history.give_up(rank)
        self._transitions.log(Drop(job, state.most, why))

    def _upset_plans(self) -> None:
        state = self._state
        state.upset = True
        if state.sharing:
            return
        fallen = sorted((at, rank) for rank, at in state.reserved.items() if rank not in state.granted)
        state.before = dict(state.reserved)
        self._transitions.forget_reservations()
        keep_granted(self._transitions)
        if state.policy.keeps_reservations:
            state.renewed = [state.jobs[rank] for _, rank in fallen]


def work_kept(job: Job, ran: float) -> float:
    """Return how many of the `ran` seconds of progress of an interrupted job are not lost: none. With more, the job
    runs only for the rest when it starts again.
    """
    return 0.0
