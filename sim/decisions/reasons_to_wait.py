"""Reasons to wait, as immutable data. Each can be written as a sentence, in a short form for tables, and in a form that
covers many steps.

Times are seconds; `free`, `extra` and `busy` are processors.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sim.decisions.reasons import its_own, needs, pivot
from sim.decisions.sentences import UNTOLD, Brief, Called, Hole, Moment, Others, Span, Window, tells
from sim.formatting import Clock, count, listed, name, processors, span
from sim.workload.model import Job


@tells(ranges="{free}", of_all="each needs more than is free")
class TooFewFree(NamedTuple):
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        return needs(job, self.free)

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{job.procs:,} > {self.free:,} free", f"{job.procs:,} > {self.free:,}"

    def past(self, job: Job, others: Others) -> str:
        return f"fewer than its {processors(job.procs)} were free" if job.procs > 1 else "no processor was free"


@tells(ranges="it needs {procs}, {extra} extra")
class WouldDelay(NamedTuple):
    head: Annotated[Job, Called("head of queue")]
    shadow: Annotated[Moment, Called("its start")]
    ends: Annotated[Moment, Called("would end")]
    extra: Annotated[int, Called("extra procs")]

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"would end at {at(self.ends)} > {name(self.head)}'s start at {at(self.shadow)}"
        return f"needs {job.procs:,} > {self.extra:,} extra and {ends}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return delays_head(self.head)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the head of the queue')}"

    def hole(self) -> Hole:
        return Hole(self.head, self.shadow, self.extra)


@tells(ranges="it needs {procs}, {extra} extra")
class PredictedToDelay(NamedTuple):
    head: Annotated[Job, Called("head of queue")]
    shadow: Annotated[Moment, Called("its start")]
    ends: Annotated[Moment, Called("would end")]
    extra: Annotated[int, Called("extra procs")]

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"is predicted to end at {at(self.ends)} > {name(self.head)}'s start at {at(self.shadow)}"
        return f"needs {job.procs:,} > {self.extra:,} extra and {ends}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return delays_head(self.head)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the head of the queue')}, as was predicted"

    def hole(self) -> Hole:
        return Hole(self.head, self.shadow, self.extra)


class BeyondLookahead(NamedTuple):
    """Reason to wait: the job is too far back in the queue. The policy considers only the first `window` jobs behind
    the head.
    """

    head: Annotated[Job, Called("head of queue")]
    window: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"the policy considers only {count(self.window, 'job')} behind {name(self.head)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "too far behind the head", "too far behind"

    def past(self, job: Job, others: Others) -> str:
        return f"it was too far behind {others('the head of the queue')}"


@tells(ranges="{free} free")
class PlannedLater(NamedTuple):
    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        stay = f"{job.procs:,} stay{'s' * (job.procs == 1)} free for its estimate of {span(job.estimate)}"
        return f"{needs(job, self.free)} now, but {stay} only from {at(self.at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no hole before {at(self.at)}", "no earlier hole", "no hole yet"

    def past(self, job: Job, others: Others) -> str:
        return "the free processors were needed too soon by jobs planned before it"


class WindowCloses(NamedTuple):
    head: Annotated[Job, Called("head of queue")]
    ends: Annotated[Moment, Called("would end")]
    closes: Annotated[Moment, Called("window closes")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"would end at {at(self.ends)} > end of {name(self.head)}'s window at {at(self.closes)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"ends past {name(self.head)}'s window", "past a window"

    def past(self, job: Job, others: Others) -> str:
        return f"it would have outlasted the window for {others('the head')}"

    def closing(self) -> Window:
        return Window(self.head, self.closes)


@tells(ranges="{free} free")
class BreaksBound(NamedTuple):
    other: Job
    start: Moment
    bound: Annotated[Moment, Called("its latest start")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"would delay {name(self.other)}'s start to {at(self.start)} > its latest start {at(self.bound)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{name(self.other)} past its latest start", f"{name(self.other)} too late"

    def past(self, job: Job, others: Others) -> str:
        return f"it would have delayed {others('others')} past their latest starts"


class WaitsForOwn(NamedTuple):
    busy: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        if self.busy == job.procs:
            return f"{its_own(job)}{' all' * (job.procs > 1)} taken"
        return f"{self.busy:,} of its own {processors(job.procs)} {'is' if self.busy == 1 else 'are'} taken"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.busy:,} of its own taken", f"{self.busy:,} taken"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs ran on its own processors"


class OwnGone(NamedTuple):
    """Reason to wait: of the suspended job's own processors, `gone` are down and `busy` are used by other jobs."""

    gone: Annotated[int, UNTOLD]
    busy: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        taken = f", {_count_are(self.busy, 'taken')}" if self.busy else ""
        return f"{own_gone(self.gone, job)}{taken}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.gone:,} of its own down", f"{self.gone:,} down"

    def past(self, job: Job, others: Others) -> str:
        return "its own processors were down"


