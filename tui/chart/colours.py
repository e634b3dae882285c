"""Colours of jobs in each mode: the hue of each job, and the legend."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sim.history.times import EventTimes
from sim.life.job_state import NONE_CANCELLED, submits_of
from sim.workload.categories import TAU
from sim.workload.columns import NumberIds
from sim.workload.job_changes import JobChanges
from sim.workload.model import Field, Floats, Ints, Workload
from sim.workload.pairing import paired
from tui.look.palette import JOB_COLOURS, JOB_HUES, PART_COLOURS, Hue

MODES = {
    "job": "which is which: each job keeps a colour of its own",
    "user": "user that submitted it",
    "queue": "the queue of the trace that it was put into",
    "partition": "the part of the machine in which it started",
    "width": "how many processors it needs",
    "length": "how long it may run, by its estimate",
    "wait": "how long it waited for its first start",
    "slowdown": "how many times longer than its run it took (bounded), once it has ended",
    "estimate": "how many times longer than its run its estimate is, once it has ended",
    "passed": "how many that came later began before it",
}
TITLES = {
    "width": "processors", "length": "estimate", "wait": "time waited", "passed": "passed by",
    "estimate": "estimate / run time",
}  # fmt: skip
Legend: TypeAlias = tuple[tuple[int, str], ...]
Hues = NDArray[np.uint8]
Ranks = NDArray[np.intp]
Owner: TypeAlias = Callable[[int], int | None]
"""Function that returns the partition in which a job (rank) started, or None"""

_KINDS = len(JOB_COLOURS) - 1
"""Largest number of kinds (such as users) with their own hue, the most frequent; others share one."""
_OTHERS = _KINDS
_DIGITS = 9
"""Largest number of last digits of a job's id from which its hue is computed."""
_UNSEEN = 255


def partition_hue(partition: int) -> int:
    """Return the hue of a partition, for the chart and for its name in texts; no job has it."""
    return Hue.PART + partition % len(PART_COLOURS)


class OwnHues:
    """Hues for the mode in which every job has its own, computed when a job is first drawn."""

    def __init__(self, ids: Sequence[str], numbers: Ints | None = None) -> None:
        """Compute hues from the ids or, if they are no numbers, from `numbers` or, for None, ranks."""
        self._ids, self._numbers = ids, np.arange(len(ids)) if numbers is None else numbers
        self._are_numbers = isinstance(ids, NumberIds) or all(map(str.isdecimal, ids))
        self._found = np.full(len(ids), _UNSEEN, np.uint8)

    def of(self, ranks: Ranks) -> Hues:
        """Return the hue of each of these jobs, computed from its number so that successive jobs differ clearly; ranks
        are used if ids are no numbers.

        >>> OwnHues(["7", "8", "31"]).of(np.arange(3)).tolist(), OwnHues(["a", "b"]).of(np.arange(2)).tolist()
        ([6, 7, 6], [0, 1])
        """
        new = ranks[self._found[ranks] == _UNSEEN]
        if len(new):
            of_ids = [int(self._ids[rank][-_DIGITS:]) - 1 for rank in new.tolist()] if self._are_numbers else None
            self._found[new] = np.remainder(self._numbers[new] if of_ids is None else of_ids, JOB_HUES)
        return self._found[ranks]


class Scale(NamedTuple):
    """Scale of six hues; each of the five limits belongs to the class above it."""

    limits: tuple[float, ...]
    labels: tuple[str, ...]

    def hues(self, values: Floats) -> Hues:
        step = np.searchsorted(self.limits, values, side="right") + Hue.RAMP
        return np.where(np.isnan(values), Hue.GREY, step).astype(np.uint8)

    def legend(self) -> Legend:
        return tuple((Hue.RAMP + step, label) for step, label in enumerate(self.labels))


WIDTHS = Scale((2, 5, 17, 65, 257), ("1", "2–4", "5–16", "17–64", "65–256", "257+"))
LENGTHS = Scale((60, 600, 3600, 14400, 43200), ("< 1m", "< 10m", "< 1h", "< 4h", "< 12h", "12h+"))
WAITS = Scale((60, 600, 3600, 14400, 86400), ("< 1m", "< 10m", "< 1h", "< 4h", "< 1d", "1d+"))
SLOWDOWNS = Scale((1.5, 3, 10, 30, 100), ("< 1.5", "< 3", "< 10", "< 30", "< 100", "100+"))
RATIOS = Scale((1.2, 2, 5, 10, 50), ("< 1.2", "< 2", "< 5", "< 10", "< 50", "50+"))
PASSES = Scale((1, 2, 5, 20, 100), ("nobody", "1", "2–4", "5–19", "20–99", "100+"))
_SCALES = {
    "width": WIDTHS, "length": LENGTHS, "wait": WAITS, "passed": PASSES, "slowdown": SLOWDOWNS, "estimate": RATIOS,
}  # fmt: skip


