"""A whole run on one page of text: the chart, the numbers and what to try next."""

from __future__ import annotations

from collections.abc import Sequence

from sim.engine import Engine
from sim.history import History
from sim.machine import Placement
from sim.metrics import measure, over_time
from sim.policies import parse_policy
from sim.workload.model import Trace, Workload
from tui.loading import Source
from tui.run import BUCKETS, Outcome, as_table
from tui.running import run_to_end
from tui.text import duration, instant, plain

_ROWS = 16
_SYMBOLS = "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def overview(
    source: Source, specs: Sequence[str], placement: Placement, width: int, unicode: bool, is_first: bool
) -> str:
    """One chart a policy, then their metrics side by side."""
    chosen = [(spec, parse_policy(spec)) for spec in specs]
    trace, workload = source.read()
    lines = [f"schedscope: {caption(trace) or workload.name}", ""]
    outcomes = []
    for spec, policy in chosen:
        engine = Engine(workload, policy, placement=placement, curious=False)
        run_to_end(engine, spec)
        lines += [f"{spec}: processors upwards, time to the right, each job by its own sign", ""]
        lines += [*chart(engine.history, workload, width, unicode), ""]
        schedule = engine.schedule()
        outcomes.append(Outcome(spec, measure(schedule), over_time(schedule, BUCKETS)))
    lines.append(as_table(workload.name, workload, outcomes, None, False, unicode))
    lines += ["", *_next_steps(source.trace, specs[-1], workload, is_first)]
    return "\n".join(lines if unicode else map(plain, lines))


def caption(trace: Trace) -> str:
    """The first note of the header: what a sample shows."""
    notes = (line.strip() for line in trace.header.comments)
    return next((note.removeprefix("Note:").strip() for note in notes if note.startswith("Note:")), "")


def chart(history: History, workload: Workload, width: int, unicode: bool) -> list[str]:
    """The schedule as text; a cell shows the job that holds most of its processors and time, or a dot."""
    if not len(history):
        return ["(nothing ran)"]
    stretches = list(history.stretches())
    begin = stretches[0].start
    end = max(s.end for s in stretches if s.end is not None)
    rows = min(workload.procs, _ROWS)
    label = len(str(workload.procs - 1))
    columns = width - label - 2
    span = (end - begin) / columns
    cells = [[(0.0, "·" if unicode else ".")] * columns for _ in range(rows)]
    for s in stretches:
        first, last = int((s.start - begin) / span), (float(s.end or end) - begin) / span
        for row in range(rows):
            low, high = row * workload.procs // rows, (row + 1) * workload.procs // rows
            share = ((s.processors >> low) & ((1 << (high - low)) - 1)).bit_count() / (high - low)
            for column in range(first, min(columns, int(last) + 1)) if share else ():
                covered = share * (min(last, column + 1) - max((s.start - begin) / span, column))
                if covered > cells[row][column][0]:
                    cells[row][column] = (covered, _SYMBOLS[s.rank % len(_SYMBOLS)])
    edge = "│" if unicode else "|"
    drawn = []
    for row in reversed(range(rows)):
        low = row * workload.procs // rows
        drawn.append(f"{low:>{label}} {edge}" + "".join(sign for _, sign in cells[row]))
    drawn.append(" " * (label + 2) + f"{instant(begin)} and {duration(end - begin)} on")
    return drawn


def _next_steps(trace: str, spec: str, workload: Workload, is_first: bool) -> list[str]:
    waited = workload.ids[min(len(workload) - 1, 4)] if len(workload) else "1"
    lines = [
        "Next:",
        f"  schedscope explain {trace} {waited} --policy {spec}    why a job waited as long as it did",
        f"  schedscope run {trace} --policy fcfs --policy easy --policy conservative    side by side",
        "  schedscope policies    what there is",
    ]
    if is_first:
        from sim.workload.samples import captions

        lines += ["", "Samples (schedscope NAME):", *(f"  {name:<18}{text}" for name, text in captions())]
    return lines
