"""A lesson as a handout: a section for each scene, whose question is judged by sentences made beforehand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.staging import performance_of
from sim.classroom.lessons.walk import Walk
from sim.support.formatting import clock_near
from tui.chart.svg.elements import element, text
from tui.chart.svg.frame import LEFT, RIGHT
from tui.classroom.handout.html_document import figure, paragraph, save_document
from tui.classroom.handout.scene_pictures import WIDTH, named, pictures
from tui.classroom.lesson_lines import markdown

_TAGS = {"strong": "strong", "accent": "em", "key": "code"}
_ENDLESS = 10**9
"""Width at which no line of Markdown is wrapped."""


def save_lesson(lesson: Lesson, out: str) -> None:
    made = performance_of(lesson)
    first = Walk.of(made)
    sections = [(walk.staged.title, _scene(made, walk), None) for walk in map(first.go, range(len(first.scenes)))]
    about = f"{lesson.about} In the program: schedscope learn {lesson.name}".strip()
    save_document(lesson.title, paragraph(about), sections, "Scene", out)


def _scene(made: Performance, walk: Walk) -> str:
    asked = walk.open_question
    if asked is None:
        return _figures(made, walk) + marked(walk.now.text)
    seen, told = walk.next(), paragraph(named(made, walk, asked.told), class_="told")
    inside = told, marked(seen.now.text), element("ul", *_reasons(made, walk, asked), ""), _figures(made, seen)
    answer = element("details", element("summary", "The answer, with its reason"), *inside, class_="answer")
    return _figures(made, walk) + marked(walk.now.text) + _question(asked, walk) + answer


def _figures(made: Performance, walk: Walk) -> str:
    found, when = [], ", after the answer" if walk.verdict is not None else ""
    for policy, svg, words, (begin, end) in pictures(made, walk):
        place = {"data_left": LEFT, "data_width": WIDTH - LEFT - RIGHT, "data_begin": begin, "data_end": end}
        found.append(figure(svg, f"{walk.staged.title}{when}{policy and f' ({policy})'}", words, **place))
    return "".join(found)


def _question(asked: Question, walk: Walk) -> str:
    about: dict[str, object] = {}
    controls = [
        element("button", text(choice.label), data_reason=_id(walk, number), aria_pressed="false")
        for number, choice in enumerate(asked.choices)
    ]
    if asked.value is not None:
        value, within, now = (f"{each:.12g}" for each in (asked.value.number, asked.within, walk.moment.clock))
        about = {"data_value": value, "data_within": within, "data_unit": asked.value.unit, "data_now": now}
        label = element("label", "Your answer (<i>a time, such as 12m30, or a number</i>) ", for_=_id(walk, 0))
        controls = [label, element("input", id=_id(walk, 0), autocomplete="off"), element("button", "Judge")]
    shown = element("div", *controls, hidden=""), '<p class="verdict" role="status"></p>'
    field = element("fieldset", element("legend", text(asked.asks)), paragraph(asked.facts), *shown)
    return element("form", field, **about)


def _reasons(made: Performance, walk: Walk, asked: Question) -> Iterator[str]:
    """Yield the verdict on each choice or, if a time is asked for, why the job does not start at each earlier time."""
    for number, choice in enumerate(asked.choices):
        told = f"Right. {asked.told}" if choice.is_right else f"Not {choice.label}. {choice.why}"
        is_right = "" if choice.is_right else None
        yield element("li", text(named(made, walk, told.rstrip())), id=_id(walk, number), data_right=is_right)
    if asked.value is None or asked.value.unit != "moment":
        return
    moment, history = walk.moment, made.runs.timeline.branches[walk.moment.branch].engine.history
    times = [moment.clock, *map(history.time_of, range(moment.step, asked.seen.step - 1))]
    for told, since in groupby(times, key=asked.why_not):
        first = next(since)
        front = element("span", f"From {clock_near(moment.clock)(first)} on: ", class_="place")
        yield element("li", front, text(named(made, walk, told)), data_since=f"{first:.12g}") if told else ""


def _id(walk: Walk, number: int) -> str:
    return f"answer-{walk.index + 1}-{number}"


def marked(source: str) -> str:
    """Return the Markdown of a lesson as HTML.

    >>> marked("J3 *waits* **long** <b>.")
    '<p>J3 <em>waits</em> <strong>long</strong> &lt;b&gt;.</p>'
    """
    lines = (
        [(_TAGS.get(span.style, "span"), text(span.text)) for span in line.spans] for line in markdown(source, _ENDLESS)
    )
    told = ("".join(told if tag == "span" else element(tag, told) for tag, told in line) for line in lines)
    return "".join(element("p", each.strip()) for each in told)
