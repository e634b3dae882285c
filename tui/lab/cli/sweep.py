"""Command `schedscope sweep`: make many runs on all cores, stored in a results file that survives interrupts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from functools import reduce
from pathlib import Path
from typing import Any, TypeVar

import click

from sim.lab.plan import VARIED, SweepPlan
from sim.lab.plan_file import AskedPlan, read_plan, seeds
from sim.lab.pool import cores, size_of_worker
from sim.lab.results import Results
from sim.lab.sweep import Progress, Told, forecast, lacks, sweep
from sim.lab.work import Outcome
from sim.policies.own.consent import Proof, agree
from sim.policies.own.naming import code_in
from sim.policies.recorded_rules import unkept
from sim.support.errors import SchedscopeError
from sim.support.formatting import count, printable, span
from sim.workload.options import Option
from tui.cli.options import SPEC, of_file
from tui.cli.terminal import say
from tui.lab.cli.sweep_progress import Filling, shown_where_seen

F = TypeVar("F", bound=Callable[..., Any])
SHOWN_ERRORS = 3


def _any_values(command: F) -> F:
    return reduce(lambda made, option: _as_click(option)(made), reversed(VARIED.values()), command)


def _as_click(option: Option) -> Callable[[F], F]:
    flag = {"is_flag": False, "flag_value": "yes"} if option.kind is bool else {}
    metavar = option.metavar or ("yes|no" if option.kind is bool else "VALUE")
    name = "--" + option.name.replace("_", "-")
    return click.option(name, option.name, metavar=metavar, help=option.meaning, **flag)  # type: ignore[arg-type]


@click.command("sweep")
@click.argument("traces", nargs=-1, metavar="PLAN.toml | TRACE...")
@click.option("--policy", "policies", multiple=True, type=SPEC, help="Repeatable; default easy.")
@click.option("-o", "--output", "path", metavar="FILE", help="Results file; runs already in it are skipped.")
@click.option("--seeds", "many", type=click.IntRange(1), metavar="N", help="Number of seeds, counted from 0.")
@click.option(
    "--zip",
    "together",
    multiple=True,
    metavar="A,B",
    help="Vary these factors together (e.g. trace,procs) instead of combining them.",
)
@click.option("--groups", metavar="A,B", help="Also measured: class, category, ... as in run --by.")
@click.option("--keep", type=click.Choice(["jobs"]), help="Also keep the jobs of each run: for distributions.")
@click.option("--warmup", metavar="A", help="Exclude the first jobs from the metrics (10% or 7d); see --cut.")
@click.option(
    "--cut", default="", metavar="A,B", help="Exclude the first and last jobs from the metrics (10%,5% or 7d,7d)."
)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Default: one a core.")
@click.option(
    "--cluster",
    "address",
    metavar="ADDRESS",
    help="Use the workers of a Dask cluster, tls://HOST:8786; it runs code as you: name one that you trust.",
)
@click.option(
    "--slurm", metavar="OPTIONS", help="By workers in jobs of Slurm: account=A,cores=4,walltime=1:00:00,jobs=9."
)
@click.option("--dry-run", is_flag=True, help="Only print the number of runs and the estimated time.")
@click.option("--retry", is_flag=True, help="Repeat the runs that failed.")
@click.option("--trust", is_flag=True, help="Allow user-defined policies named in the plan to run.")
@_any_values
def command(
    traces: tuple[str, ...], policies: tuple[str, ...], path: str | None, many: int | None, together: tuple[str, ...],
    groups: str | None, keep: str | None, warmup: str | None, cut: str, workers: int | None, address: str | None,
    slurm: str | None, dry_run: bool, retry: bool, trust: bool, **given: str | None,
) -> int | None:  # fmt: skip
    """Make many runs on all cores, into one results file.

    Traces x policies x options x seeds, or a plan; what is typed beside a plan takes the place of what it says. Any
    value may be a range, in quotes: --policy 'relaxed:omega={0,1,2}' --load '{0.8..1.4..0.1}' --jobs '{1..9}'.
    """
    of_file("-o", path)
    if loose := next((name for name in traces if re.fullmatch(r"[0-9.]+", name) and not os.path.exists(name)), None):
        raise click.UsageError(
            f"{loose} is no trace; quote a range, else the shell takes it apart: --load '{{0.8,0.9}}'"
        )
    if sum(given is not None for given in (workers, address, slurm)) > 1:
        raise click.UsageError("--workers are of this machine, --cluster and --slurm have their own: give one of them")
    asked = _asked(traces, policies, given, trust)
    if many is not None:
        if given["seed"] is not None:
            raise click.UsageError("--seeds counts seeds from 0, --seed '{3..7}' names them: give one of them")
        asked.factors["seed"] = [seeds(many)]
    asked.together += [names.replace("-", "_").split(",") for names in together]
    asked.groups += [name.replace("-", "_") for name in (groups or "").split(",") if name]
    asked.cut, asked.keep = _warmed(warmup, cut or asked.cut), keep or asked.keep
    plan = asked.plan()
    if path is None and not dry_run:
        raise click.UsageError("where to? give the file of results with -o FILE.sqlite")
    if len(plan.values["seed"]) > 1 and not plan.draws:
        click.echo("schedscope: no option is random: every seed gives the same run", err=True)
    if dry_run:
        say(_foretold(plan, Path(path) if path else None, workers or cores(), retry))
        return None
    assert path is not None
    if address is None and slurm is None:
        return _made(plan, path, retry, workers or 0)
    from tui.lab.cli.cluster import cluster

    with cluster(address, slurm) as (executor, there):
        return _made(plan, path, retry, there, executor)


def _warmed(warmup: str | None, cut: str) -> str:
    """Return `cut` (jobs at the ends that are not counted) with `warmup` as its first part, unless None."""
    first, comma, last = cut.partition(",")
    if warmup is None:
        return cut
    if "," in warmup or (comma and first.strip() and first != warmup):
        raise click.UsageError("--warmup A is the first part of --cut A,B: give one of them")
    return f"{warmup},{last}"


def _asked(traces: tuple[str, ...], policies: tuple[str, ...], given: dict[str, str | None], trust: bool) -> AskedPlan:
    plans = [name for name in traces if name.endswith(".toml")]
    if len(plans) > 1:
        raise click.UsageError(f"one plan at a time: {', '.join(plans)}")
    asked = read_plan(plans[0], trust) if plans else AskedPlan()
    switched = (text.partition("=")[2] for text in (given["switch"] or "").split(";"))
    agree((code for spec in switched for code in code_in(spec)), Proof.TYPED)
    typed = {name: [value] for name, value in given.items() if value is not None}
    named = {"trace": [name for name in traces if name not in plans], "policy": list(policies)}
    asked.factors |= typed | {name: values for name, values in named.items() if values}
    return asked


def _made(
    plan: SweepPlan,
    path: str,
    retry: bool,
    workers: int | Callable[[], int],
    executor: Callable[[], Executor] | None = None,
) -> int:
    progress: Progress | None = None
    errors: list[Outcome] = []
    overloaded, unlimited, unweighed = 0, dict[str, None](), ""

    def watched(told: Told) -> Told:
        def also(now: Progress, outcomes: list[Outcome]) -> None:
            nonlocal progress, overloaded, unweighed
            progress = now
            errors.extend([o for o in outcomes if o.error][: SHOWN_ERRORS - len(errors)])
            for found in filter(None, (o.measured for o in outcomes)):
                overloaded += bool(found.overload)
                unlimited.update(dict.fromkeys(found.unlimited))
                unweighed = found.unweighed or unweighed
            told(now, outcomes)

        return also

    try:
        with shown_where_seen(Filling.of(plan)) as told:
            progress = sweep(plan, path, workers=workers, executor=executor, told=watched(told), retry=retry)
    except KeyboardInterrupt:
        there = progress.there + progress.made if progress else 0
        raise KeyboardInterrupt(
            f"interrupted: {there:,} of {len(plan):,} runs are in {path}; repeat the command to continue"
        ) from None
    say("\n".join(filter(None, [*_told(progress, path, errors, overloaded), unkept(unlimited), unweighed])))
    return 1 if progress.failed else 0


def _told(progress: Progress, path: str, errors: list[Outcome], overloaded: int) -> Iterator[str]:
    made = progress.made - progress.failed
    parts = [f"{made:,} made"] + ([f"{progress.there:,} were there"] if progress.there else [])
    parts += [f"{progress.failed:,} failed"] if progress.failed else []
    cost = f"; {span(progress.elapsed)}, {span(progress.cpu)} of a core" if progress.made else ""
    yield f"{count(progress.asked, 'run')}: {', '.join(parts)}{cost}; in {printable(path)}"
    for outcome in errors:
        yield f"failed: {printable(outcome.run.trace)} {printable(outcome.run.policy)}: {outcome.error}"
    if progress.failed > len(errors):
        yield f"and {progress.failed - len(errors):,} more: schedscope results {printable(path)} --where error"
    if progress.jobs:
        size = size_of_worker(progress.jobs) / 2**30
        yield f"with {count(progress.workers, 'worker')}: each takes up to {size:.1f} GiB for {progress.jobs:,} jobs"
    if overloaded:
        yield f"overloaded: {count(overloaded, 'run')}; their means depend on the length of the run"


def _foretold(plan: SweepPlan, path: Path | None, workers: int, retry: bool) -> str:
    """Return text on how many runs will be made, and on how long these will take with `workers` workers."""
    runs = list(plan.runs())
    known = {}
    if path is not None and os.path.exists(path):
        with Results(path) as results:
            known = results.known()
    ahead = [run for run in runs if lacks(run, plan, known, retry)]
    line = f"{count(len(runs), 'run')}: {len(runs) - len(ahead):,} are there, {len(ahead):,} to be made"
    if not ahead:
        return line
    try:
        seconds = forecast(ahead, path or Path(), workers)
    except SchedscopeError as error:
        return f"{line}; no time estimate: {error}"
    return line if seconds is None else f"{line}, about {span(seconds)} with {count(workers, 'worker')}"