def waits_for_own(own: int, free: int, there: int) -> WaitsForOwn | OwnGone | None:
    """Return the reason why a suspended job waits for its `own` processors (bits); None if all of them are available
    and free.

    `free` are the free processors, `there` the available ones (not down), both as bits.
    """
    busy, gone = (own & there & ~free).bit_count(), (own & ~there).bit_count()
    return OwnGone(gone, busy) if gone else WaitsForOwn(busy) if busy else None


class OwnClaimed(NamedTuple):
    """Reason to wait: no job runs on the suspended job's own processors, but jobs that suspended others have a claim to
    `claimed` of them.
    """

    claimed: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        claimed = f"{self.claimed:,} of its own {processors(job.procs)} {'is' if self.claimed == 1 else 'are'} claimed"
        return f"{claimed} by jobs that suspended other jobs to get them"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.claimed:,} of its own claimed", f"{self.claimed:,} claimed"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs had a claim on its own processors"


class AwaitsVictims(NamedTuple):
    """Reason to wait: the jobs that were suspended for this one still occupy their processors."""

    victims: tuple[Job, ...]

    def sentence(self, job: Job, at: Clock) -> str:
        occupy = "occupies its" if len(self.victims) == 1 else "occupy their"
        return f"{listed(map(name, self.victims))}, suspended for it, still {occupy} processors"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{listed(map(name, self.victims), 1)} still leaving", "victims leave"

    def past(self, job: Job, others: Others) -> str:
        return "the jobs suspended for it still occupied their processors"


class ClaimTaken(NamedTuple):
    """Reason to wait: the jobs that this job suspended have left their processors, but jobs with reservations have
    started there.
    """

    others: tuple[Job, ...]

    def sentence(self, job: Job, at: Clock) -> str:
        run = "runs" if len(self.others) == 1 else "run"
        return f"{listed(map(name, self.others))} {run} on processors claimed for it"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{listed(map(name, self.others), 1)} on its processors", "claim taken"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs ran on the processors claimed for it"


@tells(wants_victims=True)
class NoVictims(NamedTuple):
    xfactor: Annotated[float, UNTOLD]
    factor: float

    def sentence(self, job: Job, at: Clock) -> str:
        smaller = f"{self.factor:,.12g} times smaller than its own {self.xfactor:,.2f}"
        return f"too few jobs to suspend: it needs running jobs with an xfactor {smaller}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no {self.factor:,.12g} times smaller xfactors", "no victims"

    def past(self, job: Job, others: Others) -> str:
        return "too few running jobs had an xfactor small enough to be suspended for it"


@tells(wants_victims=True)
class NoVictimAllowed(NamedTuple):
    """Reason to wait: the job's xfactor allows it to suspend some running jobs, but each of these is ruled out. `wide`
    of them have too many processors, `spared` are protected.
    """

    xfactor: Annotated[float, UNTOLD]
    factor: float
    wide: Annotated[int, UNTOLD]
    spared: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        smaller = f"an xfactor {self.factor:,.12g} times smaller than its own {self.xfactor:,.2f}"
        wide = [_count_are(self.wide, "more than twice as wide")] if self.wide else []
        limit = f"protected: {'its' if self.spared == 1 else 'their'} xfactor exceeds the limit"
        spared = [_count_are(self.spared, limit)] if self.spared else []
        return f"of the running jobs with {smaller}, {' and '.join(wide + spared)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return ("victims too wide" if self.wide else "victims protected"), "no victims"

    def past(self, job: Job, others: Others) -> str:
        return "the running jobs with a small enough xfactor were too wide" + (" or protected" if self.spared else "")


class TurnOver(NamedTuple):
    """Reason to wait: the job's processors became available in this step, but the policy had already considered the
    job.
    """

    def sentence(self, job: Job, at: Clock) -> str:
        return "its processors became available only after the policy had considered it in this step"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "considered too early", "too early"

    def past(self, job: Job, others: Others) -> str:
        return "its processors became available after the policy had considered it"


@tells(wants_victims=True)
class NoSliceOver(NamedTuple):
    slice: Span

    def sentence(self, job: Job, at: Clock) -> str:
        return f"too few running jobs have used up their slice of {span(self.slice)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no slice of {span(self.slice)} used up", "no slice used up", "no slice"

    def past(self, job: Job, others: Others) -> str:
        return "too few running jobs had used up their slice"


class PivotLater(NamedTuple):
    """Reason for a pivot (first job of a partition's queue) to wait until `at`: too few processors are free now.

    If `then` is given, enough are free now, but too few from `then` on, because `other` starts then or, if `other` is
    None, because maintenance begins.
    """

    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]
    other: Job | None = None
    then: Moment | None = None

    def sentence(self, job: Job, at: Clock) -> str:
        planned = f"first in its partition's queue, planned for {at(self.at)}"
        return f"{planned}: {_too_few_once(job, self.free, self.other, self.then, at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        if self.other is not None:
            return f"{name(self.other)} comes first", f"for {name(self.other)}"
        return TooFewFree(self.free).brief(job, at) if self.then is None else ("maintenance first", "maintenance")

    def past(self, job: Job, others: Others) -> str:
        return f"it was first in its queue, but {others('others')} needed too many processors before its planned start"


