"""Fast loop: one instant after another over columns, as `sim.engine.engine` does with objects.

This file also runs interpreted. `.ci/compile.py` compiles it, with the C types of its annotations. Both give the same
histories, decisions and states as the engine and the policies, which are the definition.
"""

from __future__ import annotations

from sim.kernel.conservative import Conservative
from sim.kernel.present import (
    CONSERVATIVE,
    DEEP,
    EASY,
    FCFS,
    FIRSTFIT,
    RECORDED,
    RELAXED,
    REPLAN,
)
from sim.machine import cython
from sim.machine.columns import (
    INFINITE,
    forget_last,
    insert_in_order,
    number_before,
    time_up_to,
)
from sim.machine.moment import MOMENT

ENOUGH = 0
LATER = 1
OVER = 2
FULL = 3
"""Reason for stopping, of four that are numbered from 0: enough steps made, next step too late, no step left, or
history's columns full
"""
LAST = 1e300
"""Latest time of any event; what never happens has a later time"""


@cython.cclass
class Loop(Conservative):
    """Fast loop for policies on equal processors that suspend no jobs; `run` continues from the current state."""

    def run(self, until: float, steps: int, credit: int, a_step: int) -> int:
        """Make at most `steps` steps until the time `until`, while credit is left; return the reason for stopping.

        A step costs `a_step` and 1 for every job that waits then.
        """
        until, self.credit, self.arrives, leeway = min(until, LAST), credit, self.submit[self.arriving], 0
        while steps and self.credit > 0:
            now = self._next_time()
            if now > until:
                return OVER if now == INFINITE else LATER
            self.coming = 0
            while self.arrives <= now:
                self.coming += 1
                self.arrives = self.submit[self.arriving + self.coming]
            leeway -= self.waiting + self.coming + self.pieces + 1
            if leeway < 0:
                if not self._has_room():
                    return FULL
                leeway = self.leeway
            self._happen(now)
            steps -= 1
            self.credit -= a_step + self.waiting
        return ENOUGH

    # Time

    def _next_time(self) -> float:
        """Return the time of the next step; infinite if no event is left."""
        running, leave_at, arrives = self.running, self.leave_at, self.arrives
        self.leaves = time = -leave_at[running - 1] if running else INFINITE
        if arrives < time:
            time, follows = arrives, time
        else:
            follows = -leave_at[running - 2] if running > 1 else INFINITE
            if arrives < follows:
                follows = arrives
        if self.reservations or self.kind == RECORDED:
            timer = self.reserved_at[0] if self.reservations else self._wakes(self.now, INFINITE)
            if timer <= self.now:
                timer = self.now if self.is_due else self._is_due_after(self.now)
            if timer < time:
                time = follows = timer
            elif timer < follows:
                follows = timer
        if follows > time + MOMENT or time == INFINITE:
            return time
        latest = self._latest(time, arrives)
        while latest != time:
            time = latest
            latest = self._latest(time, arrives)
        return time

    def _latest(self, time: float, arrives: float) -> float:
        """Return the latest time up to which events belong to the same instant as `time`; `arrives` is the next
        arrival.
        """
        until = time + MOMENT
        latest = arrives if time < arrives and arrives <= until else time
        index = self.running - 1
        while index >= 0 and -self.leave_at[index] <= until:
            if -self.leave_at[index] > latest:
                latest = -self.leave_at[index]
            index -= 1
        index = 0
        while index < self.reservations and self.reserved_at[index] <= until:
            if self.reserved_at[index] > latest:
                latest = self.reserved_at[index]
            index += 1
        if self.kind == RECORDED:
            timer = self._wakes(latest, until)
            while timer < INFINITE:
                latest = timer
                timer = self._wakes(latest, until)
        return latest

    def _is_due_after(self, now: float) -> float:
        """Return the time of the first reservation after `now`. Jobs with earlier reservations wait for processors."""
        index = time_up_to(self.reserved_at, now, 0, self.reservations)
        time: float = self.reserved_at[index] if index < self.reservations else INFINITE
        return time

    def _wakes(self, after: float, until: float) -> float:
        """Return the first recorded start of a waiting job after `after` and at most `until`; infinite if there is
        none.
        """
        for index in range(self.waiting):
            time = self.recorded[self.rank_at[self.queue[index]]]
            if time > after:
                return time if time <= until else INFINITE
        return INFINITE

    def _has_room(self) -> bool:
        """Return True if the columns of the history have space for everything that can happen in this step.

        A job that starts gets at most all ranges of free processors. There is at most one more of these than ranges of
        taken ones, as between
        two there is a taken one.
        """
        leeway = min(self.most_steps - self.step, self.most_begun - self.begun)
        leeway = min(leeway, (self.most_decided - self.decided) // 2)
        leeway = min(leeway, (self.most_ranged - self.ranged) // 3)
        self.leeway = leeway - (self.waiting + self.coming + self.pieces + 1)
        return self.leeway >= 0

    def _happen(self, now: float) -> None:
        """Apply all events of one instant."""
        self.now = now
        self.moves = self.completed = 0
        self.ended_early = False
        if self.leaves <= now:
            self._complete_jobs(now)
        if self.reservations and self.reserved_at[0] <= now:
            self.is_due = True
        self.arrived = self.coming
        if self.coming:
            rank = self.arriving
            self.arriving = last = rank + self.coming
            while rank < last:
                insert_in_order(self.queue, self.place_of[rank], 0, self.waiting)
                self.waiting += 1
                self.wanted += self.procs[rank]
                rank += 1
        self._decide()
        index = self.step
        self.h_time[index] = now
        self.h_free[index] = self.free
        self.h_waiting[index] = self.waiting
        self.h_wanted[index] = self.wanted
        self.h_decided[index] = self.decided
        self.h_begun[index] = self.begun
        self.step = index + 1

    def _complete_jobs(self, now: float) -> None:
        """Complete the jobs that end now, by rank; mostly it is one."""
        leave_at, leave_rank, done, first, count = self.leave_at, self.leave_rank, self.done, self.running - 1, 1
        rank = done[0] = leave_rank[first]
        forget_last(leave_at, leave_rank)
        while first and -leave_at[first - 1] <= now:
            first -= 1
            rank, place = leave_rank[first], count
            forget_last(leave_at, leave_rank)
            while place and done[place - 1] > rank:
                done[place] = done[place - 1]
                place -= 1
            done[place] = rank
            count += 1
        self.completed, self.is_fresh = count, False
        if count == 1:
            self._complete(rank, now)
            return
        for index in range(count):
            self._complete(done[index], now)

    # Decisions

    def _decide(self) -> None:
        """Make a pass of the policy."""
        kind = self.kind
        if kind == CONSERVATIVE:
            self._decide_conservative()
        elif self.waiting or kind == REPLAN:
            if kind <= RELAXED:
                self._decide_easy()
            elif kind == FCFS:
                while self.waiting and self.width[self.queue[0]] <= self.free:
                    self._start(0, self.starts_as, -1, self.free, 0.0, False)
            elif kind == FIRSTFIT:
                self._decide_firstfit()
            elif kind == RECORDED:
                self._decide_recorded()
            elif kind == DEEP:
                self._decide_deep()
            else:
                self._decide_replan()
        else:
            self.head = -1

    # Policies without a plan

    def _decide_firstfit(self) -> None:
        index, passes = 0, False
        if self.is_fresh and self.in_order_of_arrival:
            index = self.waiting - self.arrived  # those before do not fit, as they did not before
            passes = index > 0
        while index < self.waiting:
            if self.width[self.queue[index]] <= self.free:
                form = self.passes_as if passes else self.starts_as
                self._start(index, form, -1, self.free, 0.0, passes)
            else:
                passes = True
                index += 1
        self.is_fresh = True

    def _decide_recorded(self) -> None:
        index, now = 0, self.now
        while index < self.waiting and self.free:
            place = self.queue[index]
            recorded = self.recorded[self.rank_at[place]]
            if recorded > now:
                if self.all_recorded:
                    return
                index += 1
            elif self.width[place] <= self.free:
                late = now - recorded if recorded == recorded else 0.0
                self._start(index, self.starts_as, -1, recorded, late, False)
            else:
                index += 1

    # The head alone has a reservation

    def _decide_easy(self) -> None:
        queue, width = self.queue, self.width
        while self.waiting and width[queue[0]] <= self.free:
            self._start(0, self.starts_as, -1, self.free, 0.0, False)
        if not self.waiting:
            self.head = -1
            return
        head = self.rank_at[queue[0]]
        index, had = 1, head == self.head
        if self.is_fresh and had:
            if self.in_order_of_arrival and self.kind == EASY:
                index = self.waiting - self.arrived  # those before cannot pass, as they could not before
        else:
            self._cast_shadow(head)
            self._reserve_head(head, had)
        is_easy, stays = self.kind == EASY, self.is_sharp
        if is_easy and (index >= self.waiting or not self.free):
            self.is_fresh = stays
            return
        shadow, extra, until = self.shadow, self.extra, self.shadow
        if not is_easy:
            wait = shadow - self.now
            until = self.omega * wait
            if self.by_runtime:
                until = wait + (self.omega - 1) * self.estimate[head]
            until = self.now + until
            extra = -1
        self.is_fresh = True
        index = self._next_to_pass(index, until, extra)
        while index < self.waiting:
            place = queue[index]
            ends = self.now + self.length[place]
            if not is_easy:
                self._start(index, self.passes_as, head, ends, until, True)
            elif ends <= until:
                self._start(index, self.passes_as, head, shadow, ends, True)
            else:
                self._start(index, self.spares_as, head, shadow, extra, True)
                extra -= width[place]
                stays = stays and ends > shadow + MOMENT
            if index < self.waiting:
                index = self._next_to_pass(index, until, extra)
        if is_easy:  # they leave the shadow where it is
            self.extra, self.is_fresh = extra, stays
        elif not self.is_fresh:
            self._cast_shadow(head)  # others have passed it
            if self.shadow > shadow:
                self._reserve_head(head, had)

    def _next_to_pass(self, index: int, until: float, extra: int) -> int:
        """Return the index, from `index` on, of the next job in the queue that fits and ends by `until`, or needs at
        most `extra` processors.
        """
        waiting, free = self.waiting, self.free
        if not free:
            return waiting
        queue, width = self.queue, self.width
        place: int
        for place in queue[index:waiting]:
            if width[place] <= free and (self.now + self.length[place] <= until or width[place] <= extra):
                return number_before(queue, place, 0, waiting)
        return waiting

    def _cast_shadow(self, head: int) -> None:
        """Compute the head's shadow time, at which it fits, and the number of extra processors, left over then."""
        needs, free, at = self.procs[head], self.free, 0
        running, ends, procs = self.running, self.end_at, self.end_procs
        while free < needs:
            free += procs[at]
            at += 1
        shadow = ends[at - 1]
        until = shadow + MOMENT
        while at < running and ends[at] <= until:
            free += procs[at]
            at += 1
        self.shadow, self.extra, self.is_sharp = shadow, free - needs, ends[at - 1] == shadow

    def _reserve_head(self, head: int, had: bool) -> None:
        """Reserve the head's start; `had` is True if it had a reservation before."""
        shadow, was = self.shadow, self.planned[head]
        if self.promises and not had:
            self._promise(head, shadow)
        if had and shadow != was:
            self._moves(head, shadow, was)
        if not had or shadow != was:
            self._note(self.plans_as, head, -1, shadow, self.free, self.extra + self.procs[head])
        self.head = head
        self.planned[head] = shadow

    # Plan every job

    def _decide_replan(self) -> None:
        """Plan all jobs again; a wider and longer job starts no earlier than one placed before."""
        self._make_plan()
        draft, bounds, now, index, passes = self.draft, self.bounds, self.now, 0, False
        draft.become(self.plan)
        bounds.forget()
        while index < self.waiting:
            place = self.queue[index]
            procs, length = self.width[place], self.length[place]
            bound = bounds.bound(procs, length, INFINITE)
            at = draft.earliest(procs, length, bound if bound > now else now)
            draft.take(at, at + length, procs)
            bounds.note(procs, length, at, at)
            if at == now:
                self._start(index, self.passes_as if passes else self.starts_as, -1, 0.0, 0.0, passes)
                continue
            passes = True
            index += 1
            self._plan_anew(self.rank_at[place], at, 0.0)

    def _plan_anew(self, rank: int, at: float, one: float) -> None:
        """Plan the job's start at `at` for this pass only; `one` is the number in the reason."""
        had = self.planned_in[rank] == self.step
        if not had or self.planned[rank] != at:
            if had:
                self._moves(rank, at, self.planned[rank])
            self._note(self.plans_as, rank, -1, at, one, 0.0)
        self.planned[rank] = at
        self.planned_in[rank] = self.step + 1

    def _decide_deep(self) -> None:
        """Give the first jobs that cannot start reservations, which no other job may delay."""
        while self.waiting and self.width[self.queue[0]] <= self.free:
            self._start(0, self.starts_as, -1, self.free, 0.0, False)
        if not self.waiting:
            return
        self._make_plan()
        draft, now, index, heads = self.draft, self.now, 0, 0
        draft.become(self.plan)
        while index < self.waiting:
            place = self.queue[index]
            procs, length = self.width[place], self.length[place]
            if heads == self.depth and procs > self.free:
                index += 1
                continue
            at = draft.earliest(procs, length, now)
            if at == now:
                self._start(index, self.passes_as, -1, 0.0, 0.0, True)
            else:
                index += 1
                if heads == self.depth:
                    continue
                heads += 1
                self._plan_anew(self.rank_at[place], at, self.free)
            draft.take(at, at + length, procs)
