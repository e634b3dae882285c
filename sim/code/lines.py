"""Record of the lines that a policy ran in one step: decisions, variables that were set, and failed comparisons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_NUMBER = re.compile(r"-?[0-9.]+(e[-+]?[0-9]+)?")


class CodePlace(NamedTuple):
    """Line of a function of the policy, in one particular call of that function."""

    call: int
    """Number of the function call within the pass; each call of a function has its own variables."""
    line: int


class Value(NamedTuple):
    """Variable, and the value that a line of the policy gave it."""

    when: int
    """Number of lines that had run before it was set; a variable may be set several times."""
    place: CodePlace
    name: str
    text: str


class Condition(NamedTuple):
    """Condition of an `if` or `while`, and the result when it was tested."""

    when: int
    place: CodePlace
    text: str
    """Text of the condition with numbers in place of names, such as "5 <= 2"; "" if the numbers are unknown."""
    is_true: bool
    ranks: frozenset[int]
    """Ranks of the jobs that the condition is about; empty if it is about none."""


@dataclass(frozen=True, slots=True)
class Function:
    """Source code of one function."""

    file: str
    name: str
    first: int
    """Number of the function's first line in its file."""
    lines: tuple[str, ...]
    """Lines of the function, without their common indentation."""
    folded: range = range(0)
    """Numbers of the docstring's lines after its first line; they need not be shown."""
    reads: Mapping[int, frozenset[str]] = field(default_factory=dict)
    """For each line number: names of the variables that are used in this line."""


class Made(NamedTuple):
    """Decision of a step, with the line of code (`place`) that made it."""

    when: int
    place: CodePlace
    chain: tuple[CodePlace, ...] = ()
    """Chain of calls to the function that made the decision: the line of each call, the outermost first."""


@dataclass(frozen=True, slots=True)
class Focus:
    """Function to show: the line that made a decision, and values and conditions of its other lines."""

    function: Function
    line: int | None
    """Number of the line that made the decision; None if no decision is selected or no line made it."""
    values: Mapping[int, Sequence[tuple[str, str]]]
    """For each line number: (name, value as text) of the variables set there and used by the decision or condition."""
    conditions: Mapping[int, Condition]
    """Condition in each line with its last result, without conditions about other jobs than the selected one."""
    callers: tuple[tuple[Function, int], ...] = ()
    """(function, line with the call) from the outermost on, for the calls that lead to the shown function."""


@dataclass(frozen=True, slots=True)
class PassCode:
    """Lines that a policy ran in one step, with values and conditions."""

    functions: tuple[Function, ...] = ()
    calls: tuple[int, ...] = ()
    """For each call of a function in the pass: index in `functions` of the called function."""
    made: tuple[Made | None, ...] = ()
    """For each decision of the step: line that made it; None for a switch of policies by the user and the like."""
    values: tuple[Value, ...] = ()
    conditions: tuple[Condition, ...] = ()
    is_cut: bool = False
    """True if the pass ran more lines than are recorded."""

    def focus(self, decision: int | None, rank: int | None) -> Focus | None:
        """Return the code of a decision of the step, else of the last condition about `rank`, or None."""
        if decision is not None and decision < len(self.made) and (made := self.made[decision]) is not None:
            return self._focus_on(made.place, made.when, rank, made.place.line, made.chain)
        about = [each for each in self.conditions if rank in each.ranks]
        return self._focus_on(about[-1].place, about[-1].when, rank, None, ()) if about else None

    def deciding_lines(self) -> frozenset[int]:
        """Return the lines of the policy's file that made a decision, or called a function that made one."""
        made = [each for each in self.made if each is not None]
        places = {place for each in made for place in (*each.chain, each.place)}
        own = {self.functions[self.calls[(*each.chain, each.place)[0].call]].file for each in made}
        return frozenset(place.line for place in places if self.functions[self.calls[place.call]].file in own)

    def numbers_of(self, name: str) -> tuple[float, ...]:
        texts = (value.text for value in self.values if value.name == name)
        return tuple(float(text) for text in texts if _NUMBER.fullmatch(text))

    def _focus_on(
        self, place: CodePlace, until: int, rank: int | None, line: int | None, chain: tuple[CodePlace, ...]
    ) -> Focus:
        function = self.functions[self.calls[place.call]]
        conditions = {
            each.place.line: each
            for each in self.conditions
            if each.place.call == place.call and each.when <= until and (not each.ranks or rank in each.ranks)
        }
        used = frozenset[str]().union(*(function.reads.get(at, frozenset()) for at in (place.line, *conditions)))
        values: dict[str, tuple[int, str]] = {}
        for value in self.values:
            if value.place.call == place.call and value.when <= until and value.name in used:
                values[value.name] = value.place.line, value.text
        by_line: dict[int, list[tuple[str, str]]] = {}
        for name, (at, text) in values.items():
            by_line.setdefault(at, []).append((name, text))
        callers = tuple((self.functions[self.calls[caller.call]], caller.line) for caller in chain)
        return Focus(function, line, by_line, conditions, callers)
