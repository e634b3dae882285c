"""Planned start of a waiting job: how the plan changes, which jobs pass, and which job is first in the queue."""

from __future__ import annotations

from collections.abc import Sequence

from sim.decisions.decisions import Backfill, Decision, Reserve, Resume, Start, Switched
from sim.decisions.matrix import Place, ReserveRow
from sim.decisions.reasons import MadeRoom, OfTheHead
from sim.decisions.sentences import Reason
from sim.engine.engine import Engine
from sim.life.moments import Pass, Planned, Unplanned
from sim.machine.moment import MOMENT
from sim.why.wait_reasons import Holder
from sim.workload.model import Job


class Plans:
    """Observer of one job's planned start, which is called after each step."""

    def __init__(self, engine: Engine, job: Job) -> None:
        self._engine, self._job = engine, job
        self.at: float | None = None
        self.why: Reason | None = None
        """Reason of the plan; None if the policy gives only an expected start."""
        self.head: Job | None = None
        """First job in the queue if the policy plans for one job only, otherwise None."""
        self._since_plan: list[Pass] = []
        """Starts of other jobs since the policy last planned this job."""
        self._before_plan: list[Pass] = []
        """Starts of other jobs between the last two plans that the policy made for this job."""

    def forget(self) -> None:
        self.at = self.why = self.head = None

    def see_passers(self, decisions: Sequence[Decision]) -> list[Pass]:
        """Return the starts of later jobs in this step; remember all starts, which may explain moves of the plan."""
        since, self._since_plan, self._before_plan = self._since_plan, [], []
        passes: list[Pass] = []
        for decision in decisions:
            if isinstance(decision, Reserve | ReserveRow) and decision.job is self._job:
                self._before_plan += since + self._since_plan
                since, self._since_plan = [], []
            elif isinstance(decision, Start | Backfill | Place | Resume):
                if decision.job is self._job:
                    break
                behind = not self._engine.moment.is_before(decision.job, self._job)
                began = Pass(self._engine.now, decision.job, behind)
                self._since_plan.append(began)
                if (decision.job.submit, decision.job.rank) > (self._job.submit, self._job.rank):
                    passes.append(began)
        return passes

    def see_step(
        self, decisions: Sequence[Decision], freed: tuple[Holder, ...], waits: bool
    ) -> Planned | Unplanned | None:
        """Return the change of the planned start in this step, or None; `freed` jobs ended, `waits`: still waiting."""
        self._see_head(decisions)
        engine, was, at = self._engine, self.at, self._planned_in(decisions)
        if at == was or (at is None and not waits):
            return None
        self.at = at
        if at is None:
            return None if was is None else Unplanned(engine.now, was, self.head)
        early = tuple(holder for holder in freed if holder.until > engine.now)
        promised = engine.moment.promises and self.why is not None
        return Planned(engine.now, at, was, self.why, early, self._passers(was), self._newcomers(), promised)

    def _see_head(self, decisions: Sequence[Decision]) -> None:
        for decision in decisions:
            if isinstance(decision, Switched):
                self.head = None
            elif isinstance(decision, Reserve) and isinstance(decision.because, OfTheHead):
                self.head = decision.job
        moment, stand = self._engine.moment, self._engine.moment.rules.keeps_reservations
        reserved = moment.reserved.keys() - moment.granted.keys()
        if self.head is None and len(reserved) == 1 and self._job.rank not in reserved and not stand:
            self.head = moment.jobs[next(iter(reserved))]  # was planned before this job arrived
        if self.head is not None and self.head.rank not in reserved:
            self.head = None

    def _planned_in(self, decisions: Sequence[Decision]) -> float | None:
        rank = self._job.rank
        at = self._engine.moment.reserved.get(rank)
        if at is None:
            at, self.why = self._engine.moment.expected.get(rank), None
        for decision in decisions:
            if isinstance(decision, Reserve | ReserveRow) and decision.job is self._job:
                at, self.why = decision.at, decision.because
        return at

    def _passers(self, was: float | None) -> tuple[Job, ...]:
        """Return the jobs that passed and delay this one: without them it would fit at `was`, its previous plan."""
        if isinstance(self.why, MadeRoom):
            return (self.why.passer,)
        moment, job = self._engine.moment, self._job
        if was is None or moment.takes_turns:
            return ()
        then = {rank: procs for end, rank, procs in moment.ends if end > was + MOMENT}
        passers = {p.job.rank: p.job for p in self._before_plan if p.job.rank in then}
        lacking = sum(then.values()) + job.procs - moment.procs
        return tuple(passers.values()) if 0 < lacking <= sum(then[rank] for rank in passers) else ()

    def _newcomers(self) -> tuple[Job, ...]:
        moment, job = self._engine.moment, self._job
        return tuple(other for other in moment.arrived if other is not job and moment.is_before(other, job))
