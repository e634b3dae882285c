from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sim.authoring.starvation import longest_time, verdict
from sim.decisions.decisions import Decision, Start
from sim.decisions.reasons import Fits
from sim.engine.moment import Moment
from sim.policies.backfill.fcfs import FirstComeFirstServed
from sim.policies.parameters import parameter
from sim.policies.policy import Policy
from sim.workload.model import Job

DAY = 86400


@dataclass(frozen=True)
class Patient(Policy):
    """First fit, until a job has waited for longer than `limit`; then no job passes it."""

    limit: float = parameter(3600.0, "seconds that a job waits before no job may pass it", low=0.0)

    def decide(self, view: Moment) -> Iterator[Decision]:
        for job in view.queue:
            if view.fits(job):
                yield Start(job, Fits(view.free))
            elif job.waited(view.now) > self.limit:
                return


@dataclass(frozen=True)
class PatientForDays(Patient):
    """The same policy with its limit in days."""

    limit: float = parameter(7.0, "days that a job waits before no job may pass it", low=0.0)

    def decide(self, view: Moment) -> Iterator[Decision]:
        return Patient(self.limit * DAY).decide(view)


@dataclass(frozen=True)
class Greedy(Policy):
    """Policy that starts every job that fits, narrow jobs first."""

    def decide(self, view: Moment) -> Iterator[Decision]:
        def width(job: Job) -> int:
            return job.procs

        for job in sorted(view.queue, key=width):
            if view.fits(job):
                yield Start(job, Fits(view.free))


@pytest.mark.parametrize(("limit", "starves"), [(600, False), (3600, False), (90_000, False), (1e9, True)])
def test_verdict_waits_for_the_policys_own_time(limit: float, starves: bool) -> None:
    told = verdict(Patient(limit))
    assert told is not None
    assert ("it may starve" in told) is starves


def test_patience_is_read_from_times_of_a_policy() -> None:
    own = longest_time(PatientForDays())
    assert own is not None
    assert (own.name, own.seconds) == ("limit", 7 * DAY)
    assert "though narrow jobs keep arriving" in (verdict(PatientForDays()) or "")
    own = longest_time(Greedy())
    assert own is not None
    assert (own.name, own.seconds) == ("DAY", DAY)
    told = verdict(Greedy())
    assert told is not None
    assert told.endswith("3 times its longest time (DAY), while narrow jobs keep arriving: it may starve")
    assert longest_time(FirstComeFirstServed()) is None
    assert (verdict(FirstComeFirstServed()) or "").startswith("a job as wide as the machine starts after ")
