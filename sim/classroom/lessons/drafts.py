"""Drafts of lessons: of a session, with a scene without text for each bookmark, and of a puzzle."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sim.classroom.lessons.lesson import LessonError
from sim.policies.own.naming import code_in
from sim.session.session import Bookmark, BranchRecord, Session
from sim.session.syntax import Value
from sim.support.errors import ParameterError
from sim.support.formatting import printable_lines
from sim.workload.formats.puzzle import Puzzle
from sim.workload.source import is_line

SAY = "What is there to be seen here? Numbers come from the run: the mean wait is {mean_wait}."


def lesson_of(session: Session, path: str | Path) -> str:
    """Return the text of a lesson file to be saved at `path`; raise an error for what a lesson does not support."""
    if session.named_code or any(code_in(spec) for spec in _specs(session)):
        raise LessonError("the session has user-defined policies, and a lesson runs no code", path)
    title = Path(path).stem.replace("-", " ").replace("_", " ").capitalize()
    head: dict[str, Value] = {
        "title": title,
        "about": "What it is about, in a line.",
        "trace": _trace(session, path),
        "policy": session.policy,
        "placement": session.placement,
        "exercise": "What is there to try afterwards?",
    }
    tables = [_table("", head), *([_table("[options]", session.options)] if session.options else [])]
    marks = session.bookmarks or (Bookmark("Where it stood", session.branch, session.step),)
    return "\n".join([*tables, *(_table("[[scene]]", dict(_scene(session, mark))) for mark in marks)])


def _specs(session: Session) -> Iterator[str]:
    yield session.policy
    for branch in session.branches:
        yield from (switch.spec for switch in branch.switches)


def _trace(session: Session, path: str | Path) -> str:
    """Return the session's trace as a sample or a file in the lesson's folder; raise an error for any other."""
    trace = session.trace
    if trace.is_sample or is_line(trace.name):
        return trace.name
    folder = os.path.realpath(os.path.dirname(os.path.abspath(path)))
    if os.path.dirname(os.path.realpath(trace.name)) != folder:
        raise LessonError(
            f"the trace of a lesson must be in its folder: write the lesson, or copy {trace.name}, there", path
        )
    return os.path.basename(trace.name)


def _scene(session: Session, mark: Bookmark) -> Iterator[tuple[str, Value]]:
    """Yield (key, value) for the scene of a bookmark, also the switch or comparison with which its branch began."""
    branches = {branch.name: branch for branch in session.branches}
    branch = branches[mark.branch]
    yield "title", mark.name
    yield "policy", _policy(session, branch, branches)
    if (switched := _switched(branch)) is None:
        yield "at", f"#{mark.step}"
    else:
        yield "at", f"#{branch.forked}"
        yield "switch", switched
    yield "say", mark.note or SAY
    yield "notes", "For the teacher."


def _switched(branch: BranchRecord) -> str | None:
    """Return the spec to which the branch switches where it leaves its parent; None if it begins otherwise."""
    return branch.switches[0].spec if branch.parent is not None and branch.forked and branch.switches else None


def _policy(session: Session, branch: BranchRecord, branches: dict[str, BranchRecord]) -> str:
    if branch.parent is None:
        if branch.changes and branch is not session.branches[0]:
            raise LessonError(f"a scene has the jobs of its lesson, but {branch.name} has changed ones")
        return session.policy
    if not branch.forked and branch.switches:
        return branch.switches[0].spec
    return _policy(session, branches[branch.parent], branches)


def _table(name: str, values: Mapping[str, Value]) -> str:
    lines = [f"{key} = {_toml_text(value)}" for key, value in values.items()]
    return "\n".join([*([name] if name else []), *lines, ""])


def _toml_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return json.dumps(printable_lines(value), ensure_ascii=False)


def lesson_of_puzzle(puzzle: Puzzle) -> str:
    if not puzzle.jobs:
        raise ParameterError("an empty puzzle is no lesson: add jobs first")
    last = max(job.submit for job in puzzle.jobs)
    scenes = Path(__file__).with_name("puzzle_lesson.txt").read_text(encoding="utf-8")
    return scenes.format(line=json.dumps(puzzle.line), last=last)
