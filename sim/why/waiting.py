"""Why a job waits, how much room there is and who must end before it fits, who stands before it, whom it would delay.

Asked of the state of a run between two steps (`why_it_waits`), or of plain values that a snapshot has as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import FitsNoRow
from sim.decisions.reasons import WhenFree
from sim.decisions.reasons_to_wait import PlannedLater, TooFewFree
from sim.decisions.sentences import Others, Reason
from sim.engine.state import State
from sim.machine.matrix import MatrixPicture
from sim.machine.profile import Profile
from sim.words import Clock, listed, name
from sim.workload.model import Job

# What keeps it waiting, where the policy gives no reason


class Heads(NamedTuple):
    """It heads the queue: the first that does not fit, with `free` processors."""

    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"heads the queue: {TooFewFree(self.free).sentence(job, at)}"

    def past(self, job: Job, others: Others) -> str:
        return f"it headed the queue and {TooFewFree(self.free).past(job, others)}"


class NotConsidered(NamedTuple):
    """The policy stopped at `head` (None: it does not say at whom) and did not come to this job."""

    head: Job | None
    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        stopped = "" if self.head in (None, job) else f", and the queue stops at {name(self.head)}"
        return f"needs {job.procs:,}, {self.free:,} free{stopped}"

    def past(self, job: Job, others: Others) -> str:
        return f"the queue stopped at {others('jobs ahead of it')}"


class AwaitsVictims(NamedTuple):
    """Others were suspended for it and have not left yet."""

    victims: tuple[Job, ...]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{listed(map(name, self.victims))} suspended for it, and not gone yet"

    def past(self, job: Job, others: Others) -> str:
        return "the jobs that were suspended for it had not left yet"


class AwaitsTurn(NamedTuple):
    """It is in the matrix, whose `rows` take turns, and its own has not been on turn yet."""

    rows: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its row, one of {self.rows:,}, has not been on turn yet"

    def past(self, job: Job, others: Others) -> str:
        return "its row of the matrix had not been on turn yet"


def why_it_waits(
    state: State,
    job: Job,
    decisions: Sequence[Decision],
    planned: tuple[float | None, Reason | None],
    victims: tuple[Job, ...],
) -> Reason:
    """Why a job in the queue waits: what the policy says, or else what its decisions and its plan amount to."""
    kept = [d for d in decisions if isinstance(d, Keep)]
    if own := [d.because for d in kept if d.job is job]:
        return own[-1]
    at, why = planned
    free = room(state)
    if victims:
        return AwaitsVictims(victims)
    if at is None:
        return NotConsidered(kept[-1].job if kept else None, free)
    if isinstance(why, WhenFree):
        return Heads(free)
    if free < job.procs:
        return FitsNoRow(free, len(state.matrix.rows)) if state.sharing else TooFewFree(free)
    return PlannedLater(at, free)


# Room


def room(state: State) -> int:
    """The free processors; in a matrix, those of the row with most, where replicas stand in nobody's way."""
    sharing = state.sharing
    if sharing is None:
        return state.free
    return most_free(state.procs, sharing.matrix.picture(sharing.turns.row))[0]


def most_free(procs: int, picture: MatrixPicture) -> tuple[int, int]:
    """The free columns of the row that has most, replicas left aside, and that row; without rows everything is free."""
    rows = ((row, (cell.columns.bit_count() for cell in cells if cell.is_home)) for row, cells in picture.rows)
    free, row = max(((procs - sum(held), -row) for row, held in rows), default=(procs, 0))
    return free, -row


class Holder(NamedTuple):
    """A job that holds processors until `until`, as far as its estimate tells."""

    job: Job
    until: float


def holders(state: State) -> Iterator[Holder]:
    """Who runs alone on its processors, by expected end."""
    return (Holder(state.jobs[rank], end) for end, rank, _ in state.ends)


def must_end(running: Iterable[Holder], free: int, needed: int) -> tuple[Holder, ...]:
    """Of those that run, by expected end, as many as must end before so many processors are free."""
    found: list[Holder] = []
    for holder in running:
        if free >= needed:
            break
        found.append(holder)
        free += holder.job.procs
    return tuple(found)


# The others


def stands_before(state: State, other: Job, job: Job) -> bool:
    """Does the other stand before the job in the queue's order?"""
    order, now = state.waiting.order, state.now
    first, second = ((order.key(each, now if order.by_clock else each.submit), each.rank) for each in (other, job))
    return first < second


class Delayed(NamedTuple):
    """Starting a job at once would move the planned start of `other` from `at` by so many seconds."""

    other: Job
    at: float
    seconds: float


def delayed_by(job: Job, now: float, plan: Profile, planned: Iterable[tuple[Job, float, float]]) -> Iterator[Delayed]:
    """Whose planned start would not hold if the job started now: each is placed again around it, in this order.

    planned: (job, its start, how long it is to last); `plan` has those that run, and is used up.
    """
    plan.take(now, now + job.estimate, job.procs)
    for other, at, lasts in planned:
        if other != job and (seconds := plan.place(other.procs, lasts, at) - at) > 0:
            yield Delayed(other, at, seconds)
