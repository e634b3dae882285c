"""Tests of a policy, for use in test files: `from sim.testing import check_policy`.

def test_fair() -> None:
    check_policy("fair.py")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf

import numpy as np

from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.errors import PolicyError, SchedscopeError
from sim.formatting import count, processors, span
from sim.policies.parameters import parameters_of
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import parse_policy, policy_of
from sim.testing.contract import SLOW, Finding, broken
from sim.testing.growth import Growth, measured
from sim.testing.shrink import fewest
from sim.testing.workloads import GAP, random_workload, stream
from sim.workload.model import Workload
from sim.workload.samples import SAMPLES
from sim.workload.source import read

COUNT = 200
SAMPLE_JOBS = 300
"""Jobs of each sample that are simulated."""
ALIKE = ("fcfs", "firstfit", "easy", "conservative", "replan")
"""Policies that the report names if the tested one decides exactly as they do."""
STREAMS, MOST_STREAMED = (120, 480, 1920), 20_000
"""Numbers of narrow jobs that a wide job is tested against, until it starts"""


class ContractError(PolicyError):
    """Broken rule of the contract that every policy must keep."""


@dataclass(frozen=True)
class Failure:
    """Broken rule, and the smallest workload that shows it."""

    finding: Finding
    workload: Workload | None
    """Workload that shows it; None if any with enough jobs does."""

    @property
    def told(self) -> str:
        told = f"{self.finding.rule}: {self.finding.told}"
        if self.workload is None:
            return told
        return f"{told} [{count(len(self.workload), 'job')} on {processors(self.workload.procs)}]"


@dataclass(frozen=True)
class Report:
    """Tests of a policy and their results."""

    policy: Policy
    tried: int
    failure: Failure | None = None
    growth: Growth | None = None
    notes: tuple[str, ...] = ()


def check_policy(policy: Policy | str, *, count: int = COUNT, seed: int = 0) -> Report:
    """Test a policy, or the one in a file, on many small workloads; raise a `ContractError` if it breaks a rule."""
    report = examine(policy_of(policy), count=count, seed=seed)
    if report.failure is not None:
        raise ContractError(f"{written_policy(report.policy)} cannot be used: {report.failure.told}")
    return report


def examine(
    policy: Policy, *, count: int = COUNT, seed: int = 0, seconds: float = 2.0, on_try: Callable[[], None] | None = None
) -> Report:
    """Return the same as a report; a pass may take `seconds`."""
    grown = slow = None
    try:
        grown = measured(policy)
        if grown.is_too_slow:  # the trials would take hours
            return Report(policy, 0, Failure(Finding(SLOW, grown.told, 0), None), grown)
    except SchedscopeError as error:
        slow = error  # a trial may show it with fewer jobs
    tried, alike = 0, [name for name in ALIKE if type(parse_policy(name)) is not type(policy)]
    for workload in trials(count, seed):
        if on_try:
            on_try()
        tried += 1
        if (finding := broken(policy, workload, seconds)) is not None:
            return Report(policy, tried, _smallest(policy, workload, finding, seconds))
        alike = [name for name in alike if _is_alike(policy, name, workload)]
    if slow is not None:
        return Report(policy, tried, Failure(Finding(SLOW, str(slow), 0), None))
    same = (f"it decides exactly as {name} everywhere" for name in alike)
    return Report(policy, tried, None, grown, (*same, *_notes(policy)))


def trials(count: int, seed: int) -> Iterator[Workload]:
    """Yield random workloads, then the samples."""
    yield from (random_workload(number, seed) for number in range(count))
    yield from (read(sample.name, jobs=SAMPLE_JOBS) for sample in SAMPLES)


def _smallest(policy: Policy, workload: Workload, finding: Finding, seconds: float) -> Failure:
    """Return the same failure on the fewest jobs; a slow pass is waited for only briefly."""

    def is_broken(smaller: Workload) -> bool:
        found = broken(policy, smaller, 0.4)
        return found is not None and found.rule == finding.rule

    small = fewest(workload, is_broken, 3 if finding.rule == SLOW else 10)
    again = broken(policy, small, seconds)
    return Failure(again if again is not None and again.rule == finding.rule else finding, small)


def _is_alike(policy: Policy, name: str, workload: Workload) -> bool:
    """Return True if a policy of the program makes the same schedule of the workload."""
    one, other = (_schedule(workload, each) for each in (policy, parse_policy(name)))
    pairs = (one.start, other.start), (one.end, other.end)
    return all(np.array_equal(left, right, equal_nan=True) for left, right in pairs)


def _notes(policy: Policy) -> Iterator[str]:
    """Yield remarks that are no errors."""
    longest = max((value for value in _numbers(policy) if value < inf), default=0.0)
    most = min(int(3 * longest / GAP), MOST_STREAMED)
    for jobs in (*STREAMS, most) if most > STREAMS[-1] else STREAMS:
        try:
            schedule = _schedule(stream(jobs), policy)
        except SchedscopeError:
            return
        if schedule.start[schedule.workload.width.argmax()] <= schedule.workload.submit[-1]:
            return
    waited = span(float(schedule.workload.submit[-1]))
    yield f"a job as wide as the machine still waits after {waited} in which narrow jobs keep arriving: it may starve"


def _schedule(workload: Workload, policy: Policy) -> Schedule:
    engine = Engine(workload, policy, curious=False)
    engine.run()
    return engine.schedule()


def _numbers(policy: Policy) -> Iterator[float]:
    """Yield the numbers among the parameters of the policy and of its order; some may be seconds."""
    for holder in (policy, policy.queue_order()):
        for name in parameters_of(type(holder)):
            value = getattr(holder, name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                yield float(value)
