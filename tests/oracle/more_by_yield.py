"""More backfilling policies as generators: frozen copies of the definitions of before, like `by_yield`."""

from __future__ import annotations

from bisect import insort
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve, Start, Wake
from sim.decisions.reasons import (
    AsRecorded,
    BestOfOrders,
    BestPacking,
    InOrder,
    MadeRoom,
    NewPlan,
    Planned,
    PredictedBefore,
    WhenFree,
    WhenPredicted,
    WhenRoom,
)
from sim.decisions.reasons_on_nodes import BehindInPartition
from sim.decisions.reasons_to_wait import (
    BeyondLookahead,
    BreaksBound,
    NotYet,
    PredictedToDelay,
    TooFewFree,
    WouldDelay,
)
from sim.machine.moment import MOMENT, is_by, whole
from sim.machine.nodes import Leftover
from sim.machine.profile import Extra, Profile
from sim.machine.profile import shadow as shadow_of
from sim.policies.backfill import easy_plus_plus, greedy, lookahead, recorded, shadow, slack, slurm
from sim.policies.backfill.bounds import Placement, place_within
from sim.policies.backfill.conservative import Conservative
from sim.policies.backfill.easy_plus_plus import STEPS
from sim.policies.backfill.greedy import TRIED
from sim.policies.backfill.tails import in_tail
from sim.policies.policy import Policy
from sim.policies.view import View
from sim.workload.model import Job
from tests.oracle.room import at_shadow, delays, in_order, no_room, passes, start_in_order, those_in_time


@dataclass(frozen=True)
class OldRecorded(recorded.Recorded):
    def decide(self, view: View) -> Iterator[Decision]:
        order = self.line_order()
        for job in sorted(view.queue, key=lambda job: order.key(job, view.now)):
            recorded = job.recorded_start
            if recorded is not None and not is_by(recorded, view.now):
                yield Wake(recorded)
                if view.curious:
                    yield Keep(job, NotYet(recorded))
            elif view.fits(job):
                late = 0 if recorded is None or is_by(view.now, recorded) else view.now - recorded
                yield Start(job, AsRecorded(recorded, late), view.where_it_ran(job))
            elif view.curious:
                yield Keep(job, no_room(view, job))


_WORTH = {
    "jobs": lambda job: 1,
    "processors": lambda job: job.procs,
    "area": lambda job: job.procs * job.estimate,
}


@dataclass(frozen=True)
class OldGreedy(greedy.Greedy):
    def decide(self, view: View) -> Iterator[Decision]:
        queue = iter(view.queue)
        head = yield from start_in_order(queue, view)
        if head is None:
            return
        shadow, extra = view.shadow(head)
        left = view.beside(head, extra)
        yield Reserve(head, shadow, at_shadow(view, head, extra))
        others = yield from those_in_time(view, queue)
        if not others:
            return
        late = {job for job in others if not is_by(view.now + job.estimate, shadow)}
        if view.has_nodes:
            found = {tail: _passing_on_nodes(in_tail(others, tail), view, head, shadow, late) for tail in TRIED}
        else:
            found = {tail: _passing(in_tail(others, tail), view.free, extra, late) for tail in TRIED}
        best = max(TRIED, key=lambda tail: sum(map(_WORTH[self.by], found[tail])))
        for job in found[best]:
            yield Backfill(job, BestOfOrders(head, shadow, best, len(found[best])))
            if job in late:
                left.count(job)
        if view.curious:
            started = set(found[best])
            for job in (job for job in others if job not in started):
                ends = view.now + job.estimate
                yield Keep(job, delays(head, shadow, ends, left) if view.fits(job) else no_room(view, job))


def _passing(jobs: Iterable[Job], free: int, extra: int, late: Collection[Job]) -> list[Job]:
    passing = []
    for job in jobs:
        if job.procs <= (min(free, extra) if job in late else free):
            passing.append(job)
            free -= job.procs
            extra -= job.procs if job in late else 0
    return passing


def _passing_on_nodes(jobs: Iterable[Job], view: View, head: Job, shadow: float, late: Collection[Job]) -> list[Job]:
    plan, now, passing = view.running_plan(), view.now, list[Job]()
    for job in jobs:
        if not plan.admits(job, now, job.estimate):
            continue
        plan.hold(job, now, now + job.estimate)
        if job in late and not plan.admits(head, shadow, head.estimate):
            plan.let_go(job, now, now + job.estimate)
        else:
            passing.append(job)
    return passing


