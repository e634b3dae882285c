"""State of one job at one time of a run: where it is, its times on processors, and the decisions about it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import isnan, nan
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from sim.decisions.decisions import Decision, Expect, Reserve
from sim.decisions.matrix import ReserveRow
from sim.engine.snapshot import Queued, Running, Snapshot, Suspended
from sim.history.past import Past
from sim.history.stretch import Stretch
from sim.history.times import EventTimes
from sim.why.explanation import passed_by, submit_of
from sim.why.facts import NOBODY, PassedBy
from sim.workload.model import Floats, Job, Workload


class PlannedAt(NamedTuple):
    """Planned start `at` of a job; the plan was made at `time`."""

    time: float
    at: float


@dataclass(frozen=True, slots=True)
class JobState:
    """State of a job at one time of a run, with all decisions about it up to that time."""

    rank: int
    state: str
    """State of the job in words: not submitted, waiting, running, suspended, in the matrix, finished, cancelled."""
    start: float | None
    end: float | None
    planned: tuple[PlannedAt, ...]
    decided: tuple[tuple[float, Decision], ...]
    """(time, decision) of each decision about the job, in order."""
    stretches: tuple[tuple[float, float | None, str], ...]
    """(start, end, kind) of each period in which the job was on processors; the end is None if the period goes on."""
    ahead: int | None = None
    """Number of jobs ahead of the job in the queue; None if the job does not wait."""
    passed: PassedBy = NOBODY
    """Number of jobs that were submitted later but started before this job (see `PassedBy`)."""
    submit: float | None = None
    """Submit time in this run; None if it is not known yet, because the job is submitted when others have ended."""


class JobReader:
    """Reader of one job's decisions from a history; it reads each step only once and remembers the result."""

    def __init__(self, workload: Workload, rank: int) -> None:
        self._workload, self.job = workload, workload.jobs[rank]
        self._decided: list[tuple[int, Decision]] = []
        self._read = 0

    def at(self, history: Past, snapshot: Snapshot) -> JobState:
        """Return the job's state at the time of the snapshot; `history` must contain all steps up to it."""
        past, rank = history.as_of(snapshot.step), self.job.rank
        submit = submit_of(self._workload, rank, past.start_of, past.end_of, past.cancelled_at)
        job = self.job if submit is None else self.job.replaced(submit=submit)
        if self._read < snapshot.step:
            self._decided += past.decided_about(rank, min(job.submit, self.job.submit), self._read)
            self._read = snapshot.step
        told = takewhile(lambda entry: entry[0] < snapshot.step, self._decided)
        decided = tuple((past.time_of(step), decision) for step, decision in told)
        entry, end = snapshot.entry(rank), past.end_of(rank)
        return JobState(
            rank=rank,
            state=state_of(snapshot, self.job, end is not None),
            start=past.start_of(rank),
            end=end,
            planned=tuple(PlannedAt(time, d.at) for time, d in decided if isinstance(d, Reserve | ReserveRow | Expect)),
            decided=decided,
            stretches=tuple(_merged(past.of(rank))),
            ahead=len(snapshot.queue.ahead_of(rank)) if isinstance(entry, Queued) else None,
            passed=NOBODY if submit is None else passed_by(past, job, snapshot.outages, snapshot.nodes is not None),
            submit=submit,
        )


NONE_CANCELLED: Mapping[int, float] = MappingProxyType({})
"""Times of cancellations, by rank, of a run that has none"""


def submits_of(
    workload: Workload,
    ranks: Iterable[int],
    start: EventTimes,
    end: EventTimes,
    cancelled: Mapping[int, float] = NONE_CANCELLED,
) -> Floats:
    """Return the submit time of each job in the run, in seconds; NaN if it is not known yet."""

    def start_of(rank: int) -> float | None:
        return None if isnan(start[rank]) else float(start[rank])

    def end_of(rank: int) -> float | None:
        return None if isnan(end[rank]) else float(end[rank])

    found = (submit_of(workload, rank, start_of, end_of, cancelled.get) for rank in ranks)
    return np.array([nan if time is None else time for time in found])


def state_of(snapshot: Snapshot, job: Job, has_ended: bool) -> str:
    match snapshot.entry(job.rank):
        case Queued():
            return "waiting"
        case Suspended():
            return "suspended"
        case Running():
            return "in the matrix" if snapshot.matrix else "running"
        case None:
            if job.rank in snapshot.dropped:
                return "cancelled"
            return "finished" if has_ended else "not submitted"


def _merged(stretches: Sequence[Stretch]) -> list[tuple[float, float | None, str]]:
    merged: list[tuple[float, float | None, str]] = []
    for stretch in stretches:
        if merged and merged[-1][1:] == (stretch.start, stretch.kind):
            merged[-1] = (merged[-1][0], stretch.end, stretch.kind)
        else:
            merged.append((stretch.start, stretch.end, stretch.kind))
    return merged
