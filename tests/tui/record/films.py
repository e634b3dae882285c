"""Recorded films (casts of asciinema) for tests, and a simple player."""

import json
import re
from collections.abc import Sequence
from contextlib import aclosing

from sim.workload.source import Source
from tui.record.film import Camera, Picture, RecordingOptions
from tui.replay.opening import Opening, opening_of

SIZE = (80, 24)
USUAL = RecordingOptions(SIZE)


async def film_of(opening: Opening | None = None, plan: RecordingOptions = USUAL) -> tuple[Camera, list[Picture]]:
    camera = Camera((opening or opening_of(Source("z-figure4"))).prepare(), plan)
    async with aclosing(camera.film()) as film:
        return camera, [picture async for picture in film]


def text_of(picture: Picture) -> list[str]:
    return ["".join(segment.text for segment in row) for row in picture.rows]


def watched(lines: Sequence[str], size: tuple[int, int] = SIZE) -> list[str]:
    """Return the rows of the screen after playing a whole cast; only the control sequences that the program writes are
    known."""
    columns, rows = size
    cells = [[" "] * columns for _ in range(rows)]
    x = y = 0
    for event in map(json.loads, lines[1:]):
        if event[1] != "o":
            continue
        for at, sign in re.findall(r"\x1b\[([^a-zA-Z]*[a-zA-Z])|(.)", event[2]):
            if at.endswith("H"):
                y, x = (int(part) - 1 for part in at[:-1].split(";"))
            elif not at:
                cells[y][x] = sign
                x += 1
            else:
                assert at[-1] in "mlhJ"
    return ["".join(row) for row in cells]
