"""Reasons in a few words, for a column of a table; `sim.sentences` says them whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim import decisions as d
from sim import matrix_decisions as m
from sim.words import Clock, clock, name, span, spelled
from sim.workload.model import Job


def brief(reason: d.Reason, job: Job, at: Clock = clock) -> str:
    """Why the job was kept waiting, in a few words and numbers.

    >>> brief(d.TooFewFree(free=40), Job(0, "17", submit=0, procs=64, estimate=3600))
    '64 > 40 free'
    """
    told = BRIEF.get(type(reason))
    return told(reason, job, at) if told else spelled(type(reason).__name__)


BRIEF: dict[type, Callable[[Any, Job, Clock], str]] = {
    d.TooFewFree: lambda r, job, at: f"{job.procs:,} > {r.free:,} free",
    d.WouldDelay: lambda r, job, at: f"would delay {name(r.head)}",
    d.PlannedLater: lambda r, job, at: f"room only from {at(r.at)}",
    d.WindowCloses: lambda r, job, at: f"ends past {name(r.head)}'s window",
    d.BreaksBound: lambda r, job, at: f"breaks {name(r.other)}'s bound",
    d.WaitsForOwn: lambda r, job, at: f"{r.busy:,} of its own taken",
    d.NoVictims: lambda r, job, at: f"no {r.factor:.12g} times smaller xfactors",
    d.NoSliceOver: lambda r, job, at: f"no slice of {span(r.slice)} is over",
    d.PivotLater: lambda r, job, at: f"pivot: {job.procs:,} > {r.free:,} free",
    d.WouldDelayPivot: lambda r, job, at: f"would delay {name(r.pivot)}",
    d.TouchesReservation: lambda r, job, at: f"needs what {name(r.other)} reserved",
    d.TrialLater: lambda r, job, at: f"first run at {at(r.at)}",
    d.WaitsForReserved: lambda r, job, at: "as its user asked",
    d.NotYet: lambda r, job, at: "starts later in the trace",
    m.FitsNoRow: lambda r, job, at: f"{job.procs:,} > {r.free:,} free in any row",
    m.OwnColumnsTaken: lambda r, job, at: "its columns are taken",
}
