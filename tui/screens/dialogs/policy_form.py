"""Form for choosing a policy, as a plain value: the name of a policy, and the typed text for each parameter."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple

from sim.policies import POLICIES, Policy, parse_policy, written_policy
from sim.policies.orders import ORDERS, Order
from sim.policies.own.consent import is_refused
from sim.policies.own.naming import named_code, origin, plugins
from sim.policies.parameters import Parameter, as_typed, parameters_of, summary
from sim.policies.policy import default_order
from sim.policies.registry import order_class
from sim.support.errors import ParameterError
from sim.support.formatting import quoted
from tui.screens.dialogs.trace_choices import folder_of, is_path


class Field(NamedTuple):
    parameter: Parameter
    text: str
    error: str | None
    meaning: str

    @property
    def default(self) -> str:
        return as_typed(self.parameter.default)

    @property
    def changed(self) -> bool:
        if self.error:
            return True
        return bool(self.text) and self.parameter.parse(self.text) != self.parameter.default


@dataclass(frozen=True)
class Form:
    """Form for a policy; an empty or missing text in `texts` stands for a parameter's default."""

    policy: str
    texts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_spec(cls, spec: str) -> Form:
        return cls.of(parse_policy(spec))

    @classmethod
    def of(cls, policy: Policy) -> Form:
        holders: list[Policy | Order] = [policy]
        texts = {}
        if (default := default_order(type(policy))) is not None:
            holders.append(policy.queue_order())
            texts["order"] = policy.queue_order().name if policy.queue_order().name != default.name else ""
        for holder in holders:
            for name, parameter in parameters_of(type(holder)).items():
                value = getattr(holder, name)
                texts[name] = as_typed(value) if value != parameter.default else ""
        return cls(policy.name, {name: text for name, text in texts.items() if text})

    def with_text(self, name: str, text: str) -> Form:
        return Form(self.policy, {**self.texts, name: text.strip()})

    @property
    def spec(self) -> str:
        """Return the shortest spec of the policy or, if a text is invalid, a spec with the typed texts."""
        try:
            return written_policy(parse_policy(self._spec_typed))
        except ParameterError:
            return self._spec_typed

    @property
    def _spec_typed(self) -> str:
        given = [f"{name}={self.texts[name]}" for name in self._parameters() if self.texts.get(name)]
        return self.policy + (":" + ",".join(given) if given else "")

    @property
    def fields(self) -> tuple[Field, ...]:
        whole = error_of(self._spec_typed)
        return tuple(self._field(parameter, whole) for parameter in self._parameters().values())

    def _field(self, parameter: Parameter, whole: str | None) -> Field:
        text = self.texts.get(parameter.name, "")
        error = _error(parameter, text) if text else None
        if text and not error and whole and whole.startswith(f"{parameter.name}="):
            error = _without_prefix(whole, parameter, text)  # what only the policy itself can tell
        meaning = parameter.meaning
        if parameter.name == "order" and not error:
            meaning += ": " + _lowered(summary(self._orders[text or parameter.default]))
        return Field(parameter, text, error, meaning)

    @property
    def error(self) -> str | None:
        return next((field.error for field in self.fields if field.error), None) or error_of(self._spec_typed)

    @property
    def _orders(self) -> Mapping[str, type[Order]]:
        """Return the orders to choose from: built-in ones, the policy's default, and a typed one of the user."""
        default, typed = default_order(POLICIES[self.policy]), self.texts.get("order", "")
        own = {default.name: type(default)} if default is not None else {}
        with suppress(ParameterError):
            own |= {typed: order_class(typed)} if typed else {}
        return ORDERS | own

    def _parameters(self) -> dict[str, Parameter]:
        cls = POLICIES[self.policy]
        parameters = parameters_of(cls)
        if (default := default_order(cls)) is not None:
            orders = self._orders
            parameters["order"] = Parameter("order", str, default.name, "order of the queue", choices=tuple(orders))
            order = orders.get(self.texts.get("order") or default.name)
            parameters |= parameters_of(order) if order else {}
        return parameters


def _error(parameter: Parameter, text: str) -> str | None:
    try:
        parameter.parse(text)
    except ParameterError as error:
        return _without_prefix(str(error), parameter, text)
    return None


def _without_prefix(message: str, parameter: Parameter, text: str) -> str:
    return message.removeprefix(f"{parameter.name}={text}: ")


def error_of(spec: str) -> str | None:
    """Return what is wrong with a spec; None if it is valid."""
    try:
        parse_policy(spec)
    except ParameterError as error:
        return str(error)
    return None


# The list


class PolicyEntry(NamedTuple):
    """Entry of the list: a policy or short name, which fills the form with `spec`, a file, folder or package, or the
    heading of a family."""

    spec: str
    title: str
    what: str
    source: str
    kind: Literal["policy", "file", "folder", "files", "package", "family"] = "policy"

    @property
    def policy(self) -> str:
        """Return the name of the entry's policy; of a file, a folder or a package, its spec."""
        return self.spec.partition(":")[0] if self.title in (*POLICIES, *POLICIES.aliases) else self.spec


