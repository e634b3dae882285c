"""Registry of policies by name, and of the specs (`name:key=value`) by which users name them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, TypeVar

from sim.policies.orders import ORDERS, OWN, Order
from sim.policies.own.consent import OwnCodeError, Proof, agree
from sim.policies.own.loading import blamed, own_order, own_policy, plugin
from sim.policies.own.naming import Named, code_in, named_code, plugins
from sim.policies.parameters import Parameter, parameters_of
from sim.policies.policy import Policy, default_order
from sim.support.errors import ParameterError, near
from sim.support.formatting import quoted

P = TypeVar("P", bound=Policy)


class Registry(Mapping[str, type[Policy]]):
    """All policies in the order of their names, and their aliases: short names for a policy with some parameters."""

    def __init__(self) -> None:
        self._policies: dict[str, type[Policy]] = {}
        self._aliases: dict[str, str] = {}
        self._own: dict[str, type[Policy]] = {}
        """Mapping from name to user-defined policy, for the ones that were requested, each in its latest version. They
        are found by name, but not listed.
        """

    def __getitem__(self, name: str) -> type[Policy]:
        return self._own[name] if name in self._own else self._policies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._policies))

    def __len__(self) -> int:
        return len(self._policies)

    @property
    def aliases(self) -> Mapping[str, str]:
        return MappingProxyType(self._aliases)

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names with which a spec may begin."""
        return *self._policies, *self._aliases

    def aliases_of(self, name: str) -> tuple[str, ...]:
        return tuple(alias for alias, spec in self._aliases.items() if spec.partition(":")[0] == name)

    def near(self, name: str) -> str:
        if os.sep in name:
            return "; the name of a file with a policy ends in .py"
        return near(name, [*self.names, *plugins()])

    def add(self, cls: type[Policy], aliases: Mapping[str, str] | None = None, *, replace: bool = False) -> None:
        """Add a policy class and its aliases; with `replace` the class replaces a policy of its name."""
        aliases = aliases or {}
        free = {cls.name, *self.aliases_of(cls.name)} if replace and cls.name in self else set()
        for name in (cls.name, *aliases):
            if name in self.names and name not in free:
                raise TypeError(f"two policies are called {name!r}")
        self._drop_aliases(cls.name)
        self._policies[cls.name] = cls
        self._aliases |= aliases

    def remove(self, name: str) -> None:
        if name not in self:
            raise ParameterError(f"no policy {quoted(name)}{self.near(name)}")
        self._drop_aliases(name)
        del self._policies[name]

    def _drop_aliases(self, name: str) -> None:
        for alias in self.aliases_of(name):
            del self._aliases[alias]

    def parse(self, spec: str, proof: Proof | None = None) -> Policy:
        """Return the policy of a spec, `name` or `name:key=value,key=value`.

        Code that the spec names runs only if a person has agreed to it, before or by this `proof`.

        >>> import sim.policies
        >>> from sim.policies.policy import written_policy
        >>> written_policy(POLICIES.parse("easy:order=delay,weight=0.5"))
        'easy:order=delay,weight=0.5'
        """
        if proof is not None:
            agree(code_in(spec), proof)
        name, _, rest = spec.strip().partition(":")
        if name in self._aliases:
            name, _, meant = self._aliases[name].partition(":")
            rest = ",".join(filter(None, (meant, rest)))
        if name in self._policies:
            return _policy_with(self._policies[name], _pairs(rest, spec))
        if named := named_code(spec):
            return self._made_of_code(named, spec)
        if cls := plugin(name):
            return self._own_made(cls, name, _pairs(rest, spec))
        raise ParameterError(f"no policy {quoted(name)}{self.near(name)}")

    def _made_of_code(self, named: Named, spec: str) -> Policy:
        cls = own_policy(named)
        return self._own_made(cls, named.head, _pairs(named.rest, spec))

    def _own_made(self, cls: type[Policy], shown: str, given: dict[str, str]) -> Policy:
        """Return a new policy object of the user-defined class, with the parameters `given` as text. Errors name the
        place in the user's code, with `shown` as the name of the file.
        """
        with blamed(getattr(sys.modules.get(cls.__module__), "__file__", None) or "", shown):
            made = _policy_with(cls, given)
            order = made.queue_order()
        if not isinstance(order, Order):
            hint = "order: Order = order_field(Fcfs())"
            raise OwnCodeError(f"its queue order is no Order but {order!r:.60}; write: {hint}", shown)
        self._own[cls.name] = cls
        return made


