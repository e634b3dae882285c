"""Jobs that do not exist yet: when one would start, where it fits in the plan, and what fits now and for how long."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from sim.live.cluster.dates import DAY, date
from sim.live.cluster.room import free_on
from sim.live.cluster.values import Cluster, ClusterJob, Partition, Reservation
from sim.live.forecast.expected import Expected
from sim.live.forecast.forecast import plan_before
from sim.live.forecast.past import PastJobs
from sim.live.forecast.plan_ahead import Waiting
from sim.live.forecast.what_if import WORDS, Answer, answer, answers, changed_by, later_lines, parts_of, widest_of
from sim.live.forecast.words import answer_lines
from sim.support.errors import NotThereError, ParameterError
from sim.support.formatting import count, listed, printable, quoted, span

ID = "new"
UNLIMITED = 7 * 86400.0
"""Time in seconds for which it is examined what fits, where the partition has no time limit."""
FIRST = ("partition", "nodes", "cpus")
"""Parts of a request that are read before the others, which depend on them."""
MOST_SINGLE = 8
"""Number of nodes up to which each number is examined; above it are powers of two, and all that are empty."""


def new_job(cluster: Cluster, text: str) -> ClusterJob:
    """Return the job that a text such as `nodes=2 time=4h partition=gpu` asks for, as the user of the cluster."""
    asked = sorted(parts_of(text, "--new"), key=lambda part: FIRST.index(part[0]) if part[0] in FIRST else len(FIRST))
    if not asked:
        raise ParameterError(f"--new asks for {', '.join(WORDS)}, as in 'nodes=2 time=4h'")
    names = [each.name for each in cluster.partitions]
    usual = next((each.name for each in cluster.partitions if each.is_default), names[0] if names else "")
    mine = [job for job in cluster.jobs if job.user == cluster.me and job.account]
    own = mine[-1] if mine else ClusterJob("", "", "")
    job = ClusterJob(
        ID, ID, "PENDING", name=ID, user=cluster.me, account=own.account, qos=own.qos, partition=usual,
        submit=cluster.at, tres="cpu=1,node=1", most_nodes=0,
    )  # fmt: skip
    for word, value in asked:
        job = changed_by(job, word, value, widest_of(cluster, job))
    if names and (strange := [name for name in job.partition.split(",") if name not in names]):
        raise ParameterError(f"there is no partition {quoted(strange[0])}; there are {listed(names)}")
    there = [each for each in cluster.partitions if each.name in job.partition.split(",")]
    words = dict(asked)
    if "nodes" in words:
        job = replace(job, most_nodes=job.nodes_wanted)
    if "time" not in words and there:
        job = replace(job, limit=there[0].default_time or there[0].max_time)
    return replace(job, priority=priority_of(cluster, job))


def priority_of(cluster: Cluster, job: ClusterJob) -> int:
    """Return the priority that a new job gets: that of the user's own waiting jobs without their age, else the last."""
    own = (
        each.priority - cluster.parts[each.number].get("age", 0.0)
        for each in cluster.queue
        if each.user == job.user and each.partition == job.partition and each.number in cluster.parts
    )
    last = min((each.priority for each in cluster.queue), default=1) - 1
    return max(round(max(own, default=last)), 0)


Starts: TypeAlias = Mapping[str, Expected]


def start_of(cluster: Cluster, job: ClusterJob, past: PastJobs, before: Starts) -> tuple[Cluster, Answer]:
    """Return the cluster with the job in its queue, and when the job starts there; `before` are starts without it."""
    there = replace(cluster, jobs=(*cluster.jobs, job))
    return there, answer(there, job, job, past, "", before)


def new_lines(there: Cluster, job: ClusterJob, found: Answer, past: PastJobs, before: Starts) -> Iterator[str]:
    """Yield sentences on the start of a new job of `there`, and on requests that would let it start earlier."""
    asks = f"A job of {request_in_words(job)}"
    if found.after is None:
        yield f"{asks}: no forecast, because {printable(found.why) or 'its start is unknown'}."
        return
    first, middle, last = ("now" if time <= there.at else date(time, there.at) for time in found.after)
    rest = "" if first == last else f"; {first} if jobs end early, {last} if all run to their limits"
    yield f"{asks} would start {middle if middle == 'now' else f'at {middle}'}{rest}."
    ahead = sum(other.priority >= job.priority for other in there.queue) - 1
    yield f"It would have about priority {job.priority:,}, behind {count(ahead, 'waiting job')}."
    yield from later_lines(found)
    for each in answers(there, job, past, {**before, job.id: found.after}):
        yield " ".join(answer_lines(there, each))


def request_in_words(job: ClusterJob) -> str:
    gpus = f", {count(job.gpus, 'GPU')} on each" if job.gpus else ""
    nodes = f"{count(job.nodes_wanted, 'whole node')}" if job.is_exclusive else count(job.nodes_wanted, "node")
    cores = "" if job.is_exclusive and job.cpus <= job.nodes_wanted else f" with {count(job.cpus, 'core')}"
    memory = f", {job.memory:,} MB on each" if job.memory else ""
    where = f" in {printable(job.partition)}" if job.partition else ""
    return f"{nodes}{cores}{gpus}{memory} for {'any time' if job.limit is None else span(job.limit)}{where}"


# A place in the plan


