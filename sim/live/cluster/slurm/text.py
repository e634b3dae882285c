"""Parser of the text output of Slurm's commands, which is the same from 22.05 on. Long text is cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from sim.live.cluster.values import ClusterJob, Cores, Node, Partition, Reservation
from sim.workload.formats.sacct import duration, stamp
from sim.workload.formats.slurm_text import NOT_YET, WHOLE, gives_whole_nodes, hosts, records, states

MOST_LETTERS = 200
"""Most characters of a name or of free text; lists of nodes and dependencies may be longer."""
_ROW = re.compile(r"\d+(_(\d+|\[[^|]*\]))?(\+\d+)?\|", re.ASCII)
_AFTER_NAME = re.compile(r"\sUserId=\S+ GroupId=")
"""Text after a job's name; the last match counts, because a name may contain it."""
_FIELD = re.compile(r"(?<=\s)(\w+)=(\S*)")
_STATE = re.compile(r"[A-Z_]+")
_NONE = re.compile(r"No \w+ in the system")
LONGEST_NAME = 1024
"""Largest number of characters of a job's name in Slurm."""
_NOTHING = frozenset({"", "N/A", "(null)", "None", "Unknown", "None assigned", "UNLIMITED", "INVALID"})
_MB = {"": 1.0, "K": 1 / 1024, "M": 1.0, "G": 1024.0, "T": 1024.0**2, "P": 1024.0**3}


def jobs(text: str, columns: Sequence[str] = (), unread: list[str] | None = None) -> tuple[ClusterJob, ...]:
    """Return the jobs in the output of `squeue -h -r -a -o FORMAT`. A line that cannot be a record continues the job's
    name in the record before it. Lines that cannot be read are added to `unread`. `columns` are those of `COLUMNS` if
    the output has fewer.
    """
    columns = columns or tuple(COLUMNS)
    found, strange = list[ClusterJob](), list[str]()
    for line in _records(text, len(columns), strange):
        row = dict(zip(columns, line.split("|", len(columns) - 1), strict=True))
        if _STATE.fullmatch(row["state"]):
            found.append(_job(row))
        else:
            strange.append(line)
    if unread is not None:  # a part of a record of a listed job is a name that imitates it
        listed = {job.id for job in found}
        unread += [line for line in strange if line.partition("|")[0] not in listed]
    return tuple(found)


def _records(text: str, columns: int, unread: list[str]) -> Iterator[str]:
    """Yield the text of each record with `columns` columns; a record has several lines if the job's name contains line
    ends.

    Lines before the first record are added to `unread`. So is the first line after a record that looks like part of
    another record, or is too long for a name: no more, because users choose names, and may imitate such lines.
    """
    held, named = "", 0
    for line in filter(None, text.split("\n")):
        if _ROW.match(line) and line.count("|") >= columns - 1:
            if held:
                yield held
            held, named = line, 0
        elif held:
            before, named = named, LONGEST_NAME + 1 if _ROW.match(line) else named + len(line)
            if before <= LONGEST_NAME < named:
                unread.append(line)
            held = f"{held}\n{line}"[:100_000]
        else:
            unread.append(line)
    if held:
        yield held


def strange(text: str, first: str) -> list[str]:
    """Return the lines before the first record, which begins with the key `first`, of the output of `scontrol -o show`,
    without its sentence for an empty list.

    >>> strange("<html>\\nNodeName=n1\\n", "NodeName"), strange("No reservations in the system\\n", "ReservationName")
    (['<html>'], [])
    """
    match = re.search(rf"^{re.escape(first)}=", text, re.MULTILINE)
    lines = text[: match.start() if match else None].split("\n")
    return [line for line in lines if line.strip() and not _NONE.fullmatch(line)]


def _job(row: Mapping[str, str]) -> ClusterJob:
    found = {name: read(row[name]) for name, (_, read) in COLUMNS.items() if name in row}
    return ClusterJob(**{**found, "number": row.get("number") or row["id"]})


_NODES = re.compile(r"(?:^|,)node=(\d{1,9})", re.ASCII)


Details: TypeAlias = Mapping[str, Any]
"""Fields of `ClusterJob` that only `scontrol -d show job` tells, not the list of all jobs (squeue)."""


def with_details(
    known: Iterable[ClusterJob], details: Mapping[str, Details], widest: int = 0
) -> tuple[ClusterJob, ...]:
    """Return the jobs, with the cores that they hold and what they request added from `details`, a mapping by job
    number. The time at which a job became eligible can change until it starts, so a waiting job does not get it.
    `widest` is the number of cores of the largest node; 0 if unknown.
    """
    return tuple(_with(job, told, widest) if (told := details.get(job.number)) is not None else job for job in known)


