"""The engine, which advances a run from one instant to the next.

Events less than a microsecond apart belong to one instant. At an instant, completions come first, in rank order; a run
that reaches its limit counts as one. The policy's timers follow, then arrivals in rank order, and then one pass of the
policy, whose calls change the moment. One instant is one step.

The engine never names a policy. It relies on what each policy declares: lasting reservations (`keeps_reservations`)
wake the policy when they are due and are part of the plan; others are dropped before each pass.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import suppress
from heapq import heappop
from math import inf
from threading import active_count
from typing import Final, TypeAlias

from sim.engine.acting import PassStoppedError
from sim.engine.arrivals import admit_arrivals, admit_released
from sim.engine.changes import change_machine, reserve_nodes
from sim.engine.checkpoint import Checkpoint
from sim.engine.clock import Clock, Given
from sim.engine.future import Future, stay_of
from sim.engine.moment import Moment
from sim.engine.passes import Passes
from sim.engine.policy_calls import after_step, beginning, blame, leaves_waiting, let_decide
from sim.engine.results import schedule_of
from sim.engine.schedule import Schedule
from sim.engine.sharing import Sharing
from sim.engine.snapshot import Snapshot
from sim.engine.stay import Stay
from sim.engine.switching import hand_over
from sim.engine.view import LiveView, take_snapshot
from sim.history.history import History, Unwritten
from sim.history.past import Switch
from sim.history.stretch import CUT, DONE, KILLED, RESUMING, RUN, SPECULATIVE, SUSPENDED
from sim.machine.moment import MOMENT
from sim.machine.processors import Placement
from sim.policies.policy import Policy, is_own
from sim.policies.registry import policy_of
from sim.support.captured_output import hear, may_be_heard
from sim.support.deadline import breathe
from sim.support.errors import ParameterError, PolicyError
from sim.support.formatting import clock, exact_clock
from sim.workload.model import Job, Workload
from sim.workload.outages import Outage

ALL: Final = 1 << 60
A_BREATH: Final = 64
"""More steps than any run has, and number of steps after which other threads and signals have their turn"""
IN_VAIN, IN_VAIN_AT_THE_END = 1_000_000, 10_000
"""Largest number of steps in a row without an arrival or an end of a job, after which the run is stopped. The second
number holds when only the policy can still cause steps
"""

Watcher: TypeAlias = Callable[[Moment, Workload, History], Callable[[], None]]
"""Function that begins to observe a run. It returns another function, which the engine calls after every step."""


Resumed: TypeAlias = tuple[Given, Moment, Future]
"""State in which a run goes on: what is given, the present moment, and what is to come"""


class Engine:
    """Simulation of one workload under one policy."""

    def __init__(
        self,
        workload: Workload,
        policy: Policy | str,
        *,
        placement: Placement = "lowest",
        watchers: Sequence[Watcher] = (),
        curious: bool = True,
        resumed: Resumed | None = None,
    ) -> None:
        """Make an engine at the beginning of a run or, with `resumed`, in this state of one. With `curious` the reasons
        to wait are kept for the last step. `watchers` are called after every step.
        """
        if resumed is None:
            resumed = _begin(workload, policy_of(policy), placement, curious)
        given, moment, future = resumed
        self._given, self.present, self._future, self.history = given, moment, future, moment._history
        self.moment = LiveView(moment, workload)
        """All that may be asked of the run after its last step"""
        self.workload = workload
        self._submits, self._killed = given.submits, given.killed
        self._clock = Clock(moment, future, given.submits)
        self._in_vain, self._in_vain_since = 0, 0.0
        """Number of the last steps without an arrival or an end of a job, and the time of the first of them"""
        self._after_step = [watcher(moment, workload, moment._history) for watcher in watchers]
        self._passes, self._hears = Passes(moment, future), may_be_heard()

    def __repr__(self) -> str:
        moment, of = self.present, self.workload
        jobs = f"{moment._tally.finished:,} of {len(of):,} jobs of {of.name} ended"
        return f"<Engine {moment.spec}: step {moment._step:,}, {clock(moment._time)}, {jobs}>"

    def forget(self) -> None:
        """Keep no decisions and no `Job` objects of finished jobs, as only the schedule of the run is read."""
        self.history.forget_decisions()
        self.present._jobs = self.present._jobs.copy()

    # Another engine in the same state

    def checkpoint(self) -> Checkpoint:
        """Return a copy of the present state, between two steps. `Engine.at` continues from it."""
        return Checkpoint(self.present, self._future)

    def at(
        self, checkpoint: Checkpoint, history: History, *, watchers: Sequence[Watcher] = (), last: int | None = None
    ) -> Engine:
        """Return another engine that continues from an earlier checkpoint of this run, and writes to `history`.

        Jobs with a rank above `last` never arrive; None lets all jobs arrive.
        """
        is_copied = not isinstance(history, Unwritten)
        moment = checkpoint.moment(self.present, self.workload, history, is_copied=is_copied)
        future, given = checkpoint.future.copy(), self._given
        for rank, stretch in history.open_stretches().items():
            stay = moment._running.get(rank)
            if stay is not None and stay.stretch != stretch:
                moment._stays.remove(stay)
                moment._running[rank] = stay = stay.recorded_by(stretch)
                moment._stays.add(stay)
        if last is not None:
            given = given.until(last)
            if moment._releases is not None:
                moment._releases.last = last
        return Engine(self.workload, moment._policy, watchers=watchers, resumed=(given, moment, future))

    def snapshot(self) -> Snapshot:
        """Return the current state as an immutable snapshot."""
        return take_snapshot(self.moment, self.next_time())

    def schedule(self, is_last: bool = False) -> Schedule:
        """Return the results so far as columns. With `is_last` they share the run's memory, and the run must end."""
        return schedule_of(self.present, self.workload, self.history, is_last)

    # Time

    @property
    def now(self) -> float:
        """Return the time of the last step."""
        return self.present._time

    @property
    def step_count(self) -> int:
        """Return the number of steps made so far."""
        return self.present._step

    @property
    def curious(self) -> bool:
        """Return True if a user watches the run, so that reasons to wait are recorded."""
        return self.present._curious

    @curious.setter
    def curious(self, curious: bool) -> None:
        self.present._curious = curious

    def next_time(self) -> float | None:
        """Return the time of the next step; None when no event is left."""
        time = self._clock.time()
        return None if time == inf else time

    def step(self) -> bool:
        """Advance to the next instant and apply all its events; return False if there is no further instant."""
        before = self.step_count
        self._make_steps(1, inf)
        return self.step_count > before

    def step_within(self, decisions: int) -> None:
        """Advance to the next instant; stop its pass after `decisions` decisions, to show the state then. This engine
        cannot go on.
        """
        self._passes.most = decisions
        with suppress(PassStoppedError):
            self.step()

    def run(self, until: float = inf) -> None:
        """Make all steps up to the time `until`, including a step at that time."""
        self._make_steps(ALL, until)
        if until == inf:
            self.check_all_done()

    def advance(self, steps: int) -> bool:
        """Make at most `steps` steps; return False if the run has ended."""
        goal = self.step_count + steps
        self._make_steps(steps, inf)
        if self.step_count < goal:
            self.check_all_done()
            return False
        return True

    def hurry(self, until: float, steps: int, work: int, a_step: int) -> int:
        """Make steps up to the time `until`: at most `steps`, and until their work reaches `work`. A step counts as
        `a_step`, and as 1 for each job that it considers. Stop before a switch by an adaptive policy, and after a step
        in which the policy prints. Return the work.
        """
        return self._make_steps(steps, until, work, a_step)

    def _make_steps(self, most: int, until: float, work: int = ALL, a_step: int = 0) -> int:
        """Make at most `most` steps, up to the time `until`; with `a_step`, stop and count work as `hurry` says.

        Python collects no cycles of objects during this, because steps make none, unless a user's code or another
        thread does.
        """
        moment, made, done, before = self.present, 0, 0, let_decide(self.present)
        rests = most > 1 and gc.isenabled() and active_count() == 1 and not is_own(moment._policy)
        if rests:
            gc.disable()
        try:
            while made < most and done < work:
                time = self._clock.time()
                if time > until or time == inf:
                    break
                self._happen(time, None, False)
                made += 1
                if made % A_BREATH == 0:
                    breathe()
                if a_step:
                    done += a_step + moment.crowd
                    if moment._successor is not None or moment._printed:
                        break
        finally:
            if rests:
                gc.enable()
            let_decide(before)
        return done

    def _make_step(self, at: float, successor: Policy | None, changes: bool) -> None:
        before = let_decide(self.present)
        try:
            self._happen(at, successor, changes)
        finally:
            let_decide(before)

    def check_all_done(self) -> None:
        moment = self.present
        if moment.left:
            raise leaves_waiting(moment, moment._jobs[min([*moment._suspended, *moment._waiting.jobs])])

    def switch(self, policy: Policy | str, at: float | None = None) -> None:
        """Switch to another policy in a separate step at the time `at` (default: the time of the last step).

        Other events of that time come first. Then the new policy, to which all waiting jobs are new, makes a pass.
        """
        moment, due = self.present, self._clock.time()
        now = moment._time
        if at is None:
            at = now if moment._step or due == inf else due
        if abs(at - due) <= MOMENT:
            at = max(at, due)
        elif at < now or at > due:
            within = f"from {exact_clock(now)}" + ("" if due == inf else f" to {exact_clock(due)}")
            raise ParameterError(f"the next policy switch must be at a time {within}, got {exact_clock(at)}")
        successor = policy_of(policy)
        moment.refuse_unsupported(successor)
        moment._leader, moment._led, moment._successor = successor if successor.leads() else None, {}, None
        self._make_step(at, successor.first(), False)

    def take_away(self, processors: int, until: float = inf, at: float | None = None) -> None:
        """Let these processors (bits) fail in a separate step at the time `at` (None: now), until `until`."""
        moment, due = self.present, self._clock.time()
        now = moment._time
        at = now if at is None else at
        if processors <= 0 or processors >> moment._procs:
            raise ParameterError(f"no such processors: they are numbered 0 to {moment._procs - 1:,}")
        if not at < until:
            raise ParameterError(
                f"processors that fail at {exact_clock(at)} must come back later, got {exact_clock(until)}"
            )
        if at < now or at > due:
            within = f"from {exact_clock(now)}" + ("" if due == inf else f" to {exact_clock(due)}")
            raise ParameterError(f"processors can fail {within} now, got {exact_clock(at)}")
        self._future.break_down(Outage(at, until, processors))
        breaks = Switch(moment._step + 1, at, moment._policy, moment.spec, breaks=(processors, until))
        self.history.switch(breaks)
        self._make_step(at, None, True)

    # One instant

    def _happen(self, now: float, successor: Policy | None, changes: bool) -> None:
        """Apply all events of the instant `now`; if `successor` is given, the policy is also switched to it.

        `changes` is True if the machine changes at this instant, by maintenance or by a failure.
        """
        try:
            if self._hears:
                hear(self.present)
            self._let_happen(now, successor, changes)
        except (Exception, SystemExit) as error:
            blame(self.present._policy, error, after_step(self.present))
            raise
        finally:
            if self._hears:
                hear(None)

    def _let_happen(self, now: float, successor: Policy | None, changes: bool) -> None:
        moment, future = self.present, self._future
        moment._time = now
        by_rule = moment._successor is not None
        if by_rule:
            successor, moment._successor = moment._successor, None
        _forget_events(moment)
        if moment._sharing is not None:
            self._take_turns_until(moment._sharing, now)
        if future.leaving:
            self._complete_jobs(now)
        is_awake = moment._wake_at <= now
        if moment._timers:
            is_awake = self._drop_timers(now) or is_awake
        moment._wake_at = inf
        if changes or (future.changes and future.next_change() <= now):
            future.applied = now
            change_machine(moment, future.outages)
            future.leaving = sorted(end for end in future.leaving if stay_of(end, moment._running) is not None)
        if moment._releases is not None:
            admit_released(moment, moment._releases)
        elif self._submits[moment._submitted] <= now:
            admit_arrivals(moment, self._submits)
        if moment._node_times:
            reserve_nodes(moment)
        if successor is not None:
            hand_over(moment, future, successor, by_rule)
            self._passes.find_ends()
            self._hears = may_be_heard()
        if moment._sharing is None or self._is_pass_due(is_awake or successor is not None):
            self._passes.make(successor is not None)
        if moment._sharing is not None:
            self._go_on_in_rows(moment._sharing)
        self._end_step(by_rule)

    def _complete_jobs(self, now: float) -> None:
        moment = self.present
        due = self._future.due(now, moment._running)
        for stay in due:
            self._end_stay(stay)
        if due:
            moment._free = moment._machine.free

    def _end_stay(self, stay: Stay) -> None:
        """Apply the event that a stay ends: the job has finished, or its speculative run is cut short, or its memory is
        written (it is suspended now) or read (it makes progress again).
        """
        moment, job, rank = self.present, stay.job, stay.rank
        now, runtime = moment._time, self._future.runtimes[rank]
        if stay.kind == RUN or (stay.kind == SPECULATIVE and stay.since + runtime - stay.ran_before <= now + MOMENT):
            if stay.expected_end > now + MOMENT:
                moment._ended_early = True
            moment._leave(stay, self._ending(rank))
            self._finish(job)
        elif stay.kind == SPECULATIVE:
            moment._leave(stay, CUT)
            moment._killed.append(job)
            moment._tally.speculative_kills += 1
            moment._waiting.add(job)
        elif stay.kind == RESUMING:
            moment._make_progress(stay)
            self._passes.find_ends()
        else:
            moment._leave(stay, SUSPENDED)

    def _ending(self, rank: int) -> int:
        """Return how the job's run ends, as index into `ENDINGS`: done, or killed at its estimate."""
        return KILLED if self._killed[rank] else DONE

    def _finish(self, job: Job) -> None:
        moment, rank = self.present, job.rank
        moment._done(job, self._future.runtimes[rank], self._killed[rank])
        if not moment._collector.keeps_decisions and moment._releases is None:  # else it cannot be made again alike
            moment._jobs.made[rank] = None

    def _drop_timers(self, now: float) -> bool:
        timers, wakes, dropped = self.present._timers, self.present._wakes, False
        while timers and timers[0][0] <= now:
            wakes.discard(heappop(timers))
            dropped = True
        return dropped

    # Turns of rows

    def _take_turns_until(self, sharing: Sharing, now: float) -> None:
        """Let the rows of the matrix take their turns from the last step until `now`; add the jobs' progress."""
        if self.present._step and now > sharing.since:
            self.history.mend_free(sharing.empty_until(now) / (now - sharing.since))
        for rank in sharing.elapse(now, self._future.runtimes):
            self.history.leave_matrix(rank, now, self._ending(rank))
            self._finish(self.present._jobs[rank])

    def _go_on_in_rows(self, sharing: Sharing) -> None:
        """Update the clock of the rows at the end of a step, when all changes of the matrix are made."""
        moment = self.present
        for rank in sharing.settle(moment._time):
            moment._started(rank)
        moment._machine.hold_only(sharing.on_turn())
        moment._free = moment._machine.free
        self.history.share(moment._time, sharing.turns, sharing.matrix)

    def _is_pass_due(self, is_asked: bool) -> bool:
        """Return True if a pass is due where rows take turns: after an event, if one is asked for, or without jobs."""
        moment = self.present
        is_event = bool(moment._arrived or moment._completed or moment._resized)
        return is_asked or is_event or not moment._shared().ran

    # The end of the step

    def _end_step(self, by_rule: bool) -> None:
        """Write the step to the history; let an adaptive policy choose the next one, unless this step switches to its
        choice (`by_rule`).
        """
        moment = self.present
        moment._step += 1
        waiting, collector = moment._waiting, moment._collector
        collector.close_step(moment._time, moment._free, len(waiting.jobs), waiting.wanted)
        if collector.is_full:
            self.history.write_all()
        self._check_progress()
        if moment._leader is not None and not by_rule and (moment.left or self._clock.time() < inf):
            wanted = moment._leader.next_policy(moment._policy, moment, moment._led)
            moment._successor = wanted if wanted != moment._policy else None
        for look in self._after_step:
            look()

    def _check_progress(self) -> None:
        """Raise an error if the policy only sets timers, step after step."""
        moment = self.present
        if moment._arrived or moment._completed or moment._killed:
            self._in_vain = 0
            return
        if not self._in_vain:
            self._in_vain_since = moment._time
        self._in_vain += 1
        if self._in_vain > IN_VAIN_AT_THE_END:
            goes_on = moment.under_way or self._clock.arrival() < inf
            stands = moment._time - self._in_vain_since < self._in_vain * MOMENT
            most = IN_VAIN if goes_on and not stands else IN_VAIN_AT_THE_END
            if self._in_vain > most:
                at = f"step {moment._step}, at {exact_clock(moment._time)} ({beginning(moment)})"
                what = f"{moment.spec} keeps setting timers without deciding anything: {most:,} in a row at {at}"
                raise PolicyError(what, beginning(moment))


def _forget_events(moment: Moment) -> None:
    """Forget what the moment keeps about the last instant only, such as the jobs that arrived or completed."""
    if moment._arrived:
        moment._arrived.clear()
    if moment._completed:
        moment._completed.clear()
    if moment._killed:
        moment._killed.clear()
    if moment._decisions:
        moment._decisions.clear()
    if moment._printed:
        moment._printed.clear()
    if moment._moved:
        moment._moved.clear()
    if moment._not_passed:
        moment._not_passed.clear()
    moment._ended_early = False
    if moment._resized:
        moment._resized = moment._upset = False
        moment._interrupted, moment._ousted, moment._renewed = [], [], []


def _begin(workload: Workload, policy: Policy, placement: Placement, curious: bool) -> Resumed:
    """Return the state at the beginning of a run."""
    jobs = workload.jobs.copy() if workload.follows else workload.jobs  # in such a run submit times change
    given, moment = Given(workload), Moment(History(jobs))
    moment._curious = curious
    try:
        moment._begin(workload, jobs, policy, placement)
    except (Exception, SystemExit) as error:
        blame(policy, error, "at the beginning")
        raise
    return given, moment, Future(given.runtimes, workload.outages)
