"""The outcome of a run as columns: what metrics are computed from and what `--schedule` writes."""

from __future__ import annotations

from dataclasses import dataclass

from sim.workload.model import Bools, Floats, Ints, Workload


@dataclass(frozen=True)
class Timeline:
    """The state after each step: `time[i]` holds until `time[i + 1]`."""

    time: Floats
    free: Floats
    """Processors that nothing occupies; where jobs share them in time, on average until the next step."""
    waiting: Ints
    """Jobs that wait."""
    wanted: Ints
    """Processors that the waiting jobs ask for together."""


@dataclass(frozen=True)
class Schedule:
    """When each job of `workload` ran, by rank; nan where it has not happened (a run cut short)."""

    workload: Workload
    policy: str
    start: Floats
    """The first start."""
    end: Floats
    ran: Floats
    """Seconds of progress made; equals the run time of a finished job."""
    backfilled: Bools
    """Started before a job that stood ahead of it in the queue."""
    promised: Floats
    """The first start that was guaranteed, nan where none was."""
    preemptions: Ints
    migrations: Ints
    timeline: Timeline
