"""Copying of the state of multiple-queue policies, with their partitions, into the fast loop of `sim.kernel` and
back.
"""

from __future__ import annotations

from math import inf

import numpy as np

from sim.decisions.decisions import Borrow
from sim.engine.express.columns import numbers, times
from sim.engine.express.preempting import WIDEST
from sim.engine.state import State
from sim.history.decision_log import form_of
from sim.history.stretch import SPECULATIVE
from sim.kernel.multiqueue import TO_END, TO_START, DividedPass
from sim.policies.multiqueue.multiqueue import MultiQueue
from sim.policies.multiqueue.partitions import Classes
from sim.workload.model import Workload


def can_go_on(state: State) -> bool:
    """Return True if the loop can continue from this state.

    The machine must be divided into partitions and not too large, with each running job within its own partition. There
    may be no notes of the policy and no suspended jobs.
    """
    owners, jobs, queue_of = state.machine.owners, state.jobs, state.policy.queue_of
    if not owners or state.procs > WIDEST or state.suspended or state.notes:
        return False
    return not any(held & ~owners[queue_of(jobs[rank])] for rank, held in state.machine.held.items())


def enter(loop: DividedPass, state: State, workload: Workload) -> None:
    """Copy the state of partitions into the loop."""
    policy, machine = state.policy, state.machine
    assert isinstance(policy, MultiQueue)
    loop.borrows_as = form_of(Borrow, None, is_placed=True)
    limits = Classes.read(policy.classes).limits
    loop.partition_of = numbers(np.searchsorted(limits, workload.estimate, "right"))
    loop.borrowed = state.tally.borrowed
    loop.divide(len(workload), state.procs, len(machine.owners))
    for partition, owned in enumerate(machine.owners):
        loop.enter_partition(partition, owned, owned & machine.free_set)
    for rank, held in machine.held.items():
        loop.sets.put(rank, held)
        loop.held_at[rank] = rank
    for rank, at in state.expected.items():
        loop.planned[rank], loop.planned_in[rank] = at, state.step_count
    loop.all_cuts, loop.whole_estimate = state.tally.speculative_kills, loop.estimate
    if policy.tries():
        _tell_trials(loop, policy.speculate, state, workload)


def _tell_trials(loop: DividedPass, limit: float, state: State, workload: Workload) -> None:
    """Copy the planned and the running speculative runs into the loop. Each requests the job's estimate as its run
    time, but at most `limit` seconds.
    """
    loop.estimate, loop.runtime = (times(each.copy()) for each in (workload.estimate, workload.runtime))
    loop.length = times(workload.estimate[np.asarray(loop.rank_at)])
    stages = dict.fromkeys(state.reserved, TO_START)
    stages.update((rank, TO_END) for rank, allocation in state.running.items() if allocation.kind == SPECULATIVE)
    for rank, stage in stages.items():
        loop.enter_trial(rank, stage, min(workload.estimate[rank], limit))


def settle(loop: DividedPass, state: State) -> None:
    """Copy partitions, pivots (planned first jobs of queues) and speculative runs from the loop back to the state."""
    state.machine.owners[:] = loop.owners()
    state.tally.borrowed = loop.borrowed
    state.expected.update((rank, loop.planned[rank]) for rank in loop.expected_ones())
    state.tally.speculative_kills = loop.all_cuts
    state.killed[:] = map(state.jobs.__getitem__, loop.just_cut())
    tried = loop.tried()
    state.reserved.update((rank, loop.planned[rank]) for rank in tried)
    state.lasts = {rank: loop.estimate[rank] for rank in tried}
    state.timers[:] = sorted((at, rank, inf) for rank, at in state.reserved.items())
