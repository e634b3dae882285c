"""Evidence for why a job waits or has started, from one snapshot, in three levels.

First a few sentences, the most important first (`sim.why.wait_sentences`). Then the numbers behind them
(`sim.why.facts`). Last all decisions of this pass. A job that the policy rejected is told apart from a job that it did
not consider.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from sim.decisions.decisions import Backfill, Decision, Keep, Resume, Start, Suspend, job_of
from sim.decisions.matrix import Place
from sim.decisions.sentences import jobs_in, say
from sim.engine.snapshot import Entry, Queued, Running, Snapshot, Suspended
from sim.support.formatting import Clock, clock_near
from sim.why import facts as f
from sim.why.snapshot_facts import enough_for, facts_of_running, facts_of_suspended, facts_of_waiting, sitters_of
from sim.why.wait_sentences import considered_in, is_suspended, runs, waits
from sim.workload.model import Job

Status = Literal["started", "runs", "rejected", "planned", "not considered"]


class Considered(NamedTuple):
    """Decision of this pass: `is_own` if it is about the job of the evidence, `touches` if it concerns it otherwise."""

    decision: Decision
    is_own: bool
    touches: bool


@dataclass(frozen=True)
class Evidence:
    """Three levels of evidence about one job: sentences, facts and decisions; each is computed when needed."""

    snapshot: Snapshot
    entry: Entry
    at: Clock
    """Function that returns a time as text."""
    passed: f.PassedBy
    """Number of jobs that arrived later and started while this job waited, as far as the caller knows it."""

    @property
    def job(self) -> Job:
        return self.entry.job

    @cached_property
    def status(self) -> Status:
        if self._began is not None:
            return "started"
        match self.entry:
            case Running():
                return "runs"
            case Queued(why=None, planned=None):
                return "not considered"
            case Queued(why=why):
                return "planned" if why is None else "rejected"
            case Suspended(job=job):
                if job.rank == self.snapshot.awaited:
                    return "planned"
                return "not considered" if self._kept is None else "rejected"

    @cached_property
    def clauses(self) -> tuple[str, ...]:
        """Return clauses, the most important first: the last ones can be left out if space is short."""
        began = () if self._began is None else (f"{say(self._began, self.at)}.",)
        return (*began, *self._present_clauses())

    @cached_property
    def facts(self) -> tuple[f.Fact, ...]:
        match self.entry:
            case Queued() as queued:
                return tuple(facts_of_waiting(self.snapshot, queued, self._enough, self.passed))
            case Suspended() as halted:
                return tuple(facts_of_suspended(self.snapshot, halted, self._kept))
            case Running() as running:
                return tuple(facts_of_running(self.snapshot, running, self._began))

    @cached_property
    def log(self) -> tuple[Considered, ...]:
        return tuple(Considered(d, job_of(d) == self.job, _touches(d, self.job)) for d in self._considered)

    def _present_clauses(self) -> Iterator[str]:
        match self.entry:
            case Queued() as queued:
                before = len(self.snapshot.queue.ahead_of(queued.job.rank))
                return waits(self.snapshot, queued, before, self._enough, self.passed, self.at)
            case Suspended() as halted:
                return is_suspended(self.snapshot, halted, sitters_of(self.snapshot, halted), self._kept, self.at)
            case Running() as running:
                return runs(running, self.at)

    @property
    def _considered(self) -> Iterable[Decision]:
        return considered_in(self.snapshot)

    @cached_property
    def _began(self) -> Start | Backfill | Place | Resume | None:
        if not isinstance(self.entry, Running):
            return None
        begun = (d for d in self.snapshot.decisions if isinstance(d, Start | Backfill | Place | Resume))
        return next((d for d in begun if d.job.rank == self.job.rank), None)

    @cached_property
    def _kept(self) -> Keep | Suspend | None:
        kept = (d for d in self._considered if isinstance(d, Keep | Suspend))
        return next((d for d in kept if d.job.rank == self.job.rank), None)

    @cached_property
    def _enough(self) -> f.Enough | None:
        return enough_for(self.snapshot, self.job)


def evidence_of(
    snapshot: Snapshot, rank: int, at: Clock | None = None, passed: f.PassedBy = f.NOBODY
) -> Evidence | None:
    """Return the evidence about a job, None if it has ended or not arrived; `at` writes times."""
    entry = snapshot.entry(rank)
    return None if entry is None else Evidence(snapshot, entry, at or clock_near(snapshot.time or 0), passed)


# Decisions of the pass


def _touches(decision: Decision, job: Job) -> bool:
    if job_of(decision) in (job, None):
        return False
    if isinstance(decision, Start | Backfill | Resume | Suspend | Place):
        return True
    return job in jobs_in(getattr(decision, "because", None))
