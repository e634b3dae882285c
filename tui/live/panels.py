"""Panels for an observed cluster: one job, events, nodes, and the lines at the top and at the bottom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sim.live.cluster.dates import date
from sim.live.cluster.reasons import paragraph
from sim.live.cluster.values import ClusterJob
from sim.live.forecast.words import forecast_in_words, score_note
from sim.support.formatting import count, printable, span
from tui.live.events import EVENTS
from tui.live.queue import moved_of
from tui.live.scene import LiveContext, LiveScene, State, event_in_words, job_name
from tui.look import text
from tui.look.sheets import Line, Sheet, Size, Span, line, sheet, width_of, wrapped
from tui.panels.context import mini_bar, spark, swatch
from tui.panels.strip import strip_lines

STALE = 2.5
"""Age of the last poll, as a multiple of the time between polls, above which it is marked as old."""
MOST_EVENTS = 500
_FEW = 6
"""Largest number of events that the line at the bottom names"""
NARROW = 100
"""Width in columns below which the top line has a shorter form."""


def draw_job(context: LiveContext, size: Size, first: int = 0) -> Sheet:
    """Return why the selected job waits, its priority's parts, and how its expected start has moved."""
    scene, job = context.scene, context.scene.job(context.selected)
    if job is None:
        told = "Select a job: click it, / finds one, w takes the first that waits. Here it says why and when."
        return sheet("Job", wrapped(told, size[0], "dim"))
    drawn = swatch(scene.hue(context.selected))
    named = " · ".join(filter(None, map(printable, (job.name, job.user, job.account, job.partition, job.qos))))
    lines = [line(drawn, Span(f" {job_name(job)} ", "strong"), Span(text.shorten(named, max(size[0] - 12, 0))))]
    why, *asked = paragraph(scene.cluster, job)
    for sentence in (why, *asked[-1:]):  # why and when stand before the request
        lines += wrapped(sentence, size[0])
    lines += _forecast(context, job, size[0])
    for sentence in asked[:-1]:
        lines += wrapped(sentence, size[0])
    lines += _dates(context, job, size[0])
    lines += _parts(context, job, size[0])
    if job.dependency:
        lines += wrapped(f"Depends on {printable(job.dependency)}.", size[0], "dim")
    return sheet("Job", lines, note=printable(job.state.lower().replace("_", " ")))


def _forecast(context: LiveContext, job: ClusterJob, width: int) -> Iterator[Line]:
    if job.is_waiting and context.scene.forecasts is not None:
        yield from wrapped(forecast_in_words(context.scene.cluster, job, context.scene.forecasts), width)
    elif job.is_waiting:
        yield line(Span("Our forecast is being made.", "dim"))
    if job.is_waiting:
        yield line(Span("u", "key", "what_if"), Span(" what would let it start earlier", "dim", "what_if"))


def _dates(context: LiveContext, job: ClusterJob, width: int) -> Iterator[Line]:
    dates = context.scene.dates(job) if job.is_waiting else ()
    if len(dates) > 1:
        curve = spark([dated.start for dated in dates], max(min(width - 34, 30), 4), context.unicode)
        yield line(Span("expected start moved ", "dim"), moved_of(dates), " ", Span(curve, "accent"))


def _parts(context: LiveContext, job: ClusterJob, width: int) -> Iterator[Line]:
    parts = context.scene.cluster.parts.get(job.number, {})
    if not parts or not job.is_waiting:
        return
    yield line(Span(f"priority {job.priority:,}, of its parts:", "dim"))
    most = max(map(abs, parts.values())) or 1.0
    for name, points in sorted(parts.items(), key=lambda part: -abs(part[1])):
        bar = mini_bar(min(abs(points) / most, 1.0), max(min(width - 24, 30), 1), context.unicode)
        yield line(text.pad(f"  {printable(name)}", 13), text.pad(f"{points:,.0f}", 9, "right"), " ", Span(bar, "cool"))


def draw_events(context: LiveContext, size: Size, first: int = 0) -> Sheet:
    """Return the panel with the events between the poll that is shown and the one before."""
    scene = context.scene
    origin = scene.observed.origin or 0.0
    title = f"Picture {scene.picture + 1:,} of {scene.pictures:,}"
    if not scene.events:
        at_first = "The first picture: events come with the next."
        told = "Nothing happened since the picture before." if scene.picture else at_first
        return sheet(title, wrapped(told, size[0], "dim"), note=date(scene.clock + origin, scene.cluster.at))
    lines = []
    for event in sorted(scene.events, key=lambda event: EVENTS[event.kind].turn)[:MOST_EVENTS]:
        kind, told = EVENTS[event.kind], f"{date(event.at, scene.cluster.at)}  {event_in_words(scene, event)}"
        rank = scene.observed.ranks.get(event.subject) if kind.is_of_job else None
        lines.append(line(Span(text.shorten(told, size[0]), kind.style), rank=rank))
    return sheet(title, lines, note=count(len(scene.events), "event"))


def draw_strip(context: LiveContext, size: Size, first: int = 0) -> Sheet:
    scene = context.scene
    note = count(scene.pictures, "picture")
    if scene.forecasts is not None and (score := score_note(scene.forecasts)):
        note = score if len(score) + 30 < size[0] else score.partition(";")[0]
    if scene.state.reading is not None:
        note = f"{note}, reading: {scene.state.reading:.0%}"
    return Sheet("All that was observed", tuple(strip_lines(context, *size)), note=note)


