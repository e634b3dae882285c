"""What every policy is held to, found out on one workload; what is broken is told in one line."""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import replace
from itertools import zip_longest
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sim.decisions.decisions import Decision
from sim.decisions.matrix import ReserveRow
from sim.decisions.sentences import say
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.policy_errors import patience
from sim.errors import DecisionError, InvariantError, PolicyError, SchedscopeError
from sim.machine.moment import MOMENT
from sim.policies.policy import Policy
from sim.words import clock, listed
from sim.workload.model import Workload

FAILS = "it fails"
LEGAL = "it decides what cannot be"
STARVES = "somebody waits for ever"
CHECKED = "it breaks a rule or a promise"
TWICE = "run twice it differs"
HIDDEN = "it keeps state of its own"
PEEKS = "it knows run times"
SLOW = "a pass takes too long"
RULES = (FAILS, LEGAL, STARVES, CHECKED, TWICE, HIDDEN, PEEKS, SLOW)
"""What can be wrong with a policy"""
WHY = "does it draw lots without a seed, look at a clock, remember an earlier run, or heed view.curious?"
MOST_STEPS = 100_000
AGAIN = 8
"""So often a run is made again before it is said that what differs is not by lot."""


class Finding(NamedTuple):
    """A rule that a policy broke: how, and after how many steps everything was still right."""

    rule: str
    told: str
    step: int


Decided: TypeAlias = tuple[int, Decision]


def broken(policy: Policy, workload: Workload, seconds: float = 2.0) -> Finding | None:
    """The first rule that the policy breaks on this workload; for so long it may think about one pass."""
    before = kept_outside(policy)
    finding = _broken(policy, workload, seconds)
    if finding is None or finding.rule not in (TWICE, HIDDEN, PEEKS):
        return finding
    after = kept_outside(policy)
    if names := [name for name in after if after[name] != before.get(name)]:
        differs = finding.told.removesuffix(f"; {WHY}")
        told = f"{listed(names)}, which no checkpoint copies (view.notes is copied); {differs}"
        return Finding(HIDDEN, told, finding.step)
    return finding


def _broken(policy: Policy, workload: Workload, seconds: float) -> Finding | None:
    engine = None
    try:
        with patience(seconds):
            engine = Engine(workload, policy, watchers=[Checker])
            most = MOST_STEPS * (1 + len(workload) // 100)
            if engine.advance(most):
                return Finding(STARVES, f"{most:,} steps, and it is not over", engine.step_count)
            return _same_again(engine, policy, workload) or _peeks(engine, policy, workload)
    except SchedscopeError as error:
        return Finding(_rule_of(error), str(error), engine.step_count if engine else 0)


def _rule_of(error: SchedscopeError) -> str:
    match error:
        case DecisionError():
            return STARVES if "waiting for ever" in str(error) else LEGAL
        case InvariantError():
            return CHECKED
        case PolicyError():
            return SLOW if "did not answer" in str(error) else FAILS
    raise error


def _same_again(first: Engine, policy: Policy, workload: Workload) -> Finding | None:
    """Once more with nobody watching; and from a checkpoint in the middle, when that run is over."""
    again = Engine(workload, policy, curious=False)
    middle = first.step_count // 2
    again.advance(middle)
    checkpoint, past = again.checkpoint(), again.history.until(middle, again.state.free)
    again.advance(2 * first.step_count + 1)
    if _apart(first, again) is not None and (finding := _by_lot(first, policy, workload)) is not None:
        return finding
    resumed = again.at(checkpoint, past)
    resumed.advance(2 * first.step_count + 1)
    if (apart := _apart(again, resumed)) is not None:
        told = f"run on from a checkpoint it differs, {apart[1]}"
        return _by_lot(first, policy, workload) or Finding(HIDDEN, told, apart[0])
    return None


def _peeks(first: Engine, policy: Policy, workload: Workload) -> Finding | None:
    """With other run times of what has not ended by then, it must have decided the same until then."""
    until = first.history.time_of(first.step_count // 2)
    schedule = first.schedule()
    ended = schedule.end <= until + MOMENT
    begun = schedule.start <= until
    runtime = np.where(begun, workload.estimate, np.maximum(workload.runtime / 2, 2 * MOMENT))
    runtime = np.where(ended, workload.runtime, np.minimum(runtime, workload.estimate))
    if np.array_equal(runtime, workload.runtime):
        return None
    other = replace(workload, runtime=runtime, killed=workload.killed & ended)
    engine = Engine(other, policy, curious=False)
    engine.run(until)
    if (apart := _apart(first, engine, until)) is None:
        return None
    told = f"with other run times in the future it decides otherwise before that, {apart[1]}"
    return _by_lot(first, policy, workload) or Finding(PEEKS, told, apart[0])


def _by_lot(first: Engine, policy: Policy, workload: Workload) -> Finding | None:
    """Does it differ from itself, if it is only run again often enough?"""
    for _ in range(AGAIN):
        again = Engine(workload, policy, curious=False)
        again.advance(2 * first.step_count + 1)
        if (apart := _apart(first, again)) is not None:
            return Finding(TWICE, f"{apart[1]}; {WHY}", apart[0])
    return None


def _apart(one: Engine, other: Engine, until: float | None = None) -> tuple[int, str] | None:
    """The step before the first decision that differs, and the two decisions."""
    runs = (_decided(engine, until, one.curious == other.curious) for engine in (one, other))
    for left, right in zip_longest(*runs):
        if left != right:
            step = min(decided[0] for decided in (left, right) if decided)
            time = (one if left and left[0] == step else other).history.time_of(step)
            then = (decided and decided[0] == step and say(decided[1], clock) for decided in (left, right))
            told = " and ".join(said or "nothing" for said in then)
            return step, f"first at {clock(time)}: {told}"
    return None


def _decided(engine: Engine, until: float | None, in_rows: bool) -> Iterable[Decided]:
    """in_rows: what is planned there, too? Of that a history has more where somebody watches."""
    history = engine.history
    for step, decision in history.all_decisions():
        if (until is None or history.time_of(step) <= until) and (in_rows or not isinstance(decision, ReserveRow)):
            yield step, decision


# State that nobody copies

_PLAIN = (dict, list, set, deque, Counter, int, float, str)


def kept_outside(policy: Policy) -> dict[str, str]:
    """What lies in the open in a policy's module, its classes and itself, and can change: name -> how it looks."""
    found: dict[str, Any] = {}
    for cls in type(policy).__mro__:
        if not cls.__module__.startswith(("sim.", "builtins")):
            module = sys.modules.get(cls.__module__)
            found |= {name: value for name, value in vars(module).items() if not name.startswith("__")}
            found |= {f"{cls.__name__}.{name}": value for name, value in vars(cls).items()}
    found |= {f"self.{name}": value for name, value in vars(policy).items()}
    return {name: _looks(value) for name, value in found.items() if isinstance(value, _PLAIN)}


def _looks(value: object) -> str:
    try:
        return repr(value)[:10_000]
    except Exception:
        return ""
