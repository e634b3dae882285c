"""Queue of an observed cluster as a table: expected start, our forecast, priority, and reason to wait."""

from __future__ import annotations

import re
from datetime import datetime

from sim.live.cluster.dates import DAY, date
from sim.live.cluster.observed import Dated
from sim.live.cluster.values import NEVER, ClusterJob
from sim.support.formatting import count, printable, span
from tui.live.scene import LiveContext, LiveScene, job_name
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line
from tui.panels.context import swatch, window

BOTH, WIDE = 56, 90
"""Smallest widths in columns at which our forecast, and also the priority, is shown next to Slurm's start."""
EMPTY = "No job waits{where}: what is submitted appears here, with the reason why it waits."


def jobs_of(context: LiveContext) -> tuple[ClusterJob, ...]:
    """Return the waiting jobs to show, in the scheduler's order or, with `mine_first`, the user's own first."""
    cluster = context.scene.cluster
    found = cluster.queue
    if context.partition:
        found = tuple(job for job in found if context.partition in job.partition.split(","))
    if context.only_mine:
        return tuple(job for job in found if job.user == cluster.me)
    if context.mine_first:
        return tuple(sorted(found, key=lambda job: job.user != cluster.me))
    return found


def draw_queue(context: LiveContext, size: Size, first: int = 0) -> Sheet:
    """Return the visible rows of the queue. Only these are computed, so a long queue takes no longer."""
    width, rows = size
    jobs = jobs_of(context)
    where = f" in {printable(context.partition)}" if context.partition else ""
    title = f"Queue{where}" + (" · mine" if context.only_mine else " · mine first" if context.mine_first else "")
    wanted = sum(job.cpus for job in jobs)
    note = f"{len(jobs):,} waiting · {count(wanted, 'core')}"
    if context.scene.cluster.is_private:
        note = f"others' jobs are hidden · {note}"
    if not jobs:
        return Sheet(title, (), (line(Span(EMPTY.format(where=where), "dim")),), 0, 1, note)
    columns = _columns(jobs, width)
    chosen = context.scene.job(context.selected)
    mark = None if chosen is None else next((at for at, job in enumerate(jobs) if job is chosen), None)
    seen = window(len(jobs), first, max(rows - 1, 1))
    body = tuple(_row(context, jobs[at], columns, width) for at in seen)
    head = line(Span(_cells(["job", "cores", "waited", "start", "ours", "priority"], columns) + "why", "dim"))
    return Sheet(title, (head,), body, seen.start, len(jobs), note, mark)


def _columns(jobs: tuple[ClusterJob, ...], width: int) -> tuple[int, ...]:
    """Return the columns' widths; 0 for one that is left out because the panel is narrow."""
    job = min(max(max(len(job_name(job)) for job in jobs[:200]) + 3, 6), 14)
    if width < BOTH:
        return job, 6, 7, 13, 0, 0
    return job, 6, 7, 9 if width < WIDE else 17, 14, 0 if width < WIDE else 9


def _cells(words: list[str], columns: tuple[int, ...]) -> str:
    told = [text.pad(words[0], columns[0])]
    told += [
        text.pad(text.shorten(word, wide - 1), wide, "right")
        for word, wide in zip(words[1:], columns[1:], strict=True)
        if wide
    ]
    return "".join(told) + "  "


def _row(context: LiveContext, job: ClusterJob, columns: tuple[int, ...], width: int) -> Line:
    scene = context.scene
    rank = scene.rank(job)
    is_both = columns[4] > 0
    ours, slurm = forecast_of(scene, job), start_of(scene, job, columns[3] < 17)
    words = [
        "",
        f"{job.cpus:,}" + (f"+{job.gpus}g" if job.gpus else ""),
        span(max(scene.cluster.at - job.submit, 0.0)),
        slurm if is_both else ours or slurm,
        ours or ("-" if scene.forecasts is not None else "..."),
        f"{job.priority:,}",
    ]
    name = text.shorten(job_name(job), columns[0] - 3)
    told = _cells(words, columns)[columns[0] :]
    room = max(width - columns[0] - text.cells(told), 0)
    why = _fitting(_without_verb(scene.why(job)), room)
    style = "strong" if job.user and job.user == scene.cluster.me else ""
    return Line(
        (
            swatch(scene.hue(rank)),
            Span(text.pad(f" {name}", columns[0] - 2), style),
            Span(told),
            Span(text.shorten(printable(why), room), "dim"),
        ),
        rank,
    )


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


def start_of(scene: LiveScene, job: ClusterJob, narrow: bool = False) -> str:
    """Return the expected start: "?" without a plan, "not before" or ">" if `narrow` for a begin time, "-" unknown."""
    if job.reason.partition(",")[0] in NEVER:
        return "never"
    if scene.cluster.is_private or job.start is None:
        return "-"
    at = date(job.start, scene.cluster.at)
    at = at[:5] if at[2:3] == ":" else at
    if job.is_planned:
        return at
    if not job.is_held_until_start:
        return f"{at}?"
    return f">{at}" if narrow else f"not before {at}"


def forecast_of(scene: LiveScene, job: ClusterJob) -> str:
    """Return our forecast of a start as text: a range or, without ranges, "~" and one time; "" without a forecast."""
    if (made := scene.forecasts) is None or (found := made.starts.get(job.id)) is None:
        return ""
    around, now = made.ranges.get(job.id), scene.cluster.at
    return range_in_words(*around, now) if around else f"~{range_in_words(found.middle, found.middle, now)}"


def range_in_words(low: float, high: float, now: float) -> str:
    """Return a range of times as text in at most 13 columns: clock times today, weekdays, then dates."""
    try:
        first, last, today = (datetime.fromtimestamp(time).astimezone() for time in (max(low, now), high, now))
    except (ValueError, OverflowError, OSError):
        return "-"
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
