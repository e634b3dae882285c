"""Reasons to wait on a machine of nodes, and those of the policy slurm, as immutable data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sim.decisions.because import UNTOLD, Because, flag, job, moment, text, whole
from sim.decisions.reasons import EarliestHole, FitsBeside, FitsExtra, WhenFree, WhenPredicted, WhenRoom
from sim.decisions.reasons_to_wait import PlannedLater, PredictedToDelay, WouldDelay
from sim.workload.job import Job

if TYPE_CHECKING:
    from sim.workload.shortage import Shortage


class LeavesNoRoom(Because):
    fields = job("head", "head of queue"), moment("shadow", "its start"), moment("ends", "would end")

    def __init__(self, head: Job, shadow: float, ends: float) -> None:
        self.head, self.shadow, self.ends = head, shadow, ends


class BehindInPartition(Because):
    """Reason to wait under the policy slurm (Slurm's reason Priority): a job ahead cannot start, and the nodes of its
    partition stay closed for jobs behind it. The job ahead does not fit, or is itself behind another.
    """

    fields = (job("head", "first in partition"),)

    def __init__(self, head: Job) -> None:
        self.head = head


class AtLimit(Because):
    """Reason to wait: a limit of the job's user, account, quality of service or array. The `used` amount and the
    `needed` amount are together more than the limit, `most`. Slurm reports it by the name `limit`, such as
    AssocGrpCpuLimit.
    """

    fields = (
        text("limit"), text("owner"), whole("used", "in use"), whole("most", "allowed"), whole("needed", "wanted"),
        text("unit"),
    )  # fmt: skip

    def __init__(self, limit: str, owner: str, used: int, most: int, needed: int, unit: str) -> None:
        self.limit, self.owner, self.used, self.most, self.needed, self.unit = limit, owner, used, most, needed, unit


class NodesReserved(Because):
    """Reason to wait on nodes: a reservation keeps nodes from the job. If `is_own` is True, the job names this
    reservation, in which it must start (Slurm's reason Reservation).
    """

    fields = text("reservation"), moment("start", "begins"), moment("end", "ends"), flag("is_own")

    def __init__(self, reservation: str, start: float, end: float, is_own: bool) -> None:
        self.reservation, self.start, self.end, self.is_own = reservation, start, end, is_own


class NodesKept(Because):
    """Reason to wait on nodes: the job fits now, but too many of the nodes on which it fits are reserved for jobs that
    start before it would end. Most of these are reserved for `head`; all of them if `is_alone` is True. If `is_part` is
    True, the reservations leave some room for the job on these nodes.
    """

    fields = (
        job("head", "kept for"), moment("since", "from"), whole("kept", "nodes kept"),
        whole("fitting", "fitting nodes"), flag("is_part"), flag("is_alone"),
    )  # fmt: skip

    def __init__(
        self, head: Job, since: float, kept: int, fitting: int, is_part: bool = False, is_alone: bool = True
    ) -> None:
        self.head, self.since, self.kept, self.fitting = head, since, kept, fitting
        self.is_part, self.is_alone = is_part, is_alone


class NoNodes(Because):
    """Reason to wait on nodes: enough cores are free in total, but too few nodes that the job may use have what it
    needs on each. Only `have` of these nodes have what `wants` says, such as "with 4 GPUs" or "wholly free"; it may be
    empty.
    """

    fields = (
        whole("free", "free cores"), whole("usable", "it may use"), whole("on", "on nodes"),
        whole("able", "places found"), whole("needed", "places needed"), text("place"), whole("have", UNTOLD),
        text("wants"),
    )  # fmt: skip

    def __init__(
        self, free: int, usable: int, on: int, able: int, needed: int, place: str, have: int = 0, wants: str = ""
    ) -> None:
        self.free, self.usable, self.on, self.able = free, usable, on, able
        self.needed, self.place, self.have, self.wants = needed, place, have, wants


class RoomLater(Because):
    fields = (moment("at", "from"),)

    def __init__(self, at: float) -> None:
        self.at = at


class EarliestRoom(Because):
    """Reason for a planned start on nodes: it is the earliest time from which they have room for the whole estimate."""


def no_nodes(lack: Shortage, kept: tuple[str, float, float, bool] | None) -> NoNodes | NodesReserved:
    """Return the reason why the job does not fit on the nodes. It is a `NodesReserved` with the fields `kept` or, if
    `kept` is None, a `NoNodes` with the fields `lack`.
    """
    return NoNodes(*lack) if kept is None else NodesReserved(*kept)


_INSTEAD: dict[type, Callable[[Any], Because]] = {
    WhenFree: lambda because: WhenRoom(),
    FitsExtra: lambda because: FitsBeside(because.head, because.shadow),
    WouldDelay: lambda because: LeavesNoRoom(because.head, because.shadow, because.ends),
    PredictedToDelay: lambda because: LeavesNoRoom(because.head, because.shadow, because.ends),
    WhenPredicted: lambda because: WhenRoom(),
    EarliestHole: lambda because: EarliestRoom(),
    PlannedLater: lambda because: RoomLater(because.at),
}
"""For each kind of reason with processor counts: function that converts it to the reason to give on a machine of nodes,
where these counts do not decide
"""


def on_nodes(because: Any) -> Any:
    """Return the reason to give in place of `because` on a machine of nodes; most reasons are returned unchanged."""
    instead = _INSTEAD.get(type(because))
    return because if instead is None else instead(because)
