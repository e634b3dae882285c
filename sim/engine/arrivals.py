"""Submissions of jobs at the present instant."""

from __future__ import annotations

from collections.abc import Sequence

from sim.engine.machine_changes import MachineChanges
from sim.engine.releases import Releases, resubmit
from sim.engine.transitions import Transitions
from sim.workload.follows import HOPELESS
from sim.workload.model import Job


def admit_arrivals(transitions: Transitions, submits: Sequence[float]) -> None:
    """Submit all jobs whose submit time is reached; `submits` has the submit times of all jobs, in rank order."""
    state = transitions.state
    now, made, rank = state.now, state.jobs.made, state.submitted
    is_plain, come, wait = not state.outages and state.limits is None, state.arrived.append, state.waiting.add
    while submits[rank] <= now:
        job = made[rank] or state.jobs.next(rank)
        rank += 1
        state.submitted = rank
        if is_plain:
            come(job)
            wait(job)
        else:
            _admit(transitions, job)


def admit_released(transitions: Transitions, releases: Releases) -> None:
    """Submit the jobs that are due now, in a run in which some jobs are submitted only when other jobs have started or
    ended.
    """
    state = transitions.state
    while come := releases.come(state.now):
        state.submitted = releases.submitted
        for rank, time in come:
            job = resubmit(state.jobs, rank, time) if rank in releases.released else state.jobs[rank]
            if rank in releases.hopeless:
                MachineChanges(transitions).drop(job, HOPELESS)
            else:
                _admit(transitions, job)


def _admit(transitions: Transitions, job: Job) -> None:
    state = transitions.state
    if state.outages and job.procs > state.most:
        MachineChanges(transitions).drop(job)
        return
    if state.limits is not None and (over := state.limits.submit(job.rank)):
        MachineChanges(transitions).drop(job, over)
        return
    state.arrived.append(job)
    state.waiting.add(job)
