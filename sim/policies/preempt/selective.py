"""Selective suspension, and its tunable form (Kettimuthu chapter 3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, inf
from typing import TYPE_CHECKING

from sim.decisions.reasons import Outranked
from sim.decisions.reasons_to_wait import NoVictimAllowed, NoVictims, TurnOver
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT, is_by, whole
from sim.policies.orders import Order, Xfactor
from sim.policies.parameters import parameter
from sim.policies.preempt.remembering import Remembering
from sim.policies.preempt.xfactors import expansion, is_too_wide, reaches, widest
from sim.policies.registry import policy
from sim.workload.categories import TAU
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment
    from sim.engine.stay import Stay


@policy("selective", "K sections 3.1 to 3.3", ss="selective")
@dataclass(frozen=True)
class Selective(Remembering):
    """An idle job may suspend running ones whose expansion factor is smaller by the suspension factor sf.

    xfactor = (wait + estimate) / estimate; wait is all time since submit that the job did not run, so it grows while
    the job is idle. At every instant idle jobs, the largest xfactor first, take free processors; at every tick they may
    preempt. A job does not suspend one more than twice as wide. There are no reservations: the xfactor of a waiting
    job grows until it may preempt. The limits are those of the text of K section 3.2: at least sf times, at most twice
    as wide. The formula in K section 3.3 has "more than sf times", and the ratio of the widths upside down.
    """

    sf: float = parameter(2.0, "how many times larger the xfactor must be to suspend (K section 3.1)", low=1.0)
    tick: float = parameter(60.0, "seconds between attempts to preempt (K section 3.2)", low=1.0)

    def decide(self, now: Moment) -> None:
        """Let idle jobs take free processors and, at a tick, preempt (`_preempt_in_turn`, K's preemption routine).

        The *threshold* of a running job is its xfactor (K: suspension threshold). The *toll* of an idle job is the
        xfactor from which it may preempt. `known_threshold` and `known_toll` return what `threshold` and `toll` do,
        but remember results (`Remembering`). A *claim* is a set of processors that suspended jobs still have to leave,
        for the job that suspended them.
        """
        self.claims_come_true(now)
        self._take_free(now)
        last = self._last_tick(now)
        is_tick = now.time - last * self.tick <= MOMENT
        if is_tick:
            self._preempt_in_turn(now)
        else:
            self.keep_idle(now)
        self._skip_ticks(now, is_tick, (last + 1) * self.tick)

    def line_order(self) -> Order:
        return Xfactor()

    def _last_tick(self, now: Moment) -> float:
        """Return the number of the last tick up to now; each tick is at its number times `tick` seconds."""
        nearest = floor(now.time / self.tick + 0.5)
        return nearest if is_by(nearest * self.tick, now.time) else nearest - 1

    def _take_free(self, now: Moment) -> None:
        roomy = self.roomy(now)
        if len(roomy) == 1:
            self.take_room(now, roomy[0])
        elif len(roomy):
            idle = now.new_ranking()
            for job in roomy:
                idle.add(job, self.xfactor(now, job))
            for job in idle.down():
                if self.fits(now, job):
                    self.take_room(now, job)

    def _preempt_in_turn(self, now: Moment) -> None:
        for job in self.in_turn(now):
            if self.fits(now, job):
                self.take_room(now, job)
            elif reaches(self.xfactor(now, job), self.known_toll(now, job), job.estimate):
                self._preempt(now, job)
        self.keep_without_turn(now)

    def price(self, now: Moment, job: Job, other: Job) -> float:
        return inf if is_too_wide(other.procs, job.procs) else self.sf * self.known_threshold(now, other)

    def toll(self, now: Moment, job: Job) -> float:
        """Return the xfactor from which the idle job may preempt; infinite if it may not suspend enough jobs.

        A job that must resume on its own processors has to suspend all jobs there, so all must be allowed (K section
        3.3). Any other job has to suspend those with the lowest xfactors, until enough processors are free.
        """
        if self.needs_own(now, job):
            others = self.on_own(now, job)  # the last has the highest threshold
            if is_too_wide(widest(others), job.procs):
                return inf
            return self.price(now, job, others[-1]) if others else 0.0
        needed = job.procs - self.count_unclaimed(now)
        for other in self.by_threshold(now):
            if not is_too_wide(other.procs, job.procs):
                needed -= other.procs
                if needed <= 0:
                    return self.price(now, job, other)
        return inf

    def _preempt(self, now: Moment, job: Job) -> None:
        mine = self.xfactor(now, job)
        allowed = now.new_ranking()
        others = self.on_own(now, job) if self.needs_own(now, job) else self.by_threshold(now)
        for other in others:
            if reaches(mine, self.price(now, job, other), job.estimate):
                allowed.add(other, self.known_threshold(now, other))
        victims = allowed.up() if self.needs_own(now, job) else self.victims_among(now, job, allowed.up())
        for victim in victims:
            because = Outranked(job, mine, self.xfactor(now, victim), self.sf)
            now.suspend(victim, because, self.overhead(victim))
        self.take_over(now, job, victims)

    def _skip_ticks(self, now: Moment, is_tick: bool, soon: float) -> None:
        """Request a pass at the first tick at which an idle job can start or preempt: at `soon` (the next) or later.

        K's routine runs at every tick; ticks that change nothing are skipped. The end of a job brings a pass anyway.
        """
        end = self.next_end(now)
        if soon < end:
            # at a tick, jobs that were suspended after the turn of an idle job may have left room for it
            first = soon if is_tick and len(self.roomy(now)) else self.first_payable(now, soon, end)
            at = max(soon, ceil(first / self.tick) * self.tick) if first < end else end
            if at < end:
                now.wake_once(at)

    def xfactor(self, now: Moment, job: Job) -> float:
        return expansion(now.time - job.submit - now.ran(job.rank), job.estimate)

    def threshold(self, now: Moment, run: Stay) -> float:
        xfactor = expansion(run.since - run.job.submit - run.ran_before, run.job.estimate)
        return inf if self.protects(now, run.job, xfactor) else xfactor

    def protects(self, now: Moment, job: Job, its_xfactor: float) -> bool:
        return False

    # Why a job waits

    def why_nobody(self, now: Moment, job: Job) -> Reason:
        if not now.in_time(job):
            return self.obstacle(now, job)
        mine, pinned = self.xfactor(now, job), self.pinned(now, job.rank)
        others = [run for rank, run in now.running.items() if pinned is None or now.held(rank) & pinned]
        if self.fits(now, job):
            return TurnOver()
        if pinned is not None and not others:
            return self.obstacle(now, job)
        outranked = [
            run.job for run in others if run.runs and reaches(mine, self.sf * self.xfactor(now, run.job), job.estimate)
        ]
        found = sum(other.procs for other in outranked) + self.count_unclaimed(now)
        if len(outranked) < len(others) if pinned is not None else found < job.procs:
            return NoVictims(mine, self.sf)
        wide = [other for other in outranked if is_too_wide(other.procs, job.procs)]
        spared = [
            other for other in outranked if self.protects(now, other, self.xfactor(now, other)) and other not in wide
        ]
        left = sum(other.procs for other in outranked if other not in wide and other not in spared)
        if not (wide or spared) or (pinned is None and left + self.count_unclaimed(now) >= job.procs):
            return TurnOver()
        return NoVictimAllowed(mine, self.sf, len(wide), len(spared))


@policy("tunable", "K section 3.5", tss="tunable")
@dataclass(frozen=True)
class Tunable(Selective):
    """Selective suspension that protects jobs whose expansion factor exceeds a limit.

    A job is not suspended while its xfactor exceeds `limit` times the mean bounded slowdown of the finished jobs of its
    category (K table 2.1, by estimate). The slowdown is 1 + idle time / max(run, 10 s); before a job has finished there
    is no limit. After a switch to this policy the jobs finished before count, too.
    """

    limit: float = parameter(
        1.5, "xfactor above which a job is not suspended, in mean slowdowns of its category (K section 3.5.1)", low=0.0
    )

    def decide(self, now: Moment) -> None:
        for job, end in self.newly_finished(now):
            ran = now.ran(job.rank)
            self.count(now, job, whole(end - job.submit - ran) / max(ran, TAU))
        self.review(now)
        super().decide(now)

    def protects(self, now: Moment, job: Job, its_xfactor: float) -> bool:
        count = self.counted(now, job)
        return count > 0 and not reaches(self.limit * self.slowdowns(now, job) / count, its_xfactor, job.estimate)
