"""A lesson as a handout: a section for each scene, whose question is judged by sentences made beforehand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from sim.classroom.lessons.lesson import PAPERS, Lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.recorded import RecordedPerformance
from sim.classroom.lessons.staging import performance_of
from sim.classroom.lessons.walk import Walk
from sim.support.formatting import clock_near
from tui.chart.svg.elements import element, text
from tui.chart.svg.frame import LEFT, RIGHT
from tui.classroom.handout.html_document import Section, figure, paragraph, save_document
from tui.classroom.handout.scene_pictures import WIDTH, named, pictures, typed_question
from tui.classroom.lesson_lines import BULLET, markdown

_TAGS = {"strong": "strong", "accent": "em", "key": "code"}
_ENDLESS = 10**9
"""Width at which no line of Markdown is wrapped."""
_HELP = {
    "moment": "Type a time, such as 12m30 or 00:12:30.",
    "span": "Type a time, such as 12m30.",
    "share": "Type a share, such as 12.5 %.",
}


def save_lesson(lesson: Lesson, out: str) -> None:
    made = performance_of(lesson)
    first = Walk.of(made)
    sections = [Section(walk.staged.title, _scene(made, walk)) for walk in map(first.go, range(len(first.scenes)))]
    about = " ".join(filter(None, (lesson.about, PAPERS.get(lesson.paper, lesson.paper))))
    save_document(lesson.title, about, "", sections, "Scene", out)


def _scene(made: Performance, walk: Walk) -> str:
    asked = walk.open_question
    parts = [_figures(made, walk), marked(walk.now.text)]
    if walk.lesson.exercise and walk.index + 1 == len(walk.scenes):
        parts.append(
            paragraph(f"This is done in the program: schedscope learn {walk.lesson.name} --scene {walk.index + 1}")
        )
    if asked is not None:
        seen = walk.next()
        told = element("p", text(named(made, walk, asked.told)), class_="told")
        reasons = list(_reasons(made, walk, asked))
        inside = [told, marked(seen.now.text), element("ul", *reasons) if reasons else "", _figures(made, seen)]
        answer = element("details", element("summary", "The answer, with its reason"), *inside, class_="answer")
        parts += [_question(asked, walk), answer]
    return "".join(parts)


def _figures(made: Performance, walk: Walk) -> str:
    asked = walk.open_question
    found = []
    for picture in pictures(made, walk):
        begin, end = picture.window
        asks_time = asked is not None and asked.value is not None and asked.value.unit == "moment" and begin < end
        place = {"data_left": LEFT, "data_width": WIDTH - LEFT - RIGHT, "data_begin": begin, "data_end": end}
        when = "" if asked is not None or walk.staged.question is None else ", after the answer"
        called = f"{walk.staged.title}{when}{picture.title and f' ({picture.title})'}"
        found.append(figure(picture.svg, called, picture.words, **(place if asks_time else {})))
    return "".join(found)


def _question(asked: Question, walk: Walk) -> str:
    is_clicked = asked.value is not None and asked.value.unit == "moment"
    inside = [element("legend", text(asked.asks if is_clicked else typed_question(asked))), paragraph(asked.facts)]
    about: dict[str, object] = {}
    if asked.choices:
        buttons = (
            element("button", text(choice.label), type="button", data_reason=_id(walk, number), aria_pressed="false")
            for number, choice in enumerate(asked.choices)
        )
        inside.append(element("div", *buttons, class_="choices", hidden=""))
    else:
        assert asked.value is not None
        value, unit = asked.value
        hint, field = _HELP.get(unit, "Type a number."), _id(walk, 0)
        less, more = ("early", "late") if unit == "moment" else ("short", "long") if unit == "span" else ("low", "high")
        about = {"data_value": f"{value:.12g}", "data_within": f"{asked.within:.12g}", "data_unit": unit,
                 "data_now": f"{walk.moment.clock:.12g}", "data_less": f"That is too {less}.",
                 "data_more": f"That is too {more}.", "data_help": hint}  # fmt: skip
        entry = element("input", id=field, autocomplete="off"), " ", element("button", "Judge", type="submit")
        inside += [
            element("label", f"Your answer ({text(hint)}) ", for_=field, hidden=""),
            element("div", *entry, class_="choices", hidden=""),
        ]  # fmt: skip
    inside.append('<p class="verdict" role="status"></p>')
    return element("form", element("fieldset", *inside), **about)


def _reasons(made: Performance, walk: Walk, asked: Question) -> Iterator[str]:
    """Yield the verdict on each choice or, if a time is asked for, why the job does not start at each earlier time."""
    for number, choice in enumerate(asked.choices):
        told, right = named(made, walk, choice.why), f"Right. {named(made, walk, asked.told)}"
        told = right if choice.is_right else f"Not {choice.label}. {told}".rstrip()
        yield element("li", text(told), id=_id(walk, number), data_right="" if choice.is_right else None)
    if asked.value is None or asked.value.unit != "moment" or isinstance(made, RecordedPerformance):
        return
    told_since = [(since, asked.why_not(since)) for since in _times(made, walk, asked)]
    at = clock_near(walk.moment.clock)
    for told, times in groupby(told_since, key=lambda each: each[1]):
        since = next(times)[0]
        said = f" {named(made, walk, told)}" if told else ""
        if said:
            yield element(
                "li", element("span", f"From {at(since)} on:", class_="place"), text(said), data_since=f"{since:.12g}"
            )


def _times(made: Performance, walk: Walk, asked: Question) -> Iterable[float]:
    """Return the times from the scene to the answer at which the reason may change: those of the steps."""
    history = made.runs.timeline.branches[walk.moment.branch].engine.history
    steps = range(walk.moment.step, asked.seen.step - 1)
    return [walk.moment.clock, *(history.time_of(step) for step in steps)]


def _id(walk: Walk, number: int) -> str:
    return f"answer-{walk.index + 1}-{number}"


def marked(source: str) -> str:
    """Return the Markdown of a lesson as HTML.

    >>> marked("J3 *waits* **long** <b>.")
    '<p>J3 <em>waits</em> <strong>long</strong> &lt;b&gt;.</p>'
    """
    made = []
    for is_list, lines in groupby(markdown(source, _ENDLESS), key=lambda line: BULLET in line.text[:4]):
        for line in lines:
            told = "".join(
                element(_TAGS[span.style], text(span.text))
                if span.style in _TAGS and span.text != BULLET
                else text(span.text)
                for span in line.spans
            ).strip()
            made.append(element("li", told.removeprefix(BULLET)) if is_list else element("p", told))
    return "".join(made)
