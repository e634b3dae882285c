"""Why a job waits, how much room there is and who must end before it fits, who stands before it, whom it would delay.

Asked of the state of a run between two steps (`why_it_waits`), or of plain values that a snapshot has as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from sim.decisions.decisions import Decision, Keep
from sim.decisions.reasons import OfTheHead
from sim.decisions.reasons_to_wait import (
    MachineGoesDown,
    PlannedLater,
    RoomUnseen,
    TooFewFree,
    TouchesReservation,
    WaitsForReserved,
)
from sim.decisions.sentences import Brief, Others, Reason
from sim.engine.state import State
from sim.machine.matrix import MatrixPicture
from sim.machine.moment import MOMENT
from sim.machine.profile import Profile
from sim.policies.view import Ends
from sim.words import Clock, name, processors
from sim.workload.model import Job

# What keeps it waiting, where the policy gives no reason


class Heads(NamedTuple):
    """It heads the queue: the first that does not fit, with `free` processors."""

    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"first in the queue: {TooFewFree(self.free).sentence(job, at)}"

    def past(self, job: Job, others: Others) -> str:
        return f"it was first in the queue and {TooFewFree(self.free).past(job, others)}"


class NotConsidered(NamedTuple):
    """The policy stopped at `head` (None: it does not say at whom) and did not come to this job."""

    head: Job | None
    free: int

    def sentence(self, job: Job, at: Clock) -> str:
        head = None if self.head == job else self.head
        stopped = f"at {name(head)}" if head else "before considering it"
        return f"{TooFewFree(self.free).sentence(job, at)}, and the policy stopped {stopped}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return "not considered", "not reached"

    def past(self, job: Job, others: Others) -> str:
        return f"the policy stopped at {others('jobs ahead of it')}"


class AwaitsTurn(NamedTuple):
    """It is in the matrix, whose `rows` take turns, and its own has not been on turn yet."""

    rows: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"its row, one of {self.rows:,}, has not had a turn yet"

    def past(self, job: Job, others: Others) -> str:
        return "its row of the matrix had not had a turn yet"


class FewBesideKept(NamedTuple):
    """Of the `free` processors so many are kept for a suspended job."""

    free: int
    kept: int
    kept_for: Job

    def sentence(self, job: Job, at: Clock) -> str:
        return f"{TooFewFree(self.free).sentence(job, at)}, {self.kept:,} of them kept for {name(self.kept_for)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.kept:,} kept for {name(self.kept_for)}", f"{self.kept:,} are kept"

    def past(self, job: Job, others: Others) -> str:
        return f"processors were kept for {others('a suspended job')}"


class RowLater(NamedTuple):
    """It is planned in a row of the matrix."""

    row: int

    def sentence(self, job: Job, at: Clock) -> str:
        return f"no row has room for it earlier; row {self.row} has then"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"then in row {self.row}", f"in row {self.row}"

    def past(self, job: Job, others: Others) -> str:
        return f"no row of the matrix had room for its {processors(job.procs)} soon enough"


class RowStopped(NamedTuple):
    """Why a job is suspended by a switch alone."""

    def sentence(self, job: Job, at: Clock) -> str:
        return "its row did not have its turn when the policy was switched"


def why_it_waits(
    state: State,
    job: Job,
    decisions: Sequence[Decision],
    planned: tuple[float | None, Reason | None],
) -> Reason:
    """Why a job in the queue waits: what the policy says, or else what its decisions and its plan amount to."""
    if own := [d.because for d in decisions if isinstance(d, Keep) and d.job is job]:
        return own[-1]
    at, why = planned
    down = None
    if not state.sharing and job.rank not in state.granted:
        down = goes_down(state.now + state.reserved_for(job), state.closes)
    if isinstance(why, OfTheHead):
        return Heads(room(state)) if down is None or job.procs > state.free else down
    free, ends, changes = state.outlook(state.awaited)
    awaited = None if state.awaited is None else state.jobs[state.awaited]
    kept_free = None if awaited is None else FewBesideKept(state.free, state.free - free, awaited)
    plans = ((state.jobs[r], start, state.reserved_for(state.jobs[r])) for r, start in state.planned.items())
    return unsaid(
        job,
        at,
        row=state.expected_row.get(job.rank),
        stopped=stops_at(decisions),
        free=room(state) if state.sharing else free,
        kept=kept_free,
        down=down,
        fits=lambda free: has_room(job, state.now, free, (*ends, *changes), plans),
    )


def goes_down(ends: float, closes: float) -> MachineGoesDown | None:
    """Why who would end then cannot start: the machine goes down before; None: it does not."""
    return MachineGoesDown(closes, ends) if ends > closes + MOMENT else None


def stops_at(decisions: Sequence[Decision]) -> Job | None:
    """The last that the policy kept waiting; who has a reservation, or would touch one, stops nobody."""
    beside = WaitsForReserved | TouchesReservation
    kept = (d.job for d in reversed(decisions) if isinstance(d, Keep) and not isinstance(d.because, beside))
    return next(kept, None)


def unsaid(
    job: Job,
    at: float | None,
    *,
    row: int | None,
    stopped: Job | None,
    free: int,
    kept: FewBesideKept | None,
    down: MachineGoesDown | None,
    fits: Callable[[int], bool],
) -> Reason:
    """Why a job waits of which the policy says nothing: nobody came to it, or it is planned for later.

    row: of a matrix, in which it is planned. stopped: at whom the policy did. free: what the policy sees as free; kept:
    what is kept beside that. down: would it run into maintenance if it started now? fits: would the job find room from
    now on if so many are free?
    """
    if at is None:
        return NotConsidered(stopped, free)
    if row is not None:
        return RowLater(row)
    if job.procs > free:
        return kept if kept is not None and kept.kept else TooFewFree(free)
    if down is not None:
        return down
    return RoomUnseen(at, free) if fits(free) else PlannedLater(at, free)


def has_room(job: Job, now: float, free: int, ends: Ends, plans: Iterable[tuple[Job, float, float]]) -> bool:
    """Could the job run from now on beside what runs and what is planned: (job, its start, for how long)?"""
    until, changes = now + job.estimate, [(end, procs) for end, _, procs in ends]
    for other, start, lasts in plans:
        if other != job and start < until - MOMENT:
            changes += [(max(start, now), -other.procs), (max(start, now) + lasts, other.procs)]
    changes.sort(key=lambda change: (change[0], -change[1]))
    for time, change in changes:
        if time >= until - MOMENT:
            break
        free += change
        if free < job.procs:
            return False
    return True


# Room


def room(state: State) -> int:
    """The free processors; in a matrix, those of the row with most, where replicas stand in nobody's way."""
    sharing = state.sharing
    if sharing is None:
        return state.free
    return most_free(state.machine.size, sharing.matrix.picture(sharing.turns.row))[0]


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


