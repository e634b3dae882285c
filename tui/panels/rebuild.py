"""Phases of the last rebuild of the matrix: a label for each phase, and the decisions of the selected phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import Clean, DropRows, Migrate, OpenRow, Phase, Place, Rehome, Replicate, ReserveRow, Stall
from sim.decisions.sentences import say
from tui.look import text
from tui.look.sheets import Line, Span, line
from tui.panels.context import Context, window, worded
from tui.panels.decision_icons import INDENT, MOST_WRAPPED, rank_of, sign, with_sign

COUNTED: dict[type, str] = {
    Place: "placed", Rehome: "moved", Migrate: "migrated", Stall: "stalled", Replicate: "replicated",
    ReserveRow: "planned", Keep: "kept waiting",
}  # fmt: skip
QUIET = (Clean, DropRows, OpenRow, Replicate)
"""Kinds of decisions that are left out of the list of all phases: the matrix shows their result."""


class Done(NamedTuple):
    name: str
    decisions: tuple[Decision, ...]

    @property
    def counts(self) -> str:
        """Return text on how many decisions of each kind in `COUNTED` the phase has; "" if none."""
        many = {word: sum(isinstance(d, kind) for d in self.decisions) for kind, word in COUNTED.items()}
        return ", ".join(f"{count:,} {word}" for word, count in many.items() if count)


def phases(rebuild: Sequence[Decision]) -> list[Done]:
    starts = [place for place, decision in enumerate(rebuild) if isinstance(decision, Phase)]
    done = []
    for start, end in pairwise([*starts, len(rebuild)]):
        opening = rebuild[start]
        assert isinstance(opening, Phase)
        done.append(Done(opening.name, tuple(rebuild[start + 1 : end])))
    return done


LABEL = "last rebuild:"


def chips(context: Context, width: int, rows: int) -> list[Line]:
    """Return clickable phase names in `rows` lines: the label goes first, then counts, then far phases."""
    ways = [(label, is_counted) for is_counted in (True, False) for label in (LABEL, "")]
    wrapped = (_wrapped_chips(context, width, label, counted=is_counted) for label, is_counted in ways)
    made = next((lines for lines in wrapped if len(lines) <= rows), _wrapped_chips(context, width, "", counted=False))
    chosen = f"select_phase({context.phase})"
    at = next((place for place, row in enumerate(made) if any(span.action == chosen for span in row.spans)), 0)
    first = max(min(at, len(made) - rows), 0)
    return made[first : first + rows]


def _wrapped_chips(context: Context, width: int, label: str, counted: bool) -> list[Line]:
    rows: list[list[Span]] = [[Span(label, "dim")] if label else []]
    room = width - text.cells(label)
    for place, done in enumerate(phases(context.scene.snapshot.rebuild)):
        spans = _chip(context, place, done, width, counted)
        taken = sum(text.cells(part.text) for part in spans)
        if rows[-1] and taken > room:
            rows.append([])
            room = width
        rows[-1] += spans
        room -= taken
    return [line(*row) for row in rows if row]


def _chip(context: Context, place: int, done: Done, width: int, counted: bool) -> list[Span]:
    is_chosen, action = place == context.phase, f"select_phase({place})"
    mark = ("▸" if context.unicode else ">") if is_chosen else " "
    counts = f" {text.shorten(done.counts, width - text.cells(done.name) - 3)}" if done.counts and counted else ""
    name = "accent" if is_chosen else "" if done.counts else "dim"
    return [Span(mark, "accent", action), Span(done.name, name, action), Span(f"{counts} ", "dim", action)]


class Told(NamedTuple):
    """Visible part of a list. `mark` is the index of the first line about the selected job, or None."""

    body: tuple[Line, ...]
    first: int
    total: int
    mark: int | None


def told_phase(context: Context, width: int, rows: int, first: int) -> Told:
    """Return the selected phase's decisions; else decisions that neither matrix nor decisions panel show."""
    chosen = list(_chosen(context))
    if len(chosen) > MOST_WRAPPED:
        seen = window(len(chosen), first, rows)
        body = [_lines(context, chosen[at], width)[0] for at in seen]
        return Told(tuple(body), seen.start, len(chosen), _first_about(context.selected, map(rank_of, chosen)))
    lines = [told for decision in chosen for told in _lines(context, decision, width)]
    if not lines and context.phase is not None:
        lines = [line(Span("No changes in this phase.", "dim"))]
    return Told(tuple(lines), 0, len(lines), _first_about(context.selected, (told.rank for told in lines)))


def _first_about(selected: int | None, ranks: Iterable[int | None]) -> int | None:
    return next((place for place, rank in enumerate(ranks) if rank is not None and rank == selected), None)


def _lines(context: Context, decision: Decision, width: int) -> list[Line]:
    told = worded(say(decision, context.at), context, width - INDENT, hang=INDENT, rank=rank_of(decision))
    return with_sign(sign(decision, context.unicode), told)


def _chosen(context: Context) -> Iterator[Decision]:
    shown = context.scene.snapshot
    is_said = "decisions" in context.visible and any(isinstance(decision, Phase) for decision in shown.decisions)
    for place, done in enumerate(phases(shown.rebuild)):
        if context.phase is None and not is_said:
            yield from (decision for decision in done.decisions if not isinstance(decision, QUIET))
        elif context.phase == place:
            yield from done.decisions
