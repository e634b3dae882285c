"""Parameters of policies and orders: dataclass fields with a range and a meaning, and texts from docstrings.

The command line, the dialogs and the documentation all read them from here, so each is stated once.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from dataclasses import dataclass
from math import isfinite
from typing import Any

from sim.support.errors import ParameterError, near
from sim.support.formatting import LATEST, parse_time, shortened

NO_GREATER = f"no number is beyond {LATEST:,.0f}"


@dataclass(frozen=True)
class Parameter:
    """Parameter of a policy or an order, as shown to the user."""

    name: str
    kind: type
    default: Any
    meaning: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    is_time: bool = False
    """True for a duration, for which a user may type 7d or 2h"""

    @property
    def range(self) -> str:
        """Return the allowed values as text.

        >>> Parameter("depth", int, 1, "", low=1).range
        'whole number >= 1'
        """
        if self.choices:
            return " | ".join(self.choices)
        if self.kind is bool:
            return "yes | no"
        noun = "time" if self.is_time else {int: "whole number", float: "number", str: "text"}[self.kind]
        if self.low is not None and self.high is not None:
            return f"{noun} from {self.low:g} to {self.high:g}"
        if self.low is not None:
            return f"{noun} >= {self.low:g}"
        return f"{noun} <= {self.high:g}" if self.high is not None else noun

    def parse(self, text: str) -> Any:
        """Return the value that a typed text stands for. Raise an error that names the allowed values."""
        value = self._converted(text)
        if value is None or not self._allowed(value):
            hint = near(text, self.choices) if self.choices else ""
            raise ParameterError(f"{self.name}={shortened(text)}: expected {self.range}{hint}")
        if isinstance(value, float | int) and LATEST < abs(value) != self.high:
            raise ParameterError(f"{self.name}={shortened(text)}: {NO_GREATER}")
        return value

    def _converted(self, text: str) -> Any:
        if self.kind is bool:
            return {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}.get(text)
        try:
            return parse_time(text) if self.is_time else self.kind(text)
        except (ValueError, ParameterError):
            return None

    def _allowed(self, value: Any) -> bool:
        if self.choices:
            return value in self.choices
        if isinstance(value, float) and not (isfinite(value) or value == self.high):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)


def parameter(
    default: Any,
    meaning: str,
    *,
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
    is_time: bool = False,
) -> Any:
    """Return a dataclass field that is a parameter of a policy or an order; `is_time` marks a duration."""
    about = {"meaning": meaning, "low": low, "high": high, "choices": choices, "is_time": is_time}
    return dataclasses.field(default=default, metadata=about)


_KNOWN: dict[type, dict[str, Parameter]] = {}


def parameters_of(cls: type) -> dict[str, Parameter]:
    """Return a mapping from field name to parameter, for the fields that a dataclass declares with `parameter`."""
    if cls not in _KNOWN:
        _KNOWN[cls] = _declared(cls)
    return _KNOWN[cls].copy()


def _declared(cls: type) -> dict[str, Parameter]:
    hints = typing.get_type_hints(cls)
    return {
        field.name: Parameter(field.name, _type_of_values(hints[field.name]), field.default, **field.metadata)
        for field in dataclasses.fields(cls)
        if "meaning" in field.metadata
    }


def _type_of_values(hint: Any) -> type:
    if typing.get_origin(hint) is typing.Literal:
        return str
    if isinstance(hint, types.UnionType):
        hint = next(part for part in typing.get_args(hint) if part is not type(None))
    return typing.cast(type, hint)


def as_typed(value: Any) -> str:
    """Return a value as a user would type it.

    >>> as_typed(2.0), as_typed(True)
    ('2', 'yes')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def summary(cls: type) -> str:
    return paragraphs(cls)[0]


def paragraphs(cls: type) -> list[str]:
    """Return the paragraphs of a class's docstring, one line each, without the marks around names of parameters."""
    return [" ".join(part.split()).replace("`", "") for part in (inspect.getdoc(cls) or "").split("\n\n")]
