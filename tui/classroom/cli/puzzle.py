"""Command `schedscope puzzle`: an editor for a small machine and its jobs."""

from __future__ import annotations

import os
import sys

import click

from sim.support.errors import ParameterError
from tui.cli import options
from tui.cli.terminal import is_terminal, say


@click.command("puzzle")
@click.argument("line", required=False, metavar="[LINE]")
@click.option("--task", "wanted", metavar="N|TASK", help="What to reach: a number of --tasks, or a task as a line.")
@click.option("--tasks", "listing", is_flag=True, help="List the tasks, each with the line of text to share.")
def command(line: str | None, wanted: str | None, listing: bool) -> int:
    """Draw jobs on a small machine, and see four policies schedule them.

    LINE is a whole puzzle, such as "10 procs; 5x10m@0; 4x20m/30m@2m": a machine, then
    PROCESSORSxRUNTIME/ESTIMATE@SUBMIT for each job. It is accepted wherever a trace is: schedscope run
    LINE --policy easy.

    With --task the jobs are to be changed until the task is solved; without a terminal LINE is judged as its answer:
    the whole puzzle, with the jobs of the task.
    """
    from sim.classroom.play.tasks import parse_task, tasks
    from sim.workload.formats.puzzle import Puzzle, parse_puzzle

    if line is not None and os.path.isfile(line):
        raise ParameterError(f"{line} is a file, a puzzle is a line of text; schedscope watch opens a trace")
    if listing:
        say("\n".join(f"{number:2}  {task.told}\n    {task.line}" for number, task in enumerate(tasks(), 1)))
        return 0
    task = None if wanted is None else parse_task(wanted)
    puzzle = parse_puzzle(line) if line is not None else Puzzle() if task is None else task.start
    if task is not None and not is_terminal(sys.stdout):
        problem = task.problem(puzzle)
        say(f"{task.told}\n{f'not yet: {problem}' if problem else 'solved'}")
        return int(bool(problem))
    options.needs_terminal("a puzzle", "schedscope run LINE")
    from tui.classroom.puzzle.screen import PuzzleScreen
    from tui.classroom.screens import open_at

    return open_at(lambda look, is_guest: PuzzleScreen(puzzle, look, is_guest, task=task))
