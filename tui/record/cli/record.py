"""Command `schedscope record`: record a run, a session or a lesson as a film."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from sim.machine.processors import Placement
from sim.policies import parse_policy
from sim.policies.policy import written_policy
from sim.session.session import PREFIX
from sim.session.syntax import FORMAT
from sim.support.errors import ParameterError, SchedscopeError
from sim.support.files import write_whole
from tui.chart.svg.drawing import as_png, form_of
from tui.classroom.opening import named_lesson
from tui.cli import options as cli
from tui.look.palette import LOOKS
from tui.record.cast import Cast, Version
from tui.record.film import SPEED_NAMES, Camera, Picture, RecordingOptions, speed_of
from tui.record.moving import Reel, animated
from tui.replay.opening import Opening, Prepared
from tui.sessions.session_conversion import LAST
from tui.widgets.svg_screenshot import Type, draw_still

FORMS = (".cast", ".gif", ".webp", ".png", ".svg")


@click.command("record")
@click.argument("trace")
@click.option(
    "-o", "--output", "out", required=True, metavar="FILE", help="x.cast, .gif, .webp, or one picture: .png, .svg."
)
@cli.opened_policy
@click.option(
    "--size", default="120x36", metavar="CxR", callback=cli.parsed_size, help="Columns and rows (default 120x36)."
)
@click.option("--from", "begin", metavar="PLACE", help="A time, a step (#1200), a job (J17, J17 starts).")
@click.option("--to", "until", metavar="PLACE", help="End of the recording, like --from (default: end of the run).")
@click.option("--speed", type=click.Choice(SPEED_NAMES), help="Simulated time per second of film.")
@click.option("--by-event", type=click.Choice(["4", "2", "1"]), help="Seconds for each step that decides something.")
@click.option(
    "--seconds", type=click.FloatRange(1, 3600), default=60, show_default=True, help="Maximum length in seconds."
)
@click.option("--fps", type=click.IntRange(1, 30), default=10, show_default=True, help="Frames per second.")
@click.option("--scene", type=click.IntRange(1), default=1, metavar="N", help="Of a lesson: begin at this scene.")
@click.option("--present", is_flag=True, help="Presentation layout: chart, caption and counter.")
@click.option("--theme", type=click.Choice(list(LOOKS)), default="dark", show_default=True)
@click.option("--large", type=click.IntRange(6, 72), default=16, metavar="PX", help="Size of letters in pictures.")
@click.option("--asciicast", type=click.Choice(["3", "2"]), default="3", help="2: for asciinema before 3.0.")
@cli.switches
@cli.placement
@cli.of_workload
def command(
    trace: str, out: str, policy: str | None, size: tuple[int, int], begin: str | None, until: str | None,
    speed: str | None, by_event: str | None, seconds: float, fps: int, scene: int, present: bool, theme: str,
    large: int, asciicast: str, switches: cli.Switches, placement: Placement, **given: Any,
) -> None:  # fmt: skip
    """Record a run, a session or a lesson as a film, without a terminal.

    Play the screen from --from until --to, or a lesson scene by scene; bookmarks and scenes are markers. A .cast plays
    in asciinema (`asciinema play x.cast`) and in its player on a page.
    """
    cli.of_file("-o", out, trace)
    form = Path(out).suffix.lower()
    if form not in FORMS:
        raise ParameterError(f"{out}: a film is written as {', '.join(FORMS)}")
    opening = replace(_opening(trace, scene, policy, switches, placement, given), projected=present)
    os.environ.pop("NO_COLOR", None)  # a file is no terminal
    which = speed_of(f"by event, {by_event} s") if by_event else None if speed is None else speed_of(speed)
    plan = RecordingOptions(size, begin, until, which, seconds, fps, LOOKS[theme].with_depth(24))
    if form in (".png", ".svg"):
        form_of(out)  # report missing parts before anything is read
    prepared = opening.prepare()  # outside the loop, which would put an interrupt off
    if not len(prepared.about.workload):
        raise SchedscopeError(f"{prepared.about.trace}: nothing to record: no job is left")
    camera = Camera(prepared, plan)
    if pictures := asyncio.run(_write(camera, prepared, plan, out, form, large, 3 if asciicast == "3" else 2)):
        data = animated(pictures, plan.size[0], plan.look, large, form)
        with write_whole(out) as file:
            file.buffer.write(data)
    if camera.failure:
        raise camera.failure
    if form not in (".png", ".svg") and not camera.has_ended:
        click.echo(
            f"schedscope: the film is cut off at {plan.seconds:g} s: --seconds, --speed and --to change that", err=True
        )


def _opening(
    trace: str, scene: int, policy: str | None, switches: cli.Switches, placement: Placement, given: Any
) -> Opening:
    if (lesson := named_lesson(trace, scene - 1)) is not None:
        return lesson
    if _is_session(trace):
        from tui.sessions.session_conversion import found_session, reopened

        return reopened(found_session(trace))
    from sim.workload.source import Source
    from tui.replay.opening import opening_of

    later = tuple((time, parse_policy(spec)) for time, spec in switches)
    source = Source.of_options(trace, given)
    chosen = None if policy is None else parse_policy(policy)
    return opening_of(source, chosen, placement=placement, switches=later)


def _is_session(given: str) -> bool:
    """Return True for a session: a file that begins like one, a pasted line, or the word `last`."""
    if given.startswith(PREFIX) or (given == LAST and not os.path.exists(given)):
        return True
    try:
        if not os.path.isfile(given):  # a pipe is read once
            return False
        with open(given, "rb") as file:
            return file.read(len(FORMAT)) == FORMAT.encode()
    except (OSError, ValueError):
        return False


async def _write(
    camera: Camera, prepared: Prepared, plan: RecordingOptions, out: str, form: str, size: int, version: Version
) -> list[Picture]:
    """Record the film to `out`, replaced as a whole; return the pictures of an animated image instead."""
    title = f"{prepared.about.workload.name} under {written_policy(prepared.opening.policy)}"
    pictures = list[Picture]()
    async with aclosing(camera.film()) as film:
        if form == ".cast":
            cast = Cast(plan.size, title, plan.look, version)
            with write_whole(out) as file:
                file.write(cast.header())
                async for picture in film:
                    file.writelines(cast.lines(picture))
                file.write(cast.end())
        elif form in (".png", ".svg"):
            picture = await anext(film)
            _write_still(draw_still(picture.rows, plan.size[0], plan.look, Type.of(size), title), out, form)
        else:
            Reel.needs()
            pictures = [picture async for picture in film]
    return pictures


def _write_still(svg: str, out: str, form: str) -> None:
    with write_whole(out) as file:
        if form == ".svg":
            file.write(svg)
        else:
            file.buffer.write(as_png(svg))