class WouldDelayPivot(NamedTuple):
    pivot: Job
    start: Moment
    later: Moment
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        pushes = f"push the {pivot(self.pivot)} from {at(self.start)} to {at(self.later)}"
        return f"would end at {at(self.ends)} and {pushes}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return delays_head(self.pivot)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the pivots')}"


@tells(is_reserved=True)
class TouchesReservation(NamedTuple):
    other: Job
    at: Annotated[Moment, Called("from")]
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        takes = f"take processors reserved for {name(self.other)} from {at(self.at)} on"
        return f"would end at {at(self.ends)} and {takes}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"reserved for {name(self.other)}", f"for {name(self.other)}"

    def past(self, job: Job, others: Others) -> str:
        return f"it would have used processors reserved for {others('others')}"


class TrialLater(NamedTuple):
    """Reason to wait: the job's speculative run, of at most `limit` seconds, is planned for the time `at`.

    Too few processors are free now or, if `then` is given, from that time on, because `other` starts then or, if
    `other` is None, because maintenance begins.
    """

    at: Annotated[Moment, Called("from")]
    limit: Span
    free: Annotated[int, UNTOLD]
    other: Job | None = None
    then: Moment | None = None

    def sentence(self, job: Job, at: Clock) -> str:
        run = f"its speculative run (at most {span(self.limit)}) is planned for {at(self.at)}"
        return f"{run}: {_too_few_once(job, self.free, self.other, self.then, at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"first run at {at(self.at)}", f"runs {at(self.at)}", "a run later"

    def past(self, job: Job, others: Others) -> str:
        return "its speculative run was planned for later"


class BeforeOthers(NamedTuple):
    """Reason to wait: the suspended job's own processors are free, but `other` is planned on them from the time `at`,
    before this job would end.
    """

    other: Job
    at: Annotated[Moment, Called("from")]
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"it would end at {at(self.ends)}"
        return f"its own processors are free, but {ends} and {name(self.other)} is planned on them from {at(self.at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return delays_head(self.other)

    def past(self, job: Job, others: Others) -> str:
        return f"resuming it would have delayed {others('others')}"


class RoomUnseen(NamedTuple):
    """Reason to wait: the job would fit now, but it is planned for the time `at`, and the policy has not considered it
    again since.
    """

    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        planned = f"it is planned for {at(self.at)} and the policy has not reconsidered it"
        return f"{needs(job, self.free)} and would fit, but {planned}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"room, but planned for {at(self.at)}", "not reconsidered", "planned later"

    def past(self, job: Job, others: Others) -> str:
        return "the policy did not reconsider its plan although there was room"


@tells(is_reserved=True)
class WaitsForReserved(NamedTuple):
    at: Annotated[Moment, Called("from")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its user reserved its start for {at(self.at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "reserved by user", "reserved"

    def past(self, job: Job, others: Others) -> str:
        return "its user had reserved a later start"


class MachineGoesDown(NamedTuple):
    """Reason to wait: the job would not end before the announced maintenance. If rows take turns, its end is uncertain,
    and the latest possible end counts.
    """

    at: Annotated[Moment, Called("machine goes down")]
    ends: Annotated[Moment, Called("would end")]
    in_rows: Annotated[bool, UNTOLD] = False

    def sentence(self, job: Job, at: Clock) -> str:
        ends = "could end as late as" if self.in_rows else "would end at"
        return f"{ends} {at(self.ends)} > maintenance of the machine at {at(self.at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"machine down at {at(self.at)}", f"down {at(self.at)}", "machine goes down"

    def past(self, job: Job, others: Others) -> str:
        return "it would not have ended before the maintenance"


class NotYet(NamedTuple):
    recorded: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its recorded start is {at(self.recorded)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "starts later in the trace", "trace: later"

    def past(self, job: Job, others: Others) -> str:
        return "its recorded start was later"


# Parts of several sentences


def own_gone(gone: int, job: Job) -> str:
    """Return text on how many of the job's own processors are down."""
    if gone == job.procs:
        return f"{its_own(job)}{' all' * (job.procs > 1)} down"
    return f"{gone:,} of its own {processors(job.procs)} {'is' if gone == 1 else 'are'} down"


def _too_few_once(job: Job, free: int, other: Job | None, then: float | None, at: Clock) -> str:
    if then is None:
        return needs(job, free)
    what = "the machine goes down" if other is None else f"{name(other)} starts"
    return f"{needs(job, free)} now but too few once {what} at {at(then)}"


def _count_are(many: int, what: str) -> str:
    return f"{many:,} {'is' if many == 1 else 'are'} {what}"


def delays_head(other: Job) -> Brief:
    return f"would delay {name(other)}", f"delays {name(other)}", f"for {name(other)}"
