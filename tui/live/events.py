"""Kinds of events of an observed cluster, with what the screen says and shows of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sim.live.cluster.changes import Kind, PollEvent
from sim.live.cluster.values import ClusterJob
from sim.support.formatting import count, printable, span


class EventKind(NamedTuple):
    """Kind of events; `sentence` takes an event and its job, None if the job is not in the poll."""

    sentence: Callable[[PollEvent, ClusterJob | None], str]
    style: str = ""
    turn: int = 0
    """Position in the list of a picture's events: those with 0 come first."""
    is_of_job: bool = True
    jumps: bool = False
    """True if the user can choose to jump to events of this kind alone."""


def _arrived(event: PollEvent, job: ClusterJob | None) -> str:
    if job is None:
        return f"{_job(event)} arrived"
    return f"{_job(event)} of {printable(job.user)} arrived, {count(job.cpus, 'core')}"


def _started(event: PollEvent, job: ClusterJob | None) -> str:
    where = f" on {printable(','.join(job.nodes[:3]))}{' ...' if len(job.nodes) > 3 else ''}" if job else ""
    return f"{_job(event)} started{where}"


def _ended(event: PollEvent, job: ClusterJob | None) -> str:
    how = "" if event.after == "gone" else f": {printable(event.after).replace('_', ' ').lower()}"
    return f"{_job(event)} ended{how}"


def _job(event: PollEvent) -> str:
    return f"J{printable(event.subject)}"


EVENTS: dict[Kind, EventKind] = {
    "start": EventKind(_started, "strong", jumps=True),
    "completion": EventKind(_ended, jumps=True),
    "requeue": EventKind(lambda event, _: f"{_job(event)} was put back into the queue", "accent"),
    "arrival": EventKind(_arrived, turn=1, jumps=True),
    "node": EventKind(
        lambda event, _: f"node {printable(event.subject)}: {printable(event.after)}",
        "accent", is_of_job=False, jumps=True,
    ),
    "moved": EventKind(
        lambda event, _: f"{_job(event)} expected {span(abs(event.by))} {'later' if event.by > 0 else 'earlier'}",
        "dim", turn=2, jumps=True,
    ),
    "suspension": EventKind(lambda event, _: f"{_job(event)} is {printable(event.after).lower()}"),
    "reservation": EventKind(
        lambda event, _: f"reservation {printable(event.subject)} {'made' if event.after else 'ended'}",
        is_of_job=False,
    ),
}  # fmt: skip
JUMPS: dict[str, tuple[Kind, ...]] = {
    "event": tuple(kind for kind in EVENTS if kind != "moved"),
    **{kind: (kind,) for kind, of in EVENTS.items() if of.jumps},
}
"""Kinds of events at which each kind of jump stops."""
