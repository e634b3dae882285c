"""A run as a handout: its chart up to each step, with what starts, runs and waits there, and why."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from sim.classroom.lessons.picture_words import run_words
from sim.support.formatting import clock
from sim.timeline.scenario import Scenario
from tui.chart.partition_names import with_partition_names
from tui.chart.svg.drawing import Options, drawing_of
from tui.chart.svg.picture import draw_svg, frame_of
from tui.classroom.handout.html_document import bullets, figure, paragraph, save_document
from tui.classroom.handout.lesson_handout import HEIGHT, LOOK, WIDTH

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
