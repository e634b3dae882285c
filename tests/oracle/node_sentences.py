"""Sentences on why jobs wait on nodes, checked against plain counts of what is free on each node.

A machine and its jobs are as in the program's own JSON format. Nothing is taken from the program but which job holds
what on which node.
"""

import re
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any, NamedTuple

Amount = tuple[int, int, int]
"""Cores, memory and GPUs"""


class Holding(NamedTuple):
    """Amounts that a job holds, or is planned to hold, on each node from `start` until `end`."""

    name: str
    start: float
    end: float
    amounts: Mapping[int, Amount]


class Moment:
    """Machine of a case at one time, with the jobs that run (`running`)."""

    def __init__(self, case: dict[str, Any], now: float, running: Iterable[Holding]) -> None:
        self.case, self.now, self.running = case, now, list(running)
        self.sizes: list[Amount] = [(node["cores"], node["mem"], node["gpus"]) for node in case["nodes"]]
        self.parts = {part["name"]: part for part in case.get("partitions", [])}

    def free(self, at: float | None = None, planned: Iterable[Holding] = ()) -> list[Amount]:
        """Return what is free on each node, now or at a later time beside the `planned` jobs."""
        when = self.now if at is None else at
        left = [list(size) for size in self.sizes]
        here = [one for one in self.running if at is None or when < one.end]
        for one in (*here, *(one for one in planned if one.start <= when < one.end)):
            for node, amounts in one.amounts.items():
                for kind, amount in enumerate(amounts):
                    left[node][kind] -= amount
        return [(cores, memory, gpus) for cores, memory, gpus in left]

    def closed(self, job: dict[str, Any]) -> set[int]:
        """Return the nodes that reservations keep from the job if it starts now."""
        kept, own = self.case.get("reservations", []), job.get("reservation")
        others = [each for each in kept if each["name"] != own]
        if not any("reservation" in other for other in self.case["jobs"]):
            others = [each for each in others if job["user"] not in each["users"]]
        until = self.now + job["estimate"]
        return {node for each in others if each["start"] < until and self.now < each["end"] for node in each["nodes"]}

    def open_to(self, job: dict[str, Any], has_reservations: bool = True) -> list[set[int]]:
        """Return for each partition that the job may use the nodes that are open to it there."""
        closed = self.closed(job) if has_reservations else set()
        wanted = {*job.get("features", [])}
        featured = {at for at, node in enumerate(self.case["nodes"]) if wanted <= {*node.get("features", [])}}
        for each in self.case.get("reservations", []):
            if each["name"] == job.get("reservation"):
                featured &= {*each["nodes"]} if each["start"] <= self.now < each["end"] else set()
        return [(nodes & featured) - closed for nodes in self.nodes_of(job)]

    def nodes_of(self, job: dict[str, Any]) -> list[set[int]]:
        return [{*self.parts[name]["nodes"]} for name in self.allowed(job)] or [{*range(len(self.sizes))}]

    def allowed(self, job: dict[str, Any]) -> list[str]:
        names = [name for name in job.get("partitions", []) if job["estimate"] <= self.parts[name].get("max_time", inf)]
        return [name for name in names if job.get("nodes", 0) <= self.parts[name].get("max_nodes", inf)]

    def whole(self, job: dict[str, Any]) -> list[bool]:
        whole = [job["exclusive"] or self.parts[name].get("exclusive", False) for name in self.allowed(job)]
        return whole or [job["exclusive"]]

    def rooms(self, job: dict[str, Any], free: list[Amount], has_reservations: bool = True) -> list[dict[int, int]]:
        """Return for each partition: how many tasks have room on each of its nodes (or 1 for a node's share)."""
        found = []
        for nodes, whole in zip(self.open_to(job, has_reservations), self.whole(job), strict=True):
            rooms = {}
            for node in nodes:
                if whole and free[node] != self.sizes[node]:
                    continue
                tasks = 0
                while tasks < job.get("tasks", 1) and _is_in(place(job, tasks + 1), free[node]):
                    tasks += 1
                if tasks:
                    rooms[node] = tasks
            found.append(rooms)
        return found

    def fits(self, job: dict[str, Any], free: list[Amount], has_reservations: bool = True) -> bool:
        return any(_is_enough(job, rooms) for rooms in self.rooms(job, free, has_reservations))


def place(job: dict[str, Any], tasks: int = 1) -> Amount:
    return job["cores"] * tasks, job["mem"] * tasks + job.get("mem_node", 0), job.get("gpus", 0) * tasks


def least_nodes(job: dict[str, Any]) -> int:
    return min(int(job.get("least_nodes", 1)), int(job["tasks"])) if "tasks" in job else int(job["nodes"])


