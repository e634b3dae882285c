"""Line of keys that can be clicked, as many as fit; screens but the replay have it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tui.look.sheets import Line, Span, line, width_of

Key: TypeAlias = tuple[str, str, str]
"""Key on the line: its sign, its word, and the action of a click."""


def fitting_keys(keys: Sequence[Key], last: Sequence[Key], width: int) -> Line:
    """Return a line with as many of `keys` as fit, followed by all of `last`.

    >>> keys, last = (("n", "new", "new"), ("y", "copy", "copy")), (("?", "help", "help"), ("q", "quit", "quit"))
    >>> ["".join(span.text for span in fitting_keys(keys, last, width).spans).rstrip() for width in (22, 21)]
    [' n new  ? help  q quit', ' ? help  q quit']
    """
    spans, after = [Span(" ")], [each for key in last for each in _spans(key)]
    for key in keys:
        more = _spans(key)
        if width_of([*spans, *more, *after]) - len(GAP) > width:
            break
        spans += more
    return line(*spans, *after)


GAP = "  "


def _spans(key: Key) -> list[Span]:
    sign, word, action = key
    return [Span(sign, "key", action), Span(f" {word}{GAP}", "dim", action)]
