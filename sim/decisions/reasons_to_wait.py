"""Why a job is kept waiting: plain immutable data, each of which says itself.

Whole, in a few words for a table, and of many steps together. Times are seconds, `free`/`extra`/`busy` processors.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sim.decisions.reasons import its_own
from sim.decisions.sentences import UNTOLD, Brief, Called, Moment, Others, Span
from sim.words import Clock, name, processors, span
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


class PlannedLater(NamedTuple):
    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        whole = f"from {at(self.at)} on for its whole estimate of {span(job.estimate)}"
        return f"{_needs(job, self.free)}, but only {whole}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"room only from {at(self.at)}", f"room {at(self.at)}", "room later"

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
    busy: Annotated[int, Called("own procs taken")]

    def sentence(self, job: Job, at: Clock) -> str:
        if self.busy == job.procs:
            return f"{its_own(job)}{' all' * (job.procs > 1)} taken"
        return f"{self.busy:,} of its own {processors(job.procs)} {'is' if self.busy == 1 else 'are'} taken"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.busy:,} of its own taken", f"{self.busy:,} taken"

    def past(self, job: Job, others: Others) -> str:
        return "other jobs were on its own processors"


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


class NoSliceOver(NamedTuple):
    slice: Span

    def sentence(self, job: Job, at: Clock) -> str:
        return f"too few running jobs have had their slice of {span(self.slice)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no slice of {span(self.slice)} is over", "no slice over", "no slice"

    def past(self, job: Job, others: Others) -> str:
        return "too few running jobs had had their slice"


class PivotLater(NamedTuple):
    at: Annotated[Moment, Called("from")]
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"heads its partition's queue and is planned for {at(self.at)}: {_needs(job, self.free)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        few = TooFewFree(self.free).brief(job, at)
        return f"pivot: {few[0]}", *few

    def past(self, job: Job, others: Others) -> str:
        return "it headed its queue, but too much was needed by others before its planned start"


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
    """Its speculative run of at most `limit` seconds is reserved for `at`; before, it would move somebody."""

    at: Annotated[Moment, Called("from")]
    limit: Span
    free: Annotated[int, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        run = f"its speculative run of at most {span(self.limit)}"
        return f"{run} is reserved for {at(self.at)}: {_needs(job, self.free)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"first run at {at(self.at)}", f"runs {at(self.at)}", "a run later"

    def past(self, job: Job, others: Others) -> str:
        return "its speculative run was reserved for later"


class WaitsForReserved(NamedTuple):
    at: Annotated[Moment, Called("from")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its start is reserved for {at(self.at)}, as its user asked"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "as its user asked", "user's wish"

    def past(self, job: Job, others: Others) -> str:
        return "its user had asked for a later start"


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


def _would_delay(other: Job) -> Brief:
    return f"would delay {name(other)}", f"delays {name(other)}", f"for {name(other)}"
