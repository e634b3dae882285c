"""Reader of machines of nodes, with jobs (JSON) or without (text or TOML); see `sim/workload/NODES.md`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from sim.support.errors import TraceError, near, similar
from sim.support.files import TextKind
from sim.support.formatting import quoted
from sim.workload.fidelity import UNMODELLED
from sim.workload.follows import Dependencies
from sim.workload.formats.batsim import parsed_json
from sim.workload.formats.sacct import stamp
from sim.workload.formats.slurm_text import GONE, MOST_HOSTS, NOT_YET, gives_whole_nodes, hosts, records, states
from sim.workload.formats.table import JobRows, number, shown
from sim.workload.formats.zone import zone_here
from sim.workload.limit_rules import SUBMITTED, LimitRule
from sim.workload.limits import OWNERS, Owned, limits_of
from sim.workload.model import Field, Header, Trace
from sim.workload.options import MOST_PROCS
from sim.workload.requests import ANYWHERE
from sim.workload.reserved_nodes import Admission, NodeReservation, admission
from sim.workload.shape import NODE_PLACEMENTS, ComputeNode, NodeGroup, Request, Shape, ShareEntry

MACHINE = TextKind("machine", 2**22, TraceError)
HINT = "scontrol -o show node makes such a file"
MOST_NODES, MOST_GROUPS, MOST_MEMBERS = 2**16, 2**12, 2**20
"""Largest number of nodes, of partitions, and of memberships of nodes in partitions."""
MOST_ACCOUNTS = 100_000
MOST_NOTES, MOST_LETTERS = 100, 200
"""Largest number of notes that are kept from a file, and of characters of a note."""
MOST_VALUES = 2**23
UNKNOWN = "names a reservation that the machine does not have; it runs without"
_TABLES = {
    "partition": {"name", "nodes", "max_time", "max_nodes", "priority", "exclusive", "factor"},
    "limit": {*OWNERS, "cores", "cpus", "nodes", "mem", "memory", "jobs", "submit", "gpus"},
    "reservation": {"name", "nodes", "start", "end", "users", "accounts", "drained"},
    "qos": {"name", "priority"},
    "account": {"account", "user", "parent", "shares", "usage"},
}
_PLURALS = {f"{kind}s" if kind != "qos" else kind: kind for kind in _TABLES}
"""Mapping from the name of a list in JSON to the kind of its tables"""
NODE_WORDS = {"name", "cores", "cpus", "mem", "memory", "features", "count", "partitions"}
_RESOURCES = {"mem": "memory", "cpus": "cores", "gpus": "gpu", "submit": SUBMITTED}
_LOOKS = re.compile(r'"nodes"\s*:\s*\[\s*\{')


def is_machine(text: str) -> bool:
    """Return True if a JSON text describes a machine with a list of nodes, as Batsim's workloads do not."""
    return _LOOKS.search(text) is not None


