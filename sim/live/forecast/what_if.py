"""Answers to what-if questions: when a job would start with another request, and which jobs later."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from sim.live.cluster.constraints import misfit, partitions_of
from sim.live.cluster.values import NEVER, Cluster, ClusterJob
from sim.live.forecast.expected import Expected, expected, trimmed, why_unknown
from sim.live.forecast.past import PastJobs
from sim.support.errors import ParameterError
from sim.support.formatting import count, listed, parse_time, printable, quoted, span

WORDS = ("time", "cpus", "nodes", "mem", "gpus", "partition", "exclusive")
FELT = 60.0
"""Smallest difference in seconds between two starts that counts as earlier or later."""
MOST_ANSWERS = 8
MOST_NAMED = 3
_MEMORY = re.compile(r"(\d{1,12})([kmgt]?)b?", re.IGNORECASE)
_IN_MB = {"k": 1 / 1024, "": 1, "m": 1, "g": 1024, "t": 1024**2}


class Answer(NamedTuple):
    change: str
    before: Expected | None
    after: Expected | None
    later: tuple[tuple[str, float], ...]
    """Other jobs that the change delays, as (job id, seconds), the most delayed first."""
    earlier: int
    """Number of other jobs that would start earlier because of the change."""
    why: str = ""
    """Reason why there is no forecast for the job; "" if there is one."""

    @property
    def gain(self) -> float:
        """Return the seconds by which the job would start earlier with the change; 0 if unknown."""
        return 0.0 if self.before is None or self.after is None else delay(self.after, self.before)


def delay(before: Expected, after: Expected) -> float:
    """Return the delay from `before` to `after` in seconds: the mean of the delays of the middle and latest start."""
    return (after.middle - before.middle + after.high - before.high) / 2


def parse_change(text: str, job: ClusterJob, widest: int = 1) -> ClusterJob:
    """Return the job with the request changed as `text` says, such as `time=30m cpus=8`. `widest` is the largest number
    of cores of a node of its partitions.
    """
    made = job
    for word, value in parts_of(text, "--if"):
        made = changed_by(made, word, value, widest)
    if made is job:
        raise ParameterError("--if changes nothing; say for example 'time=30m cpus=8'")
    return made


def parts_of(text: str, option: str) -> list[tuple[str, str]]:
    """Return the (word, value) pairs in the text of an option, such as `time=30m cpus=8`."""
    parts = []
    for part in text.replace(",", " ").split():
        word, equals, value = part.partition("=")
        if word not in WORDS or not equals:
            raise ParameterError(f"{option} takes {', '.join(WORDS)}, as in 'time=30m cpus=8'; got {quoted(part)}")
        parts.append((word, value))
    return parts


def changed_by(job: ClusterJob, word: str, value: str, widest: int) -> ClusterJob:
    if word == "partition":
        reason = "" if job.reason.startswith("Partition") else job.reason  # it was about the partition before
        return replace(job, partition=value, reason=reason)
    if word == "exclusive":
        if value not in ("yes", "no"):
            raise ParameterError(f"exclusive must be yes or no, got {quoted(value)}")
        return replace(job, is_exclusive=value == "yes")
    if word == "time":
        limit = parse_time(value)
        if limit <= 0:
            raise ParameterError(f"time must be longer than 0, got {quoted(value)}")
        return replace(job, limit=limit)
    if word == "mem":
        memory = _megabytes(value)
        return replace(job, memory=memory, tres=_with(job.tres, "mem", f"{memory * max(job.nodes_wanted, 1)}M"))
    if not value.isascii() or not value.isdecimal() or len(value) > 7 or (word != "gpus" and not int(value)):
        raise ParameterError(f"{word} must be a whole number, got {quoted(value)}")
    number = int(value)
    if word == "gpus":
        return replace(job, gpus=number, tres=_with(job.tres, "gres/gpu", str(number * max(job.nodes_wanted, 1))))
    if word == "nodes":
        tres = _with(job.tres, "node", value)
        return replace(job, nodes_wanted=number, cpus=max(job.cpus, number), tres=tres)
    tres = _with(job.tres, "cpu", value)
    if (total := re.search(r"(?:^|,)mem=(\d{1,15})([KMGT]?)", job.tres)) is not None:
        tres = _with(tres, "mem", f"{-(-int(total[1]) * number // max(job.cpus, 1))}{total[2]}")
    nodes = max(job.nodes_wanted, 1)
    if job.may_spread:  # they are as few as the cores fill, not what its user asked for
        nodes = min(-(-nodes * number // max(job.cpus, 1)), -(-number // widest))
        tres = _with(tres, "node", str(nodes))
    return replace(job, cpus=number, nodes_wanted=min(nodes, number), tres=tres)


def _megabytes(value: str) -> int:
    """Return memory per node in MB from text such as 4g or 500m."""
    found = _MEMORY.fullmatch(value)
    if found is None:
        raise ParameterError(f"mem is memory per node, such as 4g or 500m, got {quoted(value)}")
    return int(int(found[1]) * _IN_MB[found[2].lower()])


def _with(tres: str, kind: str, value: str) -> str:
    """Return the resources `tres` (in Slurm's notation) with the amount of the resource `kind` replaced by `value`. An
    empty `tres` stays empty.

    >>> _with("cpu=4,mem=4000M,node=1", "cpu", "2"), _with("", "cpu", "2")
    ('cpu=2,mem=4000M,node=1', '')
    """
    if not tres:
        return tres
    others = [part for part in tres.split(",") if not part.startswith(f"{kind}=")]
    return ",".join([f"{kind}={value}", *others])


def answer(
    cluster: Cluster, job: ClusterJob, changed: ClusterJob, past: PastJobs, change: str, before: Mapping[str, Expected]
) -> Answer:
    """Return the answer to the question what happens if `job` has the request of `changed`. `before` is a mapping from
    the id of each job to its expected start without the change. It is the forecast that the reader sees.

    `change` is the change as text.
    """
    if told := misfit(cluster, changed):
        return Answer(change, before.get(job.id), None, (), 0, f"it {told}")
    states = {each.state for each in partitions_of(cluster, changed)}
    if changed.partition != job.partition and states and "UP" not in states:
        why = f"partition {changed.partition} is {listed(sorted(state.lower() for state in states))}"
        return Answer(change, before.get(job.id), None, (), 0, why)
    asked = replace(cluster, jobs=tuple(changed if each.id == job.id else each for each in cluster.jobs))
    found = expected(trimmed(asked), past)
    own = found.get(job.id)
    if own is None:
        is_never = changed.reason.partition(",")[0] in NEVER
        why = "it could still never start" if is_never else why_unknown(asked, changed)
        return Answer(change, before.get(job.id), None, (), 0, why)
    moves = {id: delay(start, found[id]) for id, start in before.items() if id in found and id != job.id}
    later = sorted(((id, by) for id, by in moves.items() if by > FELT), key=lambda move: -move[1])
    return Answer(change, before.get(job.id), own, tuple(later), sum(by < -FELT for by in moves.values()))


def what_if(cluster: Cluster, job: ClusterJob, text: str, past: PastJobs, before: Mapping[str, Expected]) -> Answer:
    """Return the answer to one what-if question about the job; `text` is the change of its request, such as `time=30m
    cpus=8`, and `before` as in `answer`.
    """
    asks = _may_start(cluster, job)
    changed = parse_change(text, asks, widest_of(cluster, job))
    known = [each.name for each in cluster.partitions]
    if changed.partition != job.partition and known and changed.partition not in known:
        raise ParameterError(f"there is no partition {quoted(changed.partition)}; there are {listed(known)}")
    return answer(cluster, asks, changed, past, " ".join(text.split()), before)


def _may_start(cluster: Cluster, job: ClusterJob) -> ClusterJob:
    """Return the job as it is to be changed. If it can never start because no partition meets its request, it loses
    this reason, which a change may remove.
    """
    is_never = job.reason.partition(",")[0] in NEVER and misfit(cluster, job)
    return replace(job, reason="") if is_never else job


def widest_of(cluster: Cluster, job: ClusterJob) -> int:
    """Return the largest number of cores of a node of the job's partitions; 1 if its nodes are not known."""
    names = {name for each in partitions_of(cluster, job) for name in each.nodes}
    return max((node.cpus for node in cluster.nodes if node.name in names), default=1)


def questions(cluster: Cluster, job: ClusterJob, past: PastJobs) -> Iterator[str]:
    """Yield changes of the request, as text, that may let a job start earlier, such as a shorter limit."""
    if job.limit:
        times = [job.limit / 2, job.limit / 4]
        usual = past.length(job, 0.9)
        if usual is not None and 60 <= usual < 0.9 * job.limit:
            times.insert(0, usual)
        limits = (int(-(-time // 60)) * 60 for time in times if time >= 60)
        yield from (f"time={limit}" for limit in dict.fromkeys(limits) if limit < job.limit)
    least = 1 if job.may_spread else max(job.nodes_wanted, 1)
    yield from (f"cpus={job.cpus // part}" for part in (2, 4) if job.cpus >= least * part)
    if job.memory > 1:
        yield f"mem={job.memory // 2}m"
    if job.gpus > 1:
        yield f"gpus={job.gpus // 2}"
    if job.is_exclusive and not all(each.is_exclusive for each in partitions_of(cluster, job)):
        yield "exclusive=no"
    own = job.partition.split(",")
    yield from (f"partition={each.name}" for each in cluster.partitions if each.state == "UP" and each.name not in own)


def answers(cluster: Cluster, job: ClusterJob, past: PastJobs, before: Mapping[str, Expected]) -> list[Answer]:
    """Return the answers for those changes that would let the job start earlier, the largest gain first; `before` is as
    in `answer`. For a job without an expected start these are the changes with which it would start.
    """
    asks, texts, widest = _may_start(cluster, job), questions(cluster, job, past), widest_of(cluster, job)
    found = (answer(cluster, asks, parse_change(text, asks, widest), past, text, before) for text in texts)
    if job.id not in before:
        kinds = {each.change.partition("=")[0]: each for each in reversed(list(found)) if each.after is not None}
        return list(reversed(kinds.values()))[:MOST_ANSWERS]
    useful: list[Answer] = []
    for each in found:  # a larger change of the same kind must gain more
        kind = each.change.partition("=")[0]
        least = max((other.gain for other in useful if other.change.startswith(f"{kind}=")), default=0.0)
        if each.gain > least + FELT:
            useful.append(each)
    return sorted(useful, key=lambda each: -each.gain)[:MOST_ANSWERS]


def later_lines(told: Answer) -> Iterator[str]:
    if told.later:
        named = listed((f"J{printable(id)} by {span(by)}" for id, by in told.later), most=MOST_NAMED)
        yield f"{count(len(told.later), 'other job')} would start later: {named}."
    elif told.gain >= FELT:
        yield f"No other job would start more than {span(FELT)} later."
    if told.earlier:
        yield f"{count(told.earlier, 'other job')} would start earlier."


def in_words(text: str) -> str:
    """Return a change of a request in words.

    >>> in_words("time=1800 cpus=8"), in_words("partition=short")
    ('a limit of 30m00, 8 cores', 'partition short')
    """
    return ", ".join(_IN_WORDS[word](value) for word, _, value in (part.partition("=") for part in text.split()))


_IN_WORDS: Mapping[str, Callable[[str], str]] = {
    "time": lambda value: f"a limit of {span(parse_time(value))}",
    "cpus": lambda value: count(int(value), "core"),
    "nodes": lambda value: count(int(value), "node"),
    "mem": lambda value: f"{f'{_megabytes(value):,} MB' if value[-1:] == 'm' else value} of memory",
    "gpus": lambda value: count(int(value), "GPU"),
    "exclusive": lambda value: "whole nodes (--exclusive)" if value == "yes" else "shared nodes (no --exclusive)",
    "partition": lambda value: f"partition {value}",
}
"""Part of a request (of `WORDS`) -> function that says its value in words"""
