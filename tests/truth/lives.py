"""What `explain` tells of a job's life, read from a record that is kept while its run is read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import floor
from typing import Any, NamedTuple

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from sim.decisions.reasons import MadeRoom
from sim.decisions.sentences import say, why
from sim.life.life import Life
from sim.life.story import rows_of
from sim.life.summary import figures, summary
from sim.words import clock, clock_near
from tests.truth.told import After, line_of
from tests.truth.words import Lasts, Names, UntrueError, demand, demand_equal, read_aloud, reads
from tests.truth.world import World

EVERY = 10**6
"""Nothing is told together."""


class Stop(NamedTuple):
    """A suspension: from when until when, and how long it had run."""

    time: float
    until: float | None
    ran: float


@dataclass
class Record:
    """What befell one job, step by step."""

    submitted: tuple[int, int, int | None] = (0, 0, None)
    """Who stood before it, what they wanted, and how many processors were free after that pass, if it waited on"""
    begun: list[tuple[float, Any]] = field(default_factory=list)
    """When it started, went on or came into the matrix, and by which decision"""
    stops: list[Stop] = field(default_factory=list)
    cuts: list[float] = field(default_factory=list)
    waited: list[tuple[float, float]] = field(default_factory=list)
    """From when until when it stood in the queue"""
    migrations: int = 0
    lost: float = 0
    decided: list[tuple[float, Any]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    """When the steps were after which it waited, in the queue or in rows"""
    planned: list[tuple[float, float | None]] = field(default_factory=list)
    """After each step in which it waited: when that was, and its planned start"""
    moved_by: dict[float, dict[int, float]] = field(default_factory=dict)
    """time -> who ran then after the pass, and until when by the estimates"""


class Chronicle:
    """The records of all jobs of a run."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.records = [Record() for _ in world.jobs]
        self.switches: list[tuple[float, str]] = []
        self.times: list[float] = []
        """Of all steps"""
        self._was_waiting: set[int] = set()
        self._was_aside: set[int] = set()

    def note(self, decision: Any) -> None:
        """A decision that has just been done."""
        now, rank = self.world.now, getattr(getattr(decision, "job", None), "rank", None)
        if isinstance(decision, d.Switched):
            self.switches.append((now, decision.now))
            for aside in self.world.aside.keys() - self._was_aside:
                self.records[aside].stops.append(Stop(now, None, self.world.ran[aside]))
        if rank is None:
            return
        record = self.records[rank]
        record.decided.append((now, decision))
        if isinstance(decision, d.Start | d.Backfill | d.Resume | m.Place):
            record.begun.append((now, decision))
            if record.stops and record.stops[-1].until is None:
                record.stops[-1] = record.stops[-1]._replace(until=now)
        if isinstance(decision, d.Suspend):
            record.stops.append(Stop(now, None, self.world.ran[rank]))
        if isinstance(decision, m.Migrate):
            record.migrations += 1
            record.lost += decision.stall
        if isinstance(decision, m.Stall):
            record.lost += decision.seconds

    def close(self, after: After) -> None:
        """After a step."""
        world = self.world
        self.times.append(world.now)
        for rank in world.waiting:
            self.records[rank].planned.append((world.now, getattr(after.planned.get(rank), "at", None)))
            self.records[rank].moved_by[world.now] = {r: held.ends for r, held in world.running.items()}
        for rank in world.cut:
            self.records[rank].cuts.append(world.now)
        for rank in world.arrived:
            self.records[rank].submitted = self._submitted(rank)
        new = world.memo_rows.new if world.memo_rows is not None else set()
        for rank in {*world.waiting, *world.arrived, *new} - self._was_waiting:
            self.records[rank].waited.append((world.now, world.now))
        for rank in world.waiting | new:
            self.records[rank].steps.append(world.now)
        for rank in self._was_waiting | set(world.arrived) | new:
            since, _ = self.records[rank].waited[-1]
            self.records[rank].waited[-1] = since, world.now
        self._was_waiting, self._was_aside = world.waiting | new, set(world.aside)

    def _submitted(self, rank: int) -> tuple[int, int, int | None]:
        world, job = self.world, self.world.jobs[rank]
        line = line_of(world, job) if rank in world.waiting else []
        ahead = line[: line.index(job)] if job in line else []
        free = None
        if rank in world.waiting:
            free = world.free_set().bit_count()
            if world.memo_rows is not None:
                homes = [sum(world.memo_rows.columns[r].bit_count() for r in row.home) for row in world.memo_rows.rows]
                free = max((world.procs - held for held in homes), default=world.procs)
        return len(ahead), sum(other.procs for other in ahead), free


