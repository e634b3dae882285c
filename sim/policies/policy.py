"""What a policy is, the register of all of them, and how a person names one.

A policy is a frozen dataclass: its fields are its parameters, its docstring is its documentation. It holds no
state; `decide` is shown the present and yields decisions. `view.notes` is its memory, `view.reserved` its plan.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeVar

from sim.decisions.decisions import Decision
from sim.errors import ParameterError, near
from sim.machine.turns import Turns
from sim.policies.orders import ORDERS, Fcfs, Order, Xfactor
from sim.policies.parameters import Parameter, parameters_of, written
from sim.policies.view import View
from sim.workload.model import Job


@dataclass(frozen=True)
class Policy:
    """The base of all policies."""

    name: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    keeps_reservations: ClassVar[bool] = False
    """Does a reservation stand until the policy moves it? Else it is made anew at each pass."""

    grants: ClassVar[bool] = False
    """Does it grant the reservations that users ask for, and look after those it finds?"""
    suspends: ClassVar[bool] = False
    """Does it suspend jobs, or share processors in time, and look after the suspended jobs it finds?"""
    plans: ClassVar[Literal["nobody", "the heads", "everybody"]] = "everybody"
    """Which of the waiting jobs have a planned start."""
    lets_pass: ClassVar[bool] = True
    """May a job be backfilled: start before one that stands ahead of it in the queue?"""

    def queue_order(self) -> Order:
        """How the waiting jobs stand in `view.queue`."""
        return Fcfs()

    def queues(self) -> tuple[str, ...]:
        """The names of the queues, where there are several."""
        return ()

    def queue_of(self, job: Job) -> int:
        """Which of them the job stands in."""
        return 0

    def promises(self) -> bool:
        """Is a reservation never moved later while it stands? `--check` holds the policy to it."""
        return False

    def turns(self) -> Turns | None:
        """The clock by which the rows of a matrix take turns; None: jobs do not share processors in time."""
        return None

    def most_migrated(self) -> int | None:
        """How many tasks may migrate at one instant, if that is limited; `--check` holds the policy to it."""
        return None

    def most_rows(self) -> int | None:
        """How many rows the matrix may have, where there is one."""
        return None

    def weighs_xfactors(self) -> bool:
        """Does it compare the jobs' expansion factors?"""
        return isinstance(self.queue_order(), Xfactor)

    def tries(self) -> bool:
        """Does it run jobs for a limited time first, and kill those that are not done by then?"""
        return False

    def decide(self, view: View) -> Iterator[Decision]:
        """One pass: what to do at this instant."""
        raise NotImplementedError(f"the policy {self.name!r} decides nothing")


def order_field(default: Order) -> Any:
    """The field of a policy that takes a queue order and, beside it, that order's parameters."""
    return dataclasses.field(default=default)


@dataclass(frozen=True)
class Ordered(Policy):
    """A policy whose queue can stand in any order."""

    order: Order = order_field(Fcfs())

    def queue_order(self) -> Order:
        return self.order


POLICIES: dict[str, type[Policy]] = {}
ALIASES: dict[str, str] = {}
P = TypeVar("P", bound=Policy)


def policy(name: str, paper: str, **aliases: str) -> Callable[[type[P]], type[P]]:
    """Register a policy under its name, and short names that stand for it with some parameters."""

    def register(cls: type[P]) -> type[P]:
        if name in POLICIES or name in ALIASES:
            raise TypeError(f"two policies are called {name!r}")
        cls.name, cls.paper = name, paper
        POLICIES[name] = cls
        for alias, spec in aliases.items():
            if alias in POLICIES or alias in ALIASES:
                raise TypeError(f"two policies are called {alias!r}")
            ALIASES[alias] = spec
        return cls

    return register


def parse_policy(spec: str) -> Policy:
    """The policy that `name` or `name:key=value,key=value` stands for.

    >>> import sim.policies
    >>> written_policy(parse_policy("easy:order=delay,weight=0.5"))
    'easy:order=delay,weight=0.5'
    """
    name, _, rest = spec.strip().partition(":")
    if name in ALIASES:
        return parse_policy(":".join(ALIASES[name].split(":")[:1]) + _joined(ALIASES[name], rest))
    if name not in POLICIES:
        raise ParameterError(f"no policy {name!r}{near(name, [*POLICIES, *ALIASES])}")
    cls = POLICIES[name]
    values = _pairs(rest, spec)
    return cls(**_arguments(cls, values))


def _joined(alias: str, rest: str) -> str:
    both = ",".join(part for part in (alias.partition(":")[2], rest) if part)
    return ":" + both if both else ""


def _pairs(text: str, spec: str) -> dict[str, str]:
    """`a=1,b=2` as a dictionary; what comes later wins."""
    pairs = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise ParameterError(f"policy {spec!r}: expected key=value, got {part!r}")
        pairs[key] = value
    return pairs


def _arguments(cls: type[Policy], given: dict[str, str]) -> dict[str, Any]:
    """Typed arguments for the policy, its order built of what belongs to the order."""
    own = parameters_of(cls)
    arguments: dict[str, Any] = {}
    of_order: dict[str, Parameter] = {}
    if default := default_order(cls):
        order = ORDERS.get(given.get("order", default.name))
        if order is None:
            raise ParameterError(f"no order {given['order']!r}{near(given['order'], ORDERS)}")
        of_order = parameters_of(order)
        chosen = {key: of_order[key].parse(given[key]) for key in given if key in of_order}
        arguments["order"] = order(**chosen)
    for key, text in given.items():
        if key in own:
            arguments[key] = own[key].parse(text)
        elif key not in of_order and not (key == "order" and default):
            names = [*own, *of_order, *(["order"] if default else [])]
            raise ParameterError(f"{cls.name} has no parameter {key!r}{near(key, names)}")
    return arguments


def default_order(cls: type[Policy]) -> Order | None:
    """The order of the queue unless another is asked for; None where the policy takes no order."""
    for field in dataclasses.fields(cls):
        if isinstance(field.default, Order):
            return field.default
    return None


def written_policy(policy: Policy) -> str:
    """The shortest spec that stands for this policy."""
    default = default_order(type(policy))
    parts = []
    if default is not None and policy.queue_order() != default:
        order = policy.queue_order()
        if type(order) is not type(default):
            parts.append(f"order={order.name}")
        parts += _changed(order)
    parts += _changed(policy)
    return policy.name + (":" + ",".join(parts) if parts else "")


def _changed(holder: Policy | Order) -> list[str]:
    return [
        f"{name}={written(getattr(holder, name))}"
        for name, parameter in parameters_of(type(holder)).items()
        if getattr(holder, name) != parameter.default
    ]
