"""Conversion of a puzzle to a lesson about it: the puzzle is the trace, and the scenes ask what happens next."""

from __future__ import annotations

import json

from sim.support.errors import ParameterError
from sim.workload.formats.puzzle import Puzzle

_SCENES = """title = "A puzzle"
about = "What each policy makes of the same jobs."
trace = {line}
policy = "fcfs"
exercise = "What is there to try afterwards?"

[[scene]]
title = "First come, first served"
at = {last}
say = "{{processors}} processors. Under **fcfs** the mean wait is {{mean_wait}}."
notes = "For the teacher."

[[scene]]
title = "With backfilling"
policy = "easy"
at = {last}
compare = "fcfs"
show = ["versus"]
say = "Under **EASY** the mean wait is {{mean_wait}}, under fcfs {{mean_wait@fcfs}}."
notes = "For the teacher."
"""


def lesson_of_puzzle(puzzle: Puzzle) -> str:
    if not puzzle.jobs:
        raise ParameterError("an empty puzzle is no lesson: add jobs first")
    last = max(job.submit for job in puzzle.jobs)
    return _SCENES.format(line=json.dumps(puzzle.line), last=last)
