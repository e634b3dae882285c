"""`schedscope plot`: a file of results as lines with their confidence, in the terminal or as a figure."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import click

from sim.experiments.pivot import Ask, Condition, Interval
from sim.experiments.results import Results
from sim.experiments.series import Panel, axis_title, panels
from tui.chart.plotted import Manner, plotted
from tui.cli import options
from tui.cli.terminal import columns, is_terminal, say, shows_unicode
from tui.look.figures import titled

HEIGHT = 20


@click.command("plot")
@click.argument("path", metavar="FILE")
@click.option("-x", "over", required=True, metavar="X", help="Along the axis: load, policy.omega, estimates, ...")
@click.option("-y", "value", default="mean_bounded_slowdown", metavar="METRIC", help="Up the other one.")
@click.option("--by", default="", metavar="G", help="A line each: policy, estimates, ...")
@click.option("--group", default="", metavar="GROUP", help="A panel for each group of jobs, where groups were swept.")
@options.where
@options.interval
@click.option("--log", is_flag=True, help="The value by orders of magnitude.")
@click.option("-o", "--output", metavar="FIGURE", help="A name in .svg, .pdf or .png, instead of the terminal.")
def command(
    path: str, over: str, value: str, by: str, group: str, where: tuple[str, ...], interval: Interval, log: bool,
    output: str | None,
) -> None:  # fmt: skip
    """Plot a file of results: lines with 95 % confidence, a panel each trace."""
    if output is not None and os.path.splitext(output)[1].lower() not in (".svg", ".pdf", ".png"):
        raise click.UsageError(f"-o {output}: a figure is written as .svg, .pdf or .png")
    ask = Ask(over, by, value, group.replace("-", "_"), tuple(map(Condition.of, where)), interval)
    with Results(path) as results:
        made = panels(results, ask)
    titles = axis_title(over.replace("-", "_")), titled(ask.metric)
    if output is not None:
        from tui.cli.figure import save_figure

        save_figure(output, made, titles, log)
        return
    has_colour = is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
    manner = Manner(columns(), HEIGHT, has_colour, shows_unicode(), log)
    say("\n\n".join(plotted(panel, titles, manner) for panel in made) + "\n" + _notes(made))


def _notes(made: Sequence[Panel]) -> str:
    points = [point for panel in made for line in panel.lines.values() for point in line]
    lines = ["bars: 95 % confidence"] if any(point.mean.half for point in points) else ["no intervals: one seed"]
    if any(point.overloaded for point in points):
        lines.append("some runs are overloaded: their queue only grows, a mean says how long they were")
    return "\n".join(lines)
