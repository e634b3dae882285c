"""Reasons to wait on a machine of nodes, and those of the policy slurm, as immutable data with a sentence each."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sim.decisions.reasons_to_wait import delays_head
from sim.decisions.sentences import UNTOLD, Brief, Called, Moment, Others
from sim.formatting import Clock, count, name
from sim.workload.model import Job


class LeavesNoRoom(NamedTuple):
    """Reason to wait on nodes: with this job running, the head of the queue would not fit at its planned start."""

    head: Annotated[Job, Called("head of queue")]
    shadow: Annotated[Moment, Called("its start")]
    ends: Annotated[Moment, Called("would end")]

    def sentence(self, job: Job, at: Clock) -> str:
        ends = f"would end at {at(self.ends)} > {name(self.head)}'s start at {at(self.shadow)}"
        return f"{ends}, when too few nodes would be left"

    def brief(self, job: Job, at: Clock) -> Brief:
        return delays_head(self.head)

    def past(self, job: Job, others: Others) -> str:
        return f"starting it would have delayed {others('the head of the queue')}"


class BehindInPartition(NamedTuple):
    """Reason to wait under the policy slurm (Slurm's reason Priority): a job ahead does not fit, and the nodes of its
    partition stay closed for jobs behind it.
    """

    head: Annotated[Job, Called("first in partition")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"Priority: {name(self.head)} is ahead of it on its partition's nodes and does not fit"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"Priority: behind {name(self.head)}", "Priority"

    def past(self, job: Job, others: Others) -> str:
        return f"{others('a job of its partition')} had a higher priority"


class AtLimit(NamedTuple):
    """Reason to wait: a limit of the job's user, account, quality of service or array. The `used` amount and the
    `needed` amount are together more than the limit, `most`.
    """

    limit: Annotated[str, UNTOLD]
    """Name of the limit as Slurm reports it, such as AssocGrpCpuLimit"""
    owner: Annotated[str, UNTOLD]
    used: Annotated[int, Called("in use")]
    most: Annotated[int, Called("allowed")]
    needed: Annotated[int, Called("wanted")]
    unit: Annotated[str, UNTOLD]

    def sentence(self, job: Job, at: Clock) -> str:
        in_use = f"{self.owner} has {self.used:,} of {self.most:,} {self.unit} in use"
        return f"{self.limit}: {in_use}, it wants {self.needed:,}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.limit}: {self.used:,} of {self.most:,} {self.unit}", self.limit

    def past(self, job: Job, others: Others) -> str:
        return f"a limit of {self.owner} held it back"


class NodesReserved(NamedTuple):
    """Reason to wait on nodes: a reservation keeps nodes from the job, or the job waits for its own reservation."""

    reservation: Annotated[str, UNTOLD]
    start: Annotated[Moment, Called("begins")]
    end: Annotated[Moment, Called("ends")]
    is_own: Annotated[bool, UNTOLD]
    """True if the job names the reservation, in which it must start (Slurm's reason Reservation)."""

    def sentence(self, job: Job, at: Clock) -> str:
        span = f"from {at(self.start)} to {at(self.end)}"
        if self.is_own:
            return f"Reservation: it must start in {self.reservation}, {span}, on nodes that are free"
        return f"ReqNodeNotAvail: {self.reservation} keeps nodes that it needs {span}"

    def brief(self, job: Job, at: Clock) -> Brief:
        word = "Reservation" if self.is_own else "ReqNodeNotAvail"
        return f"{word}: {self.reservation}", word

    def past(self, job: Job, others: Others) -> str:
        if self.is_own:
            return f"it had to start in the reservation {self.reservation}"
        return f"the reservation {self.reservation} kept nodes that it needed"


class NodesKept(NamedTuple):
    """Reason to wait on nodes: the job fits now, but too many of the nodes on which it fits are reserved for jobs that
    start before it would end.
    """

    head: Annotated[Job, Called("kept for")]
    """Job for which most of these nodes are reserved"""
    since: Annotated[Moment, Called("from")]
    kept: Annotated[int, Called("nodes kept")]
    fitting: Annotated[int, Called("fitting nodes")]

    def sentence(self, job: Job, at: Clock) -> str:
        many = f"{self.kept:,} of {count(self.fitting, 'fitting node')} {'is' if self.kept == 1 else 'are'}"
        return f"{many} kept for {name(self.head)} from {at(self.since)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.kept:,} of {self.fitting:,} nodes kept for {name(self.head)}", f"kept for {name(self.head)}"

    def past(self, job: Job, others: Others) -> str:
        return f"nodes on which it fits were kept for {others('another job')}"


class NoNodes(NamedTuple):
    """Reason to wait on nodes: enough cores are free in total, but too few nodes have what the job needs on each."""

    free: Annotated[int, Called("free cores")]
    on: Annotated[int, Called("on nodes")]
    able: Annotated[int, Called("places found")]
    needed: Annotated[int, Called("places needed")]
    lacks: Annotated[str, UNTOLD]
    short: Annotated[str, UNTOLD] = ""
    """Name of the resource of which too few nodes have enough for the job; "" if none is named."""

    def sentence(self, job: Job, at: Clock) -> str:
        found = f"room for {self.able:,}" if self.able else "no room for any"
        short = f", {self.short}" if self.short else ""
        free = f"{count(self.free, 'core')} free on {count(self.on, 'node')}{short}"
        return f"{free}: {found} of {self.needed:,} {self.lacks}" if self.needed > 1 else f"{free}: no node has room"

    def brief(self, job: Job, at: Clock) -> Brief:
        if self.short and not self.able:
            return f"{self.free:,} free, {self.short}", self.short
        return f"room for {self.able:,} of {self.needed:,} {self.lacks}", f"{self.able:,} of {self.needed:,} fit"

    def past(self, job: Job, others: Others) -> str:
        return "cores were free, but too few nodes had room for it"


def no_nodes(
    lack: tuple[int, int, int, int, str, str], kept: tuple[str, float, float, bool] | None
) -> NoNodes | NodesReserved:
    """Return the reason why the job does not fit on the nodes. It is a `NodesReserved` with the fields `kept` or, if
    `kept` is None, a `NoNodes` with the fields `lack`.
    """
    return NoNodes(*lack) if kept is None else NodesReserved(*kept)
