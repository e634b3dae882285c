"""Entries of the first screen, as plain values: samples, lessons, sessions and traces."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from sim.lessons.lesson import ORDER, PAPERS
from sim.workload.samples import ALSO, SAMPLES, Sample, sample_of
from tui.screens.dialogs.trace_choices import recent

Kind = Literal["sample", "also", "lesson", "learn", "session", "trace", "file"]


class MenuEntry(NamedTuple):
    kind: Kind
    value: str
    title: str
    what: str = ""
    origin: str = ""
    """Paper and figure that the sample reproduces; "" for other entries."""
    policy: str = ""

    @property
    def has_picture(self) -> bool:
        return self.kind in ("sample", "lesson")


def samples() -> Iterator[MenuEntry]:
    """Yield an entry for each sample, in the order for newcomers.

    >>> next(samples()).origin
    'Zhang et al., figure 4'
    """
    return map(_sample, SAMPLES)


def _sample(sample: Sample, kind: Kind = "sample") -> MenuEntry:
    what, _, paper = sample.caption.rstrip(")").partition(" (")
    return MenuEntry(kind, sample.name, sample.showing.title, what, paper, sample.showing.policy)


def lessons(seen: Mapping[str, int], names: Iterable[str] = ORDER) -> Iterator[MenuEntry]:
    """Yield entries with the user's progress; `seen` maps a lesson to the scenes seen."""
    from sim.lessons.course import found_lesson

    for lesson in map(found_lesson, names):
        done, count = seen.get(lesson.name, 0), lesson.count
        how_far = "" if not done else "done" if done >= count else f"{done} of {count} scenes"
        yield MenuEntry(
            "lesson", lesson.name, lesson.title, lesson.about, PAPERS.get(lesson.paper, lesson.paper), how_far
        )


def learning(seen: Mapping[str, int]) -> MenuEntry:
    """Return the entry for all lessons, which names the first unfinished one."""
    begun = {entry.value: entry.policy == "done" for entry in lessons(seen, filter(seen.__contains__, ORDER))}
    following = next((name for name in ORDER if not begun.get(name)), None)
    told = f"{len(ORDER)} lessons, {sum(begun.values())} done"
    if following is not None:
        told += f": next “{next(lessons(seen, [following])).title}”"
    return MenuEntry("learn", "", "lessons", told)


def entries(sessions: Sequence[MenuEntry], traces: Sequence[str], seen: Mapping[str, int]) -> tuple[MenuEntry, ...]:
    before = [choice for choice in map(recent, traces) if choice.kind == "file"]
    return (
        *samples(), learning(seen), *sessions, *(_sample(sample_of(name), "also") for name in ALSO),
        *(MenuEntry("trace", choice.value, choice.title, choice.what) for choice in before),
        MenuEntry("file", "", "a file ...", "SWF, sacct, Batsim or CSV, wherever it is"),
    )  # fmt: skip
