"""Command `schedscope policies`: list all policies, or explain one for students."""

from __future__ import annotations

from textwrap import wrap

import click

from sim.policies import POLICIES, Policy, parse_policy
from sim.policies.orders import ORDERS, Order
from sim.policies.own.naming import named_code, origin, plugins
from sim.policies.parameters import NO_GREATER, as_typed, paragraphs, parameters_of, summary
from sim.policies.policy import default_order
from sim.policies.registry import PAPERS, cited
from sim.support.errors import ParameterError, near
from sim.support.formatting import quoted
from tui.cli import options
from tui.cli.options import SPEC
from tui.cli.terminal import say, seen_columns, wrapped_lines, wrapped_table
from tui.look.text import table


@click.command("policies")
@click.argument("name", required=False, type=SPEC)
@click.option("--slurm-conf", metavar="FILE", help="Print the policy slurm with the weights of a slurm.conf.")
def command(name: str | None, slurm_conf: str | None) -> None:
    """List the policies, or explain one with its parameters.

    With --slurm-conf FILE, which is a slurm.conf or the output of scontrol show config, print the policy slurm with the
    weights and backfill parameters in this file.
    """
    if slurm_conf is None:
        say(explanation(name) if name else listing())
        return
    spec, ignored = options.slurm_conf(slurm_conf)
    if ignored:
        click.echo(f"schedscope: weights that are not modelled: {', '.join(ignored)}", err=True)
    say(spec, exact=True)


def listing() -> str:
    rows = [[name, summary(cls), cls.paper] for name, cls in POLICIES.items()]
    lines = wrapped_table([["policy", "what it does", "from"], *rows], seen_columns())
    short = table([[alias, "stands for", spec] for alias, spec in POLICIES.aliases.items()], align=["left"] * 3)
    others = [[name, f"of {origin(name)}"] for name in sorted(plugins()) if name not in POLICIES.names]
    if others:
        lines += ["", "Of installed packages, whose code runs when you name a policy", *table(others, ["left"] * 2)]
    hint = "schedscope policies NAME explains one with its parameters; in a run: --policy name:key=value,key=value"
    own_file = "Your own policy: schedscope new fair.py creates it, schedscope test fair.py tests it,"
    own_file += " --policy ./fair.py uses it"
    papers = wrap("; ".join(f"{name}: {paper}" for name, paper in PAPERS.items()), min(seen_columns() or 100, 100))
    return "\n".join(
        [*lines, "", *papers, "", "Short names", *short, "", *wrapped_lines([hint, own_file], seen_columns())]
    )


def explanation(name: str) -> str:
    if name in POLICIES.aliases:
        spec = POLICIES.aliases[name]
        return f"{name} stands for {spec}\n\n" + explanation(spec.partition(":")[0])
    if name in list(POLICIES):
        return _explained(POLICIES[name])
    if named_code(name) or name in plugins():  # read again, whatever was loaded before
        cls = type(parse_policy(name))
        return (f"of {origin(name)}\n\n" if name in plugins() else "") + _explained(cls)
    if name in ORDERS:
        lines = _told(f"{name} (an order of the queue)", ORDERS[name])
        if papers := cited(" ".join(lines)):
            lines[1:1] = ["", *wrap(papers, 78)]
        return "\n".join(lines).rstrip()
    known = sorted({*POLICIES.names, *ORDERS, *plugins()})
    raise ParameterError(f"no policy or order {quoted(name)}{near(name, known)}")


def _explained(cls: type[Policy]) -> str:
    lines = _told(f"{cls.name} ({cls.paper})" if cls.paper else cls.name, cls)
    if papers := cited(cls.paper):
        lines[1:1] = ["", *wrap(papers, 78)]
    if (order := default_order(cls)) is not None:
        lines += ["", f"order: order of the queue, default {order.name}", *_orders(type(order))]
    return "\n".join([*lines, "", NO_GREATER]).rstrip()


def _told(title: str, cls: type[Policy] | type[Order]) -> list[str]:
    lines = [title, ""]
    for paragraph in paragraphs(cls):
        lines += [*wrap(paragraph, 78), ""]
    for parameter in parameters_of(cls).values():
        lines.append(f"  {parameter.name}={as_typed(parameter.default)}   {parameter.range}")
        lines += ["      " + line for line in wrap(parameter.meaning, 72)]
    return lines


def _orders(own: type[Order]) -> list[str]:
    rows = []
    for name, cls in (ORDERS if own.name in ORDERS else {own.name: own, **ORDERS}).items():
        extra = ", ".join(f"{p.name}={as_typed(p.default)}" for p in parameters_of(cls).values())
        rows.append([name, extra, summary(cls)])
    return wrapped_table(rows, seen_columns(), indent=2)
