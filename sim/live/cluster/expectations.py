"""Expected starts of a waiting job of a real cluster, and by how much they moved from poll to poll."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sim.live.cluster.changes import TRIFLE
from sim.live.cluster.values import Cluster


@dataclass(frozen=True)
class Expectation:
    """Start that Slurm expected for a job, as found in one poll of Slurm."""

    at: float
    start: float
    is_plan: bool


@dataclass(frozen=True)
class Expectations:
    """Expected starts of one job in order of time, and its actual start (`started`) if it has started."""

    said: tuple[Expectation, ...] = ()
    started: float | None = None

    @property
    def moves(self) -> tuple[float, ...]:
        """Return the seconds by which each expected start but the first moved; negative if it is earlier."""
        return tuple(after.start - before.start for before, after in zip(self.said, self.said[1:], strict=False))


def expectations(pictures: Iterable[Cluster], job: str) -> Expectations:
    """Return the expected starts of a job, an unchanged one once; the pictures are in order of time."""
    said: list[Expectation] = []
    for cluster in pictures:
        found = cluster.job_of.get(job)
        if found is None:
            continue
        if not found.is_waiting:
            return Expectations(tuple(said), found.start)
        if found.start is None or cluster.is_private:
            continue
        new = Expectation(cluster.at, found.start, found.is_planned)
        if not said or abs(new.start - said[-1].start) > TRIFLE or new.is_plan != said[-1].is_plan:
            said.append(new)
    return Expectations(tuple(said))
