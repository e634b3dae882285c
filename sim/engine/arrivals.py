"""Submissions of jobs at the present instant."""

from __future__ import annotations

from array import array

from sim.engine.changes import drop
from sim.engine.moment import Moment
from sim.engine.releases import Releases, resubmit
from sim.workload.follows import HOPELESS
from sim.workload.model import Job


def admit_arrivals(moment: Moment, submits: array[float]) -> None:
    """Submit all jobs whose submit time is reached; `submits` has the submit times of all jobs, in rank order."""
    now, jobs, rank = moment._time, moment._jobs, moment._submitted
    while submits[rank] <= now:
        job = jobs.made[rank] or jobs.next(rank)
        rank += 1
        moment._submitted = rank
        _admit(moment, job)


def admit_released(moment: Moment, releases: Releases) -> None:
    """Submit the jobs that are due now, in a run in which some jobs are submitted only when other jobs have started or
    ended.
    """
    while come := releases.come(moment._time):
        moment._submitted = releases.submitted
        for rank, time in come:
            is_new = rank in releases.released
            job = resubmit(moment._jobs, rank, time) if is_new else moment._jobs[rank]
            if rank in releases.hopeless:
                drop(moment, job, HOPELESS)
            else:
                _admit(moment, job)


def _admit(moment: Moment, job: Job) -> None:
    """Put the job into the queue, or cancel it if it can never run."""
    if moment._outages and job.procs > moment.most:
        drop(moment, job)
        return
    if moment._limits is not None and (over := moment._limits.submit(job.rank)):
        drop(moment, job, over)
        return
    moment._arrived.append(job)
    moment._waiting.add(job)
