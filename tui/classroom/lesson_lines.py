"""Text of a lesson below the chart: simple Markdown, the question with its choices, and the answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tui.chart.partition_names import with_partition_names
from tui.look.sheets import Line, Span, line, width_of
from tui.look.text import cells, shorten

if TYPE_CHECKING:
    from sim.classroom.lessons.questions import Question
    from sim.classroom.lessons.walk import Walk
    from sim.engine.snapshot import Snapshot

_MARKED = re.compile(r"\*\*(?P<strong>[^*]+)\*\*|\*(?P<accent>[^*\s][^*]*)\*|`(?P<key>[^`]+)`")
BULLET = "• "
MARGIN = 2


def lesson_lines(walk: Walk, width: int, shown: Snapshot | None = None) -> list[Line]:
    """Return the lesson's scene as lines; partitions have the names in `shown`, without it numbers."""
    lines, verdict = [_title(walk, width)], walk.verdict
    if verdict is not None:
        told = verdict.told if shown is None else with_partition_names(verdict.told, shown)
        lines += flowed([Span(told, "good" if verdict.is_right else "")], width)
    lines += markdown(walk.text, width)
    if walk.open_question is not None:
        lines += _question_lines(walk, walk.open_question, width)
    return lines


def _title(walk: Walk, width: int) -> Line:
    off = [Span("  exploring, ", "warn"), Span("enter", "key", "lesson_back"), Span(" returns to the lesson", "warn")]
    away = off if walk.is_off else []
    many = len(walk.scenes)
    place = f"{walk.index + 1}/{many} "
    room = width - MARGIN - len(place) - 1 - width_of(away)
    front = [Span(" ▌", "accent"), Span(shorten(walk.staged.title, max(room, 12)), "title"), *away]
    used = width_of(front)
    dots = "".join("●" if number <= walk.index else "○" for number in range(many))
    dots = dots + " " if len(dots) + used + len(place) + 4 < width and many <= 24 else ""
    gap = " " * max(width - used - cells(dots) - len(place), 1)
    return line(*front, Span(gap), Span(dots, "accent"), Span(place, "dim"))


def _question_lines(walk: Walk, asked: Question, width: int) -> Iterator[Line]:
    if asked.facts:
        yield from flowed([Span(asked.facts, "dim")], width)
    yield from flowed([Span("? ", "warn"), Span(asked.asks, "strong")], width)
    spans: list[Span] = []
    for number, choice in enumerate(asked.choices):
        front = "" if choice.rank is not None else f"{choice.key} "
        spans += [Span(" · ", "dim")] if spans else []
        spans += [Span(front, "key", f"lesson_choose({number})")] if front else []
        spans += [Span(choice.label, "" if front else "key", f"lesson_choose({number})")]
    if walk.typed or not spans:
        spans += [Span(" > ", "dim"), Span(walk.typed, "strong"), Span("_", "accent")]
    yield from flowed(spans, width)


def how_to_answer(asked: Question) -> str:
    if any(choice.rank is not None for choice in asked.choices):
        return "Click the job, or type its number. Space shows what happens."
    if asked.choices:
        return "Type the number, or click. Space shows what it was."
    if asked.value is not None and asked.value.unit == "moment":
        return "Click it, or type the exact time (2h05, d3 20:30) and enter. Space shows it."
    return "Type it, and enter. Space shows what happens."


def walking_keys(width: int, walk: Walk, more: Sequence[tuple[str, str, str]] = ()) -> Line:
    """Return the line with the keys that work during a lesson; `more` are (key, word, action)."""
    pairs = [("space →", _where_to(walk), "lesson_next"), ("←", "back", "lesson_previous")]
    pairs += [*more, ("enter", "look around yourself", "lesson_off"), ("w", "why", "why"), ("L", "lessons", "lessons")]
    pairs += [("?", "help", "help"), ("q", "quit", "quit")]
    spans = [Span(" ")]
    for key, word, action in pairs:
        both = [Span(key, "key", action), Span(f" {word}  ", "dim", action)]
        if width_of((*spans, *both)) <= width:
            spans += both
    return line(*spans)


def _where_to(walk: Walk) -> str:
    if walk.following:
        return f"next lesson: {walk.following}"
    return "go on" if walk.open_question is None else "show me"


# Markdown


def markdown(source: str, width: int) -> list[Line]:
    r"""Return Markdown as lines. It may have paragraphs and lists with bold, italic and code; anything else is shown
    unchanged.

    >>> [part.text for part in markdown("J3 *waits* **long**.\n\n- one\n- two", 40)]
    ['  J3 waits long.', '  • one', '  • two']
    """
    lines: list[Line] = []
    for bullet, spans in blocks(source):
        lines += flowed([Span(BULLET, "accent"), *spans] if bullet else spans, width, len(BULLET) * bullet)
    return lines


def blocks(source: str) -> Iterator[tuple[bool, list[Span]]]:
    """Yield each paragraph of a text in Markdown, or item of its lists (True), as spans."""
    for block in re.split(r"\n\s*\n", source.strip()):
        for item in _items(block.split("\n")):
            bullet = item.startswith("- ")
            yield bullet, list(_spans(item[2:] if bullet else item))


def _items(rows: Iterable[str]) -> list[str]:
    items: list[str] = []
    for row in map(str.strip, rows):
        if items and not row.startswith("- "):
            items[-1] += f" {row}"
        elif row:
            items.append(row)
    return items


def _spans(told: str) -> Iterator[Span]:
    done = 0
    for found in _MARKED.finditer(told):
        if found.start() > done:
            yield Span(told[done : found.start()])
        yield Span(found[found.lastgroup or 0], found.lastgroup or "")
        done = found.end()
    if done < len(told):
        yield Span(told[done:])


def flowed(spans: Sequence[Span], width: int, hang: int = 0) -> list[Line]:
    """Return spans wrapped at blanks into lines; all lines but the first are indented by `hang` columns."""
    room = max(width - 2 * MARGIN, 8)
    lines, row, used = [], [Span(" " * MARGIN)], 0
    for word in _words_of(spans):
        wide = width_of(word)
        if used > hang and used + 1 + wide > room:
            lines.append(line(*row))
            row, used = [Span(" " * (MARGIN + hang))], hang
        if row[1:]:
            row.append(row[-1]._replace(text=" ") if row[-1][1:] == word[0][1:] else Span(" "))
            used += 1
        row += (piece._replace(text=shorten(piece.text, room)) for piece in word)
        used += wide
    return [*map(_joined, lines), _joined(line(*row))]


def _words_of(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """Yield each word as a list of spans, because a word may have several styles."""
    word: list[Span] = []
    for span in spans:
        for part in re.findall(r"\S+(?: %)?|\s+", span.text):
            if not part.isspace():
                word.append(span._replace(text=part))
            elif word:
                yield word
                word = []
    if word:
        yield word


def _joined(made: Line) -> Line:
    row: list[Span] = []
    for span in made.spans:
        if row and row[-1][1:] == span[1:]:
            row[-1] = span._replace(text=row[-1].text + span.text)
        else:
            row.append(span)
    return line(*row)
