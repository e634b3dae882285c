"""Panel with the Ousterhout matrix: jobs in rows and columns, the active row, and the phases of the last rebuild."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple, TypeAlias

from sim.decisions.decisions import Decision, Keep
from sim.decisions.matrix import Clean, DropRows, Migrate, OpenRow, Phase, Place, Rehome, Replicate, ReserveRow, Stall
from sim.decisions.sentences import say
from sim.engine.snapshot import Snapshot
from sim.machine.ousterhout_matrix import Cell
from sim.support.formatting import count, name, printable, span
from tui.chart.lanes import OnTurn, turn_at
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import Context, taught, window, worded
from tui.panels.decision_icons import INDENT, MOST_WRAPPED, rank_of, sign, with_sign
from tui.panels.folding import Fold, drawn_columns, fold

TITLE = "Matrix"
Row: TypeAlias = tuple[int, tuple[Cell, ...]]
LEAST_TOLD = 1
"""Smallest number of lines that are kept free for the decisions of a rebuild, if it has any."""
BELOW = 11
"""Number of lines that must remain for each row of the matrix to have two lines."""


def draw_matrix(context: Context, size: Size, first: int = 0) -> Sheet:
    """Return the matrix, the phases of its last rebuild, and decisions of the selected phase from line `first`."""
    shown = context.scene.snapshot
    if shown.matrix is None:
        return taught(TITLE, context, size, *_no_matrix(shown))
    if not shown.matrix.rows:
        return taught(TITLE, context, size, "The matrix is empty: no job has a place in a row.")
    width, height = size
    on_turn = turn_at(shown, context.scene.clock)
    rows = list(_rows(context, width, height, on_turn.row))
    phases = chips(context, width, height - len(rows) - LEAST_TOLD) if height - len(rows) > LEAST_TOLD else []
    head = (*rows, *phases)
    told = told_phase(context, width, height - len(head), first)
    wants = len(shown.matrix.rows) + 1 + len(chips(context, width, height)) + told.total
    return Sheet(TITLE, head, told.body, told.first, told.total, _note(context, on_turn), told.mark, wants=wants)


def _no_matrix(shown: Snapshot) -> tuple[str, ...]:
    policy = shown.policy.partition(":")[0]
    return (
        f"No matrix: {policy} does not time-share processors.",
        "Gang scheduling (gang, gang-backfill, gang-migrate, gang-migrate-backfill) puts jobs into rows that take "
        "turns on all processors; the rows appear here.",
    )


# Turns


def _note(context: Context, on_turn: OnTurn) -> str:
    sign = "◂" if context.unicode else "<"
    if on_turn.row is None:
        return ""
    if on_turn.end is None:
        return "one row, no turns"
    left = on_turn.end - context.scene.clock
    return f"row {on_turn.row} {sign} {span(left)} of {span(on_turn.slice)} left"


# Rows


def _chosen(rows: Sequence[Row], on_turn: int | None, selected: int | None, count: int) -> Sequence[Row]:
    """Return `count` rows in order: the active one first, then the selected job's (home first), then near ones."""
    turn = next((index for index, (row, _) in enumerate(rows) if row == on_turn), 0)

    def weight(index: int) -> tuple[int, int]:
        own = [cell.is_home for cell in rows[index][1] if cell.rank == selected]
        return (0 if index == turn else 1 if any(own) else 2 if own else 3), abs(index - turn)

    return [rows[index] for index in sorted(sorted(range(len(rows)), key=weight)[: max(count, 1)])]


def _rows(context: Context, width: int, height: int, on_turn: int | None) -> Iterator[Line]:
    """Yield as many rows of the matrix as fit, with a mark at the active one; two lines each if there is space."""
    matrix = context.scene.snapshot.matrix
    assert matrix is not None
    rows = sorted(matrix.rows, key=_place_in(context))
    label = max(len(str(row)) for row, _ in rows)
    columns = max(width - label - 3, 1)
    high = 2 if 2 * len(rows) + BELOW <= height else 1
    has_all = len(rows) * high <= height
    seen = rows if has_all else _chosen(rows, on_turn, context.selected, height - 1)
    for row, cells in seen:
        is_on = row == on_turn
        sign = ("◂" if context.unicode else "<") if is_on else " "
        style = "accent" if is_on else "dim"
        folded = fold([cell.columns for cell in cells], matrix.procs, columns)
        yield line(Span(f"{row:>{label}} ", style), *_spans(context, cells, folded), Span(f" {sign}", style))
        if high == 2:
            yield line(" " * (label + 1), *_spans(context, cells, folded, named=False))
    if not has_all:
        hidden = count(len(rows) - len(seen), "more row")
        yield line(Span(f"{'…' if context.unicode else '...'} {hidden}", "dim"))
    elif len(rows) * high < height:
        yield _axis(matrix.procs, label + 1, drawn_columns(matrix.procs, columns))


