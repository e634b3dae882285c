"""Is a policy fit for use? For tests: `from sim.testing import check_policy`.

def test_fair() -> None:
    check_policy("fair.py")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sim.engine.engine import Engine
from sim.errors import PolicyError, SchedscopeError
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import policy_of
from sim.testing.contract import SLOW, Finding, broken
from sim.testing.growth import Growth, measured
from sim.testing.shrink import fewest
from sim.testing.workloads import random_workload, stream
from sim.words import count, processors
from sim.workload.model import Workload
from sim.workload.samples import SAMPLES
from sim.workload.source import read

COUNT = 200
SAMPLE_JOBS = 300
"""So many jobs of each sample are simulated."""


class ContractError(PolicyError):
    """A policy does not keep to what every policy is held to."""


@dataclass(frozen=True)
class Failure:
    """What is broken, and the fewest jobs on which it is."""

    finding: Finding
    workload: Workload | None
    """None: any of so many jobs will do."""

    @property
    def told(self) -> str:
        told = f"{self.finding.rule}: {self.finding.told}"
        if self.workload is None:
            return told
        return f"{told} [{count(len(self.workload), 'job')} on {processors(self.workload.procs)}]"


@dataclass(frozen=True)
class Report:
    """What was tried with a policy and what was found."""

    policy: Policy
    tried: int
    failure: Failure | None = None
    growth: Growth | None = None
    notes: tuple[str, ...] = ()


def check_policy(policy: Policy | str, *, count: int = COUNT, seed: int = 0) -> Report:
    """Try the policy, or the one in a file, on many small workloads; a `ContractError` says what it breaks."""
    report = examine(policy_of(policy), count=count, seed=seed)
    if report.failure is not None:
        raise ContractError(f"{written_policy(report.policy)} cannot be used: {report.failure.told}")
    return report


def examine(
    policy: Policy, *, count: int = COUNT, seed: int = 0, seconds: float = 2.0, on_try: Callable[[], None] | None = None
) -> Report:
    """The same as a report; for so long a policy may think about one pass."""
    tried = 0
    for workload in trials(count, seed):
        if on_try:
            on_try()
        tried += 1
        if (finding := broken(policy, workload, seconds)) is not None:
            return Report(policy, tried, _smallest(policy, workload, finding, seconds))
    try:
        grown = measured(policy)
    except PolicyError as error:
        return Report(policy, tried, Failure(Finding(SLOW, str(error), 0), None))
    if grown.is_too_slow:
        return Report(policy, tried, Failure(Finding(SLOW, grown.told, 0), None), grown)
    return Report(policy, tried, None, grown, tuple(_notes(policy)))


def trials(count: int, seed: int) -> Iterator[Workload]:
    """Workloads by lot, then the samples."""
    yield from (random_workload(number, seed) for number in range(count))
    yield from (read(sample.name, jobs=SAMPLE_JOBS) for sample in SAMPLES)


def _smallest(policy: Policy, workload: Workload, finding: Finding, seconds: float) -> Failure:
    """The same rule broken by the fewest jobs; where that is found out by waiting, it is not waited for long."""

    def is_broken(smaller: Workload) -> bool:
        found = broken(policy, smaller, 0.4)
        return found is not None and found.rule == finding.rule

    small = fewest(workload, is_broken, 3 if finding.rule == SLOW else 10)
    again = broken(policy, small, seconds)
    return Failure(again if again is not None and again.rule == finding.rule else finding, small)


def _notes(policy: Policy) -> Iterator[str]:
    """What is no mistake and good to know."""
    engine = Engine(stream(), policy, curious=False)
    try:
        engine.run()
    except SchedscopeError:
        return
    start = engine.schedule().start
    if start[engine.workload.width.argmax()] > engine.workload.submit[-1]:
        yield "a job as wide as the machine waits as long as narrow ones go on coming: it may starve"
