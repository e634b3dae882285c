"""Icon and colour of each kind of decision, which are the same in all panels."""

from __future__ import annotations

from typing import NamedTuple

from sim.decisions import decisions as d
from sim.decisions import matrix as m
from tui.look.sheets import Span


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
