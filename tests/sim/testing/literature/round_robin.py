"""Users take turns: the user whose last start is longest ago starts the oldest job that fits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sim import Policy
from sim.core.moment import Moment
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.policies.columns import Column


@dataclass(frozen=True)
class RoundRobin(Policy):
    """One job of a user after another; the notes remember each user's last start."""

    columns = (Column("turn", "the number of the user's last turn", of="user"),)

    def decide(self, view: Moment) -> Iterator[Decision]:
        turn = view.notes.setdefault("turn", {})
        while fitting := [job for job in view.queue if job.procs <= view.free]:
            job = min(fitting, key=lambda job: (turn.get(job.user, 0), job.rank))
            turn[job.user] = max(turn.values(), default=0) + 1
            yield Start(job, Fits(view.free))
