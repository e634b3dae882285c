"""Jobs of a trace in JSON for a machine of nodes: what each entry of the file requests.

The entries come from outside and may be damaged: numbers are bounded, and a damaged entry has no request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sim.workload.fidelity import UNMODELLED
from sim.workload.follows import Dependencies
from sim.workload.formats.table import JobRows, number
from sim.workload.model import Field
from sim.workload.options import MOST_PROCS
from sim.workload.shape import Request, Shape

MOST_AMOUNT = 2**40
"""Largest amount of a resource on a node or in a request; a million times it still fits into 64 bits."""
MOST_TASKS = 2**20
_APART = {
    "id", "submit", "run", "estimate", "user", "account", "begin", "name", "dependency", "fails", "qos", "array",
    "at_once", "reservation",
}  # fmt: skip
"""Words of a job's entry that do not change its request of nodes"""
_WORDS = _APART | {
    "exclusive", "nodes", "tasks", "cores", "cpus", "mem", "memory", "mem_node", "least_nodes", "most_nodes",
    "features", "partitions",
}  # fmt: skip


def after_awaited(jobs: list[Any], rows: JobRows) -> Iterator[tuple[int, Any]]:
    """Yield (place in the file, from 1; job) in order of the file, but each job after the jobs that it waits for."""
    if not any(isinstance(job, dict) and job.get("dependency") for job in jobs):
        return enumerate(jobs, start=1)
    waits = Dependencies()
    for at, job in enumerate(jobs, start=1):
        known = job if isinstance(job, dict) else {}
        waits.add(str(known.get("id", at))[:64], str(known.get("dependency", "")))
    order = [at + 1 for at in waits.order()]
    for circular in waits.circular:
        rows.assumed.add(f"{UNMODELLED} dependencies of jobs that wait for each other", f"job {circular}")
    return ((at, jobs[at - 1]) for at in order)


def values_of(job: Mapping[str, Any], request: Request) -> dict[Field, float] | None:
    """Return the numbers of a job by field; None if its entry in the file is damaged."""
    submit, run = number(job.get("submit")), number(job.get("run"))
    if submit is None or run is None:
        return None
    submit = max(submit, number(job.get("begin")) or submit)
    estimate = number(job.get("estimate"))
    return {
        Field.SUBMIT: submit,
        Field.RUN: run,
        Field.PROCS_ASKED: float(request.cores),
        Field.ESTIMATE: -1.0 if estimate is None else estimate,
        Field.STATUS: 0.0 if job.get("fails") is True else -1.0,
    }


class JobEntries:
    """Reads what jobs request of the nodes of a machine. Equal requests are one object."""

    def __init__(self, shape: Shape) -> None:
        self._kinds, self._groups = shape.kinds, {group.name: at for at, group in enumerate(shape.groups)}
        self._read = {*_WORDS, *self._kinds, *(f"{kind}s" for kind in self._kinds)}
        self._known: dict[object, Request | None] = {}

    def unread(self, job: Mapping[str, Any]) -> str:
        """Return a word of the entry that is not read; "" if there is none. An amount of 0 is no request."""
        if self._read.issuperset(job):
            return ""
        return min((word for word in job.keys() - self._read if job[word] != 0), default="")

    def request(self, job: Mapping[str, Any]) -> Request | None:
        """Return what a job requests of the nodes; None if its entry in the file is damaged."""
        about = tuple(
            (word, type(value), tuple(value) if isinstance(value, list) else value)
            for word, value in job.items()
            if word not in _APART
        )
        try:
            if about not in self._known:
                self._known[about] = self._request(job)
        except TypeError:  # something else than words and numbers, which has no hash
            return self._request(job)
        return self._known[about]

    def _request(self, job: Mapping[str, Any]) -> Request | None:
        wanted = {key.removesuffix("s"): value for key, value in job.items() if key not in _WORDS}
        cores, memory = job.get("cores", job.get("cpus", 1)), job.get("mem", job.get("memory", 0))
        asked = {"cores": cores, "memory": memory, **{kind: wanted.get(kind, 0) for kind in self._kinds[2:]}}
        nodes, tasks = job.get("nodes"), job.get("tasks")
        least, most = job.get("least_nodes", 1), job.get("most_nodes")
        once = job.get("mem_node", 0)
        counts = [count for count in (nodes, tasks, least, most) if count is not None]
        if (nodes is None) == (tasks is None) or not all(map(is_amount, [*asked.values(), *counts, once])):
            return None
        units: int = nodes or tasks or 0
        if not 0 < units <= MOST_TASKS or cores < 1 or cores * units > MOST_PROCS:
            return None
        groups = tuple(self._groups[name] for name in words_of(job.get("partitions")) if name in self._groups)
        return Request(
            tuple(asked.values()),
            nodes,
            tasks,
            max(1, min(least, tasks or 1)),  # of two tasks at most two nodes are used, as Slurm has it
            most or None,
            (0, once, *(0 for _ in self._kinds[2:])) if once and tasks is not None else (),
            frozenset(words_of(job.get("features"))),
            job.get("exclusive") is True,
            groups,
        )


def is_amount(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_AMOUNT


def words_of(value: object) -> list[str]:
    words = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    return [word.strip()[:64] for word in words[:1000] if isinstance(word, str) and word.strip()]
