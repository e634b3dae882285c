"""The command line. It is stable: other programs rely on it.

Parsing comes first and needs click only; each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import click
from click.core import ParameterSource

from sim.errors import SchedscopeError
from tui.cli import options


def main() -> None:
    """The program: every error is one line on stderr; 1 for what went wrong, 2 for wrong usage."""
    try:
        code = commands(standalone_mode=False)
    except click.UsageError as error:
        where = f"; see {error.ctx.command_path} --help" if error.ctx else ""
        _fail(error.format_message().rstrip(".") + where, 2)
    except click.ClickException as error:
        _fail(error.format_message(), 1)
    except SchedscopeError as error:
        _fail(str(error), 1)
    except _ReaderGoneError:
        # The reader has gone, which is its right. Python must not complain when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except _NotWrittenError as error:
        if sys.stdout is not None:  # Python must not try again when it closes stdout
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail(str(error), 1)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", 130)
    except MemoryError:
        _fail("not enough memory: try fewer jobs (--jobs N) or a smaller machine (--procs N)", 1)
    else:
        sys.exit(code if isinstance(code, int) else 0)


class _NotWrittenError(Exception):
    """The result could not be written."""


class _ReaderGoneError(Exception):
    """Whoever read stdout has closed it."""


def _say(text: str) -> None:
    """Print a result. (Click would turn a closed pipe into exit code 1.)"""
    try:
        click.echo(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise _ReaderGoneError from None
    except OSError as error:
        raise _NotWrittenError(f"cannot write the result: {error.strerror or error}") from None
    except AttributeError:
        raise _NotWrittenError("cannot write the result: there is no standard output") from None


def _fail(line: str, code: int) -> None:
    click.echo("schedscope: error: " + " ".join(line.split("\n")), err=True)
    sys.exit(code)


class _Commands(click.Group):
    """`schedscope TRACE` is `schedscope watch TRACE`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            return "watch", self.get_command(ctx, "watch"), args
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0].startswith("-") and args[0] not in ("--help", "-h", "--version")):
            args = ["watch", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="schedscope", prog_name="schedscope", message="%(prog)s %(version)s")
def commands() -> None:
    """Watch, debug and teach parallel job scheduling.

    TRACE is a file (SWF, sacct -P, Batsim JSON, Batsim/Evalys jobs.csv or CSV with a header, gzip or not) or the name
    of a sample. Without a command, `schedscope [TRACE]` is `schedscope watch [TRACE]`.
    """


@commands.command()
@click.argument("trace", required=False)
@options.policy
@click.option("--at", metavar="STEP|TIME", help="Where to begin: a step (#1200) or a time (12d4h).")
@click.option("--session", metavar="FILE", help="Bring back what was saved: a file, a pasted line, or last.")
@options.switches
@options.placement
@options.of_workload
def watch(
    trace: str | None, policy: str, at: str | None, session: str | None, switches: Any, placement: Any, **given: Any
) -> int:
    """Open the replay screen (on a built-in sample without TRACE).

    Space plays, arrows step, p changes the policy, ? lists all keys.
    """
    if session is not None:
        _refuse_beside_session()
    if not all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout)):
        raise click.ClickException(
            "the replay screen needs a terminal; without one there are schedscope run, explain, compare and draw"
        )
    import gc

    gc.disable()  # until the first frame: what is imported and loaded now stays, and looking for garbage takes long
    from sim.policies import parse_policy
    from sim.workload.source import Source
    from tui.app import open_replay
    from tui.replay.opening import Opening

    if session is not None:
        from tui.sessions.moment import found_session, reopened

        return open_replay(reopened(found_session(session)))
    source = Source.of_options(trace or "z-figure4", given)
    later = tuple((time, parse_policy(spec)) for time, spec in switches)
    return open_replay(Opening(source, parse_policy(policy), placement, at=at, switches=later))


def _refuse_beside_session() -> None:
    """A session brings everything with it; what else was typed would be ignored."""
    context = click.get_current_context()
    typed = ParameterSource.COMMANDLINE
    others = [p for p in context.command.params if context.get_parameter_source(p.name or "") is typed]
    named = [p.opts[0] if isinstance(p, click.Option) else "TRACE" for p in others if p.name != "session"]
    if named:
        raise click.UsageError(f"--session brings its own trace and options back: leave out {', '.join(named)}")


