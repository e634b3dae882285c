"""The line of keys: the dozen that matter now, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tui.look import text
from tui.look.sheets import Line, Span, line
from tui.screens.replay.keys import PALETTE, every_key, sign

ALWAYS = ("help", "quit")
"""These stand at the end, however little room there is."""
ROOMY = 140
"""From so many columns on the palette of commands is among them."""
TWINS = {"speed(1)": ("↑ ↓", "speed"), "decision(1)": (". ,", "decision"), "jump(1)": ("] [", "next")}
"""Pairs of keys that are told together."""


Tabs: TypeAlias = Sequence[tuple[str, bool]]
"""The panels of a small screen, and whether each is shown."""
FEW = 1
"""So many keys stand before the panels, where they have no line of their own."""


def key_lines(
    width: int, rows: int, playing: bool, absent: frozenset[str] = frozenset(), tabs: Tabs = ()
) -> list[Line]:
    """The keys in order of importance over so many rows; `absent` are words that make no sense now."""
    if tabs and rows > 1:
        return [_tab_line(width, tabs), *key_lines(width, rows - 1, playing, absent)]
    chosen = sorted((key for key in every_key() if key.shown), key=lambda key: key.shown)
    chosen = [key for key in chosen if key.word not in absent and key.action != "speed(-1)"]
    at_the_end = [*([PALETTE] if width >= ROOMY else []), *(key for key in chosen if key.action in ALWAYS)]
    last = [_spans(key.keys, key.action, key.word) for key in at_the_end]
    reserved = sum(_width(spans) for spans in last)
    lines: list[list[Span]] = [[Span(" ")]]
    for number, key in enumerate(chosen):
        if key.action in ALWAYS:
            continue
        if tabs and number == FEW:
            lines[-1] += _fitting(_tab_spans(tabs), width - _width(lines[-1]) - reserved)
        word = "pause" if key.action == "toggle_play" and playing else key.word
        spans = _spans(key.keys, key.action, word)
        if len(lines) < rows and _width(lines[-1]) + _width(spans) > width:
            lines.append([Span(" ")])
        if _width(lines[-1]) + _width(spans) > width - (reserved if len(lines) == rows else 0):
            break
        lines[-1] += spans
    if _width(lines[-1]) + reserved > width and len(lines) < rows:
        lines.append([Span(" ")])
    for spans in last:
        lines[-1] += spans
    return [line(*spans) for spans in lines]


def _tab_line(width: int, tabs: Tabs) -> Line:
    """The panels that there are, each with its key."""
    return line(Span(" "), *_fitting([_spans("tab", "next_panel", "panels"), *_tab_spans(tabs)], width - 1))


def _tab_spans(tabs: Tabs) -> list[list[Span]]:
    keys = {key.action: key for key in every_key()}
    made = []
    for name, is_shown in tabs:
        key = keys[f"toggle_panel('{name}')"]
        sign_, word = _spans(key.keys.partition(",")[0], key.action, key.word)
        made.append([sign_, word._replace(style="accent" if is_shown else "dim")])
    return made


def _fitting(groups: Sequence[list[Span]], room: int) -> list[Span]:
    """As many as there is room for."""
    spans: list[Span] = []
    for group in groups:
        if _width([*spans, *group]) > room:
            break
        spans += group
    return spans


def _spans(keys: str, action: str, word: str) -> list[Span]:
    signs, word = TWINS.get(action, (sign(keys), word))
    return [Span(signs, "key", action), Span(f" {word}  ", "dim", action)]


def _width(spans: list[Span]) -> int:
    return sum(text.cells(span.text) for span in spans)
