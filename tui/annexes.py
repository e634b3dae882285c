"""Names of what the annexes give the program, which never imports them; a table finds it when it is asked for."""

from __future__ import annotations

from typing import Any

from sim.annexes import imported

PARTS = {
    "cluster screen": "tui.live.program:cluster_screen",
    "results file": "sim.lab.results:Results",
    "entries of lessons": "tui.classroom.entries:entries_of_lessons",
    "entry of lessons": "tui.classroom.entries:entry_of_lessons",
    "game": "tui.classroom.screens:game",
    "handout of a run": "tui.classroom.handout.handouts:save_run",
    "kept screen": "tui.classroom.screens:screen_of",
    "kept screen in words": "tui.classroom.screens:described",
    "lesson": "tui.classroom.opening:open_lesson",
    "puzzle": "tui.classroom.screens:puzzle",
    "recording": "tui.live.program:open_recording",
    "results screen": "tui.lab.results.screen:ResultsScreen",
    "smallest difference": "tui.authoring.cli.test:smallest_difference_lines",
    "thumbnail of a lesson": "tui.classroom.thumbnail:thumbnail",
}


COMMANDS = {
    "authoring": ("new", "test"),
    "classroom": ("grade", "learn", "play", "present", "puzzle", "quiz", "serve"),
    "lab": ("papers", "plot", "results", "sweep"),
    "live": ("live", "score", "when", "why"),
    "record": ("record",),
}


def module_of(command: str) -> str:
    annexe = next((name for name, commands in COMMANDS.items() if command in commands), None)
    return f"tui.cli.{command}" if annexe is None else f"tui.{annexe}.cli.{command}"


def annexed(name: str) -> Any:
    return imported(PARTS[name])
