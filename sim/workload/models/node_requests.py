"""Machines of nodes as typed on the command line, and random requests of a model's jobs, written as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from sim.support.errors import ParameterError
from sim.workload.formats.nodes import MOST_NODES, NODE_WORDS
from sim.workload.model import Field, Trace
from sim.workload.options import MOST_PROCS

_ENTRY = re.compile(r"(\d{1,6})x(\d{1,6})c((?:,\d{1,9}(?:g|[a-z]{2,20}))*)")
_MB = 1024
_SHARES = (0.25, 0.5, 0.5, 1.0, 1.0, 2.0, 4.0)
"""Memory per core of random jobs as multiples of the node's; multiples above 1 leave cores without memory."""
_GPU_JOBS, _EXCLUSIVE = 0.15, 0.03
"""Share of the jobs that request a GPU, if nodes have any, and share of the jobs that request whole nodes."""


def parse_nodes(text: str) -> list[dict[str, Any]]:
    """Return groups of equal nodes: count, cores, mem (in MB), and the amount of any other resource by name.

    >>> parse_nodes("100x64c,256g,4gpu 2x8c")
    [{'count': 100, 'cores': 64, 'mem': 262144, 'gpu': 4}, {'count': 2, 'cores': 8, 'mem': 0}]
    """
    found = []
    for word in text.split():
        match = _ENTRY.fullmatch(word)
        if match is None or not int(match[1]) or not int(match[2]):
            raise ParameterError(f"nodes are written like 100x64c,256g,4gpu, got {word[:60]!r}")
        entry = {"count": int(match[1]), "cores": int(match[2]), "mem": 0}
        amounts = re.findall(r"(\d+)([a-z]+)", match[3])
        kinds = [unit.removesuffix("s") for _, unit in amounts]
        if wrong := next((kind for kind in kinds if {kind, f"{kind}s"} & NODE_WORDS or kinds.count(kind) > 1), ""):
            raise ParameterError(f"in {word[:60]!r} {wrong!r} must be the name of a resource, and stand once")
        for amount, unit in amounts:
            entry["mem" if unit == "g" else unit] = int(amount) * (_MB if unit == "g" else 1)
        found.append(entry)
    if not found or cores_of(found) > MOST_PROCS:
        raise ParameterError(f"a machine has from 1 to {MOST_PROCS:,} cores; nodes are written like 100x64c,256g,4gpu")
    if (many := sum(entry["count"] for entry in found)) > MOST_NODES:
        raise ParameterError(f"a machine has at most {MOST_NODES:,} nodes, got {many:,}")
    return found


def cores_of(nodes: list[dict[str, Any]]) -> int:
    return sum(entry["count"] * entry["cores"] for entry in nodes)


def as_json(trace: Trace, nodes: list[dict[str, Any]], seed: int) -> str:
    jobs = list(_jobs(trace, nodes, np.random.default_rng(seed + 3)))
    lines = ",\n".join(json.dumps(job) for job in jobs)
    return f'{{"nodes": {json.dumps(nodes)},\n"placement": "best",\n"jobs": [\n{lines}\n]}}\n'


def _jobs(trace: Trace, nodes: list[dict[str, Any]], draw: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Yield each job as a JSON object; it requests tasks of one core each, or nodes with one GPU on each."""
    names = trace.names.get(Field.USER, ())
    with_gpus = [entry for entry in nodes if entry.get("gpu")]
    for name, row in zip(trace.ids, trace.table, strict=True):
        width, of_job = int(row[Field.PROCS_ASKED]), draw.random(3)
        entry = nodes[int(of_job[0] * len(nodes))]
        job: dict[str, Any] = {"id": name, "submit": float(row[Field.SUBMIT]), "run": float(row[Field.RUN])}
        if row[Field.ESTIMATE] > 0:
            job["estimate"] = float(row[Field.ESTIMATE])
        if (user := int(row[Field.USER])) >= 0:
            job["user"] = names[user] if user < len(names) else str(user)
        if with_gpus and of_job[1] < _GPU_JOBS:
            host = with_gpus[int(of_job[0] * len(with_gpus))]
            fitting = [one for one in with_gpus if one["cores"] >= min(width, host["cores"])]
            many = min(
                -(-width // host["cores"]), sum(one["count"] for one in fitting if 8 * one["mem"] >= host["mem"])
            )
            job |= {"nodes": many, "cores": min(width, host["cores"]), "mem": host["mem"] // 8, "gpu": 1}
        else:
            share = _SHARES[int(of_job[2] * len(_SHARES))]
            job |= {"tasks": width, "cores": 1, "mem": int(share * entry["mem"] / entry["cores"])}
            if share > 1 and width * job["mem"] > sum(one["count"] * one["mem"] for one in nodes) // 2:
                job["mem"] = int(entry["mem"] / entry["cores"] / 2)
            while _room(nodes, job["mem"]) < width:
                job["mem"] //= 2
        if of_job[1] > 1 - _EXCLUSIVE:
            job["exclusive"] = True
        yield job


def _room(nodes: list[dict[str, Any]], memory: int) -> int:
    return sum(one["count"] * min(one["cores"], one["mem"] // memory if memory else one["cores"]) for one in nodes)
