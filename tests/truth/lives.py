"""Record of what happened to each job, kept while its run is checked; with it the output of `explain` is compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.reasons_to_wait import NoVictims, TooFewFree
from tests.truth.peers import predicted
from tests.truth.told import After, line_of
from tests.truth.waits import WaitStep, head_now, promises, wait_step
from tests.truth.world import Work, World


class Stop(NamedTuple):
    """A suspension from `time` until `until`: seconds that the job had run, the reason, and the jobs that then started
    on its processors."""

    time: float
    until: float | None
    ran: float
    because: Any
    """None if the job's row had not had a turn when the policy was switched"""
    taken_by: frozenset[int] = frozenset()


class Begun(NamedTuple):
    """A start, a resumption, or a placement in the matrix; `decision` says which."""

    time: float
    decision: Any
    rows: int = 0
    """Number of rows in the matrix after that step"""
    freed: tuple[tuple[int, float], ...] = ()
    """(rank, expected end) of each job that ended in that step"""


class RowStep(NamedTuple):
    """The job's position in the matrix after one step."""

    time: float
    rows: int
    own: int
    home: int
    ran: float
    new: bool


@dataclass
class Record:
    """The life of one job, recorded step by step."""

    submitted: tuple[int, int, int | None, bool] = (0, 0, None, False)
    """(jobs ahead at submission, their processors, free processors after that pass or None if the job need not wait,
    whether these are those of a row)"""
    begun: list[Begun] = field(default_factory=list)
    stops: list[Stop] = field(default_factory=list)
    cuts: list[float] = field(default_factory=list)
    """Times at which the job lost its work: a speculative run was killed, or its processors went down"""
    interrupted: dict[float, float] = field(default_factory=dict)
    """For each time at which its processors went down: the seconds that it had run until then"""
    waited: list[tuple[float, float]] = field(default_factory=list)
    """(begin, end) of each time in the queue"""
    moves: list[tuple[int, float, bool]] = field(default_factory=list)
    """(index of its stay in the matrix, seconds charged, True if this job itself moved) for each migration that
    concerned it"""
    in_rows: list[list[RowStep]] = field(default_factory=list)
    """For each of its stays in a matrix: its position after each step"""
    left: list[tuple[float, float]] = field(default_factory=list)
    """(time, seconds run until then) for each time at which it left the matrix"""
    decided: list[tuple[float, Any]] = field(default_factory=list)
    plans_written: list[float] = field(default_factory=list)
    """Its planned starts that a story may mention; for plans in rows, a small move, by less than a turn, is left out
    within one wait"""
    is_anew: bool = True
    """True if its next planned start in a row is the first in this wait under this policy"""
    steps: list[WaitStep] = field(default_factory=list)
    """Why it waited, after each step in which it waited in the queue or in rows; only for watched jobs"""
    planned: list[tuple[float, float | None]] = field(default_factory=list)
    """(time, planned start or None) after each step in which it waited"""
    plans: dict[float, float | None] = field(default_factory=dict)
    """For the time of each step: its planned start after that step; if it started then, its planned start in the
    step"""
    moved_by: dict[float, list[dict[int, float]]] = field(default_factory=dict)
    """For each time: for each pass then, the running jobs and their expected ends"""
    ended_early: dict[float, list[dict[int, float]]] = field(default_factory=dict)
    """For each time: for each step then, the jobs that ended and their expected ends"""
    came_before: dict[float, list[set[int]]] = field(default_factory=dict)
    """For each time: for each step then, the jobs that arrived then and are ahead of it in the queue"""
    heads: dict[float, set[str | None]] = field(default_factory=dict)
    """For each time: the first job in the queue, if the policy plans for one job only; several if the policy was
    switched twice then"""
    numbers: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    """For each of the policy's own numbers, by name: (time, value) of each change before the job started"""
    has_started: bool = False
    promised: dict[float, set[bool]] = field(default_factory=dict)
    """For each time: whether the policy promised starts; both values if the policy was switched twice then"""


