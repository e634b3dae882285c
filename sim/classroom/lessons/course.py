"""Course: the lessons that come with the program, in the order of learning."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from sim.classroom.lessons.lesson import ORDER, Lesson
from sim.classroom.lessons.lesson_file import read_lesson
from sim.support.errors import ParameterError, near
from sim.support.formatting import quoted

FOLDER = Path(__file__).parent / "course"


@cache
def course() -> tuple[Lesson, ...]:
    return tuple(read_lesson(FOLDER / f"{name}.toml") for name in ORDER)


def found_lesson(named: str) -> Lesson:
    """Return the lesson in the file `named` (ending in .toml, or a path), or the built-in one by name or number."""
    if named.endswith(".toml") or os.sep in named:
        return read_lesson(named)
    if named.isdecimal() and 0 < int(named) <= len(ORDER):
        named = ORDER[int(named) - 1]
    if named not in ORDER:
        raise ParameterError(f"no lesson {quoted(named)}{near(named, ORDER)} (or FILE.toml, one of your own)")
    return read_lesson(FOLDER / f"{named}.toml")
