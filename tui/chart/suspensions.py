"""Suspensions in the visible time of the chart: when, of which job, and for which other job."""

from __future__ import annotations

from math import inf, nextafter

from sim.decisions.decisions import Suspend
from sim.history.past import Past
from sim.history.stretch import KINDS, SUSPENDING, Stretch
from sim.workload.model import Job
from tui.chart.scene import Suspension

_MOST = 12
"""Largest number of visible suspensions that are explained in the chart."""


def suspensions_between(history: Past, begin: float, end: float) -> tuple[Suspension, ...]:
    """Return the suspensions for another job in this time; empty if there are more than `_MOST`."""
    pauses = [pause for pause in history.pauses(begin, nextafter(end, inf)) if pause.start >= begin]
    if len(pauses) > _MOST:
        return ()
    found = ((pause, _suspended_for(history, pause)) for pause in pauses)
    return tuple(Suspension(pause.start, by.rank, pause.rank) for pause, by in found if by is not None)


def _suspended_for(history: Past, pause: Stretch) -> Job | None:
    """Return the job for which another was suspended; None if the policy named no job."""
    before = history.between(nextafter(pause.start, -inf), pause.start)
    writing = (each.start for each in before if each.rank == pause.rank and each.kind == KINDS[SUSPENDING])
    decided = next(writing, pause.start)
    step = history.step_at(decided)
    while step is not None and step >= 0 and history.time_of(step) == decided:
        for decision in history.decisions(step):
            if isinstance(decision, Suspend) and decision.job.rank == pause.rank:
                return getattr(decision.because, "by", None)
        step -= 1
    return None
