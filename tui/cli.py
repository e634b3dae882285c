"""The command line. It is stable: other programs rely on it.

Parsing comes first and needs click only; each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

from sim.errors import SchedscopeError

F = TypeVar("F", bound=Callable[..., Any])


def main() -> None:
    """The program: every error is one line on stderr; 1 for what went wrong, 2 for wrong usage."""
    try:
        code = commands(standalone_mode=False)
        sys.stdout.flush()
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
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", 130)
    except MemoryError:
        _fail("not enough memory: try fewer jobs (--jobs N) or a smaller machine (--procs N)", 1)
    else:
        sys.exit(code if isinstance(code, int) else 0)


class _ReaderGoneError(Exception):
    """Whoever read stdout has closed it."""


def _say(text: str) -> None:
    """Print a result. (Click would turn a closed pipe into exit code 1.)"""
    try:
        click.echo(text)
    except BrokenPipeError:
        raise _ReaderGoneError from None


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


_TRANSFORMS: list[Callable[[F], F]] = [
    click.option("--procs", type=click.IntRange(1), metavar="N", help="Processors (default: the trace's)."),
    click.option("--window", metavar="T0,T1", help="Only jobs submitted from T0 until T1 (like 30d,37d)."),
    click.option("--jobs", type=click.IntRange(0), metavar="N", help="Only the first N jobs."),
    click.option("--load", type=float, default=1.0, metavar="F", help="Divide the times between arrivals by F."),
    click.option("--stretch", type=float, default=1.0, metavar="F", help="Multiply run times and estimates by F."),
    click.option("--offline", is_flag=True, help="All jobs are submitted at the beginning."),
    click.option(
        "--estimates", default="recorded", metavar="MODEL", help="recorded, exact, factor:R, random:R or phi:P."
    ),
    click.option("--high", type=float, metavar="FRACTION", help="This share of the jobs, by lot, has high priority."),
    click.option("--priority-from", type=click.Choice(["queue"]), help="High priority is read from the queue field."),
    click.option("--reserve", type=float, default=0.0, metavar="FRACTION", help="This share asks for a reservation."),
    click.option("--lead", default="1d", metavar="T", help="Reservations are asked for up to T ahead."),
    click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="For all that is drawn by lot."),
    click.option(
        "--overrun", type=click.Choice(["kill", "grow"]), default="kill",
        help="Jobs longer than their estimate are killed there, or the estimate grows.",
    ),
    click.option(
        "--count", type=click.Choice(["cpus", "nodes"]), default="cpus", help="What a processor is in a sacct dump."
    ),
]  # fmt: skip
_PLACEMENT = click.option(
    "--placement", type=click.Choice(["lowest", "together"]), default="lowest",
    help="Which free processors a job gets: the lowest-numbered, or neighbours.",
)  # fmt: skip


def _transforms(command: F) -> F:
    for option in reversed(_TRANSFORMS):
        command = option(command)
    return command


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="schedscope", prog_name="schedscope", message="%(prog)s %(version)s")
def commands() -> None:
    """Watch, debug and teach parallel job scheduling.

    TRACE is a file (SWF, sacct -P, Batsim JSON, Batsim/Evalys jobs.csv or CSV with a header, gzip or not) or the name
    of a sample. Without a command, `schedscope [TRACE]` is `schedscope watch [TRACE]`.
    """


@commands.command()
@click.argument("trace", required=False)
@click.option("--policy", default="easy", metavar="SPEC", help="name or name:key=value,key=value")
@_PLACEMENT
@_transforms
def watch(trace: str | None, policy: str, placement: Any, **options: Any) -> None:
    """An overview of a run (a built-in sample without TRACE).

    The replay screen is still to come; until then this shows the chart and the numbers of a whole run as text.
    """
    from tui.loading import Source
    from tui.overview import overview

    if trace is None:
        policies = ["fcfs", "easy"] if policy == "easy" else [policy]
        trace, is_first = "z-figure4", True
    else:
        policies, is_first = [policy], False
    _say(overview(Source.of_options(trace, options), policies, placement, _width(), _unicode(), is_first))


@commands.command()
@click.argument("trace")
@click.option("--policy", "policies", multiple=True, metavar="SPEC", help="Repeatable; default easy.")
@click.option("--format", "form", type=click.Choice(["table", "json", "csv"]), default="table")
@click.option("--by", metavar="GROUP", help="Also the numbers of groups: category, month, batch, time, ...")
@click.option("--all", "everything", is_flag=True, help="Every metric in the table.")
@click.option("--schedule", metavar="FILE", help="Write one row a job.")
@click.option("--segments", metavar="FILE", help="Write one row a stretch of time on processors.")
@click.option("--check", is_flag=True, help="Verify after every step that no rule is broken.")
@_PLACEMENT
@_transforms
def run(
    trace: str, policies: tuple[str, ...], form: str, by: str | None, everything: bool,
    schedule: str | None, segments: str | None, check: bool, placement: Any, **options: Any,
) -> None:  # fmt: skip
    """Simulate policies side by side and print their numbers."""
    from sim.metrics import GROUPS
    from sim.policies import parse_policy
    from tui.loading import Source
    from tui.run import Files, as_csv, as_json, as_table, simulate

    names = [*(group.name for group in GROUPS), "time"]
    if by is not None and by not in names:
        raise click.UsageError(f"--by {by}: expected one of {', '.join(names)}")
    if len(policies) > 1 and (schedule or segments):
        raise click.UsageError("--schedule and --segments write one schedule: give one --policy with them")
    chosen = [(spec, parse_policy(spec)) for spec in policies or ("easy",)]
    _, workload = Source.of_options(trace, options).read()
    files = Files(schedule, segments)
    outcomes = [simulate(workload, spec, policy, placement, check, files) for spec, policy in chosen]
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
    from tui.catalogue import explanation, listing

    _say(explanation(name) if name else listing())


@commands.command()
@click.argument("trace")
@_transforms
def inspect(trace: str, **options: Any) -> None:
    """What is in a trace: jobs, what was skipped and why, load, widths, lengths, estimates, categories."""
    from sim.workload.portrait import portrait
    from tui.inspect import render
    from tui.loading import Source

    read, workload = Source.of_options(trace, options).read(with_overruns=False)
    _say(render(portrait(workload, read), _width(), _unicode()))


@commands.command()
@click.argument("trace")
@click.argument("job")
@click.option("--policy", default="easy", metavar="SPEC", help="name or name:key=value,key=value")
@_PLACEMENT
@_transforms
def explain(trace: str, job: str, policy: str, placement: Any, **options: Any) -> None:
    """Why a job waited as long as it did, as a story with numbers."""
    from sim.life import life_of
    from sim.policies import parse_policy
    from tui.explain import render
    from tui.loading import Source

    chosen = parse_policy(policy)
    _, workload = Source.of_options(trace, options).read()
    _say(render(life_of(workload, chosen, workload.rank_of(job), placement=placement), _width(), _unicode()))


def _width() -> int:
    """The columns there are: the terminal's, or 80."""
    from shutil import get_terminal_size

    return max(40, min(get_terminal_size((80, 24)).columns, 120))


def _unicode() -> bool:
    """Can the output show more than ASCII?"""
    return (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")


if __name__ == "__main__":
    main()
