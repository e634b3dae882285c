"""User-defined policies on the command line: their output, time limits, and the debugger."""

from __future__ import annotations

from bdb import BdbQuit
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from types import FrameType

import click

from sim.annexes import annexed
from sim.engine import policy_calls
from sim.engine.policy_calls import frame_of, patient
from sim.machine.processors import Placement
from sim.policies.policy import Policy, is_own
from sim.support.captured_output import debugging, listening
from sim.support.errors import PolicyError
from sim.support.formatting import Moment, clock, printable
from sim.timeline import scenario
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload


def timed(
    workload: Workload, policy: Policy | str, switches: Iterable[tuple[Moment, str]], placement: Placement
) -> tuple[tuple[float, str], ...]:
    """Return the switches in seconds; a step is found by simulating, user's policies within a time limit."""
    switches = tuple(switches)
    with patient([policy, *(spec for _, spec in switches)]):
        return scenario.timed(workload, policy, switches, placement)


def time_of(run: Scenario, moment: Moment) -> float:
    """Return a moment in seconds; a step is found by simulating, user's policies within a time limit."""
    with patient([run.policy, *(policy for _, policy in run.switches)]):
        return run.time_of(moment)


@contextmanager
def own_code(run: Scenario, debug: bool = False, aloud: bool = True) -> Iterator[None]:
    """Let user-defined policies run in this context: `debug` opens the debugger, `aloud` shows their output."""
    policies = [run.policy, *(policy for _, policy in run.switches)]
    if not debug and not any(map(is_own, policies)):
        yield
        return
    with ExitStack() as stack:
        if aloud:
            stack.enter_context(listening(_print_line))
        stack.enter_context(debugging() if debug else patient(policies))
        if run.check and not debug and is_own(run.policy) and not run.switches:
            annexed("check of one run")(run.policy, run.workload, policy_calls.LONGEST_PASS)
        try:
            yield
        except PolicyError as error:
            if isinstance(error.__cause__, BdbQuit):
                raise click.Abort from None
            if debug and (frame := frame_of(error)):
                _look_around(frame, error)
            raise


def _look_around(frame: FrameType, error: PolicyError) -> None:
    from pdb import Pdb

    click.echo(f"schedscope: {printable(str(error))}", err=True)
    debugger = Pdb(readrc=False)  # a .pdbrc of the present folder is foreign
    debugger.reset()
    debugger.interaction(frame, None)


def _print_line(step: int, time: float, line: str) -> None:
    click.echo(printable(f"step {step:,}, {clock(time)}: {line}"), err=True)
