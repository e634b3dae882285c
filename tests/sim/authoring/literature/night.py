"""Prime time and night: wide jobs run only from evening to morning, as at many sites in the 1990s."""

from __future__ import annotations

from dataclasses import dataclass

from sim import Moment, Policy
from sim.decisions.reasons import Fits
from sim.decisions.sentences import Time
from sim.policies.parameters import parameter
from sim.support.formatting import Clock
from sim.workload.model import Job

HOUR, DAY = 3600.0, 86400.0


@dataclass(frozen=True)
class OnlyAtNight:
    night: Time

    def sentence(self, job: Job, at: Clock) -> str:
        return f"wide jobs start at night, from {at(self.night)} on"


@dataclass(frozen=True)
class Night(Policy):
    """Jobs wider than a share of the machine start between evening and morning; others whenever they fit."""

    share: float = parameter(0.5, "of the machine, beyond which a job is wide", low=0.0, high=1.0)
    evening: float = parameter(18.0, "the hour of the day at which the night begins", low=12.0, high=24.0)
    morning: float = parameter(6.0, "the hour at which it ends", low=0.0, high=12.0)

    def decide(self, now: Moment) -> None:
        evening = now.time // DAY * DAY + self.evening * HOUR
        is_day = self.morning * HOUR <= now.time % DAY < self.evening * HOUR
        for job in now.queue:
            if is_day and job.procs > self.share * now.procs:
                now.wake(evening)
                now.keep(job, OnlyAtNight(evening))
            elif now.fits(job):
                now.start(job, Fits(now.free))
