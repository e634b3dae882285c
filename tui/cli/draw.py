"""Command `schedscope draw`: a run, or a window of it, as a chart in a file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from sim.engine.engine import Engine
from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.support.errors import ParameterError
from sim.support.files import STDOUT
from sim.support.formatting import Moment
from sim.timeline.scenario import Scenario
from sim.workload.options import WITH
from sim.workload.source import Source
from sim.workload.transforms import parse_estimates
from tui.annexes import annexed
from tui.chart.svg.drawing import Options, refuse_large, save_drawing, save_pair
from tui.cli import options as cli
from tui.cli.terminal import run_to_end
from tui.cli.user_policies import own_code, time_of, timed

SLIDE, SLIDE_SCALE = (1920, 1080), 1.9
"""Size of a slide in pixels, and the factor by which its letters and lines are larger than usual."""


@click.command("draw")
@cli.trace()
@cli.policy
@cli.moment("--from", "begin", help="Where the chart begins (default: with the first job).")
@cli.moment("--to", "until", help="Time of 'now'; the plan is drawn to its right (default: the end).")
@click.option("--width", type=click.IntRange(320, 20000), default=1440, metavar="PX")
@click.option("--height", type=click.IntRange(200, 20000), default=810, metavar="PX")
@click.option("--theme", default="dark", metavar="NAME", help="dark, light or contrast.")
@click.option("--colour", default="job", metavar="MODE", help="job, user, queue, partition, width, length, wait ...")
@click.option("--by-event", is_flag=True, help="Draw all steps equally wide, with their times below.")
@click.option("--beside", type=cli.SPEC, help="Draw another run below it on the same clock: fcfs; 'easy with exact'.")
@click.option("--matrix", is_flag=True, help="The Ousterhout matrix at --to (gang scheduling) instead of the chart.")
@click.option("--by-number", is_flag=True, help="Order processors by number, not by partition (multiqueue).")
@click.option("--dates", is_flag=True, help="Write dates and weekdays, if the trace knows when it began.")
@click.option("--slide", is_flag=True, help="For a slide: 1920 x 1080 pixels, letters twice as large.")
@click.option("-o", "--output", "out", required=True, metavar="FILE", help="A .svg, .png or .html file; - for stdout.")
@cli.switches
@cli.placement
@cli.of_workload
def command(
    trace: str, policy: str, begin: Moment | None, until: Moment | None, width: int, height: int, theme: str,
    colour: str, by_event: bool, beside: str | None, matrix: bool, by_number: bool, dates: bool, slide: bool,
    out: str,
    switches: cli.Switches, placement: Placement, **given: Any,
) -> None:  # fmt: skip
    """Draw a run, or a window of it, as a chart in a file."""
    cli.of_file("-o", out, trace, stdout=True)
    wanted = Options(
        None, None, width, height, theme, colour, by_event, matrix=matrix, dates=dates, by_number=by_number
    )
    if slide:
        wanted = replace(wanted, width=SLIDE[0], height=SLIDE[1], scale=SLIDE_SCALE)
    target = STDOUT if out == "-" else out
    draw(Source.of_options(trace, given), policy, placement, wanted, target, switches, (begin, until), beside)


def draw(
    source: Source,
    spec: str,
    placement: Placement,
    options: Options,
    out: str,
    switches: Sequence[tuple[Moment, str]] = (),
    window: tuple[Moment | None, Moment | None] = (None, None),
    beside: str | None = None,
) -> None:
    """Simulate the run, with `beside` a second one, and write their picture in `window` to `out`."""
    is_page = out.lower().endswith(".html")
    if is_page and (beside is not None or options.matrix):
        raise ParameterError(f"{out}: --beside and --matrix are drawn as .svg or .png")
    if not is_page:
        refuse_large(options, out)
    below, has_estimates, estimates = (beside or "").partition(WITH)
    policies = [spec, *(other for _, other in switches), *([below] if beside else [])]
    cli.heed(placement, [parse_policy(each) for each in policies])  # report errors before reading
    if has_estimates:
        parse_estimates(estimates)
    read = cli.replay(source)
    workload, (spec, *below_spec), switches = cli.settle(read, [spec, *([below] if beside else [])], switches)
    below = "".join(below_spec)
    scenario = Scenario(workload, spec, timed(workload, spec, switches, placement), placement)
    begin, until = (None if moment is None else time_of(scenario, moment) for moment in window)
    if window != (None, None):
        options = replace(options, begin=begin, until=until)
    if is_page:
        with own_code(scenario):
            annexed("handout of a run")(scenario, spec, options, out)
        return
    engine = _run(scenario, spec, options)
    if beside is None:
        save_drawing(engine, spec, options, out)
    else:
        jobs = workload
        if has_estimates:
            others = cli.replay(replace(source, transforms=replace(source.transforms, estimates=estimates)))
            jobs, _, _ = cli.settle(others, [spec, below])
        other = _run(Scenario(jobs, below, placement=placement), below, options)
        save_pair([(engine, workload.title(spec)), (other, jobs.title(below))], options, out)


def _run(scenario: Scenario, spec: str, options: Options) -> Engine:
    with own_code(scenario):
        if options.until is not None:
            return scenario.watched(options.until)
        engine = scenario.begun()
        run_to_end(engine, spec)
        return engine
