"""Fast loop: the steps of a run made over arrays of numbers, as `sim.engine.engine` makes them with objects.

It runs only where `.ci/compile.py` has compiled it, with the C types of its annotations. It gives the same histories,
decisions and states as the engine and the policies, whose code defines what is right.
"""

from __future__ import annotations

from sim.kernel.arrays import insert_in_order, time_up_to
from sim.kernel.calls import Pass, Rules
from sim.machine import cython
from sim.machine.columns import INFINITE
from sim.machine.moment import MOMENT

ENOUGH = 0
LATER = 1
OVER = 2
FULL = 3
"""Last of the numbers of the reasons for stopping: `ENOUGH` steps are made, the next step is `LATER` than allowed, the
run is `OVER`, or columns of the history are `FULL`
"""
LAST = 1e300
"""Latest time of any event; an event that never happens has a later time"""


@cython.cclass
class Loop(Pass):
    """Fast loop for policies on equal processors that suspend no jobs; `run` continues from the current state."""

    def __init__(self, jobs: int, procs: int, most_running: int) -> None:
        Pass.__init__(self, jobs, procs, most_running)
        self.rules = Rules()

    def run(self, until: float, steps: int, credit: int, a_step: int) -> int:
        """Make at most `steps` steps up to the time `until`, as long as credit is left; return the reason for stopping
        (`ENOUGH`, `LATER`, ...).

        A step costs `a_step` credits, and one more for every job that waits after it.
        """
        until, self.credit, self.arrives, leeway = min(until, LAST), credit, self.submit[self.arriving], 0
        self.is_to_stop = False
        while steps and self.credit > 0 and not self.is_to_stop:
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
        if self.reservations:
            timer = self.reserved_at[0]
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
        """Return the latest time up to which events belong to the same instant as `time`; `arrives` is the time of the
        next arrival.
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
        return latest

    def _is_due_after(self, now: float) -> float:
        """Return the time of the first reservation after `now`; infinity if there is none. Earlier reservations are
        left out, because their jobs already wait for processors.
        """
        index = time_up_to(self.reserved_at, now, 0, self.reservations)
        time: float = self.reserved_at[index] if index < self.reservations else INFINITE
        return time

    def _has_room(self) -> bool:
        """Return True if the columns of the history have space for everything that can happen in this step.

        A job that starts gets at most all ranges of free processors. There is at most one more of these than ranges of
        taken processors, because a range of taken ones lies between two free ranges.
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
        while first and -leave_at[first - 1] <= now:
            first -= 1
            rank, place = leave_rank[first], count
            while place and done[place - 1] > rank:
                done[place] = done[place - 1]
                place -= 1
            done[place] = rank
            count += 1
        self.completed = count
        if count == 1:
            self._complete(rank, now)
            return
        for index in range(count):
            self._complete(done[index], now)

    # Decisions

    def _decide(self) -> None:
        """Make a pass of the policy."""
        if not self.is_reserved:
            self._forget_request()
        self.rules.decide(self)
        if self.is_due:
            self.is_due = self._asks_again()
