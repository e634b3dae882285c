"""Tests of a policy, for use in test files: `from sim.authoring import check_policy`.

def test_fair() -> None:
    check_policy("fair.py")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from sim.authoring.contract import SLOW, Finding, Growth, broken, measured
from sim.authoring.shrink import fewest
from sim.authoring.starvation import verdict
from sim.authoring.workloads import random_workload
from sim.policies.policy import Policy, written_policy
from sim.policies.registry import parse_policy, policy_of
from sim.support.captured_output import listening
from sim.support.errors import PolicyError, SchedscopeError
from sim.support.formatting import count, processors, shortened
from sim.timeline.scenario import run
from sim.workload.model import Workload
from sim.workload.replay import read
from sim.workload.samples import SAMPLES

COUNT = 200
SAMPLE_JOBS = 300
"""Number of first jobs of each sample that are simulated."""
ALIKE = ("fcfs", "firstfit", "easy", "conservative", "replan")
"""Policies with which the tested one is compared: the report says if it makes the same decisions."""


class ContractError(PolicyError):
    """Error for a policy that breaks one of the rules for all policies."""


@dataclass(frozen=True)
class BrokenRule:
    """Failure of a policy: the rule that it broke, and the smallest workload found on which it does."""

    finding: Finding
    workload: Workload | None
    """Workload on which the rule is broken; None if any workload with enough jobs shows it."""

    @property
    def told(self) -> str:
        told = f"{self.finding.rule}: {self.finding.told}"
        if self.workload is None:
            return told
        return f"{told} [{count(len(self.workload), 'job')} on {processors(self.workload.procs)}]"


@dataclass(frozen=True)
class Report:
    """Number of workloads `tried`, growth of a pass's time, broken rule (`failure`) if any, and other `notes`."""

    policy: Policy
    tried: int
    failure: BrokenRule | None = None
    growth: Growth | None = None
    notes: tuple[str, ...] = ()


def check_policy(policy: Policy | str, *, count: int = COUNT, seed: int = 0) -> Report:
    """Test a policy (or the one in a file) on `count` small workloads. Raise `ContractError` if it breaks a rule."""
    report = examine(policy_of(policy), count=count, seed=seed)
    if report.failure is not None:
        raise ContractError(f"{written_policy(report.policy)} cannot be used: {report.failure.told}")
    return report


def check_run(policy: Policy, workload: Workload, seconds: float) -> None:
    """Raise `ContractError` if the policy breaks a rule on these jobs; a pass may take at most `seconds`."""
    if (finding := broken(policy, workload, seconds)) is not None:
        raise ContractError(f"{policy.name}: {finding.rule}: {finding.told}")


def examine(
    policy: Policy, *, count: int = COUNT, seed: int = 0, seconds: float = 2.0, on_try: Callable[[], None] | None = None
) -> Report:
    """Test a policy on many small workloads; a pass may take `seconds`, and `on_try` precedes each workload."""
    printed = _Printed()
    with listening(printed.add):
        report = _examined(policy, count, seed, seconds, on_try or (lambda: None))
    return replace(report, notes=(*report.notes, *printed.notes))


class _Printed:
    """Record of what a policy printed during tests: the number of lines, and the first ones."""

    def __init__(self) -> None:
        self.lines = 0
        self.first = ""

    def add(self, step: int, time: float, line: str) -> None:
        self.lines += 1
        self.first = self.first or line.strip()

    @property
    def notes(self) -> list[str]:
        if not self.lines:
            return []
        return [f"it printed {count(self.lines, 'line')} in these runs, the first: {shortened(self.first, 80)}"]


def _examined(policy: Policy, count: int, seed: int, seconds: float, on_try: Callable[[], None]) -> Report:
    grown = slow = None
    try:
        grown = measured(policy)
        if grown.is_too_slow:  # the trials would take hours
            return Report(policy, 0, BrokenRule(Finding(SLOW, grown.told, 0), None), grown)
    except SchedscopeError as error:
        slow = error  # a trial may show it with fewer jobs
    tried, alike = 0, [name for name in ALIKE if type(parse_policy(name)) is not type(policy)]
    for workload in trials(count, seed):
        on_try()
        tried += 1
        if (finding := broken(policy, workload, seconds)) is not None:
            return Report(policy, tried, _smallest(policy, workload, finding, seconds))
        alike = [name for name in alike if _is_alike(policy, name, workload)]
    if slow is not None:
        return Report(policy, tried, BrokenRule(Finding(SLOW, str(slow), 0), None))
    notes = [f"it decides exactly as {name} everywhere" for name in alike]
    if (told := verdict(policy)) is not None:
        notes.append(told)
    return Report(policy, tried, None, grown, tuple(notes))


def trials(count: int, seed: int) -> Iterator[Workload]:
    yield from (random_workload(number, seed) for number in range(count))
    yield from (read(sample.name, jobs=SAMPLE_JOBS) for sample in SAMPLES)


def _smallest(policy: Policy, workload: Workload, finding: Finding, seconds: float) -> BrokenRule:
    """Return the failure on as few jobs as possible, with a shorter time limit of a pass than `seconds`."""

    def is_broken(smaller: Workload) -> bool:
        found = broken(policy, smaller, 0.4)
        return found is not None and found.rule == finding.rule

    small = fewest(workload, is_broken, 3 if finding.rule == SLOW else 10)
    again = broken(policy, small, seconds)
    if again is not None and again.rule == finding.rule:
        return BrokenRule(again, small)
    return BrokenRule(finding, workload if finding.rule == SLOW else small)


def _is_alike(policy: Policy, name: str, workload: Workload) -> bool:
    one, other = (run(workload, each) for each in (policy, parse_policy(name)))
    pairs = (one.start, other.start), (one.end, other.end)
    return all(np.array_equal(left, right, equal_nan=True) for left, right in pairs)
