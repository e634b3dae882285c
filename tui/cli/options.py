"""Options that several commands have, declared with the library click."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from sim.annexes import annexed
from sim.support.errors import NotThereError, ParameterError
from sim.support.formatting import Moment, count, listed, parse_moment, printable, shortened
from sim.workload.options import OPTIONS, WITH, Option
from tui.cli.terminal import is_terminal, shown_reading

if TYPE_CHECKING:
    from sim.machine.processors import Placement
    from sim.policies.policy import Policy
    from sim.workload.fidelity import Fidelity
    from sim.workload.model import Workload
    from sim.workload.replay import Replay
    from sim.workload.source import Source

F = TypeVar("F", bound=Callable[..., Any])
Switches: TypeAlias = list[tuple[Moment, str]]
"""Switches of a run: pairs of a time and the spec of the policy that takes over."""


def needs_terminal(what: str, without: str) -> None:
    """Raise an error without a terminal for the screen `what`; `without` says how to do without."""
    if not (is_terminal(sys.stdin) and is_terminal(sys.stdout)):
        raise click.ClickException(f"{what} needs a terminal; without one use {without}")
    if not is_terminal(sys.stderr):
        raise click.ClickException(f"{what} is drawn on stderr, which must be the terminal: leave out 2>")
    gc.disable()  # until the first frame: what is imported and loaded now stays, and looking for garbage takes long


def of_workload(command: F) -> F:
    return reduce(lambda made, option: _as_click(option)(made), reversed(OPTIONS.values()), command)


def _as_click(option: Option) -> Callable[[F], F]:
    name = "--" + option.name.replace("_", "-")
    if option.kind is bool:
        return click.option(name, is_flag=True, help=option.meaning)
    kind = click.Choice(option.choices) if option.choices else option.kind
    help = option.meaning if option.choices or option.low is None else f"{option.meaning}  [{option.range}]"
    check = partial(_in_range, option)
    return click.option(name, type=kind, metavar=option.metavar, multiple=option.many, callback=check, help=help)


def _in_range(of: Option, ctx: click.Context, option: click.Parameter, given: Any) -> Any:
    if of.many:
        given = "; ".join(given) or None
    try:
        of.taken(given)
    except ParameterError as error:
        raise click.BadParameter(str(error), ctx, option) from None
    return given


def settle(
    jobs: Replay, specs: Sequence[str], switches: Iterable[tuple[Moment, str]] = ()
) -> tuple[Workload, list[str], Switches]:
    """Return (workload, specs of policies, switches) for runs under all these policies. For a recording the workload
    has the recorded limits, and the policy slurm the recorded weights. Print on stderr what cannot be used.
    """
    from sim.policies.recorded_rules import (
        BARE,
        recorded_weights,
        under,
        unkept,
        unlimited,
        unweighed,
        weighed,
        with_recorded,
    )
    from sim.workload.model import RecordedWorkload

    specs, switches, workload = list(specs), list(switches), jobs.workload
    asked = [*specs, *(spec for _, spec in switches)]
    if what := unweighed(jobs.trace.format, workload, asked):
        click.echo(f"schedscope: {what}", err=True)
    if not isinstance(workload, RecordedWorkload):
        return workload, specs, switches
    if BARE in asked:
        say_lacking(recorded_weights(workload)[1])
    for spec in dict.fromkeys(asked):
        if whole := with_recorded(spec, workload):
            click.echo(f"schedscope: {printable(spec)} is without the recorded weights; {whole} has them", err=True)
    settled = [str(weighed(spec, workload)) for spec in asked]
    limited, policies = under(workload, settled)
    if what := unkept(unlimited(workload, policies)):
        click.echo(f"schedscope: {what}", err=True)
    later = [(moment, spec) for (moment, _), spec in zip(switches, settled[len(specs) :], strict=True)]
    return limited, settled[: len(specs)], later


def slurm_conf(path: str) -> tuple[str, tuple[str, ...]]:
    """Return what `spec_of` returns for a configuration of Slurm; warn on stderr if it has no weights."""
    from sim.policies.slurm_config import CONFIGURATION, spec_of, unweighed_note

    text = CONFIGURATION.read(path)
    found = spec_of(text)
    if note := unweighed_note(text):
        click.echo(f"schedscope: {printable(path)}: {note}", err=True)
    return found


def say_lacking(weights: Sequence[str]) -> None:
    if weights:
        click.echo(f"schedscope: weights of which a recording does not say enough: {listed(weights, most=9)}", err=True)


def replay(source: Source, aloud: bool = False) -> Replay:
    """Return the jobs of a source, with recorded facts; `aloud`: print all that was assumed on stderr."""
    from sim.support.errors import TraceError
    from sim.workload.replay import replay_of

    if source.transforms.jobs == 0:
        raise ParameterError("--jobs 0 leaves nothing to simulate")
    with shown_reading(source.trace) as heard:
        found = replay_of(source, heard)
    trace, workload = found.trace, found.workload
    if not len(workload):
        left = "; ".join(f"{note.what}: {note.count:,}" for note in workload.fidelity.skipped)
        read = f"0 of {count(len(trace.ids), 'job')} left" if trace.ids else "a trace without jobs"
        raise TraceError(f"nothing to simulate: {read}{f' ({left})' if left else ''}", source.trace)
    for line in told(workload.fidelity if aloud else workload.fidelity.unmodelled()):
        click.echo(f"schedscope: {line}", err=True)
    return found


def told(fidelity: Fidelity) -> list[str]:
    """Return a line on each thing that was left out or assumed while reading."""
    kinds = {"skipped": fidelity.skipped, "assumed": fidelity.assumed, "invented": fidelity.invented}
    return [
        f"{kind} {note.count:,}: " + printable(", first ".join(filter(None, (note.what, shortened(note.first)))))
        for kind, notes in kinds.items()
        for note in notes
    ]


def heed(placement: Placement, policies: Iterable[Policy | str]) -> None:
    """Warn on stderr if a policy chooses processors itself and so ignores the requested placement."""
    if placement == "lowest":
        return
    from sim.policies.registry import policy_of

    deaf = listed(dict.fromkeys(policy.name for policy in map(policy_of, policies) if policy.places))
    if deaf:
        click.echo(
            f"schedscope: --placement {placement} has no effect under {deaf}: the policy chooses the processors",
            err=True,
        )


def of_file(option: str, name: str | None, trace: str = "", stdout: bool = False) -> None:
    """Raise an error for an output file that is empty, the trace itself, or - where stdout is not possible."""
    if name is not None and (not name.strip() or (name == "-" and not stdout)):
        raise click.UsageError(f"{option} needs the name of a file, got {name!r}")
    if name and os.path.isfile(trace) and os.path.realpath(name) == os.path.realpath(trace):
        raise click.UsageError(f"{option} would overwrite the trace {trace}: give it another name")


class _Spec(click.types.StringParamType):
    """Type of a policy's spec; typed code may run without asking."""

    name = "SPEC"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from sim.policies.own.consent import Proof, agree
        from sim.policies.own.naming import code_in

        if ctx and ctx.resilient_parsing:  # a shell asks how the line may go on
            return value
        specs = _expanded(value.partition(WITH)[0])
        agree((code for spec in specs for code in code_in(spec)), Proof.TYPED)
        return value