def _is_in(amounts: Amount, free: Amount) -> bool:
    return all(amount <= have for amount, have in zip(amounts, free, strict=True))


def _is_enough(job: dict[str, Any], rooms: dict[int, int]) -> bool:
    most = sorted(rooms.values())[-int(job.get("most_nodes", 999)) :]
    return len(rooms) >= least_nodes(job) and ("tasks" not in job or sum(most) >= job["tasks"])


# Sentences

_BEHIND = re.compile(r"Priority: J(\S+) is ahead of it on its partition's nodes and cannot start")
_LEAVES = re.compile(r"would end at (\S+) > J(\S+)'s start at (\S+), when too few nodes would be left")
_FEW = re.compile(r"needs (\d+) > (\d+) free")
_LATER = re.compile(r"fits now, but nodes have room for its estimate of \S+ only from (\S+)")
_NONE = re.compile(r"(\d+) cores? free, but none on a node that it may use")
_SHORT = re.compile(
    r"(?:(?P<total>\d+) cores? free on (?P<on>\d+) nodes?|(?P<usable>\d+) of (?P<all>\d+) free cores? on nodes that it"
    r" may use)(?:, (?P<have>none|\d+) (?P<wants>.+?))?: (?:(?P<alone>no node has room)|(?:room for (?P<able>\d+)"
    r"|no room for any) of (?P<needed>\d+) (?P<place>.+))"
)
_KEPT = re.compile(
    r"(\d+) of (\d+) fitting nodes? (?:is|are) kept( in part)? for J(\S+) from (\S+)( and for other jobs)?"
)
_RESERVED = re.compile(r"ReqNodeNotAvail: (\S+) keeps nodes that it needs from (\S+) to (\S+)")
_AMOUNT = re.compile(r"([\d,]+) (cores?|MB|GPUs?)")


def check_shortage(told: str, job: dict[str, Any], moment: Moment) -> None:
    """Check a sentence on what the job lacks on the nodes."""
    free, opened = moment.free(), moment.open_to(job)
    usable = set().union(*opened)
    cores, total = sum(free[node][0] for node in usable), sum(left[0] for left in free)
    if found := _NONE.fullmatch(told):
        assert (int(found[1]), cores) == (total, 0), told
        return
    found = _SHORT.fullmatch(told)
    assert found, told
    if found["total"]:
        assert int(found["total"]) == total == cores, told
        assert int(found["on"]) == sum(left[0] > 0 for left in free), told
    else:
        assert (int(found["usable"]), int(found["all"])) == (cores, total), told
        assert cores < total, told
    if found["wants"]:
        _check_wants(found["wants"], int(found["have"].replace("none", "0")), job, moment)
    rooms = moment.rooms(job, free)
    if found["alone"]:
        assert not any(rooms), told
        assert job.get("nodes", job.get("tasks")) == 1, (told, job)
        return
    able, needed, what = int(found["able"] or 0), int(found["needed"]), found["place"]
    assert able < needed, told
    parted = what.endswith(" in one partition")
    what = what.removesuffix(" in one partition")
    assert not parted or len(rooms) > 1, told
    counts = [_count(what, needed, job, one, free, moment.case["placement"]) for one in rooms]
    assert able == max(counts), (told, counts)


def _check_wants(wants: str, have: int, job: dict[str, Any], moment: Moment) -> None:
    """Check how many of the nodes that the job may use have what the sentence names."""
    free, unit = moment.free(), place(job)
    amounts = {name.removesuffix("s"): int(number.replace(",", "")) for number, name in _AMOUNT.findall(wants)}
    wanted = amounts.get("core", 0), amounts.get("MB", 0), amounts.get("GPU", 0)
    assert all(amount in (0, need) for amount, need in zip(wanted, unit, strict=True)), (wants, unit)
    assert any(wanted) or wants == "wholly free", wants
    assert ("wholly free" in wants) <= all(moment.whole(job)), wants
    nodes = set[int]()
    for opened, whole in zip(moment.open_to(job), moment.whole(job), strict=True):
        nodes |= {node for node in opened if not whole or free[node] == moment.sizes[node]}
    found = [node for node in nodes if free[node][0] and _is_in(wanted, free[node])]
    assert len(found) == have, (wants, have, found)


