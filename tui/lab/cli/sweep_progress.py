"""Progress of a sweep on stderr: on a terminal a bar, and a table of means of the runs made so far; elsewhere lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from sim.lab.pivot import number_of
from sim.lab.plan import FACTORS, SweepPlan
from sim.lab.sweep import Progress, Told
from sim.lab.work import Outcome
from sim.support.formatting import printable, shortened, span
from tui.cli.terminal import is_terminal

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

METRIC = "mean_bounded_slowdown"
MOST_ROWS, MOST_COLUMNS = 12, 8


@dataclass
class Filling:
    """Mean bounded slowdown of finished runs: rows are policies, columns values of one factor that varies."""

    columns: tuple[str, ...]
    factor: str
    sums: dict[tuple[str, str], tuple[float, int]] = field(default_factory=dict)
    rows: dict[str, None] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: SweepPlan) -> Filling:
        values = {name: of for name, of in plan.values.items() if name not in ("policy", "seed")}
        factor = max(values, key=lambda name: (1 < len(values[name]) <= MOST_COLUMNS, -FACTORS.index(name)))
        return cls(values[factor][:MOST_COLUMNS], factor)

    def take(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            value = outcome.measured.values[METRIC] if outcome.measured else None
            column = outcome.run.trace if self.factor == "trace" else str(dict(outcome.run.options)[self.factor])
            self.rows[outcome.run.policy] = None
            if value is not None:
                total, many = self.sums.get((outcome.run.policy, _number(column)), (0.0, 0))
                self.sums[outcome.run.policy, _number(column)] = total + value, many + 1

    def cell(self, policy: str, column: str) -> str:
        total, many = self.sums.get((policy, _number(column)), (0.0, 0))
        return f"{total / many:,.2f}" if many else "·"


def _number(text: str) -> str:
    """Return a number in one form, so that 0.80 and 0.8 are equal; other text is unchanged."""
    number = number_of(text)
    return text if number is None else repr(number)


@contextmanager
def shown_where_seen(filling: Filling) -> Iterator[Told]:
    """Yield a function that shows a sweep's progress; without a terminal, at most one line a second."""
    if not is_terminal(sys.stderr):
        yield _in_lines()
        return
    with shown(filling) as told:
        yield told


def _in_lines() -> Told:
    last = 0.0

    def told(progress: Progress, outcomes: list[Outcome]) -> None:
        nonlocal last
        if outcomes and progress.elapsed >= last + 1:
            last, run = progress.elapsed, outcomes[-1].run
            done = f"{progress.there + progress.made:,} of {progress.asked:,} runs after {span(last)}"
            now = printable(shortened(f"{run.policy} on {os.path.basename(run.trace)}"))
            click.echo(f"schedscope: {done}: {now}", err=True)

    return told


@contextmanager
def shown(filling: Filling, console: Console | None = None) -> Iterator[Told]:
    from rich.console import Console
    from rich.live import Live

    console = console or Console(stderr=True)
    # drawn by us: a thread that draws would be copied, lock and all, where workers are forked
    with Live(console=console, auto_refresh=False, transient=True) as live:
        console.show_cursor()  # a killed process could not show it again

        def told(progress: Progress, outcomes: list[Outcome]) -> None:
            filling.take(outcomes)
            live.update(drawn(progress, filling, console.height), refresh=True)

        yield told


def drawn(progress: Progress, filling: Filling, height: int) -> RenderableType:
    """Return a drawing of the progress, at most `height` lines high: a bar with numbers, above the table of means."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    done = progress.there + progress.made
    left = "" if progress.left is None else f", {span(progress.left)} left"
    failed = f", {progress.failed:,} failed" if progress.failed else ""
    numbers = f"{done:,} of {progress.asked:,} runs, {progress.running:,} with workers{failed}{left}"
    if progress.reading is not None:
        trace, share = progress.reading
        left = f", {span(progress.elapsed / share * (1 - share))} left" if share else ""
        numbers = f"reading {shortened(trace, 20)}, {share:.0%}{left}"
    head = Table.grid(padding=(0, 1))
    head.add_row(ProgressBar(total=progress.asked or 1, completed=done, width=24), Text(numbers))
    parts: list[Any] = [head]
    rows = list(filling.rows)[-min(MOST_ROWS, max(0, height - 5)) :]
    if rows:
        table = Table(box=None, pad_edge=False)
        table.add_column(Text(f"{METRIC.replace('_', ' ')} by {filling.factor}"))
        for column in filling.columns:
            table.add_column(Text(printable(shortened(column, 20))), justify="right")
        for policy in rows:
            cells = [Text(filling.cell(policy, column)) for column in filling.columns]
            table.add_row(Text(printable(shortened(policy))), *cells)
        parts.append(table)
    return Group(*parts)
