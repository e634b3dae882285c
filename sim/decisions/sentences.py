"""Decisions and reasons in words: the one module that says them, so that every screen says the same.

`say` is for a decision, `why` for a reason alone. Both are without a full stop, `why` without a capital: the caller
puts them together. A new type needs one line in `REASONS` or `DECISIONS` (those of the matrix are in
`sim.decisions.matrix_sentences`); until it has one, it is said by its name and its fields. Moments are written by a
function that the caller may choose, so that a line can leave out the day.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sim.decisions import decisions as d
from sim.decisions.matrix_sentences import MATRIX_DECISIONS, MATRIX_REASONS
from sim.words import Clock, clock, listed, name, processors, span, spelled
from sim.workload.model import Job

# Reasons


def why(reason: d.Reason, job: Job, at: Clock = clock) -> str:
    """Why that was done with `job`, or not done, with the numbers that made the difference.

    >>> why(d.TooFewFree(free=40), Job(0, "17", submit=0, procs=64, estimate=3600))
    'needs 64, 40 free'
    """
    told = REASONS.get(type(reason))
    return told(reason, job, at) if told else in_words(reason)


def _ends_before(reason: d.EndsBefore, job: Job, at: Clock) -> str:
    if reason.ends == reason.shadow:
        return f"ends at {at(reason.ends)}, just when {name(reason.head)} is to start"
    return f"ends at {at(reason.ends)}, before {name(reason.head)}'s start at {at(reason.shadow)}"


def _within_bounds(reason: d.WithinBounds, job: Job, at: Clock) -> str:
    if reason.tightest is None:
        return "no other job waits whose bound it could break"
    who = name(reason.tightest)
    if reason.margin < 0:
        return f"the others keep their bounds, except {who}, which misses its own by {span(-reason.margin)} in any case"
    return f"all others keep their bounds, {who} with {span(reason.margin)} to spare"


def _as_recorded(reason: d.AsRecorded, job: Job, at: Clock) -> str:
    if reason.recorded is None:
        return "it fits, and the trace does not say when it started"
    if not reason.late:
        return "the trace says that it started now"
    return f"the trace says that it started at {at(reason.recorded)}, {span(reason.late)} earlier"


def _borrowed(reason: d.PivotDue | d.DelaysNoPivot) -> str:
    return f", {reason.borrowed} borrowed" if reason.borrowed else ""


def _its_own(job: Job) -> str:
    return "its own processor is" if job.procs == 1 else f"its own {processors(job.procs)} are"


def _waits_for_own(reason: d.WaitsForOwn, job: Job, at: Clock) -> str:
    if reason.busy == job.procs:
        return f"{_its_own(job)}{' all' * (job.procs > 1)} taken"
    return f"{reason.busy:,} of its own {processors(job.procs)} {'is' if reason.busy == 1 else 'are'} taken"


REASONS: dict[type, Callable[[Any, Job, Clock], str]] = {
    # Why a job starts
    d.InOrder: lambda r, job, at: f"its turn has come and it fits: needs {job.procs}, {r.free} free",
    d.Fits: lambda r, job, at: f"it fits: needs {job.procs}, {r.free} free",
    d.EndsBefore: _ends_before,
    d.FitsExtra: lambda r, job, at: (
        f"needs {job.procs} of the {r.extra} extra processors that {name(r.head)} leaves free at {at(r.shadow)}"
    ),
    d.Due: lambda r, job, at: "its planned start has come",
    d.Planned: lambda r, job, at: "the plan made just now starts it at once",
    d.InWindow: lambda r, job, at: (
        f"ends at {at(r.ends)}, within the window for {name(r.head)} that closes at {at(r.closes)}"
    ),
    d.WithinBounds: _within_bounds,
    d.AsRecorded: _as_recorded,
    d.OwnFree: lambda r, job, at: f"{_its_own(job)} free",
    d.Preempts: lambda r, job, at: f"takes the place of {listed(map(name, r.victims)) or 'nobody'}",
    d.Claimed: lambda r, job, at: "those that were suspended for it have left",
    d.PivotDue: lambda r, job, at: (
        f"heads partition {r.partition}'s queue and its planned start has come{_borrowed(r)}"
    ),
    d.EndsBeforePivot: lambda r, job, at: (
        f"ends at {at(r.ends)}, by the start of the pivot {name(r.pivot)} at {at(r.start)}; "
        f"needs {job.procs}, {r.idle} idle in its partition"
    ),
    d.SparesPivot: lambda r, job, at: (
        f"needs {job.procs}, {r.idle} idle in its partition, and the pivot {name(r.pivot)} leaves {r.extra} extra "
        f"at {at(r.start)}"
    ),
    d.DelaysNoPivot: lambda r, job, at: (
        f"delays no queue's pivot; needs {job.procs}, {r.idle} idle in its partition{_borrowed(r)}"
    ),
    d.TrialDue: lambda r, job, at: f"the reserved start of its speculative run of at most {span(r.limit)} has come",
    d.TrialEarly: lambda r, job, at: (
        f"its speculative run of at most {span(r.limit)}, reserved for {at(r.reserved)}, delays nobody now either"
    ),
    # Why a job is suspended
    d.ReservationDue: lambda r, job, at: f"makes way for {name(r.by)}, whose start was reserved as its user asked",
    d.Outranked: lambda r, job, at: (
        f"{name(r.by)}'s xfactor {r.xfactor:.2f} is at least {r.factor:.12g} times its own {r.own_xfactor:.2f}"
    ),
    d.MadeWay: lambda r, job, at: (
        f"makes way for {name(r.by)}, which has never run: it has had its slice of {span(r.slice)}, "
        f"and its suffering of {r.suffering:.2f} is the least"
    ),
    # Why a start is planned when it is
    d.WhenFree: lambda r, job, at: f"needs {job.procs}, {r.free} free; there will be {r.then}",
    d.EarliestHole: lambda r, job, at: (
        f"the first hole in the plan for {processors(job.procs)} over {span(job.estimate)}; {r.free} free now"
    ),
    d.Compressed: lambda r, job, at: f"a job ended early and the plan closed up; it was planned for {at(r.was)}",
    d.NewPlan: lambda r, job, at: "the plan was made anew",
    d.MadeRoom: lambda r, job, at: (
        f"{name(r.passer)} started and the others were planned again around it; it was planned for {at(r.was)}"
    ),
    d.AskedFor: lambda r, job, at: f"the first place from {at(r.wanted)} on, for which its user asked",
    d.PlannedTrial: lambda r, job, at: (
        f"a speculative run of at most {span(r.limit)} comes first and delays nobody then"
    ),
    # Why a job is kept waiting
    d.TooFewFree: lambda r, job, at: f"needs {job.procs}, {r.free} free",
    d.WouldDelay: lambda r, job, at: (
        f"needs {job.procs} > {r.extra} extra and would end at {at(r.ends)} > {name(r.head)}'s start at {at(r.shadow)}"
    ),
    d.PlannedLater: lambda r, job, at: (
        f"needs {job.procs}, {r.free} free, but only from {at(r.at)} on for its whole estimate of {span(job.estimate)}"
    ),
    d.WindowCloses: lambda r, job, at: (
        f"would end at {at(r.ends)}, after the window for {name(r.head)} closes at {at(r.closes)}"
    ),
    d.BreaksBound: lambda r, job, at: (
        f"would push {name(r.other)}'s start to {at(r.start)}, past its bound {at(r.bound)}"
    ),
    d.WaitsForOwn: _waits_for_own,
    d.NoVictims: lambda r, job, at: (
        f"too few running jobs have an xfactor {r.factor:.12g} times smaller than its own {r.xfactor:.2f}"
    ),
    d.NoSliceOver: lambda r, job, at: f"too few running jobs have had their slice of {span(r.slice)}",
    d.PivotLater: lambda r, job, at: (
        f"heads its partition's queue and is planned for {at(r.at)}: needs {job.procs}, {r.free} free"
    ),
    d.WouldDelayPivot: lambda r, job, at: (
        f"would end at {at(r.ends)} and push the pivot {name(r.pivot)} from {at(r.start)} to {at(r.later)}"
    ),
    d.TouchesReservation: lambda r, job, at: (
        f"would end at {at(r.ends)} and take processors reserved for {name(r.other)} from {at(r.at)} on"
    ),
    d.TrialLater: lambda r, job, at: (
        f"its speculative run of at most {span(r.limit)} is reserved for {at(r.at)}: needs {job.procs}, {r.free} free"
    ),
    d.WaitsForReserved: lambda r, job, at: f"its start is reserved for {at(r.at)}, as its user asked",
    d.NotYet: lambda r, job, at: f"the trace says that it starts at {at(r.recorded)}",
    **MATRIX_REASONS,
}


# Decisions


def say(decision: d.Decision, at: Clock = clock) -> str:
    """What was decided, and why.

    >>> say(d.Start(Job(0, "17", submit=0, procs=8, estimate=3600), d.InOrder(free=12)))
    'J17 starts on 8 processors: its turn has come and it fits: needs 8, 12 free'
    """
    told = DECISIONS.get(type(decision))
    return told(decision, at) if told else in_words(decision)


def _limit(decision: d.Start | d.Backfill) -> str:
    return "" if decision.limit is None else f" for at most {span(decision.limit)}"


def _overhead(decision: d.Suspend | d.Resume) -> str:
    return f", which takes {span(decision.overhead)}" if decision.overhead else ""


def _with_reason(told: Callable[[Any, Clock], str]) -> Callable[[Any, Clock], str]:
    """What is done to the matrix, and behind a colon why, where there is a reason."""

    def sentence(decision: Any, at: Clock) -> str:
        because = getattr(decision, "because", None)
        return told(decision, at) + (f": {why(because, decision.job, at)}" if because is not None else "")

    return sentence


DECISIONS: dict[type, Callable[[Any, Clock], str]] = {
    d.Start: lambda x, at: f"{name(x.job)} starts on {processors(x.job.procs)}{_limit(x)}: {why(x.because, x.job, at)}",
    d.Backfill: lambda x, at: (
        f"{name(x.job)} is backfilled on {processors(x.job.procs)}{_limit(x)}: {why(x.because, x.job, at)}"
    ),
    d.Reserve: lambda x, at: f"{name(x.job)} is planned for {at(x.at)}: {why(x.because, x.job, at)}",
    d.Expect: lambda x, at: f"{name(x.job)} should start at {at(x.at)} as things stand",
    d.Suspend: lambda x, at: f"{name(x.job)} is suspended{_overhead(x)}: {why(x.because, x.job, at)}",
    d.Resume: lambda x, at: f"{name(x.job)} resumes{_overhead(x)}: {why(x.because, x.job, at)}",
    d.Await: lambda x, at: (
        f"the processors of {name(x.job)} are kept for it: it is the first that must go on and cannot"
    ),
    d.Switched: lambda x, at: f"the policy is switched from {x.was} to {x.now}",
    d.Divide: lambda x, at: (
        f"the machine is divided into partitions of {listed((f'{p.bit_count():,}' for p in x.owners), 8)} processors"
    ),
    d.Borrow: lambda x, at: (
        f"partition {x.to} borrows {processors(x.processors.bit_count())} from partition {x.lender} for {name(x.job)}"
    ),
    d.Wake: lambda x, at: f"the policy wants to be asked again at {at(x.at)}",
    d.Keep: lambda x, at: f"{name(x.job)} waits: {why(x.because, x.job, at)}",
    **{kind: _with_reason(told) for kind, told in MATRIX_DECISIONS.items()},
}


# What has no sentence yet


def in_words(value: Any) -> str:
    """Any decision or reason by its name and fields; numbers as they are.

    >>> in_words(d.WhenFree(free=3, then=8)), in_words(d.Due())
    ('when free: free 3, then 8', 'due')
    """
    fields = value._asdict() if hasattr(value, "_asdict") else {}
    because = fields.pop("because", None)
    told = [f"{spelled(key)} {_value(field)}" for key, field in fields.items() if field is not None]
    if because is not None:
        job = fields.get("job")
        told.append(why(because, job) if isinstance(job, Job) else in_words(because))
    return ": ".join(filter(None, (spelled(type(value).__name__), ", ".join(told))))


def _value(field: object) -> str:
    if isinstance(field, Job):
        return name(field)
    if isinstance(field, float):
        return f"{field:.12g}"
    if isinstance(field, (tuple, list, frozenset)):
        return listed(map(_value, field))
    return str(field)
