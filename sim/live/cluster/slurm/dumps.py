"""Pictures of a cluster from files: a series of `squeue --json` of any version, with answers of sacct and scontrol."""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from sim.live.cluster.slurm import text
from sim.live.cluster.slurm.adapter import ended_of
from sim.live.cluster.slurm.parsers import jobs_in, moment_of
from sim.live.cluster.values import Cluster, ClusterJob, Node
from sim.support.errors import TraceError
from sim.support.files import TextKind, most_unpacked

QUARTER = 900.0
"""Seconds of which the distance of a time zone from UTC is a multiple."""
TIMES = "submit", "eligible", "start", "end"
DUMP = TextKind("dump of Slurm", 2**30, TraceError)
_MOMENT = re.compile(r"(?<!\d)(\d{10}(?:\.\d{1,6})?)(?!\d)")
_NODES: dict[str, Callable[[str], Any]] = {
    "nodes": text.nodes, "partitions": text.partitions, "reservations": text.reservations, "parts": text.priority_parts,
}  # fmt: skip
_FIRST = {
    "NodeName=": "nodes", "PartitionName=": "partitions", "ReservationName=": "reservations",
    "No reservations": "reservations", "JOBID PARTITION": "parts",
}  # fmt: skip
"""For the first words of an answer of Slurm: the field of `Cluster` that it is about."""


@dataclass
class Dumps:
    """Contents of files with answers of Slurm, by the times at which they were given."""

    polls: dict[float, Cluster] = field(default_factory=dict)
    """Pictures by their times, with jobs only."""
    others: dict[str, dict[float, Any]] = field(default_factory=dict)
    """For each other field of a picture: its values by their times."""
    ended: list[ClusterJob] = field(default_factory=list)
    """Ended jobs of sacct, with times as if its zone was UTC."""

    def add(self, path: Path) -> bool:
        """Add a file; return False if it holds nothing that is read here. Raise `TraceError` if it is damaged."""
        told = _content(path)
        first, at = told[:200].lstrip(), _MOMENT.search(path.name)
        if first.startswith("{"):
            try:
                found = json.loads(told)
            except (ValueError, RecursionError):
                raise TraceError("is no JSON of squeue", path) from None
            if not isinstance(found.get("jobs"), list):
                return False
            time = float(at[1]) if at else moment_of(found) or path.stat().st_mtime
            slurm = _record(_record(found, "meta"), "slurm")
            name = slurm["cluster"] if isinstance(slurm.get("cluster"), str) else "cluster"
            self.polls[time] = Cluster(time, name[: text.MOST_LETTERS], jobs=jobs_in(found, path))
        elif first.startswith("JobID|"):
            self.ended += _accounted(told)
        elif what := next((what for words, what in _FIRST.items() if first.startswith(words)), ""):
            self.others.setdefault(what, {})[float(at[1]) if at else 0.0] = _NODES[what](told)
        else:
            return False
        return True

    def pictures(self) -> Iterator[Cluster]:
        """Yield the pictures in order of time. Each has the jobs that ended since the one before, by sacct."""
        every = [self.polls[time] for time in sorted(self.polls)]
        ended, before, cores = self.history(), 0.0, dict[str, int]()
        for cluster in every:  # without an answer about nodes, they are as large as what jobs held on them
            for name, cpus in cluster.taken.items():
                cores[name] = max(cpus, cores.get(name, 1))
        nodes = tuple(Node(name, cores[name]) for name in sorted(cores))
        for cluster in every:
            parts = {what: _latest(values, cluster.at) for what, values in self.others.items()}
            new = [job for job in ended if before < (job.end or 0.0) <= cluster.at and job.id not in cluster.job_of]
            jobs = (*cluster.jobs, *(new if before else ()))
            yield replace(cluster, jobs=jobs, **{"nodes": nodes, **parts})
            before = cluster.at

    def history(self) -> list[ClusterJob]:
        """Return the ended jobs of sacct. Its zone is found by the jobs that squeue lists, too; otherwise it is UTC."""
        submitted = {job.id: job.submit for cluster in self.polls.values() for job in cluster.jobs}
        off = [submitted[job.id] - job.submit for job in self.ended if submitted.get(job.id) and job.submit]
        by = round(median(off or [0.0]) / QUARTER) * QUARTER

        return [
            replace(job, **{name: time + by for name in TIMES if (time := getattr(job, name)) is not None})
            for job in self.ended
        ]


def read_dumps(paths: Iterable[Path]) -> tuple[Dumps, int]:
    """Return the contents of files and of all files in folders, and the number of files that nothing was read from."""
    found, ignored = Dumps(), 0
    for path in paths:
        inside = [Path(folder, name) for folder, _, names in os.walk(path) for name in names]
        for file in sorted(inside) if os.path.isdir(path) else [path]:
            ignored += not found.add(file)
    if not found.polls:
        raise TraceError("holds no list of jobs; make one with squeue --json", next(iter(paths), ""))
    return found, ignored


def _content(path: Path) -> str:
    data = DUMP.bytes_in(path)
    if data[:2] == b"\x1f\x8b":
        unpacker = zlib.decompressobj(31)
        try:
            data = unpacker.decompress(data, most_unpacked(len(data)))
        except zlib.error as error:
            raise TraceError(f"is damaged gzip ({error})", path) from None
        if not unpacker.eof:
            raise TraceError("is damaged gzip, or too large when unpacked", path)
    return DUMP.text(data, path)


def _record(found: Any, key: str) -> dict[str, Any]:
    value = found.get(key)
    return value if isinstance(value, dict) else {}


def _accounted(told: str) -> Iterator[ClusterJob]:
    """Yield the ended jobs in the output of sacct -P; lines with another number of columns are left out."""
    head, *lines = told.splitlines()
    names = head.split("|")
    for line in lines:
        if len(fields := line.split("|")) == len(names):
            job = ended_of(dict(zip(names, fields, strict=True)))
            if job is not None and "." not in job.id:
                yield job


def _latest(values: dict[float, Any], at: float) -> Any:
    return values[max((time for time in values if time <= at), default=min(values))]
