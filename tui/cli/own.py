"""Somebody's own policy on the command line: what it prints, when it does not come back, and the debugger."""

from __future__ import annotations

from bdb import BdbQuit
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import click

from sim.engine.breakdown import frame_of, patience
from sim.errors import PolicyError
from sim.policies.policy import is_own
from sim.prints import debugging, listening
from sim.testing import ContractError
from sim.testing.contract import broken
from sim.timeline.scenario import Scenario
from sim.words import clock, printable

LONGEST_PASS = 20.0
"""Seconds after which a policy does not come back."""


@contextmanager
def own_code(scenario: Scenario, debug: bool = False, aloud: bool = True) -> Iterator[None]:
    """What policies of somebody's own may need while they run; with nothing but ours it does nothing.

    debug: a breakpoint and a failure open the debugger; aloud: what they print is told.
    """
    policies = [scenario.policy, *(policy for _, policy in scenario.switches)]
    if not debug and not any(map(is_own, policies)):
        yield
        return
    with ExitStack() as stack:
        if aloud:
            stack.enter_context(listening(_print_line))
        stack.enter_context(debugging() if debug else patience(LONGEST_PASS))
        if scenario.check and not debug:
            _check(scenario)
        try:
            yield
        except PolicyError as error:
            if isinstance(error.__cause__, BdbQuit):
                raise click.Abort from None
            if debug and (frame := frame_of(error)):
                _look_around(frame, error)
            raise


def _look_around(frame: FrameType, error: PolicyError) -> None:
    """The debugger where a policy broke down."""
    from pdb import Pdb

    click.echo(f"schedscope: {printable(str(error))}", err=True)
    debugger = Pdb()
    debugger.reset()
    debugger.interaction(frame, None)


def _check(scenario: Scenario) -> None:
    """Does a policy of somebody's own keep to what every policy is held to, on these very jobs?"""
    if is_own(scenario.policy) and not scenario.switches:
        finding = broken(scenario.policy, scenario.workload, LONGEST_PASS)
        if finding is not None:
            raise ContractError(f"{scenario.policy.name}: {finding.rule}: {finding.told}")


def _print_line(step: int, time: float, line: str) -> None:
    click.echo(printable(f"step {step:,}, {clock(time)}: {line}"), err=True)
