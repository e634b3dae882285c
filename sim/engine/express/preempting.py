"""Copying of the state of preemptive policies into the fast loops of `sim.kernel` and back."""

from __future__ import annotations

from math import inf
from typing import Any, cast

from sim.engine.express.columns import numbers, times
from sim.engine.state import State
from sim.kernel.suspension import PreemptiveRules, Suspension
from sim.kernel.tolls import TollLoop
from sim.policies.preempt.preemption import Preemptive
from sim.policies.preempt.selective import Selective, Tunable
from sim.policies.preempt.xfactors import payable_from
from sim.workload.categories import CATEGORIES, category
from sim.workload.model import Workload

WIDEST = 1024
"""Largest machine, in processors, that the loop supports"""
_REMEMBERED = {"claim", "finished", "slowdown", "tolls", "victims"}


def can_go_on(state: State) -> bool:
    """Return True if the loop can continue: it supports all that the policy keeps in `view.notes`."""
    notes = state.notes
    return state.procs <= WIDEST and not notes.keys() - _REMEMBERED and not notes.get("claim")


def enter(loop: Suspension, state: State, workload: Workload) -> None:
    """Copy suspended jobs and the policy's notes into the loop."""
    policy = state.policy
    assert isinstance(policy, Preemptive)
    loop.seats_apart = policy.seats == "apart"
    preempted: Any = state.ledger.preemptions
    loop.preempted, loop.preemptions = preempted, state.tally.preemptions
    if isinstance(policy, Selective):
        _tell_terms(cast(TollLoop, loop), policy, state, workload)
    loop.sets.put(loop.idle_set, state.free_set)
    ran = state.ledger.ran
    for rank, allocation in state.running.items():
        loop.sets.put(rank, state.machine.held[rank])
        loop.enter_runner(rank, allocation.since, ran[rank])
    for rank, own in state.suspended.items():
        loop.sets.put(rank, own)
        loop.enter_paused(rank, state.suspended_since[rank], ran[rank])
    if isinstance(policy, Selective):
        loop.wake(state.wake_at)
        return
    for at, rank, since in sorted(state.wakes):
        if rank in state.running and state.running[rank].since == since:
            loop.enter_wake(at, rank)


def _tell_terms(loop: TollLoop, policy: Selective, state: State, workload: Workload) -> None:
    submit, estimate = workload.submit, workload.estimate
    of_columns: Any = payable_from
    loop.terms, loop.sf = cast(PreemptiveRules, loop.rules), policy.sf
    loop.category = numbers(category(estimate, workload.width))
    loop.moment = times(of_columns(submit, policy.sf, estimate))
    for kind, count in state.notes.get("finished", {}).items():
        loop.ended[kind], loop.slowed[kind] = count, state.notes["slowdown"][kind]


def settle(loop: Suspension, state: State) -> None:
    """Copy the suspended jobs and the policy's notes from the loop back to the state."""
    policy, notes, ranks = state.policy, state.notes, loop.paused_ranks()
    state.suspended.clear()
    state.suspended.update((rank, loop.sets.told(rank)) for rank in ranks)
    state.suspended_since.clear()
    state.suspended_since.update((rank, loop.paused_at[rank]) for rank in ranks)
    state.tally.preemptions = loop.preemptions
    if isinstance(policy, Selective):
        state.wake_at = loop.reserved_at[0] if loop.reservations else inf
    else:
        state.wakes.update((at, rank, state.running[rank].since) for at, rank in loop.wakes())
    if isinstance(policy, Tunable):
        means = cast(TollLoop, loop)
        ended = [kind for kind in range(len(CATEGORIES)) if means.ended[kind]]
        notes["finished"] = {kind: means.ended[kind] for kind in ended}
        notes["slowdown"] = {kind: means.slowed[kind] for kind in ended}
    state.timers[:] = sorted(state.wakes)
