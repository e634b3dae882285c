"""Command `schedscope plot`: show a results file as a plot in the terminal, or write it as a figure."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from sim.lab.distributions import DistributionAsk, clouds, shares, spreads, weeks
from sim.lab.kept import WEEKLY
from sim.lab.paired import panels_against
from sim.lab.pivot import PivotQuery, RunFilter
from sim.lab.results import Results
from sim.lab.series import Panel, axis_title, every_label, log_names, panels
from sim.support.files import write_whole
from sim.support.formatting import listed, quoted
from tui.cli import options
from tui.cli.terminal import columns, is_terminal, say, shows_unicode
from tui.lab.cli.figure_file import figure_text, mark_of, read_figure
from tui.lab.cli.figure_style import KINDS, LEGENDS, STYLES, Style, check_names, parse_labels, parse_size
from tui.lab.plotted import Manner, plotted
from tui.look.text import titled, with_unit

HEIGHT = 20
FORMS = (".svg", ".pdf", ".png")
OF_MEANS, OF_SHARES = ("lines", "bars"), ("ecdf", "ccdf")
HOUR = 3600.0
DEFAULTS = {"kind": "lines", "interval": "seeds", "legend": "inside", "style": "colour"}


@click.command("plot")
@click.argument("path", metavar="FILE|FIGURE.toml")
@click.option("--kind", type=click.Choice(KINDS), help="What is drawn; all from ecdf on need sweep --keep jobs.")
@click.option("-x", metavar="X", help="Factor on the x axis: load, policy.omega, ...; of boxes a group of jobs: class.")
@click.option("-y", metavar="METRIC", help="Metric on the y axis; of distributions wait, bounded_slowdown, width, ...")
@click.option(
    "--by",
    metavar="G",
    help="Factor with one line per value: policy, estimates, ...; of distributions also class, user.",
)
@click.option("--group", metavar="GROUP", help="A panel for each group of jobs, where groups were swept.")
@click.option("--against", metavar="V", help="Lines are paired differences from this one of them: a policy.")
@click.option("--ratio", is_flag=True, help="With --against: ratios, not differences.")
@options.where
@click.option(
    "--interval", type=click.Choice(["seeds", "batches"]), help="What confidence intervals are computed over."
)
@click.option("--log", is_flag=True, help="Logarithmic y axis.")
@click.option("--same", is_flag=True, help="One range of the y axis in all panels.")
@click.option("--title", metavar="TEXT", help="Above the figure.")
@click.option("--labels", multiple=True, metavar="OLD=NEW", help="Other words for lines, traces, ticks; repeatable.")
@click.option("--order", metavar="A;B", help="Lines and groups in this order.")
@click.option("--size", metavar="SIZE", help="ieee, acm (a column), slide, or WxH in inches.")
@click.option("--xlabel", metavar="TEXT", help="Title of the x axis.")
@click.option("--ylabel", metavar="TEXT", help="Title of the y axis.")
@click.option("--legend", type=click.Choice(LEGENDS), help="Where the legend is.")
@click.option("--style", type=click.Choice(STYLES), help="Colours that differ in grey as well, or greys.")
@click.option("--save", metavar="FIGURE.toml", help="Write all of these options, to make the figure again.")
@click.option("-o", "--output", metavar="FIGURE", help="A name in .svg, .pdf or .png, instead of the terminal.")
def command(path: str, **given: Any) -> None:
    """Plot a results file: lines with 95 % confidence bands, one panel per trace."""
    said = dict(DEFAULTS)
    if path.endswith(".toml"):
        said |= read_figure(path, is_output_used=given["output"] is None)
    else:
        said["results"] = path
    said["save"] = given.pop("save")
    said |= _typed(given)
    _check(said)
    if said["save"] is not None:
        options.of_file("--save", said["save"])
    said["file"] = said["save"] or (path if path.endswith(".toml") else "")
    if said["kind"] in OF_MEANS:
        _plot_means(said)
    else:
        _plot_jobs(said)


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    found = {name: value for name, value in given.items() if value}
    if "order" in found:
        found["order"] = [name.strip() for name in found["order"].split(";")]
    if "where" in found:
        found["where"] = list(found["where"])
    return found


def _check(said: dict[str, Any]) -> None:
    for name, known in (("kind", KINDS), ("legend", LEGENDS), ("style", STYLES), ("interval", ("seeds", "batches"))):
        if said[name] not in known:
            raise click.UsageError(f"{name} {quoted(said[name])}: expected one of {', '.join(known)}")
    if not said.get("results"):
        raise click.UsageError('a figure needs a file of results: results = "FILE.sqlite"')
    if said.get("ratio") and not said.get("against"):
        raise click.UsageError("--ratio needs --against: to what are the ratios?")
    if said["kind"] in OF_MEANS and not said.get("x"):
        raise click.UsageError("Missing option '-x'")
    output = said.get("output")
    if output is not None and os.path.splitext(output)[1].lower() not in FORMS:
        raise click.UsageError(f"-o {output}: a figure is written as .svg, .pdf or .png")
    if said.get("size"):
        parse_size(said["size"])


def _settle(said: dict[str, Any], made: Sequence[Any], results: Results, by: str) -> Style:
    """Check the names that the user typed against those of the figure, save the figure's file, return its style."""
    every = every_label(results, by) if by == "policy" else []
    known = {*every, *log_names(results).values()}
    for panel in made:
        shown = [names for names in vars(panel).values() if isinstance(names, Mapping | tuple)]
        known |= {*panel.title.split(", "), *(name for names in shown for name in names)}
    labels, order = said.get("labels", {}), tuple(said.get("order", ()))
    said["labels"] = labels = labels if isinstance(labels, Mapping) else parse_labels(labels, known)
    check_names("--labels", labels, known)
    check_names("--order", order, known)
    if said["save"] is not None:
        with write_whole(said["save"]) as file:
            file.write(figure_text(said, said["save"]))
    names = ("title", "labels", "size", "xlabel", "ylabel", "legend", "style", "log", "same")
    mark = mark_of(said["file"]) if said["file"] else ""
    return Style(order=order, mark=mark, every=tuple(every), **{name: said[name] for name in names if name in said})


