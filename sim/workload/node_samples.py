"""Sample traces on machines of nodes, for lessons: files in JSON with the machine and the jobs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, TypeAlias

from sim.workload.formats import nodes
from sim.workload.model import Trace
from sim.workload.showing import Showing

Entry: TypeAlias = dict[str, Any]
GB = 1024
HOUR, MINUTE = 3600, 60


@dataclass(frozen=True)
class NodesSample:
    """Sample trace for a lesson, on a machine of nodes."""

    name: str
    caption: str
    machine: tuple[Entry, ...]
    partitions: tuple[Entry, ...]
    jobs: tuple[Entry, ...]
    """Jobs as JSON objects without ids; the id of a job is its position, counted from 1."""
    showing: Showing
    notes: tuple[str, ...]

    def text(self) -> str:
        """Return the text of the file: a line for each node, partition and job."""
        jobs = [{"id": str(number), **job} for number, job in enumerate(self.jobs, start=1)]
        parts = {
            "notes": (self.caption, *self.notes), "nodes": self.machine, "partitions": self.partitions, "jobs": jobs,
        }  # fmt: skip
        listed = (f'"{name}": [\n {_lines(entries)}\n]' for name, entries in parts.items())
        return "{" + ",\n".join(listed) + "}\n"

    def trace(self) -> Trace:
        return nodes.read(self.text(), self.name, self.name)


def _lines(entries: Any) -> str:
    return ",\n ".join(map(json.dumps, entries))


def _job(submit: int, run: int, estimate: int, partition: str, **asked: int) -> Entry:
    return {"submit": submit, "run": run, "estimate": estimate, "partitions": [partition], **asked}


NODES_SAMPLES = (
    NodesSample(
        name="full-memory",
        caption="Free cores that no waiting job can use: memory, GPUs, and nodes that are not together",
        machine=(
            {"name": "n[1-2]", "cores": 4, "mem": 16 * GB, "partitions": ["batch"]},
            {"name": "g1", "cores": 4, "mem": 16 * GB, "gpus": 2, "partitions": ["gpu"]},
        ),
        partitions=({"name": "batch"}, {"name": "gpu"}),
        jobs=(
            _job(0, 40 * MINUTE, 40 * MINUTE, "batch", nodes=1, cores=1, mem=14 * GB),
            _job(0, 20 * MINUTE, 20 * MINUTE, "batch", nodes=1, cores=4, mem=8 * GB),
            _job(1 * MINUTE, 10 * MINUTE, 10 * MINUTE, "batch", nodes=1, cores=2, mem=8 * GB),
            _job(2 * MINUTE, 30 * MINUTE, 30 * MINUTE, "gpu", nodes=1, cores=1, mem=2 * GB, gpus=2),
            _job(3 * MINUTE, 10 * MINUTE, 10 * MINUTE, "gpu", nodes=1, cores=1, mem=2 * GB, gpus=1),
            _job(4 * MINUTE, 15 * MINUTE, 15 * MINUTE, "batch", nodes=1, cores=1, mem=1 * GB),
            _job(25 * MINUTE, 10 * MINUTE, 10 * MINUTE, "batch", nodes=2, cores=3, mem=1 * GB),
        ),
        showing=Showing(
            title="A full node with free cores",
            policy="easy",
            at=240,
            note="J3 waits for memory beside three free cores. J6 needs little memory and passes it.",
        ),
        notes=(
            "Try easy, and fcfs to see what backfilling gains on nodes. Dots on grey: free, but of no use.",
            "Two nodes of 4 cores and 16 GB, and one with 2 GPUs in a partition of its own.",
            "Job 1 takes one core of n1 and 14 of its 16 GB. Job 3 asks for 8 GB: three free cores do not help it.",
            "Job 6 asks for 1 GB and passes job 3: it ends at 00:19, before job 2 does.",
            "Job 5 waits for a GPU beside three free cores of g1.",
            "At 00:25 five cores are free in batch, but job 7 needs three on each of two nodes.",
        ),
    ),
    NodesSample(
        name="my-job",
        caption="A morning on a small cluster: why does my job not start?",
        machine=(
            {"name": "n[1-4]", "cores": 8, "mem": 32 * GB, "partitions": ["batch"]},
            {"name": "g1", "cores": 8, "mem": 32 * GB, "gpus": 2, "partitions": ["gpu"]},
        ),
        partitions=({"name": "batch", "max_time": 24 * HOUR}, {"name": "gpu", "max_time": 12 * HOUR}),
        jobs=(
            _job(0, 2 * HOUR, 3 * HOUR, "batch", nodes=1, cores=8, mem=8 * GB),
            _job(0, 1 * HOUR, 90 * MINUTE, "batch", nodes=1, cores=8, mem=8 * GB),
            _job(0, 4 * HOUR, 5 * HOUR, "batch", nodes=1, cores=8, mem=8 * GB),
            _job(0, 3 * HOUR, 4 * HOUR, "batch", nodes=1, cores=4, mem=30 * GB),
            _job(0, 150 * MINUTE, 3 * HOUR, "gpu", nodes=1, cores=1, mem=4 * GB, gpus=2),
            _job(10 * MINUTE, 1 * HOUR, 2 * HOUR, "batch", nodes=2, cores=8, mem=8 * GB),
            _job(15 * MINUTE, 30 * MINUTE, 110 * MINUTE, "batch", nodes=1, cores=4, mem=8 * GB),
            _job(20 * MINUTE, 30 * MINUTE, 4 * HOUR, "batch", nodes=1, cores=4, mem=8 * GB),
            _job(25 * MINUTE, 20 * MINUTE, 30 * MINUTE, "gpu", nodes=1, cores=1, mem=4 * GB, gpus=1),
        ),
        showing=Showing(
            title="Why does my job not start?",
            policy="slurm",
            at=3600,
            note="J7 starts before J6, which is ahead of it. J8 asks for the same cores, but for four hours.",
        ),
        notes=(
            "Try slurm, the policy of most clusters, and conservative.",
            "Four nodes of 8 cores in partition batch, one with 2 GPUs in partition gpu.",
            "Job 6 needs two whole nodes and is the first in batch. Jobs 7 and 8 are equal, but for their time limits.",
            "At 01:00 job 7, which says 110 minutes, starts before job 6. Job 8, which says four, would delay job 6.",
            "Job 8 waits until 03:00 for a run of 30 minutes. Job 9 waits for a GPU beside seven free cores.",
        ),
    ),
)
