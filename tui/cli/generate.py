"""`schedscope generate`: a workload by a model, as an SWF file."""

from __future__ import annotations

import click

from sim.files import write_whole
from sim.words import count, percent, processors
from tui.cli import options
from tui.cli.terminal import say


@click.command("generate")
@click.option(
    "--model", type=click.Choice(["lublin", "hyper-erlang", "sud"]), default="lublin",
    help="Model: Lublin and Feitelson; hyper-Erlang fitted to a trace (Z); uniform run times (ZKP).",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 10_000_000), default=1000, metavar="N", help="How many (default 1000).")
@click.option("--procs", type=click.IntRange(1, 10_000_000), metavar="P", help="Of the machine; default: --like's.")
@click.option("--load", type=click.FloatRange(0.001, 100), metavar="F", help="Offered load, a share of 1.")
@click.option("--like", metavar="TRACE", help="Take missing options from this trace; hyper-erlang is fitted to it.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Random seed.")
@click.option("-o", "--output", "out", required=True, metavar="FILE.swf", help="- for stdout.")
def command(
    model: str, jobs: int, procs: int | None, load: float | None, like: str | None, seed: int, out: str
) -> None:
    """Generate a workload from a model, as an SWF file."""
    if model == "hyper-erlang" and like is None:
        raise click.UsageError("hyper-erlang is fitted to a trace: say which with --like TRACE")
    if procs is None and like is None:
        raise click.UsageError("how many processors? Say --procs N, or --like TRACE")
    options.of_file("-o", out, like or "", stdout=True)
    import io

    from sim.workload.formats import swf
    from sim.workload.model import Workload
    from sim.workload.models.generated import generate, offered
    from sim.workload.source import Source

    of = options.jobs_of(Source(like)) if like is not None else None
    trace = generate(model, jobs, procs, seed, load, of)
    file = io.StringIO()
    swf.write(trace, file)
    if out == "-":
        say(file.getvalue().rstrip("\n"))
        return
    with write_whole(out) as target:
        target.write(file.getvalue())
    made = Workload.of(trace)
    busy = offered(made)
    told = "" if busy is None else f", at a load of {percent(busy, 1)}"
    click.echo(f"schedscope: {out}: {count(len(made), 'job')} for {processors(made.procs)}{told}", err=True)
