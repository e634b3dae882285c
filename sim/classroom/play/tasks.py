"""Inverse puzzles: a puzzle to change a little, until claims about its runs are true. One line of text is a task:

8 procs; 5x20m@0; 6x10m@1m ? add 1 with 5m: J3.wait > 10m and mean_wait@easy < mean_wait@conservative

After the question mark: `add` at most so many jobs, `with` at most so much work (processors x run time), or `change`
of so many jobs the submit, the run, the estimate or the procs. Jobs and policies are named as in lessons.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sim.classroom.lessons.names import Names
from sim.classroom.lessons.runs import FIRST, Runs
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import count, listed, parse_time, quoted, span
from sim.workload.formats.puzzle import LONGEST, Puzzle, parse_puzzle
from sim.workload.model import Workload

POLICIES = ("fcfs", "firstfit", "easy", "conservative")
"""Policies that a task may name; with any jobs their runs end soon."""
_FORM = re.compile(
    r"(.+)\?\s*(?:add (\d)(?: with (\w+))?|change (\d) (submit|run|estimate|procs))\s*:(.+)", re.DOTALL | re.ASCII
)


class Task(NamedTuple):
    title: str
    start: Puzzle
    rule: str
    """What may be done, in words."""
    most: tuple[int, int]
    """Largest number of jobs that may be added, and that may be changed."""
    field: str
    """Field of `PuzzleJob` that may be changed."""
    work: float
    """Largest work of the added jobs in processors times seconds."""
    goals: tuple[str, ...]
    line: str

    @property
    def told(self) -> str:
        return f"{self.title}: {self.rule}, so that {' and '.join(self.goals)}"

    def problem(self, puzzle: Puzzle) -> str:
        """Return in a line why the puzzle does not solve the task; "" if it does."""
        was, jobs = self.start.jobs, puzzle.jobs
        changed = [pair for pair in zip(was, jobs, strict=False) if pair[0] != pair[1]]
        added = jobs[len(was) :]
        if len(jobs) < len(was) or puzzle.procs != self.start.procs:
            return f"the {count(self.start.procs, 'processor')} and {count(len(was), 'job')} must stay"
        if len(added) > self.most[0] or len(changed) > self.most[1]:
            return f"{len(added)} added and {len(changed)} changed: {self.rule}"
        if any(old._replace(**{self.field: getattr(new, self.field)}) != new for old, new in changed):
            return f"something else of a job differs: {self.rule}"
        if killed := [f"J{number}" for number, job in enumerate(jobs, 1) if job.estimate < job.run]:
            return f"{listed(killed)} would be killed at the estimate"
        if (work := sum(job.procs * job.run for job in added)) > self.work:
            return f"{span(work)} of work > {span(self.work)}"
        try:
            runs = Runs(Workload.of(puzzle.trace).with_overruns(), POLICIES[0])
            names = Names(runs, runs.at_step(FIRST, 0))
            return "; ".join(filter(None, map(names.claim, self.goals)))
        except SchedscopeError as error:
            return str(error)


def parse_task(text: str, title: str = "A task") -> Task:
    found = _FORM.fullmatch(text.strip()) if len(text) <= 2 * LONGEST else None
    if found is None:
        raise ParameterError(f"{quoted(text)}: expected a puzzle, then ? add 1: J3.wait > 10m (or ? change 1 run: ...)")
    start, adds, work, changes, what, goal = found.groups()
    goals = tuple(each.strip() for each in goal.split(" and "))
    if wrong := {*re.findall(r"@(\S+)", goal)} - {*POLICIES}:
        raise ParameterError(f"no {quoted(min(wrong))} in a task: the policies are {', '.join(POLICIES)}")
    most = parse_time(work) if work else float("inf")
    rule = f"change the {what} of {count(int(changes), 'job')}" if changes else f"add {count(int(adds), 'job')}"
    rule += f" with at most {span(most)} of work (processors x run time)" if work else ""
    field = {"estimate": "asked"}.get(what, what or "run")
    return Task(title, parse_puzzle(start), rule, (int(adds or 0), int(changes or 0)), field, most, goals, text.strip())


@cache
def tasks() -> tuple[Task, ...]:
    """Return the tasks that come with the program; of each more random changes solve it than of the next."""
    lines = Path(__file__).with_name("tasks.txt").read_text(encoding="utf-8").splitlines()
    return tuple(parse_task(line, title) for title, line in (each.split(": ", 1) for each in lines))


def found_task(wanted: str) -> Task:
    """Return the task with this number, or the task in this line."""
    if wanted.isdecimal() and len(wanted) < 4:
        if not 1 <= int(wanted) <= len(tasks()):
            raise ParameterError(f"no task {wanted}: there are tasks 1 to {len(tasks())}")
        return tasks()[int(wanted) - 1]
    return parse_task(wanted)
