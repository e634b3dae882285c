"""Why a job is kept waiting: plain immutable data, each of which says itself.

Whole, in a few words for a table, and of many steps together. Times are seconds, `free`/`extra`/`busy` processors.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sim.decisions.reasons import its_own
from sim.decisions.sentences import UNTOLD, Brief, Called, Moment, Others, Span
from sim.words import Clock, count, listed, name, processors, span
from sim.workload.model import Job


class TooFewFree(NamedTuple):
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        return _needs(job, self.free)

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{job.procs:,} > {self.free:,} free", f"{job.procs:,} > {self.free:,}"

    def past(self, job: Job, others: Others) -> str:
        return f"fewer than its {processors(job.procs)} were free" if job.procs > 1 else "no processor was free"


class WouldDelay(NamedTuple):
    head: Annotated[Job, Called("head of queue")]
    shadow: Annotated[Moment, Called("its start")]
    ends: Annotated[Moment, Called("would end")]
    extra: Annotated[int, Called("extra procs")]

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"would end at {at(self.ends)} > {name(self.head)}'s start at {at(self.shadow)}"
        return f"needs {job.procs} > {self.extra} extra and {ends}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return _would_delay(self.head)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the head of the queue')}"


class PredictedToDelay(NamedTuple):
    head: Annotated[Job, Called("head of queue")]
    shadow: Annotated[Moment, Called("its start")]
    ends: Annotated[Moment, Called("would end")]
    extra: Annotated[int, Called("extra procs")]

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"is predicted to end at {at(self.ends)} > {name(self.head)}'s start at {at(self.shadow)}"
        return f"needs {job.procs} > {self.extra} extra and {ends}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return _would_delay(self.head)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the head of the queue')}, as was predicted"


class BeyondLookahead(NamedTuple):
    """Only so many jobs behind the head are looked at."""

    head: Annotated[Job, Called("head of queue")]
    window: int

    def sentence(self, job: Job, at: Clock) -> str:
        return (
            f"only {count(self.window, 'job')} behind {name(self.head)} {'is' if self.window == 1 else 'are'} looked at"
        )

    def brief(self, job: Job, at: Clock) -> Brief:
        return "too far behind the head", "too far behind"

    def past(self, job: Job, others: Others) -> str:
        return f"it stood too far behind {others('the head of the queue')}"


class PlannedLater(NamedTuple):
    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        whole = f"from {at(self.at)} on for its whole estimate of {span(job.estimate)}"
        return f"{_needs(job, self.free)}, but only {whole}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no hole before {at(self.at)}", "no hole before", "no hole yet"

    def past(self, job: Job, others: Others) -> str:
        return "what was free was needed too soon by jobs planned before it"


class WindowCloses(NamedTuple):
    head: Annotated[Job, Called("head of queue")]
    ends: Annotated[Moment, Called("would end")]
    closes: Annotated[Moment, Called("window closes")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"would end at {at(self.ends)}, after the window for {name(self.head)} closes at {at(self.closes)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"ends past {name(self.head)}'s window", "past a window"

    def past(self, job: Job, others: Others) -> str:
        return f"it would have outlasted the window for {others('the head')}"


class BreaksBound(NamedTuple):
    other: Job
    start: Moment
    bound: Annotated[Moment, Called("its bound")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"would push {name(self.other)}'s start to {at(self.start)}, past its bound {at(self.bound)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"breaks {name(self.other)}'s bound", "breaks bound"

    def past(self, job: Job, others: Others) -> str:
        return f"it would have pushed {others('others')} past their bounds"


class WaitsForOwn(NamedTuple):
    busy: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        if self.busy == job.procs:
            return f"{its_own(job)}{' all' * (job.procs > 1)} taken"
        return f"{self.busy:,} of its own {processors(job.procs)} {'is' if self.busy == 1 else 'are'} taken"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.busy:,} of its own taken", f"{self.busy:,} taken"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs were on its own processors"


class OwnGone(NamedTuple):
    """So many of its own processors are not there, and others of them may be taken."""

    gone: Annotated[int, UNTOLD]
    busy: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        taken = f", {_are(self.busy, 'taken')}" if self.busy else ""
        return f"{own_gone(self.gone, job)}{taken}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.gone:,} of its own gone", f"{self.gone:,} gone"

    def past(self, job: Job, others: Others) -> str:
        return "its own processors were gone"


def waits_for_own(own: int, free: int, there: int) -> WaitsForOwn | OwnGone | None:
    """What the job lacks of its own processors; None: nothing."""
    busy, gone = (own & there & ~free).bit_count(), (own & ~there).bit_count()
    return OwnGone(gone, busy) if gone else WaitsForOwn(busy) if busy else None


class OwnClaimed(NamedTuple):
    """Its own processors are free, but so many are claimed by those for whom others were suspended."""

    claimed: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        claimed = f"{self.claimed:,} of its own {processors(job.procs)} {'is' if self.claimed == 1 else 'are'} claimed"
        return f"{claimed} by jobs for which others were suspended"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.claimed:,} of its own claimed", f"{self.claimed:,} claimed"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs had a claim on its own processors"


class AwaitsVictims(NamedTuple):
    """Those that were suspended for it have not left yet."""

    victims: tuple[Job, ...]

    def sentence(self, job: Job, at: Clock) -> str:
        have = "has" if len(self.victims) == 1 else "have"
        return f"{listed(map(name, self.victims))}, suspended for it, {have} not left yet"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"until {listed(map(name, self.victims), 1)} left", "victims leave"

    def past(self, job: Job, others: Others) -> str:
        return "the jobs that were suspended for it had not left yet"


class ClaimTaken(NamedTuple):
    """Its victims have left, but others had been promised some of what it is to have, and run there."""

    others: tuple[Job, ...]

    def sentence(self, job: Job, at: Clock) -> str:
        run = "runs" if len(self.others) == 1 else "run"
        return f"{listed(map(name, self.others))} {run} on what is claimed for it"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{listed(map(name, self.others), 1)} on what it claims", "claim taken"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs were on what was claimed for it"


class NoVictims(NamedTuple):
    xfactor: Annotated[float, UNTOLD]
    factor: float

    def sentence(self, job: Job, at: Clock) -> str:
        smaller = f"{self.factor:.12g} times smaller than its own {self.xfactor:.2f}"
        return f"too few running jobs have an xfactor {smaller}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no {self.factor:.12g} times smaller xfactors", "no victims"

    def past(self, job: Job, others: Others) -> str:
        return "it had too few victims: running jobs with an xfactor so much smaller than its own"


class NoVictimAllowed(NamedTuple):
    """Enough running jobs have a small xfactor, but so many are too wide, and so many spared as they suffered much."""

    xfactor: Annotated[float, UNTOLD]
    factor: float
    wide: Annotated[int, UNTOLD]
    spared: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        smaller = f"an xfactor {self.factor:.12g} times smaller than its own {self.xfactor:.2f}"
        wide = [_are(self.wide, "more than twice as wide")] if self.wide else []
        spared = [_are(self.spared, "spared, having suffered much")] if self.spared else []
        return f"of the running jobs with {smaller} {' and '.join(wide + spared)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return ("victims too wide" if self.wide else "victims spared"), "no victims"

    def past(self, job: Job, others: Others) -> str:
        return "the running jobs that it outranked were too wide" + (" or spared" if self.spared else "")


class TurnOver(NamedTuple):
    """Its processors are free, or could be taken from others, now, but were not at its turn."""

    def sentence(self, job: Job, at: Clock) -> str:
        return "could have its processors by now, but not at its turn in this pass"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "its turn is over", "turn over"

    def past(self, job: Job, others: Others) -> str:
        return "its turn was over when it could have had its processors"


class NoSliceOver(NamedTuple):
    slice: Span

    def sentence(self, job: Job, at: Clock) -> str:
        return f"too few running jobs have had their slice of {span(self.slice)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no slice of {span(self.slice)} is over", "no slice over", "no slice"

    def past(self, job: Job, others: Others) -> str:
        return "too few running jobs had had their slice"


class PivotLater(NamedTuple):
    """It is planned for `at`: what is free now is too little once `other` starts, or the machine goes, at `then`."""

    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]
    other: Job | None = None
    then: Moment | None = None

    def sentence(self, job: Job, at: Clock) -> str:
        planned = f"heads its partition's queue and is planned for {at(self.at)}"
        return f"{planned}: {_too_few_once(job, self.free, self.other, self.then, at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        if self.other is None:
            return "pivot: planned later", "pivot"
        return f"pivot: {name(self.other)} comes first", f"for {name(self.other)}"

    def past(self, job: Job, others: Others) -> str:
        return f"it headed its queue, but too much was needed by {others('others')} before its planned start"


class WouldDelayPivot(NamedTuple):
    pivot: Job
    start: Moment
    later: Moment
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        pushes = f"push the pivot {name(self.pivot)} from {at(self.start)} to {at(self.later)}"
        return f"would end at {at(self.ends)} and {pushes}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return _would_delay(self.pivot)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the pivots')}"


class TouchesReservation(NamedTuple):
    other: Job
    at: Annotated[Moment, Called("from")]
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        takes = f"take processors reserved for {name(self.other)} from {at(self.at)} on"
        return f"would end at {at(self.ends)} and {takes}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"needs what {name(self.other)} reserved", f"for {name(self.other)}"

    def past(self, job: Job, others: Others) -> str:
        return f"it would have touched what is reserved for {others('others')}"


class TrialLater(NamedTuple):
    """Its speculative run of at most `limit` seconds is reserved for `at`.

    Too few are free now or, if `then` is told, from that on: `other` starts, or the machine goes down.
    """

    at: Annotated[Moment, Called("from")]
    limit: Span
    free: Annotated[int, UNTOLD]
    other: Job | None = None
    then: Moment | None = None

    def sentence(self, job: Job, at: Clock) -> str:
        run = f"its speculative run of at most {span(self.limit)} is reserved for {at(self.at)}"
        return f"{run}: {_too_few_once(job, self.free, self.other, self.then, at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"first run at {at(self.at)}", f"runs {at(self.at)}", "a run later"

    def past(self, job: Job, others: Others) -> str:
        return "its speculative run was reserved for later"


class BeforeOthers(NamedTuple):
    """The suspended job's own processors are free, but it would take what `other` is to have from `at` on."""

    other: Job
    at: Annotated[Moment, Called("from")]
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        takes = f"take what {name(self.other)} is to have from {at(self.at)} on"
        return f"its own processors are free, but it would end at {at(self.ends)} and {takes}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return _would_delay(self.other)

    def past(self, job: Job, others: Others) -> str:
        return f"going on would have delayed {others('others')}"


