"""Selective suspension, and its tunable form (Kettimuthu chapter 3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf

from sim.decisions.reasons import Outranked
from sim.decisions.reasons_to_wait import NoVictimAllowed, NoVictims, TurnOver
from sim.decisions.sentences import Reason
from sim.machine.moment import MOMENT, whole
from sim.policies.calls import Pass, by_calls
from sim.policies.orders import Order, Xfactor
from sim.policies.parameters import parameter
from sim.policies.preempt.ladder import Ladder
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.tolls import Tolls, xfactor
from sim.policies.registry import policy
from sim.policies.view import RunningJob, View
from sim.workload.categories import TAU, category_of
from sim.workload.model import Job


@policy("selective", "K sections 3.1 to 3.3", ss="selective")
@dataclass(frozen=True)
class Selective(Preemptive):
    """An idle job may suspend running ones whose expansion factor is smaller by the suspension factor sf.

    xfactor = (wait + estimate) / estimate; wait is all time since submit that the job did not run, so it grows while
    the job is idle. At every instant idle jobs, the largest xfactor first, take free processors; at every tick they may
    preempt. A job does not suspend one more than twice as wide. There are no reservations: the xfactor of a waiting
    job grows until it may preempt.
    """

    sf: float = parameter(2.0, "how many times larger the xfactor must be to suspend (K section 3.1)", low=1.0)
    tick: float = parameter(60.0, "seconds between attempts to preempt (K section 3.2)", low=1.0)

    @by_calls
    def decide(self, now: Pass) -> None:
        self.claims_come_true(now)
        if now.resized:
            now.notes.pop("tolls", None)
        tolls, tick = self._tolls(now), self._last_tick(now.time)
        has_ticked = now.time - tick * self.tick <= MOMENT
        came: list[Job] = []
        if is_calm := tolls.stood == _stand(now) and not has_ticked:
            for job in now.arrived:
                if self.fits(now, job):
                    self.take_room(now, job)
                else:
                    came.append(job)
            self.keep_idle(now)
        else:
            tolls.look(now)  # suspended victims may resume at once
            self._take_free(now)
            if has_ticked:
                self._preempt_in_turn(now, tolls)
            else:
                self.keep_idle(now)
        ends = now.ends
        end = ends[0][0] if ends else inf
        soon = (tick + 1) * self.tick
        if soon < end:  # every end of a job triggers a full check
            if is_calm:
                tolls.first = tolls.soonest_of(now, came, soon, tolls.first)
            elif has_ticked and self.roomy(now):
                tolls.first = now.time
            else:
                tolls.first = tolls.soonest(now, soon, end)
            at = max(soon, ceil(tolls.first / self.tick) * self.tick) if tolls.first < inf else inf
            if at < end:
                now.wake_once(at)
        tolls.stood = None if has_ticked or tolls.moving else _stand(now)

    def _take_free(self, now: Pass) -> None:
        """Start or resume the idle jobs that fit, the largest xfactor first."""
        idle = now.new_ranking()
        for job in self.roomy(now):
            idle.add(job, xfactor(now, job))
        for job in idle.down():
            if self.fits(now, job):
                self.take_room(now, job)

    def line_order(self) -> Order:
        return Xfactor()

    def height(self, view: View, run: RunningJob) -> float:
        """Return a running job's xfactor, which is constant while it runs; inf if it may not be suspended."""
        job = run.job
        height = (whole(run.since - job.submit - run.ran_before) + job.estimate) / job.estimate
        return inf if not run.runs or self.spares(view, job, height) else height

    def spares(self, view: View, job: Job, its_xfactor: float) -> bool:
        """Return True if the policy protects the running job `job`, which has this xfactor, from being suspended."""
        return False

    def _tolls(self, view: View) -> Tolls:
        """Return the table of tolls: for each idle job the xfactor that it must exceed to suspend others. It is kept in
        `view.notes`.
        """
        if "tolls" not in view.notes:
            view.notes["tolls"] = Tolls(self, self.memory)
        tolls: Tolls = view.notes["tolls"]
        return tolls

    def _preempt_in_turn(self, now: Pass, tolls: Tolls) -> None:
        """Let each job that is idle now preempt once if it may: the largest xfactor first, then by rank."""
        idle, seated = self.idle(now) if now.curious else [], set(now.running)
        last = (-inf, -1)
        while turns := [turn for turn in tolls.payers(now) if turn > last and turn[1] not in seated]:
            last = min(turns)
            job = now.job(last[1])
            if self.fits(now, job):
                self.take_room(now, job)
            else:
                self._preempt(now, tolls.ladder, job)
            seated.add(job.rank)
        for job in idle:
            if job.rank not in seated:
                now.keep(job, self._why_nobody(now, job))

    def _preempt(self, now: Pass, ladder: Ladder, job: Job) -> None:
        mine, pinned = xfactor(now, job), self.pinned(now, job.rank)
        if pinned is not None:
            victims = [other for _, _, other, processors in ladder.rungs if processors & pinned]
        else:
            outranked = [other for theirs, _, other, _ in ladder.rungs if mine >= self.sf * theirs]
            victims = self.victims_among(now, job, [each for each in outranked if job.procs >= each.procs / 2])
        for victim in victims:
            self.suspend(now, victim, Outranked(job, mine, xfactor(now, victim), self.sf))
        self.take_over(now, job, victims)

    def _why_nobody(self, view: View, job: Job) -> Reason:
        """Return the reason why the job may suspend none of the running jobs: maintenance, too small an xfactor, or
        protected jobs.
        """
        if not view.in_time(job):
            return self.obstacle(view, job)
        mine, pinned = xfactor(view, job), self.pinned(view, job.rank)
        others = [stint for rank, stint in view.running.items() if pinned is None or view.held(rank) & pinned]
        if self.fits(view, job):
            return TurnOver()
        if pinned is not None and not others:
            return self.obstacle(view, job)
        outranked = [s.job for s in others if s.runs and mine >= self.sf * xfactor(view, s.job)]
        found = sum(other.procs for other in outranked) + self.count_unclaimed(view)
        if len(outranked) < len(others) if pinned is not None else found < job.procs:
            return NoVictims(mine, self.sf)
        wide = [other for other in outranked if job.procs < other.procs / 2]
        spared = [other for other in outranked if self.spares(view, other, xfactor(view, other)) and other not in wide]
        left = sum(other.procs for other in outranked if other not in wide and other not in spared)
        if not (wide or spared) or (pinned is None and left + self.count_unclaimed(view) >= job.procs):
            return TurnOver()
        return NoVictimAllowed(mine, self.sf, len(wide), len(spared))

    def _last_tick(self, now: float) -> int:
        """Return the number of the last tick at or before `now`; ticks are the times at which jobs may preempt."""
        nearest = round(now / self.tick)
        return nearest if nearest * self.tick <= now else nearest - 1