def read_life(chronicle: Chronicle, life: Life, passed: set[int]) -> Iterator[UntrueError]:
    """Every row of the story, the line of figures and the summary."""
    record = chronicle.records[life.job.rank]
    told = [(time, row) for time, row in rows_of(life, EVERY, EVERY)]
    teller = Teller(chronicle, record, life, passed)
    teller.ends_of_waiting = {until for _, until in record.waited} | {t for t, row in told if row.startswith("For ")}
    yield from teller.tried(Life, figures(life))
    yield from teller.tried(Life, summary(life))
    yield from teller.tried(Life, f"policy: {life.policy}")
    if [time for time, _ in told] != sorted(time for time, _ in told):
        yield UntrueError(f"Life: rows out of order: {told}")
    for time, row in told:
        teller.time = time
        yield from teller.tried(Row, row)
    yield from teller.check_whole([row for _, row in told])


class Row:
    """A row of the story."""


class Teller:
    """What readings of a life are given."""

    def __init__(self, chronicle: Chronicle, record: Record, life: Life, passed: set[int]) -> None:
        self.chronicle, self.record, self.life, self.passed = chronicle, record, life, passed
        self.job, self.time = chronicle.world.jobs[life.job.rank], 0.0
        self.ends_of_waiting = set[float]()
        """When the wait is over, or is told on in another row"""

    def tried(self, kind: type, sentence: str) -> Iterator[UntrueError]:
        try:
            read_aloud(kind, sentence, self)
        except UntrueError as false:
            yield false

    def moment(self, written: str) -> float:
        """A moment as it is written in a row."""
        match = re.fullmatch(r"(?:d(\d+) )?(\d\d):(\d\d)(?::(\d\d))?", written)
        demand(match is not None, f"{written} is no moment")
        assert match is not None
        day = int(match[1]) if match[1] is not None else floor(self.time) // 86400
        return day * 86400 + int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4] or 0)

    def is_at(self, written: str, time: float) -> None:
        demand_equal(self.moment(written), floor(time))

    def begun_now(self, *kinds: type) -> Any:
        found = [decision for time, decision in self.record.begun if time == self.time and isinstance(decision, kinds)]
        demand(found, "nothing begins then")
        return found[0]

    def check_whole(self, told: list[str]) -> Iterator[UntrueError]:
        """What must be told, and is not."""
        submit, end = self.job.submit, self.life.end
        switches = [t for t, _ in self.chronicle.switches if t >= submit and (end is None or t <= end)]
        said = sum(row.startswith("The policy is switched") for row in told)
        if end is not None and said not in (len(switches), sum(t < end for t in switches)):
            yield UntrueError(f"Row: {said} switches are told of {len(switches)}")
        said = sum(row.startswith("Suspended when") for row in told)
        if said != len(self.record.stops):
            yield UntrueError(f"Row: {said} suspensions are told of {len(self.record.stops)}")


# The head and the summary


@reads(Life, "policy: {any}")
def _(teller: Teller, told: str) -> None:
    switches = [(t, spec) for t, spec in teller.chronicle.switches if teller.life.end is None or t <= teller.life.end]
    parts = told.split(", from ")
    demand_equal(parts[1:], [f"{clock(t)} on {spec}" for t, spec in switches], "switches")


@reads(Life, "{n} of {n} processor(s) · estimate {s} · {any} {s} · submitted {any}")
def _(teller: Teller, procs: int, of: int, estimate: Lasts, verb: str, ran: Lasts, submitted: str) -> None:
    job, world = teller.job, teller.chronicle.world
    demand_equal((procs, of, verb), (job.procs, world.procs, "killed after" if world.killed[job.rank] else "ran"))
    demand(estimate.is_about(job.estimate) and ran.is_about(job.run))
    demand_equal(submitted, clock(job.submit))


@reads(Life, "{j} did not wait: it started at the moment of its submission.{any}")
def _(teller: Teller, name: str, rest: str) -> None:
    demand_equal(name, teller.job.name)
    demand_equal(wait_of(teller), 0)
    read_rest(teller, rest)


def wait_of(teller: Teller) -> float:
    """How long it stood in the queue, or in rows that had never been on turn."""
    return sum(until - since for since, until in teller.record.waited)


@reads(Life, "{j} waited {s} because {any}.{any}", "{j} waited {s}: {any}.{any}", "{j} waited {s} {any}.{any}")
def _(teller: Teller, name: str, waited: Lasts, because: str, rest: str) -> None:
    demand_equal(name, teller.job.name)
    demand(waited.is_about(wait_of(teller)), wait_of(teller))
    if passed := re.search(r"(No|[\d,]+) jobs? passed it", because + rest):
        many = 0 if passed[1] == "No" else int(passed[1].replace(",", ""))
        demand_equal(many, len(teller.passed), "passed")
    read_rest(teller, because + rest)


