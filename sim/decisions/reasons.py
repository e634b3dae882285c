"""Reasons to start, suspend or plan a job, as immutable data.

A reason has the numbers that decided; times are seconds, and `free`, `idle` and `extra` are processors. Reasons to wait
are in `sim.decisions.reasons_to_wait`, those about a matrix in `sim.decisions.reasons_in_rows`. A class without a
docstring is explained by its sentence in `sim.decisions.words_of_starts`.
"""

from __future__ import annotations

from sim.decisions.because import UNTOLD, Because, job, jobs, moment, number, span, text, whole
from sim.workload.job import Job

# Reasons to start


class InOrder(Because):
    fields = (whole("free"),)

    def __init__(self, free: int) -> None:
        self.free = free


class Fits(Because):
    fields = (whole("free"),)

    def __init__(self, free: int) -> None:
        self.free = free


class EndsBefore(Because):
    fields = job("head"), moment("shadow"), moment("ends")

    def __init__(self, head: Job, shadow: float, ends: float) -> None:
        self.head, self.shadow, self.ends = head, shadow, ends


class FitsExtra(Because):
    fields = job("head"), moment("shadow"), whole("extra")

    def __init__(self, head: Job, shadow: float, extra: int) -> None:
        self.head, self.shadow, self.extra = head, shadow, extra


class WhenRoom(Because):
    """Reason for a planned start on nodes: running jobs are expected to have ended by then, so that enough resources
    are free.
    """


class FitsBeside(Because):
    fields = job("head"), moment("shadow")

    def __init__(self, head: Job, shadow: float) -> None:
        self.head, self.shadow = head, shadow


class PredictedBefore(EndsBefore):
    """Reason for a backfill like `EndsBefore`, where `ends` is predicted from the run times of the user's last jobs."""


class BestPacking(Because):
    fields = job("head"), moment("shadow"), whole("filled"), whole("free")

    def __init__(self, head: Job, shadow: float, filled: int, free: int) -> None:
        self.head, self.shadow, self.filled, self.free = head, shadow, filled, free


class BestOfOrders(Because):
    fields = job("head"), moment("shadow"), text("order"), whole("many")

    def __init__(self, head: Job, shadow: float, order: str, many: int) -> None:
        self.head, self.shadow, self.order, self.many = head, shadow, order, many


class Due(Because):
    """Reason for a start: its planned start is now."""


class Planned(Because):
    """Reason for a start: the new plan starts the job now."""


class InWindow(Because):
    fields = job("head"), moment("ends"), moment("closes")

    def __init__(self, head: Job, ends: float, closes: float) -> None:
        self.head, self.ends, self.closes = head, ends, closes


class WithinBounds(Because):
    fields = job("tightest"), span("margin")

    def __init__(self, tightest: Job | None, margin: float) -> None:
        self.tightest, self.margin = tightest, margin


class BreaksNoBound(Because):
    fields = job("worst"), span("past"), whole("others")

    def __init__(self, worst: Job, past: float, others: int) -> None:
        self.worst, self.past, self.others = worst, past, others


class AsRecorded(Because):
    fields = moment("recorded"), span("late")

    def __init__(self, recorded: float | None, late: float) -> None:
        self.recorded, self.late = recorded, late


class OwnFree(Because):
    """Reason to resume: the suspended job's own processors are free."""


class Preempts(Because):
    fields = (jobs("victims"),)

    def __init__(self, victims: tuple[Job, ...]) -> None:
        self.victims = victims


class Claimed(Because):
    """Reason for a start: the jobs suspended for it have released their processors."""


class PivotDue(Because):
    fields = whole("partition"), whole("borrowed")

    def __init__(self, partition: int, borrowed: int) -> None:
        self.partition, self.borrowed = partition, borrowed


class EndsBeforePivot(Because):
    """Reason for a start by rule a of the policy multiqueue."""

    fields = job("pivot"), moment("start"), moment("ends"), whole("idle")

    def __init__(self, pivot: Job, start: float, ends: float, idle: int) -> None:
        self.pivot, self.start, self.ends, self.idle = pivot, start, ends, idle


class SparesPivot(Because):
    """Reason for a start by rule b of the policy multiqueue."""

    fields = job("pivot"), moment("start"), whole("idle"), whole("extra")

    def __init__(self, pivot: Job, start: float, idle: int, extra: int) -> None:
        self.pivot, self.start, self.idle, self.extra = pivot, start, idle, extra


class DelaysNoPivot(Because):
    """Reason for a start by rule c of the policy multiqueue; some of the `idle` processors may be borrowed."""

    fields = whole("idle"), whole("borrowed")

    def __init__(self, idle: int, borrowed: int) -> None:
        self.idle, self.borrowed = idle, borrowed


class TrialDue(Because):
    fields = (span("limit"),)

    def __init__(self, limit: float) -> None:
        self.limit = limit


class TrialEarly(Because):
    fields = span("limit"), moment("reserved")

    def __init__(self, limit: float, reserved: float) -> None:
        self.limit, self.reserved = limit, reserved


# Reasons to suspend


class ReservationDue(Because):
    fields = (job("by", "suspended for"),)

    def __init__(self, by: Job) -> None:
        self.by = by


class Outranked(Because):
    fields = job("by", "suspended for"), number("xfactor", UNTOLD), number("own_xfactor"), number("factor")

    def __init__(self, by: Job, xfactor: float, own_xfactor: float, factor: float) -> None:
        self.by, self.xfactor, self.own_xfactor, self.factor = by, xfactor, own_xfactor, factor


class MadeWay(Because):
    """Reason for a suspension: the job has used up its time slice, and `by` needs its processors. Among the jobs that
    have done so, its instantaneous xfactor is at position `place` from the lowest (1 for the lowest).
    """

    fields = job("by", "suspended for"), number("suffering", "instant xfactor"), span("slice"), whole("place", UNTOLD)

    def __init__(self, by: Job, suffering: float, slice: float, place: int = 1) -> None:
        self.by, self.suffering, self.slice, self.place = by, suffering, slice, place


# Reasons to plan a start


class OfTheHead(Because):
    """Reason for the planned start of the queue's head: the `free` processors now are too few, but at that start `then`
    processors will be free.
    """

    fields = whole("free"), whole("then")

    def __init__(self, free: int, then: int) -> None:
        self.free, self.then = free, then


class WhenFree(OfTheHead):
    """The `then` processors will be free by the estimates of running jobs."""


class WhenPredicted(OfTheHead):
    """The `then` processors will be free if running jobs end as predicted."""


class EarliestHole(Because):
    fields = (whole("free"),)

    def __init__(self, free: int) -> None:
        self.free = free


class Compressed(Because):
    fields = (moment("was"),)

    def __init__(self, was: float) -> None:
        self.was = was


class NewPlan(Because):
    """Reason for a planned start: the policy replanned from scratch."""


class MadeRoom(Because):
    fields = job("passer"), moment("was")

    def __init__(self, passer: Job, was: float) -> None:
        self.passer, self.was = passer, was


class AskedFor(Because):
    fields = (moment("wanted"),)

    def __init__(self, wanted: float) -> None:
        self.wanted = wanted


class PlannedTrial(Because):
    fields = (span("limit"),)

    def __init__(self, limit: float) -> None:
        self.limit = limit
