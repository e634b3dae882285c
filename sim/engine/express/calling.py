"""Calls of a policy that is not compiled from the fast loop of `sim.kernel`.

The loop makes the steps, and the policy acts on its columns (`LoopPass`). The engine takes over if the columns lack an
answer or if the policy makes a mistake. This happens within the pass: the loop's state is copied back, and the policy
goes on with the engine's own pass. The engine makes the end of this step and all further steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import unwrap
from types import ModuleType
from typing import cast
from weakref import proxy

from sim.captured_output import hear, may_be_heard, restored
from sim.decisions.decisions import Backfill, Reserve, Start
from sim.engine.express.loop_pass import LoopPass
from sim.engine.policy_calls import run_pass
from sim.engine.state import State
from sim.engine.state_view import StateView
from sim.history.bulk_append import Extension
from sim.history.decision_log import rows_of
from sim.kernel.checked_calls import CheckedCalls, PythonRules
from sim.kernel.known import Known
from sim.kernel.loop import ENOUGH, Loop

_AT_ONCE = 256
"""Largest number of steps after which Python's own functions are restored, in case the policy has replaced one"""
_MADE = 1024
"""Number of jobs that are made at once"""


class _TakenOverError(Exception):
    """Signal that ends the loop within a step, because the engine has taken over."""


class Calling:
    """One policy and the loop that calls it."""

    def __init__(
        self, loops: ModuleType, loop: Loop, policy: Known, state: State, shown: Callable[[], StateView]
    ) -> None:
        """Prepare the loop; `shown` returns the engine's own pass."""
        self._loop, self._state, self._shown = loop, state, shown
        self._extension: Extension | None = None
        self.has_ended = False
        """True if the engine has taken over"""
        self._settle: Callable[[], None] = _do_nothing
        forms = [rows_of(decision) for decision in (Start, Backfill, Reserve)]
        me = proxy(self)  # or a cycle would keep the columns of a finished run
        self.calls: CheckedCalls = loops.CheckedCalls(loop, state, state.jobs.made, *forms, lambda: me._take_over())
        self._pass, self._rules = LoopPass(state, loop, self.calls), cast(PythonRules, policy.rules)
        self._rules.made, self._rules.make, self._rules.leave = state.submitted, _make_in(state), _leave
        self._act = partial(unwrap(type(state.policy).decide), state.policy, self._pass)

    @property
    def in_vain(self) -> tuple[int, float]:
        """Return the number of steps in a row before this one without an arrival or an end of a job, and the time of
        the first.
        """
        return max(self._rules.vain - 1, 0), self._rules.vain_since

    def run(self, until: float, goal: int, a_step: int, extension: Extension, settle: Callable[[], None]) -> int:
        """Let the loop make steps until step `goal`. Return the number of the reason why it stopped; after an error, or
        if the engine takes over, `settle` copies the loop's state back within the step.
        """
        loop, reason, hears = self._loop, ENOUGH, may_be_heard()
        self._extension, self._settle, self.calls.kept = extension, settle, extension.kept

        def act(_: StateView) -> tuple[()]:
            nonlocal reason
            try:
                while reason == ENOUGH and loop.step < goal and loop.credit > 0 and not loop.is_to_stop:
                    reason = loop.run(until, min(goal - loop.step, _AT_ONCE), loop.credit, a_step)
                    if hears:
                        restored()
            except _TakenOverError:
                pass
            return ()

        self.calls.is_open, loop.is_to_stop = True, False
        self._rules.calls, self._rules.act = self.calls, self._act
        try:
            if hears:
                hear(self._state)
            run_pass(self._state, act, self._pass, {})
        except BaseException:
            self._take_over()  # after `run_pass`, because an interrupt would leave the state half copied
            raise
        finally:
            for name in ("calls", "act"):  # the loop has the rules, and these would have the loop
                setattr(self._rules, name, None)
            self._settle = _do_nothing
            if hears:
                hear(None)
        if self.calls.is_open:
            self._close()
        return int(reason)

    def _close(self) -> None:
        loop, extension = self._loop, self._extension
        assert extension is not None
        self.calls.is_open = False
        extension.written = loop.step, loop.begun, loop.decided, loop.ranged
        loop.close()

    def _take_over(self) -> StateView:
        """Let the engine go on within this step; return its pass."""
        if self.calls.is_open:
            self._close()
            assert self._extension is not None
            self._extension.cut()
            self._settle()
            self._state.before, self.has_ended = self.calls.before, True
        return self._shown()


def _make_in(state: State) -> Callable[[int, int], int]:
    """Return the function that makes the jobs of the ranks from `first` up to `last` and some more, and returns the
    rank of the next one.
    """
    jobs = state.jobs

    def make(first: int, last: int) -> int:
        last = max(last, min(first + _MADE, len(jobs)))
        for rank in range(first, last):
            if jobs.made[rank] is None:
                jobs.next(rank, last - rank)
        return last

    return make


def _do_nothing() -> None:
    """Do nothing."""


def _leave() -> None:
    raise _TakenOverError
