"""Relaxed backfilling: at each pass, jobs that pass the head may lengthen its wait by a factor (Ward et al., section 2
and figure 2).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal

from sim.decisions.reasons import InWindow, WhenFree
from sim.decisions.reasons_to_wait import WindowCloses
from sim.machine.moment import is_by
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.workload.model import Job

if TYPE_CHECKING:
    from sim.engine.moment import Moment


@policy("relaxed", "W sections 2 and 3, figure 2")
@dataclass(frozen=True)
class Relaxed(Ordered):
    """A job may pass the head if it ends within a window: omega times as long as the head must wait.

    Each pass makes the window again from the head's planned start at that time, as in W figure 2. So slips add up:
    omega bounds one slip, not the wait; the policies shadow and slack have bounds. There is no rule for extra
    processors. omega=0 backfills nothing, omega=1 what EASY's first rule allows, omega=inf whatever fits. W section 2
    defines omega by the head's run time (relative=runtime); the default is what figure 2 and W's results use. The queue
    is in order of arrival by default; W's own priority is order=ward.
    """

    omega: float = parameter(2.0, "how far the head may slip in one pass, as a factor (W figure 2)", low=0.0, high=inf)
    relative: Literal["wait", "runtime", "cpu"] = parameter(
        "wait",
        "what omega stretches: the head's wait (W figure 2), or the wait grows by (omega - 1) times the "
        "head's estimate, or times its CPU hours as all of the machine would do them (W section 2)",
        choices=("wait", "runtime", "cpu"),
    )

    plans = "the heads"

    def decide(self, now: Moment) -> None:
        head = now.start_in_order()
        if head is None:
            return
        shadow, extra = now.shadow(head)
        now.reserve(head, shadow, WhenFree(now.free, extra + head.procs))
        closes, passed = now.time + self._window(now, head, shadow - now.time), False
        for job in now.easy_candidates(head, closes):
            if not now.fits(job):
                now.keep(job)
                continue
            ends = now.time + job.estimate
            if is_by(ends, closes):
                now.start(job, InWindow(head, ends, closes))
                passed = True
            else:
                now.keep(job, WindowCloses(head, ends, closes))
        if passed:
            later, extra = now.shadow(head)
            if not is_by(later, shadow):
                now.reserve(head, later, WhenFree(now.free, extra + head.procs))

    def _window(self, now: Moment, head: Job, hpwait: float) -> float:
        if self.relative == "runtime":
            return hpwait + (self.omega - 1) * head.estimate
        if self.relative == "cpu":
            return hpwait + (self.omega - 1) * head.estimate * head.procs / max(now.procs, head.procs)
        return self.omega * hpwait
