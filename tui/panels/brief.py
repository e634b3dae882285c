"""Reasons in a few words, for a column of a table; `sim.decisions.sentences` says them whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.words import Clock, clock, name, span, spelled
from sim.workload.model import Job

Said: TypeAlias = tuple[str, ...]
"""One thing in several ways, the fullest first: a column takes the first for which it has room."""


def brief(reason: d.Reason, job: Job, at: Clock = clock) -> Said:
    """Why the job was kept waiting, in a few words and numbers.

    >>> brief(d.TooFewFree(free=40), Job(0, "17", submit=0, procs=64, estimate=3600))
    ('64 > 40 free', '64 > 40')
    """
    told = BRIEF.get(type(reason))
    return told(reason, job, at) if told else (spelled(type(reason).__name__),)


def too_few(job: Job, free: int) -> Said:
    """It needs more than there is."""
    return f"{job.procs:,} > {free:,} free", f"{job.procs:,} > {free:,}"


BRIEF: dict[type, Callable[[Any, Job, Clock], Said]] = {
    d.TooFewFree: lambda r, job, at: too_few(job, r.free),
    d.WouldDelay: lambda r, job, at: (f"would delay {name(r.head)}", f"delays {name(r.head)}", f"for {name(r.head)}"),
    d.PlannedLater: lambda r, job, at: (f"room only from {at(r.at)}", f"room {at(r.at)}", "room later"),
    d.WindowCloses: lambda r, job, at: (f"ends past {name(r.head)}'s window", "past a window"),
    d.BreaksBound: lambda r, job, at: (f"breaks {name(r.other)}'s bound", "breaks bound"),
    d.WaitsForOwn: lambda r, job, at: (f"{r.busy:,} of its own taken", f"{r.busy:,} taken"),
    d.NoVictims: lambda r, job, at: (f"no {r.factor:.12g} times smaller xfactors", "no victims"),
    d.NoSliceOver: lambda r, job, at: (f"no slice of {span(r.slice)} is over", "no slice over", "no slice"),
    d.PivotLater: lambda r, job, at: (f"pivot: {job.procs:,} > {r.free:,} free", *too_few(job, r.free)),
    d.WouldDelayPivot: lambda r, job, at: (
        f"would delay {name(r.pivot)}",
        f"delays {name(r.pivot)}",
        f"for {name(r.pivot)}",
    ),
    d.TouchesReservation: lambda r, job, at: (f"needs what {name(r.other)} reserved", f"for {name(r.other)}"),
    d.TrialLater: lambda r, job, at: (f"first run at {at(r.at)}", f"runs {at(r.at)}", "a run later"),
    d.WaitsForReserved: lambda r, job, at: ("as its user asked", "user's wish"),
    d.NotYet: lambda r, job, at: ("starts later in the trace", "trace: later"),
    m.FitsNoRow: lambda r, job, at: (f"{job.procs:,} > {r.free:,} free in any row", *too_few(job, r.free)),
    m.OwnColumnsTaken: lambda r, job, at: ("its columns are taken", "columns busy"),
}
