"""Inverse puzzles: a puzzle to change a little, until claims about its runs are true. One line of text is a task:

8 procs; 5x20m@0; 6x10m@1m ? add 1 with 5m: J3.wait > 10m and mean_wait@easy < mean_wait@conservative

After the question mark: `add` at most this number of jobs, `with` at most this work (processors x run time), or
`change` the submit, run, estimate or procs of at most this number of jobs. Claims are as in lessons.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from sim.classroom.lessons.names import LessonValue, Names
from sim.classroom.lessons.runs import FIRST, Runs
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.formatting import count, parse_time, quoted, span
from sim.workload.formats.puzzle import LONGEST, Puzzle, parse_puzzle
from sim.workload.job_changes import PuzzleJob
from sim.workload.model import Workload

POLICIES = ("fcfs", "firstfit", "easy", "conservative")
"""Policies that a task may name; with any jobs their runs end soon."""
_FORM = re.compile(
    r"(.+)\?\s*(?:add (\d)(?: with (\w+))?|change (\d) (submit|run|estimate|procs))\s*:(.+)", re.S | re.A
)


class Task(NamedTuple):
    title: str
    line: str
    start: Puzzle
    adds: int
    """Largest number of jobs that may be added, or else changed."""
    changes: int
    field: str
    """Field of `PuzzleJob` that may be changed."""
    work: float
    """Largest work of the added jobs in processors times seconds."""
    rule: str
    goals: tuple[str, ...]
    told: str

    def problem(self, puzzle: Puzzle) -> str:
        """Return in a line why the puzzle does not solve the task; "" if it does."""
        was, jobs, added = self.start.jobs, puzzle.jobs, puzzle.jobs[len(self.start.jobs) :]
        changed = [pair for pair in zip(was, jobs, strict=False) if pair[0] != pair[1]]
        if added and not self.adds:
            return f"{self.rule}, and add none"
        if self.adds and jobs[: len(was)] != was:
            return "the jobs of the puzzle stay as they are, in order, and new ones come last"
        if puzzle.procs != self.start.procs or len(jobs) < len(was) or any(map(self._is_other, changed)):
            return f"{self.rule}, and nothing else"
        if (found := len(added) + len(changed)) > self.adds + self.changes:
            return f"{self.rule}, not {count(found, 'job')}"
        if (work := sum(job.procs * job.run for job in added)) > self.work:
            return " of work, at most ".join(LessonValue(each, "span").exactly(0) for each in (work, self.work))
        if any(job.estimate < job.run for job in jobs):
            return "a job would be killed at its estimate < run time"
        try:
            runs = Runs(Workload.of(puzzle.trace), POLICIES[0])
            return "; ".join(filter(None, map(Names(runs, runs.at_step(FIRST, 0)).claim, self.goals)))
        except SchedscopeError as error:
            following = f"J{len(jobs) + 1}"
            is_to_come = len(added) < self.adds and f"{following}." in self.told
            return f"{following} is the job you add" if is_to_come else str(error)

    def _is_other(self, change: tuple[PuzzleJob, PuzzleJob]) -> bool:
        """Return True if more than the named field changed; with another run time the estimate may stay or follow."""
        old, new = change
        wanted = old._replace(**{self.field: getattr(new, self.field)})
        return new[:3] != wanted[:3] or new.estimate not in (wanted.estimate, old.estimate)


def parse_task(text: str, title: str = "A task") -> Task:
    """Return the task in a line, or the built-in one with this number."""
    if text in map(str, range(1, 13)):
        return tasks()[int(text) - 1]
    found = _FORM.fullmatch(text.strip()) if len(text) <= 2 * LONGEST else None
    if found is None:
        raise ParameterError(f"{quoted(text)}: expected 1 to 12, or a line of --tasks: PUZZLE ? add 1: CLAIM")
    start, adds, work, changes, what, goal = found.groups()
    if wrong := {*re.findall(r"@(\S+)", goal)} - {*POLICIES}:
        raise ParameterError(f"no {quoted(min(wrong))} in a task: the policies are {', '.join(POLICIES)}")
    most, field = parse_time(work) if work else float("inf"), {"estimate": "asked"}.get(what, what or "run")
    jobs = f"{'' if (adds or changes) == '1' else 'up to '}{count(int(adds or changes), 'job')}"
    rule = f"change the {what} of {jobs}" if changes else f"add {jobs}"
    rule += f" with at most {span(most)} of work (processors x run time)" if work else ""
    told, goals = f"{title}: {rule}, so that {goal.strip()}", tuple(goal.strip().split(" and "))
    start, adds, changes = parse_puzzle(start), int(adds or 0), int(changes or 0)
    return Task(title, text.strip(), start, adds, changes, field, most, rule, goals, told)


def titled_task(text: str) -> Task:
    """Return the task in a line that begins with its title and a colon."""
    title, _, line = text.partition(": ")
    return parse_task(line, title)


@cache
def tasks() -> tuple[Task, ...]:
    """Return the tasks that come with the program; of each more random changes solve it than of the next."""
    lines = Path(__file__).with_name("tasks.txt").read_text(encoding="utf-8").splitlines()
    return tuple(map(titled_task, lines))