def _expanded(value: str) -> list[str]:
    from sim.workload.options import expand

    try:
        return expand(value) if "{" in value else [value]
    except ParameterError:
        return [value]


SPEC = _Spec()


def _parsed_moment(ctx: click.Context, option: click.Parameter, given: str | None) -> Moment | None:
    return None if given is None else parse_moment(given)


def _parsed_switches(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> Switches:
    if not given or ctx.resilient_parsing:
        return []
    from sim.policies.own.consent import Proof
    from sim.timeline.scenario import parse_switch

    try:
        return [parse_switch(text, Proof.TYPED) for text in given]
    except ParameterError as error:
        raise click.BadParameter(str(error), ctx, option) from None


SMALLEST, LARGEST = (20, 8), (400, 150)
"""Smallest and largest size of a screen, as (columns, rows)."""


def parsed_size(ctx: click.Context, option: click.Parameter, given: str) -> tuple[int, int]:
    columns, _, rows = given.lower().partition("x")
    if not (columns.isdecimal() and rows.isdecimal()):
        raise click.BadParameter(f"{given!r}: expected COLUMNSxROWS, like 120x36", ctx, option)
    size = int(columns[:6]), int(rows[:6])
    if not all(low <= value <= high for low, value, high in zip(SMALLEST, size, LARGEST, strict=True)):
        raise click.BadParameter(f"{given!r}: from 20x8 to 400x150", ctx, option)
    return size


def _no_lesson(ctx: click.Context, argument: click.Parameter, given: str | None) -> str | None:
    if given is None:
        return None
    from sim.workload.source import find

    try:
        find(given)
    except NotThereError:
        if given in annexed("names of lessons"):
            raise NotThereError(f"{given} is a lesson, no trace: schedscope learn {given} plays it") from None
    return given


def trace(required: bool = True) -> Callable[[F], F]:
    return click.argument("trace", required=required, callback=_no_lesson)


def form(*forms: str) -> Callable[[F], F]:
    return click.option(
        "--format", "form", type=click.Choice(forms), default=forms[0], help=f"Form of the output; default {forms[0]}."
    )


def moment(*names: str, help: str) -> Callable[[F], F]:
    return click.option(*names, metavar="T", callback=_parsed_moment, help=help)


policy = click.option(
    "--policy", default="easy", type=SPEC, help="name or name:key=value,key=value; or a policy file: ./fair.py"
)
opened_policy = click.option(
    "--policy",
    type=SPEC,
    help="name or name:key=value,key=value; else what a sample is about, the policy in settings.json, or easy",
)
where = click.option(
    "--where", multiple=True, metavar="X<=V", help="Only runs like load<=1.2, policy=easy; repeatable."
)
interval = click.option(
    "--interval",
    type=click.Choice(["seeds", "batches"]),
    default="seeds",
    help="What confidence intervals are computed over (seeds or batches).",
)
check = click.option("--check", is_flag=True, help="Verify after every step that no rule is broken.")
placement = click.option(
    "--placement", type=click.Choice(["lowest", "together", "best", "spread", "consecutive"]), default="lowest",
    help="Which free processors a job gets: the lowest-numbered, or neighbours (multiqueue, suspension and gang "
    "scheduling choose for themselves). On nodes: the machine's rule, the fewest or most free cores first, or Slurm's "
    "rule.",
)  # fmt: skip
switches = click.option(
    "--switch", "switches", multiple=True, metavar="T=SPEC", callback=_parsed_switches,
    help="From T on (a time, a date or a step like #1200) the policy is SPEC; repeatable.",
)  # fmt: skip
