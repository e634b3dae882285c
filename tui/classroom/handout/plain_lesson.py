"""A lesson as plain text: no colours and no cursor control, for screen readers, braille lines and pipes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TextIO

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.staging import performance_of
from sim.classroom.lessons.walk import LONGEST_ANSWER, Walk
from sim.support.errors import SchedscopeError
from tui.classroom.handout.scene_pictures import named, pictures, typed_question
from tui.classroom.lesson_lines import flowed, markdown
from tui.cli.terminal import columns, say
from tui.look.sheets import Span

_PIECE = 4096


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
            if (line := _line(answers)) is None:
                _say((f"No more answers: the lesson ends here, at scene {walk.index + 1} of {len(walk.scenes)}.",))
                return 0
            try:
                walk = replace(walk, typed=line[:LONGEST_ANSWER]).entered() if line else walk.next()
            except SchedscopeError as error:
                _say((f"{error}: answer again.",))
        if walk.verdict is not None:
            _say((named(made, walk, walk.verdict.told), *_text(walk), *_words(made, walk)))
        if walk.is_at_the_end:
            break
        walk = walk.next()
    if asked := sum(each.question is not None for each in walk.scenes[scene:]):
        _say((f"{sum(is_right for _, is_right in walk.answers)} of {asked} questions right.",))
    return 0


def _scene(made: Performance, walk: Walk) -> Iterator[str]:
    now, asked = walk.now, walk.open_question
    yield from ("", f"Scene {now.index + 1} of {now.count}: {now.title}")
    yield from (*_words(made, walk), *_text(walk))
    if asked is None:
        return
    yield from ("", f"Question: {typed_question(asked)}", asked.facts)
    yield from (
        choice.label if choice.rank is not None else f"{choice.key}: {choice.label}" for choice in asked.choices
    )
    yield "Your answer in a line, or an empty line to see it:"


def _text(walk: Walk) -> Iterator[str]:
    return (line.text for line in markdown(walk.now.text, columns()))


def _words(made: Performance, walk: Walk) -> Iterator[str]:
    for picture in pictures(made, walk, with_svg=False):
        yield f"Picture{picture.title and f' ({picture.title})'}:"
        yield from (f"- {each}" for each in picture.words)
    yield ""


def _say(told: Iterable[str]) -> None:
    lines = (
        line.text.strip() for each in told for line in (flowed([Span(each)], columns()) if each else flowed([], 80))
    )
    say("\n".join(lines))


def _line(answers: TextIO | None) -> str | None:
    """Return the next line without blanks around it, None at the end; of a very long line its beginning."""
    first = piece = "" if answers is None else answers.readline(_PIECE)
    while answers is not None and len(piece) == _PIECE and not piece.endswith("\n"):
        piece = answers.readline(_PIECE)
    return first.strip() if first else None
