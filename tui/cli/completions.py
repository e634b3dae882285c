"""Candidates that a shell offers to complete a word, found without reading files or loading user's code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from sim.annexes import annexed
from sim.policies import POLICIES
from sim.policies.orders import ORDERS
from sim.policies.own.naming import origin, plugins
from sim.policies.parameters import Parameter, parameters_of, summary
from sim.policies.policy import Policy, default_order

if TYPE_CHECKING:
    from typing import TypeAlias

    Item: TypeAlias = CompletionItem[str]
else:
    Item = CompletionItem  # not generic before click 8.2


def candidates(parameter: click.Parameter, typed: str) -> list[Item]:
    """Return the candidates that begin as `typed`; the placeholder in the help (such as SPEC) sets their kind."""
    meta = (parameter.metavar or getattr(parameter.type, "name", "") or parameter.name or "").strip("[].")
    if parameter.name in ("trace", "traces"):
        meta = "TRACE"
    of = next((of for word, of in _BY_WORD.items() if word in meta.upper()), None)
    if of is None:
        return []
    return list(of(typed))


def _files(typed: str) -> Iterator[Item]:
    yield CompletionItem(typed, type="file")


def _folders(typed: str) -> Iterator[Item]:
    yield CompletionItem(typed, type="dir")


def traces(typed: str) -> Iterator[Item]:
    from sim.workload.samples import captions

    yield from _beginning(typed, captions())
    yield from _files(typed)


def _lessons(typed: str) -> Iterator[Item]:
    yield from _beginning(typed, ((name, "") for name in annexed("names of lessons")))
    yield from _files(typed)


def _metrics(typed: str) -> Iterator[Item]:
    from sim.metrics.catalogue import MEASURED

    yield from _beginning(typed, ((metric.name, metric.meaning) for metric in MEASURED))


def _specs(typed: str) -> Iterator[Item]:
    """Yield candidates for a spec: names of policies; after a name, parameters; after a parameter, values."""
    front, equals, switched = typed.partition("=")
    if equals and ":" not in front and front not in POLICIES:  # T=SPEC of --switch
        for item in _specs(switched):
            yield CompletionItem(f"{front}={item.value}", type=item.type, help=item.help)
        return
    name, colon, rest = typed.partition(":")
    if not colon:
        yield from _policies(typed)
        return
    aliased = POLICIES.aliases.get(name, name).partition(":")[0]
    if aliased not in list(POLICIES):  # code of the user's own: what its parameters are would take loading it
        return
    given, comma, last = rest.rpartition(",")
    key, equals, _ = last.partition("=")
    before = f"{name}:{given}{comma}"
    parameters = _parameters(POLICIES[aliased])
    if equals and key in parameters:
        yield from _beginning(typed, ((f"{before}{key}={value}", "") for value in _values(parameters[key])))
        return
    taken = {part.partition("=")[0] for part in given.split(",")}
    left = ((f"{before}{name}=", each.meaning) for name, each in parameters.items() if name not in taken)
    yield from _beginning(typed, left)


def _policies(typed: str) -> Iterator[Item]:
    if typed[:1] in (".", "/", "~"):
        yield from _files(typed)
        return
    ours = ((name, summary(cls)) for name, cls in POLICIES.items())
    short = ((name, f"stands for {spec}") for name, spec in POLICIES.aliases.items())
    others = ((name, f"of {origin(name)}") for name in sorted(plugins()))
    yield from _beginning(typed, chain(ours, short, others))


def _parameters(cls: type[Policy]) -> dict[str, Parameter]:
    parameters = parameters_of(cls)
    if (order := default_order(cls)) is not None:
        parameters["order"] = Parameter("order", str, order.name, "order of the queue", choices=tuple(ORDERS))
    return parameters


def _values(parameter: Parameter) -> Iterable[str]:
    return ("yes", "no") if parameter.kind is bool else parameter.choices


def _beginning(typed: str, named: Iterable[tuple[str, str]]) -> Iterator[Item]:
    return (CompletionItem(name, help=meaning or None) for name, meaning in named if name.startswith(typed))


_BY_WORD: dict[str, Callable[[str], Iterator[Item]]] = {
    "SPEC": _specs,
    "LESSON": _lessons,
    "NAME|FILE": _lessons,
    "TRACE": traces,
    "METRIC": _metrics,
    "WORD": _metrics,
    "FOLDER": _folders,
    "FILE": _files,
    "FIGURE": _files,
    "SESSION": _files,
}
"""Function for each word in placeholders; for one with several words, the first in this mapping counts."""
