"""Reasons to wait on a machine of nodes, and those of the policy slurm, as immutable data with a sentence each."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from sim.decisions.reasons_to_wait import delays_head
from sim.decisions.sentences import UNTOLD, Brief, Called, Moment, Others
from sim.formatting import Clock, count, name, span
from sim.workload.model import Job
from sim.workload.shortage import Shortage


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
    """Reason to wait under the policy slurm (Slurm's reason Priority): a job ahead cannot start, and the nodes of its
    partition stay closed for jobs behind it. The job ahead does not fit, or is itself behind another.
    """

    head: Annotated[Job, Called("first in partition")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"Priority: {name(self.head)} is ahead of it on its partition's nodes and cannot start"

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
    is_part: Annotated[bool, UNTOLD] = False
    """True if the reservations leave some room for the job on these nodes."""
    is_alone: Annotated[bool, UNTOLD] = True
    """True if all of these nodes are kept for `head`, False if some are only kept for other jobs."""

    def sentence(self, job: Job, at: Clock) -> str:
        many = f"{self.kept:,} of {count(self.fitting, 'fitting node')} {'is' if self.kept == 1 else 'are'}"
        part = " in part" if self.is_part else ""
        others = "" if self.is_alone else " and for other jobs"
        return f"{many} kept{part} for {name(self.head)} from {at(self.since)}{others}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"{self.kept:,} of {self.fitting:,} nodes kept for {name(self.head)}", f"kept for {name(self.head)}"

    def past(self, job: Job, others: Others) -> str:
        return f"nodes on which it fits were kept for {others('another job')}"


class NoNodes(NamedTuple):
    """Reason to wait on nodes: enough cores are free in total, but too few nodes that the job may use have what it
    needs on each.
    """

    free: Annotated[int, Called("free cores")]
    usable: Annotated[int, Called("it may use")]
    on: Annotated[int, Called("on nodes")]
    able: Annotated[int, Called("places found")]
    needed: Annotated[int, Called("places needed")]
    place: Annotated[str, UNTOLD]
    have: Annotated[int, UNTOLD] = 0
    wants: Annotated[str, UNTOLD] = ""
    """Resources or state that only `have` of these nodes have, such as "with 4 GPUs" or "wholly free"; may be empty."""

    def sentence(self, job: Job, at: Clock) -> str:
        if not self.usable:
            return f"{count(self.free, 'core')} free, but none on a node that it may use"
        free = f"{count(self.free, 'core')} free"
        if self.usable < self.free:
            free = f"{self.usable:,} of {count(self.free, 'free core')} on nodes that it may use"
        else:
            free += f" on {count(self.on, 'node')}"
        short = f", {self._short}" if self.wants else ""
        if self.needed == 1:
            return f"{free}{short}: no node has room"
        return f"{free}{short}: {f'room for {self.able:,}' if self.able else 'no room for any'} {self._of}"

    def brief(self, job: Job, at: Clock) -> Brief:
        if not self.usable:
            return f"{self.free:,} free, none that it may use", "none that it may use", "not usable"
        if self.wants and not self.able:
            return f"{self.usable:,} free, {self._short}", self._short
        return f"room for {self.able:,} {self._of}", f"{self.able:,} of {self.needed:,} fit"

    def past(self, job: Job, others: Others) -> str:
        if not self.usable:
            return "cores were free, but none on a node that it may use"
        if not self.wants:
            return "cores were free, but too few nodes had room for it"
        lacked = self.wants.replace("with ", "had ", 1) + " free" if "with " in self.wants else f"were {self.wants}"
        return f"cores were free, but too few nodes that it may use {lacked}"

    @property
    def _short(self) -> str:
        return f"{f'{self.have:,}' if self.have else 'none'} {self.wants}"

    @property
    def _of(self) -> str:
        return f"of {self.needed:,} {self.place}"


class RoomLater(NamedTuple):
    """Reason to wait on nodes: the job fits now, but jobs that are planned before it need its nodes too soon. It fits
    for its whole estimate only from its planned start, `at`, on.
    """

    at: Annotated[Moment, Called("from")]

    def sentence(self, job: Job, at: Clock) -> str:
        return f"fits now, but nodes have room for its estimate of {span(job.estimate)} only from {at(self.at)}"

    def brief(self, job: Job, at: Clock) -> Brief:
        return f"no hole before {at(self.at)}", "no earlier hole", "no hole yet"

    def past(self, job: Job, others: Others) -> str:
        return "the nodes on which it fits were needed too soon by jobs planned before it"


class EarliestRoom(NamedTuple):
    """Reason for a planned start on nodes: it is the earliest time from which they have room for the whole estimate."""

    def sentence(self, job: Job, at: Clock) -> str:
        return f"the earliest time from which nodes have room for it for {span(job.estimate)}"


def no_nodes(lack: Shortage, kept: tuple[str, float, float, bool] | None) -> NoNodes | NodesReserved:
    """Return the reason why the job does not fit on the nodes. It is a `NodesReserved` with the fields `kept` or, if
    `kept` is None, a `NoNodes` with the fields `lack`.
    """
    return NoNodes(*lack) if kept is None else NodesReserved(*kept)
