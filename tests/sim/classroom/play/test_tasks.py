"""Inverse puzzles: each has a solution, its start is none, and what is wrong ends in a line."""

import pytest

from sim.classroom.play.tasks import Task, parse_task, tasks
from sim.support.errors import SchedscopeError
from sim.workload.formats.puzzle import Puzzle, parse_puzzle

ADDED = {
    "Make one wait": "8x1m@2m",
    "Slip through": "2x9m@3m",
    "The starving job": "2x21m@23m",
    "Better off in line": "3x28m@1m",
    "Conservative beats EASY": "7x12m@4m",
    "In line, and done earlier": "5x20m@8m",
    "EASY beats conservative": "2x14m@2m",
    "Five minutes of work": "2x1m@2m",
    "Four in a row": "2x3m@0",
}
CHANGED = {
    "A word too many": ("3x10m/40m", "3x10m/14m"),
    "Less work, a later end": ("4x20m", "4x2m"),
    "One longer estimate": ("5x5m@1m", "5x5m/35m@1m"),
}
STAYS = "the jobs of the puzzle stay as they are, in order, and new ones come last"
TASK = "8 procs; 5x20m@0; 3x10m@1m ? add 1 with 30m: J3.wait@fcfs > 10m"


def solution(task: Task) -> Puzzle:
    line = task.start.line
    added = ADDED.get(task.title)
    return parse_puzzle(f"{line}; {added}" if added else line.replace(*CHANGED[task.title]))


@pytest.mark.parametrize("number", range(1, 13))
def test_task_has_a_solution_and_is_not_solved_at_first(number: int) -> None:
    task = parse_task(f"{number}")
    assert task.problem(solution(task)) == ""
    assert task.problem(task.start) != ""


def test_task_survives_its_line_of_text() -> None:
    assert len(tasks()) == 12
    assert [parse_task(task.line, task.title) for task in tasks()] == [*tasks()]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("8 procs; 5x20m@0; 3x10m@1m; 8x1m@2m", ""),
        ("8 procs; 5x20m@0; 3x10m@1m; 1x1m@2m", "J3.wait@fcfs > 10m does not hold: 9m00 > 10m00"),
        ("8 procs; 5x20m@0; 3x10m@1m; 8x226@2m", "30m08 of work, at most 30m00"),
        ("8 procs; 5x20m@0; 3x10m@1m", "J3 is the job you add"),
        ("9 procs; 5x20m@0; 3x10m@1m; 8x1m@2m", "and nothing else"),
        ("8 procs; 5x20m@0; 3x11m@1m; 8x1m@2m", STAYS),
        ("8 procs; 5x20m@0; 8x1m@2m; 3x10m@1m", STAYS),
        ("8 procs; 3x10m@1m; 5x20m@0; 8x1m@2m", STAYS),
        ("8 procs; 5x20m@0; 3x10m@1m; 8x1m@2m; 1x1m@2m", "not 2 jobs"),
        ("8 procs; 5x20m@0; 8x2m/1m@2m", STAYS),
        ("8 procs; 5x20m@0; 3x10m@1m; 8x2m/1m@2m", "killed at its estimate"),
        ("8 procs", STAYS),
    ],
)
def test_only_what_the_rule_allows_solves_a_task(line: str, problem: str) -> None:
    told = parse_task(TASK).problem(parse_puzzle(line))
    assert problem in told if problem else told == ""


def test_only_the_named_field_of_a_job_may_change() -> None:
    task = parse_task("8 procs; 5x20m@0; 6x15m@1m; 3x10m/40m@2m ? change 1 estimate: J3.start@easy < J2.start@easy")
    assert task.problem(parse_puzzle("8 procs; 5x20m@0; 6x15m@1m; 2x10m/14m@2m")).endswith(", and nothing else")
    assert task.problem(parse_puzzle("8 procs; 5x20m/30m@0; 6x15m@1m; 3x10m/14m@2m")).endswith("not 2 jobs")
    assert task.problem(parse_puzzle("8 procs; 5x20m@0; 6x15m@1m")).endswith(", and nothing else")
    added = parse_puzzle(f"{solution(tasks()[3]).line}; 1x1m")
    assert task.problem(added) == "change the estimate of 1 job, and add none"


@pytest.mark.parametrize(
    ("job", "holds"), [("4x2m@0", True), ("4x2m/20m@0", True), ("4x2m/9m@0", False), ("4x2m/20m@1m", False)]
)
def test_with_another_run_time_the_estimate_stays_or_follows(job: str, holds: bool) -> None:
    task = tasks()[7]
    told = task.problem(parse_puzzle(task.start.line.replace("4x20m@0", job)))
    assert ("and nothing else" not in told) == holds


def test_up_to_this_number_of_jobs_may_be_added() -> None:
    task = tasks()[2]
    assert ": add up to 2 jobs, so that J2.wait@firstfit > 40m and J2.wait@easy < 20m" in task.told
    assert task.problem(task.start).startswith("J2.wait@firstfit > 40m does not hold: ")
    assert task.problem(parse_puzzle(f"{task.start.line}; 1x1m; 1x1m; 1x1m")) == "add up to 2 jobs, not 3 jobs"


@pytest.mark.parametrize(
    "wanted",
    [
        "0", "13", "9" * 400, "", "?", "junk", "8 procs ? add 1:", "8 procs ? add 99: J1.wait > 1",
        "x procs ? add 1: J1.wait > 1", f"9{'9' * 90} procs ? add 1: J1.wait > 1",
        "8 procs; 1x1m ? add 1: J1.wait@gang > 1", "8 procs; 1x1m ? add 1: J1.wait@file.py:Mine > 1",
        f"8 procs; 1x1m ? add 1 with {'9' * 50}d: J1.wait > 1", f"8 procs; {'1x1@0;' * 99} ? add 1: J1.wait > 1",
        f"8 procs ? add 1: {'J1.wait > 1 and ' * 999}J1.wait > 1",
    ],
)  # fmt: skip
def test_hostile_task_is_refused_in_a_line(wanted: str) -> None:
    with pytest.raises(SchedscopeError) as error:
        parse_task(wanted)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "goal", ["J9.wait > 1", "J1", "__import__('os') > 1", "J1.wait > 1e999", "mean_wiat > 1", "> >"]
)
def test_goal_without_a_value_is_a_problem_in_a_line(goal: str) -> None:
    told = parse_task(f"8 procs; 1x1m ? add 1: {goal}").problem(parse_puzzle("8 procs; 1x1m; 1x1m"))
    assert told
    assert "\n" not in told


def test_task_of_huge_jobs_is_judged() -> None:
    line = "1000 procs" + "; 999x99999999/100000000@99999999" * 9
    assert "does not hold" in parse_task("1000 procs ? add 9: J9.wait < 1").problem(parse_puzzle(line))
