"""`schedscope policies`: what there is, in a student's words."""

from __future__ import annotations

import inspect
from textwrap import wrap

import click

from sim.errors import ParameterError, near
from sim.policies import POLICIES, Policy
from sim.policies.orders import ORDERS, Order
from sim.policies.parameters import parameters_of, written
from sim.policies.policy import default_order
from tui.cli.terminal import say
from tui.look.text import table


@click.command("policies")
@click.argument("name", required=False)
def command(name: str | None) -> None:
    """List the policies, or explain one with its parameters."""
    say(explanation(name) if name else listing())


def listing() -> str:
    """All policies, a line each, and how to ask for one."""
    rows = [[name, _first_line(cls), cls.paper] for name, cls in POLICIES.items()]
    lines = table([["policy", "what it does", "from"], *rows], align=["left", "left", "left"])
    short = table([[alias, "stands for", spec] for alias, spec in POLICIES.aliases.items()], align=["left"] * 3)
    return "\n".join(
        [
            *lines,
            "",
            "Short names",
            *short,
            "",
            "schedscope policies NAME explains one with its parameters; in a run: --policy name:key=value,key=value",
        ]
    )


def explanation(name: str) -> str:
    """One policy, or one order of the queue, with every parameter."""
    if name in POLICIES.aliases:
        spec = POLICIES.aliases[name]
        return f"{name} stands for {spec}\n\n" + explanation(spec.partition(":")[0])
    if name in POLICIES:
        cls = POLICIES[name]
        lines = [f"{name} ({cls.paper})", "", *_paragraphs(cls), "", *_parameters(cls)]
        if (order := default_order(cls)) is not None:
            lines += ["", f"order: how the queue stands, {order.name} unless told", *_orders()]
        return "\n".join(lines).rstrip()
    if name in ORDERS:
        order_cls = ORDERS[name]
        return "\n".join(
            [f"{name} (an order of the queue)", "", *_paragraphs(order_cls), "", *_parameters(order_cls)]
        ).rstrip()
    raise ParameterError(f"no policy {name!r}{near(name, [*POLICIES.names, *ORDERS])}")


def _first_line(cls: type) -> str:
    return (inspect.getdoc(cls) or "").partition("\n\n")[0].replace("\n", " ")


def _paragraphs(cls: type[Policy] | type[Order]) -> list[str]:
    text = inspect.getdoc(cls) or ""
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        lines += [*wrap(paragraph.replace("\n", " "), 78), ""]
    return lines[:-1]


def _parameters(cls: type[Policy] | type[Order]) -> list[str]:
    lines: list[str] = []
    for parameter in parameters_of(cls).values():
        lines.append(f"  {parameter.name}={written(parameter.default)}   {parameter.range}")
        lines += ["      " + line for line in wrap(parameter.meaning, 72)]
    return lines


def _orders() -> list[str]:
    rows = []
    for name, cls in ORDERS.items():
        extra = ", ".join(f"{p.name}={written(p.default)}" for p in parameters_of(cls).values())
        rows.append([name, extra, _first_line(cls)])
    return table(rows, align=["left", "left", "left"], indent=2)
