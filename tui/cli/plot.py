"""`schedscope plot`: a file of results as lines with their confidence, in the terminal or as a figure."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from sim.experiments.pivot import Ask, Condition
from sim.experiments.results import Results
from sim.experiments.series import Panel, axis_title, panels
from sim.extras import extra
from sim.words import printable, shortened
from tui.cli.terminal import columns, say, shows_unicode
from tui.look.figures import titled
from tui.look.palette import JOB_COLOURS
from tui.look.text import plain

HEIGHT = 20
MARKERS = "●▲■◆○△□◇+x*#"
ASCII_MARKERS = "ox+*#@%&=abc"


@click.command("plot")
@click.argument("path", metavar="FILE")
@click.option("-x", "over", required=True, metavar="X", help="Along the axis: load, policy.omega, estimates, ...")
@click.option("-y", "value", default="mean_bounded_slowdown", metavar="METRIC", help="Up the other one.")
@click.option("--by", default="", metavar="G", help="A line each: policy, estimates, ...")
@click.option("--group", default="", metavar="GROUP", help="A panel for each group of jobs, where groups were swept.")
@click.option("--where", multiple=True, metavar="X<=V", help="Only runs like load<=1.2, policy=easy; repeatable.")
@click.option("--interval", type=click.Choice(["seeds", "batches"]), default="seeds", help="What intervals are over.")
@click.option("--log", is_flag=True, help="The value by orders of magnitude.")
@click.option("-o", "--output", metavar="FIGURE", help="A name in .svg, .pdf or .png, instead of the terminal.")
def command(
    path: str, over: str, value: str, by: str, group: str, where: tuple[str, ...], interval: Any, log: bool,
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
    plotext = extra("plotext", "a plot", "plot")
    has_colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    say("\n\n".join(_drawn(plotext, panel, titles, log, has_colour) for panel in made) + "\n" + _notes(made))


def _notes(made: Sequence[Panel]) -> str:
    points = [point for panel in made for line in panel.lines.values() for point in line]
    lines = ["bars: 95 % confidence"] if any(point.mean.half for point in points) else ["no intervals: one seed"]
    if any(point.overloaded for point in points):
        lines.append("some runs are overloaded: their queue only grows, a mean says how long they were")
    return "\n".join(lines)


def _drawn(plotext: Any, panel: Panel, titles: tuple[str, str], log: bool, has_colour: bool) -> str:
    """One panel as lines of text; colours only where a terminal shows them."""
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.plotsize(columns(), HEIGHT)
    markers = MARKERS if shows_unicode() else ASCII_MARKERS
    for number, (label, line) in enumerate(panel.lines.items()):
        drawn: dict[str, Any] = {"color": _rgb(JOB_COLOURS[number % len(JOB_COLOURS)])} if has_colour else {}
        xs, ys = [point.x for point in line], [point.mean.value for point in line]
        halves = [point.mean.half or 0.0 for point in line]
        marker = markers[number % len(markers)]
        if any(halves):
            plotext.error(xs, ys, yerr=[2 * half for half in halves], **drawn)
        if not panel.ticks:
            plotext.plot(xs, ys, marker="hd" if has_colour else "·" if shows_unicode() else ".", **drawn)
        plotext.scatter(xs, ys, marker=marker, label=printable(shortened(label)) or None, **drawn)
    if log:
        plotext.yscale("log")
    if panel.ticks:
        plotext.xticks(list(range(len(panel.ticks))), [printable(shortened(tick, 16)) for tick in panel.ticks])
    else:
        xs = sorted({point.x for line in panel.lines.values() for point in line})
        if len(xs) <= 12:
            plotext.xticks(xs, [f"{x:g}" for x in xs])
    plotext.title(printable(shortened(panel.title, 60)))
    plotext.xlabel(titles[0])
    plotext.ylabel(titles[1])
    text: str = plotext.build()
    if has_colour:
        return text
    text = plotext.uncolorize(text)
    return text if shows_unicode() else plain(text)


def _rgb(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue
