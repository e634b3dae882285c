"""Rules that every policy must keep, checked on one workload; one line describes how a rule is broken.

State that a policy keeps outside of `view.notes` is found, with the lines that change it: no checkpoint copies it.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import log
from time import perf_counter
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sim.authoring.workloads import crowd
from sim.decisions.decisions import Decision
from sim.decisions.matrix import ReserveRow
from sim.decisions.sentences import say
from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.policy_calls import patience
from sim.machine.moment import MOMENT
from sim.policies.policy import Policy
from sim.support.errors import DecisionError, InvariantError, PolicyError, SchedscopeError
from sim.support.formatting import clock, count, listed, shortened
from sim.workload.model import Workload

MOST_LINES = 20_000
"""Largest number of lines that are watched to find the one that changes a value."""
_PLAIN = (dict, list, set, deque, Counter, int, float, str)


def kept_outside(policy: Policy, names: Collection[str] | None = None) -> dict[str, str]:
    """Return name -> text of the values (`names`: only these) outside of a run that can change during it."""
    return {
        name: _text(value)
        for name, value in _values(policy)
        if (names is None or name in names) and (isinstance(value, _PLAIN) or _is_own_object(policy, value))
    }


def _values(policy: Policy) -> Iterator[tuple[str, Any]]:
    for cls in type(policy).__mro__:
        if not cls.__module__.startswith(("sim.", "builtins")):
            module = sys.modules.get(cls.__module__)
            yield from ((name, value) for name, value in vars(module).items() if not name.startswith("__"))
            yield from ((f"{cls.__name__}.{name}", value) for name, value in vars(cls).items())
    yield from ((f"self.{name}", value) for name, value in vars(policy).items())


def _is_own_object(policy: Policy, value: object) -> bool:
    return type(value).__module__ == type(policy).__module__ and hasattr(value, "__dict__")


def _text(value: object) -> str:
    try:
        return repr(value if isinstance(value, _PLAIN) else vars(value))[:10_000]
    except Exception:
        return ""


def writers(policy: Policy, names: Collection[str], run: Callable[[], object]) -> dict[str, str]:
    """Call `run`; return name of a value -> place and text of the line that first changes it.

    A line is like `fair.py:20 (PASSES[0] += 1)`. A value is missing if no line in the policy's files changes it, or
    only one after more than `MOST_LINES` lines.
    """
    files = {getattr(sys.modules.get(cls.__module__), "__file__", None) for cls in type(policy).__mro__}
    before, found = kept_outside(policy, names), dict[str, str]()
    last: tuple[str, int] | None = None
    lines = 0

    def look(frame: FrameType, event: str, _: Any) -> Callable[..., Any] | None:
        nonlocal last, lines
        if frame.f_code.co_filename not in files or lines >= MOST_LINES or len(found) == len(before):
            return None
        lines += 1
        now = kept_outside(policy, names)
        for name in names:
            if name not in found and now.get(name) != before.get(name) and last is not None:
                found[name] = _file_and_line(*last)
        if event == "line":
            last = frame.f_code.co_filename, frame.f_lineno
        return look

    tracer = sys.gettrace()
    sys.settrace(look)
    try:
        run()
    finally:
        sys.settrace(tracer)
    return found


def _file_and_line(file: str, line: int) -> str:
    source = linecache.getline(file, line).strip()
    return f"{os.path.basename(file)}:{line}" + (f" ({shortened(source, 80)})" if source else "")


FAILS = "it raises an error"
LEGAL = "it makes an illegal decision"
STARVES = "a job never starts"
CHECKED = "it breaks a rule or a promise"
TWICE = "it is not deterministic"
HIDDEN = "it keeps state outside view.notes"
PEEKS = "its decisions depend on future run times"
SLOW = "a pass takes too long"
RULES = (FAILS, LEGAL, STARVES, CHECKED, TWICE, HIDDEN, PEEKS, SLOW)
"""Rules in the order in which they are checked"""
WHY = (
    "does it use unseeded random numbers, a clock, state of an earlier run, id() or hash() of objects, or view.curious?"
)
MOST_STEPS = 100_000
TIMES = ("the first time", "the second time")
AGAIN = 8
"""Number of repetitions that must all decide alike before a difference is not blamed on chance."""


class Finding(NamedTuple):
    """Finding of a check: the broken rule, text on how it is broken, and the number of steps before the breach."""

    rule: str
    told: str
    step: int


Decided: TypeAlias = tuple[int, Decision]


def broken(policy: Policy, workload: Workload, seconds: float = 2.0) -> Finding | None:
    """Return the first rule that the policy breaks on this workload, or None; a pass may take at most `seconds`."""
    before = kept_outside(policy)
    finding = _broken(policy, workload, seconds)
    if finding is None or finding.rule not in (TWICE, HIDDEN, PEEKS):
        return finding
    after = kept_outside(policy)
    if names := [name for name in after if after[name] != before.get(name)]:
        differs = finding.told.removesuffix(f"; {WHY}")
        places = writers(policy, names, lambda: Engine(workload, policy, curious=False).advance(MOST_STEPS))
        written = listed(dict.fromkeys(f"in {places[name]}" for name in names if name in places))
        how = f"{listed(names)}, which no checkpoint copies{f', is written {written}' if written else ''}"
        return Finding(HIDDEN, f"{how}; use view.notes; {differs}", finding.step)
    return finding


def _broken(policy: Policy, workload: Workload, seconds: float) -> Finding | None:
    engine = None
    try:
        with patience(seconds):
            engine = Engine(workload, policy, watchers=[Checker])
            most = MOST_STEPS * (1 + len(workload) // 100)
            if engine.advance(most):
                return Finding(STARVES, f"the run does not end within {most:,} steps", engine.step_count)
            return _same_again(engine, policy, workload) or _peeks(engine, policy, workload)
    except SchedscopeError as error:
        return Finding(_rule_of(error), str(error), engine.step_count if engine else 0)


def _rule_of(error: SchedscopeError) -> str:
    match error:
        case DecisionError():
            return STARVES if " unfinished, the first is " in str(error) else LEGAL
        case InvariantError():
            return CHECKED
        case PolicyError():
            return SLOW if "no decision for" in str(error) else FAILS
    raise error


def _same_again(first: Engine, policy: Policy, workload: Workload) -> Finding | None:
    """Return a finding if a run without reasons, or one continued from a checkpoint, differs from the first."""
    again = Engine(workload, policy, curious=False)
    middle = first.step_count // 2
    again.advance(middle)
    checkpoint, past = again.checkpoint(), again.history.until(middle, again.moment.free)
    again.advance(2 * first.step_count + 1)
    if _first_difference(first, again) and (finding := _random_difference(first, policy, workload)):
        return finding
    resumed = again.at(checkpoint, past)
    resumed.advance(2 * first.step_count + 1)
    if (apart := _first_difference(again, resumed)) is not None:
        told = f"resumed from a checkpoint it decides differently: {apart[1]}"
        return _random_difference(first, policy, workload) or Finding(HIDDEN, told, apart[0])
    return None


def _peeks(first: Engine, policy: Policy, workload: Workload) -> Finding | None:
    """Return a finding if decisions change with run times that the policy cannot know yet."""
    if not first.step_count:  # no job will ever fit: the run is over before it begins
        return None
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
    if (apart := _first_difference(first, engine, until, ("with the true ones", "with others"))) is None:
        return None
    told = f"with different future run times it already decides differently: {apart[1]}"
    return _random_difference(first, policy, workload) or Finding(PEEKS, told, apart[0])


def _random_difference(first: Engine, policy: Policy, workload: Workload) -> Finding | None:
    """Return a finding if the same run, repeated several times, differs from the one of `first`. Its jobs are other
    objects, the first of them made last, so that an order by their identity is another one.
    """
    for _ in range(AGAIN):
        other = replace(workload)
        for rank in reversed(range(len(other))):
            other.jobs[rank]
        again = Engine(other, policy, curious=False)
        again.advance(2 * first.step_count + 1)
        if (apart := _first_difference(first, again)) is not None:
            return Finding(TWICE, f"{apart[1]}; {WHY}", apart[0])
    return None


def _first_difference(
    one: Engine, other: Engine, until: float | None = None, names: tuple[str, str] = TIMES
) -> tuple[int, str] | None:
    """Return (steps before the first different decision, text with the runs' `names`), or None; up to `until`."""
    runs = (_decided(engine, until, one.curious == other.curious) for engine in (one, other))
    for left, right in zip_longest(*runs):
        if left != right:
            step = min(decided[0] for decided in (left, right) if decided)
            time = (one if left and left[0] == step else other).history.time_of(step)
            then = (decided and decided[0] == step and say(decided[1], clock) for decided in (left, right))
            told = "; ".join(f"{which}: {said or 'no decision'}" for which, said in zip(names, then, strict=True))
            return step, f"at {clock(time)}, {told}"
    return None


def _decided(engine: Engine, until: float | None, in_rows: bool) -> Iterable[Decided]:
    """Yield (step, decision) up to `until`; without `in_rows`, no reservations in rows, which reasons multiply."""
    history = engine.history
    for step, decision in history.all_decisions():
        if (until is None or history.time_of(step) <= until) and (in_rows or not isinstance(decision, ReserveRow)):
            yield step, decision


# Growth of the time that a pass takes with the number of waiting jobs

WAITING = (1, 4, 15, 60, 125, 250, 500, 1000, 2000)
PASSES = 5
LONG = 0.5
"""Seconds from which a pass is measured only once; a shorter pass is measured several times."""
TOO_LONG = 2.0
"""Seconds that a pass may take with the longest queue; longer is reported."""


@dataclass(frozen=True)
class Growth:
    """Seconds of a pass for several numbers of waiting jobs."""

    points: tuple[tuple[int, float], ...]

    @property
    def exponent(self) -> float | None:
        """Return the exponent e of the time in the number of waiting jobs at the end; None if passes are too quick."""
        known = [point for point in self.points if point[1] > 2e-5]
        if len(known) < 2:
            return None
        (few, short), (many, long) = known[max(0, len(known) - 3)], known[-1]
        return log(long / short) / log(many / few)

    @property
    def is_too_slow(self) -> bool:
        return self.points[-1][1] > TOO_LONG

    @property
    def told(self) -> str:
        (few, short), (many, long) = self.points[0], self.points[-1]
        shown = f"a pass takes {1000 * short:,.2f} ms with {count(few, 'job')} waiting"
        if many > few:
            shown += f", {1000 * long:,.2f} ms with {many:,}"
        return shown if self.exponent is None else f"{shown}: it grows like n^{self.exponent:.1f}"


def measured(policy: Policy, seconds: float = 4 * TOO_LONG) -> Growth:
    """Measure passes with longer and longer queues, up to one above `TOO_LONG`; stop a pass after `seconds`."""
    points = []
    for waiting in WAITING:
        with patience(seconds):
            engine = Engine(crowd(waiting, PASSES), policy, curious=False)
            engine.advance(2)
            shortest = _step(engine)
            if shortest < LONG:
                shortest = min(shortest, *(_step(engine) for _ in range(PASSES - 1)))
            points.append((waiting, shortest))
        if points[-1][1] > TOO_LONG:
            break
    return Growth(tuple(points))


def _step(engine: Engine) -> float:
    began = perf_counter()
    engine.step()
    return perf_counter() - began
