"""Lists of the jobs of an observed cluster, which wait, run or have ended, as tables of the columns that fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from typing import Any, NamedTuple

from sim.live.cluster.dates import DAY, here
from sim.live.cluster.observed import Dated
from sim.live.cluster.values import NEVER, ClusterJob
from sim.support.errors import ParameterError
from sim.support.formatting import count, printable, quoted, span
from tui.live.scene import Listing, LiveContext, LiveScene, job_name
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import QueueOrder, swatch, window
from tui.panels.queue_table import sortable_heading

LISTS = ("waiting", "running", "ended")
EMPTY = "No job is {kind}{where}: jobs appear here when they are {kind}."
NARROW = 60
"""Width in columns below which columns are closer together, and the reason may be shorter."""
LEAST_WHY, MORE_WHY, SHORT_WHY = 14, 12, 8
MOST_TEXT = {"name": 16, "on": 14, "state": 13}
"""Largest widths in columns of the screen of columns with words, if it is not 10."""


class JobColumn(NamedTuple):
    """Column of a list: text of a job, value to sort by, and width in columns of the screen (0: as its words need)."""

    told: Callable[[LiveScene, ClusterJob], str]
    value: Callable[[LiveScene, ClusterJob], Any]
    width: int = 0


def _word(name: str) -> JobColumn:
    def told(scene: LiveScene, job: ClusterJob) -> str:
        return printable(getattr(job, name))

    return JobColumn(told, told)


def _seconds(of: Callable[[LiveScene, ClusterJob], float | None]) -> JobColumn:
    def told(scene: LiveScene, job: ClusterJob) -> str:
        found = of(scene, job)
        return "-" if found is None else span(max(found, 0.0))

    return JobColumn(told, of, 7)


def _ran(scene: LiveScene, job: ClusterJob) -> float | None:
    if job.is_waiting or job.start is None:
        return None
    return (job.end if job.has_ended and job.end else scene.cluster.at) - job.start


def _waited(scene: LiveScene, job: ClusterJob) -> float | None:
    begun = scene.cluster.at if job.is_waiting else job.start or (job.end if job.has_ended else None)
    return None if begun is None else begun - job.submit


def _left(scene: LiveScene, job: ClusterJob) -> float | None:
    if job.is_waiting:
        return job.limit
    return None if job.has_ended or job.end is None else job.end - scene.cluster.at


def _state(scene: LiveScene, job: ClusterJob) -> str:
    is_gone = not job.has_ended and job.id not in scene.cluster.job_of
    return "gone" if is_gone else printable(job.state.lower().replace("_", " "))


def _date(scene: LiveScene, at: float | None) -> str:
    if at is None or (found := here(at, scene.cluster.at)) is None:
        return "-"
    moment, today = found
    if moment.date() == today.date():
        return f"{moment:%H:%M}"
    return f"{moment:%a %H:%M}" if abs(at - scene.cluster.at) < 6 * DAY else f"{moment:%d %b}"


COLUMNS = {
    "cores": JobColumn(
        lambda _, job: f"{job.cpus:,}" + (f"+{job.gpus}g" if job.gpus else ""), lambda _, job: job.cpus, 6
    ),
    "start": JobColumn(lambda scene, job: start_of(scene, job), lambda _, job: job.start, 10),
    "ours": JobColumn(
        lambda scene, job: forecast_of(scene, job) or ("-" if scene.forecasts is not None else "..."),
        lambda scene, job: scene.forecasts and (made := scene.forecasts.starts.get(job.id)) and made.middle, 14,
    ),
    "waited": _seconds(_waited),
    "limit": _seconds(lambda _, job: job.limit),
    "left": _seconds(_left),
    "ran": _seconds(_ran),
    "ended": JobColumn(lambda scene, job: _date(scene, job.end), lambda _, job: job.end, 9),
    "nodes": JobColumn(
        lambda _, job: f"{len(job.nodes) or job.nodes_wanted:,}", lambda _, job: len(job.nodes) or job.nodes_wanted, 6
    ),
    "priority": JobColumn(lambda _, job: f"{job.priority:,}", lambda _, job: job.priority, 9),
    "user": _word("user"), "name": _word("name"), "account": _word("account"), "partition": _word("partition"),
    "qos": _word("qos"), "state": JobColumn(_state, _state),
    "on": JobColumn(lambda _, job: printable(",".join(job.nodes[:8])), lambda _, job: job.nodes),
    "why": JobColumn(lambda scene, job: scene.why(job), lambda scene, job: scene.why(job)),
}  # fmt: skip
BY_WEIGHT = {
    "waiting": "cores start why user left waited partition name more ours priority nodes account qos",
    "running": "cores left user on name partition ran limit nodes waited account qos priority",
    "ended": "state ended user cores ran name partition limit waited on account qos",
}
"""For each list: names of its columns, the most important first; `more` is more space for the reason."""


def parse_layout(typed: str) -> tuple[tuple[str, ...], QueueOrder | None]:
    """Return the columns in a text, and the order: by the column after + (smallest first) or - (largest first).

    If each column has a sign, the columns are empty: as many as fit are then shown.
    """
    words, order = typed.replace(",", " ").split(), None
    for word in words:
        if (name := word.lstrip("+-")) not in COLUMNS and (name != "job" or name == word):
            raise ParameterError(f"no column {quoted(name)}; there are {', '.join(COLUMNS)}")
        if name != word:
            order = QueueOrder(name, descends=word[0] == "-")
    return tuple(word.lstrip("+-") for word in words) if any(word[0] not in "+-" for word in words) else (), order


def with_order(typed: str, order: QueueOrder | None) -> str:
    """Return the text of a layout with another order.

    >>> with_order("user -left name", QueueOrder("user", False)), with_order("+job", None)
    ('+user left name', '')
    """
    names, sign = list(parse_layout(typed)[0]), "" if order is None else "-" if order.descends else "+"
    if order is not None and order.column not in names:
        names.append(f"{sign}{order.column}")
    return " ".join(f"{sign}{name}" if order is not None and name == order.column else name for name in names)


def kept_layouts(kept: Mapping[str, str]) -> dict[str, str]:
    found = dict(kept)
    for kind, layout in kept.items():
        try:
            parse_layout(layout)
        except ParameterError:
            del found[kind]
    return found


# The jobs of a list


def jobs_of(context: LiveContext, kind: str = "") -> tuple[ClusterJob, ...]:
    """Return the jobs of a list, by default the one that is shown, in the order that the user has chosen."""
    scene, listing = context.scene, context.listing
    kind = kind or listing.kind
    order = parse_layout(listing.layouts.get(kind, ""))[1]
    key = kind, listing.partition, listing.mine, listing.words, order, scene.forecasts is None
    if key not in scene.listed:
        found = [job for job in _every(scene, kind) if _is_wanted(scene, job, listing)]
        if order is not None:
            column = COLUMNS.get(order.column)
            values = [(job, scene.rank(job) if column is None else column.value(scene, job)) for job in found]
            known = sorted((each for each in values if each[1] is not None), key=itemgetter(1), reverse=order.descends)
            found = [job for job, _ in known] + [job for job, value in values if value is None]
        elif listing.mine == 1:
            found.sort(key=lambda job: job.user != scene.cluster.me)
        scene.listed[key] = tuple(found)
    return scene.listed[key]


def _every(scene: LiveScene, kind: str) -> Iterable[ClusterJob]:
    """Return all jobs of a list: in the scheduler's order, by the nearest end, or by the latest end."""
    cluster, origin = scene.cluster, scene.observed.origin or 0.0
    if kind == "waiting":
        return cluster.queue
    if kind == "running":
        running = (job for job in cluster.jobs if not job.is_waiting and not job.has_ended)
        return sorted(running, key=lambda job: job.end or inf)
    until, seen = scene.clock + origin + 1, tuple(scene.observed.jobs)
    listed = (cluster.job_of.get(job.id, job) for job in seen if job.id and job.submit <= until)
    ended = [job for job in listed if ((job.end or 0.0) <= until if job.has_ended else job.id not in cluster.job_of)]
    return sorted(ended, key=lambda job: -(job.end or 0.0))


