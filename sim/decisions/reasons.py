"""Reasons to start, suspend or plan a job, as immutable data with a sentence each.

A reason has the numbers that decided; times are seconds, and `free`, `idle` and `extra` are processors. Reasons to wait
are in `sim.decisions.reasons_to_wait`, those about a matrix in `sim.decisions.matrix`. A class without a docstring is
explained by its sentence.
"""

from __future__ import annotations

from math import inf
from typing import Annotated, NamedTuple, TypeAlias

from sim.decisions.sentences import UNTOLD, Called, Hole, Moment, Span, Window
from sim.formatting import Clock, count, listed, name, nth, processors, span
from sim.workload.model import Job

# Reasons to start


class InOrder(NamedTuple):
    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"next in the queue and fits: needs {job.procs:,}, {self.free:,} free"


class Fits(NamedTuple):
    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"it fits: needs {job.procs:,}, {self.free:,} free"


class EndsBefore(NamedTuple):
    head: Job
    shadow: Moment
    ends: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        if self.ends == self.shadow:
            return f"ends at {at(self.ends)}, just when {name(self.head)} is to start"
        return f"ends at {at(self.ends)}, before {name(self.head)}'s start at {at(self.shadow)}"

    def hole(self) -> Hole:
        return Hole(self.head, self.shadow, None)


class FitsExtra(NamedTuple):
    head: Job
    shadow: Moment
    extra: int

    def sentence(self, job: Job, at: Clock) -> str:
        extra = f"{self.extra:,} extra processors that {name(self.head)} leaves free at {at(self.shadow)}"
        return f"needs {job.procs:,} of the {extra}"

    def hole(self) -> Hole:
        return Hole(*self)


class WhenRoom(NamedTuple):
    """Reason for a planned start on nodes: running jobs are expected to have ended by then, so that enough resources
    are free.
    """

    def sentence(self, job: Job, at: Clock) -> str:
        return "its nodes are expected to have room then"


class FitsBeside(NamedTuple):
    """Reason for a backfill on nodes: if this job starts now, the head of the queue still fits at its planned start."""

    head: Job
    shadow: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{name(self.head)} still fits at {at(self.shadow)} with it on its nodes"


class PredictedBefore(NamedTuple):
    """Reason for a backfill: the job is predicted to end before the head's planned start. The prediction is made from
    the run times of its user's last jobs.
    """

    head: Job
    shadow: Moment
    ends: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"is predicted to end at {at(self.ends)}, by {name(self.head)}'s start at {at(self.shadow)}"

    def hole(self) -> Hole:
        return Hole(self.head, self.shadow, None)


class BestPacking(NamedTuple):
    """Reason for a backfill: this job is in the set of jobs that uses the most of the `free` processors. Sets that
    delay the head do not count.
    """

    head: Job
    shadow: Moment
    filled: int
    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        best = f"one of the jobs that together fill the most free processors, {self.filled:,} of {self.free:,}"
        return f"{best}, without delaying {name(self.head)}'s start at {at(self.shadow)}"


class BestOfOrders(NamedTuple):
    """Reason for a backfill: of all orders of the queue that were tried, this one lets the most jobs (`many`) pass the
    head.
    """

    head: Job
    shadow: Moment
    order: str
    many: int

    def sentence(self, job: Job, at: Clock) -> str:
        passes = f"{count(self.many, 'job')} {'passes' if self.many == 1 else 'pass'} {name(self.head)}"
        return f"in the best order tried, {self.order}, {passes} without delaying its start at {at(self.shadow)}"


class Due(NamedTuple):
    def sentence(self, job: Job, at: Clock) -> str:
        return "its planned start is now"


class Planned(NamedTuple):
    def sentence(self, job: Job, at: Clock) -> str:
        return "the new plan starts it now"


class InWindow(NamedTuple):
    head: Job
    ends: Moment
    closes: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        if self.closes == inf:
            return f"{name(self.head)}'s window is unlimited"
        return f"ends at {at(self.ends)}, within {name(self.head)}'s window, which closes at {at(self.closes)}"

    def closing(self) -> Window:
        return Window(self.head, self.closes)