@dataclass(frozen=True)
class OldLookahead(lookahead.Lookahead):
    def decide(self, view: View) -> Iterator[Decision]:
        queue = iter(view.queue)
        head = yield from start_in_order(queue, view)
        if head is None:
            return
        shadow, extra = view.shadow(head)
        yield Reserve(head, shadow, WhenFree(view.free, extra + head.procs))
        others, now, free = (yield from those_in_time(view, queue)), view.now, view.free
        near, left = others[: self.window], others[self.window :]
        late = [not is_by(now + job.estimate, shadow) for job in near]
        chosen = best_packing([job.procs for job in near], late, free, extra)
        filled = sum(near[place].procs for place in chosen)
        for place in chosen:
            yield Backfill(near[place], BestPacking(head, shadow, filled, free))
            extra -= near[place].procs * late[place]
        if view.curious:
            yield from self._kept(view, head, shadow, extra, [j for p, j in enumerate(near) if p not in chosen])
            for job in left:
                few = job.procs > view.free
                yield Keep(job, TooFewFree(view.free) if few else BeyondLookahead(head, self.window))

    def _kept(self, view: View, head: Job, shadow: float, extra: int, jobs: Sequence[Job]) -> Iterator[Decision]:
        for job in jobs:
            ends = view.now + job.estimate
            few = job.procs > view.free
            yield Keep(job, TooFewFree(view.free) if few else WouldDelay(head, shadow, ends, extra))


def best_packing(widths: Sequence[int], late: Sequence[bool], free: int, extra: int) -> tuple[int, ...]:
    extra = min(extra, free)
    reached = [[1] + [0] * extra]
    """For each number of processors that late jobs occupy: the sums of processors that the jobs tried until now can
    reach, as bits.
    """
    for width, is_late in zip(widths, late, strict=True):
        was, by = reached[-1], width if is_late else 0
        reached.append([sums | (was[used - by] << width if used >= by else 0) for used, sums in enumerate(was)])
        if any(sums >> free & 1 for sums in reached[-1]):
            break  # no later job can be needed
    chosen = []
    for place in reversed(range(len(reached) - 1)):
        if _most(reached[place], free, extra) < _most(reached[place + 1], free, extra):
            chosen.append(place)
            free -= widths[place]
            extra -= widths[place] if late[place] else 0
    return tuple(reversed(chosen))


def _most(reached: Sequence[int], free: int, extra: int) -> int:
    within = (1 << free + 1) - 1
    return max((sums & within).bit_length() - 1 for sums in reached[: extra + 1])


@dataclass(frozen=True)
class OldShadow(shadow.Shadow):
    def decide(self, view: View) -> Iterator[Decision]:
        bounds = view.notes.setdefault("bound", {})
        self._bound_arrivals(view, bounds)
        now = view.now
        head: Job | None = None
        shadow, left = inf, None
        start: type[Start | Backfill] = Start
        for job in view.queue:
            if not view.fits(job):
                if head is None:
                    head = job
                    shadow, extra = view.shadow(job)
                    left = view.beside(job, extra)
                    yield Reserve(job, shadow, at_shadow(view, job, extra))
                elif view.curious:
                    yield Keep(job, no_room(view, job))
            elif head is not None and left is not None and not (is_by(now + job.estimate, shadow) or left.admits(job)):
                if view.curious:
                    yield Keep(job, delays(head, shadow, now + job.estimate, left))
            else:
                others, trial = self._without(view, bounds, job)
                if trial.late is not None:
                    late = trial.late
                    if view.curious:
                        yield Keep(job, BreaksBound(late, trial.starts[late.rank], bounds[late.rank]))
                else:
                    yield start(job, trial.why(others, bounds))
                    if left is not None and not is_by(now + job.estimate, shadow):
                        left.count(job)
                    del bounds[job.rank]
                    continue
            start = Backfill

    def _bound_arrivals(self, view: View, bounds: dict[int, float]) -> None:
        if not view.arrived:
            return
        plan = view.plan.copy()
        for job in sorted(view.queue, key=lambda job: job.rank):
            promised = plan.put(job, view.now)
            if job.rank not in bounds:
                bounds[job.rank] = job.submit + self.shadows * (promised - job.submit)

    def _without(self, view: View, bounds: dict[int, float], job: Job) -> tuple[list[Job], Placement]:
        waiting = sorted(view.queue, key=lambda job: (whole(bounds[job.rank]), job.rank))
        past = self._past(view, bounds, waiting)
        plan = view.plan.copy()
        plan.hold(job, view.now, view.now + job.estimate)
        others = [other for other in waiting if other is not job]
        return others, place_within(plan, others, bounds, view.now, past)

    def _past(self, view: View, bounds: dict[int, float], waiting: list[Job]) -> frozenset[int]:
        everyone = frozenset(job.rank for job in waiting)
        starts = place_within(view.plan.copy(), waiting, bounds, view.now, everyone).starts
        return frozenset(rank for rank, at in starts.items() if not is_by(at, bounds[rank]))


