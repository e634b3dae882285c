"""Test of starvation: whether a job that needs the whole machine starts while narrow jobs keep arriving.

The longest stream of narrow jobs lasts 16 hours or, if that is longer, three times the longest time in the policy's
parameters and constants. Such a time is, for example, the wait after which no job may pass any more.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import isfinite
from typing import Any, NamedTuple

from sim.authoring.workloads import GAP, stream
from sim.engine.engine import Engine
from sim.policies.parameters import Parameter, parameters_of
from sim.policies.policy import Policy
from sim.support.errors import SchedscopeError
from sim.support.formatting import span

STREAMS = (120, 480, 1920)
"""Numbers of narrow jobs in the streams, which are tried one after another until the wide job starts"""
LONGEST = 366 * 86400.0
"""Longest time in seconds; a larger number in a policy is not taken for a time."""
TIMES = 3
"""Duration of the longest stream of narrow jobs, as a multiple of the longest time in the policy (`longest_time`)"""
_UNITS = {"day": 86400.0, "hour": 3600.0, "minute": 60.0}


class OwnTime(NamedTuple):
    """Number in a policy's code or parameters that may be a time, in seconds, with its name."""

    name: str
    seconds: float


def longest_time(policy: Policy) -> OwnTime | None:
    """Return the longest time among parameters of policy and order and constants of the module, or None."""
    known = (time for time in _own_times(policy) if isfinite(time.seconds) and 0 < time.seconds <= LONGEST)
    return max(known, key=lambda time: time.seconds, default=None)


def _own_times(policy: Policy) -> Iterator[OwnTime]:
    for holder in (policy, policy.queue_order()):
        for name, declared in parameters_of(type(holder)).items():
            if _is_number(value := getattr(holder, name)):
                yield OwnTime(name, float(value) * _unit(declared))
    for cls in type(policy).__mro__:
        if not cls.__module__.startswith(("sim.", "builtins")):
            for name, value in (*vars(sys.modules[cls.__module__]).items(), *vars(cls).items()):
                if name.isupper() and _is_number(value):
                    yield OwnTime(name, float(value))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unit(declared: Parameter) -> float:
    """Return the seconds of the unit (day, hour or minute) in the parameter's text; 1 without one."""
    return next((size for word, size in _UNITS.items() if word in declared.meaning), 1.0)


def verdict(policy: Policy, own: OwnTime | None = None) -> str | None:
    """Return a sentence that says whether a job as wide as the machine starts; None if a run fails.

    `own` is the longest time in the policy, if it is known.
    """
    own = own or longest_time(policy)
    scale = TIMES * own.seconds / (STREAMS[-1] * GAP) if own else 0.0
    tries = [(jobs, 1.0) for jobs in STREAMS] + ([(STREAMS[-1], scale)] if scale > 1 else [])
    for jobs, stretch in tries:
        workload = stream(jobs, stretch)
        engine = Engine(workload, policy, curious=False)
        try:
            engine.run()
        except SchedscopeError:
            return None
        wide = workload.width.argmax()
        wait = float(engine.schedule().start[wide] - workload.submit[wide])
        if engine.schedule().start[wide] <= workload.submit[-1]:
            return f"a job as wide as the machine starts after {span(wait)} though narrow jobs keep arriving"
    told = f", {TIMES} times its longest time ({own.name})" if own and scale > 1 else ""
    waited = span(float(workload.submit[-1]))
    return (
        f"a job as wide as the machine still waits after {waited}{told}, while narrow jobs keep arriving: it may starve"
    )
