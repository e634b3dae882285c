"""Explanation of a job at a moment of a run, as a notebook shows it: sentences, and the numbers behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sim.decisions.decisions import Drop
from sim.decisions.sentences import say
from sim.engine.snapshot import Snapshot
from sim.history.past import Past
from sim.history.stretch_queries import in_the_way_of, passers_of
from sim.support.formatting import clock_near, name, printable
from sim.why.evidence import ended, evidence_of, to_come
from sim.why.facts import PassedBy, fact_row
from sim.workload.follows import After, Time, is_failing
from sim.workload.model import Job, Workload
from sim.workload.outages import Outage


@dataclass(frozen=True)
class Explanation:
    """Explanation of why a job waits, is suspended, runs or has ended, at one time of a run."""

    job: Job
    sentences: tuple[str, ...]
    numbers: tuple[tuple[str, str], ...] = ()
    """Numbers behind the sentences: pairs (label, number as text)."""

    def __str__(self) -> str:
        margin = max((len(label) for label, _ in self.numbers), default=0) + 2
        return "\n".join([*self.sentences, *(f"{label:<{margin}}{value}" for label, value in self.numbers)])

    def __repr__(self) -> str:
        return f"<Explanation of {name(self.job)}: {printable(' '.join(self.sentences))}>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def explain(workload: Workload, past: Past, snapshot: Snapshot, rank: int) -> Explanation:
    """Return the explanation of the job of this rank at the time of a snapshot; `past` is the history up to then."""
    submit = submit_of(workload, rank, past.start_of, past.end_of, past.cancelled_at)
    at = clock_near(snapshot.time or 0)
    job = workload.jobs[rank] if submit is None else workload.jobs[rank].replaced(submit=submit)
    found = evidence_of(snapshot, rank, at, passed_by(past, job, snapshot.outages, snapshot.nodes is not None))
    if found is not None:
        return Explanation(job, found.clauses, tuple(fact_row(fact, at) for fact in found.facts))
    if rank in snapshot.dropped:
        made = (decision for _, decision in past.decided_about(rank, min(job.submit, workload.jobs[rank].submit)))
        why = next((say(each, at) for each in made if isinstance(each, Drop)), f"{name(job)} is cancelled")
        return Explanation(job, (f"{why}.",))
    end = past.end_of(rank)
    if end is None:
        return Explanation(job, (to_come(job, at, submit),))
    return Explanation(job, (ended(job, past.start_of(rank), end, at, bool(workload.killed[rank])),))


def submit_of(workload: Workload, rank: int, start_of: Time, end_of: Time, cancelled_at: Time) -> float | None:
    """Return a job's submit time in a run; None until it is known by starts and ends of other jobs."""
    job, follow = workload.jobs[rank], workload.follows[rank] if workload.follows else None
    if follow is None:
        return job.submit

    def met(one: After) -> float | None:
        if (gone := cancelled_at(one.job)) is not None:
            return one.met_after(start_of, gone)
        is_bad = is_failing(bool(workload.killed[one.job]), int(workload.status[one.job]))
        return one.met_at(start_of, end_of, is_bad)

    found = [met(one) for one in follow.after]
    known = [time for time in found if time is not None]
    if not known or (len(known) < len(found) and not follow.is_any):
        return cancelled_at(rank)  # a job whose condition cannot be met is cancelled when it is submitted
    last = min(known) if follow.is_any else max(known)
    return max(follow.due(job.submit, last), last)


def passed_by(past: Past, job: Job, outages: Sequence[Outage] = (), on_nodes: bool = False) -> PassedBy:
    """Return how many later jobs started during the wait and, but on nodes, how many held what the job needed."""
    passers = passers_of(past, job.rank, job.submit)
    found = None if on_nodes else in_the_way_of(past, job, passers, outages)
    return PassedBy(len(passers), None if found is None else len(found.passers))
