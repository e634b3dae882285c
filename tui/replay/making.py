"""What the worker makes of a history for the panels: the strip of the whole run, small curves, the selected job.

Both makers remember what they have read and read on from there. One belongs to one run; a run that goes on differently
from some step gets new ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import takewhile
from math import inf, nextafter

import numpy as np
from numpy.typing import NDArray

from sim.decisions.decisions import Backfill, Decision, Reserve, Start, Suspend
from sim.decisions.matrix import Place, ReserveRow
from sim.engine.snapshot import Snapshot
from sim.history.history import Past, Stretch
from sim.workload.model import Job, Workload
from tui.chart.scene import Mark
from tui.replay.scene import JobScene, PlannedAt, Series, StripScene

Floats = NDArray[np.float64]
USED, WAITING, WANTED = range(3)
_BLINK = 0.001
"""Seconds; a turn that begins now is a turn only if one looks a moment further."""

# Curves over time


class StripMaker:
    """Occupied processors, waiting jobs and wanted processors, summed up over time: any mean is two looks."""

    def __init__(self, workload: Workload) -> None:
        self._procs = workload.procs
        self._begin = float(workload.submit[0]) if len(workload) else 0.0
        self._least_end = least_end(workload)
        self._count = 0
        """How many steps have been read."""
        self._table: Floats = np.zeros((7, 0))
        """A column a step, with room for more: its time, the three curves after it, their integrals up to it."""

    def strip(self, history: Past, known: float, columns: int, marks: Sequence[Mark] = ()) -> StripScene:
        """The whole run, of which all up to `known` has been computed.

        How long it will be is not known before it is over; until then as long as its jobs make it at least.
        """
        self._read(history)
        known = max(known, self._begin)
        end = max(known, self._least_end)
        edges = np.linspace(self._begin, end, columns + 1)
        done = max(1, int(np.searchsorted(edges[:-1], known))) if history.steps and columns else 0
        edges = np.minimum(edges[: done + 1], known)
        utilization = (self._means(USED, edges) / self._procs).tolist()
        waiting = self._means(WAITING, edges).tolist()
        blank = (None,) * (columns - done)
        return StripScene(self._begin, end, known, (*utilization, *blank), (*waiting, *blank), tuple(marks))

    def series(self, history: Past, step: int, columns: int) -> Series:
        """The numbers so far, when `step` steps have been made."""
        self._read(history)
        if step < 1 or columns < 1:
            return Series()
        edges = np.linspace(self._begin, self._table[0, step - 1], columns + 1)
        used, waiting, wanted = (self._means(curve, edges) for curve in (USED, WAITING, WANTED))
        return Series(tuple((used / self._procs).tolist()), tuple(waiting.tolist()), tuple(wanted.tolist()))

    def _read(self, history: Past) -> None:
        """Take in the steps that are new: of those before the last known one nothing changes any more."""
        known, steps = self._count, history.steps
        if steps <= known:
            return
        if steps > self._table.shape[1]:
            self._table = np.hstack([self._table, np.zeros((7, 2 * steps - self._table.shape[1]))])
        since, table = max(known - 1, 0), self._table
        time, free, waiting, wanted = (np.asarray(column)[since:] for column in history.columns())
        table[0, since:steps] = time
        table[1:4, since:steps] = self._procs - free, waiting, wanted
        areas = np.cumsum(table[1:4, since : steps - 1] * np.diff(time), axis=1)
        table[4:7, since + 1 : steps] = table[4:7, since : since + 1] + areas
        self._count = steps

    def _means(self, curve: int, edges: Floats) -> Floats:
        """The mean from each edge to the next; between equal edges, and after the last step, the last value."""
        if not len(edges) or not self._count:
            return np.empty(0)
        times = self._table[0, : self._count]
        step = np.maximum(np.searchsorted(times, edges, "right") - 1, 0)
        value = self._table[1 + curve, step]
        area = self._table[4 + curve, step] + value * np.maximum(edges - times[step], 0)
        width = np.diff(edges)
        means: Floats = np.where(width > 0, np.diff(area) / np.where(width > 0, width, 1), value[1:])
        return means


def least_end(workload: Workload) -> float:
    """No schedule can be over before this."""
    if not len(workload):
        return 0.0
    work = float(workload.runtime @ workload.width) / workload.procs
    return max(float(workload.submit[0]) + work, float((workload.submit + workload.runtime).max()))


# The selected job


class JobMaker:
    """What a history tells about one job, read from its submission on as far as somebody has asked."""

    def __init__(self, workload: Workload, rank: int) -> None:
        self.job = workload.jobs[rank]
        self._next: int | None = None
        """The step to read next, counted from 0; None: nothing has been read."""
        self._decided: list[tuple[int, float, Decision]] = []
        self._passers: dict[int, int] = {}
        """rank -> in which step it started first, of the jobs that came later and started while this one waited"""
        self._stretches: list[Stretch] = []
        self._finished = False

    def scene(self, history: Past, snapshot: Snapshot) -> JobScene:
        """The job at the moment of the snapshot; `history` goes at least as far."""
        self._read(history, snapshot.step)
        now = -inf if snapshot.time is None else snapshot.time
        state, ahead = state_of(snapshot, self.job)
        told = list(takewhile(lambda entry: entry[0] < snapshot.step, self._decided))
        decided = tuple((time, decision) for _, time, decision in told)
        seen = [_seen(stretch, now) for stretch in self._stretches if stretch.start <= now]
        return JobScene(
            rank=self.job.rank,
            state=state,
            start=self._start(history, seen, now),
            end=seen[-1].end if state == "finished" and seen else None,
            planned=tuple(PlannedAt(time, d.at) for time, d in decided if isinstance(d, Reserve | ReserveRow)),
            decided=decided,
            stretches=tuple(_merged(seen)),
            ahead=ahead,
            passed=sum(step < snapshot.step for step in self._passers.values()),
        )

    def _start(self, history: Past, seen: Sequence[Stretch], now: float) -> float | None:
        """When it first ran: where rows take turns, when it was first on turn."""
        for stretch in seen:
            if not stretch.rows:
                return stretch.start
            turn = next(history.turns(stretch, stretch.start, now + _BLINK), None)
            if turn is not None and turn.start <= now:
                return turn.start
        return None

    # Reading

    def _read(self, history: Past, steps: int) -> None:
        """Until so many steps have been read; while the job runs alone on its processors there is nothing to read."""
        step = self._next
        if step is None:
            step = bisect_left(range(history.steps), self.job.submit, key=history.time_of)
        self._look_again(history)
        while step < steps and not self._finished:
            runs_until = self._runs_until()
            if runs_until > history.time_of(step):
                step = bisect_left(range(history.steps), runs_until, key=history.time_of)
                if step >= steps:
                    break
            self._read_step(history, step)
            step += 1
        self._next = step

    def _runs_until(self) -> float:
        """Until when nothing can be decided about it."""
        if not self._stretches or self._stretches[-1].kind == "gang":
            return -inf
        end = self._stretches[-1].end
        return inf if end is None else end

    def _read_step(self, history: Past, step: int) -> None:
        time, job, decisions = history.time_of(step), self.job, history.decisions(step)
        if not self._stretches or self._stretches[-1].kind == "speculative":
            self._see_passers(step, decisions)
        own = [decision for decision in decisions if getattr(decision, "job", None) == job]
        self._decided += [(step, time, decision) for decision in own]
        last = self._stretches[-1] if self._stretches else None
        ends = last is not None and last.end == time
        if not (own or ends):
            return
        begun = _stretch_from(history, job.rank, time)
        if begun is not None and begun != last:
            self._stretches.append(begun)
        elif last is not None and ends and last.kind in ("run", "gang") and _is_last_at(history, step):
            self._finished = not any(isinstance(d, Suspend) and then == time for _, then, d in self._decided[-8:])

    def _see_passers(self, step: int, decisions: Sequence[Decision]) -> None:
        """Who of those that came later starts before it does."""
        for decision in decisions:
            if isinstance(decision, Start | Backfill | Place):
                if decision.job.rank == self.job.rank:
                    return
                if decision.job.rank > self.job.rank:
                    self._passers.setdefault(decision.job.rank, step)

    def _look_again(self, history: Past) -> None:
        """Has a stretch ended that went on when it was last looked at?"""
        if self._stretches and self._stretches[-1].end is None:
            start = self._stretches[-1].start
            self._stretches[-1] = _stretch_from(history, self.job.rank, start) or self._stretches[-1]


def state_of(snapshot: Snapshot, job: Job) -> tuple[str, int | None]:
    """How the job stands and, while it waits, how many stand before it in its queue."""
    if snapshot.time is None or job.submit > snapshot.time:
        return "not submitted", None
    if job in snapshot.queue.jobs:
        return "waiting", _ahead(snapshot, snapshot.queue.jobs.index(job))
    if any(halted.job.rank == job.rank for halted in snapshot.suspended):
        return "suspended", None
    if any(running.job.rank == job.rank for running in snapshot.running):
        return "in the matrix" if snapshot.matrix else "running", None
    return "finished", None


def _ahead(snapshot: Snapshot, index: int) -> int:
    """How many of the jobs before that one stand in the same queue."""
    if not snapshot.queues:
        return index
    place = snapshot.queue[index].place
    return sum(queued.place == place for queued in snapshot.queue[:index])


def _stretch_from(history: Past, rank: int, time: float) -> Stretch | None:
    """The job's stretch that begins at that time; the last one, if others ended at once."""
    begun = [s for s in history.between(time, nextafter(time, inf)) if s.rank == rank and s.start == time]
    return begun[-1] if begun else None


def _is_last_at(history: Past, step: int) -> bool:
    """Is there no later step at the same time? A switch of the policy makes one."""
    return step + 1 >= history.steps or history.time_of(step + 1) > history.time_of(step)


def _seen(stretch: Stretch, now: float) -> Stretch:
    """As far as it has gone by now."""
    return stretch if stretch.end is not None and stretch.end <= now else stretch._replace(end=None)


def _merged(stretches: Sequence[Stretch]) -> list[tuple[float, float | None, str]]:
    """(start, end, kind); stays in the matrix that follow each other are one, whatever the rows."""
    merged: list[tuple[float, float | None, str]] = []
    for stretch in stretches:
        if merged and merged[-1][1:] == (stretch.start, stretch.kind):
            merged[-1] = (merged[-1][0], stretch.end, stretch.kind)
        else:
            merged.append((stretch.start, stretch.end, stretch.kind))
    return merged
