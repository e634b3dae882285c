"""The immutable view of one moment: all that a screen may see."""

from __future__ import annotations

from dataclasses import dataclass

from sim.decisions import Decision, Reason
from sim.matrix import MatrixPicture
from sim.totals import Totals
from sim.workload.model import Job


@dataclass(frozen=True, slots=True)
class Running:
    """A job that runs: since when, until when by its estimate, on which processors."""

    job: Job
    since: float
    expected_end: float
    processors: int
    kind: str
    """run, speculative, suspending, resuming: as in `sim.history.KINDS`."""
    ran: float
    """Seconds of progress so far."""


@dataclass(frozen=True, slots=True)
class Suspended:
    """A job that was stopped: since when, on which processors it must go on, what it has done."""

    job: Job
    since: float
    processors: int
    ran: float


@dataclass(frozen=True, slots=True)
class Queued:
    """A job that waits. `planned` and `why` are None where the policy plans or says nothing."""

    job: Job
    waited: float
    planned: float | None
    moved: float
    """By how much its planned start moved in this step; negative is earlier."""
    why: Reason | None
    """Why it was kept waiting at this step; None: the policy did not consider it."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state after one step."""

    step: int
    """Steps made so far; 0 before the first."""
    time: float | None
    policy: str
    procs: int
    free: int
    free_set: int
    running: tuple[Running, ...]
    """By expected end."""
    matrix: MatrixPicture | None
    """The Ousterhout matrix, where jobs share processors in time; then `running` are the jobs in it."""
    turn_end: float | None
    """When the row on turn hands over; None: it does not."""
    suspended: tuple[Suspended, ...]
    """By rank."""
    queue: tuple[Queued, ...]
    """In the policy's order."""
    owners: tuple[int, ...]
    """Which processors each partition owns; empty where there are no partitions."""
    arrived: tuple[Job, ...]
    completed: tuple[Job, ...]
    decisions: tuple[Decision, ...]
    """What was decided in this step, in order, and why jobs were kept."""
    totals: Totals
    next_time: float | None
    """When the next step will be; None: the run is over."""
