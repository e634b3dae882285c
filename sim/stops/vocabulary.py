"""Words of conditions: measures, events and events of jobs, each with its meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from sim.decisions import reasons_inferred
from sim.decisions.decisions import Backfill, Borrow, Decision, Expect, Keep, Reserve, Resume, Start, Suspend, Switched
from sim.decisions.matrix import Migrate, Place, ReserveRow
from sim.decisions.reasons_in_rows import GoesOn
from sim.decisions.sentences import WORDS, why
from sim.stops.instants import Instant
from sim.support.formatting import clock, name, spelled
from sim.workload.model import Job

Meant: TypeAlias = Callable[[Job], bool]
"""Function that returns True for the jobs that a condition is about"""
Unit: TypeAlias = Literal["number", "share", "time", "moment"]


class Measure(NamedTuple):
    """Number that every step has; `in_columns` is True if columns of the history have it."""

    meaning: str
    read: Callable[[Instant], float]
    unit: Unit = "number"
    in_columns: bool = True


class Event(NamedTuple):
    """Event; `happens` returns the decisions, jobs or texts of a step that make it happen; empty if it does not."""

    meaning: str
    happens: Callable[[Instant], Sequence[object]]
    in_columns: bool = True


class Deed(NamedTuple):
    meaning: str
    happens: Callable[[Instant, Meant], Sequence[object]]
    in_columns: bool = True


def _used_share(instant: Instant) -> float:
    return 1 - instant.free / instant.procs if instant.procs else 0.0


MEASURES: dict[str, Measure] = {
    "queue": Measure("number of waiting jobs", lambda i: i.waiting),
    "wanted": Measure("total processors requested by the waiting jobs", lambda i: i.wanted),
    "utilization": Measure("share of the processors in use", _used_share, "share"),
    "free": Measure("number of free processors", lambda i: i.free),
    "running": Measure("number of running jobs", lambda i: i.running, in_columns=False),
    "suspended": Measure("number of suspended jobs", lambda i: i.suspended, in_columns=False),
    "wait": Measure("longest wait so far among the waiting jobs", lambda i: i.longest_wait(), "time", in_columns=False),
    "slowdown": Measure(
        "largest expansion factor, (wait + estimate) / estimate, among the waiting jobs",
        lambda i: i.worst_slowdown(),
        in_columns=False,
    ),
    "overtaken": Measure(
        "largest number of later arrivals that have overtaken one waiting job",
        lambda i: i.most_overtaken(),
        in_columns=False,
    ),
    "time": Measure("the time is reached", lambda i: i.time, "moment"),
    "step": Measure("the step is reached", lambda i: i.step),
}
SPELLINGS = {"utilisation": "utilization"}
REACHED = ("time", "step")
"""Measures that never decrease, for which `time 12d` means `time >= 12d`."""


# Events


def _decides(*kinds: type) -> Callable[[Instant], Sequence[Decision]]:
    return lambda instant: [decision for decision in instant.decisions if isinstance(decision, kinds)]


def _decisions(test: Callable[[Decision], bool]) -> Callable[[Instant], Sequence[Decision]]:
    return lambda instant: [*filter(test, instant.decisions)]


def is_start(decision: Decision) -> bool:
    return isinstance(decision, Start | Backfill) or (
        isinstance(decision, Place) and not isinstance(decision.because, GoesOn)
    )


def is_backfill(decision: Decision) -> bool:
    return isinstance(decision, Backfill) or (isinstance(decision, Place) and decision.passes)


def is_resume(decision: Decision) -> bool:
    return isinstance(decision, Resume) or (isinstance(decision, Place) and isinstance(decision.because, GoesOn))


def _misses_reservation(instant: Instant) -> list[Job]:
    starts = (d.job for d in instant.decisions if isinstance(d, Start | Backfill | Place) and is_start(d))
    return [job for job in starts if job.reserve is not None and job.reserve < instant.time]


def _head_slips(instant: Instant) -> list[Job]:
    return [instant.head] if instant.head is not None and instant.moved(instant.head) > 0 else []


EVENTS: dict[str, Event] = {
    "start": Event("a job starts", _decisions(is_start)),
    "backfill": Event("a job is backfilled", _decisions(is_backfill)),
    "arrival": Event("a job is submitted", lambda i: i.arrived),
    "completion": Event("a job ends", lambda i: i.completed, in_columns=False),
    "suspend": Event("a job is suspended", _decides(Suspend)),
    "resume": Event("a suspended job resumes", _decisions(is_resume)),
    "migrate": Event("a job moves to other processors", _decides(Migrate)),
    "print": Event("the policy prints something", lambda i: i.printed, in_columns=False),
    "switch": Event("the policy is switched", _decides(Switched)),
    "borrow": Event("a partition borrows processors", _decides(Borrow)),
    "missed reservation": Event("a job starts after its requested start time", _misses_reservation),
    "head slips": Event("the planned start of the first job in the queue moves later", _head_slips, in_columns=False),
}


class Changing(NamedTuple):
    """Value whose change from one step to the next is an event; `read` returns the value, "" if a step has none."""

    meaning: str
    read: Callable[[Instant], str]
    in_columns: bool = True


CHANGES: dict[str, Changing] = {
    "head changes": Changing(
        "a different job becomes first in the queue", lambda i: i.head.id if i.head else "", in_columns=False
    )
}


# Jobs and users


def is_called(job: Job, word: str) -> bool:
    """Return True if a user means this job by the word: its id in the trace, perhaps with a J before it."""
    return word in (job.id, name(job))


def _decided(test: Callable[[Decision], bool]) -> Callable[[Instant, Meant], Sequence[Decision]]:
    def happens(instant: Instant, meant: Meant) -> list[Decision]:
        return [decision for decision in instant.decisions if test(decision) and _is_about(decision, meant)]

    return happens


def _is_about(decision: Decision, meant: Meant) -> bool:
    job = getattr(decision, "job", None)
    return isinstance(job, Job) and meant(job)


def _moved(instant: Instant, meant: Meant) -> list[Job]:
    planned = (d.job for d in instant.decisions if isinstance(d, Reserve | Expect | ReserveRow))
    return [job for job in planned if meant(job) and instant.moved(job) != 0]


DEEDS: dict[str, Deed] = {
    "arrives": Deed("is submitted", lambda i, meant: [*filter(meant, i.arrived)]),
    "considered": Deed("is considered by the policy", _decided(lambda d: True), in_columns=False),
    "starts": Deed("starts", _decided(is_start)),
    "backfilled": Deed("is backfilled", _decided(is_backfill)),
    "suspended": Deed("is suspended", _decided(lambda d: isinstance(d, Suspend))),
    "resumes": Deed("resumes", _decided(is_resume)),
    "migrates": Deed("moves to other processors", _decided(lambda d: isinstance(d, Migrate))),
    "moves": Deed("gets a different planned start", _moved, in_columns=False),
    "ends": Deed("ends", lambda i, meant: [*filter(meant, i.completed)], in_columns=False),
    "waits": Deed("is considered but not started", _decided(lambda d: isinstance(d, Keep)), in_columns=False),
}


# Reasons to wait


def kind_of(reason: type) -> str:
    return spelled(reason.__name__)


REASONS: dict[str, type] = {
    kind_of(kind): kind for kind, words in WORDS.items() if words.brief and kind.__module__ != reasons_inferred.__name__
}
"""Kinds of reasons to wait by name; only these have a short form (`brief`), inferred ones are not stored."""


def kept_because(instant: Instant, meant: Meant, reason: str) -> list[Keep]:
    """Return which jobs are kept waiting for a kind of reason, or for this text in its sentence."""
    kept = (d for d in instant.decisions if isinstance(d, Keep) and meant(d.job))
    return [d for d in kept if kind_of(type(d.because)) == reason or reason in why(d.because, d.job, clock).lower()]