def _count(
    what: str, needed: int, job: dict[str, Any], rooms: dict[int, int], free: list[Amount], placement: str
) -> int:
    """Return how many places, as the sentence names them, one partition has."""
    if what == "nodes":
        assert needed == least_nodes(job), what
        return len(rooms)
    assert needed == job["tasks"], what
    if what == "tasks":
        return min(sum(rooms.values()), needed)
    if found := re.fullmatch(r"tasks on at most (\d+) nodes?", what):
        return sum(sorted(rooms.values())[-int(found[1]) :])
    found = re.fullmatch(rf"tasks on the first (?:node|(\d+) nodes) by placement {placement}", what)
    assert found, what
    sign = {"lowest": 0, "best": 1, "spread": -1}[placement]
    tried = sorted(rooms, key=lambda node: (sign * free[node][0], node))
    return sum(rooms[node] for node in tried[: int(found[1] or 1)])


def check_kept(told: str, job: dict[str, Any], moment: Moment, planned: list[Holding], whole: bool) -> None:
    """Check a sentence on nodes that are kept for planned jobs; with `whole` a planned job keeps whole nodes."""
    found = _KEPT.fullmatch(told)
    assert found, told
    until, free = moment.now + job["estimate"], moment.free()
    near = [one for one in planned if one.start < until]
    room, least = _most(moment.rooms(job, free)), dict[int, int]()
    for at in {moment.now, *(max(one.start, moment.now) for one in near)}:
        here = [one for one in near if max(one.start, moment.now) <= at < one.end]
        left = moment.free(at, here)
        for one in here if whole else ():
            left = [(0, 0, 0) if node in one.amounts else have for node, have in enumerate(left)]
        beside = _most(moment.rooms(job, left))
        least = {node: min(least.get(node, tasks), beside.get(node, 0)) for node, tasks in room.items()}
    taken = {node for node, tasks in room.items() if least[node] < tasks}
    assert (int(found[1]), int(found[2])) == (len(taken), len(room)), (told, taken, room)
    assert bool(found[3]) == any(least[node] for node in taken), (told, least)
    holders = {one.name: len(taken & one.amounts.keys()) for one in near}
    head = next(one for one in planned if one.name == found[4])
    assert holders[head.name] == max(holders.values()), (told, holders)
    assert bool(found[6]) == (holders[head.name] < len(taken)), (told, holders)
    assert float(found[5]) == head.start, told
    assert moment.fits(job, free), told


def _most(rooms: list[dict[int, int]]) -> dict[int, int]:
    return {node: max(one.get(node, 0) for one in rooms) for node in set[int]().union(*rooms)}


def check_reserved(told: str, job: dict[str, Any], moment: Moment) -> None:
    """Check a sentence on a reservation that keeps nodes from the job."""
    found = _RESERVED.fullmatch(told)
    assert found, told
    (kept,) = [each for each in moment.case["reservations"] if each["name"] == found[1]]
    assert (float(found[2]), float(found[3])) == (kept["start"], kept["end"]), told
    assert kept["start"] < moment.now + job["estimate"], told
    assert moment.now < kept["end"], told
    free = moment.free()
    assert moment.fits(job, free, has_reservations=False), told
    assert {*kept["nodes"]} & set[int]().union(*moment.rooms(job, free, has_reservations=False)), told


def check_behind(told: str, job: dict[str, Any], moment: Moment, waiting: Mapping[str, dict[str, Any]]) -> None:
    """Check a sentence on a job ahead that cannot start and closes nodes; `waiting` are the waiting jobs by name."""
    found = _BEHIND.fullmatch(told)
    assert found, told
    head = waiting[found[1]]
    assert head is not job, told
    if "reservation" not in job:
        named, mine = (set[int]().union(*moment.nodes_of(one)) for one in (head, job))
        assert named & mine, told


def check_leaves(told: str, job: dict[str, Any], moment: Moment, waiting: Mapping[str, dict[str, Any]]) -> None:
    """Check a sentence on a job that fits now and would outlast the head's planned start, when it would be in its
    way."""
    found = _LEAVES.fullmatch(told)
    assert found, told
    head, ends, shadow = waiting[found[2]], float(found[1]), float(found[3])
    assert ends > shadow, told
    assert moment.fits(job, moment.free()), told
    assert shadow > moment.now, told
    assert head is not job, told


def check_few(told: str, job: dict[str, Any], moment: Moment) -> None:
    """Check a sentence on too few free cores in all."""
    found = _FEW.fullmatch(told)
    assert found, told
    assert int(found[1]) == job["cores"] * job.get("tasks", job.get("nodes", 0)), told
    assert int(found[2]) == sum(left[0] for left in moment.free()), told


def check_later(told: str, job: dict[str, Any], moment: Moment) -> None:
    """Check a sentence on a job that fits now, but not for its whole estimate."""
    found = _LATER.fullmatch(told)
    assert found, told
    assert float(found[1]) > moment.now, told
    assert moment.fits(job, moment.free()), told
