"""Entries of the first screen for the lessons of the course."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from sim.classroom.lessons.lesson import ORDER, PAPERS
from sim.classroom.lessons.lesson_file import found_lesson
from tui.screens.first.page import MenuEntry


def entries_of_lessons(seen: Mapping[str, int], names: Iterable[str] = ORDER) -> Iterator[MenuEntry]:
    """Yield entries with the user's progress; `seen` maps a lesson to the scenes seen."""
    for lesson in map(found_lesson, names):
        done, count = seen.get(lesson.name, 0), lesson.count
        how_far = "" if not done else "done" if done >= count else f"{done} of {count} scenes"
        origin = f"{ORDER.index(lesson.name) + 1} · {PAPERS.get(lesson.paper, lesson.paper)}"
        yield MenuEntry("lesson", lesson.name, lesson.title, lesson.about, origin, how_far)


def entry_of_lessons(seen: Mapping[str, int]) -> MenuEntry:
    """Return the entry for all lessons, which names the first unfinished one."""
    begun = {
        entry.value: entry.policy == "done" for entry in entries_of_lessons(seen, filter(seen.__contains__, ORDER))
    }
    following = next((name for name in ORDER if not begun.get(name)), None)
    told = f"{len(ORDER)} lessons, {sum(begun.values())} done"
    if following is not None:
        told += f": next “{next(entries_of_lessons(seen, [following])).title}”"
    return MenuEntry("learn", "", "lessons", told)