# Lines


def top_line(context: LiveContext, now: float, width: int) -> Line:
    """Return the machine's state and, at the right, which poll is shown, how old it is and how long it took."""
    scene = context.scene
    cluster = scene.cluster
    taken = sum(job.cpus for job in cluster.running)
    gone = sum(max(node.cpus - cluster.taken.get(node.name, 0), 0) for node in cluster.nodes if node.is_gone)
    parts = [Span(f" {printable(cluster.name) or 'cluster'}", "strong")]
    cores = (
        f"{taken:,}/{cluster.cpus:,} cores" if width < NARROW else f"{taken:,} of {count(cluster.cpus, 'core')} busy"
    )
    facts = [cores]
    if cluster.is_private:
        facts = [
            "others' jobs hidden: no plan" if width < NARROW else "others' jobs are hidden, so no plan is drawn",
            cores,
        ]
    facts += [f"{len(cluster.running):,} running", f"{len(cluster.queue):,} waiting"]
    right = _age(scene, now, width < NARROW)
    room = width - width_of(parts) - width_of(right)
    if sum(len(fact) + 3 for fact in facts) >= room:
        del facts[-2]  # the running jobs make room for the number of waiting ones
    facts += [f"{count(cluster.unread, 'line')} unreadable"] if cluster.unread else []
    facts += [f"{count(gone, 'core')} down"] if gone else []
    facts += [f"{scene.observed.doubled:,} cores given twice"] if scene.observed.doubled and scene.follows else []
    for fact in facts:
        if room < len(fact) + 4:
            break
        parts.append(Span(f" · {fact}"))
        room -= len(fact) + 3
    return line(*parts, " " * max(room, 0), *right)


def next_poll(state: State, now: float) -> str:
    """Return when the next poll comes, after a comma; "" if that is unknown."""
    if state.due is None:
        return ""
    return f", next in {span(int(state.due - now))}" if state.due - now >= 1 else ", asking now"


def _age(scene: LiveScene, now: float, is_narrow: bool) -> list[Span]:
    """Return which poll is shown, how old it is, and when the next one comes."""
    cluster, state = scene.cluster, scene.state
    at, coming = date(cluster.at, now if not state.title else cluster.at), next_poll(state, now)
    if state.trouble:
        shown = "" if scene.follows or (is_narrow and coming) else f", picture of {at}"
        return [Span(f"no answer since {date(state.since, now)}{shown}{coming} ", "bad strong")]
    if state.title:
        title = text.shorten(printable(state.title), 12 if is_narrow else 30)
        return [Span(f"recording {title} ", "dim"), Span(f"{at} ", "strong")]
    if not scene.follows:
        return [Span(f"{at}", "strong"), Span(" · end: back to now ", "accent", "go_end")]
    age = max(now - cluster.at, 0.0)
    style = "bad strong" if age > STALE * max(state.every, 10.0) else "dim"
    return [
        Span("live ", "accent"),
        Span(f"{at}", "strong"),
        Span(f"{coming} " if is_narrow and coming else f", {span(age)} old{coming}, cost {cluster.cost:.1f}s ", style),
    ]


def sentence(context: LiveContext, width: int, rows: int = 1) -> list[Line]:
    """Return the most important message: an error, or on the selected job, the last events or the head."""
    scene = context.scene
    if scene.state.trouble:
        told = f"The last picture stays; asking again goes on. {printable(scene.state.trouble)}"
        return _in_rows(told, width, rows, "bad")
    if scene.state.unrecorded:
        return _in_rows(printable(scene.state.unrecorded), width, rows, "bad")
    job = scene.job(context.selected)
    if job is None and (happened := [e for e in scene.events if e.kind != "moved"]):
        words = [event_in_words(scene, event) for event in happened[:_FEW]]
        return _in_rows(f"{_fitting(words, len(happened), rows * (width - 2))}.", width, rows)
    if job is None:
        job = scene.cluster.queue[0] if scene.cluster.queue else None
    if job is None:
        return _in_rows("No job waits.", width, rows, "dim")
    return _in_rows(f"{job_name(job)} {scene.why(job)}.", width, rows)


def _in_rows(told: str, width: int, rows: int, style: str = "") -> list[Line]:
    lines = wrapped(told, width - 1, style, indent=1)
    rest = " ".join(each.text.strip() for each in lines[rows - 1 :])
    return [*lines[: rows - 1], line(Span(text.shorten(f" {rest}", width), style))]


def _fitting(words: Sequence[str], every: int, width: int) -> str:
    """Return the first of these `words` in one text that fits into `width` columns, and the number of the others of all
    `every` events; at least one is named.

    >>> _fitting(["J1 arrived", "J2 arrived", "J3 ended"], 7, 40), _fitting(["J1 ended"], 1, 20)
    ('J1 arrived; J2 arrived · 5 more events', 'J1 ended')
    """
    told = ""
    for named in range(1, len(words) + 1):
        more = f" · {count(every - named, 'more event')}" if every > named else ""
        longer = f"{'; '.join(words[:named])}{more}"
        if told and text.cells(longer) > width:
            break
        told = longer
    return told


def legend_line(context: LiveContext, mode: str) -> Line:
    chart = context.scene.chart
    if chart is None or not chart.legend:
        return line("")
    spans = [Span(f" {mode}: ", "dim")]
    for hue, name in chart.legend:
        spans += [Span("▇ ", f"hue:{hue}"), Span(f"{printable(name)}  ")]
    return line(*spans)
