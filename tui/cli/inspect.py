"""Command `schedscope inspect`: describe a trace as text."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from sim.support.formatting import count, listed, percent, printable
from sim.workload.categories import LENGTHS, WIDTHS
from sim.workload.model import Workload
from sim.workload.portrait import (
    CRASH_ESTIMATE,
    CRASH_RUN,
    Arrivals,
    Bin,
    EstimateQuality,
    Parties,
    Portrait,
    SpreadOf,
    portrait,
)
from sim.workload.source import Source
from tui.cli import options
from tui.cli.terminal import columns, say, shows_unicode
from tui.look import text
from tui.look.text import duration, exact, number

NARROWEST, WIDEST = 60, 100
"""Smallest and largest width of the text in columns, whatever the width of the terminal is."""
MOST_KINDS = 12
"""Largest number of kinds of nodes, and of partitions, that are listed."""
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")

FOUR = ("short narrow", "short wide", "long narrow", "long wide")
UNITS = ((60, 1, "s"), (3600, 60, "min"), (172800, 3600, "h"), (float("inf"), 86400, "d"))
"""Units for run times, from the smallest: (run time up to which the unit is used, seconds in the unit, label)."""

Lines = list[str]


@click.command("inspect")
@options.trace()
@options.of_workload
def command(trace: str, **given: Any) -> None:
    """Describe a trace: jobs, skipped lines, load, widths, lengths, estimates, categories."""
    from sim.workload.replay import trace_of

    source = Source.of_options(trace, given)
    read = trace_of(source)
    workload = source.made(Workload.of(read, source.procs, source.machine), with_overruns=False)
    say(render(portrait(workload, read), columns(), shows_unicode()))


@dataclass(frozen=True)
class _Page:
    width: int
    unicode: bool

    def histogram(self, rows: Sequence[tuple[str, int]], total: int, heading: str) -> Lines:
        return text.histogram(rows, total, heading, self.width, self.unicode)

    def paragraph(self, words: str) -> Lines:
        tied = words.replace(" %", "\xa0%")  # a number and its sign stay on one line
        wrapped = textwrap.wrap(tied, self.width, initial_indent="  ", subsequent_indent="  ")
        return [line.replace("\xa0", " ") for line in wrapped]

    def title(self, name: str, meaning: str) -> Lines:
        head = f"{name} · {meaning} "
        return ["", (head + "─" * (self.width - len(head))).rstrip()]


def render(portrait: Portrait, width: int, unicode: bool = True) -> str:
    page = _Page(min(max(width, NARROWEST), WIDEST), unicode)
    lines = _head(page, portrait)
    sections: tuple[Callable[[_Page, Portrait], Lines], ...] = (
        _nodes, _widths, _runs, _categories, _arrivals, _estimates, _people, _fidelity,
    )  # fmt: skip
    if portrait.jobs:
        for section in sections:
            lines += section(page, portrait)
    else:
        lines += ["", "  No job of this file can be simulated.", *_fidelity(page, portrait)]
    drawn = "\n".join(lines)
    return drawn if unicode else text.plain(drawn)


def _head(page: _Page, portrait: Portrait) -> Lines:
    title = text.shorten(printable(portrait.name) or "workload", page.width)
    rows = [
        ("Jobs", number(portrait.jobs), _of_file(portrait)),
        ("Machine", number(portrait.procs), f"processor{'' if portrait.procs == 1 else 's'}{_computer(portrait)}"),
        ("Submitted over", duration(portrait.span), _dates(portrait.arrivals)),
    ]
    if portrait.offered_load is not None:
        busy = number(portrait.offered_load * portrait.procs, 1)
        would = f"the work would fill {busy} processors all the time"
        rows.append(("Offered load", percent(portrait.offered_load), would))
    waited = portrait.recorded_wait
    if waited:
        rows.append(("Waited in reality", duration(waited.mean), f"on average, at worst {duration(waited.most)}"))
    body = text.table(rows, ("left", "right", "left"), indent=2)
    return [title, "═" * text.cells(title) if page.unicode else "=" * len(title), *_fit(page, body)]


def _fit(page: _Page, lines: Lines) -> Lines:
    return [text.shorten(line, page.width) for line in lines]


def _of_file(portrait: Portrait) -> str:
    if portrait.in_file is None:
        return "that can be simulated"
    if portrait.in_file == portrait.jobs:
        return "all that the file holds"
    return f"of the {portrait.in_file:,} in the file"


def _computer(portrait: Portrait) -> str:
    return f", {printable(portrait.computer)}" if portrait.computer else ""


def _dates(arrivals: Arrivals | None) -> str:
    if arrivals is None:
        return "(the file does not say when)"
    return f"{arrivals.first.date()} to {arrivals.last.date()}"


def _nodes(page: _Page, portrait: Portrait) -> Lines:
    known = portrait.on_nodes
    if known is None:
        return []
    lines = page.title("Nodes", "what do they have, and what do jobs ask of them?")
    for many, cores, memory, others in known.kinds[:MOST_KINDS]:
        has = [count(cores, "core"), *([f"{memory:,} MB"] if memory else []), *(f"{n:,} {name}" for name, n in others)]
        lines += page.paragraph(f"{count(many, 'node')} with {', '.join(has)}{' each' if many > 1 else ''}")
    if len(known.kinds) > MOST_KINDS:
        lines += page.paragraph(f"and {len(known.kinds) - MOST_KINDS:,} more kinds of nodes")
    for name, many, most, is_exclusive in known.partitions[:MOST_KINDS]:
        rules = [f"at most {duration(most)}"] if most else []
        rules += ["whole nodes"] if is_exclusive else []
        lines += page.paragraph(f"partition {', '.join([printable(name), count(many, 'node'), *rules])}")
    if len(known.partitions) > MOST_KINDS:
        lines += page.paragraph(f"and {len(known.partitions) - MOST_KINDS:,} more partitions")
    asked = [f"{printable(what)} ({many:,})" for what, many in known.asking]
    words = (
        f"Jobs ask for cores, and beside these for {listed(asked, most=9)}." if asked else "Jobs ask for cores only."
    )
    if known.placed:
        words += f" Of {count(known.placed, 'job')} it is known where they ran: --policy recorded puts them there."
    if known.dependent:
        words += (
            f" {count(known.dependent, 'job')} {'waits' if known.dependent == 1 else 'wait'} for the ends of others."
        )
    if known.limited:
        words += f" Limits of users, accounts or arrays hold for {count(known.limited, 'job')}."
    if known.reservations:
        own = f"; {count(known.confined, 'job')} must start in one" if known.confined else ""
        words += f" Nodes are kept by {count(known.reservations, 'reservation')}{own}."
    return lines + page.paragraph(words)


def _widths(page: _Page, portrait: Portrait) -> Lines:
    rows = [(_whole_range(b, portrait.procs), b.count) for b in portrait.widths]
    lines = page.title("Width", "how many processors do jobs ask for?")
    lines += page.histogram(rows, portrait.jobs, "processors")
    parallel = portrait.jobs - portrait.serial
    exactly = portrait.powers_of_two - portrait.serial
    words = f"{percent(portrait.serial / portrait.jobs)} of the jobs use a single processor. "
    if parallel:
        words += f"Of the others {percent(exactly / parallel)} ask for an exact power of two. "
    return lines + page.paragraph(words + _typical(portrait.width, lambda v: number(v, 1)))


def _whole_range(bin_: Bin, most: int) -> str:
    """Return the range of whole numbers in a bin of a histogram as text; `most` is the largest value.

    >>> [_whole_range(b, 100) for b in (Bin(0, 1, 5), Bin(1, 2, 5), Bin(4, 8, 5), Bin(64, 128, 5))]
    ['1', '2', '5–8', '65–100']
    """
    low, high = int(bin_.low) + 1, min(int(bin_.high), most)
    return f"{high:,}" if low >= high else f"{low:,}–{high:,}"


def _typical(spread: SpreadOf | None, show: Callable[[float], str]) -> str:
    if spread is None:
        return ""
    return f"Mean {show(spread.mean)}, median {show(spread.median)}, most {show(spread.most)}."


def _runs(page: _Page, portrait: Portrait) -> Lines:
    rows = [(_time_range(b), b.count) for b in portrait.runs]
    lines = page.title("Length", "how long do jobs run?")
    lines += page.histogram(rows, portrait.jobs, "run time")
    return lines + page.paragraph(_typical(portrait.run, duration))


def _time_range(bin_: Bin) -> str:
    """Return the range of times in a bin of a histogram as text, in the unit that suits it.

    >>> [_time_range(b) for b in (Bin(0, 10, 1), Bin(30, 60, 1), Bin(1800, 3600, 1), Bin(57600, 86400, 1))]
    ['0–10 s', '30–60 s', '30–60 min', '16–24 h']
    >>> _time_range(Bin(604800, float("inf"), 1))
    '> 7 d'
    """
    if bin_.high == float("inf"):
        return f"> {exact(bin_.low)}"
    size, unit = next((size, unit) for most, size, unit in UNITS if bin_.high <= most)
    high = f"{bin_.high / size:g} {unit}"
    return f"{bin_.low / size:g}–{high}"


def _categories(page: _Page, portrait: Portrait) -> Lines:
    grid = [portrait.categories[4 * row : 4 * row + 4] for row in range(4)]

    def cell(many: int) -> str:
        return percent(many / portrait.jobs)

    rows = [["", *(f"{w.label}: {w.meaning.removesuffix(' processor')}" for w in WIDTHS), "all"]]
    for length, counts in zip(LENGTHS, grid, strict=True):
        rows.append([f"{length.label}: {length.meaning}", *(cell(c) for c in counts), cell(sum(counts))])
    rows.append(["all", *(cell(sum(column)) for column in zip(*grid, strict=True)), cell(portrait.jobs)])
    lines = page.title("Categories", "length by width, percent of all jobs")
    lines += text.table([[row[0].replace("-", "–"), *(c.replace("-", "–") for c in row[1:])] for row in rows], indent=2)
    lines += page.paragraph(
        "Kettimuthu's sixteen: very short, short, long, very long; sequential, narrow, wide, very wide."
    )
    four = ", ".join(f"{name} {cell(many)}" for name, many in zip(FOUR, portrait.coarse, strict=True))
    return lines + page.paragraph(f"The four categories, divided at 1 h and 8 processors: {four}.")


def _arrivals(page: _Page, portrait: Portrait) -> Lines:
    lines = page.title("Arrivals", "when do jobs come?")
    lines += page.paragraph(_gaps(portrait))
    arrivals = portrait.arrivals
    if arrivals is None:
        return lines + page.paragraph("The file gives no date, so hours and weekdays are not known.")
    lines += ["", f"  {'':5}0     6     12    18    hour of day, {printable(arrivals.clock)}"]
    lines.append(f"  jobs {text.sparkline(arrivals.by_hour, page.unicode)}".rstrip())
    lines += [*page.paragraph(_peak(arrivals)), ""]
    rows = list(zip(WEEKDAYS, arrivals.by_weekday, strict=True))
    return lines + page.histogram(rows, portrait.jobs, "day")


def _gaps(portrait: Portrait) -> str:
    gap = portrait.gap
    if gap is None:
        return "There is one job only."
    words = f"Between two submissions pass {duration(gap.mean)} on average; half of the gaps are at most "
    words += f"{duration(gap.median)}, the longest is {duration(gap.most)}."
    if gap.mean > 0:
        words += f" Standard deviation over mean: {number(gap.std / gap.mean, 1)} (1 would be Poisson)."
    if portrait.ties:
        words += f" {count(portrait.ties, 'job comes', 'jobs come')} in the same second as the one before."
    return words


def _peak(arrivals: Arrivals) -> str:
    """Return a sentence on the hours of the day at which most and fewest jobs arrive."""
    hours = arrivals.by_hour
    most, least = max(hours), min(hours)
    at, low = hours.index(most), hours.index(least)
    return f"Most come at {at}–{at + 1} h ({count(most, 'job')}), fewest at {low}–{low + 1} h ({least:,})."


def _estimates(page: _Page, portrait: Portrait) -> Lines:
    lines = page.title("Estimates", "how long do users say that their jobs will run?")
    known = portrait.estimates
    if known is None:
        return lines + page.paragraph("The file has no estimates; the run times are used, so every estimate is exact.")
    words = f"{count(known.given, 'job')} ({percent(known.given / portrait.jobs)}) came with an estimate. "
    words += f"{count(known.values, 'different value')} in use; {percent(known.round / known.given)} are round "
    words += "(5-minute steps below an hour, whole hours above). The most used:"
    lines += page.paragraph(words)
    lines += page.histogram([(_chosen(v), uses) for v, uses in known.most_used], known.given, "estimate")
    lines += page.title("Accuracy", "how much of its estimate does a job use?")
    lines += page.histogram([(_tenth(b), b.count) for b in known.ratio_bins], known.given, "of estimate")
    return lines + page.paragraph(_accuracy(known))


def _chosen(seconds: float) -> str:
    return f"{number(seconds / 3600)} h" if seconds % 3600 == 0 else exact(seconds)


def _tenth(bin_: Bin) -> str:
    if bin_.high == float("inf"):
        return "above 100 %"
    return f"{100 * bin_.low:.0f}–{100 * bin_.high:.0f} %"


def _accuracy(known: EstimateQuality) -> str:
    median = dict(known.ratio_quantiles)[0.5]
    words = f"The mean estimate is {number(known.over_factor, 1)} times the mean run time; half of the jobs "
    words += f"use at most {percent(median)} of theirs. {count(known.exceeded, 'job')} "
    words += f"({percent(known.exceeded / known.given)}) ran longer than estimated. Possibly crashed "
    words += f"(estimate above {CRASH_ESTIMATE:,.0f} s, run below {CRASH_RUN:.0f} s): "
    return words + f"{count(known.crashed, 'job')}, {percent(known.crashed / known.given)}."


def _people(page: _Page, portrait: Portrait) -> Lines:
    lines = page.title("Users, groups, queues", "shares of the jobs and of the work")
    whose = (portrait.users, portrait.groups, portrait.queues, portrait.accounts)
    shown = [
        line
        for parties, one in zip(whose, ("user", "group", "queue", "account"), strict=True)
        if parties.count
        for line in _parties(page, parties, one, portrait.jobs)
    ]
    lines += shown or page.paragraph("The file does not say.")
    if portrait.statuses:
        each = ", ".join(f"{name} {percent(many / portrait.jobs)}" for name, many in portrait.statuses)
        lines += page.paragraph(f"How they ended: {each}.")
    return lines


def _parties(page: _Page, parties: Parties, one: str, jobs: int) -> Lines:
    more = f"{count(parties.count, one)}" + (", the busiest" if parties.count > len(parties.top) else "")
    rows = [(more, "jobs", "of all jobs", "of all work")]
    for party in parties.top:
        label = text.shorten("  " + printable(party.label), 28)
        rows.append((label, number(party.jobs), percent(party.jobs / jobs), percent(party.work_share)))
    body = [text.pad(rows[0][0], 28), *rows[0][1:]]
    return _fit(page, text.table([body, *rows[1:]], indent=2))


def _fidelity(page: _Page, portrait: Portrait) -> Lines:
    lines = page.title("Fidelity", "differences from the file")
    for note in options.told(portrait.fidelity):
        lines += textwrap.wrap(note, page.width, initial_indent="  ", subsequent_indent="      ")
    return lines if portrait.fidelity else lines + page.paragraph("Every job is as the file says.")