def read(text: str, name: str, path: object) -> Trace:
    if text.count(",") + text.count("{") > MOST_VALUES:
        raise TraceError(f"holds more than {MOST_VALUES:,} values; cut it into smaller files", path)
    content = parsed_json(text, path)
    if not isinstance(content, dict) or not isinstance(content.get("jobs"), list):
        raise TraceError("expected lists of 'nodes' and 'jobs', got other JSON", path)
    _refuse_misspelled(content, {*_PLURALS, "nodes", "jobs", "placement", "notes"}, "the machine", path)
    _refuse_unreadable(content, path)
    shape = shape_of(content, path)
    rows, requests = JobRows("jobs with submit, run, cores and nodes or tasks", unit="job"), list[Request]()
    waits, owned, strange = Dependencies(), list[Owned](), ""
    known = {each.name for each in shape.reservations}
    by_name = any(isinstance(job, dict) and job.get("reservation") for job in content["jobs"])
    entries = JobEntries(shape)
    for at, job in after_awaited(content["jobs"], rows):
        request = entries.request(job) if isinstance(job, dict) else None
        values = values_of(job, request) if request is not None else None
        if request is None or values is None:
            rows.damage.add(at, job)
            if rows.damage.is_hopeless(len(rows)):
                break
            continue
        said = partial(_word, job)
        user, account, qos, named = said("user"), said("account"), said("qos"), said("reservation")
        number_of_job = str(job.get("id", at))[:64]
        rows.add(number_of_job, values, {Field.USER: user}, account)
        waits.add(number_of_job, str(job.get("dependency", "")), f"{user} {said('name')}")
        if unread := entries.unread(job):
            strange = strange or unread
            rows.assumed.add(f"{UNMODELLED} words that are not read, such as {shown(strange)}", f"job {number_of_job}")
        if not request.groups and words_of(job.get("partitions")):
            rows.assumed.add(ANYWHERE, f"job {number_of_job}")
        if named and named not in known:
            rows.assumed.add(UNKNOWN, f"job {number_of_job}")
        if known or shape.qos:
            admitted = admission(shape.reservations, named, user, account, by_name) if known else Admission()
            request = replace(request, admitted=admitted, qos=qos if shape.qos else "")
        requests.append(request)
        tasks = job.get("at_once", 0)
        owned.append(Owned(user, account, qos, said("array"), tasks if is_amount(tasks) else 0))
    for kind, jobs in waits.unknown.items():
        rows.assumed.add(f"{UNMODELLED} dependencies of the kind {shown(kind)}", jobs)
    listed = told[:MOST_NOTES] if isinstance(told := content.get("notes"), list) else []
    notes = tuple(f" Note: {' '.join(note.split())[:MOST_LETTERS]}" for note in listed if isinstance(note, str))
    trace = rows.trace(name, "nodes", path, Header(max_procs=shape.cores, comments=notes))
    shape = replace(shape, requests=tuple(requests))
    shape = shape.reserved_since(None, name)
    return replace(trace, shape=shape, follows=waits.follows(), limits=limits_of(shape, owned))


def _word(job: Mapping[str, Any], name: str) -> str:
    return str(job.get(name, ""))[:64]


def read_machine(text: str, path: object) -> Shape:
    """Return the machine in the text of `scontrol show node` and `show partition`, in TOML, or in JSON."""
    if re.search(r"^NodeName=", text, re.MULTILINE):
        return _of_scontrol(text, path)
    if text[:1] == "{" and is_machine(text) and isinstance(content := parsed_json(text, path), dict):
        _refuse_unreadable(content, path)
        return shape_of(content, path)
    if is_platform(text):
        return read_platform(text, path, MOST_NODES, MOST_PROCS)
    if len(text) > MACHINE.most:
        raise TraceError(f"names no nodes and is longer than {MACHINE.most:,} letters; {HINT}", path)
    try:
        content = MACHINE.toml(text, path)
    except TraceError as error:
        raise TraceError(f"names no nodes and is no TOML ({shown(error.what)}); {HINT}", path, error.line) from None
    _refuse_misspelled(content, {*_TABLES, "node", "placement"}, "the machine", path)
    parts = {"nodes": content.get("node"), "partitions": content.get("partition", []), "limits": content.get("limit")}
    parts |= {"reservations": content.get("reservation"), "accounts": content.get("account")}
    _refuse_unreadable({**content, **parts}, path)
    return shape_of({**content, **parts}, path)


# The machine


