"""Charts in the cells of a notebook; the library finds this module by its entry point `schedscope.pictures`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from sim.engine.engine import Engine
from tui.chart.svg.drawing import Options, drawn_alone, drawn_below

WIDTH, HEIGHT, TALLER = 960, 380, 640
"""Width and height in pixels of a chart in a notebook, and height of several"""
_NUMBERS = count()


def drawn(runs: Sequence[tuple[Engine, str]]) -> str:
    options = Options(width=WIDTH, height=HEIGHT if len(runs) == 1 else TALLER, theme="light")
    return with_own_ids(drawn_alone(*runs[0], options) if len(runs) == 1 else drawn_below(runs, options))


def with_own_ids(svg: str) -> str:
    """Return the SVG picture with ids that no other picture in the notebook has."""
    ending = f"-cell{next(_NUMBERS)}"
    named = re.sub(
        r'\b(id|aria-labelledby)="([^"]*)"', lambda found: f'{found[1]}="{_with_suffix(found[2], ending)}"', svg
    )
    return re.sub(r"url\(#([\w-]+)\)", rf"url(#\1{ending})", named)


def _with_suffix(ids: str, ending: str) -> str:
    return " ".join(each + ending for each in ids.split())
