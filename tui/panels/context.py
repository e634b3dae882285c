"""Context from which all panels are drawn, and small functions that panels share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeAlias, TypeVar

from sim.engine.snapshot import Snapshot
from sim.support.formatting import Clock, clock, clock_near, printable
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Sheet, Size, Span, line, wrapped
from tui.panels.meanings import meaning_at
from tui.replay.scene import About, Scene


class QueueOrder(NamedTuple):
    """Order in which the user has sorted the queue: the column, and whether the largest value is first (`descends`)."""

    column: str
    descends: bool = True


def order_after_click(order: QueueOrder | None, column: str) -> QueueOrder | None:
    """Return the order after a click on a column: largest first, then smallest first, then None, the usual order."""
    if order is None or order.column != column:
        return QueueOrder(column)
    return QueueOrder(column, descends=False) if order.descends else None


@dataclass(frozen=True, slots=True)
class Context:
    about: About
    scene: Scene
    look: Look
    selected: int | None = None
    hovered: int | None = None
    """Rank of the job under the mouse pointer; None if there is no job."""
    decision: int | None = None
    """Index of the selected decision of the step; None if the step is shown as a whole."""
    phase: int | None = None
    of_other: bool = False
    """True if the scene belongs to the other run of a comparison."""
    visible: frozenset[str] = frozenset()
    """Names of the panels that are visible now; a panel does not repeat what another visible panel shows."""
    order: QueueOrder | None = None
    """Order in which the user has sorted the queue; None for the policy's order."""
    filmed: bool = False
    """True in a film, whose viewers cannot press keys."""

    @property
    def at(self) -> Clock:
        """Return a function that formats a time; on the present day of the replay without the day."""
        calendar, now = self.look.calendar, self.scene.clock
        return clock_near(now) if calendar is None else calendar.near(now)

    @property
    def exactly(self) -> Clock:
        """Return a function that formats a time and always includes the day."""
        return clock if self.look.calendar is None else self.look.calendar.moment

    @property
    def whose(self) -> Span | None:
        """Return the name of the compared run if the panels show it; None if they show the first or only one."""
        return run_name(self, True) if self.of_other and self.scene.versus is not None else None

    @property
    def unicode(self) -> bool:
        return not self.look.ascii

    def told(self, line: Line, column: int, rank: int | None) -> str:
        """Return the tooltip at `column` of a line: on the job or, without one, the meaning of the word there."""
        if rank is not None:
            return self.scene.hover(rank)
        own = {own.name: own.meaning for own in self.scene.snapshot.columns if own.meaning}
        return meaning_at(own, line, column)


RUNS = "one", "other"
Draw: TypeAlias = Callable[[Context, Size, int], Sheet]
"""Function of the context, the size and the number of the first line of the body."""


Tell: TypeAlias = Callable[[Context, Size, int, int], str]
"""Function (context, size, column, row) that returns the tooltip of this place; "" for none."""


# Windows into long bodies


def window(total: int, first: int, rows: int) -> range:
    """Return the range of the lines that are visible in `rows` rows if the first one should be `first`. It starts
    earlier where rows would stay blank at the end.

    >>> window(100, 98, 10), window(3, 5, 10)
    (range(90, 100), range(0, 3))
    """
    first = max(0, min(first, total - rows))
    return range(first, min(total, first + max(rows, 0)))


# Pieces of a line


def swatch(hue: int | None) -> Span:
    """Return two columns in the colour of a job; blank if the colour number `hue` is None."""
    return Span("  ") if hue is None else Span("▇▇", f"hue:{hue}")


def mini_bar(share: float, width: int, unicode: bool = True) -> str:
    """Return a bar of exactly `width` columns; any share above 0 is visible."""
    return text.pad(text.bar(share, width, unicode), width)


def spark(values: Sequence[float], width: int, unicode: bool = True) -> str:
    """Return a curve of at most `width` columns; the smallest value is drawn as a low block, the greatest as a full
    one.

    If there are more values than columns, each column shows the last of its values, so that the last value of all is
    always
    shown.

    >>> spark([0, 1, 4, 8], 8), spark([1, 9, 1, 9, 5], 2), spark([3, 3], 8)
    ('▁▂▄█', '█▁', '▄▄')
    """
    if not values or width < 1:
        return ""
    many = len(values)
    shown = [values[(column + 1) * many // width - 1] for column in range(width)] if many > width else list(values)
    low, high = min(shown), max(shown)
    if low == high:
        return text.sparkline([4, 8], unicode)[0] * len(shown)
    return text.sparkline([1 + 7 * (value - low) / (high - low) for value in shown], unicode)


def written(told: str, context: Context) -> str:
    """Return the text in characters that this terminal can show, without control characters."""
    return printable(told if context.unicode else text.plain(told.replace("→", "->")))


def worded(
    told: str, context: Context, width: int, style: str = "", *, hang: int = 0, rank: int | None = None
) -> list[Line]:
    """Return a sentence in lines, the reason after ": " weaker, and all but the first indented by `hang`."""
    told = written(told, context)
    reason = told.find(": ") + 1 or len(told)
    lines: list[Line] = []
    done = 0
    for part in wrapped(told, max(width - hang, 1)):
        loud = max(0, min(reason - done, len(part.text)))
        spans = [Span(part.text[:loud], style), Span(part.text[loud:], style or "dim")]
        hung = [Span(" " * hang)] if lines and hang else []
        lines.append(line(*hung, *filter(lambda s: s.text, spans), rank=rank, is_more=bool(lines)))
        done += len(part.text) + 1
    return lines


def run_name(context: Context, other: bool) -> Span:
    assert context.scene.versus is not None
    return Span(f" {written(context.scene.versus.names[other], context)} ", RUNS[other])


def nobody_waits(shown: Snapshot) -> str:
    """Return the text for a queue without waiting jobs, with the number of suspended jobs."""
    many = len(shown.suspended)
    return "no job waits" + f"; {many:,} {'is' if many == 1 else 'are'} suspended" * bool(many)


def taught(title: str, context: Context, size: Size, *told: str, note: str = "") -> Sheet:
    """Return the sheet of an empty panel, with paragraphs on why it is empty and when it will have content."""
    body: list[Line] = []
    for paragraph in told:
        body += [*wrapped(written(paragraph, context), size[0], "dim"), line("")]
    body = body[:-1]
    return Sheet(title, (), tuple(body), 0, len(body), note)


# Curves.


T = TypeVar("T")


def area(values: Sequence[float], top: float, rows: int, unicode: bool = True) -> list[str]:
    """Return a curve as `rows` lines, filled from 0 up to each value. A value of `top` fills all rows, and each value
    above 0 is visible.

    >>> area([0, 2, 4, 8], 8, 2)
    ['   █', ' ▄██']
    """
    lines = []
    for row in reversed(range(rows)):
        shares = [min(max(value / top * rows - row, 0.0), 1.0) if top > 0 else 0.0 for value in values]
        if not row:
            shares = [max(share, 0.01) if value > 0 else 0.0 for share, value in zip(shares, values, strict=True)]
        lines.append(text.sparkline([*shares, 1.0], unicode)[:-1])
    return lines


def resampled(values: Sequence[T], columns: int) -> list[T]:
    return [values[column * len(values) // columns] for column in range(columns)] if values else []


def joined(cells: Iterable[tuple[str, str]]) -> list[Span]:
    """Return spans made from (text, style) pairs; neighbouring pairs with the same style become one span."""
    return [Span("".join(c for c, _ in run), style) for style, run in groupby(cells, key=lambda cell: cell[1])]
