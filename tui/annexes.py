"""Names of what the annexes give the program, which never imports them; a table finds it when it is asked for."""

from __future__ import annotations

from typing import Any

from sim.annexes import imported

PARTS = {
    "smallest difference": "tui.cli.test:smallest_difference_lines",
}


def annexed(name: str) -> Any:
    return imported(PARTS[name])
