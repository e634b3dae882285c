"""From the state to the loop that knows partitions, and back: what it has beside what every loop has."""

from __future__ import annotations

from typing import Any

import numpy as np

from sim.decisions.decisions import Backfill, Borrow
from sim.decisions.reasons import DelaysNoPivot
from sim.engine.preempting import WIDEST
from sim.engine.state import State
from sim.history.decided import form_of
from sim.policies.multiqueue.multiqueue import MultiQueue
from sim.policies.multiqueue.partitions import Classes
from sim.workload.model import Workload


def can_go_on(state: State) -> bool:
    """Is nothing remembered but what is found again?"""
    return state.procs <= WIDEST and not state.suspended and not state.notes.keys() - {"pivots"}


def enter(loop: Any, state: State, workload: Workload) -> None:
    """The loop stands where the state stands."""
    policy, machine = state.policy, state.machine
    assert isinstance(policy, MultiQueue)
    loop.beside_as, loop.borrows_as = form_of(Backfill, DelaysNoPivot, is_placed=True), form_of(Borrow, None, True)
    limits = Classes.read(policy.classes).limits
    loop.partition_of = loop.column("i", np.searchsorted(limits, workload.estimate, "right"))
    loop.highs, loop.borrowed = int(workload.high.sum()), state.tally.borrowed
    loop.divide(len(workload), state.procs, len(machine.owners))
    for partition, owned in enumerate(machine.owners):
        loop.enter_partition(partition, owned, owned & machine.free_set)
    for rank, held in machine.held.items():
        loop.sets.put(rank, held)
        loop.held_at[rank] = rank
    for rank, at in state.expected.items():
        loop.planned[rank], loop.planned_in[rank] = at, state.step_count
    loop.enter_queue()


def settle(loop: Any, state: State) -> None:
    """The state stands where the loop stands."""
    state.machine.owners[:] = loop.owners()
    state.tally.borrowed = loop.borrowed
    waiting = (loop.rank_at[loop.firsts[index]] for index in range(loop.pivots))
    state.expected.update((rank, loop.planned[rank]) for rank in waiting)
    state.notes.clear()
