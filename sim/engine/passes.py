"""Passes of the policy: once in each step, after all events of the instant."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

from sim.decisions.matrix import Phase
from sim.engine.acting import PassStoppedError
from sim.engine.future import Future
from sim.engine.inherited import decide_with_inherited, decide_within_limits
from sim.engine.moment import Moment
from sim.engine.policy_calls import failure_of_pass
from sim.engine.switching import promise_again
from sim.engine.yielded import carry_out
from sim.support.errors import PolicyError


class Passes:
    """Passes of a run. They change the moment, and find the true ends of the stays that they begin."""

    def __init__(self, moment: Moment, future: Future) -> None:
        self._moment, self._future = moment, future
        self.most = -1
        """Number of decisions of a step after which its pass is stopped; -1 for none"""

    def _decide(self, moment: Moment) -> None:
        """Let the policy decide, up to the number of decisions after which the pass is to stop."""
        if self.most >= 0:
            moment._stop_after = self.most
            if self.most <= len(moment._decisions):
                raise PassStoppedError
        self._ask(moment._policy.decide)
        if moment._is_ended:
            raise PolicyError(f"{moment.spec} caught the end of its pass: it must not catch BaseException")

    def _ask(self, function: Callable[[Moment], Any]) -> None:
        moment = self._moment
        moment._is_deciding = True
        try:
            decisions = function(moment)
            if decisions is not None:
                carry_out(moment, decisions)
        except BaseException as error:
            failed = failure_of_pass(moment, error)
            if failed is error:
                raise
            failed.__cause__ = error  # compiled code sets none for `from`
            raise failed from error
        finally:
            moment._is_deciding = False

    def make(self, is_new: bool) -> None:
        """Let the policy make one pass; `is_new` is True for its first pass after a switch."""
        moment = self._moment
        moment._waiting.step = moment._step
        moment._plan_anew()
        is_first = bool(moment._switches) and moment._switches[-1].step > moment._step
        arrived = moment._arrived
        if moment._waiting.looks:
            if is_first:
                moment._arrived = [*moment._waiting.jobs.values()]
            self._ask(moment._waiting.look)
            moment._arrived = arrived
        if moment._resized:
            moment._arrived = [*moment._renewed, *sorted(moment._interrupted), *arrived]
        if moment._switches:
            self._make_after_switch(is_first)
        elif moment._closes < inf and moment._policy.code is not None and moment._sharing is None:
            decide_with_inherited(moment, self._decide)
        else:
            self._let_decide()
        if moment._arrived is not arrived:
            moment._arrived = arrived
        self.find_ends()
        if moment._sharing is not None:
            is_rebuilt = any(isinstance(told, Phase) for told in moment._decisions)
            if not moment._curious or is_new or is_rebuilt:
                moment._rebuild = tuple(moment._decisions)

    def _make_after_switch(self, is_first: bool) -> None:
        """Make a pass of a policy that has taken over; in its first one all waiting jobs count as arrivals."""
        moment = self._moment
        if not moment._policy.keeps_reservations:
            moment._forget_promises()
        if is_first:
            queue = moment._waiting.in_order(moment._time)
            moment._arrived = [job for job in queue if job.rank not in moment._granted]
        if moment._awaited is not None:
            moment._kept_plan = None  # it changes with everything that leaves the processors that are kept
        granted, suspended = moment._granted and not moment._policy.grants, moment._suspended
        if granted or (suspended and not moment._policy.suspends):
            decide_with_inherited(moment, self._decide)
        else:
            self._let_decide()
        promise_again(moment)

    def _let_decide(self) -> None:
        if self._moment._has_limits and not self._moment._policy.asks_limits:
            decide_within_limits(self._moment, self._decide)
        else:
            self._decide(self._moment)

    def find_ends(self) -> None:
        """Find the true ends of the stays that have begun, unless they are over already."""
        moment = self._moment
        if moment._begun:
            for stay in moment._begun:
                if moment._running.get(stay.rank) is stay:
                    self._future.add(stay)
            moment._begun.clear()
