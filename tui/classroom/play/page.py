"""The game's screen as lines: machine, queue, scores, and its chart of processors over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from rich.segment import Segment

from sim.classroom.play.game import Game
from sim.classroom.play.scoring import IN_SHORT, Costly, GameScore
from sim.support.formatting import clock, count, name, span
from sim.timeline.timeline import Timeline
from sim.workload.model import Job
from tui.chart.cells.cells import Brush
from tui.chart.cells.grid import Size
from tui.chart.cells.paint import sketch
from tui.chart.colours import OwnHues
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line, wrapped
from tui.replay.navigation import Traveller
from tui.replay.stage import RunView
from tui.replay.thumbnail import Thumbnail

NAMES = 22
TABLE = 58
"""Width in columns of the table of scores, to the left of the policies' descriptions."""


def machine(game: Game, width: int) -> Line:
    """Return a line with the free processors, and the running jobs, the first to end by its estimate first."""
    told = f" Machine: {game.free:,} of {game.workload.procs:,} free"
    jobs = sorted(game.running, key=lambda job: (game.expected_end(job), job.rank))
    ends = "  ".join(f"{name(job)} {job.procs:,}p {span(game.expected_end(job) - game.now)}" for job in jobs)
    rest = f"   ends at most in: {ends}" if jobs else "   nothing runs"
    return line(Span(told, "strong"), Span(text.shorten(rest, max(width - len(told) - 1, 0)), "dim"))


def queue(game: Game, chosen: int, width: int, height: int) -> list[Line]:
    """Return a line for each waiting job, which says if it fits; the one with index `chosen` has a mark."""
    jobs = game.queue
    room = max(height - 1, 1)
    cut = f", {len(jobs) - room} not shown" if len(jobs) > room else ""
    title = f" Queue: {len(jobs)} waiting, {game.to_come} to come{cut}"
    columns = f"{'estimate':>{max(33 - len(title), 10)}}{'waited':>10}"
    found = [line(Span(title, "strong"), Span(columns, "dim"))]
    hues = hues_of(game)
    first = min(max(chosen - room + 1, 0), max(len(jobs) - room, 0))
    for number, job in list(enumerate(jobs))[first : first + room]:
        fits = job.procs <= game.free
        mark = "▌" if number == chosen else " "
        told = "fits" if fits else f"needs {count(job.procs - game.free, 'more proc')}"
        digit = f"{number + 1}" if number < 9 else " "
        style = "strong" if number == chosen else "" if fits else "dim"
        unit = "proc " if job.procs == 1 else "procs"
        body = f" {name(job):<7}{job.procs:>6,} {unit} {span(job.estimate):>9} {span(game.waits(job.rank)):>9}  "
        found.append(
            line(
                Span(mark, "accent"),
                Span(digit, "key"),
                Span("██", f"hue:{hues[job.rank]}"),
                Span(body, style),
                Span(told, "good" if fits else "dim"),
            )
        )
    if not jobs:
        found.append(line(Span("   No job waits: space lets the clock go on.", "dim")))
    return found


def result(
    scores: Sequence[GameScore], costly: Sequence[Costly], width: int, best: Sequence[tuple[str, float, float]] = ()
) -> list[Line]:
    """Return scores, costly decisions, and the class's best games: (name, mean wait, worst wait)."""
    found = [line(Span(" The same hours", "strong"), Span("            mean wait   worst wait", "dim"))]
    for place, each in enumerate(scores, 1):
        style = "accent" if each.who == "you" else ""
        who = text.pad(text.shorten(each.who, 20), 20)
        told = f" {place}. {who}  {span(each.mean_wait):>10}   {span(each.worst_wait):>10}  {each.worst}"
        found.append(line(Span(text.pad(told, TABLE), style), Span(IN_SHORT.get(each.who, ""), "dim")))
    found += [
        line(),
        line(Span(" The decisions that cost most", "strong"), Span("  if EASY goes on after them, not before", "dim")),
    ]
    if not costly:
        found.append(line(Span("   None: EASY would not have done better after any of them.", "good")))
    for decision in costly:
        found.append(line(Span(f"   + {span(decision.cost)} of waiting", "warn")))
        found += wrapped(decision.told, width - 2, indent=5)
    if best:
        found += [line(), line(Span(" The best of the class", "strong"))]
    for place, (who, mean, worst) in enumerate(best, 1):
        who = text.pad(text.shorten(who, 20), 20)
        found.append(line(Span(f" {place}. {who}  {span(mean):>10}   {span(worst):>10}")))
    return found


