"""Conditions combined by and, or and not: when the combination holds after a step, and when a step meets it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from sim.stops.conditions import Condition

Reading: TypeAlias = tuple[object, ...]
"""Values read after one step: one for each single condition of which a stop condition consists."""


@dataclass(frozen=True)
class One:
    """Single condition, as the smallest combination."""

    condition: Condition
    place: int
    """Index of the condition's value in a reading (the values after one step)."""

    @property
    def text(self) -> str:
        return self.condition.text

    @property
    def hint(self) -> str:
        return self.condition.hint

    def holds(self, before: Reading | None, after: Reading) -> bool:
        return self.condition.holds(None if before is None else before[self.place], after[self.place])

    def fires(self, before: Reading | None, after: Reading) -> bool:
        return self.holds(before, after) and (self.condition.is_event or before is None or not self.holds(None, before))


@dataclass(frozen=True)
class Not:
    """Negated condition: it holds when `part` does not, and a step meets it when `part` ceases to hold."""

    part: Node

    @property
    def text(self) -> str:
        return f"not {_bracketed(self.part)}"

    @property
    def hint(self) -> str:
        return f"not: {self.part.hint}"

    def holds(self, before: Reading | None, after: Reading) -> bool:
        return not self.part.holds(before, after)

    def fires(self, before: Reading | None, after: Reading) -> bool:
        return self.holds(before, after) and (before is None or not self.holds(None, before))


@dataclass(frozen=True)
class AllOf:
    """Conditions that must all hold; a step meets it when it meets one and all hold after it."""

    parts: tuple[Node, ...]

    @property
    def text(self) -> str:
        return " and ".join(map(_bracketed, self.parts))

    @property
    def hint(self) -> str:
        return ", and ".join(part.hint for part in self.parts)

    def holds(self, before: Reading | None, after: Reading) -> bool:
        return all(part.holds(before, after) for part in self.parts)

    def fires(self, before: Reading | None, after: Reading) -> bool:
        return self.holds(before, after) and any(part.fires(before, after) for part in self.parts)


@dataclass(frozen=True)
class AnyOf:
    """Conditions of which one must hold; a step meets it when it meets one, even if another held before."""

    parts: tuple[Node, ...]

    @property
    def text(self) -> str:
        return " or ".join(part.text for part in self.parts)

    @property
    def hint(self) -> str:
        return "; or ".join(part.hint for part in self.parts)

    def holds(self, before: Reading | None, after: Reading) -> bool:
        return any(part.holds(before, after) for part in self.parts)

    def fires(self, before: Reading | None, after: Reading) -> bool:
        return any(part.fires(before, after) for part in self.parts)


Node: TypeAlias = One | Not | AllOf | AnyOf


def _bracketed(part: Node) -> str:
    return f"({part.text})" if isinstance(part, AllOf | AnyOf) else part.text