def shape_of(content: Mapping[str, Any], path: object) -> Shape:
    listed = content.get("nodes")
    if not isinstance(listed, list) or not listed:
        raise TraceError("describes no nodes; one [[node]] with cores = 64 is a machine", path)
    nodes: list[ComputeNode] = []
    member_of: list[frozenset[str]] = []
    for at, node in enumerate(listed, start=1):
        if not isinstance(node, dict):
            raise TraceError(f"node {at}: expected a table with cores, got {shown(node)}", path)
        for made in _nodes(node, at, len(nodes), path):
            nodes.append(made)
            member_of.append(frozenset(words_of(node.get("partitions"))))
    if sum(node.cores for node in nodes) > MOST_PROCS:
        raise TraceError(f"has more than the {MOST_PROCS:,} cores that are handled", path)
    for lists, kind in _PLURALS.items():
        listed = content.get(lists)
        for at, table in enumerate(listed if isinstance(listed, list) else [], start=1):
            if isinstance(table, dict):
                _refuse_misspelled(table, _TABLES[kind], f"{kind} {at}", path)
    placement = content.get("placement", "best")
    if placement not in NODE_PLACEMENTS:
        hint = similar(str(placement)[:40], NODE_PLACEMENTS)
        raise TraceError(f"placement must be one of {', '.join(NODE_PLACEMENTS)}, got {shown(placement)}{hint}", path)
    groups = tuple(_groups(content.get("partitions"), nodes, member_of, path))
    limits = tuple(_limits(content.get("limits"), path))
    reservations = tuple(_reservations(content.get("reservations"), nodes, path))
    named = content.get("qos")
    known = [each for each in named if isinstance(each, dict)] if isinstance(named, list) else []
    qos = tuple((str(each.get("name"))[:64], int(number(each.get("priority")) or 0)) for each in known[:MOST_GROUPS])
    accounts = tuple(_accounts(content.get("accounts")))
    return Shape(
        tuple(nodes), groups, placement=placement, limits=limits, reservations=reservations, qos=qos, accounts=accounts
    )


def _refuse_misspelled(table: Mapping[str, Any], known: set[str], what: str, path: object) -> None:
    """Raise an error if an unknown word resembles a known one; others are left to the programs that wrote them."""
    for word in sorted(table.keys() - known)[:MOST_NOTES]:
        if hint := similar(word[:40], known):
            raise TraceError(f"{what} has the unknown word {shown(word)}{hint}", path)


def _refuse_unreadable(content: Mapping[str, Any], path: object) -> None:
    tables = {
        kind: [(at, table) for at, table in enumerate(listed, start=1) if isinstance(table, dict)]
        for kind, listed in ((kind, content.get(kind)) for kind in ("nodes", "partitions", "reservations"))
        if isinstance(listed, list)
    }
    known, total, all_named = set[str](), 0, True
    for at, table in tables.get("nodes", ()):
        name = table.get("name")
        names = hosts(name) if isinstance(name, str) and total <= MOST_NODES else ()
        if any("[" in host for host in names):
            raise TraceError(f"node {at}: {shown(name)} is no range of names; n[1-4] stands for four nodes", path)
        known.update(names)
        total, all_named = total + len(names), all_named and bool(names)
    total = 0
    for kind in ("partitions", "reservations"):
        for at, table in tables.get(kind, ()):
            members, word = table.get("nodes"), f"{kind[:-1]} {at}"
            listed = hosts(members) if isinstance(members, str) and all_named and total <= MOST_MEMBERS else ()
            total += len(listed)
            if lost := next((host for host in listed if host not in known), ""):
                raise TraceError(f"{word}: no node has the name {shown(lost)}{near(lost[:40], known)}", path)
            if "max_time" in table and number(table["max_time"]) is None:
                raise TraceError(f"{word}: max_time must be seconds, got {shown(table['max_time'])}", path)


def _accounts(listed: object) -> Iterator[ShareEntry]:
    """Yield the entries of the tree of accounts; one without a name is left out, as is what has no meaning in it."""
    for each in listed[:MOST_ACCOUNTS] if isinstance(listed, list) else []:
        if not isinstance(each, dict) or not isinstance(each.get("account"), str):
            continue
        account, user, parent = (str(each.get(word, ""))[:64] for word in ("account", "user", "parent"))
        shares, usage = each.get("shares", 1), number(each.get("usage", 0.0))
        own = None if shares == "parent" else shares if is_amount(shares) else 1
        yield ShareEntry(account, user, parent, own, usage if usage and 0 < usage < 1e18 else 0.0)


