"""The state of a run, recomputed from its workload, its schedule and the order of its decisions.

No code of the engine is used. Processor sets are bit masks; times are exact.
"""

from collections.abc import Iterable, Iterator
from math import inf, isnan
from typing import Any, NamedTuple

from sim.history.stretch import Stretch
from sim.workload.model import Workload
from sim.workload.outages import Outage
from tests.truth.orders import Usage, key
from tests.truth.rules import Rules
from tests.truth.submissions import admit, due
from tests.truth.words import UntrueError, demand


class Work(NamedTuple):
    """A job as plain values; times are in seconds."""

    rank: int
    name: str
    submit: float
    procs: int
    run: float
    estimate: float
    high: bool
    reserve: float | None
    recorded: float | None
    user: int


class Slot(NamedTuple):
    """Number of processors in use from `start` to `end`."""

    start: float
    end: float
    procs: int


class Held(NamedTuple):
    """A job on processors (`mask`): since when, its end by the estimate, how, and the seconds that it ran before."""

    since: float
    ends: float
    mask: int
    kind: str
    ran_before: float


class Stopped(NamedTuple):
    """A suspended job: the processors on which it ran, as bits, and the time of its suspension."""

    mask: int
    since: float


class Plan(NamedTuple):
    """A planned start, and for how many seconds processors are reserved from then on."""

    at: float
    lasts: float


def works_of(workload: Workload) -> list[Work]:
    columns = (workload.submit, workload.width, workload.runtime, workload.estimate, workload.high)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    more = zip(workload.ids, workload.reserve.tolist(), workload.wait.tolist(), workload.user.tolist(), strict=True)
    return [
        Work(
            rank, f"J{name}", submit, procs, run, estimate, high,
            None if isnan(reserve) else reserve, submit + wait if wait >= 0 else None, user,
        )
        for rank, ((submit, procs, run, estimate, high), (name, reserve, wait, user)) in enumerate(
            zip(rows, more, strict=True)
        )
    ]  # fmt: skip


