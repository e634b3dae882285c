"""Command `schedscope grade`: an assignment, one row for each submission, whatever it does."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

import click

from tui.cli import options

USUAL = "lublin-128"
A_FILE = click.Path(exists=True, dir_okay=False, path_type=Path, resolve_path=True)


@click.command("grade")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path, resolve_path=True))
@click.option("--like", default="easy", type=options.SPEC, help="The reference, whose schedule is the right one.")
@click.option("--on", "traces", multiple=True, default=[USUAL], metavar="TRACE", help="A trace, also a hidden one.")
@click.option("--tests", type=A_FILE, help="Your tests for pytest, with the fixture submission.")
@click.option("--rubric", type=A_FILE, help="Marks, as TOML.")
@click.option("--seconds", default=60.0, type=click.FloatRange(1), help="Time for all runs.", show_default=True)
@click.option("--memory", default=1024, type=click.IntRange(256), metavar="MB", help="Memory.", show_default=True)
@click.option("--trust", is_flag=True, help="Grade even if submissions could read or reach what they must not.")
@click.option("--html", metavar="FILE", help="A report, with first differences as pictures.")
@click.option("-o", "--output", "out", required=True, metavar="FILE.csv", help="The marks.")
def command(
    folder: Path, like: str, traces: tuple[str, ...], tests: Path | None, rubric: Path | None, seconds: float,
    memory: int, trust: bool, html: str | None, out: str,
) -> None:  # fmt: skip
    """Grade the policies and answers in FOLDER: one row for each, whatever it does."""
    from sim.classroom.grading.grade import Assignment, Rubric, grade, read_rubric
    from sim.classroom.grading.outside import Bounds, gaps, submissions_in
    from sim.lab.pool import cores
    from sim.policies import parse_policy
    from sim.support.errors import SchedscopeError
    from sim.support.files import write_whole
    from sim.support.formatting import count, listed
    from sim.workload.replay import read
    from tui.classroom.graded_tests import tested
    from tui.classroom.report import drawn, page, table
    from tui.cli.schedule_files import write_csv
    from tui.cli.terminal import progress, say

    if sys.platform == "win32":
        raise SchedscopeError("grade runs on Linux only, also in WSL")
    options.of_file("-o", out)
    options.of_file("--html", html)
    parse_policy(like)
    names = [Path(name).name for name in traces]
    names = names if len(set(names)) == len(names) else list(traces)
    marks, on = read_rubric(rubric) if rubric else Rubric(), list(zip(names, map(read, traces), strict=True))
    if other := [name for name, jobs in on if jobs.shape or jobs.limits or jobs.follows or jobs.outages]:
        raise SchedscopeError(f"{listed(other)}: grade takes jobs on equal processors, which wait for no other jobs")
    paths = submissions_in(folder)
    if not paths:
        raise SchedscopeError(f"{folder}: there is nothing to grade")
    bounds = Bounds(seconds, memory << 20, max(50_000, *(len(jobs) for _, jobs in on)))
    home = [path for path in sorted(Path.home().glob("*")) if os.access(path, os.R_OK)]
    hidden = map(os.path.abspath, map(str, (*paths, *filter(os.path.isfile, traces), *home[:5])))
    if not trust and (found := gaps(bounds, [*hidden])):
        told = f"here a submission could {listed(found, 3)}"
        raise SchedscopeError(f"{told}; grade on Linux 5.13 or newer, or with --trust if you trust all of them")
    to = Assignment(like, on, marks, bounds, partial(tested, tests) if tests else None, drawn if html else None)
    with progress(len(paths), "grading") as bar:
        rows = grade(paths, to, cores(), (lambda: bar.update(1)) if bar else lambda: None)
    write_csv(out, table(rows, to))
    if html:
        with write_whole(html) as file:
            file.write(page(rows, to))
    say(f"{count(len(rows), 'submission')}: marks in {out}" + (f", report in {html}" if html else ""))