@commands.command()
@click.argument("trace")
@click.option("--policy", "policies", multiple=True, metavar="SPEC", help="Repeatable; default easy.")
@click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table")
@click.option("--by", metavar="GROUP", help="Also the numbers of groups: category, month, batch, time, ...")
@click.option("--all", "everything", is_flag=True, help="Every metric in the table.")
@click.option("--schedule", metavar="FILE", help="Write one row a job.")
@click.option("--segments", metavar="FILE", help="Write one row a stretch of time on processors.")
@options.check
@options.switches
@options.placement
@options.of_workload
def run(
    trace: str, policies: tuple[str, ...], form: str, by: str | None, everything: bool,
    schedule: str | None, segments: str | None, check: bool, switches: Any, placement: Any, **given: Any,
) -> None:  # fmt: skip
    """Simulate policies side by side and print their numbers."""
    from sim.metrics import GROUPS
    from sim.policies import parse_policy
    from sim.timeline.course import Course
    from sim.workload.source import Source
    from tui.cli.run import Files, as_csv, as_json, as_table, simulate

    names = [*(group.name for group in GROUPS), "time"]
    if by is not None and by not in names:
        raise click.UsageError(f"--by {by}: expected one of {', '.join(names)}")
    if len(policies) > 1 and (schedule or segments):
        raise click.UsageError("--schedule and --segments write one schedule: give one --policy with them")
    chosen = [(spec, parse_policy(spec)) for spec in policies or ("easy",)]
    _, workload = Source.of_options(trace, given).read()
    files = Files(schedule, segments)
    courses = [
        (_named(spec, switches), Course(workload, policy, switches, placement, check)) for spec, policy in chosen
    ]
    outcomes = [simulate(course, spec, files) for spec, course in courses]
    if form == "json":
        _say(as_json(trace, workload, outcomes))
    elif form == "csv":
        _say(as_csv(outcomes, by))
    else:
        _say(as_table(workload.name, workload, outcomes, by, everything, _unicode()))


@commands.command()
@click.argument("name", required=False)
def policies(name: str | None) -> None:
    """List the policies, or explain one with its parameters."""
    from tui.cli.policies import explanation, listing

    _say(explanation(name) if name else listing())


@commands.command()
@click.argument("trace")
@options.of_workload
def inspect(trace: str, **given: Any) -> None:
    """What is in a trace: jobs, what was skipped and why, load, widths, lengths, estimates, categories."""
    from sim.workload.portrait import portrait
    from sim.workload.source import Source
    from tui.cli.inspect import render

    read, workload = Source.of_options(trace, given).read(with_overruns=False)
    _say(render(portrait(workload, read), _width(), _unicode()))


@commands.command()
@click.argument("trace")
@click.argument("job")
@options.policy
@options.switches
@options.placement
@options.of_workload
def explain(trace: str, job: str, policy: str, switches: Any, placement: Any, **given: Any) -> None:
    """Why a job waited as long as it did, as a story with numbers."""
    from sim.life.life import life_of
    from sim.policies import parse_policy
    from sim.workload.source import Source
    from tui.cli.explain import render
    from tui.replay.places import parse_job

    chosen = parse_policy(policy)
    _, workload = Source.of_options(trace, given).read()
    life = life_of(workload, chosen, parse_job(job, workload), placement=placement, switches=switches)
    _say(render(life, _width(), _unicode()))


@commands.command()
@click.argument("trace")
@click.option("--policy", "specs", multiple=True, metavar="SPEC", help="Twice: the first and the second.")
@click.option("--at", metavar="T", help="The second takes over from the first at T (seconds or like 12d4h30m).")
@click.option("--format", "form", type=click.Choice(["table", "json"]), default="table")
@options.check
@options.placement
@options.of_workload
def compare(
    trace: str, specs: tuple[str, ...], at: str | None, form: Any, check: bool, placement: Any, **given: Any
) -> None:
    """Two policies side by side: where they part and why, who gains and who loses."""
    from sim.words import parse_time
    from sim.workload.source import Source
    from tui.cli.compare import compared

    if len(specs) != 2:
        raise click.UsageError(f"compare takes two --policy SPEC, got {len(specs)}")
    since = None if at is None else parse_time(at)
    source = Source.of_options(trace, given)
    _say(compared(source, (specs[0], specs[1]), since, form, placement, check, _width(), _unicode()))


@commands.command()
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
def draw(
    trace: str, policy: str, begin: str | None, until: str | None, width: int, height: int, theme: str, colour: str,
    out: str, switches: Any, placement: Any, **given: Any,
) -> None:  # fmt: skip
    """Draw a run, or a window of it, as a chart in a file."""
    from sim.words import parse_time
    from sim.workload.source import Source
    from tui.chart.svg.drawing import Options
    from tui.cli.draw import draw as draw_run

    first, last = (None if time is None else parse_time(time) for time in (begin, until))
    wanted = Options(first, last, width, height, theme, colour)
    draw_run(Source.of_options(trace, given), policy, placement, wanted, out, switches)


def _named(spec: str, switches: list[tuple[float, str]]) -> str:
    """The policy of a run, and those that take over."""
    from sim.words import clock

    return spec + "".join(f", {other} from {clock(time)}" for time, other in switches)


def _width() -> int:
    """The columns there are: the terminal's, or 80."""
    from shutil import get_terminal_size

    return max(40, min(get_terminal_size((80, 24)).columns, 120))


def _unicode() -> bool:
    """Can the output show more than ASCII?"""
    return sys.stdout is not None and (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")


if __name__ == "__main__":
    main()