@dataclass(frozen=True)
class OldSlack(slack.Slack):
    def decide(self, view: View) -> Iterator[Decision]:
        bounds = view.notes.setdefault("bound", {})
        yield from Conservative.decide(self, view)
        for job in view.arrived:
            if job.rank in view.reserved:
                bounds[job.rank] = view.reserved[job.rank] + self.slack * job.estimate
        if self.slack:
            for job in view.queue:
                if view.fits(job) and job.rank in view.reserved:
                    yield from self._old_squeeze_in(view, bounds, job)
        for rank in bounds.keys() - view.reserved.keys():
            del bounds[rank]

    def _old_squeeze_in(self, view: View, bounds: dict[int, float], job: Job) -> Iterator[Decision]:
        by_start = sorted((whole(at), rank) for rank, at in view.reserved.items() if rank != job.rank)
        others = [view.job(rank) for _, rank in by_start]
        plan = view.running_plan()
        on = plan.hold(job, view.now, view.now + job.estimate)
        if plan.shortage() is not None:
            return  # in the way of a reservation granted by an earlier policy
        trial = place_within(plan, others, bounds, view.now, frozenset())
        if trial.late is not None:
            if view.curious:
                late = trial.late
                yield Keep(job, BreaksBound(late, trial.starts[late.rank], bounds[late.rank]))
            return
        yield Backfill(job, trial.why(others, bounds), on)
        for other in others:
            was, at = view.reserved[other.rank], trial.starts[other.rank]
            if at == view.now:
                yield Backfill(other, MadeRoom(job, was), plan.seats_of(other))
            elif at != was or view.has_nodes:
                yield Reserve(other, at, MadeRoom(job, was), on=plan.seats_of(other))


_UNKNOWN = -1


_History: TypeAlias = tuple[dict[int, float], dict[int, float]]


@dataclass(frozen=True)
class OldEasyPlusPlus(easy_plus_plus.EasyPlusPlus):
    def decide(self, view: View) -> Iterator[Decision]:
        history, predicted = _learnt(view), view.notes.setdefault("predicted", {})
        queue = view.queue
        for job in queue:
            predicted[job.rank] = _predicted(job, history)
        for rank, run in view.running.items():
            predicted.setdefault(rank, _predicted(run.job, history))
        expected = view.notes["ends"] = {rank: self._end_of(view, rank, end) for end, rank, _ in view.ends}
        ends = sorted((expected[rank], rank, procs) for _, rank, procs in view.ends)
        waiting = iter(queue)
        for head in waiting:
            if not view.fits(head):
                break
            expected[head.rank] = view.now + predicted[head.rank]
            insort(ends, (expected[head.rank], head.rank, head.procs))
            yield Start(head, InOrder(view.free))
        else:
            return
        start, then = _room(view, ends, head)
        yield Reserve(head, start, WhenRoom() if view.has_nodes else WhenPredicted(view.free, then))
        left = view.beside(head, then - head.procs, ends)
        yield from self._pass(view, head, start, left, sorted(waiting, key=lambda j: whole(predicted[j.rank])))
        yield Wake(start, is_renewed=True)

    def _pass(self, view: View, head: Job, start: float, left: Extra | Leftover, tail: list[Job]) -> Iterator[Decision]:
        now, predicted = view.now, view.notes["predicted"]
        for job in tail:
            ends = now + predicted[job.rank]
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
            elif is_by(ends, start):
                view.notes["ends"][job.rank] = ends
                yield Backfill(job, PredictedBefore(head, start, ends))
            elif left.admits(job):
                view.notes["ends"][job.rank] = ends
                yield Backfill(job, passes(head, start, left))
                left.count(job)
            elif view.curious:
                yield Keep(
                    job,
                    PredictedToDelay(head, start, ends, left.left)
                    if isinstance(left, Extra)
                    else delays(head, start, ends, left),
                )

    def _end_of(self, view: View, rank: int, end: float) -> float:
        run, lasts = view.running.get(rank), view.notes["predicted"].get(rank)
        if run is None or not run.runs:
            return end
        ran = run.ran_by(view.now)
        for more in STEPS if self.correct == "steps" else (inf,):
            if lasts > ran + MOMENT:
                break
            lasts += more
        return min(end, run.since + lasts - run.ran_before) if lasts > ran + MOMENT else end


def _room(view: View, ends: list[tuple[float, int, int]], head: Job) -> tuple[float, int]:
    if view.has_nodes:
        at, extra = view.shadow(head, ends)
        return at, extra + head.procs
    if not view.machine_ahead:
        return shadow_of(view.free, ends, head.procs)
    plan = Profile.of_changes(view.now, view.free, sorted([*ends, *view.machine_ahead]))
    at = plan.earliest(head.procs, head.estimate, view.now)
    return at, plan.least(at, at + head.estimate)


