"""Helpers of the backfilling policies: starts in queue order, and reasons why a job cannot start (too few processors,
or too little time).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from functools import lru_cache

from sim.decisions.decisions import Decision, Keep, Start
from sim.decisions.reasons import EarliestHole, FitsBeside, FitsExtra, InOrder, WhenFree, WhenRoom
from sim.decisions.reasons_on_nodes import EarliestRoom, LeavesNoRoom, NodesReserved, NoNodes, no_nodes
from sim.decisions.reasons_to_wait import MachineGoesDown, TooFewFree, WouldDelay
from sim.machine.nodes import Leftover
from sim.machine.profile import Extra
from sim.policies.view import View
from sim.workload.model import Job


def start_in_order(queue: Iterator[Job], view: View) -> Generator[Decision, None, Job | None]:
    """Start jobs in queue order while they fit; return the head of the queue, the first job that does not fit,
    or None.
    """
    for head in queue:
        if not view.fits(head):
            return head
        yield Start(head, in_order(view.free))
    return None


in_order, when_free, too_few = lru_cache(1024)(InOrder), lru_cache(4096)(WhenFree), lru_cache(256)(TooFewFree)
"""Cached constructors of reasons, because the same numbers occur again and again."""


def no_room(view: View, job: Job) -> TooFewFree | MachineGoesDown | NoNodes | NodesReserved:
    """Return the reason why the job does not fit: what it lacks."""
    if job.procs > (free := view.free):
        return too_few(free)
    if view.has_nodes:
        return no_nodes(view.lack(job), view.kept_from(job))
    return MachineGoesDown(view.closes, view.now + view.remaining_estimate(job.rank))


def those_in_time(view: View, jobs: Iterable[Job]) -> Generator[Keep, None, list[Job]]:
    """Return the jobs that would end before the next maintenance; for the others yield why they wait, if reasons are
    recorded.
    """
    found = []
    for job in jobs:
        if view.in_time(job):
            found.append(job)
        elif view.curious:
            yield Keep(job, no_room(view, job))
    return found


def at_shadow(view: View, head: Job, extra: int) -> WhenFree | WhenRoom:
    """Return the reason for the head's planned start: at its shadow time enough processors or nodes become free."""
    return WhenRoom() if view.has_nodes else when_free(view.free, extra + head.procs)


def passes(head: Job, shadow: float, left: Extra | Leftover) -> FitsExtra | FitsBeside:
    """Return the reason why a job may be backfilled although it ends after `shadow`, the head's start: it fits into the
    resources `left` over then.
    """
    return FitsExtra(head, shadow, left.left) if isinstance(left, Extra) else FitsBeside(head, shadow)


def delays(head: Job, shadow: float, ends: float, left: Extra | Leftover) -> WouldDelay | LeavesNoRoom:
    """Return the reason why a job that ends at `ends` may not be backfilled. It would still run at `shadow`, the head's
    start, and does not fit into the resources `left` over then.
    """
    return WouldDelay(head, shadow, ends, left.left) if isinstance(left, Extra) else LeavesNoRoom(head, shadow, ends)


def at_hole(view: View) -> EarliestHole | EarliestRoom:
    """Return the reason for a planned start: it is the earliest one."""
    return EarliestRoom() if view.has_nodes else EarliestHole(view.free)
