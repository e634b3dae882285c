"""Relaxed backfilling: the head may be delayed, but not too much (W section 2 and figure 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Literal

from sim.decisions.decisions import Backfill, Decision, Keep, Reserve
from sim.decisions.reasons import InWindow
from sim.decisions.reasons_to_wait import WindowCloses
from sim.policies.backfill.room import at_shadow, no_room, start_in_order
from sim.policies.parameters import parameter
from sim.policies.policy import Ordered
from sim.policies.registry import policy
from sim.policies.view import View
from sim.workload.model import Job


@policy("relaxed", "W sections 2 and 3, figure 2")
@dataclass(frozen=True)
class Relaxed(Ordered):
    """A job may pass the head if it ends within a window: omega times as long as the head must wait.

    The head's planned start is made again when others have passed it. There is no rule for extra processors. omega=0
    backfills nothing, omega=1 what EASY's first rule allows, omega=inf whatever fits. The queue stands in order of
    arrival unless told; W's own priority is order=ward.
    """

    omega: float = parameter(2.0, "how far the head may slip, as a factor (W figure 2)", low=0.0, high=inf)
    relative: Literal["wait", "runtime", "cpu"] = parameter(
        "wait",
        "what omega stretches: the head's wait (W figure 2), or the wait grows by (omega - 1) times the "
        "head's estimate, or times its CPU hours as all of the machine would do them (W section 2)",
        choices=("wait", "runtime", "cpu"),
    )

    plans = "the heads"

    def decide(self, view: View) -> Iterator[Decision]:
        queue = iter(view.queue)
        head = yield from start_in_order(queue, view)
        if head is None:
            return
        now = view.now
        shadow, extra = view.shadow(head)
        yield Reserve(head, shadow, at_shadow(view, head, extra))
        closes, passed = now + self._window(head, shadow - now, view.procs), False
        for job in queue:
            if not view.fits(job):
                if view.curious:
                    yield Keep(job, no_room(view, job))
            elif now + job.estimate <= closes:
                yield Backfill(job, InWindow(head, now + job.estimate, closes))
                passed = True
            elif view.curious:
                yield Keep(job, WindowCloses(head, now + job.estimate, closes))

        if passed and (later := view.shadow(head))[0] > shadow:
            yield Reserve(head, later[0], at_shadow(view, head, later[1]))

    def _window(self, head: Job, hpwait: float, procs: int) -> float:
        if self.relative == "runtime":
            return hpwait + (self.omega - 1) * head.estimate
        if self.relative == "cpu":
            return hpwait + (self.omega - 1) * head.estimate * head.procs / max(procs, head.procs)
        return self.omega * hpwait
