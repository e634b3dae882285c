"""Recorded states of real clusters with two versions of Slurm, read by the program's own readers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from sim.live.cluster.slurm import parsers, text
from sim.live.cluster.values import Cluster

SNAP = (
    "id", "number", "array", "task", "state", "reason", "partition", "user", "account", "qos", "cpus", "nodes_wanted",
    "memory", "gpus", "limit", "left", "used", "submit", "end", "start", "priority", "nodes", "planned_nodes",
    "excluded", "why", "dependency", "features", "over", "reservation",
)  # fmt: skip
"""The columns of the captured `squeue -r`, which lacks the names of the jobs."""
VERSIONS = ("v22.05", "v24.11")


@cache
def series(shared: Path, version: str) -> tuple[Cluster, ...]:
    """Return the states of a cluster with this version of Slurm, one after another; one poll in five was recorded."""
    return tuple(_read(shared, version))


def _read(shared: Path, version: str) -> Iterator[Cluster]:
    folder = shared / "slurm" / "captures" / version / "series"
    for file in sorted(folder.glob("*.squeue.json.gz")):
        stem = file.name.removesuffix(".squeue.json.gz")
        yield Cluster(
            at=float(stem),
            name="testbed",
            nodes=text.nodes((folder / f"{stem}.nodes").read_text()),
            reservations=text.reservations((folder / f"{stem}.res").read_text()),
            jobs=parsers.jobs_in(json.loads(gzip.decompress(file.read_bytes())), file),
            parts=text.priority_parts((folder / f"{stem}.sprio").read_text()),
        )


def snap(shared: Path, version: str) -> Cluster:
    """Return the state of a cluster with this version of Slurm at the one time at which the text output of every
    command was captured.
    """
    folder = shared / "slurm" / "captures" / version / "snap1"
    jobs = text.jobs((folder / "squeue-r.txt").read_text(), columns=SNAP)
    return Cluster(
        at=float((folder / "at").read_text()),
        name="testbed",
        nodes=text.nodes((folder / "scontrol-node.txt").read_text()),
        partitions=text.partitions((folder / "scontrol-partition.txt").read_text()),
        reservations=text.reservations((folder / "scontrol-res.txt").read_text()),
        jobs=text.with_details(jobs, text.details_of((folder / "scontrol-job.txt").read_text())),
        parts=text.priority_parts((folder / "sprio.txt").read_text()),
    )
