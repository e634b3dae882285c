"""Plans of the future use of a machine, of equal processors or of nodes, and the choice of the machine that a workload
needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from sim.machine.node_plan import NodePlan
from sim.machine.nodes import NodeMachine
from sim.machine.processors import PLACEMENTS, Machine, Placement
from sim.machine.profile import Profile
from sim.support.errors import DecisionError, ParameterError
from sim.workload.model import Workload

Plan: TypeAlias = Profile | NodePlan
Ends: TypeAlias = Sequence[tuple[float, int, int]]
"""List of (expected end, rank, number of processors) of running jobs, sorted."""


def machine_of(workload: Workload, placement: Placement) -> Machine:
    if workload.shape is not None:
        if workload.outages:
            raise ParameterError(
                "a machine of nodes cannot change its size or fail yet: leave out --machine and --outage"
            )
        shape, lasts = workload.shape.placed(placement), workload.estimate.tolist()
        return NodeMachine(shape, workload.shape.requests, lasts, workload.accounts)
    if placement not in PLACEMENTS:
        raise ParameterError(f"placement {placement} is for a machine of nodes; equal processors have lowest, together")
    return Machine(workload.procs, placement, workload.accounts)


def by_number(plan: Plan) -> Profile:
    """Return the plan as a `Profile`, for policies that count processors; raise an error if it is a plan of nodes."""
    if isinstance(plan, NodePlan):
        raise DecisionError("this policy counts processors and cannot plan on nodes")
    return plan
