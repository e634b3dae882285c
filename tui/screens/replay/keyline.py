"""Line of keys at the bottom: the keys that are useful in the present state, as many as fit."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

from tui.look.sheets import Line, Span, line, width_of
from tui.screens.replay.keys import PALETTE, every_key, sign
from tui.screens.replay.side import SIDE

ALWAYS = ("first_screen", "help", "quit")
"""Actions whose keys are always at the end of the line, the first of them from `WIDE` columns on."""
WIDE = 80
MOVES = 3
"""Number of keys at the beginning of the line that are shown in every state."""
ROOMY = 140
TWINS = {
    "speed(1)": ("↑ ↓", "speed"), "decision(1)": (". ,", "decision"), "jump(1)": ("] [", "next"),
    "to_stop(1)": ("; :", "stops"), "turn(1)": (") (", "turn"),
}  # fmt: skip
"""Keys and one word for each pair of opposite actions, by the first of them"""
STEPS = Span("→", "key", "step(1)"), Span(" "), Span("←", "key", "step(-1)"), Span("  ")


Tabs: TypeAlias = tuple[tuple[str, bool], ...]
"""(Name, True if it is shown) of each panel that can cover half of a small screen"""


@lru_cache(8)
def key_lines(
    width: int, rows: int, playing: bool, applies: frozenset[str] = frozenset(), tabs: Tabs = ()
) -> list[Line]:
    """Return keys that move the replay, keys whose condition is met (`applies`), then all others."""
    if tabs and rows > 1:
        return [_tab_line(width, tabs), *key_lines(width, rows - 1, playing, applies)]
    chosen = [key for key in every_key() if key.shown and (not key.when or key.when in applies)]
    compares, always = "compared" in applies, ALWAYS[width < WIDE :]
    first = {key for key in chosen if key.when or (compares and key.action == "compare")}
    chosen = sorted(chosen, key=lambda key: (key.shown > MOVES, key not in first, not key.when, key.shown))
    chosen = [key for key in chosen if key.action != "speed(-1)"]
    at_the_end = [*([PALETTE] if width >= ROOMY else []), *(key for key in chosen if key.action in always)]
    last = [_spans(key.keys, key.action, key.word) for key in at_the_end]
    reserved = sum(width_of(spans) for spans in last)
    lines: list[list[Span]] = [[Span(" ")]]
    if tabs:
        signs, named = _spans(chosen[0].keys, chosen[0].action, "pause" if playing else chosen[0].word)
        room = width - 1 - reserved
        plays = [signs, named], [signs, named._replace(text=named.text[:-1])]
        starts = [*([*play, *STEPS] for play in plays), *plays]
        found = next(((start, panels) for start in starts if (panels := _all_tabs(tabs, room - width_of(start)))), None)
        start, panels = found or ([], _all_tabs(tabs, room, signs=True))
        if found and first:  # what applies now needs the room of the panels' names
            panels = _tab_signs(tabs)
        lines, chosen = [[Span(" "), *start, *panels]], chosen[1 + 2 * (len(start) > 2) :] if found else []
    for key in chosen:
        if key.action in always:
            continue
        word = "pause" if key.action == "toggle_play" and playing else key.word
        word = "end compare" if key.action == "compare" and compares else word
        spans = _spans(key.keys, key.action, word)
        if len(lines) < rows and width_of(lines[-1]) + width_of(spans) > width:
            lines.append([Span(" ")])
        if width_of(lines[-1]) + width_of(spans) > width - (reserved if len(lines) == rows else 0):
            break
        lines[-1] += spans
    if width_of(lines[-1]) + reserved > width and len(lines) < rows:
        lines.append([Span(" ")])
    for spans in last:
        lines[-1] += spans
    return [line(*spans) for spans in lines]


def _tab_signs(tabs: Tabs) -> list[Span]:
    signs = _all_tabs(tabs, 2 * len(tabs), signs=True)
    return [*signs, Span(" ")]


def _tab_line(width: int, tabs: Tabs) -> Line:
    first = _spans("tab", "next_panel", "panels")
    return line(Span(" "), *first, *_all_tabs(tabs, width - 1 - width_of(first), signs=True))


def _all_tabs(tabs: Tabs, room: int, signs: bool = False) -> list[Span]:
    """Return the panels with their keys in at most `room` columns. If there is too little space, the gaps get smaller,
    then names are shortened. With `signs`, the last resort is to show only the keys.

    >>> tabs = ("versus", False), ("queue", True), ("partitions", False)
    >>> ["".join(span.text for span in _all_tabs(tabs, room, signs=True)).strip() for room in (60, 33, 24, 9)]
    ['G compared  1 queue  5 partitions', 'G compared 1 queue 5 partitions', 'G both 1 queue 5 parts', 'G 1 5']
    """
    keys = {key.action: key for key in every_key()}
    found = [(keys[f"toggle_panel('{name}')"], is_shown) for name, is_shown in tabs]
    names = [f" {key.word}" for key, _ in found]
    short = [f" {SIDE[name].short or SIDE[name].word}" for name, _ in tabs]
    for words, gap in ((names, "  "), (names, " "), (short, " "), *((([""] * len(found), " "),) if signs else ())):
        spans = []
        for (key, is_shown), word in zip(found, words, strict=True):
            style = "accent" if is_shown else "dim"
            spans += [Span(sign(key.keys.partition(",")[0]), "key", key.action), Span(word + gap, style, key.action)]
        if width_of(spans) <= room:
            return spans
    return []


def _spans(keys: str, action: str, word: str) -> list[Span]:
    signs, word = TWINS.get(action, (sign(keys), word))
    return [Span(signs, "key", action), Span(f" {word}  ", "dim", action)]