def _place_in(context: Context) -> Callable[[Row], tuple[int, int]]:
    """Return the sort key of rows: by their lanes in the chart, from the top, and without lanes by their numbers."""
    chart = context.scene.chart
    lanes = {} if chart is None else {lane.row: place for place, lane in enumerate(chart.lanes)}
    return lambda row: (lanes.get(row[0], 0), row[0])


def _axis(procs: int, label: int, columns: int) -> Line:
    """Return the numbers of the first and last processor, and how many a column has, after `label` blanks."""
    last = f"{procs - 1:,}"
    each = f"{-(-procs // columns)} a column" if procs > columns else ""
    between = each.center(max(columns - 1 - len(last), 0))
    return line(" " * label, Span(f"0{between}{last}"[:columns] if columns > 1 else "", "dim"))


def _spans(context: Context, cells: Sequence[Cell], folded: Sequence[Fold], named: bool = True) -> Iterator[Span]:
    """Yield the spans of a row; with `named`, a job's name is written in the widest run of its columns."""
    runs = [(seen, len(list(run))) for seen, run in groupby(folded)]
    widest: dict[int, int] = {}
    for place, (seen, length) in enumerate(runs):
        if seen.part is not None and (seen.part not in widest or length > runs[widest[seen.part]][1]):
            widest[seen.part] = place
    for place, (seen, length) in enumerate(runs):
        if seen.part is None:
            yield Span(("·" if context.unicode else ".") * length, "faint")
        else:
            is_widest = named and widest[seen.part] == place
            yield from _run(context, cells[seen.part], length, seen.thin, is_widest)


def _run(context: Context, cell: Cell, length: int, thin: bool, named: bool) -> Iterator[Span]:
    """Yield `length` columns of one job: with `named` its name if it fits, else `_filling`."""
    job = context.about.workload.jobs[cell.rank]
    edge = "" if context.look.colour else "▐" if context.unicode else "["
    names = (printable(told) for told in (name(job), job.id))
    told = next((told for told in names if named and text.cells(edge + told) <= length), "")
    label, filling = (edge + told)[:length], _filling(context, cell, thin)
    style = _style(context, cell, thin)
    upon = " title" if style.startswith("plan") else ""
    if label:
        yield Span.of_job(label, style + upon, cell.rank)
    yield Span.of_job(filling * (length - text.cells(label)), style, cell.rank)


def _filling(context: Context, cell: Cell, thin: bool) -> str:
    """Return the character of a job's columns: solid at home, low if `thin`, hatched for a replica."""
    if not context.unicode:
        return ("-" if thin else "#") if cell.is_home else ("." if thin else "/")
    if cell.is_home:
        return "▄" if thin else " " if _hue(context, cell) is not None and context.look.colour else "█"
    return "╱"


def _hue(context: Context, cell: Cell) -> int | None:
    return context.scene.hues.get(cell.rank)


def _style(context: Context, cell: Cell, thin: bool) -> str:
    hue = _hue(context, cell)
    is_lit, is_quiet = cell.rank in (context.selected, context.hovered), context.selected is not None
    if hue is None or not context.look.colour:
        return "select" if is_lit else "dim" if is_quiet else ""
    if thin:
        return f"hue:{hue}" if is_lit or not is_quiet else "dim"
    if is_lit:
        return f"lit:{hue}"
    return f"off:{hue}" if is_quiet else f"on:{hue}" if cell.is_home else f"plan:{hue}"


# The rebuild.


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
    chosen = list(_decisions_of(context))
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


def _decisions_of(context: Context) -> Iterator[Decision]:
    shown = context.scene.snapshot
    is_said = "decisions" in context.visible and any(isinstance(decision, Phase) for decision in shown.decisions)
    for place, done in enumerate(phases(shown.rebuild)):
        if context.phase is None and not is_said:
            yield from (decision for decision in done.decisions if not isinstance(decision, QUIET))
        elif context.phase == place:
            yield from done.decisions
