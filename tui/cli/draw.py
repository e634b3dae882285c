"""`schedscope draw`: a run, or a window of it, as a chart in a file."""

from __future__ import annotations

from collections.abc import Sequence

from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.timeline.course import Course
from sim.workload.source import Source
from tui.chart.svg.drawing import Options, form_of, save_drawing
from tui.cli.progress import run_to_end


def draw(
    source: Source,
    spec: str,
    placement: Placement,
    options: Options,
    out: str,
    switches: Sequence[tuple[float, str]] = (),
) -> None:
    """Simulate, with another policy from each (time, SPEC) of `switches` on, and write the picture to `out`."""
    form_of(out)
    parse_policy(spec)  # a mistake in it is told before the trace is read
    _, workload = source.read()
    course = Course(workload, spec, switches, placement)
    if options.until is None:
        engine = course.begun()
        run_to_end(engine, spec)
    else:
        engine = course.watched(options.until)
    save_drawing(engine, spec, options, out)