@dataclass(frozen=True, eq=False)
class Ghost:
    """Job that does not exist yet, at one of the times at which it would fit into the plan of all others."""

    job: ClusterJob
    start: float
    nodes: tuple[str, ...]
    place: Callable[[float], Ghost | None]
    """Function that returns the job at its earliest place from a time on, None if it does not fit any more."""

    @property
    def end(self) -> float:
        return self.start + (self.job.limit or DAY)

    @property
    def frame(self) -> Reservation:
        return Reservation("new job", self.start, self.end, self.nodes, is_new=True)

    def moved(self, to: float) -> Ghost:
        return self.place(to) or self

    def earlier(self, by: float) -> Ghost:
        """Return the job at a place at least `by` seconds earlier, or at the first of all."""
        found, to = self, self.start
        while found.start >= self.start and to > self.job.submit:
            found, by = self.moved(to := self.start - by), 2 * by
        return found


def ghost_of(cluster: Cluster, job: ClusterJob) -> Ghost:
    """Return the job at its earliest place in the plan; raise `NotThereError` if it never fits."""
    made = plan_before(cluster, [job])

    def place(since: float) -> Ghost | None:
        if made is None or job.id not in made[1]:
            return None
        after = max(since - cluster.at, 0.0)
        start, seats = made[0].earliest(Waiting(made[1][job.id], job.limit or DAY, after))
        if seats is None:
            return None
        return Ghost(job, cluster.at + start, tuple(cluster.nodes[node].name for node in seats.nodes), place)

    if (found := place(cluster.at)) is None:
        raise NotThereError(f"{request_in_words(job)} does not fit into the plan")
    return found


# Requests that fit now


class Fit(NamedTuple):
    """Request that could start now without delaying a planned job, and the seconds for which it may run."""

    partition: str
    nodes: int
    cpus: int
    gpus: int
    memory: int
    """Memory in MB of a part of a node; 0 for whole nodes, and if it is not known."""
    seconds: float

    @property
    def asks(self) -> str:
        if self.nodes:
            return count(self.nodes, "node")
        gpus = [count(self.gpus, "GPU")] if self.gpus else []
        memory = [f"{self.memory:,} MB"] if self.memory else []
        return f"{listed([count(self.cpus, 'core'), *gpus, *memory])} of one node"


def fits_now(cluster: Cluster) -> list[Fit]:
    """Return what fits now in each partition that is up: whole nodes, the fewer the longer, and a part of a node."""
    fits = [fit for each in cluster.partitions if each.state == "UP" for fit in _sizes(cluster, each)]
    ghosts = [_ghost(fit, f"{ID} {number}") for number, fit in enumerate(fits)]
    if not fits or (made := plan_before(cluster, ghosts)) is None:
        return []
    plan, numbers = made
    limits = {each.name: each.max_time or UNLIMITED for each in cluster.partitions}
    longest, found = dict[tuple[str, bool, int], float](), []
    for ghost, fit in zip(ghosts, fits, strict=True):
        seconds = plan.longest_now(numbers[ghost.id], limits[fit.partition]) if ghost.id in numbers else 0.0
        key = fit.partition, not fit.nodes, fit.gpus  # more nodes come first; fewer say nothing new if not longer
        if seconds > longest.get(key, 0.0):
            longest[key] = seconds
            found.append(fit._replace(seconds=seconds))
    return found


def _sizes(cluster: Cluster, partition: Partition) -> Iterator[Fit]:
    nodes = [cluster.node_of[name] for name in partition.nodes if name in cluster.node_of]
    free = [(node, free_on(cluster, node)) for node in nodes if not node.is_gone]
    most = min(sum(has.cores == node.cpus for node, has in free), partition.max_nodes or len(nodes))
    sizes = {size for size in range(1, most + 1) if size <= MOST_SINGLE or not size & (size - 1)} | ({most} - {0})
    for size in sorted(sizes, reverse=True):
        yield Fit(partition.name, size, size, 0, 0, 0.0)
    parts = [has._replace(memory=has.memory * bool(node.memory)) for node, has in free if has.cores and has.memory]
    if partition.is_exclusive or not parts:
        return
    cores, memory, _ = max(parts)
    yield Fit(partition.name, 0, cores, 0, memory, 0.0)
    gpus, memory = max((has.gpus, has.memory) for has in parts)
    if gpus:
        yield Fit(partition.name, 0, 1, gpus, memory, 0.0)


def _ghost(fit: Fit, id: str) -> ClusterJob:
    nodes = max(fit.nodes, 1)
    return ClusterJob(
        id, id, "PENDING", partition=fit.partition, cpus=fit.cpus, nodes_wanted=nodes, most_nodes=nodes, limit=60.0,
        gpus=fit.gpus, is_exclusive=bool(fit.nodes), priority=-1, memory=fit.memory,
        tres=f"cpu={fit.cpus},mem={fit.memory}M,node={nodes}",
    )  # fmt: skip


def fit_lines(cluster: Cluster, fits: list[Fit]) -> Iterator[str]:
    """Yield a line for each partition on what fits there now, and for how long."""
    if cluster.is_private:
        yield "The jobs of other users are hidden here, so what fits is not known."
        return
    limits = {each.name: each.max_time for each in cluster.partitions}
    yield "What fits now, and for how long, without delaying a job that waits:"
    for each in cluster.partitions:
        own = [fit for fit in fits if fit.partition == each.name]
        told = [f"{fit.asks} for {span(fit.seconds)}{_end(fit, limits[each.name])}" for fit in own]
        none = "nothing" if each.state == "UP" else f"nothing: it is {each.state.lower()}"
        yield f"{printable(each.name)}: {', '.join(told) or none}"


def _end(fit: Fit, limit: float | None) -> str:
    if fit.seconds >= UNLIMITED and limit is None:
        return " or more"
    return " (its limit)" if fit.seconds == limit else ""
