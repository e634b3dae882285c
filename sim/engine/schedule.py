"""Results of a run as columns (arrays with an entry for each job or step), from which metrics are computed and which
`--schedule` writes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.history.node_use import nodes_on
from sim.history.processor_sets import SetTable
from sim.support.errors import NotThereError
from sim.support.notebook import Drawn, Tabular, picture_of
from sim.workload.model import Bools, Field, Floats, Ints, Workload, there_at
from sim.workload.outages import Outage


@dataclass(frozen=True)
class Curves:
    """State of the machine after each step: the entries with the index i hold from `time[i]` until `time[i + 1]`."""

    time: Floats
    free: Floats
    """Number of free processors; if rows take turns, the average number from this step to the next."""
    waiting: Ints
    """Number of waiting jobs."""
    wanted: Ints
    """Total number of processors that the waiting jobs request."""
    suspended: Ints
    """Number of suspended jobs that wait to resume."""


@dataclass(frozen=True)
class Schedule(Tabular):
    """Results of a run. Columns have an entry for each job of `workload`, by rank; nan if the event did not happen
    because the run was cut short.
    """

    workload: Workload
    policy: str
    start: Floats
    """First start of each job, in seconds."""
    end: Floats
    ran: Floats
    """Seconds for which each job has run; for a finished job, its run time."""
    backfilled: Bools
    """True for jobs that started before a job ahead of them in the queue."""
    promised: Floats
    """First start that was promised to each job; nan for a job without a promise."""
    preemptions: Ints
    migrations: Ints
    speculative_kills: int
    """Number of speculative runs that reached their limit; their work was lost."""
    borrowed: int
    """Number of processors that changed their owner between partitions, counted at each change."""
    curves: Curves
    stalled: float = 0.0
    """Processor-seconds that jobs lost because they or others migrated."""
    interruptions: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    """Number of times that each job was interrupted because its processors went down."""
    outages: tuple[Outage, ...] = ()
    """Periods in which processors were unavailable."""
    dropped: tuple[int, ...] = ()
    """Ranks of the jobs that were cancelled, because the machine will never again have enough processors for them."""
    again: Callable[[], Any] | None = field(default=None, repr=False, compare=False)
    """Function that repeats the run, so that its chart can be drawn; None if this is impossible."""
    cores: SetTable = field(default_factory=lambda: SetTable.of(()), repr=False, compare=False)
    """For each job: cores that it held when it ran last, as bits; empty for a machine of equal processors."""

    def __repr__(self) -> str:
        ended = int((~np.isnan(self.end)).sum())
        return f"<Schedule {self.policy}: {ended:,} of {len(self.workload):,} jobs of {self.workload.name} ended>"

    @property
    def there(self) -> Ints:
        """Return, for each step, the number of processors that are available (not down) after it."""
        return there_at(self.outages, self.workload.procs, self.curves.time)

    @property
    def lost(self) -> tuple[Floats, Floats]:
        """Return times, and the processors that are free from each on although a job waits to start or resume."""
        line, of = self.curves, self.workload
        early = of.due > of.submit
        early[list(self.dropped)] = False
        time = np.union1d(line.time, of.due[early])
        step = np.maximum(np.searchsorted(line.time, time, "right") - 1, 0)
        begun, over = (np.sort(column[early]) for column in (of.submit, np.fmin(of.due, self.start)))
        ahead = np.searchsorted(begun, time, "right") - np.searchsorted(over, time, "right")
        return time, np.where((line.waiting + line.suspended)[step] > ahead, line.free[step], 0.0)

    @cached_property  # groups of jobs ask for it, each again
    def wait(self) -> Floats:
        """Return the wait of each job in seconds, from its submission or requested start to its first start."""
        waited: Floats = np.maximum(self.start - self.workload.due, 0.0)
        return waited

    @cached_property
    def nodes(self) -> tuple[tuple[int, ...], ...]:
        """Return, for each job, the numbers of the nodes on which it ran last; empty if the machine has no nodes."""
        shape = self.workload.shape
        return () if shape is None else nodes_on(shape, self.cores)

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns that `schedscope run --schedule` writes, by name, in rank order."""
        of = self.workload
        return {
            "job": np.array(of.ids, dtype=object),
            "submit": of.submit,
            "start": self.start,
            "end": self.end,
            "procs": of.width,
            "estimate": of.estimate,
            "runtime": of.runtime,
            "wait": self.wait,
            "backfilled": self.backfilled,
            "killed": of.killed,
            "promised": self.promised,
            "preemptions": self.preemptions,
            "migrations": self.migrations,
            **({"interruptions": self.interruptions} if self.outages else {}),
            **{
                kind.name.lower(): np.array([of.called(kind, number) for number in column.tolist()], dtype=object)
                for kind, column in ((Field.USER, of.user), (Field.GROUP, of.group), (Field.QUEUE, of.queue))
            },
            **(
                {}
                if of.shape is None
                else {"nodes": np.array([" ".join(map(str, on)) for on in self.nodes], dtype=object)}
            ),
            "account": np.array(of.accounts or [""] * len(of), dtype=object),
        }

    def _repr_svg_(self) -> str | None:
        """Return the chart of the run for a notebook, or None if the schedule was not made by `run`. The run is
        repeated for the chart.
        """
        again = self.again
        return None if again is None else picture_of(lambda: [drawn_again(self)], len(self.workload))


def drawn_again(schedule: Schedule) -> Drawn:
    """Repeat the run of a schedule, so that its chart can be drawn; return the run with its title."""
    if schedule.again is None:
        raise NotThereError("this schedule cannot be drawn: it was not made by sim.run")
    engine = schedule.again()
    engine.run()
    return engine, schedule.workload.title(schedule.policy)
