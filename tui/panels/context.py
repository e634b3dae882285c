"""Context that all panels draw from, and small drawing functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from sim.engine.snapshot import Snapshot
from sim.formatting import Clock, clock, clock_near, printable
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Sheet, Size, Span, line, wrapped
from tui.panels.meanings import meaning_at
from tui.replay.scene import About, Scene


class QueueOrder(NamedTuple):
    """A column of the queue by which it is shown, the largest first or the smallest."""

    column: str
    descends: bool = True


@dataclass(frozen=True, slots=True)
class Context:
    """Context of a panel's drawing."""

    about: About
    scene: Scene
    look: Look
    selected: int | None = None
    """The rank of the job that is selected."""
    hovered: int | None = None
    """The rank of the job under the pointer."""
    decision: int | None = None
    """Index of the decision walked to; None if the step is seen as a whole."""
    phase: int | None = None
    """Phase of the last rebuild of the matrix that is shown."""
    of_other: bool = False
    """True if the scene is of the other run."""
    visible: frozenset[str] = frozenset()
    """The panels that are on the screen: what one of them says need not be said again."""
    order: QueueOrder | None = None
    """Sort order of the queue; None for the policy's."""

    @property
    def at(self) -> Clock:
        """Return how a moment is written now: without the day if it is today."""
        calendar, now = self.look.calendar, self.scene.clock
        return clock_near(now) if calendar is None else calendar.near(now)

    @property
    def exactly(self) -> Clock:
        """Return how a moment is written with its day."""
        return clock if self.look.calendar is None else self.look.calendar.moment

    @property
    def whose(self) -> Span | None:
        """Return the name of the scene's run if two are shown."""
        versus = self.scene.versus
        return None if versus is None else run_name(self, self.of_other)

    @property
    def unicode(self) -> bool:
        return not self.look.ascii

    def told(self, line: Line, column: int, rank: int | None) -> str:
        """Return the text about a job, or the meaning of the word in that column."""
        if rank is not None:
            return self.scene.hover(rank)
        own = {own.name: own.meaning for own in self.scene.snapshot.columns if own.meaning}
        return meaning_at(own, line, column)


RUNS = "one", "other"
"""The styles of the names of two runs"""
Draw: TypeAlias = Callable[[Context, Size, int], Sheet]
"""Function that draws a panel from its context, size and first visible line."""


Tell: TypeAlias = Callable[[Context, Size, int, int], str]
"""Function that describes a place in a panel (context, size, column, line), or returns an empty string."""


# Windows into long bodies


def window(total: int, first: int, rows: int) -> range:
    """Return which of `total` lines are seen in `rows` rows when the first is to be `first`: the last page is full.

    >>> window(100, 98, 10), window(3, 5, 10)
    (range(90, 100), range(0, 3))
    """
    first = max(0, min(first, total - rows))
    return range(first, min(total, first + max(rows, 0)))


# Pieces of a line


def swatch(hue: int | None) -> Span:
    """Return a job's colour, as wide as two columns; blank if it has none."""
    return Span("  ") if hue is None else Span("▇▇", f"hue:{hue}")


def mini_bar(share: float, width: int, unicode: bool = True) -> str:
    """Return a bar of exactly `width` columns; any share above 0 is visible.

    >>> mini_bar(0.5, 4), mini_bar(0.01, 2), mini_bar(1, 2, unicode=False)
    ('██  ', '▏ ', '##')
    """
    return text.pad(text.bar(share, width, unicode), width)


def spark(values: Sequence[float], width: int, unicode: bool = True) -> str:
    """Return a curve of at most `width` columns, from the least value (a low block) to the greatest.

    Of more values than columns each column shows the last of its share; the last value of all is always there.

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
    """Return a text as this terminal can show it."""
    return printable(told if context.unicode else text.plain(told.replace("→", "->")))


def worded(
    told: str, context: Context, width: int, style: str = "", *, hang: int = 0, rank: int | None = None
) -> list[Line]:
    """Return a sentence over as many lines as it takes; what follows a first ": ", its reason, is quieter.

    The lines hang in by `hang` columns but for the first, where the caller puts something in front.
    """
    told = written(told, context)
    reason = told.find(": ") + 1 or len(told)
    lines: list[Line] = []
    done = 0
    for part in wrapped(told, max(width - hang, 1)):
        loud = max(0, min(reason - done, len(part.text)))
        spans = [Span(part.text[:loud], style), Span(part.text[loud:], style or "dim")]
        lines.append(line(*([Span(" " * hang)] if lines and hang else []), *filter(lambda s: s.text, spans), rank=rank))
        done += len(part.text) + 1
    return lines


def run_name(context: Context, other: bool) -> Span:
    """Return the name of one of two runs, in its colour."""
    assert context.scene.versus is not None
    return Span(f" {written(context.scene.versus.names[other], context)} ", RUNS[other])


def nobody_waits(shown: Snapshot) -> str:
    """Return that the queue is empty, and how many jobs are suspended."""
    many = len(shown.suspended)
    return "no job waits" + f"; {many:,} {'is' if many == 1 else 'are'} suspended" * bool(many)


def taught(title: str, context: Context, size: Size, *told: str, note: str = "") -> Sheet:
    """Return why a panel is empty, and what would be here, one paragraph each."""
    body: list[Line] = []
    for paragraph in told:
        body += [*wrapped(written(paragraph, context), size[0], "dim"), line("")]
    body = body[:-1]
    return Sheet(title, (), tuple(body), 0, len(body), note)
