"""Decisions and reasons in words: the one module that says them, so that every screen says the same.

`say` is for a decision, `why` for a reason alone. Both are without a full stop, `why` without a capital: the caller
puts them together. A new type needs one line in `REASONS` or `DECISIONS`; until it has one, it is said by its name
and its fields. Moments are written by a function that the caller may choose, so that a line can leave out the day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from sim import decisions as d
from sim.workload.model import Job

Clock: TypeAlias = Callable[[float], str]
"""How a moment is written."""


# Times


def clock(seconds: float) -> str:
    """A moment of simulated time.

    >>> clock(12 * 86400 + 4 * 3600 + 31 * 60 + 7), clock(-5)
    ('d12 04:31:07', '-d0 00:00:05')
    """
    if seconds < 0:
        return "-" + clock(-seconds)
    whole = int(seconds)
    return f"d{whole // 86400} {whole % 86400 // 3600:02}:{whole % 3600 // 60:02}:{whole % 60:02}"


def clock_near(now: float) -> Clock:
    """Moments as a person says them at `now`: without the day if it is today, without seconds if there are none.

    >>> at = clock_near(12 * 86400)
    >>> at(12 * 86400 + 17100), at(13 * 86400 + 7)
    ('04:45', 'd13 00:00:07')
    """

    def at(seconds: float) -> str:
        day, _, time = clock(seconds).partition(" ")
        time = time.removesuffix(":00")
        return time if seconds // 86400 == now // 86400 else f"{day} {time}"

    return at


def span(seconds: float | None) -> str:
    """A length of time in its two greatest units; a dash for None.

    >>> [span(s) for s in (0, 7.25, 45, 750, 7500, 1051200)]
    ['0s', '7.2s', '45s', '12m30', '2h05', '12d4h']
    >>> span(3599.9), span(86399.9), span(-90), span(None)
    ('1h00', '1d0h', '-1m30', '–')
    """
    if seconds is None:
        return "–"
    if seconds < 0:
        return "-" + span(-seconds)
    if seconds < 10 and seconds != int(seconds):
        return f"{seconds:.1f}s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02}"
    minutes = round(seconds / 60)
    if minutes < 1440:
        return f"{minutes // 60}h{minutes % 60:02}"
    hours = round(seconds / 3600)
    return f"{hours // 24:,}d{hours % 24}h"


# Names and numbers


def name(job: Job) -> str:
    """What people call the job.

    >>> name(Job(0, "17", 0, 1, 1)), name(Job(0, "w0!3", 0, 1, 1))
    ('J17', 'w0!3')
    """
    return f"J{job.id}" if job.id[:1].isdigit() else job.id


def processors(count: int) -> str:
    """A number of processors with its noun.

    >>> processors(1), processors(64)
    ('1 processor', '64 processors')
    """
    return f"{count:,} processor{'' if count == 1 else 's'}"


def listed(words: Iterable[str], most: int = 4) -> str:
    """An enumeration; of a long one the beginning, and how many more there are.

    >>> listed(["J1", "J2", "J3"]), listed("abcdef", most=3)
    ('J1, J2 and J3', 'a, b, c and 3 more')
    """
    every = list(words)
    if len(every) > most + 1:
        every[most:] = [f"{len(every) - most} more"]
    return " and ".join(filter(None, (", ".join(every[:-1]), every[-1]))) if every else ""


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
    d.OwnFree: lambda r, job, at: f"its own {processors(job.procs)} are free",
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
    d.WaitsForOwn: lambda r, job, at: f"{r.busy:,} of its own {processors(job.procs)} are taken",
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


DECISIONS: dict[type, Callable[[Any, Clock], str]] = {
    d.Start: lambda x, at: f"{name(x.job)} starts on {processors(x.job.procs)}{_limit(x)}: {why(x.because, x.job, at)}",
    d.Backfill: lambda x, at: (
        f"{name(x.job)} is backfilled on {processors(x.job.procs)}{_limit(x)}: {why(x.because, x.job, at)}"
    ),
    d.Reserve: lambda x, at: f"{name(x.job)} is planned for {at(x.at)}: {why(x.because, x.job, at)}",
    d.Expect: lambda x, at: f"{name(x.job)} should start at {at(x.at)} as things stand",
    d.Suspend: lambda x, at: f"{name(x.job)} is suspended{_overhead(x)}: {why(x.because, x.job, at)}",
    d.Resume: lambda x, at: f"{name(x.job)} resumes{_overhead(x)}: {why(x.because, x.job, at)}",
    d.Divide: lambda x, at: (
        f"the machine is divided into partitions of {listed((f'{p.bit_count():,}' for p in x.owners), 8)} processors"
    ),
    d.Borrow: lambda x, at: (
        f"partition {x.to} borrows {processors(x.processors.bit_count())} from partition {x.lender} for {name(x.job)}"
    ),
    d.Wake: lambda x, at: f"the policy wants to be asked again at {at(x.at)}",
    d.Keep: lambda x, at: f"{name(x.job)} waits: {why(x.because, x.job, at)}",
}


# What has no sentence yet


def in_words(value: Any) -> str:
    """Any decision or reason by its name and fields; numbers as they are.

    >>> in_words(d.WhenFree(free=3, then=8)), in_words(d.Due())
    ('when free: free 3, then 8', 'due')
    """
    fields = value._asdict() if hasattr(value, "_asdict") else {}
    because = fields.pop("because", None)
    told = [f"{words(key)} {_value(field)}" for key, field in fields.items() if field is not None]
    if because is not None:
        job = fields.get("job")
        told.append(why(because, job) if isinstance(job, Job) else in_words(because))
    return ": ".join(filter(None, (words(type(value).__name__), ", ".join(told))))


def words(identifier: str) -> str:
    """A name of a program as a person writes it.

    >>> words("TooFewFree"), words("extra_p")
    ('too few free', 'extra p')
    """
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", identifier).replace("_", " ").lower()


def _value(field: object) -> str:
    if isinstance(field, Job):
        return name(field)
    if isinstance(field, float):
        return f"{field:.12g}"
    if isinstance(field, (tuple, list, frozenset)):
        return listed(map(_value, field))
    return str(field)
