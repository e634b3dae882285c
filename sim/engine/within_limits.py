"""Passes of policies in a workload with limits: the policy is shown only jobs that no limit of a user, account or array
holds back.
"""

from __future__ import annotations

from collections.abc import Iterator

from sim.decisions.decisions import Backfill, Decision, Keep, Start
from sim.engine.state_view import StateView
from sim.engine.transitions import Transitions


def decide_within_limits(transitions: Transitions, view: StateView) -> Iterator[Decision]:
    """Yield the decisions of a pass. If a start makes a limit hold back other jobs, the pass is repeated without these
    jobs.

    So a job that is held back is never the head of the queue and delays no other job, under any policy.
    """
    state = transitions.state
    completed = [*state.completed]
    try:
        while True:
            held = state.held_back()
            for decision in state.policy.decide(view):
                yield decision
                if isinstance(decision, Start | Backfill) and state.held_back() != held:
                    break
            else:
                return
            state.completed.clear()  # a policy that learns from completed jobs counts each once
            state.reserved.clear()
            transitions.kept.clear()
            state.decisions[:] = [told for told in state.decisions if not isinstance(told, Keep)]
    finally:
        state.completed[:] = completed
