"""Search for a small workload on which two policies, or two versions of one, differ."""

from __future__ import annotations

from sim.authoring.shrink import fewest
from sim.authoring.workloads import random_workload
from sim.comparison.divergence import Side, part
from sim.engine.engine import Engine
from sim.engine.policy_calls import patience
from sim.policies.policy import Policy
from sim.support.errors import SchedscopeError
from sim.workload.model import Workload

TRIED, SHRUNK = 200, 3
"""Largest number of random workloads that are tried, and of workloads with a difference that are made smaller."""


def smallest_difference(first: Policy, second: Policy, seed: int = 0) -> Workload | None:
    """Return the smallest workload found on which the runs of the policies differ, or None."""

    def differ(workload: Workload) -> bool:
        return _differ(first, second, workload)

    drawn = (random_workload(number, seed) for number in range(TRIED))
    found: list[Workload] = []
    for workload in drawn:
        if differ(workload):
            found.append(fewest(workload, differ))
            if len(found) == SHRUNK:
                break
    return min(found, key=len, default=None)


def _differ(first: Policy, second: Policy, workload: Workload) -> bool:
    """Return True if the runs differ; False if they agree or one of the policies fails."""
    try:
        with patience(1.0):
            engines = [Engine(workload, policy, curious=False) for policy in (first, second)]
            for engine in engines:
                engine.run()
    except SchedscopeError:
        return False
    return part(Side.of(engines[0]), Side.of(engines[1])) is not None