class RoomUnseen(NamedTuple):
    """There is room for it now, but its start was planned for `at` and nobody has looked again."""

    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{_needs(job, self.free)}, and it would fit: it was planned for {at(self.at)}, and nobody looked again"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"room, but planned for {at(self.at)}", "not looked at"

    def past(self, job: Job, others: Others) -> str:
        return "nobody looked at its plan again, though there was room"


class WaitsForReserved(NamedTuple):
    at: Annotated[Moment, Called("from")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its start is reserved for {at(self.at)}, as its user asked"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "as its user asked", "user's wish"

    def past(self, job: Job, others: Others) -> str:
        return "its user had asked for a later start"


class MachineGoesDown(NamedTuple):
    """It would run into the maintenance that was announced, or may where rows take turns."""

    at: Annotated[Moment, Called("machine goes down")]
    ends: Annotated[Moment, Called("would end")]
    in_rows: Annotated[bool, UNTOLD] = False

    def sentence(self, job: Job, at: Clock) -> str:
        ends = "could end as late as" if self.in_rows else "would end at"
        return f"{ends} {at(self.ends)}, and the machine goes down for maintenance at {at(self.at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"machine down at {at(self.at)}", f"down {at(self.at)}", "machine goes down"

    def past(self, job: Job, others: Others) -> str:
        return "it would have run into the maintenance of the machine"


class NotYet(NamedTuple):
    recorded: Moment

    def sentence(self, job: Job, at: Clock) -> str:
        return f"the trace says that it starts at {at(self.recorded)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "starts later in the trace", "trace: later"

    def past(self, job: Job, others: Others) -> str:
        return "the trace starts it later"


# What several say


def _needs(job: Job, free: int) -> str:
    return f"needs {job.procs}, {free} free"


def own_gone(gone: int, job: Job) -> str:
    """How many of its own processors are not there."""
    if gone == job.procs:
        return f"{its_own(job)}{' all' * (job.procs > 1)} gone"
    return f"{gone:,} of its own {processors(job.procs)} {'is' if gone == 1 else 'are'} gone"


def _too_few_once(job: Job, free: int, other: Job | None, then: float | None, at: Clock) -> str:
    if then is None:
        return _needs(job, free)
    what = "the machine goes down" if other is None else f"{name(other)} starts"
    return f"{_needs(job, free)}, too few once {what} at {at(then)}"


def _are(many: int, what: str) -> str:
    return f"{many:,} {'is' if many == 1 else 'are'} {what}"


def _would_delay(other: Job) -> Brief:
    return f"would delay {name(other)}", f"delays {name(other)}", f"for {name(other)}"
