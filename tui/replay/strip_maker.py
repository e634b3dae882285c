"""What the worker makes of a history for the strip of the whole run, and for small curves.

A maker remembers what it has read and reads on from there. It belongs to one run; a run that goes on differently from
some step gets a new one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sim.history.past import Past
from sim.workload.model import Workload
from tui.chart.scene import Mark
from tui.replay.scene import Series, StripScene

Floats = NDArray[np.float64]
USED, WAITING, WANTED, THERE = CURVES = range(4)
_NOTHING = 1e-9
"""What is less comes of adding up, and is not drawn"""


class StripMaker:
    """Occupied processors, those that are there, waiting jobs ..., summed up over time: any mean is two looks."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload
        self._begin = float(workload.submit[0]) if len(workload) else 0.0
        self._least_end = least_end(workload)
        self._count = 0
        """How many steps have been read."""
        self._table: Floats = np.zeros((1 + 2 * len(CURVES), 0))
        """A column a step, with room for more: its time, the curves after it, their integrals up to it."""

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
        utilization = self._utilization(edges)
        waiting = self._means(WAITING, edges).tolist()
        blank = (None,) * (columns - done)
        return StripScene(self._begin, end, known, (*utilization, *blank), (*waiting, *blank), tuple(marks))

    def series(self, history: Past, step: int, columns: int) -> Series:
        """The numbers so far, when `step` steps have been made."""
        self._read(history)
        if step < 1 or columns < 1:
            return Series()
        edges = np.linspace(self._begin, self._table[0, step - 1], columns + 1)
        waiting, wanted = (self._means(curve, edges).tolist() for curve in (WAITING, WANTED))
        return Series(tuple(self._utilization(edges)), tuple(waiting), tuple(wanted))

    def _utilization(self, edges: Floats) -> list[float]:
        """Of what is there."""
        used, there = self._means(USED, edges), self._means(THERE, edges)
        shares: list[float] = np.divide(used, there, out=np.zeros_like(used), where=there > 0).tolist()
        return shares

    def _read(self, history: Past) -> None:
        """Take in the steps that are new: of those before the last known one nothing changes any more."""
        known, steps = self._count, history.steps
        if steps <= known:
            return
        if steps > self._table.shape[1]:
            self._table = np.hstack(
                [self._table, np.zeros((len(self._table), steps + steps // 4 - self._table.shape[1]))]
            )
        since, table = max(known - 1, 0), self._table
        time, free, waiting, wanted = (np.asarray(column)[since:] for column in history.columns())
        table[0, since:steps] = time
        there = history.there(self._workload, time)
        values, sums = table[1 : 1 + len(CURVES)], table[1 + len(CURVES) :]
        values[:, since:steps] = there - free, waiting, wanted, there
        areas = values[:, since : steps - 1] * np.diff(time)
        # Added up one by one: the same however much is read at a time.
        sums[:, since:steps] = np.cumsum(np.hstack([sums[:, since : since + 1], areas]), axis=1)
        self._count = steps

    def _means(self, curve: int, edges: Floats) -> Floats:
        """The mean from each edge to the next; between equal edges, and after the last step, the last value."""
        if not len(edges) or not self._count:
            return np.empty(0)
        times = self._table[0, : self._count]
        step = np.maximum(np.searchsorted(times, edges, "right") - 1, 0)
        value = self._table[1 + curve, step]
        area = self._table[1 + len(CURVES) + curve, step] + value * np.maximum(edges - times[step], 0)
        width = np.diff(edges)
        means: Floats = np.where(width > 0, np.diff(area) / np.where(width > 0, width, 1), value[1:])
        return np.where(np.abs(means) > _NOTHING, means, 0)


def least_end(workload: Workload) -> float:
    """No schedule can be over before this."""
    if not len(workload):
        return 0.0
    work = float(workload.runtime @ workload.width) / workload.procs
    return max(float(workload.submit[0]) + work, float((workload.submit + workload.runtime).max()))
