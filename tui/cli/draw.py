"""`schedscope draw`: a run, or a window of it, as a chart in a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.timeline.course import Course
from sim.words import parse_time
from sim.workload.source import Source
from tui.chart.svg.drawing import Options, form_of, save_drawing
from tui.cli import options
from tui.cli.terminal import run_to_end


@click.command("draw")
@click.argument("trace")
@options.policy
@click.option("--from", "begin", metavar="T", help="Where the chart begins (default: with the first job).")
@click.option("--to", "until", metavar="T", help="Where now is; the plan stands right of it (default: the end).")
@click.option("--width", type=click.IntRange(320, 20000), default=1440, metavar="PX")
@click.option("--height", type=click.IntRange(200, 20000), default=810, metavar="PX")
@click.option("--theme", default="dark", metavar="NAME", help="dark, light or contrast.")
@click.option("--colour", default="job", metavar="MODE", help="job, user, queue, partition, width, length, wait ...")
@click.option("-o", "--output", "out", required=True, metavar="FILE", help="A name ending in .svg or .png.")
@options.switches
@options.placement
@options.of_workload
def command(
    trace: str, policy: str, begin: str | None, until: str | None, width: int, height: int, theme: str, colour: str,
    out: str, switches: Any, placement: Any, **given: Any,
) -> None:  # fmt: skip
    """Draw a run, or a window of it, as a chart in a file."""
    first, last = (None if time is None else parse_time(time) for time in (begin, until))
    wanted = Options(first, last, width, height, theme, colour)
    draw(Source.of_options(trace, given), policy, placement, wanted, out, switches)


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
