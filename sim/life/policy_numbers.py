"""Numbers that a policy writes for a job, such as its priority, and how they change while the job waits."""

from __future__ import annotations

from typing import TypeAlias

from sim.policies.columns import Column
from sim.policies.policy import columns_of
from sim.timeline.scenario import Scenario

Numbers: TypeAlias = list[tuple[float, float]]
"""List of (time, new value) with a pair for each change of a number."""


def own_numbers(scenario: Scenario, rank: int) -> dict[Column, Numbers]:
    """Return the changes of the job's value in each column that policies define, while it waits."""
    policies = (scenario.policy, *(policy for _, policy in scenario.switches))
    if not any(policy.leads() or columns_of(policy) for policy in policies):
        return {}
    engine = scenario.at_the_beginning()
    moment, step = engine.moment, scenario.stepper(engine)
    job, found = scenario.workload.jobs[rank], dict[Column, Numbers]()
    while moment.start_of(rank) is None and step():
        if rank in moment.dropped:
            break
        if not moment.has_come(rank):
            continue
        for column in moment.columns:
            value = column.value(moment.notes, job)
            numbers = found.setdefault(column, [])
            if value is not None and (not numbers or numbers[-1][1] != value):
                numbers.append((engine.now, value))
    return {column: numbers for column, numbers in found.items() if numbers}
