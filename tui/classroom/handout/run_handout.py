"""A run as a handout: its chart, of which a step shows the past, and what was decided at each step, with reasons."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from sim.classroom.lessons.picture_words import run_words
from sim.engine.engine import Engine
from sim.support.formatting import clock, count, name, processors, span
from sim.timeline.scenario import Scenario
from tui.chart.partition_names import with_partition_names
from tui.chart.svg.drawing import Options, drawing_of
from tui.chart.svg.picture import draw_svg, frame_of
from tui.classroom.handout.html_document import Section, bullets, figure, save_document
from tui.classroom.handout.scene_pictures import HEIGHT, LOOK, WIDTH
from tui.look.calendar import Calendar

MOST_STEPS = 200
"""Largest number of steps that a handout tells."""
MOST_LINES = 5
"""Largest number of sentences of one kind about a step."""


def save_run(scenario: Scenario, spec: str, options: Options, out: str) -> None:
    """Simulate the run until the end of the window of `options`, and write it as a handout."""
    workload, engine = scenario.workload, scenario.at_the_beginning()
    begin = options.begin if options.begin is not None else float(workload.submit[0]) if len(workload) else 0.0
    step, steps, before, told = scenario.stepper(engine), 0, -inf, list[tuple[float, tuple[str, ...]]]()
    while (upcoming := engine.next_time()) is not None and (options.until is None or upcoming <= options.until):
        engine.curious = upcoming >= begin and steps < MOST_STEPS
        if not step():
            break
        if engine.now < begin:
            continue
        steps += 1
        if steps <= MOST_STEPS:
            past, shown = engine.history, engine.snapshot()
            words = run_words(workload, shown, past, engine.now, since=before, most=MOST_LINES)
            told.append((engine.now, tuple(with_partition_names(each, shown) for each in words)))
        before = engine.now
    drawing = drawing_of(engine, spec, replace(options, width=WIDTH, height=HEIGHT, matrix=False))
    look = LOOK.with_calendar(Calendar.of(workload.header)) if options.dates else LOOK
    frame, at = frame_of(drawing, WIDTH, HEIGHT), clock if look.calendar is None else look.calendar.moment
    sections = [Section(at(time), bullets(words), 100 * frame.x(time) / WIDTH) for time, words in told]
    cut = f"Only the first {MOST_STEPS} of {steps:,} steps are told: choose others with --from and --to."
    summary = _summary(engine) if steps <= MOST_STEPS else [*_summary(engine), cut]
    svg = draw_svg(drawing, look, WIDTH, HEIGHT)
    title = f"{workload.name} under {drawing.title}"
    save_document(title, " ".join(summary), figure(svg, title, summary, is_stepped=True), sections, "Step", out)


def _summary(engine: Engine) -> list[str]:
    schedule, workload = engine.schedule(), engine.workload
    waits = schedule.start - workload.submit
    told = [f"{count(len(workload), 'job')} on {processors(workload.procs)}, until {clock(engine.now)}."]
    if (waits == waits).any():
        worst = int(np.nanargmax(waits))
        longest = f"{name(workload.jobs[worst])} waits longest, {span(float(waits[worst]))}"
        told.append(f"The mean wait is {span(float(np.nanmean(waits)))}; {longest}.")
    return told