def _is_wanted(scene: LiveScene, job: ClusterJob, listing: Listing) -> bool:
    if listing.mine == 2 and job.user != scene.cluster.me:
        return False
    if listing.partition and listing.partition not in job.partition.split(","):
        return False
    if not listing.words:
        return True
    parts = (job_name(job), job.name, job.user, job.account, job.partition, job.qos, job.reason, *job.nodes)
    told = f"{' '.join(parts)} {_state(scene, job)}".lower()
    return all(word in told for word in listing.words.lower().split())


# The table


def draw_queue(context: LiveContext, size: Size, first: int = 0) -> Sheet:
    """Return the visible rows of a list of jobs. Only these are computed, so a long list takes no longer."""
    width, rows = size
    listing, jobs = context.listing, jobs_of(context)
    where = f" in {printable(listing.partition)}" if listing.partition else ""
    title = f"Jobs{where}" + ("", " · mine first", " · mine")[listing.mine]
    note = count(sum(job.cpus for job in jobs), "core") if listing.kind != "ended" else ""
    if context.scene.cluster.is_private:
        note = f"others' jobs are hidden{' · ' * bool(note)}{note}"
    tabs = _tabs(context, width < NARROW)
    if not jobs:
        told = (
            "No such job here: esc ends the filter." if listing.words else EMPTY.format(kind=listing.kind, where=where)
        )
        return Sheet(title, (tabs,), (line(Span(told, "dim")),), 0, 1, note)
    chosen = context.scene.job(context.selected)
    mark = None if chosen is None else next((at for at, job in enumerate(jobs) if job is chosen), None)
    seen = window(len(jobs), first, max(rows - 2, 1))
    shown = [jobs[at] for at in seen]
    name, columns = fitting_columns(context, shown, width)
    order = parse_layout(listing.layouts.get(listing.kind, ""))[1]
    heads = (
        sortable_heading(title, title, wide, order, context.unicode, "right" if COLUMNS[title].width else "left")
        for title, wide in columns.items()
    )
    head = line(sortable_heading("job", "job", name, order, context.unicode, "left"), *_spaced(heads, width))
    body = tuple(_row(context, job, name, columns, width) for job in shown)
    return Sheet(title, (tabs, head), body, seen.start, len(jobs), note, mark)