def _predicted(job: Job, history: _History) -> float:
    last, before = history
    if job.user not in before:
        return job.estimate
    return min(job.estimate, (last[job.user] + before[job.user]) / 2)


def _learnt(view: View) -> _History:
    notes: dict[str, Any] = view.notes
    done = view.completed if "last" in notes else [view.job(rank) for _, rank in view.finished]
    last, before = notes.setdefault("last", {}), notes.setdefault("before", {})
    for job in done:
        notes.setdefault("predicted", {}).pop(job.rank, None)
        if job.user != _UNKNOWN:
            if job.user in last:
                before[job.user] = last[job.user]
            last[job.user] = view.ran(job.rank)
    return last, before


@dataclass(frozen=True)
class OldSlurm(slurm.Slurm):
    def decide(self, view: View) -> Iterator[Decision]:
        behind = yield from self._old_main(view)
        clock, planned = view.notes.setdefault("backfilled", {}), view.notes.setdefault("planned", {})
        waiting = self.entries(view)
        due = clock.get(0, view.now - self.bf_interval) + self.bf_interval
        if waiting and is_by(due, view.now):
            clock[0] = view.now
            yield from self._old_backfill(view, waiting, planned)
            waiting = self.entries(view) if view.curious else []
        elif waiting:
            for job in _once(waiting):
                if is_by(view.now, planned.get(job.rank, -1)):
                    yield Reserve(job, planned[job.rank], NewPlan())
            yield Wake(due, is_renewed=True)
        if view.curious:
            yield from (Keep(job, BehindInPartition(behind[job.rank])) for job in _once(waiting) if job.rank in behind)

    def is_held(self, view: View, job: Job) -> bool:
        return view.is_held(job)

    def _old_main(self, view: View) -> Generator[Decision, None, dict[int, Job]]:
        closed: dict[int, Job] = {}
        behind: dict[int, Job] = {}
        begun: set[Job] = set()
        for job, only in self.entries(view):
            if job in begun or self.is_held(view, job):
                continue
            names = tuple(n for n in view.open_partitions(job, closed) if only in (-1, n))
            seats = view.seats_outside(job, closed, only) if closed or only >= 0 else None
            if not names:
                before = [[*closed][: place + 1] for place in range(len(closed))]
                behind[job.rank] = next(
                    closed[each[-1]]
                    for each in before
                    if not [n for n in view.open_partitions(job, each) if only in (-1, n)]
                )
                closed |= {n: job for n in view.partitions(job) if only in (-1, n) and n not in closed}
            elif seats is not None:
                begun.add(job)
                yield (Backfill if closed else Start)(job, in_order(view.free), seats)
            elif not closed and only < 0 and view.fits(job):
                yield Start(job, in_order(view.free))
            else:
                closed |= dict.fromkeys(names, job)
        return behind

    def _old_backfill(self, view: View, waiting: list[slurm.Entry], planned: dict[int, float]) -> Iterator[Decision]:
        now, future, tested = view.now, self._future(view), Counter[int]()
        planned.clear()
        begun: set[Job] = set()
        several: list[Job] = []
        for place, (job, only) in enumerate(waiting[: self.bf_max_job_test]):
            if job in begun:
                continue
            tested[job.user] += 1
            if self.bf_max_job_user and tested[job.user] > self.bf_max_job_user:
                continue
            if self.is_held(view, job):
                continue
            found = future.find(job, only, now + self.bf_window)
            if found is None:
                continue
            at, seats = found
            if at == now:
                begun.add(job)
                planned.pop(job.rank, None)
                yield (Backfill if place else Start)(job, Planned(), seats)
            else:
                planned[job.rank] = min(at, planned.get(job.rank, at))
                if only < 0:
                    yield Reserve(job, at, NewPlan())
                elif job not in several:
                    several.append(job)
        yield from (Reserve(job, planned[job.rank], NewPlan()) for job in several if job not in begun)


def _once(entries: list[slurm.Entry]) -> list[Job]:
    return [*{job.rank: job for job, _ in entries}.values()]


OLD: dict[type[Policy], type[Policy]] = {
    recorded.Recorded: OldRecorded,
    greedy.Greedy: OldGreedy,
    lookahead.Lookahead: OldLookahead,
    shadow.Shadow: OldShadow,
    slack.Slack: OldSlack,
    easy_plus_plus.EasyPlusPlus: OldEasyPlusPlus,
    slurm.Slurm: OldSlurm,
}