def own_chart(game: Game, width: int) -> list[Line]:
    """Return a line for each job of a game that is over: its wait, then its run, on one axis of time."""
    jobs, hues = game.workload.jobs, hues_of(game)
    first, last = min(job.submit for job in jobs), max(map(game.end_of, range(len(jobs))))
    columns = max(width - NAMES - len(" waited 00m00 "), 4)
    found = [line(), line(Span(" Your hours", "strong"), Span("  dots: a job waits; bar: it runs", "dim"))]
    for job in jobs:
        times = (job.submit, game.starts[job.rank], game.end_of(job.rank))
        submit, start, end = (round((time - first) / max(last - first, 1) * columns) for time in times)
        waited = game.waits(job.rank)
        found.append(
            line(
                Span(text.pad(text.shorten(f" {name(job)} {count(job.procs, 'proc')}", NAMES - 1), NAMES)),
                Span(" " * submit),
                Span("·" * (start - submit), "warn"),
                Span("█" * max(end - start, 1), f"hue:{hues[job.rank]}"),
                Span(f" waited {span(waited)}" if waited else "", "dim"),
            )
        )
    return found


def happened(game: Game) -> str:
    jobs = game.workload.jobs
    came = [name(jobs[rank]) for rank in range(len(jobs)) if jobs[rank].submit == game.now]
    told = [f"{', '.join(map(name, game.ended))} ended"] if game.ended else []
    told += [f"{', '.join(came)} submitted"] if came else []
    return f"{clock(game.now)}: {'; '.join(told)}"


def so_far(game: Game) -> str:
    if game.so_far is None:
        return "mean and worst wait count"
    mean, worst, rank = game.so_far
    return f"mean wait {span(mean)}, worst {span(worst)} {name(game.workload.jobs[rank])}"


def placed(scores: Sequence[GameScore]) -> str:
    """Return text on the player's place among all scores by mean wait, and by worst wait.

    >>> placed([GameScore("you", 60, 900, "J1"), GameScore("easy", 90, 300, "J2")])
    'You are number 1 of 2 by mean wait, number 2 by the worst wait.'
    """
    you = next(each for each in scores if each.who == "you")
    mean = 1 + sum(each.mean_wait < you.mean_wait for each in scores)
    worst = 1 + sum(each.worst_wait < you.worst_wait for each in scores)
    return f"You are number {mean} of {len(scores)} by mean wait, number {worst} by the worst wait."


def hues_of(game: Game) -> list[int]:
    found: list[int] = OwnHues(game.workload.ids).of(np.arange(len(game.workload))).tolist()
    return found


def choice(jobs: Sequence[Job], chosen: int) -> int:
    return min(max(chosen, 0), max(len(jobs) - 1, 0))


def chart(game: Game, look: Look, size: Size) -> list[list[Segment]]:
    """Return the rows of the chart with an axis below it; empty if there is no room."""
    gutter = len(f"{game.workload.procs}") + 1
    inner = Size(size.columns - gutter, size.rows - 1)
    if inner.rows < 2 or inner.columns < 20:
        return []
    begin, end = window_of(game)
    made = Thumbnail(stage_of(game), (begin, end)).chart(inner.columns, inner.rows * (1 if look.patterned else 2))
    cells, brush = sketch(made, look, inner), Brush(look)
    numbers = {0: f"{game.workload.procs}", inner.rows - 1: "0"}
    rows = [
        [
            Segment(f"{numbers.get(row, ''):>{gutter - 1}} ", look.style("dim")),
            *brush.draw(cells, row, 0, inner.columns),
        ]
        for row in range(inner.rows)
    ]
    labels = [(0, clock(begin)), (made.view.column_of(game.now), "now"), (inner.columns - len(clock(end)), clock(end))]
    return [*rows, [Segment(" " * gutter + _axis(labels, inner.columns), look.style("dim"))]]


def window_of(game: Game) -> tuple[float, float]:
    """Return the time that a chart of the game shows: from the first submission to expected ends, in seconds."""
    begin = float(game.workload.submit[0])
    left = sorted(game.expected_end(job) - game.now for job in game.running) or [60.0]
    return begin, game.now + min(max(left[len(left) // 2], 2 * (game.now - begin)), left[-1])


def stage_of(game: Game) -> RunView:
    """Return the run of the player's starts until now, as a recorded schedule; what waits starts later."""
    submit = game.workload.submit
    starts = [game.starts.get(rank, max(game.now + 1, at)) for rank, at in enumerate(submit.tolist())]
    workload = replace(game.workload, wait=np.array(starts) - submit)
    stage = RunView(Timeline(workload, "recorded"))
    Traveller(stage).seek_time(game.now, lambda: False)
    return stage


def _axis(labels: Sequence[tuple[int, str]], columns: int) -> str:
    """Return labels at their columns; one that would touch another before it is left out.

    >>> _axis([(0, "d0"), (1, "now"), (8, "d1")], 10)
    'd0      d1'
    """
    axis = ""
    for column, label in labels:
        if not axis or column > text.cells(axis):
            axis = text.pad(axis, column) + label
    return text.pad(axis[:columns], columns)
