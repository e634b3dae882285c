"""Grading: each submission becomes a row, whatever it does; all that counts is computed here, by the engine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import as_completed
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf, nextafter
from pathlib import Path
from typing import Any, NamedTuple

from sim.authoring.starvation import verdict
from sim.classroom.grading.hand_in import counted, read_hand_in
from sim.classroom.grading.outside import Bounds, Code, Remote, SubmissionError, code_in_submission
from sim.comparison.comparison_sentences import headline, names_of_jobs
from sim.comparison.divergence import Divergence, Side, account, part
from sim.engine.engine import Engine
from sim.lab.pool import LocalPool
from sim.metrics.aggregates import aggregates
from sim.metrics.catalogue import METRICS
from sim.support.errors import DecisionError, FileError, SchedscopeError, near
from sim.support.files import TextKind
from sim.support.formatting import clock, listed, printable, shortened
from sim.timeline.scenario import Scenario
from sim.workload.model import Workload

RATIOS = ("mean_wait", "max_wait", "mean_bounded_slowdown", "utilization")
Draw = Callable[[Sequence[tuple[Engine, str]], float], str]
"""Function that draws two runs up to a time as SVG"""
Tests = Callable[[Path], tuple[int, int, str]]
"""Function that makes the teacher's tests: how many passed, of how many, and words on the first that failed"""
USUAL = {"legal": 4, "deterministic": 1, "starvation": 1, "equal": 4, "tests": 5, "answers": 10, "questions": 10}
RUBRIC = TextKind("rubric", 2**16, FileError)


class Bound(NamedTuple):
    """Marks for a metric whose ratio to the reference's lies within bounds."""

    marks: float
    least: float = -inf
    most: float = inf


class Rubric(NamedTuple):
    """Marks for each part of a submission, and for metrics by name."""

    marks: Mapping[str, float] = USUAL
    metrics: Mapping[str, Bound] = {}


def read_rubric(path: Path) -> Rubric:
    """Return the marks in a small TOML file; what it leaves out counts nothing."""
    found = RUBRIC.toml(RUBRIC.read(path), path)
    tables = found.pop("metrics", {})
    tables = tables if isinstance(tables, dict) else {}
    _heed(found, USUAL, path)
    _heed(dict.fromkeys(tables, 0), [metric.name for metric in METRICS], path)
    for name, table in tables.items():
        if not isinstance(table, dict) or "marks" not in table:
            raise FileError(f"metrics.{name} is expected to have marks, and most or least", path)
        _heed(table, Bound._fields, path)
    usual = dict.fromkeys(USUAL, 0) | {"questions": USUAL["questions"]}
    return Rubric(usual | found, {name: Bound(**table) for name, table in tables.items()})


def _heed(found: Mapping[str, Any], known: Any, path: Path) -> None:
    """Raise an error for a name that is not known, and for a value that is no number from 0 on."""
    for name, value in found.items():
        if name not in known:
            raise FileError(f"no marks for {name!r}{near(name, known)}", path)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
            raise FileError(f"{name} is expected to be a number, at least 0, got {value!r:.40}", path)


class Assignment(NamedTuple):
    """Reference and traces, by name, with which submissions are compared, and marks for it."""

    like: str
    on: Sequence[tuple[str, Workload]]
    rubric: Rubric = Rubric()
    bounds: Bounds = Bounds()
    tests: Tests | None = None
    draw: Draw | None = None


class OnTrace(NamedTuple):
    """Schedule of a submission on one trace, compared with the reference's: step, jobs and words of the first
    difference, and metrics as multiples of the reference's (None if unknown).
    """

    trace: str
    equal: bool
    step: int | None
    jobs: str
    told: str
    ratios: Mapping[str, float | None]


@dataclass(frozen=True)
class Row:
    """Result for one submission; shares are (how many, of how many)."""

    name: str
    told: str = ""
    marks: float = 0.0
    of: float = 0.0
    legal: bool | None = None
    ends: bool = False
    """True if every job starts and ends on all traces"""
    deterministic: bool | None = None
    starves: bool | None = None
    on: tuple[OnTrace, ...] = ()
    tests: tuple[int, int] | None = None
    answers: tuple[int, int] | None = None
    picture: str = field(default="", repr=False)
    likeness: str = field(default="", repr=False)

    def saying(self, *what: str) -> Row:
        said = (printable(shortened(each, 600)) for each in what)
        return replace(self, told="; ".join(filter(None, (self.told, *said))))


def grade(
    paths: Sequence[Path], to: Assignment, workers: int, on_row: Callable[[], object] = lambda: None
) -> list[Row]:
    """Return the rows of all submissions, in their order, graded by `workers` processes."""
    pool = LocalPool(workers)
    try:
        made = [pool.submit(graded, path, to) for path in paths]
        for _ in as_completed(made):
            on_row()
        rows = [each.result() for each in made]
    finally:
        pool.stop()
    twins = [[o.name for o in rows if row.likeness and o.likeness == row.likeness and o is not row] for row in rows]
    return [
        row.saying(f"has the same code as {listed(names, 3)}") if names else row
        for row, names in zip(rows, twins, strict=True)
    ]


