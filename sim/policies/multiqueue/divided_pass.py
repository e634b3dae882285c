"""Calls of a pass on a machine that is divided into partitions, each with a queue of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from sim.decisions.decisions import Backfill, Decision, Divide, Expect, Reserve, Start
from sim.decisions.sentences import Reason
from sim.policies.calls import Pass, act
from sim.policies.multiqueue.partitions import Classes, borrow, divided, own_idle
from sim.policies.multiqueue.pivots import Pivots
from sim.policies.view import View
from sim.workload.model import Job


class DividedView(View, Protocol):
    """`View` for policies with partitions. The parameter `classes` of its methods is a text with the limits of
    estimates that separate the partitions (see `Classes.read`).
    """

    def unplanned(self) -> list[Job]:
        """Return the waiting jobs without a reservation, by rank."""

    def planned(self) -> list[Job]:
        """Return the jobs with a reservation, by rank."""

    def reserved_start(self, job: Job) -> float:
        """Return the start that is reserved for the job."""

    def pivots(self, classes: str, came: Sequence[Job]) -> Pivots:
        """Return the pivots (first jobs) of the queues of waiting jobs without a reservation; the jobs in `came` have
        just arrived.
        """


class DividedPass(DividedView, Pass, Protocol):
    """`Pass` for policies with partitions; a partition is named by its number."""

    def divide(self, classes: str) -> None:
        """Divide the machine into partitions of equal size, except that processors with a running job belong to the
        partition of the job's class.
        """

    def reserve_trial(self, job: Job, at: float, limit: float, because: Reason) -> None:
        """Reserve the start `at` for a speculative run of the job, which lasts at most `limit` seconds."""

    def start_in(self, partition: int, job: Job, because: Reason) -> None:
        """Start the job on the lowest-numbered idle processors of the partition; if too few are idle, it first borrows
        processors of other partitions.
        """

    def backfill_in(self, partition: int, job: Job, because: Reason) -> None:
        """Start the job like `start_in`, as a backfill."""

    def try_in(self, partition: int, job: Job, limit: float, because: Reason) -> None:
        """Start a speculative run of the job like `start_in`; it lasts at most `limit` seconds."""

    def expect(self, job: Job, at: float) -> None:
        """Record the planned start of a job without a reservation."""


@act
def divide(view: View, classes: str) -> Iterator[Decision]:
    yield Divide(divided(view, Classes.read(classes)))


@act
def reserve_trial(view: View, job: Job, at: float, limit: float, because: Reason) -> Iterator[Decision]:
    yield Reserve(job, at, because, limit)


@act
def start_in(
    view: View, partition: int, job: Job, because: Reason, kind: type[Start | Backfill] = Start,
    limit: float | None = None,
) -> Iterator[Decision]:  # fmt: skip
    yield from borrow(view, job, partition)
    yield kind(job, because, own_idle(view, partition, job.procs), limit)


@act
def backfill_in(view: View, partition: int, job: Job, because: Reason) -> Iterator[Decision]:
    return start_in(view, partition, job, because, Backfill)


@act
def try_in(view: View, partition: int, job: Job, limit: float, because: Reason) -> Iterator[Decision]:
    return start_in(view, partition, job, because, Start, limit)


@act
def expect(view: View, job: Job, at: float) -> Iterator[Decision]:
    yield Expect(job, at)
