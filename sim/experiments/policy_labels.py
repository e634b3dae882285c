"""Names of the policies of a sweep that tell points of one series apart by their values, defaults included."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

_PAIRS = re.compile(r":(?=\w+=)")


class _Spec(NamedTuple):
    """Spec of a policy, split into the policy's name and the text of each parameter that the spec contains."""

    name: str
    pairs: dict[str, str]

    @classmethod
    def of(cls, text: str) -> _Spec:
        name, *rest = _PAIRS.split(text, maxsplit=1)
        pairs = (pair.partition("=") for pair in rest[0].split(",")) if rest else ()
        return cls(name, {key: value for key, _, value in pairs})

    @property
    def text(self) -> str:
        pairs = ",".join(f"{key}={value}" for key, value in self.pairs.items())
        return f"{self.name}:{pairs}" if pairs else self.name


def policy_labels(specs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return spec -> label for pairs (spec without defaults, spec with all parameters).

    If one policy occurs with several values of a parameter that is a number, every label has this parameter, also where
    its value is the default.

    >>> policy_labels([("relaxed", "relaxed:omega=2"), ("relaxed:omega=0", "relaxed:omega=0")])
    {'relaxed': 'relaxed:omega=2', 'relaxed:omega=0': 'relaxed:omega=0'}
    """
    known = {short: (_Spec.of(short), _Spec.of(full).pairs) for short, full in specs}
    varied: dict[str, set[str]] = {}
    for spec, full in known.values():
        varied.setdefault(spec.name, set()).update(key for key in spec.pairs if _is_number(full.get(key)))
    return {
        short: _Spec(spec.name, spec.pairs | {k: v for k, v in full.items() if k in varied[spec.name]}).text
        for short, (spec, full) in known.items()
    }


def _is_number(text: str | None) -> bool:
    try:
        return text is not None and float(text) == float(text)
    except ValueError:
        return False