def own_numbers(world: World, job: Work) -> Iterator[tuple[str, float]]:
    """Yield (name, value) of the numbers that the policy itself keeps about an arrived job: predicted run time, its
    user's usage."""
    if world.rules.name == "easy++" and job.rank not in world.granted:
        yield "predicted", predicted(world, job)
    if world.rules.get("order", "") == "multifactor":
        yield "usage", world.usage.of[job.user]


class Chronicle:
    """The records of all jobs of a run; some details are kept for the `watched` jobs only."""

    def __init__(self, world: World, watched: list[int], asked: Sequence[tuple[float, str]]) -> None:
        self.world, self.watched, self.asked = world, watched, asked
        self.records = [Record() for _ in world.jobs]
        self.switches: list[tuple[float, str, str]] = []
        """(time, old policy, new policy) of each switch"""
        self.times: list[float] = []
        """Times of all steps"""
        self._was_waiting: set[int] = set()
        self._was_aside: set[int] = set()
        self._was_in_rows: dict[int, bool] = {}

    def note(self, decision: Any) -> None:
        """Record a decision that has just been applied to the state."""
        now, rank = self.world.now, getattr(getattr(decision, "job", None), "rank", None)
        if isinstance(decision, d.Switched):
            self.switches.append((now, decision.was, decision.now))
            for other in self.watched:
                if self._was_in_rows.get(other):
                    self._leave_rows(other)
            for aside in self.world.aside.keys() - self._was_aside:
                self.records[aside].stops.append(Stop(now, None, self.world.ran[aside], None))
            for each in self.records:
                each.is_anew = True
        if rank is None:
            return
        record = self.records[rank]
        record.decided.append((now, decision))
        if isinstance(decision, d.Reserve | m.ReserveRow):
            record.plans[now] = decision.at
            turn = self.world.rules["slice"] if isinstance(decision, m.ReserveRow) and not record.is_anew else 0.0
            if not record.plans_written or abs(decision.at - record.plans_written[-1]) >= turn:
                record.plans_written.append(decision.at)
                record.is_anew &= not isinstance(decision, m.ReserveRow)
        if isinstance(decision, d.Start | d.Backfill | d.Resume | m.Place):
            record.begun.append(Begun(now, decision, freed=tuple(self.world.expected.items())))
            record.is_anew = True
            if record.stops and record.stops[-1].until is None:
                record.stops[-1] = record.stops[-1]._replace(until=now)
        if isinstance(decision, d.Interrupt):
            record.cuts.append(now)
            record.interrupted[now] = decision.ran
            if self._was_in_rows.get(rank):
                record.left.append((now, decision.ran))
                self._was_in_rows[rank] = False
            if record.stops and record.stops[-1].until is None:
                record.stops[-1] = record.stops[-1]._replace(until=now)
        if isinstance(decision, d.Suspend):
            record.stops.append(Stop(now, None, self.world.ran[rank], decision.because))
        stay = len(record.in_rows) - bool(self._was_in_rows.get(rank))
        if isinstance(decision, m.Migrate):
            record.moves.append((stay, decision.stall, True))
        if isinstance(decision, m.Stall):
            record.moves.append((stay, decision.seconds, False))

    def close(self, after: After) -> None:
        """Record each job's state after a step."""
        world = self.world
        self.times.append(world.now)
        for rank in world.waiting:
            at = getattr(after.planned.get(rank), "at", None)
            self.records[rank].planned.append((world.now, at))
            self.records[rank].plans[world.now] = at
            if world.rules.name == "multiqueue" and at is not None and self.records[rank].plans_written[-1:] != [at]:
                self.records[rank].plans_written.append(at)
            running = {r: held.ends for r, held in world.running.items()}
            self.records[rank].moved_by.setdefault(world.now, []).append(running)
        for rank in world.cut:
            self.records[rank].cuts.append(world.now)
        for rank in world.arrived:
            self.records[rank].submitted = self._submitted(rank)
        new = world.memo_rows.new if world.memo_rows is not None else set()
        for rank in {*world.waiting, *world.arrived, *new} - self._was_waiting:
            self.records[rank].waited.append((world.now, world.now))
        for rank in self._was_waiting | set(world.arrived) | new:
            since, _ = self.records[rank].waited[-1]
            self.records[rank].waited[-1] = since, world.now
        for rank in self.watched:
            self._watch(after, rank, (world.waiting | new) & self._was_waiting)
        self._was_waiting, self._was_aside = world.waiting | new, set(world.aside)

    def _watch(self, after: After, rank: int, goes_on: set[int]) -> None:
        """Record more of a watched job: its numbers and why it waits. `goes_on`: jobs that waited after the step before
        as well."""
        world, job, record, now = self.world, self.world.jobs[rank], self.records[rank], self.world.now
        turning = world.memo_rows
        if rank in world.came and rank not in world.dropped and not record.has_started:
            for name, value in own_numbers(world, job):
                numbers = record.numbers.setdefault(name, [])
                if not numbers or numbers[-1][1] != value:
                    numbers.append((now, value))
        record.has_started |= rank in world.first_start
        if rank in world.waiting or (turning is not None and rank in turning.new):
            step = wait_step(after, job, len(self.times) - 1)
            last = record.steps[-1].kind if record.steps and rank in goes_on else None
            if last is NoVictims and step.kind is TooFewFree and not world.switched_now:
                step = step._replace(kind=NoVictims)  # it looks for victims at its ticks only
            record.steps.append(step)
        if rank in self._was_waiting | world.waiting | set(world.arrived) or now in record.interrupted:
            record.heads.setdefault(now, set()).add(head_now(world))
            record.promised.setdefault(now, set()).add(promises(world))
            early = {r: end for r, end in world.expected.items() if end > now}
            record.ended_early.setdefault(now, []).append(early)
            arrived = {other for other in world.arrived if other != rank}
            before = {r for r in arrived if world.place(world.jobs[r]) < world.place(job)}
            record.came_before.setdefault(now, []).append(before)
        if record.begun and record.begun[-1].time == now and not record.begun[-1].rows and turning is not None:
            record.begun[-1] = record.begun[-1]._replace(rows=len(turning.rows))
        is_told = (
            rank in self._was_aside and now in self.times[-2:-1]
        )  # recorded already by the previous step of this instant
        if record.stops and record.stops[-1].time == now and rank in world.aside and not is_told:
            own = world.aside[rank].mask
            masks = {r: held.mask for r, held in world.running.items()}
            if turning is not None and turning.on_turn is not None:
                masks = {r: turning.columns[r] for r in turning.on_turn.home | turning.on_turn.guests}
            taken = frozenset(r for r, mask in masks.items() if mask & own and r != rank)
            record.stops[-1] = record.stops[-1]._replace(taken_by=taken)
        if turning is not None and rank in turning.columns:
            own_rows = sum(rank in row.home | row.guests for row in turning.rows)
            stands = RowStep(
                now, len(turning.rows), own_rows, turning.home_of(rank).number, turning.ran[rank], rank in turning.new
            )
            if not self._was_in_rows.get(rank):
                record.in_rows.append([])
            record.in_rows[-1].append(stands)
        elif self._was_in_rows.get(rank):
            self._leave_rows(rank)
        self._was_in_rows[rank] = turning is not None and rank in turning.columns

    def _leave_rows(self, rank: int) -> None:
        self.records[rank].left.append((self.world.now, self.world.progress(rank)))
        self._was_in_rows[rank] = False

    def _submitted(self, rank: int) -> tuple[int, int, int | None, bool]:
        world, job = self.world, self.world.jobs[rank]
        line = line_of(world, job, has_left=rank not in world.waiting)
        ahead = line[: line.index(job)] if job in line else []
        free = None
        if rank in world.waiting:
            free = world.free_set().bit_count()
            if world.memo_rows is not None:
                homes = [sum(world.memo_rows.columns[r].bit_count() for r in row.home) for row in world.memo_rows.rows]
                free = max((world.size() - held for held in homes), default=world.size())
        in_rows = free is not None and world.memo_rows is not None
        return len(ahead), sum(other.procs for other in ahead), free, in_rows
