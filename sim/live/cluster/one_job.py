"""One job in a recording: its expected starts, and its pictures, read without other jobs to take little time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sim.live.cluster.changes import TRIFLE
from sim.live.cluster.codec import DamagedError, Plain, decode, whole
from sim.live.cluster.recording import SHIFTED, Recording
from sim.live.cluster.values import Cluster, ClusterJob
from sim.support.errors import FileError


def pictures_of(recording: Recording, job: str, since: float, until: float) -> Iterator[Cluster]:
    """Yield a picture (state of the cluster) for each poll from `since` to `until` that shows the job with the id
    `job`. It has this job only, and says whether jobs of others are hidden. Times are in seconds since 1970.
    """
    order: dict[str, None] = {}
    plain: Plain | None = None
    is_private = False
    for at, is_frame, data in recording.rows(since, until):
        try:
            is_private = bool(data.get("private", is_private))
            listed = data["jobs"] if is_frame else data.get("jobs!")
            if listed is not None:
                order = {each["id"]: None for each in listed}
                plain = next((each for each in listed if each["id"] == job), None)
            else:
                plain = _moved(plain, job, order, data)
            if plain is not None and since <= at <= until:
                yield Cluster(at, jobs=(decode(ClusterJob, plain),), is_private=is_private)
        except (DamagedError, KeyError, TypeError, AttributeError, IndexError) as error:
            raise FileError(f"the recording is damaged at {at}: {error}"[:300], recording.path) from None


def _moved(plain: Plain | None, job: str, order: dict[str, None], data: Plain) -> Plain | None:
    """Return the fields of the job after the changes in `data`, None if it is not listed. `order` has the ids of all
    jobs in the order of their list, and is updated.
    """
    for gone in data.get("jobs-", ()):
        order.pop(gone, None)
    plain = plain if job in order else None
    shifts = {field: data[f"by {field}"] for field in SHIFTED if f"by {field}" in data} if plain else {}
    if plain and shifts:
        place = list(order).index(job)
        moved = {field: plain.get(field, 0) + whole(by[place]) for field, by in shifts.items() if by[place]}
        plain = {**plain, **moved}
    told = data.get("jobs", {})
    order.update(dict.fromkeys(told))
    return {**(plain or {}), **told[job]} if job in told else plain


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
