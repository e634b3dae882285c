"""Scenario of a run: the policy at the beginning, and other policies that take over at given times."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import inf, nextafter
from operator import itemgetter
from typing import TypeVar

from sim.engine.check import Checker
from sim.engine.engine import Engine
from sim.engine.schedule import Schedule
from sim.machine.processors import Placement
from sim.policies.own.consent import Proof
from sim.policies.policy import Policy
from sim.policies.recorded_rules import under
from sim.policies.registry import parse_policy
from sim.support.errors import NotThereError, ParameterError
from sim.support.formatting import Moment, Step, clock, parse_moment, quoted
from sim.workload.model import Workload

P = TypeVar("P", str, Policy)


@dataclass(frozen=True, init=False)
class Scenario:
    """Everything that determines a run: workload, policy, placement, and switches."""

    workload: Workload
    policy: Policy
    switches: tuple[tuple[float, Policy], ...]
    placement: Placement
    check: bool

    def __init__(
        self,
        workload: Workload,
        policy: Policy | str,
        switches: Iterable[tuple[float, Policy | str]] = (),
        placement: Placement = "lowest",
        check: bool = False,
    ) -> None:
        later = sorted(switches, key=itemgetter(0))
        workload, (first, *others) = under(workload, [policy, *(other for _, other in later)])
        made = zip((at for at, _ in later), others, strict=True)
        values = (workload, first, tuple(made), placement, check)
        for name, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, name, value)

    def time_of(self, moment: Moment) -> float:
        """Return the time in seconds that `moment` names in this run; up to a step, the run is computed."""
        if not isinstance(moment, Step):
            return self.workload.header.seconds_at(moment)
        engine = self._engine(check=False)
        step = self.stepper(engine)
        if not all(step() for _ in range(moment.number)):
            raise NotThereError(f"no step {moment.number:,}: the run ends at step {engine.step_count:,}")
        return engine.now if moment.number else 0.0

    def at_the_beginning(self) -> Engine:
        """Return an engine before its first step; to move it, call the function that `stepper` returns for it."""
        return self._engine(self.check)

    def begun(self, for_schedule: bool = False) -> Engine:
        """Return an engine just after the last switch; with `for_schedule` it keeps no decisions."""
        engine = self._engine(self.check)
        if for_schedule and not self.check:
            engine.forget()
        for at, _ in self.switches[-1:]:
            self._follow(engine, at)
        return engine

    def watched(self, time: float) -> Engine:
        """Return an engine after the last step up to `time`, with the reasons of that step or the matrix's rebuild."""
        engine = self._engine(check=False)
        self._follow(engine, time, is_watched=True)
        engine.run(until=nextafter(time, -inf))
        if engine.step_count and engine.now < time != engine.next_time():
            return self.watched(engine.now)
        engine.curious = True
        engine.run(until=time)
        return engine

    def stepper(self, engine: Engine) -> Callable[[], bool]:
        """Return a function that makes the next step or switch of an engine. It returns False when the run is over."""
        pending = self._to_come(engine)

        def step() -> bool:
            if pending and is_due(pending[0][0], engine):
                at, policy = pending.pop(0)
                engine.switch(policy, max(at, engine.now))
                return True
            return engine.step()

        return step

    def go_before(self, engine: Engine, time: float) -> None:
        for at, policy in self._to_come(engine):
            if at < time:
                engine.run(until=nextafter(at, -inf))
                engine.switch(policy, max(at, engine.now))
        engine.run(until=nextafter(time, -inf))

    def _to_come(self, engine: Engine) -> list[tuple[float, Policy]]:
        return list(self.switches[sum(not switch.by_rule for switch in engine.moment.switches) :])

    def _engine(self, check: bool) -> Engine:
        watchers = [Checker] if check else []
        return Engine(self.workload, self.policy, placement=self.placement, watchers=watchers, curious=False)

    def _follow(self, engine: Engine, until: float, is_watched: bool = False) -> None:
        """Let the engine make the switches up to `until` and all steps before them, with reasons if watched."""
        engine.curious = is_watched and engine.moment.takes_turns
        for at, policy in self.switches:
            if at > until:
                return
            engine.run(until=nextafter(at, -inf))
            if engine.next_time() is None and not engine.moment.left:
                raise NotThereError(f"no switch at {clock(at)}: the run ends at {clock(engine.now)}")
            engine.curious = is_watched
            engine.switch(policy, at)
            engine.curious = is_watched and engine.moment.takes_turns


def is_due(switch: float, engine: Engine, after: bool = False) -> bool:
    """Return True if a switch is due before the next step: before its time's events or, `after`, behind them."""
    due = engine.next_time()
    if due is None:
        return engine.moment.left > 0
    return switch < due if after else switch <= due


def timed(
    workload: Workload, policy: Policy | str, switches: Iterable[tuple[Moment, P]], placement: Placement = "lowest"
) -> tuple[tuple[float, P], ...]:
    """Return `switches` with times in seconds, in order; a step's time is that of a run with the earlier ones."""
    made: list[tuple[float, P]] = []
    for moment, other in switches:
        at = Scenario(workload, policy, made, placement).time_of(moment)
        if at < 0:
            raise ParameterError(f"no switch at {clock(at)}: the run begins at {clock(0)}")
        made.append((at, other))
    return tuple(sorted(made, key=itemgetter(0)))


def parse_switch(text: str, proof: Proof | None = None) -> tuple[Moment, str]:
    """Return (time, spec) of `T=SPEC`, both checked; user-defined code needs a `proof` of consent."""
    moment, spec = split_switch(text)
    try:
        parse_policy(spec, proof)
    except ParameterError as error:
        raise ParameterError(f"{quoted(text)}: {error}") from None
    return moment, spec


def split_switch(text: str) -> tuple[Moment, str]:
    """Return (time, spec) of a switch written as `T=SPEC`, without making the policy."""
    time, equals, spec = text.partition("=")
    if not equals or not spec:
        raise ParameterError(f"{quoted(text)}: expected T=SPEC, like 12d4h=easy:order=sjf")
    try:
        return parse_moment(time), spec
    except ParameterError as error:
        raise ParameterError(f"{quoted(text)}: {error}") from None


def run(
    workload: Workload,
    policy: Policy | str,
    *,
    switches: Iterable[tuple[float, Policy | str]] = (),
    placement: Placement = "lowest",
    check: bool = False,
) -> Schedule:
    """Return the schedule of a whole run; each of `switches` is (time, policy); `check` verifies every step."""
    scenario = Scenario(workload, policy, switches, placement, check)
    engine = scenario.begun(for_schedule=True)
    engine.run()
    return replace(engine.schedule(is_last=True), again=replace(scenario, check=False).begun)
