"""Reasons to wait, as immutable data.

Times are seconds; `free`, `extra` and `busy` are processors. A class without a docstring is explained by its sentence
in `sim.decisions.words_of_waits`.
"""

from __future__ import annotations

from sim.decisions.because import UNTOLD, Because, flag, job, jobs, moment, number, span, whole
from sim.workload.job import Job


class TooFewFree(Because):
    fields = (whole("free", UNTOLD),)

    def __init__(self, free: int) -> None:
        self.free = free


class WouldDelay(Because):
    fields = (
        job("head", "head of queue"), moment("shadow", "its start"), moment("ends", "would end"),
        whole("extra", "extra procs"),
    )  # fmt: skip

    def __init__(self, head: Job, shadow: float, ends: float, extra: int) -> None:
        self.head, self.shadow, self.ends, self.extra = head, shadow, ends, extra


class PredictedToDelay(WouldDelay):
    """Reason to wait like `WouldDelay`, where `ends` is a prediction."""


class BeyondLookahead(Because):
    fields = job("head", "head of queue"), whole("window")

    def __init__(self, head: Job, window: int) -> None:
        self.head, self.window = head, window


class PlannedLater(Because):
    fields = moment("at", "from"), whole("free", UNTOLD)

    def __init__(self, at: float, free: int) -> None:
        self.at, self.free = at, free


class WindowCloses(Because):
    fields = job("head", "head of queue"), moment("ends", "would end"), moment("closes", "window closes")

    def __init__(self, head: Job, ends: float, closes: float) -> None:
        self.head, self.ends, self.closes = head, ends, closes


class BreaksBound(Because):
    fields = job("other"), moment("start"), moment("bound", "its latest start")

    def __init__(self, other: Job, start: float, bound: float) -> None:
        self.other, self.start, self.bound = other, start, bound


class WaitsForOwn(Because):
    fields = (whole("busy", UNTOLD),)

    def __init__(self, busy: int) -> None:
        self.busy = busy


class OwnGone(Because):
    fields = whole("gone", UNTOLD), whole("busy", UNTOLD)

    def __init__(self, gone: int, busy: int) -> None:
        self.gone, self.busy = gone, busy


def waits_for_own(own: int, free: int, there: int) -> WaitsForOwn | OwnGone | None:
    """Return the reason why a suspended job waits for its `own` processors (bits); None if all of them are available
    and free.

    `free` are the free processors, `there` the available ones (not down), both as bits.
    """
    busy, gone = (own & there & ~free).bit_count(), (own & ~there).bit_count()
    return OwnGone(gone, busy) if gone else WaitsForOwn(busy) if busy else None


class OwnClaimed(Because):
    fields = (whole("claimed", UNTOLD),)

    def __init__(self, claimed: int) -> None:
        self.claimed = claimed


class AwaitsVictims(Because):
    fields = (jobs("victims"),)

    def __init__(self, victims: tuple[Job, ...]) -> None:
        self.victims = victims


class ClaimTaken(Because):
    fields = (jobs("others"),)

    def __init__(self, others: tuple[Job, ...]) -> None:
        self.others = others


class NoVictims(Because):
    fields = number("xfactor", UNTOLD), number("factor")

    def __init__(self, xfactor: float, factor: float) -> None:
        self.xfactor, self.factor = xfactor, factor


class NoVictimAllowed(Because):
    """Reason to wait: the job's xfactor allows it to suspend some running jobs, but each of these is ruled out. `wide`
    of them have too many processors, `spared` are protected.
    """

    fields = number("xfactor", UNTOLD), number("factor"), whole("wide", UNTOLD), whole("spared", UNTOLD)

    def __init__(self, xfactor: float, factor: float, wide: int, spared: int) -> None:
        self.xfactor, self.factor, self.wide, self.spared = xfactor, factor, wide, spared


class TurnOver(Because):
    """Reason to wait: the job's processors became available in this step, but the policy had already considered the
    job.
    """


class NoSliceOver(Because):
    fields = (span("slice"),)

    def __init__(self, slice: float) -> None:
        self.slice = slice


class PivotLater(Because):
    """Reason for a pivot (first job of a partition's queue) to wait until `at`: too few processors are free now.

    If `then` is given, enough are free now, but too few from `then` on, because `other` starts then or, if `other` is
    None, because maintenance begins.
    """

    fields = moment("at", "from"), whole("free", UNTOLD), job("other"), moment("then")

    def __init__(self, at: float, free: int, other: Job | None = None, then: float | None = None) -> None:
        self.at, self.free, self.other, self.then = at, free, other, then


class WouldDelayPivot(Because):
    fields = job("pivot"), moment("start"), moment("later"), moment("ends", "would end")

    def __init__(self, pivot: Job, start: float, later: float, ends: float) -> None:
        self.pivot, self.start, self.later, self.ends = pivot, start, later, ends


class TouchesReservation(Because):
    fields = job("other"), moment("at", "from"), moment("ends", "would end")

    def __init__(self, other: Job, at: float, ends: float) -> None:
        self.other, self.at, self.ends = other, at, ends


class TrialLater(Because):
    """Reason to wait for a speculative run of at most `limit` seconds; `other` and `then` are as in `PivotLater`."""

    fields = moment("at", "from"), span("limit"), whole("free", UNTOLD), job("other"), moment("then")

    def __init__(self, at: float, limit: float, free: int, other: Job | None = None, then: float | None = None) -> None:
        self.at, self.limit, self.free, self.other, self.then = at, limit, free, other, then


class BeforeOthers(Because):
    fields = job("other"), moment("at", "from"), moment("ends", "would end")

    def __init__(self, other: Job, at: float, ends: float) -> None:
        self.other, self.at, self.ends = other, at, ends


class RoomUnseen(Because):
    fields = moment("at", "from"), whole("free", UNTOLD)

    def __init__(self, at: float, free: int) -> None:
        self.at, self.free = at, free


class WaitsForReserved(Because):
    fields = (moment("at", "from"),)

    def __init__(self, at: float) -> None:
        self.at = at


class MachineGoesDown(Because):
    """Reason to wait: the job would not end before the announced maintenance. If rows take turns, its end is uncertain,
    and the latest possible end counts.
    """

    fields = moment("at", "machine goes down"), moment("ends", "would end"), flag("in_rows")

    def __init__(self, at: float, ends: float, in_rows: bool = False) -> None:
        self.at, self.ends, self.in_rows = at, ends, in_rows


class NotYet(Because):
    fields = (moment("recorded"),)

    def __init__(self, recorded: float) -> None:
        self.recorded = recorded