class World:
    """Recomputed state of a run: the waiting, running and suspended jobs, after each event and each decision."""

    def __init__(self, workload: Workload, spec: str, stretches: Iterable[Stretch], ends: list[float]) -> None:
        self.workload, self.procs, self.jobs = workload, workload.procs, works_of(workload)
        self.rules: Rules = Rules(spec)
        self.outages = workload.outages
        self.by_name = {job.name: job for job in self.jobs}
        self.killed = workload.killed.tolist()
        self.end_of = ends
        self.stays: dict[int, list[Stretch]] = {}
        for stretch in stretches:
            self.stays.setdefault(stretch.rank, []).append(stretch)
        self.upcoming = dict.fromkeys(range(len(self.jobs)), 0)
        self.now, self.came = -inf, set[int]()
        self.waiting: set[int] = set()
        self.dropped: dict[int, float] = {}
        """For each cancelled job, by rank: the time at which it was cancelled"""
        self.running: dict[int, Held] = {}
        self.aside: dict[int, Stopped] = {}
        self.ran: dict[int, float] = {}
        """For each job, by rank: the seconds that it had run before its present stretch on processors"""
        self.planned: dict[int, Plan] = {}
        self.granted: dict[int, float] = {}
        self.first_start: dict[int, float] = {}
        self.awaited: int | None = None
        self.owners: list[int] = []
        self.division: list[int] = []
        """For each partition: its processors, as bits, when the machine was divided"""
        self.taken_over = -inf
        self.finished: set[int] = set()
        self.claims: dict[int, dict[int, float]] = {}
        """For each job with a claim: the jobs suspended for it that still leave, each with the time at which it leaves
        """
        self.claimed: dict[int, tuple[int, int]] = {}
        """For each job with a claim: (processors that were free for it then, processors of its victims), as bits"""
        self.bounds: dict[int, float] = {}
        """For each job, under policies that bound starts: the latest start"""
        # In this step
        self.completed: list[int] = []
        self.expected: dict[int, float] = {}
        """For each job that ended in this step: its end by the estimate"""
        self.cut: list[int] = []
        self.arrived: list[int] = []
        self.early = False
        self.switched_now = False
        self.suspended_now: list[tuple[int, int | None]] = []
        self.borrowed: dict[int, int] = {}
        self.passed_over: set[int] = set()
        self.started: list[tuple[tuple[float, float, int], int]] = []
        """Jobs started since the pass began: (position in the order of the queue, processors)"""
        self.coming: set[int] = set()
        """Jobs that have arrived in this step, or returned to the queue, and so are new to the policy"""
        self.memo: dict[str, Any] = {}
        """Values that are computed once a pass and then kept"""
        self.memo_rows: Any = None
        """State of the matrix (`tests.truth.rows.Rows`) under gang scheduling, otherwise None"""
        self.usage = Usage()

    # Time

    def begin(self, now: float) -> None:
        """Begin the instant `now`: apply its events that come before the policy's decisions, such as arrivals."""
        self.now = now
        self.usage.grow(self, now)
        self.completed, self.expected, self.cut, self.arrived, self.early = [], {}, [], [], False
        self.suspended_now, self.borrowed, self.passed_over, self.memo = [], {}, set(), {}
        self.started, self.coming = [], set()
        self.switched_now = False
        for rank, held in sorted(self.running.items()):
            stay = self.stay(rank)
            if stay.end != now:
                continue
            if held.kind == "suspending":
                del self.running[rank]
            elif held.kind == "resuming":
                if not self.absent(now) & held.mask:
                    self._go_on(rank, held._replace(since=now, kind="run"))
            elif self.end_of[rank] == now:
                self._finish(rank, held.ends)
            elif held.kind == "speculative" and now - held.since == self.limit_of(rank):
                del self.running[rank]
                self.cut.append(rank)
                self.waiting.add(rank)
        admit(self)
        self.give_up_claims()

    def due(self, rank: int) -> float | None:
        """Return the submit time of the job, as far as it is known now."""
        if not self.workload.follows:
            return self.jobs[rank].submit
        ended = {one: end for one, end in enumerate(self.end_of) if end <= self.now}
        return due(self.workload, rank, self.first_start.get, ended.get, self.dropped)

    def _go_on(self, rank: int, held: Held) -> None:
        stay = self._take_stay(rank)
        self.running[rank] = held._replace(mask=stay.processors)

    def _finish(self, rank: int, expected: float) -> None:
        del self.running[rank]
        self.completed.append(rank)
        self.expected[rank] = expected
        self.finished.add(rank)
        self.early |= expected > self.now

    def stay(self, rank: int) -> Stretch:
        return self.stays[rank][self.upcoming[rank] - 1]

    def _take_stay(self, rank: int) -> Stretch:
        stay = self.stays[rank][self.upcoming[rank]]
        if stay.start != self.now:
            raise UntrueError(f"{self.jobs[rank].name} comes to processors at {stay.start}, not at {self.now}")
        self.upcoming[rank] += 1
        return stay

    def claim_of(self, rank: int) -> int:
        """Return the processors (bits) that the claiming job will get: free ones, then victims', lowest first."""
        own = self.aside[rank].mask if rank in self.aside else 0
        if own and self.rules["restart"] == "own":
            return own
        free, theirs = self.claimed[rank]
        taken = 0
        for some in (free, theirs & own, theirs):
            numbers = [place for place in range(self.procs) if some & ~taken & (1 << place)]
            for place in numbers[: self.jobs[rank].procs - taken.bit_count()]:
                taken |= 1 << place
        return taken

    def give_up_claims(self) -> None:
        for rank in [*self.claims]:
            if self.claim_of(rank) & self.absent(self.now) or not self.in_time(self.jobs[rank]):
                del self.claims[rank]

    # Decisions

    def start(self, rank: int, limit: float | None) -> None:
        job = self.jobs[rank]
        if not self.is_hidden(rank):
            self.started.append((self.place(job), job.procs))
        self.waiting.remove(rank)
        stay = self._take_stay(rank)
        kind = "run" if limit is None else "speculative"
        demand(stay.kind == kind, f"its stay is of kind {stay.kind}")
        demand(stay.processors.bit_count() == job.procs, "a job of another width")
        demand(not stay.processors & ~self.free_set(), "processors that are not free")
        self.running[rank] = Held(self.now, self.now + min(job.estimate, limit or inf), stay.processors, kind, 0)
        self.first_start.setdefault(rank, self.now)
        self.planned.pop(rank, None)
        self.granted.pop(rank, None)
        self.claims.pop(rank, None)

    def interrupt(self, rank: int) -> None:
        """Return the job to the queue after an interruption; its work is lost."""
        self.running.pop(rank, None)
        self.aside.pop(rank, None)
        self.ran.pop(rank, None)
        self.waiting.add(rank)
        self.coming.add(rank)
        self.claims.pop(rank, None)
        if self.awaited == rank:
            self.awaited = None

    def suspend(self, rank: int, overhead: float, by: int | None) -> None:
        held = self.running[rank]
        self.ran[rank] = held.ran_before + self.now - held.since
        self.aside[rank] = Stopped(held.mask, self.now)
        self.suspended_now.append((rank, by))
        if by is not None:
            free, theirs = self.claimed[by] if by in self.claims else (self.unclaimed_set(), 0)
            self.claimed[by] = free, theirs | held.mask
            self.claims.setdefault(by, {})[rank] = self.now
        del self.running[rank]
        if overhead:
            stay = self._take_stay(rank)
            self.running[rank] = Held(self.now, self.now + overhead, stay.processors, "suspending", self.ran[rank])

    def resume(self, rank: int, overhead: float) -> None:
        del self.aside[rank]
        stay, ran = self._take_stay(rank), self.ran[rank]
        kind = "resuming" if overhead else "run"
        ends = self.now + overhead + self.jobs[rank].estimate - ran
        self.running[rank] = Held(self.now, ends, stay.processors, kind, ran)
        self.claims.pop(rank, None)
        if self.awaited == rank:
            self.awaited = None

    def switch(self, spec: str) -> None:
        """Switch the policy; a switch from or to a policy with a matrix needs `tests.truth.rows` as well."""
        for rank, held in list(self.running.items()):
            if held.kind == "speculative":
                ends = held.since + self.jobs[rank].estimate
                self._go_on(rank, held._replace(kind="run", ends=ends))
        self.rules, self.switched_now, self.awaited = Rules(spec), True, None
        self.taken_over = self.now
        self.planned = {rank: Plan(at, self.jobs[rank].estimate) for rank, at in self.granted.items()}
        self.coming, self.usage = set(self.waiting), Usage()
        self.usage.grow(self, self.now)
        for rank in (*self.waiting, *self.completed):
            self.usage.see(self.jobs[rank].user)
        self.owners, self.claims, self.memo = [], {}, {}

    # Queries

    def limit_of(self, rank: int) -> float:
        return min(float(self.rules["speculate"]), self.jobs[rank].estimate)

    def progress(self, rank: int) -> float:
        """Return for how many seconds the job has run, including its present speculative run."""
        held = self.running.get(rank)
        if held is None:
            return self.jobs[rank].run if rank in self.finished else self.ran.get(rank, 0)
        return held.ran_before + (self.now - held.since if held.kind in ("run", "speculative") else 0)

    def xfactor(self, rank: int) -> float:
        job = self.jobs[rank]
        return (self.now - job.submit - self.progress(rank) + job.estimate) / job.estimate

    def free_set(self) -> int:
        taken = 0
        for held in self.running.values():
            taken |= held.mask
        return self.there() & ~taken

    def there(self) -> int:
        return ((1 << self.procs) - 1) & ~self.absent(self.now)

    def class_names(self) -> list[str]:
        many = len(self.rules.classes) if self.owners and self.rules.name == "multiqueue" else 0
        between = ["medium"] if many == 2 else [f"medium {at}" for at in range(1, many)]
        return ["short", *between, "long"] if many else []

    def named(self, told: str) -> str:
        for number, called in enumerate(self.class_names()):
            told = told.replace(f"partition {number}", called)
        return told

    def size(self) -> int:
        return self.there().bit_count()

    def known(self) -> list[Outage]:
        return [outage for outage in self.outages if outage.announced or outage.begins <= self.now]

    def absent(self, time: float) -> int:
        """Return the processors, as bits, that are down at `time`, as far as is known now."""
        gone = 0
        for outage in self.known():
            gone |= outage.processors if outage.begins <= time < outage.ends else 0
        return gone

    def missing(self) -> list[Slot]:
        """Return the unavailable processors as slots, without those kept for a job, which `holds` counts."""
        kept, until = (0, inf) if self.awaited is None else (self.kept(), self.holds()[-1][0])
        times = sorted({self.now, *(t for t in [*self.changes(), until] if self.now < t < inf)})
        spans = zip(times, [*times[1:], inf], strict=True)
        return [
            Slot(start, end, (self.absent(start) & ~(kept if start < until else 0)).bit_count()) for start, end in spans
        ]

    def changes(self) -> list[float]:
        return [time for outage in self.known() for time in outage[:2]]

    def kept(self) -> int:
        return 0 if self.awaited is None else self.aside[self.awaited].mask

    def free(self) -> int:
        return (self.free_set() & ~self.kept()).bit_count()

    def unclaimed(self) -> int:
        return self.unclaimed_set().bit_count()

    def unclaimed_set(self) -> int:
        """Return the free processors, as bits, that no job claims."""
        free = self.free_set()
        for rank in self.claims:
            free &= ~self.claim_of(rank)
        return free

    def is_hidden(self, rank: int) -> bool:
        return rank in self.passed_over or (rank in self.granted and self.rules.name != "multiqueue")

    def line(self) -> list[Work]:
        """Return the waiting jobs in the order of the policy's queue."""
        name = self.rules.name
        jobs = [self.jobs[rank] for rank in self.waiting if not self.is_hidden(rank)]
        if name == "multiqueue":
            coming = self.reserving()
            jobs = [job for job in jobs if job.rank not in self.planned and job.rank not in coming]
        return sorted(jobs, key=self.place)

    def place(self, job: Work) -> tuple[float, float, int]:
        """Return the job's sort key in the order in which the policy considers waiting jobs; smaller keys are first."""
        if self.rules.name == "multiqueue":
            return not job.high, job.submit, job.rank
        if self.rules.name in ("selective", "tunable"):
            return -(self.now - job.submit + job.estimate) / job.estimate, job.submit, job.rank
        if self.rules.name == "recorded":
            return inf if job.recorded is None else job.recorded, job.submit, job.rank
        return key(self, job), 0, job.rank

    def reserving(self) -> set[int]:
        jobs = (self.jobs[rank] for rank in self.coming & self.waiting - self.planned.keys())
        return {job.rank for job in jobs if job.reserve is not None or self.rules.is_tried(job)}

    # Slots in use

    def ends(self) -> list[tuple[float, int]]:
        return [(end, procs) for end, procs, _ in self.holds()]

    def holds(self) -> list[tuple[float, int, int]]:
        """Return (expected end, processors, rank) of each running job, and of the awaited job as if it ran."""
        if self.awaited is None:
            return [(held.ends, held.mask.bit_count(), rank) for rank, held in self.running.items()]
        own, begins, found = self.kept(), self.now, []
        for rank, held in self.running.items():
            if held.mask & own:
                begins = max(begins, held.ends)
            if rest := (held.mask & ~own).bit_count():
                found.append((held.ends, rest, rank))
        left = self.jobs[self.awaited].estimate - self.progress(self.awaited)
        for time in sorted(t for t in self.changes() if self.now < t < inf):
            if self.absent(begins) & own or (time < begins + left and self.absent(time) & own):
                begins = max(begins, time)  # before that time its own processors are not all free for long enough
        return [*found, (begins + left, own.bit_count(), self.awaited)]

    def slots(self, *without: int | None) -> list[Slot]:
        """Return the processors in use from now on: of running jobs, at most to the next maintenance, and of plans of
        all jobs except `without`."""
        plans = self.planned if self.rules.keeps else {r: p for r, p in self.planned.items() if r in self.granted}
        return [
            *self.missing(),
            *(Slot(self.now, min(end, self.closes()), procs) for end, procs in self.ends()),
            *(
                Slot(max(plan.at, self.now), max(plan.at, self.now) + plan.lasts, self.jobs[rank].procs)
                for rank, plan in plans.items()
                if rank not in without
            ),
        ]

    def earliest(self, procs: int, long: float, slots: list[Slot], after: float | None = None) -> float:
        return earliest(self.procs, procs, long, slots, self.now if after is None else after)

    def room_of(self, job: Work, ends: list[tuple[float, int]] | None = None) -> tuple[float, int]:
        """Return (first time at which the job fits if no other job starts, number of processors that are free then);
        `ends` replaces the expected ends."""
        ends = sorted(self.ends()) if ends is None else ends
        if self.missing() == [Slot(self.now, inf, 0)]:
            for moment, _ in ends:
                free = self.free() + sum(held for end, held in ends if end <= moment)
                if free >= job.procs:
                    return moment, free
            raise UntrueError("there will never be enough")
        slots = [*self.missing(), *(Slot(self.now, end, procs) for end, procs in ends)]
        at = self.earliest(job.procs, job.estimate, slots)
        moments = [at, *(slot.start for slot in slots if at < slot.start < at + job.estimate)]
        return at, self.procs - max(taken_at(slots, moment) for moment in moments)

    def fits(self, job: Work) -> bool:
        return job.procs <= self.free() and self.in_time(job)

    def in_time(self, job: Work) -> bool:
        left = job.estimate - self.progress(job.rank)
        return self.now + left <= self.closes()

    def closes(self) -> float:
        return min((o.begins for o in self.outages if o.announced and o.begins > self.now), default=inf)


def mask_of(written: str) -> int:
    mask = 0
    for piece in written.split():
        first, _, last = piece.partition("-")
        mask |= sum(1 << number for number in range(int(first), int(last or first) + 1))
    return mask


def lowest(free: int, many: int) -> int:
    numbers = [number for number in range(free.bit_length()) if free >> number & 1]
    return sum(1 << number for number in numbers[:many])


def taken_at(slots: list[Slot], moment: float) -> int:
    return sum(slot.procs for slot in slots if slot.start <= moment < slot.end)


def has_room(size: int, procs: int, start: float, long: float, slots: list[Slot]) -> bool:
    """Return True if `procs` processors are free from `start` on for `long` seconds."""
    moments = [start, *(slot.start for slot in slots if start < slot.start < start + long)]
    return all(taken_at(slots, moment) + procs <= size for moment in moments)


def earliest(size: int, procs: int, long: float, slots: list[Slot], after: float) -> float:
    """Return the first time from `after` on at which `procs` processors are free for `long` seconds."""
    candidates: Iterator[float] = iter(sorted({after, *(slot.end for slot in slots if slot.end > after)}))
    return next(at for at in candidates if has_room(size, procs, at, long, slots))