def graded(path: Path, to: Assignment) -> Row:
    """Return the row of one submission, with its marks."""
    row, is_code = Row(printable(path.name)), path.suffix == ".py" or os.path.isdir(path)
    try:
        if is_code:
            code = code_in_submission(path)
            row = replace(row, likeness=code.likeness)
            row = _of_policy(row, path, code, to)
        elif path.suffix in (".txt", ".toml"):
            row = replace(row, answers=(0, int(to.rubric.marks["questions"])))
            handed = read_hand_in(path)
            right, asked, about = counted(handed, int(to.rubric.marks["questions"]))
            row = replace(row, answers=(right, asked)).saying(f"{shortened(handed.name, 60)}: {about}")
        else:
            row = row.saying("is neither a policy (.py) nor answers to hand in (.txt)")
    except Exception as error:  # the other rows must not suffer
        kind = "" if isinstance(error, SchedscopeError) else f"could not be graded: {type(error).__name__}: "
        told = error.what if isinstance(error, FileError) else str(error)
        row = replace(row, legal=False if is_code else None).saying(kind + told)
    return _marked(row, to)


def _of_policy(row: Row, path: Path, code: Code, to: Assignment) -> Row:
    first, engines = Remote.loaded(to.bounds, *code, seed=1), list[Engine]()
    with first.process:
        for name, workload in to.on:
            engine = Engine(workload, first, curious=False)
            unfinished = _finished(engine, name)
            engines.append(engine)
            row = replace(row, starves=True).saying(unfinished) if unfinished else row
        row = replace(row, ends=row.starves is None)
        if row.ends:
            if (told := verdict(first, first.own)) is None:
                raise SubmissionError("fails where narrow jobs keep arriving on 16 processors")
            row = replace(row, starves=told.endswith("may starve"))
            row = row.saying(told) if row.starves else row
    row, second = replace(row, legal=True, deterministic=True), Remote.loaded(to.bounds, *code, seed=2)
    with second.process:
        try:
            for (name, workload), engine in zip(to.on, engines, strict=True):
                row = _compared(row, engine, Engine(workload, second, curious=False), name, to)
        except (SubmissionError, DecisionError) as error:
            row = replace(row, deterministic=False).saying(f"its second run {error}")
    if to.tests is not None:
        passed, many, told = to.tests(path)
        row = replace(row, tests=(passed, many)).saying(told)
    return row


def _finished(engine: Engine, name: str) -> str:
    """Make the run; return words on jobs that never start, or "". Raise an error for anything else that fails."""
    try:
        engine.run()
    except SubmissionError as error:
        raise SubmissionError(f"fails at step {engine.step_count + 1} of {name}: {error}") from None
    except DecisionError as error:
        told = re.sub(r"^\w+\.py(:\d+)?: ", "", error.brief)
        if " unfinished, the first is " in told:
            return f"on {name} it {told.partition(': no further event')[0]}"
        raise SubmissionError(f"fails at step {engine.step_count + 1} of {name}: {told}") from None
    return ""


def _compared(row: Row, engine: Engine, other: Engine, name: str, to: Assignment) -> Row:
    """Return the row with the schedule of a trace compared with the reference's; `other` is to make the same again."""
    like, side = Scenario(engine.workload, to.like).begun(), Side.of(engine)
    like.run()
    parting, told, jobs, picture = part(Side.of(like), side), "", "", row.picture
    if parting is not None:
        jobs = names_of_jobs(parting, engine.workload)
        told, picture = _first_difference(parting, other, to, row.picture)
    with suppress(DecisionError):  # of jobs that never start: the schedules are compared
        other.run()
    found, theirs = aggregates(engine.schedule()), aggregates(like.schedule())
    ratios = {metric: _ratio(found[metric], theirs[metric]) for metric in (*RATIOS, *to.rubric.metrics)}
    equal, step = parting is None and not engine.moment.waiting, None if parting is None else parting.steps[1]
    row = replace(row, on=(*row.on, OnTrace(name, equal, step, jobs, told, ratios)), picture=picture)
    if (apart := part(side, Side.of(other))) is None:
        return row
    differs = f"its second run of {name} differs from step {apart.steps[0]} on, at {clock(apart.time)}"
    return replace(row, deterministic=False).saying(differs)


def _first_difference(parting: Divergence, other: Engine, to: Assignment, picture: str) -> tuple[str, str]:
    """Return words and picture of the first difference; `other` goes there, with reasons."""
    other.run(until=nextafter(parting.time, 0))
    other.curious = True
    other.run(until=parting.time)
    other.curious = False
    like = Scenario(other.workload, to.like).watched(parting.time)
    first, second = (tuple(account(each, rank, parting.time) for rank in parting.ranks) for each in (like, other))
    if to.draw is not None and not picture:
        picture = to.draw([(like, to.like), (other, "the submission")], parting.time)
    return headline(parting, (to.like, "this"), (first, second)), picture


def _ratio(found: float | None, reference: float | None) -> float | None:
    return None if found is None or reference is None else found / reference if reference else 1.0 - bool(found)


def _marked(row: Row, to: Assignment) -> Row:
    """Return the row with its marks: the sum of parts, each (marks, share)."""
    marks, parts = to.rubric.marks, list[tuple[float, float]]()
    if row.answers is not None:
        parts.append((marks["answers"], row.answers[0] / max(row.answers[1], 1)))
    elif row.legal is not None:
        parts += [(marks["legal"], row.legal and row.ends)]
        parts += [(marks["deterministic"], (row.deterministic or False) and row.ends)]
        parts += [(marks["starvation"], row.starves is False and row.legal)]
        parts += [(marks["equal"], sum(each.equal for each in row.on) / len(to.on))]
        for name, (most, low, high) in to.rubric.metrics.items():
            ratios = (each.ratios[name] for each in row.on)
            within = sum(ratio is not None and low <= ratio <= high for ratio in ratios)
            parts.append((most, within / len(to.on)))
        if to.tests is not None:
            parts.append((marks["tests"], row.tests[0] / max(row.tests[1], 1) if row.tests else 0))
    return replace(row, marks=sum(most * share for most, share in parts), of=sum(most for most, _ in parts))
