"""Board of the puzzle: its draft with earlier states, and a row for each job, from submission to the estimate's end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from textual import events
from textual.message import Message

from sim.support.formatting import span
from sim.workload.formats.puzzle import MOST_JOBS, MOST_PROCS, Puzzle
from sim.workload.job_changes import MOST_SECONDS, PuzzleJob
from tui.chart.colours import OwnHues
from tui.look import text
from tui.look.palette import Look
from tui.look.sheets import Line, Span, line
from tui.widgets.cell_rows import Lines

MOST_UNDONE = 500


@dataclass(frozen=True)
class Draft:
    puzzle: Puzzle = Puzzle()
    chosen: int = 0
    """Index of the highlighted job; equal to the number of jobs for the line of a new job."""
    past: tuple[Puzzle, ...] = ()
    future: tuple[Puzzle, ...] = ()

    @property
    def job(self) -> PuzzleJob | None:
        jobs = self.puzzle.jobs
        return jobs[self.chosen] if self.chosen < len(jobs) else None

    @property
    def model(self) -> PuzzleJob:
        """Return the job to copy for a new one: the highlighted, the last, or one on a quarter of the machine."""
        jobs = self.puzzle.jobs
        return self.job or (jobs[-1] if jobs else PuzzleJob(max(self.puzzle.procs // 4, 1), 600))

    def changed(self, puzzle: Puzzle, again: bool = False) -> Draft:
        """Return the draft with another puzzle; `again` replaces the last change, so that undo takes back both."""
        if puzzle == self.puzzle:
            return self
        past = self.past if again else (*self.past, self.puzzle)[-MOST_UNDONE:]
        return replace(self, puzzle=puzzle, past=past, future=(), chosen=min(self.chosen, len(puzzle.jobs)))

    def undone(self) -> Draft:
        if not self.past:
            return self
        *past, puzzle = self.past
        chosen = min(self.chosen, len(puzzle.jobs))
        return Draft(puzzle, chosen, tuple(past), (self.puzzle, *self.future))

    def redone(self) -> Draft:
        if not self.future:
            return self
        puzzle, *future = self.future
        return Draft(puzzle, min(self.chosen, len(puzzle.jobs)), (*self.past, self.puzzle), tuple(future))

    def choose(self, number: int) -> Draft:
        return replace(self, chosen=min(max(number, 0), len(self.puzzle.jobs)))

    def added(self, job: PuzzleJob) -> Draft:
        """Return the draft with one more job, which is highlighted; if the puzzle is full, the draft itself."""
        count = len(self.puzzle.jobs)
        if count >= MOST_JOBS:
            return self
        return self.changed(self.puzzle.with_job(count, self._within_limits(job))).choose(count)

    def removed(self) -> Draft:
        return self if self.job is None else self.changed(self.puzzle.without(self.chosen))

    def with_job(self, job: PuzzleJob, again: bool = False) -> Draft:
        """Return the draft with another highlighted job; `again` lets undo take back the last change, too."""
        if self.job is None:
            return self
        return self.changed(self.puzzle.with_job(self.chosen, self._within_limits(job)), again)

    def with_procs(self, procs: int) -> Draft:
        """Return the draft with another machine; a job that needs more gets all of it."""
        procs = min(max(procs, 1), MOST_PROCS)
        jobs = tuple(job._replace(procs=min(job.procs, procs)) for job in self.puzzle.jobs)
        return self.changed(Puzzle(procs, jobs))

    def moved(self, submit: int = 0, run: int = 0, asked: int = 0, procs: int = 0) -> Draft:
        """Return the draft with the highlighted job's values changed by these; the estimate covers the run time."""
        job = self.job
        if job is None:
            return self
        length = max(job.run + run, 1)
        estimate = None if job.asked is None and not asked else max(job.estimate + asked, length)
        return self.with_job(
            PuzzleJob(job.procs + procs, length, job.submit + submit, None if estimate == length else estimate)
        )

    def _within_limits(self, job: PuzzleJob) -> PuzzleJob:
        run = min(max(job.run, 1), MOST_SECONDS)
        asked = None if job.asked is None else min(max(job.asked, 1), MOST_SECONDS)
        return PuzzleJob(
            min(max(job.procs, 1), self.puzzle.procs), run, min(max(job.submit, 0), MOST_SECONDS),
            None if asked == run else asked,
        )  # fmt: skip


NAMES = 24
LEAST = 1800
"""Shortest time in seconds that the width of the board stands for."""
ROOM = 1.25
"""Time that the board shows, as a multiple of the time at which the last estimate ends."""
Part = Literal["submit", "run", "asked", "new", "none"]


@dataclass(frozen=True)
class Scale:
    per_column: float

    @classmethod
    def of(cls, draft: Draft, columns: int) -> Scale:
        """Return a scale of round seconds at which all jobs and free space to the right are shown."""
        last = max((job.submit + job.estimate for job in draft.puzzle.jobs), default=0)
        least = max(last * ROOM, LEAST) / max(columns, 1)
        step = next((step for step in ROUND if step >= least), None)
        return cls(float(step) if step else least)

    def column(self, time: float) -> int:
        return round(time / self.per_column)

    def time(self, column: int) -> int:
        return max(round(column * self.per_column), 0)


