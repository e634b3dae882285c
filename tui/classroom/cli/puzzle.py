"""Command `schedscope puzzle`: an editor for a small machine and its jobs."""

from __future__ import annotations

import os

import click

from sim.support.errors import ParameterError
from tui.cli import options


@click.command("puzzle")
@click.argument("line", required=False, metavar="[LINE]")
def command(line: str | None) -> int:
    """Draw jobs on a small machine, and see four policies schedule them.

    LINE is a whole puzzle, such as "10 procs; 5x10m@0; 4x20m/30m@2m": a machine, then
    PROCESSORSxRUNTIME/ESTIMATE@SUBMIT for each job. It is accepted wherever a trace is: schedscope run
    LINE --policy easy.
    """
    from sim.workload.formats.puzzle import Puzzle, parse_puzzle

    if line is not None and os.path.isfile(line):
        raise ParameterError(f"{line} is a file, a puzzle is a line of text; schedscope watch opens a trace")
    puzzle = Puzzle() if line is None else parse_puzzle(line)
    options.needs_terminal("a puzzle", "schedscope run LINE")
    from tui.classroom.beginnings import open_at
    from tui.classroom.puzzle.screen import PuzzleScreen

    return open_at(lambda look, is_guest: PuzzleScreen(puzzle, look, is_guest))
