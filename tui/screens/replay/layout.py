"""Layout of the panels for a size of the screen. It is computed without a terminal."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tui.screens.replay.side import SIDE

SMALL_WIDTH, SMALL_HEIGHT = 100, 28
"""Columns and rows below which the chart has the whole width, or one panel covers half of it."""
LEAST = 7


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes of all parts of the screen, in rows or columns; 0 for a hidden part."""

    small: bool
    side: int
    panels: tuple[tuple[str, int], ...]
    """Panels at the side as (name, height in rows), from top to bottom."""
    bottom: int
    metrics: int
    keys: int
    sentence: int = 1
    note: int = 0
    lesson: int = 0
    waiting: int = 0
    """Height in rows of the list of waiting jobs below the chart's sentence on small screens."""


def arrange(
    width: int,
    height: int,
    available: Collection[str],
    hidden: Collection[str] = (),
    over: str | None = None,
    note: int = 0,
    needs: Mapping[str, int] | None = None,
    was: Sequence[tuple[str, int]] = (),
    lesson: int = 0,
    projected: bool = False,
) -> Layout:
    """Return the layout for `width` x `height` cells.

    available: panels with content; hidden: panels that the user has hidden; over: the panel that covers half of a small
    chart; note: rows of a note above the chart.

    needs: mapping from panels to the rows that show all of their content, if known; was: panels and heights of the last
    layout.

    lesson: rows of a lesson's text; projected: True for a projector, with one line of text and only the requested
    panels.

    >>> arrange(80, 24, ["queue", "decisions"], over="queue").panels
    (('queue', 17),)
    >>> arrange(120, 36, ["queue", "decisions"]).panels
    (('queue', 16), ('decisions', 12))
    >>> arrange(120, 36, ["queue", "decisions"], needs={"queue": 5, "decisions": 30}).panels
    (('queue', 5), ('decisions', 23))
    >>> arrange(60, 18, [], lesson=4, projected=True)
    Layout(small=True, side=0, panels=(), bottom=0, metrics=0, keys=0, sentence=1, note=0, lesson=4, waiting=0)
    """
    if projected:
        made = arrange(width, height, available, {*hidden, "strip", "metrics"}, over, 0, needs, was, lesson)
        return replace(made, keys=0, waiting=0, sentence=1 if lesson or height < 12 else 2)
    small = width < SMALL_WIDTH or height < SMALL_HEIGHT
    keys = 0 if height < 8 else 2 if height >= 20 and (small or width < 60) else 1
    if lesson:
        keys, lesson = min(keys, 1), min(lesson, most_words(height))
    bottom = _bottom(width, height, hidden)
    sentence = 2 if width < SMALL_WIDTH and height - lesson >= 16 else 1
    note = note if height >= 12 else 0
    waiting = _waiting(height, lesson) if small and over != "queue" else 0
    room = max(height - 1 - note - sentence - keys - bottom - lesson - waiting, 0)
    if small:
        alone = ((over, room),) if over else ()
        return Layout(
            small=True,
            side=max(min(width, 40), width // 2) if over else 0,
            panels=alone,
            bottom=bottom,
            metrics=0,
            keys=keys,
            sentence=sentence,
            note=note,
            lesson=lesson,
            waiting=waiting,
        )
    wanted = [name for name in SIDE if name in available and name not in hidden]
    panels = _shared(_chosen(wanted, room), room, needs or {}, was)
    side = _side_width(width) if panels else 0
    metrics = 0 if "metrics" in hidden or not bottom else _side_width(width)
    return Layout(
        small=False, side=side, panels=panels, bottom=bottom, metrics=metrics, keys=keys, note=note, lesson=lesson
    )


def most_words(height: int) -> int:
    return height * 3 // 5


def _bottom(width: int, height: int, hidden: Collection[str]) -> int:
    if {"strip", "metrics"} <= set(hidden) or height < 22:
        return 0
    if height < SMALL_HEIGHT or width < SMALL_WIDTH:
        return 2 if height < 30 else 4
    return 5 if height < 50 else 8


def _waiting(height: int, lesson: int) -> int:
    """Return the rows (0 to 2) of the list of waiting jobs, fewer on low screens and with a lesson."""
    if height < (20 if lesson else 12):
        return 0
    return 1 if height < SMALL_HEIGHT or lesson else 2


def _side_width(width: int) -> int:
    return min(max(width * 2 // 5, 44), 76)


def _chosen(wanted: Sequence[str], room: int) -> list[str]:
    first = sorted(wanted, key=lambda name: SIDE[name].turn)[: max(room // LEAST, 0)]
    return [name for name in wanted if name in first]


def _shared(
    names: Sequence[str], room: int, needs: Mapping[str, int], was: Sequence[tuple[str, int]]
) -> tuple[tuple[str, int], ...]:
    shares = _filled(names, room, needs)
    stood = dict(was)
    if tuple(stood) == tuple(names) and sum(stood.values()) == room:
        gains = (min(needs.get(name, 0), rows) > stood[name] for name, rows in shares)
        return shares if any(gains) else tuple(was)
    return shares


def _filled(names: Sequence[str], room: int, needs: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    rows: dict[str, int] = {}
    while rest := [name for name in names if name not in rows]:
        divided = _divided(rest, room - sum(rows.values()))
        content = {name: needs[name] for name, share in divided if 0 < needs.get(name, 0) < share}
        rows |= content or divided
    for name, more in _divided(names, room - sum(rows.values()), least=0) if names else ():
        rows[name] += more
    return tuple((name, rows[name]) for name in names)


def _divided(names: Sequence[str], room: int, least: int = LEAST) -> list[tuple[str, int]]:
    total = sum(SIDE[name].weight for name in names)
    rows = [max(room * SIDE[name].weight // total, min(least, room // len(names))) for name in names]
    while sum(rows) > room:
        rows[rows.index(max(rows))] -= 1
    rows[0] += room - sum(rows)
    return list(zip(names, rows, strict=True))
