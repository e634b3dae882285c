"""Parser of `squeue --json`: numbers are plain (22.05), or `{set, infinite, number}` (formats 40 to 45)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from sim.live.cluster.slurm.text import MOST_LETTERS, gpus_of
from sim.live.cluster.values import WAITING, ClusterJob, Cores
from sim.support.errors import TraceError
from sim.workload.formats.sacct import tasks
from sim.workload.formats.slurm_text import hosts
from sim.workload.formats.table import number

Record = dict[str, Any]


def moment_of(found: Record) -> float | None:
    """Return the time of the answer in JSON of squeue, in seconds since 1970; None if it is missing (22.05)."""
    return _number(found, "last_update") or None


def jobs_in(found: object, path: object) -> tuple[ClusterJob, ...]:
    listed = found.get("jobs") if isinstance(found, dict) else None
    if not isinstance(listed, list):
        raise TraceError("holds no list of jobs; make it with squeue --json", path)
    known = (record for record in listed if isinstance(record, dict) and _number(record, "job_id") is not None)
    return tuple(task for record in known for task in _each_task(_job(record)))


def _each_task(job: ClusterJob) -> Iterable[ClusterJob]:
    """Yield a job for each waiting task of an array's record, otherwise the job itself."""
    return (replace(job, id=task) for task in tasks(job.id)) if "[" in job.id else (job,)


def _job(record: Record) -> ClusterJob:
    job, array, task = (_number(record, key) for key in ("job_id", "array_job_id", "array_task_id"))
    limit = _number(record, "time_limit")
    tasks, het = _text(record, "array_task_string"), _number(record, "het_job_id")
    name = f"{job:.0f}"
    if het:
        name = f"{het:.0f}+{_number(record, 'het_job_offset') or 0:.0f}"
    elif array and tasks:
        name = f"{array:.0f}_[{tasks}]"
    elif array and task is not None:
        name = f"{array:.0f}_{task:.0f}"
    asked = _text(record, "tres_alloc_str") or _text(record, "tres_req_str")
    most, state = _number(record, "max_nodes"), _state(record.get("job_state"))
    return ClusterJob(
        id=name,
        number=f"{job:.0f}",
        state=state,
        name=_text(record, "name")[:MOST_LETTERS],
        reason="" if (reason := _text(record, "state_reason")) == "None" else reason,
        memory=int(_number(record, "memory_per_node") or _number(record, "memory_per_cpu") or 0),
        gpus=gpus_of(asked),
        limit=None if limit is None else limit * 60,
        submit=_number(record, "submit_time") or 0.0,
        cores=tuple(_cores(record.get("job_resources"))),
        array=f"{array:.0f}" if array else "",
        tres=asked[:MOST_LETTERS],
        is_exclusive=record.get("shared") in ("none", ["none"]),
        most_nodes=int(most) if most is not None and state in WAITING else None,
        **{name: read(record, key) for name, (key, read) in _FIELDS.items()},
    )


def _number(record: Record, key: str) -> float | None:
    """Return the number in a field, in any form that Slurm writes; None if it is unset or infinite."""
    value = record.get(key)
    if isinstance(value, dict):
        value = value.get("number") if value.get("set") and not value.get("infinite") else None
    return number(value) if isinstance(value, (int, float)) else None


def _text(record: Record, key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


def _count(record: Record, key: str) -> int:
    return int(_number(record, key) or 0)


def _time(record: Record, key: str) -> float | None:
    return _number(record, key) or None


def _hosts(record: Record, key: str) -> tuple[str, ...]:
    return hosts(_text(record, key))


_FIELDS: Mapping[str, tuple[str, Callable[[Record, str], Any]]] = {
    "user": ("user_name", _text), "account": ("account", _text), "partition": ("partition", _text),
    "qos": ("qos", _text), "cpus": ("cpus", _count), "nodes_wanted": ("node_count", _count),
    "eligible": ("eligible_time", _time), "start": ("start_time", _time), "end": ("end_time", _time),
    "priority": ("priority", _count), "nodes": ("nodes", _hosts), "planned_nodes": ("scheduled_nodes", _hosts),
    "dependency": ("dependency", _text), "reservation": ("resv_name", _text),
    "workdir": ("current_working_directory", _text), "at_once": ("array_max_tasks", _count),
}  # fmt: skip
"""Field of a job -> (key in the JSON, function that reads it)"""


def _state(value: object) -> str:
    states = value if isinstance(value, list) else [value]
    return next((state for state in states if isinstance(state, str)), "")


def _cores(resources: object) -> Iterator[Cores]:
    if not isinstance(resources, dict):
        return
    nodes = resources.get("nodes")
    listed = nodes.get("allocation") if isinstance(nodes, dict) else resources.get("allocated_nodes")
    for node in listed if isinstance(listed, list) else ():
        if not isinstance(node, dict) or (isinstance(sockets := node.get("sockets"), dict) and set(sockets) - {"0"}):
            continue  # up to parser 40 only allocated cores are listed, so a second socket begins anywhere
        if mask := _mask(sockets):
            yield Cores(str(node.get("name") or node.get("nodename") or ""), mask)


def _mask(sockets: object) -> int:
    mask = base = 0
    for _, socket in _numbered(sockets):
        cores = list(_numbered(socket.get("cores") if isinstance(socket, dict) else None))
        for at, core in cores:
            status = core.get("status") if isinstance(core, dict) else core
            words = status if isinstance(status, list) else [status]
            if "allocated" in {str(word).lower() for word in words} and base + at < 4096:
                mask |= 1 << (base + at)
        base += max((at + 1 for at, _ in cores), default=0)
    return mask


def _numbered(found: object) -> Iterable[tuple[int, Any]]:
    if isinstance(found, dict):
        yield from ((int(key), value) for key, value in found.items() if key.isdecimal() and len(key) < 5)
    elif isinstance(found, list):
        for at, value in enumerate(found):
            index = value.get("index") if isinstance(value, dict) else None
            yield index if isinstance(index, int) and 0 <= index < 4096 else at, value
