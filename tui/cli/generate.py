"""Command `schedscope generate`: write a workload from a model as an SWF file, or as JSON with a machine of nodes."""

from __future__ import annotations

from typing import TextIO

import click

from sim.support.files import write_whole
from sim.support.formatting import count, percent, processors
from tui.cli import options
from tui.cli.terminal import say


@click.command("generate")
@click.option(
    "--model", type=click.Choice(["lublin", "hyper-erlang", "sud"]), default="lublin",
    help="Model: Lublin and Feitelson; hyper-Erlang fitted to a trace (Z); uniform run times (ZKP).",
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 30_000_000), default=1000, metavar="N", help="How many (default 1000).")
@click.option("--procs", type=click.IntRange(1, 10_000_000), metavar="P", help="Of the machine; default: --like's.")
@click.option("--nodes", metavar="NODES", help="Machine of nodes, like '100x64c,256g,4gpu 2x8c'; writes JSON.")
@click.option("--load", type=click.FloatRange(0.001, 100), metavar="F", help="Offered load, a share of 1.")
@click.option("--like", metavar="TRACE", help="Take missing options from this trace; hyper-erlang is fitted to it.")
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Random seed.")
@click.option("-o", "--output", "out", required=True, metavar="FILE", help="- for stdout.")
def command(
    model: str,
    jobs: int,
    procs: int | None,
    nodes: str | None,
    load: float | None,
    like: str | None,
    seed: int,
    out: str,
) -> None:
    """Generate a workload from a model, as an SWF file; with --nodes for a machine of nodes."""
    if model == "hyper-erlang" and like is None:
        raise click.UsageError("hyper-erlang is fitted to a trace: say which with --like TRACE")
    if procs is not None and nodes is not None:
        raise click.UsageError("--procs and --nodes are two machines: give one")
    if procs is None and like is None and nodes is None:
        raise click.UsageError("how many processors? Say --procs N, or --like TRACE")
    options.of_file("-o", out, like or "", stdout=True)
    import io

    from sim.workload.formats import swf
    from sim.workload.model import Workload
    from sim.workload.models.generated import generate, offered
    from sim.workload.models.node_requests import as_json, cores_of, parse_nodes
    from sim.workload.source import Source

    of = options.replay(Source(like)).workload if like is not None else None
    entries = parse_nodes(nodes) if nodes is not None else []
    trace = generate(model, jobs, cores_of(entries) or procs, seed, load, of)

    def write(file: TextIO) -> None:
        if entries:
            file.write(as_json(trace, entries, seed))
        else:
            swf.write(trace, file)

    if out == "-":
        file = io.StringIO()
        write(file)
        say(file.getvalue().rstrip("\n"))
        return
    with write_whole(out) as target:
        write(target)
    made = Source(out).read()[1] if entries else Workload.of(trace)
    busy = offered(made)
    told = "" if busy is None else f", at a load of {percent(busy, 1)}"
    click.echo(f"schedscope: {out}: {count(len(made), 'job')} for {processors(made.procs)}{told}", err=True)
