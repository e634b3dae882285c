"""Policies and orders that the fast loop supports, and how it represents them.

The engine itself handles orders that depend on more than the jobs and the clock (`multifactor`), and user-defined
orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from math import inf
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, cast

import numpy as np

from sim.kernel.calls import Keys, Rules
from sim.kernel.present import (
    GANG,
    MULTIQUEUE,
    RULES,
    SELECTIVE,
    SUSPENDING,
)
from sim.policies.backfill.recorded import Recorded
from sim.policies.backfill.tails import ORDERS
from sim.policies.calls import is_by_calls
from sim.policies.gang.gang import TimeShared
from sim.policies.multiqueue.multiqueue import MultiQueue
from sim.policies.orders import Fcfs, Order
from sim.policies.policy import Policy
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.remembering import Remembering
from sim.workload.model import Floats, Ints, Workload


class Known(NamedTuple):
    """Policy as the fast loop represents it: the kind of its passes, and the compiled policy."""

    kind: int
    rules: Rules
    is_called: bool = False
    """True if the policy is not compiled: `rules` call it"""


def known(policy: Policy, loops: ModuleType | None = None) -> Known | None:
    """Return the policy as the fast loop in the module `loops` needs it; None if the loop does not support the policy
    or the order of its queue.
    """
    if not _is_honoured(policy.queue_order(), loops):
        return None
    cls, rules = type(policy), _twin_of(policy, loops)
    if rules is not None:
        kind = MULTIQUEUE if cls is MultiQueue else GANG if isinstance(policy, TimeShared) else RULES
        if isinstance(policy, Preemptive):
            if policy.restart == "any" or policy.memory:
                return None
            kind = SELECTIVE if isinstance(policy, Remembering) else SUSPENDING
        return Known(kind, rules)
    made: Callable[[], Rules] | None = getattr(loops, "PythonRules", None)
    return Known(RULES, made(), True) if made and _acts_on_columns(policy) else None


def keys_of(order: Order, loops: ModuleType | None) -> Keys | None:
    """Return the compiled form of an order, or None if it asks for more than the loop knows."""
    return cast("Keys | None", _twin_of(order, loops))


def tails_of(loops: ModuleType | None) -> dict[str, Keys]:
    """Return the compiled form of each order in which jobs behind the head can be tried, by its name."""
    return {name: keys for name, order in ORDERS.items() if (keys := keys_of(order, loops)) is not None}


def _twin_of(of: Policy | Order, loops: ModuleType | None) -> Rules | None:
    """Return the compiled form of the policy or order, with its parameters, or None."""
    cls = type(of)
    twins: Mapping[str, Callable[[], Rules]] = getattr(loops, "TWINS", {})
    if (twin := twins.get(f"{cls.__module__}.{cls.__qualname__}")) is None:
        return None
    made = twin()
    if not all(hasattr(made, field.name) for field in fields(of)):
        return None  # a parameter that the compiled form would ignore
    for field in fields(of):
        setattr(made, field.name, getattr(of, field.name))
    return made


def _acts_on_columns(policy: Policy) -> bool:
    """Return True if the policy acts by calls, and neither shares processors in time nor chooses them."""
    beyond = policy.suspends, policy.grants, policy.places, policy.queues(), policy.turns(), policy.tries()
    return is_by_calls(type(policy).decide) and not any(beyond)


def _is_honoured(order: Order, loops: ModuleType | None) -> bool:
    """Return True if the loop supports this order: each of this program whose keys never change, and each by the clock
    that is compiled.
    """
    if order.by_clock:
        return keys_of(order, loops) is not None
    return type(order).__module__.startswith("sim.")


def line(policy: Policy, workload: Workload) -> Ints | None:
    """Return the ranks of all jobs in the order in which the policy considers them; None for the order of arrival.

    Orders that change with the clock are computed at each pass instead (`sim.kernel.ordering`).
    """
    order = policy.queue_order()
    keys: Floats
    match order:
        case _ if isinstance(policy, Recorded):
            starts = workload.recorded_start
            keys = np.where(np.isnan(starts), inf, starts)
        case _ if isinstance(policy, MultiQueue) and workload.high.any():
            keys = np.where(workload.high, 0.0, 1.0)
        case _ if order.by_clock or isinstance(order, Fcfs):
            return None
        case _:
            keys = _keys(order, workload)
    return np.argsort(keys, kind="stable")


def _keys(order: Order, workload: Workload) -> Floats:
    """Return the key of each job. Most formulas can be computed for all jobs at once; those with a condition or a
    function of numbers cannot.
    """
    columns: Any = SimpleNamespace(
        submit=workload.submit, estimate=workload.estimate, procs=workload.width.astype(np.float64)
    )
    try:
        if len(workload) > 1:  # one number in a column would pass for a number
            return np.broadcast_to(order.key(columns, columns.submit), len(workload))
    except (AttributeError, TypeError, ValueError):
        pass
    return np.array([order.key(job, job.submit) for job in workload.jobs])
