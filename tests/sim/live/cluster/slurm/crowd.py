"""A made-up large cluster in Slurm's own output: captured rows are repeated with other job numbers and nodes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import cycle, islice

from sim.live.cluster.slurm import text
from tests.sim.live.cluster.slurm.answers import Captured

VERSION = "24.11"


class Crowd(Captured):
    """Commands of a made-up cluster of `nodes` nodes, each with two running jobs, and `waiting` waiting jobs."""

    def __init__(self, nodes: int, waiting: int) -> None:
        super().__init__(VERSION)
        captured = {job.id: job for job in text.jobs(self._parts["squeue"])}
        rows = [line for line in self._parts["squeue"].splitlines() if line.partition("|")[0] in captured]
        queue = [row for row in rows if row.split("|")[3] == "PENDING"]
        queued = (renumbered(row, 1_000_000 + number) for number, row in enumerate(islice(cycle(queue), waiting)))
        running = [row for row in rows if captured[row.partition("|")[0]].nodes and row.split("|")[3] == "RUNNING"]
        held = (on_node(row, number, number % nodes + 1) for number, row in zip(range(2 * nodes), cycle(running)))
        (node, *_) = self._parts["node"].splitlines()
        header, *points = self._parts["sprio"].splitlines()
        numbers = range(1_000_000, 1_000_000 + waiting)
        self._parts = {
            **self._parts,
            "squeue": _lines([*held, *queued]),
            "node": _lines(node.replace("Name=n1 ", f"Name=n{number} ") for number in range(1, nodes + 1)),
            "job": _lines(_cores(number, nodes) for number in range(2 * nodes)),
            "sprio": _lines(
                [header, *(re.sub(r"\d+", str(number), row, count=1) for number, row in zip(numbers, cycle(points)))]
            ),
        }


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _cores(number: int, nodes: int) -> str:
    """Return the output of `scontrol -d show job` on the cores of running job `number`; each node has two such jobs."""
    first = 2 * (number // nodes)
    return f"JobId={number} JobName=x\n   Nodes=n{number % nodes + 1} CPU_IDs={first}-{first + 1} Mem=0"


def renumbered(row: str, number: int) -> str:
    """Return the squeue row with another job number."""
    fields = row.split("|")
    fields[0] = fields[1] = fields[2] = str(number)
    return "|".join(fields)


def on_node(row: str, number: int, node: int) -> str:
    """Return the squeue row with another job number, as that of a job with two cores of this node."""
    fields = renumbered(row, number).split("|")
    fields[list(text.COLUMNS).index("cpus")] = "2"
    fields[list(text.COLUMNS).index("nodes")] = f"n{node}"
    return "|".join(fields)