def _stand(view: View) -> tuple[int, int, int]:
    """Return (free processors as bits, number of running jobs, number of suspended jobs).

    At least one of them differs after a job has started to run or has left its processors.
    """
    return view.free_set, len(view.running), len(view.suspended)


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

    @by_calls
    def decide(self, now: Pass) -> None:
        ended = [(now.time, job.rank) for job in now.completed] if "finished" in now.notes else now.finished
        count, total = now.notes.setdefault("finished", {}), now.notes.setdefault("slowdown", {})
        for end, rank in ended:
            job, ran = now.job(rank), now.ran(rank)
            kind = category_of(job.estimate, job.procs)
            count[kind] = count.get(kind, 0) + 1
            total[kind] = total.get(kind, 0) + 1 + whole(end - job.submit - ran) / max(ran, TAU)
        if now.completed:
            self._unsettle(now, {category_of(job.estimate, job.procs) for job in now.completed})
        super().decide(now)

    def _unsettle(self, view: View, kinds: set[int]) -> None:
        """Record that the limits of these categories have changed, so that the xfactors of their running jobs are
        looked at again.
        """
        jobs = map(view.job, view.running)
        tolls = self._tolls(view)
        alike = (job.rank for job in jobs if category_of(job.estimate, job.procs) in kinds)
        tolls.unsettled = {*tolls.unsettled, *alike}

    def spares(self, view: View, job: Job, its_xfactor: float) -> bool:
        kind = category_of(job.estimate, job.procs)
        notes = view.notes
        count = notes["finished"].get(kind, 0)
        return bool(count > 0 and its_xfactor > self.limit * notes["slowdown"][kind] / count)