def _reservations(listed: object, nodes: list[ComputeNode], path: object) -> Iterator[NodeReservation]:
    numbers, total = {node.name: at for at, node in enumerate(nodes)}, 0
    for at, each in enumerate(listed if isinstance(listed, list) else [], start=1):
        if not isinstance(each, dict) or not isinstance(each.get("name"), str):
            raise TraceError(f"reservation {at}: expected a table with a name, got {shown(each)}", path)
        start, end = (_time_of(each.get(word)) for word in ("start", "end"))
        if start is None or end is None or not start[0] < end[0] or start[1] != end[1]:
            raise TraceError(f"reservation {at}: start and end must be seconds, or dates, in this order", path)
        members = _members(each.get("nodes", list(range(len(nodes)))), numbers)
        total += len(members)
        _refuse_many(at, total, path)
        users, accounts = (frozenset(words_of(each.get(word))) for word in ("users", "accounts"))
        drained = each.get("drained") is True
        yield NodeReservation(each["name"][:64], start[0], end[0], members, users, accounts, start[1], drained)


def _time_of(value: object) -> tuple[float, bool] | None:
    """Return a time as (seconds, True if they are seconds since 1970); None if the value is no time."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=zone_here())).timestamp(), True
    if isinstance(value, str):
        seconds = stamp(value, zone_here())
        return None if seconds is None else (seconds, True)
    found = number(value)
    return None if found is None else (found, False)


def _members(named: object, numbers: Mapping[str, int]) -> frozenset[int]:
    if isinstance(named, str):
        return frozenset(numbers[host] for host in hosts(named) if host in numbers)
    listed = named if isinstance(named, list) else []
    return frozenset(n for n in listed if isinstance(n, int) and 0 <= n < len(numbers))


def _limits(listed: object, path: object) -> Iterator[LimitRule]:
    for at, limit in enumerate(listed if isinstance(listed, list) else [], start=1):
        if not isinstance(limit, dict) or at > MOST_GROUPS:
            raise TraceError(f"limit {at}: expected at most {MOST_GROUPS:,} tables with user and cores", path)
        owners = tuple((word, str(limit[word])[:64]) for word in OWNERS if word in limit)
        for word, most in limit.items():
            resource = _RESOURCES.get(word, str(word)[:64])
            if word in OWNERS:
                continue
            if not is_amount(most):
                raise TraceError(f"limit {at}: {shown(word)} must be a whole number, got {shown(most)}", path)
            yield LimitRule(resource, most, owners)


def _nodes(node: Mapping[str, Any], at: int, before: int, path: object) -> Iterator[ComputeNode]:
    """Yield the nodes of an entry: one, `count` equal ones, or one for each host of its name; `before` precede it."""
    cores, memory = node.get("cores", node.get("cpus")), node.get("mem", node.get("memory", 0))
    others = {key.removesuffix("s"): value for key, value in node.items() if key not in NODE_WORDS}
    amounts = {"cores": cores, "memory": memory, **others}
    for key, value in amounts.items():
        if not is_amount(value) or (key == "cores" and value == 0):
            got = "it is missing" if value is None else f"got {shown(value)}"
            raise TraceError(f"node {at}: {shown(key)} must be a whole number from {key == 'cores':d}, {got}", path)
    names = list(hosts(node["name"])) if isinstance(node.get("name"), str) else []
    count = node.get("count", max(len(names), 1))
    if not is_amount(count) or not 1 <= count <= MOST_NODES - before:
        raise TraceError(f"node {at}: count must be from 1 to {MOST_NODES - before:,}, got {shown(count)}", path)
    if 1 < len(names) != count:
        raise TraceError(f"node {at}: its name stands for {len(names):,} nodes, and count is {count:,}", path)
    if len(names) != count:
        stem = names[0][:40] if names else "n"
        names = [f"{stem}{before + number + 1}" for number in range(count)] if count > 1 or not names else names[:1]
    features = frozenset(words_of(node.get("features")))
    gres = tuple(sorted((key[:40], value) for key, value in others.items()))
    for name in names:
        yield ComputeNode(name[:64], cores, memory, gres, features)


def _groups(
    listed: object, nodes: list[ComputeNode], member_of: list[frozenset[str]], path: object
) -> Iterator[NodeGroup]:
    if not isinstance(listed, list):
        return
    numbers, total = {node.name: at for at, node in enumerate(nodes)}, 0
    for at, group in enumerate(listed, start=1):
        if not isinstance(group, dict) or not isinstance(group.get("name"), str):
            raise TraceError(f"partition {at}: expected a table with a name, got {shown(group)}", path)
        name, named = group["name"][:64], group.get("nodes")
        if isinstance(named, str):
            of_text = hosts(named)
            total += len(of_text)  # also unknown hosts, as each list takes time
            members = frozenset(numbers[host] for host in of_text if host in numbers)
        elif isinstance(named, list):
            members = frozenset(n for n in named if isinstance(n, int) and 0 <= n < len(nodes))
        else:
            members = frozenset(n for n, names in enumerate(member_of) if name in names) or frozenset(range(len(nodes)))
        most_time, most_nodes = number(group.get("max_time")), group.get("max_nodes")
        total += len(members)
        _refuse_many(at, total, path)
        yield NodeGroup(
            name,
            members,
            most_time if most_time and most_time > 0 else None,
            most_nodes if is_amount(most_nodes) and most_nodes else None,
            int(number(group.get("priority")) or 0),
            group.get("exclusive") is True,
            int(number(group.get("factor", 1)) or 0),
        )


def _refuse_many(groups: int, members: int, path: object) -> None:
    if groups > MOST_GROUPS or members > MOST_MEMBERS:
        most = f"{MOST_GROUPS:,} partitions, or {MOST_MEMBERS:,} nodes in all of them together"
        raise TraceError(f"has more than {most}", path)


def _of_scontrol(text: str, path: object) -> Shape:
    nodes, gone = dict[str, ComputeNode](), list[str]()
    for record in records(text, "NodeName"):
        cpus, memory = record.get("CPUTot", ""), record.get("RealMemory", "0")
        now = states(record.get("State", ""))
        exists = cpus.isdecimal() and int(cpus[:9]) > 0 and NOT_YET not in now
        if not exists or len(nodes) >= MOST_NODES:
            continue
        features = frozenset(f[:64] for f in record.get("AvailableFeatures", "").split(",") if f not in ("", "(null)"))
        name = record["NodeName"][:64]
        size = int(memory[:12]) if memory.isdecimal() else 0
        gone += [name] if now & GONE and name not in nodes else []
        nodes.setdefault(name, ComputeNode(name, int(cpus[:9]), size, _gres(record.get("Gres", "")), features))
    if not nodes:
        raise TraceError("names no nodes; make it with scontrol -o show node", path)
    if sum(node.cores for node in nodes.values()) > MOST_PROCS:
        raise TraceError(f"has more than the {MOST_PROCS:,} cores that are handled", path)
    numbers = {name: at for at, name in enumerate(nodes)}
    groups: list[NodeGroup] = []
    total = 0
    for record in records(text, "PartitionName"):
        named = hosts(record.get("Nodes", ""))
        members = frozenset(numbers[host] for host in named if host in numbers)
        total += len(named)  # also unknown hosts, as each list takes time
        _refuse_many(len(groups), total, path)
        group = NodeGroup(
            record["PartitionName"][:64],
            members,
            seconds_of(record.get("MaxTime", "")),
            int(most[:9]) if (most := record.get("MaxNodes", "")).isdecimal() else None,
            int(tier[:9]) if (tier := record.get("PriorityTier", "")).isdecimal() else 0,
            gives_whole_nodes(record),
            int(factor[:9]) if (factor := record.get("PriorityJobFactor", "")).isdecimal() else 1,
        )
        groups.append(group)
    reservations = [
        {"name": record["ReservationName"], "start": record.get("StartTime"), "end": record.get("EndTime"),
         "nodes": record.get("Nodes", ""), "users": record.get("Users", ""), "accounts": record.get("Accounts", "")}
        for record in records(text, "ReservationName")
    ]  # fmt: skip
    listed = [*nodes.values()]
    reserved = tuple(_reservations(reservations, listed, path))
    return Shape(tuple(listed), tuple(groups), reservations=reserved, gone=tuple(gone))


def _gres(text: str) -> tuple[tuple[str, int], ...]:
    """Return the countable resources of a node as sorted pairs (name, amount), from Slurm's text (Gres).

    >>> _gres("gpu:tesla:2(S:0-1),fpga:1"), _gres("(null)")
    ((('fpga', 1), ('gpu', 2)), ())
    """
    found: dict[str, int] = {}
    for part in re.sub(r"\([^()]*\)", "", text).split(","):
        name, *more = part.strip().split(":")
        if name and more and more[-1].isdecimal():
            found[name[:40]] = found.get(name[:40], 0) + int(more[-1][:9])
    return tuple(sorted(found.items()))


def seconds_of(text: str) -> float | None:
    """Return the seconds of a duration in Slurm's form; None if it is unlimited or in another form.

    >>> seconds_of("1-02:00:00"), seconds_of("00:30:00"), seconds_of("UNLIMITED")
    (93600.0, 1800.0, None)
    """
    match = re.fullmatch(r"(?:(\d{1,6})-)?(\d{1,6}):(\d{1,2}):(\d{1,2})", text)
    if match is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(86400 * days + 3600 * hours + 60 * minutes + seconds)


# The jobs.

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


# Platforms.


_PLATFORM = re.compile(r"<platform\b", re.IGNORECASE)
_TAG = re.compile(r"<(host|cluster)\b([^<>]{0,4000})>((?:\s*<prop\b[^<>]{0,1000}/>){0,50})", re.IGNORECASE)
_WORD = re.compile(r"""([\w:-]{1,40})\s*=\s*["']([^"'<>]{0,1000})["']""")
_MASTER = re.compile(r"""value\s*=\s*["']master["']""", re.IGNORECASE)


def is_platform(text: str) -> bool:
    return text.lstrip("\ufeff \n\r\t").startswith("<") and _PLATFORM.search(text) is not None


def read_platform(text: str, path: object, most_nodes: int, most_cores: int) -> Shape:
    """Return the hosts of a platform as nodes, without the host of Batsim's scheduler; too many are an error."""
    nodes: list[ComputeNode] = []
    for name, cores in _hosts(_without_comments(text), path):
        if len(nodes) >= most_nodes:
            raise TraceError(f"has more than the {most_nodes:,} hosts that are handled", path)
        nodes.append(ComputeNode(name[:64], cores))
    if not nodes:
        raise TraceError("is a platform without hosts or clusters that compute", path)
    if sum(node.cores for node in nodes) > most_cores:
        raise TraceError(f"has more than the {most_cores:,} cores that are handled", path)
    return Shape(tuple(nodes), is_platform=True)


def _without_comments(text: str) -> str:
    """Return the text without comments; a comment that is not closed goes on to the end of the text."""
    first, *others = text.split("<!--")
    return first + "".join(other.partition("-->")[2] for other in others)


def _hosts(text: str, path: object = "") -> Iterator[tuple[str, int]]:
    """Yield (name, number of cores) of each host; `path` is the file, for errors.

    >>> list(_hosts('<host id="master_host"/><cluster id="c" prefix="a" suffix=".b" radical="0-1,5" core="4"/>'))
    [('a0.b', 4), ('a1.b', 4), ('a5.b', 4)]
    """
    for tag in _TAG.finditer(text):
        words = dict(_WORD.findall(tag[2]))
        core = words.get("core", "1")
        cores = int(core[:9]) if core.isdecimal() else 1
        if tag[1].lower() == "cluster":
            names = hosts(f"x[{radical}]") if (radical := words.get("radical", "")) else ()
            if not names or "[" in names[0]:
                raise TraceError(
                    f"has a cluster {quoted(words.get('id', ''))} whose radical {quoted(radical)} is no list of up to "
                    f"{MOST_HOSTS:,} numbers, such as 0-99",
                    path,
                )
            for name in names:
                yield f"{words.get('prefix', '')}{name[1:]}{words.get('suffix', '')}", max(cores, 1)
        elif words.get("id") != "master_host" and not _MASTER.search(tag[3]):
            yield words.get("id", "host"), max(cores, 1)
