"""Users take turns: the user whose last start is longest ago starts the oldest job that fits."""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import Fits
from sim.policies.columns import Column


@dataclass(frozen=True)
class RoundRobin(Policy):
    """One job of a user after another; the notes remember each user's last start."""

    columns = (Column("turn", "the number of the user's last turn", of="user"),)

    def decide(self, now: Moment) -> None:
        turn = now.notes.setdefault("turn", {})
        while fitting := [job for job in now.queue if now.fits(job)]:
            job = min(fitting, key=lambda job: (turn.get(job.user, 0), job.rank))
            turn[job.user] = max(turn.values(), default=0) + 1
            now.start(job, Fits(now.free))
