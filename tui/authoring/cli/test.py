"""Command `schedscope test`: check whether a policy meets the requirements for every policy."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace
from pathlib import Path

import click
import numpy as np

from sim.authoring import COUNT, BrokenRule, Report, examine
from sim.authoring.bench import workloads_of
from sim.authoring.contract import RULES, broken
from sim.authoring.shrink import TRIED, smallest_difference
from sim.policies import Policy, parse_policy, written_policy
from sim.policies.own.naming import named_code
from sim.support.errors import SchedscopeError
from sim.support.files import write_whole
from sim.support.formatting import count, printable, processors, quoted
from sim.timeline.scenario import Scenario
from sim.workload.formats import swf
from sim.workload.model import Header, Workload
from sim.workload.replay import read
from sim.workload.samples import SAMPLES
from tui.authoring.cli.bench_watch import watch
from tui.cli.options import SPEC
from tui.cli.run import Files, as_table, simulate
from tui.cli.terminal import progress, say, shows_unicode
from tui.replay.file_watch import files_of

BESIDE = ("fcfs", "easy", "conservative")
TRACE, JOBS = "lublin-128", 1000
MARK = "Note: written by schedscope test, which writes it anew"


@click.command("test")
@click.argument("policy", metavar="FILE.py[:NAME]", type=SPEC)
@click.argument("traces", metavar="[TRACE]...", nargs=-1)
@click.option("--seed", type=click.IntRange(0), default=0, metavar="N", help="Seed of the random workloads.")
@click.option("--count", type=click.IntRange(1, 100_000), default=COUNT, help="How many of them.", show_default=True)
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Only the first N jobs of each TRACE.")
@click.option("--watch", "is_watch", is_flag=True, help="Test again at every save: what became better or worse.")
def command(policy: str, traces: tuple[str, ...], seed: int, count: int, jobs: int | None, is_watch: bool) -> int:
    """Test a policy on hundreds of small workloads: legal, starvation-free, deterministic, fast.

    Shrink a failure to the fewest jobs, and write them as a trace, with the command that opens it. Exit code 1: it
    failed. The metrics are shown next to those of three policies, on each TRACE (default: a sample).
    """
    if is_watch:
        if not files_of([policy]):
            raise click.UsageError(f"--watch needs a file, like ./fair.py, got {quoted(policy)}")
        watch(policy, workloads_of(traces, jobs), count, seed, failed)
    made = parse_policy(policy)
    with progress(count + len(SAMPLES), "testing") as bar:
        report = examine(made, count=count, seed=seed, on_try=(lambda: bar.update(1)) if bar else None)
    if report.failure is not None:
        say("\n".join(map(printable, [*failed(policy, made, report.failure), *report.notes])))
        return 1
    workloads = [read(trace, jobs=jobs) for trace in traces] or [read(TRACE, jobs=JOBS)]
    say("\n\n".join(["\n".join(passed(report, seed)), *(beside(policy, made, each) for each in workloads)]))
    return 0


def passed(report: Report, seed: int) -> list[str]:
    told = f"{printable(report.policy.name)} passed: on none of {report.tried:,} workloads (seed {seed})"
    lines = [f"{told} on which", f"  {', '.join(RULES[:4])},", f"  {', '.join(RULES[4:-1])} or {RULES[-1]}"]
    grown = [] if report.growth is None else [report.growth.told]
    return [*lines, *grown, *map(printable, report.notes)]


def beside(spec: str, policy: Policy, workload: Workload) -> str:
    runs = [(spec, policy), *((name, parse_policy(name)) for name in BESIDE)]
    outcomes = [simulate(Scenario(workload, each), name, Files()) for name, each in runs]
    return as_table(workload.name, workload, outcomes, None, everything=False, unicode=shows_unicode())


def failed(spec: str, policy: Policy, failure: BrokenRule) -> list[str]:
    """Return the broken rule, and the command that opens the trace of jobs that show the failure."""
    told = f"{policy.name}: {failure.told}"
    if failure.workload is None:
        return [told]
    code = named_code(spec)
    path = Path(f"{Path(code.path).stem if code else spec.partition(':')[0]}-fails.swf")
    more = write_trace(failure.workload, path, told)
    step = failure.finding.step
    options = {"priority_from": "queue"} if np.any(failure.workload.high) else {}
    again = broken(policy, read(path, **options), 2.0)
    if again is not None and again.rule == failure.finding.rule:
        step = again.step
    else:
        more += "   (read from the trace file, the run differs)"
    named, spec = shlex.quote(str(path)), shlex.quote(written_policy(policy))
    return [told, f"schedscope watch {named} --policy {spec} --at '#{step}'{more}"]


def write_trace(workload: Workload, path: Path, told: str) -> str:
    """Write the jobs as a trace with a note; return the options that the command to open it needs."""
    if os.path.exists(path) and MARK not in path.read_text(encoding="utf-8", errors="replace")[:500]:
        raise SchedscopeError(f"{path} is there and was not written by schedscope test: move it away")
    runtime = np.where(workload.killed, workload.estimate + 1, workload.runtime)  # to be killed again
    queue = np.where(workload.high, 1, 0) if np.any(workload.high) else workload.queue
    header = Header(comments=(f" {MARK}", f" Note: {printable(told)}"))
    plain = replace(workload, runtime=runtime, queue=queue, header=header)
    with write_whole(path) as file:
        swf.write(swf.from_workload(plain), file)
    asks = "   (without the reservations, for which a trace has no place)" * bool(np.any(~np.isnan(workload.reserve)))
    return " --priority-from queue" * bool(np.any(workload.high)) + asks


def smallest_difference_lines(specs: tuple[str, str]) -> list[str]:
    """Write a small trace on which the two policies differ to `differ.swf`; return lines about it."""
    workload = smallest_difference(parse_policy(specs[0]), parse_policy(specs[1]))
    if workload is None:
        return [f"No difference found on {TRIED} random small workloads."]
    path = Path("differ.swf")
    more = write_trace(workload, path, f"{specs[0]} and {specs[1]} differ")
    both = " ".join(f"--policy {shlex.quote(spec)}" for spec in specs)
    found = f"The fewest jobs found on which they differ: {count(len(workload), 'job')} on {processors(workload.procs)}"
    return [f"{found}, written as {path}", f"  schedscope compare {path} {both}{more}"]
