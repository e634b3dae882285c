"""The outcome of a run as columns: what metrics are computed from and what `--schedule` writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim.policies.policy import written_policy
from sim.workload.model import Bools, Floats, Ints, Workload

if TYPE_CHECKING:
    from sim.engine.engine import Engine


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
    speculative_kills: int
    """Speculative runs that reached their limit; their work was lost."""
    borrowed: int
    """How many processors changed owner between partitions."""
    timeline: Timeline
    stalled: float = 0.0
    """Processor-seconds that jobs lost to migrations, their own and others'."""


def _written(engine: Engine) -> str:
    """The policy; after switches all of them, each with its time."""
    if not engine.switches:
        return written_policy(engine.policy)
    changes = (f", from {switch.time:.12g} on {switch.spec}" for switch in engine.switches)
    return engine.switches[0].was + "".join(changes)


def schedule_of(engine: Engine) -> Schedule:
    """What has come of a run so far, as columns."""
    ledger, workload = engine.ledger, engine.workload
    time, free, waiting, wanted = engine.history.columns()
    start, end = np.array(ledger.start), np.array(ledger.end)
    ran = np.where(np.isnan(end), np.nan, workload.runtime)
    shared = engine.sharing.remaining if engine.sharing else ()
    for rank in {*engine.running, *engine.suspended, *shared}:
        ran[rank] = engine.ran(rank)
    return Schedule(
        workload=workload,
        policy=_written(engine),
        start=start,
        end=end,
        ran=ran,
        backfilled=np.frombuffer(bytes(ledger.backfilled), dtype=np.bool_),
        promised=np.array(ledger.promised),
        preemptions=np.array(ledger.preemptions, dtype=np.int64),
        migrations=np.array(ledger.migrations, dtype=np.int64),
        speculative_kills=engine.tally.speculative_kills,
        borrowed=engine.tally.borrowed,
        timeline=Timeline(
            time=np.array(time),
            free=np.array(free),
            waiting=np.array(waiting, dtype=np.int64),
            wanted=np.array(wanted, dtype=np.int64),
        ),
        stalled=engine.tally.stalled,
    )