PAPERS = {
    "LS": "Lawson & Smirni 2002", "K": "Kettimuthu 2003", "ZKP": "Zotkin, Keleher & Perkovic 2000",
    "W": "Ward, Mahood & West 2002", "Z": "Zhang, Franke, Moreira & Sivasubramaniam 2000",
}  # fmt: skip
"""Authors and year of each paper that the policies cite by a short name"""


def cited(text: str) -> str:
    """Return the papers whose short names occur in the text, such as "K: Kettimuthu 2003", with semicolons between
    them; "" if none occurs.

    >>> cited("Lifka 1995, ZKP section 2, K section 2.1.2")
    'K: Kettimuthu 2003; ZKP: Zotkin, Keleher & Perkovic 2000'
    """
    words = set(re.findall(r"\w+", text))
    return "; ".join(f"{short}: {paper}" for short, paper in PAPERS.items() if short in words)


POLICIES = Registry()
"""All policies of this library; importing `sim.policies` fills it."""
parse_policy = POLICIES.parse


def policy(name: str, paper: str, **aliases: str) -> Callable[[type[P]], type[P]]:
    """Return a decorator that registers a policy class under `name`; `paper` names its source. Each alias is a short
    name for the policy with some parameters.
    """

    def register(cls: type[P]) -> type[P]:
        cls.name, cls.paper = name, paper
        if not cls.__module__.startswith(OWN):  # a file's policy is named by its file
            POLICIES.add(cls, aliases)
        return cls

    return register


def policy_of(policy: Policy | str) -> Policy:
    return parse_policy(policy) if isinstance(policy, str) else policy


def _pairs(text: str, spec: str) -> dict[str, str]:
    """Return a mapping from key to value for a text such as `a=1,b=2`; if a key is repeated, the last counts. Errors
    name the whole `spec`.
    """
    pairs = {}
    for part in filter(None, (p.strip() for p in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals or not key or not value:
            raise ParameterError(f"policy {quoted(spec)}: expected key=value, got {quoted(part)}")
        pairs[key] = value
    return pairs


def _policy_with(cls: type[Policy], given: dict[str, str]) -> Policy:
    return cls(**_arguments(cls, given))


def order_class(name: str) -> type[Order]:
    if name not in ORDERS and (named := named_code(name)):
        return own_order(named)
    if name not in ORDERS:
        raise ParameterError(f"no order {quoted(name)}{near(name, ORDERS)}")
    return ORDERS[name]


def _arguments(cls: type[Policy], given: dict[str, str]) -> dict[str, Any]:
    """Return the arguments for the parameters `given` as text; those of the order are combined into `order`."""
    own = parameters_of(cls)
    arguments: dict[str, Any] = {}
    of_order: dict[str, Parameter] = {}
    if default := default_order(cls):
        order = order_class(given["order"]) if "order" in given else type(default)
        of_order = parameters_of(order)
        chosen = {key: of_order[key].parse(given[key]) for key in given if key in of_order}
        arguments["order"] = replace(default if order is type(default) else order(), **chosen)
    for key, text in given.items():
        if key in own:
            arguments[key] = own[key].parse(text)
        elif key not in of_order and not (key == "order" and default):
            names = [*own, *of_order, *(["order"] if default else [])]
            raise ParameterError(f"{cls.name} has no parameter {quoted(key)}{near(key, names)}")
    return arguments