class Colours:
    """Hues of all jobs of a workload, in every mode for which it has data."""

    def __init__(self, workload: Workload) -> None:
        self._workload = workload

    def of(
        self,
        mode: str,
        ranks: Ranks,
        start: EventTimes,
        end: EventTimes,
        now: float,
        owner: Owner,
        cancelled: Mapping[int, float] = NONE_CANCELLED,
    ) -> Hues:
        """Return the hues of the jobs `ranks` as of `now`; times are by rank, `owner` returns a job's partition."""
        workload = self._workload
        if mode == "job":
            return self._own.of(ranks)
        if mode == "user":
            return np.take(self._users[0], ranks)
        if mode == "queue":
            return np.take(self._queues[0], ranks)
        begun, done = start[ranks], end[ranks]
        begun, done = np.where(begun <= now, begun, np.nan), np.where(done <= now, done, np.nan)
        if mode == "partition":
            parts = [
                None if np.isnan(since) else owner(rank) for rank, since in zip(ranks.tolist(), begun, strict=True)
            ]
            return np.array([Hue.GREY if part is None else partition_hue(part) for part in parts], np.uint8)
        submit, run, estimate = workload.submit[ranks], workload.runtime[ranks], workload.estimate[ranks]
        if workload.follows:
            submit = submits_of(workload, ranks.tolist(), start, end, cancelled)
        if mode == "width":
            return WIDTHS.hues(workload.width[ranks].astype(float))
        if mode == "length":
            return LENGTHS.hues(estimate)
        if mode == "wait":
            return WAITS.hues(begun - submit)
        if mode == "passed":
            from sim.metrics.fairness import overtaken

            whole = start if isinstance(start, np.ndarray) else start.whole(len(workload))
            every = range(len(workload))
            came = submits_of(workload, every, start, end, cancelled) if workload.follows else None
            return PASSES.hues(np.where(np.isnan(begun), np.nan, overtaken(workload, whole, ranks, came)))
        if mode == "slowdown":
            return SLOWDOWNS.hues(1 + (done - submit - run) / np.maximum(run, TAU))
        return RATIOS.hues(np.where(np.isnan(done), np.nan, estimate / run))

    def legend(self, mode: str, partitions: Sequence[str] = ()) -> Legend:
        """Return a mode's legend, empty if each job has its own hue; `partitions` are names of these."""
        if mode == "job":
            return ()
        if mode in _SCALES:
            rest = {"wait": "waits", "passed": "waits", "slowdown": "not done", "estimate": "not done"}.get(mode)
            return _SCALES[mode].legend() + (((Hue.GREY, rest),) if rest else ())
        if mode == "partition":
            return tuple((partition_hue(p), name or str(p)) for p, name in enumerate(partitions))
        return (self._users if mode == "user" else self._queues)[1]

    @cached_property
    def _unchanged(self) -> Workload:
        """Return the workload without changes of jobs, so that other jobs keep their colours."""
        return self._workload.with_changes(JobChanges()) if self._workload.changes else self._workload

    @cached_property
    def _own(self) -> OwnHues:
        pairing = paired(self._workload, self._unchanged)
        if pairing is None:
            return OwnHues(self._workload.ids)
        added = len(self._unchanged) + np.arange(len(pairing.there))
        return OwnHues(self._workload.ids, np.where(pairing.there >= 0, pairing.there, added))

    @cached_property
    def _users(self) -> tuple[Hues, Legend]:
        return _kinds(self._workload.user, "user", self._workload.names.get(Field.USER, ()), self._unchanged.user)

    @cached_property
    def _queues(self) -> tuple[Hues, Legend]:
        named = self._workload.header.queues
        names = self._workload.names.get(Field.QUEUE, ())
        most = max(named, default=-1)
        words = names or tuple(named.get(number, "") for number in range(most + 1))
        return _kinds(self._workload.queue, "queue", words, self._unchanged.queue)


def _kinds(values: Ints, noun: str, names: Sequence[str], usual: Ints) -> tuple[Hues, Legend]:
    """Return (hue of each job, legend) for the jobs' kinds `values`; those rare in `usual` share one, grey below 0."""
    kinds, counts = np.unique(usual[usual >= 0], return_counts=True)
    frequent = kinds[np.lexsort((kinds, -counts))][:_KINDS].tolist()
    hues = np.full(len(values), _OTHERS, np.uint8)
    for hue, kind in enumerate(frequent):
        hues[values == kind] = hue
    hues[values < 0] = Hue.GREY
    legend = [
        (hue, (names[kind] if kind < len(names) else "") or f"{noun} {kind}") for hue, kind in enumerate(frequent)
    ]
    if len(kinds) > len(frequent):
        legend.append((_OTHERS, f"{len(kinds) - len(frequent):,} others"))
    if (values < 0).any():
        legend.append((int(Hue.GREY), f"no {noun}"))
    return hues, tuple(legend)
