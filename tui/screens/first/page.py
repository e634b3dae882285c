"""Layout of the first screen: pictures with titles, then lines with other entries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from rich.segment import Segment

from sim.workload.samples import ALSO, SAMPLES, Sample
from tui.annexes import annexed
from tui.chart.cells.cells import Brush, Cells
from tui.look import text
from tui.look.sheets import Line, Span, line, wrapped
from tui.screens.dialogs.trace_choices import recent
from tui.widgets.cell_rows import fitted

Kind = Literal["cluster", "sample", "also", "lesson", "learn", "session", "trace", "file"]


class MenuEntry(NamedTuple):
    kind: Kind
    value: str
    title: str
    what: str = ""
    origin: str = ""
    """Paper and figure that the sample reproduces; "" for other entries."""
    policy: str = ""

    @property
    def has_picture(self) -> bool:
        return self.kind in ("sample", "lesson")


def samples() -> Iterator[MenuEntry]:
    return map(_sample, SAMPLES)


def _sample(sample: Sample, kind: Kind = "sample") -> MenuEntry:
    what, _, paper = sample.caption.rstrip(")").partition(" (")
    return MenuEntry(kind, sample.name, sample.title, what, paper, sample.policy)


CLUSTER = MenuEntry("cluster", "", "this cluster", "your jobs: why they wait, when they start, what would help")


def entries(
    sessions: Sequence[MenuEntry], traces: Sequence[str], seen: Mapping[str, int], has_cluster: bool = False
) -> tuple[MenuEntry, ...]:
    """Return the entries of the first screen; with `has_cluster` the cluster of this machine is the first."""
    before = [choice for choice in map(recent, traces) if choice.kind == "file"]
    return (
        *([CLUSTER] if has_cluster else []), *samples(), annexed("entry of lessons")(seen), *sessions,
        *(_sample(sample, "also") for sample in ALSO),
        *(MenuEntry("trace", choice.value, choice.title, choice.what) for choice in before),
        MenuEntry("file", "", "a file ...", "SWF, sacct, Batsim or CSV, wherever it is"),
    )  # fmt: skip


DIGITS = "123456789"
MARK = 3
"""Width in columns of the selection mark and the number in front of an entry."""
GAP = 2
"""Number of blank columns behind a picture."""
LOWEST, HIGHEST = 3, 14
ACROSS = 0, 72, 160
"""Smallest widths of the screen, in columns, at which one, two and three pictures are side by side."""
WIDE_KEYS = 100
"""Width of the screen in columns from which all keys are shown."""
LISTED = 7
"""Smallest number of rows that are left for the entries without pictures."""


class EntryPlace(NamedTuple):
    row: int
    column: int
    rows: int
    columns: int


@dataclass(frozen=True, slots=True)
class Page:
    """Page with the rectangles of all entries; it may be higher than the screen."""

    width: int
    places: tuple[EntryPlace, ...]
    rows: int
    picture: tuple[int, int]

    def at(self, column: int, row: int) -> int | None:
        for number, place in enumerate(self.places):
            if place.row <= row < place.row + place.rows and place.column <= column < place.column + place.columns:
                return number
        return None

    def beside(self, number: int, columns: int, rows: int) -> int:
        """Return the entry `columns` to the right or, without, `rows` down; at the border the last one."""
        here = self.places[number]
        if columns:
            row = [n for n, place in enumerate(self.places) if place.row == here.row]
            return row[min(max(row.index(number) + columns, 0), len(row) - 1)]
        tops = sorted({place.row for place in self.places})
        top = tops[min(max(tops.index(here.row) + rows, 0), len(tops) - 1)]
        there = [n for n, place in enumerate(self.places) if place.row == top]
        return min(there, key=lambda n: abs(self.places[n].column - here.column))


def arranged(entries: Sequence[MenuEntry], width: int, height: int) -> Page:
    """Return the page for a screen of this size: pictures in one to three columns, and lines below them.

    >>> [arranged([*samples()], *size).picture for size in ((60, 14), (80, 20), (120, 32), (200, 56))]
    [(21, 3), (13, 3), (21, 6), (23, 14)]
    """
    width, pictures = max(width, 0), sum(entry.has_picture for entry in entries)
    across = sum(width >= least for least in ACROSS)
    lines, above = len(entries) - pictures, sum(entry.kind == "cluster" for entry in entries)
    room = height - min(lines + 1, LISTED)
    high = min(max(room // max(-(-pictures // across), 1) - 1, LOWEST), HIGHEST)
    each = width // across
    top = above and above + 1
    places = [EntryPlace(n, 0, 1, width) for n in range(above)]
    places += [EntryPlace(top + n // across * (high + 1), n % across * each, high, each) for n in range(pictures)]
    below = top + -(-pictures // across) * (high + 1)
    places += [EntryPlace(below + n, 0, 1, width) for n in range(lines - above)]
    return Page(width, tuple(places), below + lines - above, (max(min(each * 2 // 5 - MARK, 8 * high), 0), high))


def drawn(
    page: Page, entries: Sequence[MenuEntry], pictures: Mapping[str, Cells], brush: Brush, chosen: int
) -> list[list[Segment]]:
    """Return the page with a blank column at the right; pictures are by `value` of entries."""
    look, blank = brush.look, brush.look.style("")
    rows: dict[int, list[Segment]] = {}
    for number, (entry, place) in enumerate(zip(entries, page.places, strict=True)):
        mark = "▌" if number == chosen else " "
        key = f"{number + 1}" if number < len(DIGITS) else " "
        told = _card(entry, place, page) if entry.has_picture else [_line(entry, place.columns - MARK)]
        picture = pictures.get(entry.value)
        wide = page.picture[0] if entry.has_picture else 0
        for row in range(place.rows):
            drawn_row = brush.draw(picture, row, 0, wide) if wide and picture else [Segment(" " * wide, blank)]
            spans = told[row].spans if row < len(told) else ()
            lit = "strong " if number == chosen and row == 0 else ""
            words = look.segments(spans, lit)
            front = [Segment(mark, look.style("accent")), Segment(f"{'' if row else key:<2}", look.style("key"))]
            if wide:
                front += [*drawn_row, Segment(" " * GAP, blank)]
            rows.setdefault(place.row + row, []).extend(fitted([*front, *words], place.columns, blank))
    edge = Segment(" ", blank)
    return [[*fitted(rows.get(row, []), page.width, blank), edge] for row in range(page.rows)]


def _card(entry: MenuEntry, place: EntryPlace, page: Page) -> list[Line]:
    room = place.columns - MARK - page.picture[0] - GAP - 1
    title = wrapped(entry.title, room, "title")[: place.rows]
    parts = [part for part in (entry.origin or entry.what, entry.policy) if part]
    told = [row for part in parts for row in wrapped(part, room, "dim")]
    if len(told) > (left := place.rows - len(title)):
        told = [line(Span(_brief(part, room), "dim")) for part in parts][-left:] if left else []
    what = wrapped(entry.what, room) if entry.origin else []
    return [*title, *(what if len(what) + len(title) + len(told) <= place.rows else []), *told]


def _brief(part: str, room: int) -> str:
    """Return a source in at most `room` columns: whole, abbreviated, or only its authors.

    >>> [_brief("Zhang et al., figure 4", room) for room in (22, 21, 15)]
    ['Zhang et al., figure 4', 'Zhang et al., fig. 4', 'Zhang et al.']
    """
    short = part.replace(", figure ", ", fig. ").replace(", section ", ", sec. ")
    return text.shorten(_first_fitting((part, short, part.partition(",")[0]), room), room)


def _first_fitting(texts: Sequence[str], room: int) -> str:
    return next((each for each in texts if text.cells(each) <= room), texts[-1])


def _line(entry: MenuEntry, room: int) -> Line:
    kinds = {
        "cluster": "watch", "learn": "learn", "also": "look at", "session": "continue", "trace": "open", "file": "open",
    }  # fmt: skip
    return line(
        Span(f"{kinds[entry.kind]:<10}", "dim"), Span(entry.title),
        Span(f"  {text.shorten(entry.what, max(room - 12 - text.cells(entry.title), 0))}", "dim"),
    )  # fmt: skip


def told(entry: MenuEntry, width: int) -> Line:
    """Return the description of an entry, with its source and policy if there is room."""
    parts = [part for part in (entry.what, entry.origin, entry.policy) if part]
    words = _first_fitting([" · ".join(parts[:many]) for many in range(max(len(parts), 1), 0, -1)], width - 2)
    return line(" ", Span(text.shorten(words, width - 2)))


def keys(width: int, is_over: bool, has_files: bool = True) -> Line:
    """Return the line of keys; `is_over` a replay adds back, `has_files` any file."""
    pairs = [("↑ ↓ ← →", "choose", ""), ("enter", "opens it", "open")]
    pairs += [("o", "a file", "file")] if has_files else []
    pairs += [("P", "puzzle", "puzzle"), ("G", "game", "play")] if width >= ACROSS[1] else []
    pairs += [*([("esc", "back", "back")] if is_over else []), ("?", "help", "help"), ("q", "quit", "quit")]
    pairs += [("T", "theme", "theme")] if width >= WIDE_KEYS else []
    spans = [(Span(key, "key", action), Span(f" {word}  ", "dim", action)) for key, word, action in pairs]
    return line(" ", *(span for both in spans for span in both))