def read_rest(teller: Teller, rest: str) -> None:
    """How often it was suspended after its start, and for how long."""
    stops = [stop for stop in teller.record.stops if stop.until is not None or teller.life.end is None]
    told = re.search(r"After its start it was suspended (once|twice|[\d,]+ times), for (\S+) in all", rest)
    demand_equal(often(told[1]) if told else 0, len(teller.record.stops), "suspended")
    if told:
        read_length(told[2], sum((stop.until or stop.time) - stop.time for stop in stops))


def often(word: str) -> int:
    return {"once": 1, "twice": 2}.get(word) or int(word.split()[0].replace(",", ""))


def read_length(written: str, true: float) -> None:
    from tests.truth.words import lasts

    demand(lasts(written).is_about(true), f"{written} said, {true} true")


# Rows


@reads(Row, "Submitted: nobody ahead of it.")
def _(teller: Teller) -> None:
    demand_equal(teller.record.submitted[0], 0)
    demand_equal(teller.record.submitted[2], None)


@reads(
    Row,
    "Submitted: nobody ahead of it, {n} processor(s) free after the pass.",
    "Submitted: nobody ahead of it, {n} processor(s) free in the emptiest row after the pass.",
)
def _(teller: Teller, free: int) -> None:
    demand_equal((0, free), (teller.record.submitted[0], teller.record.submitted[2]))


@reads(
    Row,
    "Submitted: {n} job ahead of it, wanting {n}, {n} processor(s) free after the pass.",
    "Submitted: {n} jobs ahead of it, wanting {n}, {n} processor(s) free after the pass.",
    "Submitted: {n} job ahead of it, wanting {n}, {n} processor(s) free in the emptiest row after the pass.",
    "Submitted: {n} jobs ahead of it, wanting {n}, {n} processor(s) free in the emptiest row after the pass.",
)
def _(teller: Teller, ahead: int, wanted: int, free: int) -> None:
    demand_equal((ahead, wanted, free), teller.record.submitted)


@reads(Row, "Started at once: {any}.", "Backfilled at once: {any}.")
def _(teller: Teller, because: str) -> None:
    started(teller, None, because)


@reads(Row, "Started after {s}: {any}.", "Backfilled after {s}: {any}.")
def started(teller: Teller, after: Lasts | None, because: str) -> None:
    decision = teller.begun_now(d.Start, d.Backfill)
    said = why(decision.because, decision.job, clock_near(teller.time))
    demand(because.startswith(said), f"it was {said}")
    since = max([teller.job.submit, *(cut for cut in teller.record.cuts if cut <= teller.time)])
    demand(after.is_about(teller.time - since) if after else teller.time == since, since)


@reads(Row, "Suspended when it had run for {s}: {any}.", "Suspended when it had run for {s}, which takes {s}: {any}.")
def _(teller: Teller, ran: Lasts, *rest: Any) -> None:
    found = [stop for stop in teller.record.stops if stop.time == teller.time]
    demand(found, "it is not suspended then")
    demand(any(ran.is_about(stop.ran) for stop in found))


@reads(Row, "Went on after {s}: {any}.")
def _(teller: Teller, after: Lasts, because: str) -> None:
    decision = teller.begun_now(d.Resume, m.Place)
    demand_equal(because, why(decision.because, decision.job, clock_near(teller.time)))
    found = [stop for stop in teller.record.stops if stop.until == teller.time]
    demand(found and any(after.is_about(teller.time - stop.time) for stop in found))


@reads(Row, "The policy is switched from {any} to {any}.")
def _(teller: Teller, was: str, now: str) -> None:
    demand((teller.time, now) in teller.chronicle.switches)


@reads(Row, "For {s} ({n} step{any}) {any}", "For {s} ({n} steps{any}) {any}", "For {s} ({n} step{any}): {any}")
def _(teller: Teller, long: Lasts, steps: int, changes: str, told: str) -> None:
    until = min(end for end in teller.ends_of_waiting if end > teller.time)
    demand(long.is_about(until - teller.time), f"it is {until - teller.time}")
    true = sum(teller.time <= time < until for time in teller.record.steps)
    at_once = teller.record.steps.count(teller.time)  # after two switches at one moment
    demand(true - at_once < steps <= true, f"{true} steps")
    if passed := re.search(r" (\S+) jobs passed it\.$", told):
        demand(int(passed[1].replace(",", "")) <= len(teller.passed))