def _with(job: ClusterJob, told: Details, widest: int) -> ClusterJob:
    eligible = job.eligible if job.is_waiting else told["eligible"] or job.eligible
    cores = told["cores"] if job.is_running else ()
    most_nodes = told["most_nodes"] if job.is_waiting else None
    found = replace(job, **{**told, "eligible": eligible, "cores": cores, "most_nodes": most_nodes})
    if found.is_waiting and found.restarts and found.may_spread and widest:
        # after a requeue Slurm lists as many nodes as the job had before, on which other jobs ran
        asked = _NODES.search(found.tres)
        least = max(int(asked[1]) if asked else 1, -(-job.cpus // widest))
        found = replace(found, nodes_wanted=min(job.nodes_wanted, least))
    return found


def details_of(text: str) -> dict[str, Details]:
    """Return a mapping from each job's number to its details, from the text of `scontrol -d show job`."""
    found: dict[str, Details] = {}
    for part in re.split(r"(?m)^(?=JobId=)", text):
        match = re.match(r"JobId=(\d+)", part, re.ASCII)
        if match:
            told = part[max((name.end() for name in _AFTER_NAME.finditer(part)), default=0) :]
            said = dict(reversed(_FIELD.findall(told)))  # of a repeated field, the first counts
            held = re.finditer(r"\sNodes=(\S+) CPU_IDs=([\d,-]+)", told)
            tres = (said.get(key, "") for key in ("AllocTRES", "ReqTRES", "TRES"))
            whole = said.get("Exclusive")  # since 26.05, where OverSubscribe is NO for all jobs
            at_once = re.match(r"JobId=\d+ ArrayJobId=\d+ ArrayTaskId=\S+ ArrayTaskThrottle=(\d{1,9}) ", part, re.ASCII)
            found[match[1]] = {
                "cores": tuple(c for h in held for c in _each(h[1], h[2])),
                "tres": _free(next((each for each in tres if each[:1].isalnum()), "")),
                "is_exclusive": said.get("OverSubscribe") == "NO" if whole is None else whole in WHOLE,
                "at_once": int(at_once[1]) if at_once else 0,
                **read_fields(said, _OF_JOB),
            }
    return found


def _each(nodes: str, cpus: str) -> Iterator[Cores]:
    mask = 0
    for part in cpus.split(","):
        first, _, last = part.partition("-")
        if first.isdecimal() and (not last or last.isdecimal()):
            low, high = int(first[:6]), int((last or first)[:6])
            mask |= ((2 << high) - (1 << low)) if low <= high < 4096 else 0
    yield from (Cores(name, mask) for name in hosts(nodes) if mask)


def nodes(text: str) -> tuple[Node, ...]:
    """Return the nodes in the text of `scontrol show node`, in its order; nodes that do not exist yet are left out."""
    found = (Node(**read_fields(record, _OF_NODE)) for record in records(text, "NodeName"))
    return tuple(node for node in found if node.cpus > 0 and NOT_YET not in node.states)


def partitions(text: str) -> tuple[Partition, ...]:
    """Return the partitions in the text of `scontrol show partition`."""
    return tuple(
        Partition(**read_fields(record, _OF_PARTITION), is_exclusive=_is_exclusive(record))
        for record in records(text, "PartitionName")
    )


def _is_exclusive(record: Mapping[str, str]) -> bool:
    return gives_whole_nodes(record) or record.get("ExclusiveUser") == "YES" or record.get("Exclusive") == "USER"


def reservations(text: str) -> tuple[Reservation, ...]:
    """Return the reservations in the text of `scontrol show res`; those without times are left out."""
    found = (read_fields(record, _OF_RESERVATION) for record in records(text, "ReservationName"))
    return tuple(
        Reservation(**each)
        for each in found
        if each["start"] is not None and each["end"] is not None and each["start"] < each["end"]
    )


def priority_parts(text: str) -> dict[str, dict[str, float]]:
    """Return a mapping from job number to the parts of its priority by name, read from `sprio -l` with header."""
    lines = text.splitlines()
    header = lines[0].split() if lines else []
    if "JOBID" not in header or "PRIORITY" not in header:
        return {}
    # The first PARTITION names it, the second one is its part of the priority; words never hold blanks here.
    places = [at for at, word in enumerate(header) if at > header.index("PRIORITY")]
    found: dict[str, dict[str, float]] = {}
    for line in lines[1:]:
        words = line.split()
        parts = {header[at].lower(): words[at] for at in places if at < len(words)}
        numbers = {name: float(value) for name, value in parts.items() if re.fullmatch(r"-?\d{1,15}(\.\d+)?", value)}
        if words and words[0].isdecimal():
            found[words[0]] = {name: value for name, value in numbers.items() if value}
    return found


def megabytes(text: str) -> float:
    """Return a size of memory in MB; 0 if the text contains no size.

    >>> megabytes("1000M"), megabytes("2G"), megabytes("2800Mc"), megabytes("N/A")
    (1000.0, 2048.0, 2800.0, 0.0)
    """
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?)([KMGTP]?)[cn]?", text, re.ASCII)
    return float(match[1]) * _MB[match[2]] if match else 0.0


def gpus_of(text: str) -> int:
    """Return the number of GPUs in a list of resources. If the list has both a total and numbers for each type, the
    greater of the total and their sum is returned.

    >>> gpus_of("gpu:2"), gpus_of("gres/gpu:a100:1(S:0),shard:4"), gpus_of("cpu=4,gres/gpu=2,gres/gpu:a100=2")
    (2, 1, 2)
    """
    found: dict[str, int] = {}
    for part in text.split(","):
        match = re.match(r"(?:gres[:/])?gpu(?:[:/]([A-Za-z][\w.-]*))?(?:[:=](\d{1,6}))?(?=[(,]|$)", part)
        if match:
            kind = match[1] or ""
            found[kind] = found.get(kind, 0) + int(match[2] or 1)
    return max(found.pop("", 0), sum(found.values()))


def _said(text: str) -> str:
    return "" if text in _NOTHING else text


def _list(text: str) -> tuple[str, ...]:
    return tuple(filter(None, _said(text).split(",")))


def _free(text: str) -> str:
    return text[:MOST_LETTERS]


def _whole(text: str) -> int:
    """Return the whole number at the beginning of a text, 0 if there is none.

    >>> _whole("4"), _whole("12K"), _whole("1-4"), _whole("N/A")
    (4, 12000, 1, 0)
    """
    match = re.match(r"(\d{1,12})([KM]?)", text, re.ASCII)
    return int(match[1]) * {"": 1, "K": 1000, "M": 1_000_000}[match[2]] if match else 0


def _free_or_none(text: str) -> str:
    return _free(_said(text))


def _most_nodes(text: str) -> int | None:
    wanted = re.fullmatch(r"\d{1,9}(?:-(\d{1,9}))?", text, re.ASCII)
    return int(wanted[1] or 0) if wanted else None


Fields: TypeAlias = Mapping[str, tuple[str, Callable[[str], Any]]]
"""Field of a value of the cluster -> (its name in Slurm, function that reads its text)"""


def read_fields(record: Mapping[str, str], fields: Fields) -> dict[str, Any]:
    return {name: read(record.get(key, "")) for name, (key, read) in fields.items()}


_OF_NODE: Fields = {
    "name": ("NodeName", str), "cpus": ("CPUTot", _whole), "memory": ("RealMemory", _whole), "gpus": ("Gres", gpus_of),
    "states": ("State", states), "reason": ("Reason", _free_or_none), "partitions": ("Partitions", _list),
    "cpus_taken": ("CPUAlloc", _whole), "memory_taken": ("AllocMem", _whole), "gpus_taken": ("AllocTRES", gpus_of),
    "features": ("ActiveFeatures", lambda text: tuple(_said(text).split(","))),
}  # fmt: skip
_OF_PARTITION: Fields = {
    "name": ("PartitionName", str), "nodes": ("Nodes", hosts), "max_time": ("MaxTime", duration),
    "default_time": ("DefaultTime", duration), "state": ("State", lambda text: text or "UP"),
    "is_default": ("Default", "YES".__eq__), "max_nodes": ("MaxNodes", lambda text: _whole(text) or None),
    "allowed_accounts": ("AllowAccounts", lambda text: () if text == "ALL" else _list(text)),
    "tier": ("PriorityTier", lambda text: _whole(text or "1")),
    "factor": ("PriorityJobFactor", lambda text: _whole(text or "1")),
}  # fmt: skip
_OF_RESERVATION: Fields = {
    "name": ("ReservationName", _free), "start": ("StartTime", stamp), "end": ("EndTime", stamp),
    "nodes": ("Nodes", hosts), "users": ("Users", _list), "accounts": ("Accounts", _list),
    "flags": ("Flags", lambda text: frozenset(_list(text))),
}  # fmt: skip
_OF_JOB: Fields = {
    "eligible": ("EligibleTime", stamp), "most_nodes": ("NumNodes", _most_nodes),
    "restarts": ("Restarts", lambda text: _whole(text) if text else None), "features": ("Features", _free_or_none),
    "required": ("ReqNodeList", hosts), "excluded": ("ExcNodeList", hosts), "licenses": ("Licenses", _free_or_none),
    "deadline": ("Deadline", stamp),
}  # fmt: skip
COLUMNS: Fields = {
    "id": ("i", str), "number": ("A", str), "array": ("F", str), "state": ("T", str), "reason": ("r", _said),
    "partition": ("P", _free), "user": ("u", _free), "account": ("a", _free_or_none),
    "qos": ("q", _free_or_none), "cpus": ("C", _whole), "nodes_wanted": ("D", _whole),
    "memory": ("m", lambda text: int(megabytes(text))), "gpus": ("b", gpus_of), "limit": ("l", duration),
    "submit": ("V", lambda text: stamp(text) or 0.0), "end": ("e", stamp), "start": ("S", stamp),
    "priority": ("Q", _whole), "nodes": ("N", hosts), "planned_nodes": ("Y", hosts), "dependency": ("E", _said),
    "reservation": ("v", _said), "name": ("j", _free),
}  # fmt: skip
"""Field of a job -> (letter in squeue's format, function that reads the field). The name is last: it may contain
separators and line ends.
"""
FORMAT = "|".join(f"%{letter}" for letter, _ in COLUMNS.values())
