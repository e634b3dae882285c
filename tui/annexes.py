"""Names of what the annexes give the program, which never imports them; a table finds it when it is asked for."""

from __future__ import annotations

from typing import Any

from sim.annexes import imported

PARTS = {
    "results file": "sim.experiments.results:Results",
    "recording": "tui.live.program:open_recording",
    "results screen": "tui.screens.results.screen:ResultsScreen",
    "smallest difference": "tui.cli.test:smallest_difference_lines",
}


def annexed(name: str) -> Any:
    return imported(PARTS[name])
