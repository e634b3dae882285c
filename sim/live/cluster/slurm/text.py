"""Parser of the text output of Slurm's commands, which is the same from 22.05 on. Long text is cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

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


class Details(NamedTuple):
    """Details of a job, from the command `scontrol -d show job`; the list of all jobs (squeue) does not contain them.
    The fields have the meaning of those of `ClusterJob`.
    """

    cores: tuple[Cores, ...] = ()
    tres: str = ""
    is_exclusive: bool = False
    eligible: float | None = None
    at_once: int = 0
    most_nodes: int | None = None
    restarts: int | None = None
    features: str = ""
    required: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    licenses: str = ""
    deadline: float | None = None


def with_details(
    known: Iterable[ClusterJob], details: Mapping[str, Details], widest: int = 0
) -> tuple[ClusterJob, ...]:
    """Return the jobs, with the cores that they hold and what they request added from `details`, a mapping by job
    number. The time at which a job became eligible can change until it starts, so a waiting job does not get it.
    `widest` is the number of cores of the largest node; 0 if unknown.
    """
    return tuple(_with(job, told, widest) if (told := details.get(job.number)) is not None else job for job in known)


def _with(job: ClusterJob, told: Details, widest: int) -> ClusterJob:
    eligible = job.eligible if job.is_waiting else told.eligible or job.eligible
    if not job.is_running:
        told = told._replace(cores=())
    most_nodes = told.most_nodes if job.is_waiting else None
    found = replace(job, **told._replace(eligible=eligible, most_nodes=most_nodes)._asdict())
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
            wanted = re.fullmatch(r"\d{1,9}(?:-(\d{1,9}))?", said.get("NumNodes", ""), re.ASCII)
            at_once = re.match(r"JobId=\d+ ArrayJobId=\d+ ArrayTaskId=\S+ ArrayTaskThrottle=(\d{1,9}) ", part, re.ASCII)
            restarts = said.get("Restarts", "")
            found[match[1]] = Details(
                cores=tuple(c for h in held for c in _each(h[1], h[2])),
                tres=_free(next((each for each in tres if each[:1].isalnum()), "")),
                is_exclusive=said.get("OverSubscribe") == "NO" if whole is None else whole in WHOLE,
                eligible=stamp(said.get("EligibleTime", "")),
                at_once=int(at_once[1]) if at_once else 0,
                most_nodes=int(wanted[1] or 0) if wanted else None,
                restarts=_whole(restarts) if restarts else None,
                features=_free(_said(said.get("Features", ""))),
                required=hosts(said.get("ReqNodeList", "")),
                excluded=hosts(said.get("ExcNodeList", "")),
                licenses=_free(_said(said.get("Licenses", ""))),
                deadline=stamp(said.get("Deadline", "")),
            )
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
    return tuple(
        Node(
            name=record["NodeName"],
            cpus=_whole(record.get("CPUTot", "")),
            memory=_whole(record.get("RealMemory", "")),
            gpus=gpus_of(record.get("Gres", "")),
            states=states(record.get("State", "")),
            reason=_free(_said(record.get("Reason", ""))),
            partitions=tuple(filter(None, record.get("Partitions", "").split(","))),
            cpus_taken=_whole(record.get("CPUAlloc", "")),
            memory_taken=_whole(record.get("AllocMem", "")),
            gpus_taken=gpus_of(record.get("AllocTRES", "")),
            features=tuple(_said(record.get("ActiveFeatures", "")).split(",")),
        )
        for record in records(text, "NodeName")
        if _whole(record.get("CPUTot", "")) > 0 and NOT_YET not in states(record.get("State", ""))
    )


def partitions(text: str) -> tuple[Partition, ...]:
    """Return the partitions in the text of `scontrol show partition`."""
    return tuple(
        Partition(
            name=record["PartitionName"],
            nodes=hosts(record.get("Nodes", "")),
            max_time=duration(record.get("MaxTime", "")),
            default_time=duration(record.get("DefaultTime", "")),
            state=record.get("State", "UP"),
            is_default=record.get("Default") == "YES",
            is_exclusive=gives_whole_nodes(record)
            or record.get("ExclusiveUser") == "YES"
            or record.get("Exclusive") == "USER",
            max_nodes=_whole(record.get("MaxNodes", "")) or None,
            allowed_accounts=() if record.get("AllowAccounts", "ALL") == "ALL" else _list(record["AllowAccounts"]),
            tier=_whole(record.get("PriorityTier", "1")),
            factor=_whole(record.get("PriorityJobFactor", "1")),
        )
        for record in records(text, "PartitionName")
    )


def reservations(text: str) -> tuple[Reservation, ...]:
    """Return the reservations in the text of `scontrol show res`; those without times are left out."""
    found = []
    for record in records(text, "ReservationName"):
        start, end = stamp(record.get("StartTime", "")), stamp(record.get("EndTime", ""))
        if start is not None and end is not None and start < end:
            found.append(
                Reservation(
                    name=_free(record["ReservationName"]),
                    start=start,
                    end=end,
                    nodes=hosts(record.get("Nodes", "")),
                    users=_list(record.get("Users", "")),
                    accounts=_list(record.get("Accounts", "")),
                    flags=frozenset(_list(record.get("Flags", ""))),
                )
            )
    return tuple(found)


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


COLUMNS: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "id": ("i", str), "number": ("A", str), "array": ("F", str), "state": ("T", str), "reason": ("r", _said),
    "partition": ("P", _free), "user": ("u", _free), "account": ("a", lambda text: _free(_said(text))),
    "qos": ("q", lambda text: _free(_said(text))), "cpus": ("C", _whole), "nodes_wanted": ("D", _whole),
    "memory": ("m", lambda text: int(megabytes(text))), "gpus": ("b", gpus_of), "limit": ("l", duration),
    "submit": ("V", lambda text: stamp(text) or 0.0), "end": ("e", stamp), "start": ("S", stamp),
    "priority": ("Q", _whole), "nodes": ("N", hosts), "planned_nodes": ("Y", hosts), "dependency": ("E", _said),
    "reservation": ("v", _said), "name": ("j", _free),
}  # fmt: skip
"""Field of a job -> (letter in squeue's format, function that reads the field). The name is last: it may contain
separators and line ends.
"""
FORMAT = "|".join(f"%{letter}" for letter, _ in COLUMNS.values())
