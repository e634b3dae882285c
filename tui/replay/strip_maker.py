"""Maker of curves over time: those in the strip with the whole run, and small plots of metrics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sim.history.past import Past
from sim.workload.model import Workload
from tui.chart.scene import Mark
from tui.replay.scene import Series, StripScene

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
USED, WAITING, WANTED, THERE = CURVES = range(4)
_EVERY, _AT_ONCE = 32, 1 << 16
"""Number of steps between two stored integrals of the curves, and largest number of steps that are read at a time"""
_NOTHING = 1e-9
"""Values up to this size are rounding errors and drawn as 0"""


class StripMaker:
    """Maker of curves from stored integrals: a mean is the difference of two, divided by the time."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._begin = float(workload.submit[0]) if len(workload) else 0.0
        self._least_end = least_end(workload)
        self._count = 0
        self._sums: Floats = np.zeros((len(CURVES), 0))
        """Array (curve, i): integral from the beginning to step i * `_EVERY`, where steps are counted from 0"""
        self._last: Floats = np.zeros(len(CURVES))
        self._made: tuple[tuple[object, ...], StripScene] | None = None
        self._series: tuple[tuple[int, int], Series] | None = None

    def strip(self, history: Past, known: float, columns: int, marks: Sequence[Mark] = ()) -> StripScene:
        """Return the strip of the run, computed up to `known`; it ends there or at the earliest possible end."""
        asked = history.steps, known, columns, tuple(marks)
        if self._made is None or self._made[0] != asked:
            self._made = asked, self._strip(history, *asked[1:])
        return self._made[1]

    def _strip(self, history: Past, known: float, columns: int, marks: tuple[Mark, ...]) -> StripScene:
        self._read(history)
        known = max(known, self._begin)
        end = max(known, self._least_end)
        edges = np.linspace(self._begin, end, columns + 1)
        done = max(1, int(np.searchsorted(edges[:-1], known))) if history.steps and columns else 0
        edges = np.minimum(edges[: done + 1], known)
        means = self._means(history, edges)
        blank = (None,) * (columns - done)
        waiting = (*means[WAITING].tolist(), *blank)
        return StripScene(self._begin, end, known, (*_utilization(means), *blank), waiting, marks)

    def series(self, history: Past, step: int, columns: int) -> Series:
        if step < 1 or columns < 1:
            return Series()
        if self._series is None or self._series[0] != (step, columns):
            self._series = (step, columns), self._new_series(history, step, columns)
        return self._series[1]

    def _new_series(self, history: Past, step: int, columns: int) -> Series:
        self._read(history)
        means = self._means(history, np.linspace(self._begin, history.time_of(step - 1), columns + 1))
        return Series(_utilization(means), tuple(means[WAITING].tolist()), tuple(means[WANTED].tolist()))

    def _read(self, history: Past) -> None:
        first, steps = max(self._count - 1, 0), history.steps
        if steps <= self._count:
            return
        self._count = steps
        more = (steps - 1) // _EVERY + 1 - self._sums.shape[1]
        self._sums = np.hstack([self._sums, np.zeros((len(CURVES), more))])
        while True:
            end = min(first + _AT_ONCE, steps)
            time, values = self._values(history, np.arange(first, end))
            # Added one by one, so that the result does not depend on how much is read at a time
            sums = np.cumsum(np.column_stack([self._last, values[:, :-1] * np.diff(time)]), axis=1)
            mark = -(-first // _EVERY)
            kept = sums[:, mark * _EVERY - first :: _EVERY]
            self._sums[:, mark : mark + kept.shape[1]] = kept
            self._last, first = sums[:, -1], end - 1
            if end == steps:
                return

    def _values(self, history: Past, steps: Ints) -> tuple[Floats, Floats]:
        time, free, waiting, wanted = history.at(steps)
        there = history.there(self._workload, time)
        return time, np.array([there - free, waiting, wanted, there], dtype=np.float64)

    def _means(self, history: Past, edges: Floats) -> Floats:
        """Return means between edges (times); between equal edges the value there, after the end the last."""
        if not len(edges) or not self._count:
            return np.empty((len(CURVES), 0))
        step = np.maximum(history.steps_at(edges), 0)
        mark = step // _EVERY
        near = np.minimum(mark[:, None] * _EVERY + np.arange(_EVERY), step[:, None])
        time, values = self._values(history, near.ravel())
        time, values = time.reshape(near.shape), values.reshape(-1, *near.shape)
        areas = np.dstack([self._sums[:, mark], values[:, :, :-1] * np.diff(time)])
        value = values[:, :, -1]
        area = np.cumsum(areas, axis=2)[:, :, -1] + value * np.maximum(edges - time[:, -1], 0)
        width = np.diff(edges)
        means: Floats = np.where(width > 0, np.diff(area) / np.where(width > 0, width, 1), value[:, 1:])
        return np.where(np.abs(means) > _NOTHING, means, 0)


def _utilization(means: Floats) -> tuple[float, ...]:
    used, there = means[USED], means[THERE]
    return tuple(np.divide(used, there, out=np.zeros_like(used), where=there > 0).tolist())


def least_end(workload: Workload) -> float:
    """Return a lower bound for the time at which any schedule of the workload ends."""
    if not len(workload):
        return 0.0
    work = float(workload.runtime @ workload.width) / workload.procs
    return max(float(workload.submit[0]) + work, float((workload.submit + workload.runtime).max()))
