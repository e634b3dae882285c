"""Results of a run up to the present moment, as columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sim.engine.moment import Moment
from sim.engine.schedule import Curves, Schedule
from sim.history.history import History
from sim.history.past import specs_of
from sim.policies.policy import written_policy
from sim.workload.columns import compact
from sim.workload.model import Workload


def schedule_of(moment: Moment, workload: Workload, history: History, is_last: bool = False) -> Schedule:
    """Return the results of a run up to now as columns. Their policy is the spec of the first one and, each with its
    time, of those to which the user switched; the switches of an adaptive policy are not among them.

    With `is_last` the columns share memory with the run, which must not go on then.
    """
    ledger = moment._ledger
    column: Callable[[Any], NDArray[Any]] = np.asarray if is_last else np.array
    time, free, waiting, wanted = map(column, history.at(slice(history.steps)))
    start, end = column(ledger.start), column(ledger.end)
    ran = np.where(np.isnan(end), np.nan, workload.runtime) if np.isnan(end).any() else workload.runtime
    for rank in {*moment.under_way, *moment._suspended}:
        ran[rank] = moment.ran(rank)
    if moment._releases is not None:
        workload = replace(workload, submit=moment._releases.submits(workload.submit))
    return Schedule(
        workload=workload,
        policy=specs_of(written_policy(moment._chosen), [each for each in moment._switches if not each.by_rule]),
        start=start,
        end=end,
        ran=ran,
        backfilled=np.frombuffer(bytes(ledger.backfilled), dtype=np.bool_),
        promised=column(ledger.promised),
        preemptions=compact(np.array(ledger.preemptions)),
        migrations=compact(np.array(ledger.migrations)),
        speculative_kills=moment._tally.speculative_kills,
        borrowed=moment._tally.borrowed,
        curves=Curves(
            time=time, free=free, waiting=waiting, wanted=wanted, suspended=compact(history.count_suspended(time))
        ),
        stalled=moment._tally.stalled,
        interruptions=compact(np.array(ledger.interruptions)),
        outages=moment._outages,
        dropped=moment._dropped,
        cores=history.last_processors(len(workload) if workload.shape is not None else 0),
    )
