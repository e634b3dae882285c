"""A lesson as plain text: no colours and no cursor control, for screen readers, braille lines and pipes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.recorded import performance_of
from sim.classroom.lessons.walk import LONGEST_ANSWER, Walk
from sim.support.errors import SchedscopeError
from tui.classroom.handout.handouts import named, pictures
from tui.classroom.lesson_lines import flowed, markdown
from tui.cli.terminal import columns, say
from tui.look.sheets import Span


def read_aloud(lesson: Lesson, scene: int, answers: TextIO | None) -> int:
    """Print a lesson from a scene (from 0) on; `answers` has an answer in each line, an empty one skips a question."""
    if isinstance(answers, io.TextIOWrapper):
        answers.reconfigure(errors="replace")
    made = performance_of(lesson)
    walk = Walk.of(made, scene)
    _say((lesson.title, "", lesson.about))
    while True:
        _say(_scene(made, walk))
        while walk.open_question is not None:
            line = "" if answers is None else answers.readline(4096)
            if not line:
                _say((f"No more answers: the lesson ends here, at scene {walk.index + 1} of {len(walk.scenes)}.",))
                return 0
            try:
                walk = replace(walk, typed=line.strip()[:LONGEST_ANSWER]).entered() if line.strip() else walk.next()
            except SchedscopeError as error:
                _say((f"{error}: answer again.",))
        if walk.verdict is not None:
            _say((named(made, walk, walk.verdict.told), *_text(made, walk)))
        if walk.is_at_the_end:
            asked = sum(each.question is not None for each in walk.scenes[scene:])
            _say((f"{sum(is_right for _, is_right in walk.answers)} of {asked} questions right.",))
            return 0
        walk = walk.next()


def _scene(made: Performance, walk: Walk) -> Iterator[str]:
    yield from ("", f"Scene {walk.index + 1} of {len(walk.scenes)}: {walk.staged.title}", *_text(made, walk))
    if (asked := walk.open_question) is not None:
        yield from ("", f"Question: {asked.asks.replace('Click the place, or type', 'Type')}", asked.facts)
        yield from (f"{choice.key}: {choice.label}" for choice in asked.choices)
        yield "Your answer in a line, or an empty line to see it:"


def _text(made: Performance, walk: Walk) -> Iterator[str]:
    yield from (line.text for line in markdown(walk.text, columns()))
    for policy, _, words, _ in pictures(made, walk):
        yield from ("", f"Picture{policy and f' ({policy})'}:", *(f"- {each}" for each in words))


def _say(told: Iterable[str]) -> None:
    say("\n".join(line.text.strip() for each in told for line in flowed([Span(each)], columns())))