class WithinBounds(NamedTuple):
    """Reason for a start: all other waiting jobs can still start by their latest starts. The job `tightest` has the
    least time left, `margin` seconds; None if no job has a latest start.
    """

    tightest: Job | None
    margin: Span

    def sentence(self, job: Job, at: Clock) -> str:
        if self.tightest is None:
            return "no other waiting job has a latest start that it could break"
        tightest = f"the tightest is {name(self.tightest)} with {span(self.margin)} to spare"
        return f"all other waiting jobs can still start in time; {tightest}"


class BreaksNoBound(NamedTuple):
    """Reason for a start: all other waiting jobs can still start by their latest starts, except `worst` and `others`
    further jobs, which were already late.
    """

    worst: Job
    past: Span
    others: int

    def sentence(self, job: Job, at: Clock) -> str:
        worst = f"{name(self.worst)}, already {span(self.past)} past its latest start"
        if not self.others:
            return f"all other waiting jobs can still start in time, except {worst}"
        more = count(self.others, "other")
        return f"all other waiting jobs can still start in time, except {worst}, and {more} past theirs"


class AsRecorded(NamedTuple):
    """Reason for a start: the trace recorded the start at `recorded`, `late` seconds ago; `recorded` is None if the
    trace has no start.
    """

    recorded: Moment | None
    late: Span

    def sentence(self, job: Job, at: Clock) -> str:
        if self.recorded is None:
            return "it fits; the trace records no start for it"
        if not self.late:
            return "its recorded start is now"
        return f"its recorded start was {at(self.recorded)}, {span(self.late)} ago"


class OwnFree(NamedTuple):
    def sentence(self, job: Job, at: Clock) -> str:
        return f"{its_own(job)} free"


class Preempts(NamedTuple):
    victims: tuple[Job, ...]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"suspends {listed(map(name, self.victims)) or 'no job'}"


class Claimed(NamedTuple):
    def sentence(self, job: Job, at: Clock) -> str:
        return "the jobs suspended for it have released their processors"


class PivotDue(NamedTuple):
    """Reason for a start: the job is a pivot (first in its partition's queue), and its planned start is now."""

    partition: int
    borrowed: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"first in partition {self.partition}'s queue and its planned start is now{_borrowed(self.borrowed)}"


class EndsBeforePivot(NamedTuple):
    """Reason for a start in a partition with `idle` processors (rule a of the policy multiqueue): the job ends before
    the planned start of the pivot, which is the first job in the partition's queue.
    """

    pivot: Job
    start: Moment
    ends: Moment
    idle: int

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"ends at {at(self.ends)}, by the start of the {pivot(self.pivot)} at {at(self.start)}"
        return f"{ends}; {_needs_idle(job, self.idle)}"


class SparesPivot(NamedTuple):
    """Reason for a start in a partition with `idle` processors (rule b of the policy multiqueue): when the pivot (first
    job in the partition's queue) starts, `extra` processors will be left over.
    """

    pivot: Job
    start: Moment
    idle: int
    extra: int

    def sentence(self, job: Job, at: Clock) -> str:
        leaves = f"the {pivot(self.pivot)} leaves {self.extra:,} extra at {at(self.start)}"
        return f"{_needs_idle(job, self.idle)}, and {leaves}"


class DelaysNoPivot(NamedTuple):
    """Reason for a start (rule c of the policy multiqueue): the job delays no pivot (first job in a partition's queue).
    With processors borrowed from other partitions, `idle` ones are free.
    """

    idle: int
    borrowed: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"delays no queue's pivot (its first job); {_needs_idle(job, self.idle)}{_borrowed(self.borrowed)}"


class TrialDue(NamedTuple):
    limit: Span

    def sentence(self, job: Job, at: Clock) -> str:
        return f"the planned start of {_trial(self.limit)} is now"


class TrialEarly(NamedTuple):
    """Reason for starting a speculative run early: it was planned for the time `reserved`, but fits now without any
    change of other plans.
    """

    limit: Span
    reserved: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{_trial(self.limit)}, planned for {at(self.reserved)}, already fits next to everything planned"