def ahead_of(state: State, job: Job) -> list[Job]:
    """Who stands in line before the waiting job, in its own queue; nobody, if it does not stand in line itself."""
    line, queue_of = state.line, state.policy.queue_of
    if not state.stands_in_line(job.rank) or job not in line:
        return []
    before = line[: line.index(job)]
    return [other for other in before if queue_of(other) == queue_of(job) and state.stands_in_line(other.rank)]


def stands_before(state: State, other: Job, job: Job) -> bool:
    """Does the other stand before the job in the queue's order?"""
    order, now = state.policy.line_order(), state.now
    order = state.waiting.order if order == state.policy.queue_order() else order.at_step(state.waiting.step)
    first, second = ((order.key(each, now if order.by_clock else each.submit), each.rank) for each in (other, job))
    return first < second


class Plan(NamedTuple):
    """The planned start of a waiting job. Does it stand as a reservation? Else it is made anew at each pass."""

    job: Job
    at: float
    lasts: float
    stands: bool


class Delayed(NamedTuple):
    """Starting a job at once would move the planned start of `other` from `at` by so many seconds."""

    other: Job
    at: float
    seconds: float


def delayed_by(job: Job, now: float, plan: Profile, planned: Iterable[Plan]) -> Iterator[Delayed]:
    """Whose planned start would not hold if the job started now: each is placed again around it, in this order.

    Reservations that stand come first, each from its start on; then what is planned anew, from now on. `plan` has those
    that run, and is used up.
    """
    plan.take(now, now + job.estimate, job.procs)
    for other, at, lasts, stands in sorted(planned, key=lambda plan: not plan.stands):
        since = max(at, now) if stands else now
        if other != job and (seconds := plan.place(other.procs, lasts, since) - at) > MOMENT:
            yield Delayed(other, at, seconds)
