"""The options that several commands have, as click knows them."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

from sim.errors import ParameterError
from sim.words import parse_time
from sim.workload.options import OPTIONS, Option

F = TypeVar("F", bound=Callable[..., Any])


def of_workload(command: F) -> F:
    """Every option of a workload, in the order in which they are declared."""
    return reduce(lambda made, option: _as_click(option)(made), reversed(OPTIONS.values()), command)


def _as_click(option: Option) -> Callable[[F], F]:
    name = "--" + option.name.replace("_", "-")
    if option.kind is bool:
        return click.option(name, is_flag=True, help=option.meaning)
    return click.option(name, type=_type_of(option), metavar=option.metavar, help=option.meaning)


def _type_of(option: Option) -> Any:
    if option.choices:
        return click.Choice(option.choices)
    if option.kind is int:
        return click.IntRange(None if option.low is None else int(option.low))
    return option.kind


def _parsed_switches(ctx: click.Context, option: click.Parameter, given: tuple[str, ...]) -> list[tuple[float, str]]:
    """`T=SPEC` as (seconds, spec), each checked, in order of time."""
    if not given:
        return []
    from sim.policies import parse_policy

    parsed = []
    for text in given:
        time, equals, spec = text.partition("=")
        if not equals or not spec:
            raise click.BadParameter(f"{text!r}: expected T=SPEC, like 12d4h=easy:order=sjf", ctx, option)
        try:
            parse_policy(spec)
            parsed.append((parse_time(time), spec))
        except ParameterError as error:
            raise click.BadParameter(f"{text!r}: {error}", ctx, option) from None
    return sorted(parsed, key=lambda switch: switch[0])


policy = click.option("--policy", default="easy", metavar="SPEC", help="name or name:key=value,key=value")
check = click.option("--check", is_flag=True, help="Verify after every step that no rule is broken.")
placement = click.option(
    "--placement", type=click.Choice(["lowest", "together"]), default="lowest",
    help="Which free processors a job gets: the lowest-numbered, or neighbours.",
)  # fmt: skip
switches = click.option(
    "--switch", "switches", multiple=True, metavar="T=SPEC", callback=_parsed_switches,
    help="From time T on the policy is SPEC; repeatable.",
)  # fmt: skip