def _plot_means(said: dict[str, Any]) -> None:
    value = said.get("y", "mean_bounded_slowdown")
    where = tuple(map(RunFilter.of, said.get("where", ())))
    ask = PivotQuery(
        said["x"], said.get("by", ""), value, said.get("group", "").replace("-", "_"), where, said["interval"]
    )
    with Results(said["results"]) as results:
        baseline, ratio = said.get("against"), bool(said.get("ratio"))
        plain = panels(results, ask)
        made = panels_against(results, ask, baseline, ratio) if baseline else plain
        style = _settle(said, made, results, ask.columns)
    titles = axis_title(ask.rows.replace("-", "_")), titled(ask.metric)
    if baseline:
        up = f"{ask.metric.counted} minus {baseline}'s{titles[1].removeprefix(ask.metric.counted)}"
        titles = titles[0], f"{ask.metric.counted} over {baseline}'s" if ratio else up
    if said.get("output"):
        from tui.lab.cli.figure import draw_bars, draw_lines, in_unit, save_figure

        made, up = in_unit(made, ask.metric.unit, titles[1])
        draw = draw_bars if said["kind"] == "bars" else draw_lines
        save_figure(said["output"], made, (titles[0], up), style, draw)
    else:
        _show(made, titles, said)
        say(_notes(made))
    mixed = {name: many for panel in plain for name, many in panel.mixed.items()}
    if mixed:
        told = listed(f"{many:,} values of {name}" for name, many in mixed.items())
        say(f"each mean is over {told}: choose one with --where, or name it with -x or --by")


def _show(made: Sequence[Panel], titles: tuple[str, str], said: dict[str, Any]) -> None:
    has_colour = is_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
    manner = Manner(columns(), HEIGHT, has_colour, shows_unicode(), bool(said.get("log")), said["kind"] in OF_SHARES)
    say("\n\n".join(plotted(panel, titles, manner) for panel in made))


def _notes(made: Sequence[Panel]) -> str:
    points = [point for panel in made for line in panel.lines.values() for point in line]
    lines = ["bars: 95 % confidence"] if any(point.mean.half for point in points) else ["no intervals: one seed"]
    if any(point.overloaded for point in points):
        lines.append("some runs are overloaded: the queue keeps growing, so means depend on the length of the run")
    return "\n".join(lines)


def _plot_jobs(said: dict[str, Any]) -> None:
    """Draw a figure of values of single jobs, as the options in `said` request; times are in hours."""
    kind, output, value = said["kind"], said.get("output"), said.get("y", "wait").replace("-", "_")
    if not output and kind not in OF_SHARES:
        raise click.UsageError(f"--kind {kind} is drawn into a file: -o FIGURE.pdf, .svg or .png")
    where = tuple(map(RunFilter.of, said.get("where", ())))
    ask, in_time = DistributionAsk(value, said.get("by", "policy"), said.get("x", ""), where), False
    if kind == "heat" and value in WEEKLY:
        title = f"mean {WEEKLY[value]}"
    else:
        is_log, is_time = bool(said.get("log")) or kind in OF_SHARES, ask.quantity.unit == "s"
        in_time = is_time and kind in OF_SHARES and bool(output)
        per = HOUR if is_time and not in_time else 1.0
        ask = replace(ask, per=per, least=1.0 if is_log and is_time and kind != "heat" else 0.0)
        title = with_unit(ask.quantity.title, "h" if is_time and not in_time else "")
        title = f"mean {title}" if kind == "heat" else f"{title}, at least 1 s" if ask.least else title
    with Results(said["results"]) as results:
        made = MAKERS[kind](results, ask)
        style = replace(_settle(said, made, results, ask.by), in_time=in_time, bar=title)
    share = "share of jobs with more" if kind == "ccdf" else "share of jobs with at most this"
    if output:
        _draw_jobs(kind, output, made, title, share, said.get("x", ""), style)
    else:
        _show(made, (title, share), said | {"log": False})


MAKERS: dict[str, Callable[[Results, DistributionAsk], Any]] = {
    "ecdf": shares,
    "ccdf": lambda results, ask: shares(results, ask, complement=True),
    "box": spreads,
    "violin": spreads,
    "heat": weeks,
    "scatter": clouds,
}


def _draw_jobs(kind: str, output: str, made: Any, title: str, share: str, over: str, style: Style) -> None:
    from tui.lab.cli.figure import draw_boxes, draw_cloud, draw_shares, draw_violins, draw_week, save_figure

    if kind in OF_SHARES:
        save_figure(output, made, (title, share), style, draw_shares)
    elif kind == "heat":
        save_figure(output, made, ("hour of the day", ""), style, draw_week)
    elif kind == "scatter":
        save_figure(output, made, ("processors", title), style, draw_cloud)
    else:
        save_figure(output, made, (over, title), style, draw_boxes if kind == "box" else draw_violins)