@reads(Row, "Planned start moved from {any} to {any}, {s} later: {js} passed it.")
def _(teller: Teller, was: str, to: str, by: Lasts, passers: Names) -> None:
    moved(teller, was, to, by)
    own = [
        decision.because
        for time, decision in teller.record.decided
        if time == teller.time and type(decision) is d.Reserve
    ]
    if any(isinstance(because, MadeRoom) and f"J{because.passer.id}" in passers[0] for because in own):
        return
    record, world = teller.record, teller.chronicle.world
    then = record.moved_by[teller.time]
    before = next(at for time, at in reversed(record.planned) if time < teller.time)
    assert before is not None
    taken = {rank: world.jobs[rank].procs for rank, end in then.items() if end > before}
    named = [world.by_name[name].rank for name in passers[0]]
    demand(all(rank in taken for rank in named), "they are gone by then")
    demand(sum(taken.values()) + teller.job.procs > world.procs, "there is room with them")
    if not passers[1]:
        left = sum(procs for rank, procs in taken.items() if rank not in named)
        demand(left + teller.job.procs <= world.procs, "there is none without them")


@reads(
    Row,
    "Planned start moved from {any} to {any}, {s} earlier{any}",
    "Planned start moved from {any} to {any}, {s} later{any}",
)
def _(teller: Teller, was: str, to: str, by: Lasts, because: str) -> None:
    moved(teller, was, to, by)


def planned_then(teller: Teller) -> float | None:
    """After that step, or in it, if it started as well."""
    if at := dict(teller.record.planned).get(teller.time):
        return at
    own = [decision for time, decision in teller.record.decided if time == teller.time]
    return next((each.at for each in reversed(own) if isinstance(each, d.Reserve | m.ReserveRow)), None)


def moved(teller: Teller, was: str, to: str, by: Lasts) -> None:
    """Was it planned so before, and is it after this step?"""
    at = planned_then(teller)
    before = [value for time, value in teller.record.planned if time < teller.time]
    demand(at is not None and bool(before) and before[-1] is not None, f"planned {before[-1:]}, {at}")
    assert at is not None and before[-1] is not None  # noqa: PT018
    teller.is_at(was, before[-1])
    teller.is_at(to, at)
    demand(by.is_about(abs(at - before[-1])))


@reads(Row, "Planned to start at {any}", "Promised to start at {any}")
def _(teller: Teller, told: str) -> None:
    at = planned_then(teller)
    demand(at is not None)
    assert at is not None
    teller.is_at(re.split(r"[:.] |\.$", told)[0], at)


@reads(Row, "Its planned start {any} is given up{any}")
def _(teller: Teller, was: str, rest: str) -> None:
    demand(dict(teller.record.planned).get(teller.time) is None, "it is planned")


@reads(Row, "Ended after {s}{any}", "Killed at the end of its estimate of {s}{any}")
def _(teller: Teller, ran: Lasts, rest: str) -> None:
    demand(ran.is_about(teller.job.run))
    demand_equal(teller.time, teller.chronicle.world.end_of[teller.job.rank])


@reads(Row, "Killed after {s}, not done: {any}")
def _(teller: Teller, lost: Lasts, rest: str) -> None:
    started = max(
        t for t, decision in teller.record.begun if isinstance(decision, d.Start | d.Backfill) and t < teller.time
    )
    demand(teller.time in teller.record.cuts)
    demand(lost.is_about(teller.time - started))


@reads(Row, "Came into the matrix{any}; {any}.")
def _(teller: Teller, place: str, because: str) -> None:
    decision = teller.begun_now(m.Place)
    demand("past others" in place) if decision.passes else None
    demand(
        because == why(decision.because, decision.job, clock_near(teller.time))
        or because in why(decision.because, decision.job, clock_near(teller.time))
    )


@reads(Row, "Its row had not been on turn when the policy was switched: it waits again.")
def _(teller: Teller) -> None:
    demand(any(time == teller.time for time, _ in teller.chronicle.switches))


@reads(
    Row,
    "Started: its row {any}",
    "From here on its row {any}",
    "For {any} it took turns, {any}",
)
def _(teller: Teller, *told: str) -> None:
    whole = told[-1]
    once = len([1 for _, decision in teller.record.begun if isinstance(decision, m.Place)]) == 1
    if once and not teller.chronicle.switches:
        moves = re.search(r"it migrated (once|twice|[\d,]+ times)", whole)
        demand_equal(often(moves[1]) if moves else 0, teller.record.migrations, "migrations")
        lost = re.search(r"migrations cost it (\S+) of its turns", whole)
        read_length(lost[1], teller.record.lost) if lost else demand_equal(teller.record.lost, 0, "lost")


@reads(Row, "The like {any}")
def _(teller: Teller, told: str) -> None:
    """Of more decisions of a kind the others are only counted."""


@reads(Row, "{any}.")
def _(teller: Teller, told: str) -> None:
    own = [say(decision, clock_near(time)) for time, decision in teller.record.decided if time == teller.time]
    demand(told in [said[:1].upper() + said[1:] for said in own], "nothing of that was decided")
