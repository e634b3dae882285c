"""Icon and colour of each kind of decision, which are the same in all panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from tui.look.sheets import Line, Span, line

INDENT = 2
"""Width in columns of the icon before a decision and the blank behind it."""
MOST_WRAPPED = 60
"""Largest number of decisions whose texts are wrapped; of more, only the visible ones are made, a line each."""


class Sign(NamedTuple):
    """Icon of a kind of decision, in Unicode and in ASCII, and the style in which it is drawn."""

    unicode: str
    ascii: str
    style: str


_OTHER = Sign("·", "-", "dim")
SIGNS: dict[type, Sign] = {
    d.Start: Sign("●", "*", "good"),
    d.Backfill: Sign("◐", "+", "good"),
    d.Reserve: Sign("◆", "#", "cool"),
    d.Expect: Sign("◇", "#", "cool"),
    d.Suspend: Sign("▮", "=", "warm"),
    d.Resume: Sign("▶", ">", "good"),
    d.Await: Sign("▯", "=", "warm"),
    d.Switched: Sign("⇆", "~", "accent"),
    d.Borrow: Sign("⇄", "%", "warm"),
    d.Divide: Sign("┃", "|", "cool"),
    d.Keep: Sign("○", "o", "dim"),
    m.Place: Sign("●", "*", "good"),
    m.Rehome: Sign("↕", "^", "cool"),
    m.Replicate: Sign("▒", "&", "cool"),
    m.Migrate: Sign("⇄", "%", "warm"),
    m.Stall: Sign("▮", "=", "warm"),
    m.TurnTo: Sign("◂", "<", "cool"),
    m.ReserveRow: Sign("◆", "#", "cool"),
}


def sign(decision: d.Decision, unicode: bool = True) -> Span:
    drawn = SIGNS.get(type(decision), _OTHER)
    if isinstance(decision, m.Place) and decision.passes:
        drawn = SIGNS[d.Backfill]
    return Span(drawn.unicode if unicode else drawn.ascii, drawn.style)


def rank_of(decision: d.Decision) -> int | None:
    job = d.job_of(decision)
    return None if job is None else job.rank


def with_sign(drawn: Span, lines: Sequence[Line]) -> list[Line]:
    """Return the lines, which are indented already, with the icon `drawn` in front of the first one."""
    first, *rest = lines
    return [line(drawn, Span(" "), *first.spans, rank=first.rank), *rest]
