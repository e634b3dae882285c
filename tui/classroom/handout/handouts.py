"""Handouts of a lesson, with a section for each scene and a question judged by sentences made before, and of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from math import inf
from pathlib import Path
from typing import TypeAlias

from sim.classroom.lessons.lesson import Lesson
from sim.classroom.lessons.performance import Performance
from sim.classroom.lessons.picture_words import poll_words, run_words
from sim.classroom.lessons.polls import PollSeen
from sim.classroom.lessons.questions import Question
from sim.classroom.lessons.recorded import RecordedPerformance, performance_of
from sim.classroom.lessons.runs import RunMoment
from sim.classroom.lessons.walk import Walk
from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from sim.support.formatting import clock, clock_near
from sim.timeline.scenario import Scenario
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.chart.chart_maker import ChartMaker
from tui.chart.colours import MODES
from tui.chart.partition_names import with_partition_names
from tui.chart.scale import Camera
from tui.chart.svg.drawing import Options, drawing_of
from tui.chart.svg.elements import element, text
from tui.chart.svg.frame import LEFT, RIGHT
from tui.chart.svg.notebook import with_own_ids
from tui.chart.svg.picture import draw_svg, frame_of
from tui.classroom.lesson_lines import markdown
from tui.classroom.thumbnail import LiveThumbnail
from tui.look.palette import LOOKS
from tui.widgets.svg_screenshot import Type, draw_still

WIDTH, HEIGHT = 820, 360
"""Size of a picture in pixels."""
LOOK = LOOKS["light"]
_CELLS = Size(84, 16)
_TAGS = {"strong": "strong", "accent": "em", "key": "code"}
Picture: TypeAlias = tuple[str, str, list[str], tuple[float, float]]
"""(policy or "", SVG, the same in words, (begin, end) of its times in seconds)."""


def pictures(made: Performance, walk: Walk) -> Iterator[Picture]:
    """Yield the picture of the scene or, where two runs are compared, one of each."""
    moment = walk.moment
    if isinstance(made, RecordedPerformance):
        yield _of_poll(PollSeen(made.polls, moment.step))
    else:
        yield _of_run(made, walk, moment)
    if moment.beside is not None:
        yield _of_run(made, walk, made.runs.at_time(moment.beside, moment.clock))


def named(made: Performance, walk: Walk, told: str) -> str:
    """Return a text with the chart's names of partitions."""
    return told if isinstance(made, RecordedPerformance) else with_partition_names(told, made.runs.at(walk.moment))