ROUND = (10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800)


def rows(draft: Draft, width: int) -> list[Line]:
    """Return a line for each job, and a last line on which a new job can be added."""
    columns = max(width - NAMES, 1)
    scale = Scale.of(draft, columns)
    count = len(draft.puzzle.jobs)
    hues = OwnHues([str(number + 1) for number in range(count)]).of(np.arange(count)).tolist()
    found = []
    for number, job in enumerate(draft.puzzle.jobs):
        lit = number == draft.chosen
        named = f"J{number + 1:<3}{job.procs:>4} × {span(job.run)}"
        if job.asked is not None:
            named += f" / {span(job.asked)}"
        mark = Span("▌" if lit else " ", "accent")
        name = Span(text.pad(text.shorten(named, NAMES - 2), NAMES - 1), "strong" if lit else "")
        found.append(line(mark, name, *_bar(job, scale, columns, hues[number], lit)))
    lit = draft.chosen == len(draft.puzzle.jobs)
    told = "drag here, or press n, for a job"
    mark = Span("▌" if lit else " ", "accent")
    found.append(line(mark, Span(text.pad("new", NAMES - 1), "strong" if lit else "dim"), Span(told, "dim")))
    return found


def _bar(job: PuzzleJob, scale: Scale, columns: int, hue: int, lit: bool) -> list[Span]:
    begin = min(scale.column(job.submit), columns - 1)
    end = min(max(scale.column(job.submit + job.run), begin + 1), columns)
    asked = min(max(scale.column(job.submit + job.estimate), end), columns)
    return [
        Span("·" * begin, "faint"),
        Span("█" * (end - begin - 1) + ("▸" if end - begin > 1 else "█"), f"hue:{hue}"),
        Span("░" * (asked - end), f"hue:{hue}"),
        Span(f" {span(job.submit)}" if columns - asked > len(span(job.submit)) + 1 else "", "strong" if lit else "dim"),
    ]


def part_at(draft: Draft, width: int, row: int, column: int) -> Part:
    """Return what can be dragged here: submission, end of run time ("run") or estimate ("asked"), a new job."""
    if row >= len(draft.puzzle.jobs):
        return "new" if row == len(draft.puzzle.jobs) and column >= NAMES else "none"
    if column < NAMES:
        return "none"
    job, scale = draft.puzzle.jobs[row], Scale.of(draft, width - NAMES)
    at = column - NAMES
    begin, end = scale.column(job.submit), max(scale.column(job.submit + job.run), scale.column(job.submit) + 1)
    asked = max(scale.column(job.submit + job.estimate), end)
    if job.asked is not None and asked - 1 <= at <= asked:
        return "asked"
    if (at == end - 1 and end - begin > 1) or at == end == asked:
        return "run"
    return "submit" if begin <= at < asked else "none"


class Board(Lines, can_focus=True):
    class Dragged(Message):
        """Message that a part was dragged from time `begin` to `end`; `is_first` in a drag."""

        def __init__(self, row: int, part: Part, begin: int, end: int, is_first: bool) -> None:
            self.row, self.part, self.begin, self.end, self.is_first = row, part, begin, end, is_first
            super().__init__()

    class Wheeled(Message):
        def __init__(self, row: int, by: int) -> None:
            self.row, self.by = row, by
            super().__init__()

    def __init__(self) -> None:
        super().__init__(id="board")
        self._draft, self._first = Draft(), 0
        self._look: Look | None = None
        self._drag: tuple[int, Part, int, Scale] | None = None

    def show(self, draft: Draft, look: Look) -> None:
        if look is not self._look:
            self.forget()
        self._draft, self._look = draft, look
        self._redraw()

    def on_resize(self) -> None:
        self.forget()
        self._redraw()

    def _redraw(self) -> None:
        width, height = self.size
        if self._look is None or not width or not height:
            return
        found, look = rows(self._draft, width), self._look
        low = max(self._draft.chosen - height + 1, 0)
        self._first = min(max(self._first, low), self._draft.chosen, max(len(found) - height, 0))
        shown = found[self._first : self._first + height]
        self.fill([look.segments(each.spans) for each in shown], look.style(""))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self.focus()
        row = event.y + self._first
        part = part_at(self._draft, self.size.width, row, event.x)
        scale = Scale.of(self._draft, self.size.width - NAMES)
        self._drag = (row, part, event.x - NAMES, scale)
        self.capture_mouse()
        at = scale.time(event.x - NAMES)
        self.post_message(self.Dragged(row, part, at, at, is_first=True))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._drag is not None and self._drag[1] != "none":
            row, part, begin, scale = self._drag
            self.post_message(self.Dragged(row, part, scale.time(begin), scale.time(event.x - NAMES), is_first=False))

    def on_mouse_up(self) -> None:
        self._drag = None
        self.release_mouse()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.post_message(self.Wheeled(event.y + self._first, 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.post_message(self.Wheeled(event.y + self._first, -1))
