"""Base of the built-in reasons: plain classes that declare their fields once, as a compiler takes them."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Final

JOB: Final = "job"
JOBS: Final = "jobs"
MOMENT: Final = "moment"
SPAN: Final = "span"
WHOLE: Final = "whole"
NUMBER: Final = "number"
TEXT: Final = "text"
FLAG: Final = "flag"
UNTOLD: Final = ""
"""Label of a field that screens do not show among the numbers"""


class ReasonField:
    """Field of a reason: the kind of its values, its name, and the label with which screens show it. The label None
    stands for the name in words.
    """

    def __init__(self, kind: str, name: str, label: str | None = None) -> None:
        self.kind, self.name, self.label = kind, name, label


job = partial(ReasonField, JOB)
jobs = partial(ReasonField, JOBS)
moment = partial(ReasonField, MOMENT)
span = partial(ReasonField, SPAN)
whole = partial(ReasonField, WHOLE)
number = partial(ReasonField, NUMBER)
text = partial(ReasonField, TEXT, label=UNTOLD)
flag = partial(ReasonField, FLAG, label=UNTOLD)


class Because:
    """Reason with the numbers that decided. Its constructor takes the values of `fields` in their order."""

    fields: ClassVar[tuple[ReasonField, ...]] = ()

    def values(self) -> tuple[Any, ...]:
        """Return the values of the fields, in order."""
        return tuple([getattr(self, field.name) for field in self.fields])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Because) and type(self) is type(other) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash((type(self), self.values()))

    def __repr__(self) -> str:
        values = [f"{field.name}={getattr(self, field.name)!r}" for field in self.fields]
        return f"{type(self).__name__}({', '.join(values)})"

    def __reduce__(self) -> tuple[type[Because], tuple[Any, ...]]:
        return type(self), self.values()
