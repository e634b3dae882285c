"""Ranges in typed values: `{1,2,5}`, `{1..5}` and `{0.8..1.4..0.1}` each stand for several values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from itertools import product
from math import prod

from sim.support.errors import ParameterError
from sim.support.formatting import quoted

MOST = 100_000
"""Largest number of values that one text with ranges may stand for; also the largest number of runs of a plan."""
_NUMBER = r"-?\d{1,15}(?:\.\d{1,15})?"
_SPAN = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?", re.ASCII)


def expand(text: str) -> list[str]:
    """Return all texts that `text`, which may have ranges, stands for. The values of the last range vary fastest.

    >>> expand("relaxed:omega={0,1,inf}"), expand("{0.8..1.2..0.2}"), expand("{3..1}")
    (['relaxed:omega=0', 'relaxed:omega=1', 'relaxed:omega=inf'], ['0.8', '1.0', '1.2'], ['3', '2', '1'])
    """
    pieces = re.split(r"\{([^{}]*)\}", text)
    if any("{" in piece or "}" in piece for piece in pieces):
        raise ParameterError(
            f"{quoted(text)}: a range is like {{1,2,5}}, {{1..5}} or {{0.8..1.4..0.1}}, none in another"
        )
    ranges = [_Values(inner, text) for inner in pieces[1::2]]
    if (many := prod(values.count for values in ranges)) > MOST:
        raise ParameterError(f"{quoted(text)} stands for {many:,} values; at most {MOST:,} are taken")
    return ["".join(_laid(pieces[::2], chosen)) for chosen in product(*ranges)]


def _laid(between: list[str], chosen: tuple[str, ...]) -> Iterator[str]:
    yield between[0]
    for value, after in zip(chosen, between[1:], strict=True):
        yield value
        yield after


class _Values:
    """Values of one range (the text between braces), counted before they are listed to refuse a huge one early."""

    def __init__(self, inner: str, text: str) -> None:
        self._parts = [part.strip() for part in inner.split(",")]
        self._spans = [_SPAN.fullmatch(part) for part in self._parts]
        for part, span in zip(self._parts, self._spans, strict=True):
            if not part or (".." in part and span is None):
                raise ParameterError(
                    f"{quoted(text)}: {quoted(part)} is no value and no range like 1..5 or 0.8..1.4..0.1"
                )
        self.count = sum(1 if span is None else _steps(span, text) for span in self._spans)

    def __iter__(self) -> Iterator[str]:
        for part, span in zip(self._parts, self._spans, strict=True):
            if span is None:
                yield part
            else:
                first, _, step = _numbers(span)
                yield from (f"{first + step * at:f}" for at in range(_steps(span, part)))


def _numbers(span: re.Match[str]) -> tuple[Decimal, Decimal, Decimal]:
    first, last = Decimal(span[1]), Decimal(span[2])
    step = abs(Decimal(span[3] or 1))
    return first, last, step if last >= first else -step


def _steps(span: re.Match[str], text: str) -> int:
    first, last, step = _numbers(span)
    if not step:
        raise ParameterError(f"{quoted(text)}: a range in steps of 0 has no end")
    return int((last - first) / step) + 1
