"""Calls by which a policy acts at the present moment, such as `now.start(job, because)`.

Each call is checked where it is made, and takes effect at once: an impossible one raises a `DecisionError` and changes
nothing. The methods that begin with an underscore are for the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from heapq import heappush
from math import inf
from typing import Any

from sim.decisions.because import Because
from sim.decisions.decisions import (
    Backfill,
    Decision,
    Expect,
    Keep,
    Reserve,
    Resume,
    Start,
    Suspend,
    check_reason,
    check_span,
)
from sim.decisions.reasons import AskedFor, Compressed, InOrder, MadeRoom
from sim.decisions.reasons_on_nodes import on_nodes
from sim.decisions.sentences import Reason
from sim.engine.asking import Asking
from sim.engine.stay import Stay
from sim.history.history import History
from sim.history.stretch import MOVED, RESUMING, RUN, SPECULATIVE, SUSPENDED, SUSPENDING
from sim.machine.moment import MOMENT, whole
from sim.machine.trials import Trials
from sim.support.deadline import GiveWayError
from sim.support.errors import DecisionError
from sim.support.formatting import exact_clock
from sim.workload.model import Job
from sim.workload.shape import Seats

made: Callable[..., Any] = tuple.__new__
"""Faster than the constructor of a named tuple, which is not compiled"""
_in_order = lru_cache(1024)(InOrder)
"""The same numbers occur again and again"""


class PassStoppedError(GiveWayError):
    """End of a pass in the middle, which no policy may catch: `Moment._stop_after` decisions have been made."""


class PassAgainError(GiveWayError):
    """End of a pass that is to be repeated, because of the start of `job` (see `sim.engine.inherited`)."""

    def __init__(self, job: Job) -> None:
        self.job = job


class Acting(Asking):
    """State at the present moment, with the questions and the calls of a policy on a machine shared in space."""

    def __init__(self, history: History) -> None:
        super().__init__()
        self._history, self._collector = history, history.collector
        self._begun: list[Stay] = []
        """Stays that began since the engine last looked, for which it finds the true ends"""
        self._kept: set[int] = set()
        """Ranks of the jobs for which the policy has stated in this pass that they wait"""
        self._is_deciding = False
        """True while the policy makes a pass"""
        self._is_ended = False
        """True if the pass was ended in the middle"""
        self._stop_after = -1
        """Number of decisions after which the pass is stopped, to show the state then; -1 for a complete pass"""

    # Passes

    def _plan_anew(self) -> None:
        """Forget the last pass's plans, which the policy makes again at this one, but remember them as those before."""
        if self._kept:
            self._kept.clear()
        if self._expected or self._before:  # in rows plans stand until the next rebuild
            if self._sharing is not None:
                self._before = {}
            else:
                self._before, self._expected = self._expected, {}
        if self._reserved and not self._policy.keeps_reservations:
            self._before = self._reserved | self._before if self._before else self._reserved
            self._reserved = {}

    # Starts

    def start(self, job: Job, because: Reason, on: Seats | None = None) -> None:
        """Start the job; the start counts as a backfill if a job ahead of this one in the queue waits."""
        self._start(job, because, on, None, not self.is_first(job))

    def begin(self, job: Job, because: Reason, on: Seats | int | None = None) -> None:
        """Start the job, and do not count that as a backfill."""
        self._start(job, because, on, None, False)

    def backfill(self, job: Job, because: Reason, on: Seats | int | None = None) -> None:
        """Start the job, and count that as a backfill."""
        self._start(job, because, on, None, True)

    def start_in_order(self) -> Job | None:
        """Start jobs from the front of the queue while they fit. Return the first job that does not fit (the head), or
        None.
        """
        while line := self._line():
            job = line[0]
            if not self.fits(job):
                return job
            self._start(job, _in_order(self.free), None, None, False)
        return None

    def _start(self, job: Job, because: Reason, on: Seats | int | None, limit: float | None, is_backfill: bool) -> None:
        """Start the job on the processors or nodes `on`, or where the placement rule says. `limit` is the time in
        seconds after which a speculative run is cut short.
        """
        machine, waiting, rank, now, procs = self._machine, self._waiting, job.rank, self._time, job.procs
        if machine.has_nodes:
            because = on_nodes(because)
        if self._said is not None:
            lasts = self.remaining_estimate(rank)
            self._check_way(job, lasts if limit is None else min(lasts, limit), is_resumed=False)
        if waiting.jobs.get(rank) is not job:
            self._must_wait(job, "start")
        _check_reason(job, because)
        if rank in self._kept and not isinstance(because, MadeRoom):  # the start of another made its room
            raise DecisionError(f"job {job.id} cannot start: this pass has said that it waits")
        kind, ran, estimate = RUN, self._ledger.ran[rank], job.estimate  # work that an interruption has left
        estimate -= ran
        if limit is not None:
            check_span(job, "start", limit)
            kind, estimate = SPECULATIVE, min(estimate, limit)
        seats = machine.due(rank, now) if on is None and machine.has_nodes else on
        if seats is None:
            if procs > self._free:
                raise DecisionError(f"job {job.id} cannot start: it needs {procs}, {self._free} are free")
            held = machine.take(rank, procs)
        else:
            held = machine.take_exactly(rank, seats, procs)
        expected_end = now + estimate
        if expected_end > self._closes + MOMENT:
            machine.give_back(rank)
            what = f"it would run past the maintenance at {exact_clock(self._closes)}"
            raise DecisionError(f"job {job.id} cannot start: {what}")
        self._free = machine.free
        waiting.remove(job)
        if self._limits is not None:
            self._limits.add(rank)
        if self._granted and self._granted.pop(rank, None) is not None:
            self._kept_plan = None
        self._hold_in_plan(job, expected_end, ran > 0)
        self._stay(job, now, expected_end, kind, held, ran, inf)
        self._started(rank)
        if is_backfill:
            self._ledger.backfilled[rank] = 1
            self._tally.backfilled += 1
        if self._records:
            self._log(made(Backfill if is_backfill else Start, (job, because, on, limit)))
        if self._held_back is not None and self.held_back() != self._held_back:
            self._end_pass(PassAgainError(job))

    def _check_way(self, job: Job, lasts: float, is_resumed: bool) -> None:
        """Stop the pass, to repeat it without this job, if running it for `lasts` seconds is not permitted."""
        if job.rank not in self._waiting.jobs and job.rank not in self._suspended:
            return  # it cannot be done at all
        is_late = self._closes < inf and self._time + lasts > self._closes + MOMENT
        is_free = is_resumed or not self._granted or self._policy.grants
        if is_late or not (is_free or self._present_plan().admits(job, self._time, job.estimate)):
            self._end_pass(PassAgainError(job))

    def _repeats(self, decision: Decision, job: Job, is_plan: bool) -> bool:
        """Return True if an earlier repetition of this pass has made the same decision."""
        if self._said is None:
            return False
        if is_plan:
            self._planned_again.add(job.rank)
        if decision in self._said:
            return True
        self._said.add(decision)
        return False

    def _must_wait(self, job: Job, to_do: str) -> None:
        """Raise an error unless the job is waiting and is the same object that was submitted."""
        waiting = self._waiting.jobs.get(job.rank)
        if job is waiting:
            return
        if waiting is None:
            raise DecisionError(f"job {job.id} cannot {to_do}: it is not waiting")
        if job != waiting:
            raise DecisionError(f"job {job.id} cannot {to_do}: this Job differs from the one submitted")

    def _hold_in_plan(self, job: Job, expected_end: float, has_run: bool) -> None:
        """Replace the job's reservation in the plan, if it has one, by its stay from now until its expected end."""
        rank, now = job.rank, self._time
        planned = self._reserved.pop(rank, None) if self._reserved else None
        plan = self._kept_plan
        if plan is not None:
            keeps = self._policy.keeps_reservations
            if planned is not None and keeps and (has_run or abs(planned - now) > MOMENT):
                plan.let_go(job, max(planned, now), planned + self.reserved_for(job))
                planned = None
            if planned is None or not keeps:
                plan.advance(now)
                plan.hold(job, now, expected_end, self._machine.seats_of(rank))
        if self._lasts:
            self._lasts.pop(rank, None)

    def _stay(
        self,
        job: Job,
        since: float,
        expected_end: float,
        kind: int,
        processors: int,
        ran_before: float,
        progress_at: float,
    ) -> None:
        """Record a stay of the job on these processors (bits), from now on; the engine adds the true end."""
        stretch = self._collector.begin(job.rank, self._time, processors, kind)
        self._stay_count += 1
        stay = Stay(self._stay_count, job, since, expected_end, kind, stretch, ran_before, progress_at)
        self._stays.add(stay)
        self._running[stay.rank] = stay
        self._begun.append(stay)

    def _started(self, rank: int) -> None:
        """Record that the job runs now; its start is recorded only the first time."""
        starts = self._ledger.start
        start: float = starts[rank]
        if start != start:
            starts[rank] = self._time
            self._tally.started += 1
            if self._releases is not None:
                self._releases.began(rank, self._time)

    # Suspension

    def suspend(self, job: Job, because: Reason, overhead: float = 0) -> None:
        """Suspend the running job; it keeps its processors for `overhead` seconds, while its memory is written."""
        stay = self._running.get(job.rank)
        if stay is None or stay.kind != RUN:
            raise DecisionError(f"job {job.id} cannot be suspended: it is not running")
        _check_reason(job, because)
        check_span(job, "be suspended", overhead)
        processors = self._set_aside(stay)
        if overhead > 0:
            self._occupy(stay.job, processors, SUSPENDING, self._time + overhead, inf)
        self._free = self._machine.free
        if self._records:
            self._log(Suspend(job, because, overhead))

    def resume(self, job: Job, because: Reason, overhead: float = 0, on: int | None = None) -> None:
        """Resume the suspended job, on its own processors unless `on` says others; it runs on after `overhead`
        seconds, in which its memory is read.
        """
        rank = job.rank
        if self._said is not None:
            self._check_way(job, self.remaining_estimate(rank) + overhead, is_resumed=True)
        if rank not in self._suspended or rank in self._running:
            raise DecisionError(f"job {job.id} cannot be resumed: it is not suspended")
        _check_reason(job, because)
        held = self._suspended[rank] if on is None else on
        if held & ~self.free_set:
            raise DecisionError(f"job {job.id} cannot be resumed: its processors are not free")
        if held.bit_count() != job.procs:
            raise DecisionError(f"job {job.id} cannot be resumed on {held.bit_count()} processors")
        check_span(job, "be resumed", overhead)
        del self._suspended[rank], self._suspended_since[rank]
        if rank == self._awaited:
            self._keep_processors(None)
        self._go_on(self._jobs[rank], held, overhead)
        self._free = self._machine.free
        if self._records:
            self._log(Resume(job, because, overhead, on))

    def _set_aside(self, stay: Stay) -> int:
        """Suspend a running job at once: take it off its processors, and return these processors as bits."""
        rank = stay.rank
        processors = self._machine.held[rank]
        self._ledger.ran[rank] = stay.ran_by(self._time)
        self._leave(stay, SUSPENDED)
        self._put_aside(rank, processors)
        return processors

    def _put_aside(self, rank: int, processors: int) -> None:
        """Record that the job is suspended, and that it will resume on these processors (bits)."""
        self._suspended[rank] = processors
        self._suspended_since[rank] = self._time
        self._resting.add(rank)
        self._ledger.preemptions[rank] += 1
        self._tally.preemptions += 1

    def _go_on(self, job: Job, processors: int, overhead: float = 0) -> None:
        """Put a suspended job on these processors (bits); it makes progress after `overhead` seconds."""
        begins, ran = self._time + overhead, self._ledger.ran[job.rank]
        expected_end = begins + job.estimate - ran
        if overhead > 0:
            self._occupy(job, processors, RESUMING, expected_end, begins)
        else:
            self._occupy(job, processors, RUN, expected_end, inf)

    def _occupy(self, job: Job, processors: int, kind: int, expected_end: float, progress_at: float) -> None:
        rank, now = job.rank, self._time
        self._machine.take_exactly(rank, processors, job.procs)
        if self._kept_plan is not None:
            self._kept_plan.advance(now)
            self._kept_plan.hold(job, now, min(expected_end, self._closes), self._machine.seats_of(rank))
        self._stay(job, now, expected_end, kind, processors, self._ledger.ran[rank], progress_at)

    def _make_progress(self, stay: Stay) -> None:
        """Let a resumed job make progress from now on, because its memory has been read."""
        rank, now = stay.rank, self._time
        self._collector.finish(stay.stretch, now, MOVED)
        self._stays.remove(stay)
        self._stay(stay.job, now, stay.expected_end, RUN, self._machine.held[rank], stay.ran_before, inf)

    def _keep_processors(self, rank: int | None) -> None:
        """Reserve the processors on which the suspended job `rank` will resume; with None, give them up."""
        self._awaited, self._kept_plan = rank, None
        self._machine.kept = 0 if rank is None else self._suspended[rank]

    # Ends of stays, which the engine tells

    def _leave(self, stay: Stay, because: int) -> None:
        """Remove the job from its processors. `because` says why its stay there ends, as an index into `ENDINGS`."""
        rank, now, plan = stay.rank, self._time, self._kept_plan
        del self._running[rank]
        self._stays.remove(stay)
        if plan is not None:
            if not self._running and not (self._policy.keeps_reservations and self._reserved):
                self._kept_plan = None  # all is free: nothing is left of ends that were a part of a moment apart
            elif stay.expected_end > now:
                plan.advance(now)
                plan.let_go(stay.job, now, min(stay.expected_end, self._closes))
        self._machine.give_back(rank)
        self._resting.leave(rank)
        if self._limits is not None:
            self._limits.add(rank, -1)
        self._collector.finish(stay.stretch, now, because)

    def _done(self, job: Job, ran: float, is_killed: int) -> None:
        rank, ledger, now, tally = job.rank, self._ledger, self._time, self._tally
        ledger.end[rank] = now
        ledger.ran[rank] = ran
        tally.finish(now - job.submit, job.waited(ledger.start[rank]), ran, job.procs)
        tally.killed += is_killed
        self._completed.append(job)
        if self._limits is not None:
            self._limits.leave(rank)
        if self._releases is not None:
            self._releases.ended(rank, now)

    # Plans and requests

    def reserve(self, job: Job, at: float, because: Reason, on: Seats | None = None) -> None:
        """Reserve the start `at` for the job, on the nodes `on` if they are given."""
        self._reserve(job, at, on_nodes(because) if self._machine.has_nodes else because, None, on)

    def _reserve(self, job: Job, at: float, because: Reason, lasts: float | None, on: Seats | None) -> None:
        """Reserve the start `at` for the job, for `lasts` seconds (None: its estimate)."""
        now, rank = self._time, job.rank
        if self._said is not None:
            is_known = self._repeats(Reserve(job, at, because, lasts, on), job, True)
            if is_known and not self._policy.keeps_reservations:
                return
        if self._waiting.jobs.get(rank) is not job:
            self._must_wait(job, "get a reservation")
        _check_reason(job, because)
        if not now <= at < inf:
            raise DecisionError(
                f"job {job.id} cannot get a reservation for {exact_clock(at)}: the time is already {exact_clock(now)}"
            )
        if lasts is not None:
            check_span(job, "get a reservation", lasts)
        if self._policy.keeps_reservations:
            was = self._reserved.get(rank)
            if lasts is not None:
                self._lasts[rank] = lasts
            plan = self._present_plan() if self._machine.has_nodes else self._kept_plan
            if plan is not None:
                span = self.reserved_for(job)
                plan.advance(now)
                if was is not None:
                    plan.let_go(job, was, was + span)
                self._machine.promise(rank, at, plan.hold(job, at, at + span, on))
            heappush(self._timers, (at, rank, inf))
            if isinstance(because, AskedFor):
                self._granted[rank] = at
        else:
            was = self._before.get(rank)
            if was is not None:
                was = self._reserved.get(rank, was)
        self._reserved[rank] = at
        if self._promises:
            promised: float = self._ledger.promised[rank]
            if promised != promised:
                self._ledger.promised[rank] = at
        if at != was:
            if was is not None and job not in self._arrived:
                self._moved[rank] = self._moved.get(rank, 0.0) + at - was
            if self._records:
                self._log(made(Reserve, (job, at, because, lasts, on)))

    def compress(self, by: str) -> None:
        """Move reservations to earlier starts, one after another: in order of reserved start (`by` is "start") or of
        the queue ("queue").
        """
        reserved, waiting = self._shown_reservations(), self._waiting.jobs
        jobs: list[Job] = []
        if by == "start":
            starts, ranks = {rank: whole(at) for rank, at in reserved.items()}, sorted(reserved)
            ranks.sort(key=starts.__getitem__)  # equal ones stay in order of rank
            jobs = [waiting[rank] for rank in ranks]
        elif by == "queue":
            jobs = [job for job in self._line() if job.rank in reserved]
        plan, trials = self._present_plan(), Trials()
        for job in jobs:
            was = reserved[job.rank]
            at = plan.sooner(job, was, self._time, trials)
            if at < was - MOMENT:
                self._reserve(job, at, Compressed(was), None, None)

    def expect(self, job: Job, at: float) -> None:
        """Record the start of the job that the policy expects; it reserves nothing."""
        rank = job.rank
        if self._said is not None and self._repeats(Expect(job, at), job, True):
            return
        if self._waiting.jobs.get(rank) is not job:
            self._must_wait(job, "be expected")
        if not at >= self._time:
            raise DecisionError(
                f"job {job.id} cannot be expected at {exact_clock(at)}: the time is already {exact_clock(self._time)}"
            )
        self._expected[rank] = at
        if self._collector.keeps_decisions and self._before.get(rank) != at:
            self._collector.decide(made(Expect, (job, at)))

    def wake(self, at: float, during: Job | None = None) -> None:
        """Request a pass at the time `at`, unless the job `during` leaves its processors before."""
        self._check_timer(at)
        stay = self._running.get(during.rank) if during is not None else None
        timer = (at, -1, inf) if stay is None else (at, stay.rank, stay.since)
        if timer not in self._wakes:
            self._wakes.add(timer)
            heappush(self._timers, timer)

    def wake_once(self, at: float) -> None:
        """Request a pass at the time `at`, unless another pass is made before."""
        self._check_timer(at)
        self._wake_at = min(self._wake_at, at)

    def _check_timer(self, at: float) -> None:
        if not self._time < at < inf:
            raise DecisionError(
                f"a timer must be in the future: got {exact_clock(at)} at time {exact_clock(self._time)}"
            )

    def keep(self, job: Job, because: Reason | None = None) -> None:
        """Record the reason why the job keeps waiting, if this run records reasons; without `because` the reason is
        what the job lacks.
        """
        if self._curious:
            if because is None:
                because = self.lacks(job)
            elif self._machine.has_nodes:
                because = on_nodes(because)
            _check_reason(job, because)
            keep: Keep = made(Keep, (job, because))
            if self._said is None or not self._repeats(keep, job, False):
                self._kept.add(job.rank)
                self._show(keep)
        elif because is not None:
            _check_reason(job, because)

    # Records

    @property
    def _records(self) -> bool:
        return self._curious or self._collector.keeps_decisions

    def _log(self, decision: Decision) -> None:
        """Add a decision to the history and, if a user watches the run, to the decisions of this step."""
        self._collector.decide(decision)
        if self._curious:
            self._show(decision)

    def _show(self, decision: Decision) -> None:
        self._decisions.append(decision)
        if len(self._decisions) == self._stop_after:
            self._end_pass(PassStoppedError())

    def _end_pass(self, end: PassStoppedError | PassAgainError) -> None:
        self._is_ended = True
        raise end


def _check_reason(job: Job, because: object) -> None:
    if not isinstance(because, Because):
        check_reason(job, because)