def _tabs(context: LiveContext, is_narrow: bool) -> Line:
    """Return the names of the lists with their numbers of jobs, which clicks show, and the filter."""
    spans = []
    for kind in LISTS:
        style = "accent strong" if kind == context.listing.kind else "dim"
        spans += [Span(f"{kind} {len(jobs_of(context, kind)):,}", style, f"list_jobs({kind!r})"), Span("  ")]
    words = printable(context.listing.words)
    return line(
        *spans,
        Span(f"/ {words}", "accent", "find") if words else Span("/" if is_narrow else "/ filters", "dim", "find"),
    )


def fitting_columns(context: LiveContext, jobs: Sequence[ClusterJob], width: int) -> tuple[int, dict[str, int]]:
    """Return the width of the jobs' names, and the widths of the columns chosen, or of the most important that fit."""
    scene, listing = context.scene, context.listing
    chosen, _ = parse_layout(listing.layouts.get(listing.kind, ""))
    name = min(max(max(len(job_name(job)) for job in jobs) + 3, 6), 14)
    room, found, gap, least = width - name, dict[str, int](), _gap(width), SHORT_WHY if width < NARROW else LEAST_WHY
    for title in chosen or BY_WEIGHT[listing.kind].split():
        if title == "more":
            found["why"] += (wide := min(MORE_WHY, max(room, 0)))
            room -= wide
            continue
        wide = least if title == "why" else COLUMNS[title].width
        if not wide:
            most = MOST_TEXT.get(title, 10)
            wide = min(max(len(title), *(text.cells(COLUMNS[title].told(scene, job)) for job in jobs)), most)
        wide += 4 if title == "start" and not chosen else 0
        if room < wide + gap:
            break
        room -= wide + gap
        found[title] = wide
    if "why" in found:
        found["why"] += room
    if "ours" in found and "start" in found and not chosen:
        found["start"] -= 4
    names = chosen or (*(title for title in found if title != "why"), "why")  # the reason fills the rest
    return name, {title: found[title] for title in names if title in found}


def _gap(width: int) -> int:
    return 1 if width < NARROW else 2


def _spaced(spans: Iterable[Span], width: int) -> Iterator[Span]:
    for each in spans:
        yield from (Span(" " * _gap(width)), each)


def _row(context: LiveContext, job: ClusterJob, name: int, columns: Mapping[str, int], width: int) -> Line:
    scene, rank = context.scene, context.scene.rank(job)
    cells = []
    for title, wide in columns.items():
        told = COLUMNS[title].told(scene, job)
        if title == "start" and "ours" not in columns:
            told = forecast_of(scene, job) or told
        if title == "why":
            told = _fitting(_without_verb(told), wide)
        told = text.shorten(printable(told), wide)
        align: text.Align = "right" if COLUMNS[title].width else "left"
        cells.append(Span(text.pad(told, wide, align), "dim" if title == "why" else ""))
    style = "strong" if job.user and job.user == scene.cluster.me else ""
    named = text.pad(f" {text.shorten(job_name(job), name - 3)}", name - 2)
    return line(swatch(scene.hue(rank)), Span(named, style), *_spaced(cells, width), rank=rank)


def _without_verb(why: str) -> str:
    """Return a reason to wait without its verb, and without what the column of starts says."""
    return why.removeprefix("waits: ").removeprefix("waits ").removeprefix("can never start: ")