FAMILIES = {
    "backfill": "one queue",
    "multiqueue": "partitions",
    "preempt": "suspension",
    "gang": "gang scheduling",
    "switching": "a policy of policies",
}
"""For each folder of policies, in the order of the list: the heading of its family"""
OTHERS = "others"
OPEN = PolicyEntry(os.path.join(os.curdir, ""), "open a file ...", "A policy of your own: ./fair.py", "", "files")


def listed(typed: str, own: Iterable[str] = ()) -> list[PolicyEntry]:
    """Return the files that match a typed path, otherwise policies and files; `own` are user's policies."""
    if is_refused():
        return entries(typed)
    if is_path(typed):
        return _files(typed)
    wanted, own = typed.strip().lower(), list(own)
    theirs = [PolicyEntry(name, name, summary(POLICIES[name]), "") for name in own if wanted in name.lower()]
    here = _files(typed.strip()) if typed.strip() else []
    return [
        *theirs,
        *(entries(typed) if wanted else _by_family()),
        *(entry for entry in _of_packages(own) if wanted in entry.title.lower()),
        *(entry for entry in here if entry.kind == "file"),
        *([] if typed.strip() else [OPEN]),
    ]


def _by_family() -> Iterator[PolicyEntry]:
    for family, policies in groupby(_all_entries(with_aliases=False), lambda each: _family(each.policy)):
        yield PolicyEntry("", family, "", "", "family")
        yield from policies


def _family(policy: str) -> str:
    """Return the heading of a policy's family, which is its folder."""
    return FAMILIES.get(POLICIES[policy].__module__.rpartition(".")[0].rpartition(".")[2], OTHERS)


def _of_packages(read: Iterable[str]) -> Iterator[PolicyEntry]:
    """Yield packages' policies without built-in and loaded names; only names are known, code is not run."""
    known = {*POLICIES.names, *read}
    for name in sorted(plugins()):
        if name not in known:
            yield PolicyEntry(name, name, f"Of {origin(name)}.", origin(name), "package")


def _files(typed: str) -> list[PolicyEntry]:
    named = named_code(typed)
    choices = folder_of(named.source if named and named.is_file else typed, ".py").choices
    kinds: dict[str, Literal["file", "folder"]] = {"folder": "folder"}
    return [PolicyEntry(each.value, each.title, each.what, "", kinds.get(each.kind, "file")) for each in choices]


def entries(typed: str) -> list[PolicyEntry]:
    """Return entries for policies and short names that match all typed words, the best match first."""
    wanted = typed.lower().split()
    found = list(_all_entries(with_aliases=bool(wanted)))
    matching = [entry for entry in found if all(_holds(entry, word) for word in wanted)]
    return sorted(matching, key=lambda entry: _distance(entry, wanted))


def did_you_mean(typed: str) -> str:
    return f"no policy {quoted(typed.strip())}{POLICIES.near(typed.strip())}"


def _all_entries(with_aliases: bool) -> Iterator[PolicyEntry]:
    families = [*FAMILIES.values(), OTHERS]
    names = (name for name in POLICIES.names if name not in POLICIES.aliases)
    for name in sorted(names, key=lambda name: families.index(_family(name))):
        yield PolicyEntry(name, name, summary(POLICIES[name]), POLICIES[name].paper)
    if with_aliases:
        for alias, spec in POLICIES.aliases.items():
            yield PolicyEntry(spec, alias, f"Short for {spec}.", POLICIES[spec.partition(":")[0]].paper)


def _holds(entry: PolicyEntry, word: str) -> bool:
    """Return True if the entry's name contains the word, or a word of its description begins with it."""
    said = f"{entry.what} {entry.source} {' '.join(short_names(entry.title))}".lower()
    return word in entry.title or any(each.startswith(word) for each in re.findall(r"[\w.]+", said))


def _distance(entry: PolicyEntry, wanted: list[str]) -> int:
    """Return 0 if the first word is the entry's name, 1 if its beginning, 2 if a part of it, else 3."""
    if not wanted or entry.title == wanted[0]:
        return 0
    if entry.title.startswith(wanted[0]):
        return 1
    return 2 if wanted[0] in entry.title else 3


# Words


def short_names(policy: str) -> list[str]:
    """Return the short names, such as `lsbf`, that stand for this policy with certain parameters."""
    return list(POLICIES.aliases_of(policy))


def _lowered(sentence: str) -> str:
    """Return the sentence to follow a colon; a first word such as `EASY` or `W's` stays as it is."""
    second = sentence[1:2]
    return sentence[:1].lower() + sentence[1:] if second.islower() or second == " " else sentence
