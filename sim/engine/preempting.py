"""From the state to the loop that suspends jobs, and back: what it has beside what every loop has."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from sim.decisions.decisions import Resume, Start, Suspend
from sim.decisions.reasons import Outranked, OwnFree, Preempts
from sim.engine.state import State
from sim.history.decided import form_of
from sim.policies.preempt.keepers import NOBODY
from sim.policies.preempt.selective import Selective, Tunable
from sim.policies.preempt.tolls import EARLY, Known, Tolls
from sim.workload.categories import CATEGORIES, category
from sim.workload.model import Workload

WIDEST = 1024
"""Machines with more processors are left to the engine"""


def can_go_on(state: State) -> bool:
    """Is everything that the policy remembers known to the loop?"""
    notes = state.notes
    if state.procs > WIDEST or notes.keys() - {"tolls", "room", "finished", "slowdown"}:
        return False
    if state.step_count == 0:
        return True
    return "tolls" in notes and notes["tolls"].told() is not None


def enter(loop: Any, state: State, workload: Workload) -> None:
    """The loop stands where the state stands."""
    policy, jobs = state.policy, len(workload)
    assert isinstance(policy, Selective)
    loop.sf, loop.tick, loop.seats_apart = policy.sf, policy.tick, policy.seats == "apart"
    loop.limit = policy.limit if isinstance(policy, Tunable) else -1.0
    loop.takes_as, loop.suspends_as = form_of(Start, Preempts, is_placed=True), form_of(Suspend, Outranked)
    loop.resumes_as, loop.returns_as = form_of(Resume, OwnFree), form_of(Resume, Preempts)
    submit, estimate = workload.submit, workload.estimate
    loop.low = loop.column("d", EARLY * (submit + policy.sf * estimate) - estimate)
    loop.category = loop.column("i", category(estimate, workload.width))
    loop.moment = loop.column("d", np.full(jobs, inf))
    loop.preempted, loop.preemptions = state.ledger.preemptions, state.tally.preemptions
    for kind, count in state.notes.get("finished", {}).items():
        loop.ended[kind], loop.slowed[kind] = count, state.notes["slowdown"][kind]
    loop.sets.put(loop.idle_set, state.free_set)
    ran = state.ledger.ran
    for rank, allocation in state.running.items():
        loop.sets.put(rank, state.machine.held[rank])
        loop.enter_runner(rank, allocation.since, ran[rank])
    for rank, own in state.suspended.items():
        loop.sets.put(rank, own)
        loop.enter_paused(rank, state.suspended_since[rank], ran[rank])
    if "tolls" in state.notes:
        _tell_tolls(loop, state, state.notes["tolls"].told())
    for at, _, _ in sorted(state.wakes):
        loop.enter_wake(at)


def _tell_tolls(loop: Any, state: State, known: Known) -> None:
    """What is known of those who were suspended, and have not gone on since the last look."""
    suspended = state.suspended
    for rank in suspended:
        moment = known.moments.get(rank)
        if rank in known.keepers:
            keeper = known.keepers[rank]
            loop.enter_toll(rank, loop.nobody if keeper == NOBODY else keeper, inf if moment is None else moment)
        elif moment is not None:
            loop.enter_toll(rank, -1, moment)
    for rank in known.heights.keys() - state.running.keys():
        loop.enter_left(rank)
    loop.stood, loop.first, loop.woken = known.stood == stand(state), known.first, known.woken


def stand(state: State) -> tuple[int, int, int]:
    """What tells a policy that somebody has come to run, or has left, since."""
    return state.free_set, len(state.running), len(state.suspended)


def settle(loop: Any, state: State) -> None:
    """The state stands where the loop stands."""
    policy, jobs, notes = state.policy, state.jobs, state.notes
    assert isinstance(policy, Selective)
    ranks = loop.paused_ranks()
    state.suspended.clear()
    state.suspended.update((rank, loop.sets.told(rank)) for rank in ranks)
    state.suspended_since.clear()
    state.suspended_since.update((rank, loop.paused_at[rank]) for rank in ranks)
    state.tally.preemptions = loop.preemptions
    state.timers[:] = [(at, -1, inf) for at in loop.wakes()]
    state.wakes.update(state.timers)
    keepers = {rank: loop.keepers.keeper[rank] for rank in ranks if loop.keepers.keeper[rank] >= 0}
    known = Known(
        {},
        {rank: NOBODY if keeper == loop.nobody else keeper for rank, keeper in keepers.items()},
        {rank: loop.moment[rank] for rank in ranks if loop.moment[rank] < inf},
        stand(state) if loop.stood else None,
        loop.first,
        loop.woken,
    )
    rungs = [(loop.height[rank], -rank, jobs[rank], state.machine.held[rank]) for rank in state.running]
    notes.pop("room", None)
    notes["tolls"] = Tolls.knowing(policy, known, rungs, state.free)
    if isinstance(policy, Tunable):
        ended = [kind for kind in range(len(CATEGORIES)) if loop.ended[kind]]
        notes["finished"] = {kind: loop.ended[kind] for kind in ended}
        notes["slowdown"] = {kind: loop.slowed[kind] for kind in ended}
