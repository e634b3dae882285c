"""Running totals over the finished jobs, updated whenever one finishes, for metrics in a snapshot at once."""

from __future__ import annotations

from typing import NamedTuple

from sim.workload.categories import TAU


class Totals(NamedTuple):
    """Metrics of the jobs that have finished. The bounded slowdown is that of Kettimuthu and Zotkin et al."""

    started: int
    finished: int
    backfilled: int
    killed: int
    preemptions: int
    migrations: int
    speculative_kills: int
    borrowed: int
    interruptions: int
    mean_wait: float
    max_wait: float
    mean_bounded_slowdown: float
    max_bounded_slowdown: float
    utilization: float
    """Share of the available processor-seconds, from the first submission until now, that jobs have used."""


class RunningTotals:
    """Running sums over the finished jobs, from which `Totals` are computed; the engine adds each job."""

    def __init__(self) -> None:
        self.started = self.finished = self.backfilled = self.killed = self.preemptions = self.migrations = 0
        self.speculative_kills = self.borrowed = self.interruptions = 0
        self.stalled = 0.0
        self.wait = self.worst_wait = self.slowdown = self.worst = self.area = 0.0

    def copy(self) -> RunningTotals:
        twin = RunningTotals()
        twin.started, twin.finished, twin.backfilled, twin.killed = (
            self.started, self.finished, self.backfilled, self.killed,
        )  # fmt: skip
        twin.preemptions, twin.migrations, twin.interruptions = self.preemptions, self.migrations, self.interruptions
        twin.speculative_kills, twin.borrowed, twin.stalled = self.speculative_kills, self.borrowed, self.stalled
        twin.wait, twin.worst_wait, twin.slowdown = self.wait, self.worst_wait, self.slowdown
        twin.worst, twin.area = self.worst, self.area
        return twin

    def finish(self, turnaround: float, wait: float, run: float, procs: int) -> None:
        """Add a completed job: its turnaround, wait for the first start and run time, all in seconds, and its number of
        processors.
        """
        slowdown = 1 + (turnaround - run) / (run if run > TAU else TAU)
        self.finished += 1
        self.wait += wait
        self.slowdown += slowdown
        self.area += run * procs
        if wait > self.worst_wait:
            self.worst_wait = wait
        if slowdown > self.worst:
            self.worst = slowdown

    def totals(self, capacity: float, running_area: float) -> Totals:
        """Return the metrics at this time. `capacity` is the number of processor-seconds that were available until now,
        `running_area` the number used by jobs that still run.
        """
        done = max(self.finished, 1)
        return Totals(
            started=self.started,
            finished=self.finished,
            backfilled=self.backfilled,
            killed=self.killed,
            preemptions=self.preemptions,
            migrations=self.migrations,
            speculative_kills=self.speculative_kills,
            borrowed=self.borrowed,
            interruptions=self.interruptions,
            mean_wait=self.wait / done,
            max_wait=self.worst_wait,
            mean_bounded_slowdown=self.slowdown / done,
            max_bounded_slowdown=self.worst,
            utilization=(self.area + running_area) / capacity if capacity > 0 else 0.0,
        )