def _fitting(why: str, width: int) -> str:
    """Return the reason to wait or, if that is wider than `width` columns, its core.

    >>> _fitting("needs 12 cores on 3 nodes > 0 free on 7 usable nodes of batch; J44 holds 12 cores", 20)
    '12 > 0 free'
    >>> _fitting("needs 2 cores; 5 cores are free on 4 nodes, none with 2 GPUs; J56 holds 1 core", 20)
    'none with 2 GPUs'
    >>> _fitting("behind 14 jobs for nodes of batch: J85 has priority 1,936 > 1,552", 12)
    'behind 14'
    """
    if text.cells(why) <= width:
        return why
    for pattern, core in _CORES:
        if found := pattern.match(why):
            why = found.expand(core)
            if text.cells(why) <= width:
                break
    return why


_CORES = tuple(
    (re.compile(pattern), core)
    for pattern, core in (
        (r"behind ([\d,]+ jobs?) .*", r"behind \1"),
        (r"behind ([\d,]+) jobs?", r"behind \1"),
        (r"needs [\d,]+ of (license \S+) .*", r"\1"),
        (r"needs ([\d,]+)[^;>]* > ([\d,]+) free.*", r"\1 > \2 free"),
        (r"not all of its nodes are available: ([^;]*).*", r"\1"),
        (r"it asks for (\S+), which is ([^,]*).*", r"\1 is \2"),
        (r"needs .*, ((?:none|[\d,]+ of [\d,]+ needed) with [^;,]*)(?:;.*)?$", r"\1"),
        (r"needs .* kept for (J[^ ;]+).*", r"kept for \1"),
        (r"asks for ([^,;]+ > [^,;]+), .*", r"\1"),
        (r"(account|user|QOS) .* (?:is|was) at its limit of .*", r"\1 at its limit"),
        (r"(account|user|QOS) at its limit", r"\1 limit"),
        (r"(account|user|QOS) limit", "at limit"),
        (r"(?:its user asked for a start|it .*) (not before [^,]*)(?:, .*)?", r"\1"),
        (r"its dependency .*", "dependency"),
        (r"for (?:success|failure|the start|the end) of (J[^ ,;]+).*", r"for \1"),
    )
)
"""Patterns of long reasons to wait, each with the core that a narrow panel shows"""


def start_of(scene: LiveScene, job: ClusterJob) -> str:
    """Return a start; of a waiting job with "?" without a plan, ">" before a begin time, "-" if it is unknown."""
    if not job.is_waiting:
        return _date(scene, job.start)
    if job.reason.partition(",")[0] in NEVER:
        return "never"
    if scene.cluster.is_private or job.start is None:
        return "-"
    at = _date(scene, job.start)
    return at if job.is_planned else f">{at}" if job.is_held_until_start else f"{at}?"


def forecast_of(scene: LiveScene, job: ClusterJob) -> str:
    """Return our forecast of a start as text: a range or, without ranges, "~" and one time; "" without a forecast."""
    if (made := scene.forecasts) is None or (found := made.starts.get(job.id)) is None:
        return ""
    around, now = made.ranges.get(job.id), scene.cluster.at
    return range_in_words(*around, now) if around else f"~{range_in_words(found.middle, found.middle, now)}"


def range_in_words(low: float, high: float, now: float) -> str:
    """Return a range of times as text in at most 13 columns: clock times today, weekdays, then dates."""
    if (found := here(max(low, now), high, now)) is None:
        return "-"
    first, last, today = found
    if high <= now:
        return "now"
    if last.date() == today.date():
        begin, end = "now" if low <= now else f"{first:%H:%M}", f"{last:%H:%M}"
        return end if begin == end else f"{begin}-{end}"
    day = "%d %b" if high - now > 6 * DAY else "%a"
    if first.date() == last.date() and day == "%a":
        return f"{first:%a %H}-{last:%H}h" if first.hour != last.hour else f"{first:%a %H:%M}"
    begin, end = "now" if low <= now else f"{first:{'%H:%M' if first.date() == today.date() else day}}", f"{last:{day}}"
    return end if begin == end else f"{begin}-{end}"


def moved_of(dates: tuple[Dated, ...]) -> str:
    """Return text on how often an expected start moved, and by how much the last differs from the first; "-" if it did
    not move.

    >>> moved_of(()), moved_of((Dated(0, 60), Dated(60, 120), Dated(120, 6120)))
    ('-', '2x +1h41')
    """
    if len(dates) < 2:
        return "-"
    by = dates[-1].start - dates[0].start
    return f"{len(dates) - 1}x {'+' if by >= 0 else '-'}{span(abs(by))}"
