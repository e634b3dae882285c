"""Events between two pictures of a cluster (states at two polls), which are the steps of an observed history."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from sim.live.cluster.values import SUSPENDED, Cluster, ClusterJob

Kind = Literal["arrival", "start", "completion", "requeue", "suspension", "node", "moved", "reservation"]
TRIFLE = 1.0
"""Smallest change, in seconds, of a job's expected start that counts as an event."""


@dataclass(frozen=True, slots=True)
class PollEvent:
    """Event between two pictures (polled states) of a cluster, such as the start of a job."""

    at: float
    """Time of the event as the scheduler reports it, otherwise of the first picture that shows the event."""
    kind: Kind
    subject: str
    """Subject of the event: id of a job, or name of a node or a reservation."""
    before: str = ""
    after: str = ""
    """State or reason after the event; `before` holds the state or reason before the event."""
    by: float = 0.0
    """Seconds by which the job's expected start moved; negative if it is now earlier."""


def changes(before: Cluster | None, after: Cluster) -> tuple[PollEvent, ...]:
    """Return the events between two pictures in order of time; an empty tuple if `before` is None."""
    if before is None:
        return ()
    found = [*_of_jobs(before, after), *_of_nodes(before, after), *_of_reservations(before, after)]
    return tuple(sorted(found, key=lambda event: event.at))


def _of_jobs(before: Cluster, after: Cluster) -> Iterator[PollEvent]:
    for job in after.jobs:
        was = before.job_of.get(job.id)
        if was is None:
            yield PollEvent(_within(job.submit, before, after), "arrival", job.id, after=job.state)
        if was is job or was == job:
            continue
        began = job.start if job.is_running or job.has_ended else None
        if began is not None and (was is None or was.is_waiting) and job.nodes:
            yield PollEvent(_within(began, before, after), "start", job.id, after=job.state)
        if job.has_ended and (was is None or not was.has_ended):
            yield PollEvent(_within(job.end or after.at, before, after), "completion", job.id, after=job.state)
        elif job.is_waiting and was is not None and (was.is_running or was.state == SUSPENDED):
            yield PollEvent(_within(job.submit, before, after), "requeue", job.id, was.state, job.state)
        elif was is not None and (job.state == SUSPENDED) != (was.state == SUSPENDED) and not job.has_ended:
            yield PollEvent(after.at, "suspension", job.id, was.state, job.state)
        elif was is not None and job.is_waiting and was.is_waiting:
            yield from _moved(was, job, after.at)
    for id, was in before.job_of.items():
        if id not in after.job_of and not was.has_ended:
            yield PollEvent(after.at, "completion", id, was.state, "gone")


def _moved(was: ClusterJob, job: ClusterJob, at: float) -> Iterator[PollEvent]:
    if job.start is not None and was.start is not None and abs(job.start - was.start) > TRIFLE:
        yield PollEvent(at, "moved", job.id, by=job.start - was.start)


def _of_nodes(before: Cluster, after: Cluster) -> Iterator[PollEvent]:
    for node in after.nodes:
        was = before.node_of.get(node.name)
        if was is not None and was.is_gone != node.is_gone:
            said = "+".join(sorted(node.states))
            yield PollEvent(after.at, "node", node.name, "+".join(sorted(was.states)), f"{said} {node.reason}".strip())


def _of_reservations(before: Cluster, after: Cluster) -> Iterator[PollEvent]:
    known = {reservation.name for reservation in before.reservations}
    now = {reservation.name for reservation in after.reservations}
    yield from (PollEvent(after.at, "reservation", name, after="made") for name in sorted(now - known))
    yield from (PollEvent(after.at, "reservation", name, before="ended") for name in sorted(known - now))


def _within(at: float, before: Cluster, after: Cluster) -> float:
    return min(max(at, before.at), after.at)