def _of_run(made: Performance, walk: Walk, moment: RunMoment) -> Picture:
    runs, staged, asked = made.runs, walk.staged, walk.open_question
    shown, workload = runs.at(moment), runs.workload_of(moment.branch)
    shown, past = shown if asked is None else shown.unplanned(), runs.timeline.history.as_of(runs.timeline.step)
    title = "a policy" if asked is not None and asked.kind == "policy" else runs.title(moment.branch)
    view = Camera.on(workload, WIDTH // 8, HEIGHT // 8).view(moment.clock)
    begin, end = staged.window or (max(view.start, 0.0), view.end)
    mode = staged.colour if staged.colour in MODES else "job"
    drawn = ChartMaker(workload).draw(
        past, shown, moment.clock, (begin, end), max(end - begin, 1) / WIDTH * 4, mode, title=title, rows=24
    )
    words = run_words(workload, shown, past, moment.clock, asked is not None)
    told = [with_partition_names(each, shown) for each in words]
    return title, draw_svg(drawn, LOOK, WIDTH, HEIGHT), told, (begin, end)


def _of_poll(seen: PollSeen) -> Picture:
    chart = LiveThumbnail(seen.polls.pictures[: seen.place + 1]).chart(_CELLS.columns, 2 * _CELLS.rows)
    cells = sketch(chart, LOOK, _CELLS)
    rows = [Brush(LOOK).draw(cells, row, 0, _CELLS.columns) for row in range(_CELLS.rows)]
    svg = draw_still(rows, _CELLS.columns, LOOK, Type(8), "The cluster's nodes upwards, time to the right")
    return "", svg.replace("<svg", '<svg role="img"', 1), [*poll_words(seen)], (0.0, 0.0)


def save_lesson(lesson: Lesson, out: str) -> None:
    made = performance_of(lesson)
    first = Walk.of(made)
    sections = [(walk.staged.title, _scene(made, walk), None) for walk in map(first.go, range(len(first.scenes)))]
    about = f"{lesson.about} In the program: schedscope learn {lesson.name}".strip()
    save_document(lesson.title, paragraph(about), sections, out)


def _scene(made: Performance, walk: Walk) -> str:
    asked = walk.open_question
    if asked is None:
        return _figures(made, walk) + marked(walk.text)
    seen, told = walk.next(), paragraph(named(made, walk, asked.told), class_="told")
    inside = told, marked(seen.text), element("ul", *_reasons(made, walk, asked), ""), _figures(made, seen)
    answer = element("details", element("summary", "The answer, with its reason"), *inside, class_="answer")
    return _figures(made, walk) + marked(walk.text) + _question(asked, walk) + answer


def _figures(made: Performance, walk: Walk) -> str:
    found, when = [], ", after the answer" if walk.verdict is not None else ""
    for policy, svg, words, (begin, end) in pictures(made, walk):
        place = {"data_left": LEFT, "data_width": WIDTH - LEFT - RIGHT, "data_begin": begin, "data_end": end}
        found.append(figure(svg, f"{walk.staged.title}{when}{policy and f' ({policy})'}", words, **place))
    return "".join(found)


def _question(asked: Question, walk: Walk) -> str:
    about: dict[str, object] = {}
    controls = [
        element("button", text(choice.label), data_reason=f"answer-{walk.index}-{number}", aria_pressed="false")
        for number, choice in enumerate(asked.choices)
    ]
    if asked.value is not None:
        value, within, now = (f"{each:.12g}" for each in (asked.value.number, asked.within, walk.moment.clock))
        about = {"data_value": value, "data_within": within, "data_unit": asked.value.unit, "data_now": now}
        label = element(
            "label", "Your answer (<i>a time, such as 12m30, or a number</i>) ", for_=f"answer-{walk.index}"
        )
        controls = [label, element("input", id=f"answer-{walk.index}", autocomplete="off"), element("button", "Judge")]
    shown = element("div", *controls, hidden=""), '<p class="verdict" role="status"></p>'
    field = element("fieldset", element("legend", text(asked.asks)), paragraph(asked.facts), *shown)
    return element("form", field, **about)


def _reasons(made: Performance, walk: Walk, asked: Question) -> Iterator[str]:
    """Yield the verdict on each choice or, if a time is asked for, why the job does not start at each earlier time."""
    for number, choice in enumerate(asked.choices):
        told = f"Right. {asked.told}" if choice.is_right else f"Not {choice.label}. {choice.why}"
        is_right = "" if choice.is_right else None
        yield element(
            "li", text(named(made, walk, told.rstrip())), id=f"answer-{walk.index}-{number}", data_right=is_right
        )
    if asked.value is None or asked.value.unit != "moment":
        return
    moment, history = walk.moment, made.runs.timeline.branches[walk.moment.branch].engine.history
    times = [moment.clock, *map(history.time_of, range(moment.step, asked.seen.step - 1))]
    for told, since in groupby(times, key=asked.why_not):
        first = next(since)
        said = f"From {clock_near(moment.clock)(first)} on: {named(made, walk, told)}"
        yield element("li", text(said), data_since=f"{first:.12g}") if told else ""


def marked(source: str) -> str:
    """Return the Markdown of a lesson as HTML.

    >>> marked("J3 *waits* **long** <b>.")
    '<p><span>  J3 </span><em>waits</em><span> </span><strong>long</strong><span> &lt;b&gt;.</span></p>'
    """
    told = (
        [element(_TAGS.get(span.style, "span"), text(span.text)) for span in line.spans]
        for line in markdown(source, 10**9)
    )
    return "".join(element("p", *each) for each in told)


MOST_STEPS = 200
"""Largest number of steps in a handout."""


def save_run(scenario: Scenario, spec: str, options: Options, out: str) -> None:
    """Simulate the run until the end of the window of `options`, and write it as a handout."""
    workload, engine = scenario.workload, scenario.at_the_beginning()
    step, steps, before, told = scenario.stepper(engine), 0, -inf, list[tuple[float, tuple[str, ...]]]()
    while (upcoming := engine.next_time()) is not None and (options.until is None or upcoming <= options.until):
        engine.curious = upcoming >= (options.begin or -inf) and steps < MOST_STEPS
        if not step():
            break
        if engine.curious:
            past, shown = engine.history, engine.snapshot()
            words = run_words(workload, shown, past, engine.now, since=before)
            told.append((engine.now, tuple(with_partition_names(each, shown) for each in words)))
        steps, before = steps + (upcoming >= (options.begin or -inf)), engine.now
    drawing = drawing_of(engine, spec, replace(options, width=WIDTH, height=HEIGHT))
    frame = frame_of(drawing, WIDTH, HEIGHT)
    sections = [(clock(time), bullets(words), 100 * frame.x(time) / WIDTH) for time, words in told]
    cut = f"Only the first {MOST_STEPS} of {steps:,} steps are shown: choose others with --from and --to."
    title = f"{workload.name} under {drawing.title}"
    about = f"Each of {len(told):,} steps below lists what starts, what runs, and why jobs wait."
    picture = figure(draw_svg(drawing, LOOK, WIDTH, HEIGHT), title, [about])
    save_document(title, paragraph(cut if steps > len(told) else "") + picture, sections, out)


# Frame: one HTML file with headings, landmarks, style and script, which loads nothing

MOST_BYTES = 500_000
"""Largest size of a handout in bytes, so that a course page takes it."""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


def save_document(title: str, above: str, sections: Sequence[tuple[str, str, float | None]], out: str) -> None:
    """Write a handout of HTML `above` all sections, which are (title, HTML, place in the picture above or None)."""
    style, script = (Path(__file__).with_name(f"document.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
    links, parts = list[str](), list[str]()
    for n, (called, inside, x) in enumerate(sections, 1):
        heading = element("h2", f"<span>{n} of {len(sections)}:</span> ", text(called), id=f"title-{n}", tabindex=-1)
        parts.append(element("section", heading, inside, id=f"step-{n}", aria_labelledby=f"title-{n}", data_x=x))
        links.append(element("li", element("a", text(called), href=f"#step-{n}")))
    head = [
        '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("title", text(title)), f"<style>{style}</style>",
    ]  # fmt: skip
    body = [
        element("header", element("h1", text(title))), element("nav", element(
            "details", "<summary>All parts</summary>", element("ol", *links)), aria_label="Parts"),
        element("main", above, *parts),
        '<footer hidden=""><button id="back">Back</button><b id="place"></b><button id="next">Next</button></footer>',
        f"<script>{script}</script>",
    ]  # fmt: skip
    made = "<!DOCTYPE html>\n" + element("html", element("head", *head), element("body", *body), lang="en")
    if (size := len(made.encode())) > MOST_BYTES:
        most = f"{MOST_BYTES // 1000} kB of a handout: choose a shorter time (--from, --to) or fewer scenes"
        raise SchedscopeError(f"{out}: {size / 1000:,.0f} kB > {most}")
    with write_whole(out) as file:
        file.write(made)


def paragraph(words: str, **about: object) -> str:
    return element("p", text(words), **about) if words else ""


def bullets(items: Iterable[str]) -> str:
    return element("ul", *(element("li", text(each)) for each in items), "")


def figure(svg: str, called: str, words: Iterable[str], **place: float) -> str:
    """Return a picture with the same in words. `called` tells it apart from others, `place` is where its times are."""
    sheet = element("div", with_own_ids(svg), '<div class="later" hidden=""></div>', class_="sheet")
    drawn = element("div", sheet, class_="picture", tabindex=0, role="group", aria_label=called, **place)
    return element("figure", drawn, element("details", element("summary", text(f"In words: {called}")), bullets(words)))