# Reasons to suspend


class ReservationDue(NamedTuple):
    by: Annotated[Job, Called("suspended for")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"makes room for {name(self.by)}, whose start its user had reserved"


class Outranked(NamedTuple):
    by: Annotated[Job, Called("suspended for")]
    xfactor: Annotated[float, UNTOLD]
    own_xfactor: float
    factor: float

    def sentence(self, job: Job, at: Clock) -> str:
        least = self.factor * self.own_xfactor
        own = f"{self.factor:,.12g} times its own {self.own_xfactor:,.2f}"
        return f"{name(self.by)}'s xfactor {self.xfactor:,.2f} is at least {least:,.2f} ({own})"


class MadeWay(NamedTuple):
    """Reason for a suspension: the job has used up its time slice, and `by` needs its processors. Among the jobs that
    have done so, its instantaneous xfactor is at position `place` from the lowest (1 for the lowest).
    """

    by: Annotated[Job, Called("suspended for")]
    suffering: Annotated[float, Called("instant xfactor")]
    slice: Span
    place: Annotated[int, UNTOLD] = 1

    def sentence(self, job: Job, at: Clock) -> str:
        lowest = "lowest" if self.place == 1 else f"{nth(self.place)} lowest"
        return (
            f"makes room for {name(self.by)}, which has done no work yet: it has used up its slice "
            f"of {span(self.slice)} and has the {lowest} instantaneous xfactor, {self.suffering:,.2f}"
        )


# Reasons to plan a start


class WhenFree(NamedTuple):
    """Reason for the planned start of the queue's head: the `free` processors now are too few, but at that start `then`
    processors will be free.
    """

    free: int
    then: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{needs(job, self.free)} now; {self.then:,} free then"


class WhenPredicted(NamedTuple):
    """Reason for the planned start of the queue's head: if running jobs end as predicted, `then` processors will be
    free at that start.
    """

    free: int
    then: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{needs(job, self.free)} now; {self.then:,} free then by predicted run times"


OfTheHead: TypeAlias = WhenFree | WhenPredicted
"""Reason for the planned start of the head of the queue: with estimates, or with predicted run times."""


class EarliestHole(NamedTuple):
    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        hole = f"the earliest time with {processors(job.procs)} free for {span(job.estimate)}"
        return f"{hole}; {self.free:,} free now"


class Compressed(NamedTuple):
    was: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"a job ended early and the plan was compressed; previously planned for {at(self.was)}"


class NewPlan(NamedTuple):
    def sentence(self, job: Job, at: Clock) -> str:
        return "replanned from scratch"


class MadeRoom(NamedTuple):
    passer: Job
    was: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        started = f"{name(self.passer)} started and the other jobs were replanned around it"
        return f"{started}; previously planned for {at(self.was)}"


class AskedFor(NamedTuple):
    wanted: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"the earliest possible start from {at(self.wanted)} on, the time its user requested"


class PlannedTrial(NamedTuple):
    limit: Span

    def sentence(self, job: Job, at: Clock) -> str:
        return f"a speculative run (at most {span(self.limit)}) comes first; at that time it delays no job"


# Parts of several sentences


def needs(job: Job, free: int) -> str:
    """Return text on the number of processors needed and the number free, with ">" if too few are free."""
    return f"needs {job.procs:,} > {free:,} free" if job.procs > free else f"needs {job.procs:,}, {free:,} free"


def _needs_idle(job: Job, idle: int) -> str:
    return f"needs {job.procs:,}, {idle:,} idle in its partition"


def _borrowed(borrowed: int) -> str:
    return f", {borrowed:,} from other partitions" if borrowed else ""


def _trial(limit: float) -> str:
    return f"its speculative run (at most {span(limit)})"


def pivot(job: Job) -> str:
    """Return the name of a pivot for a sentence, with the explanation that it is the first in its queue."""
    return f"pivot {name(job)} (first in its queue)"


def its_own(job: Job) -> str:
    """Return words for the job's own processors and the verb: "its own processor is", "its own 4 processors are"."""
    return "its own processor is" if job.procs == 1 else f"its own {processors(job.procs)} are"
