"""A plain scheduler on a machine of nodes, with whose results those of the program are compared.

A machine and its jobs are as in the program's own JSON format. Every question is answered by going through all jobs
that hold something; nothing is remembered from one instant to the next.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from math import exp2, inf, log
from typing import Any, NamedTuple

from tests.oracle.slurm_map import Map, fill_runs


class Held(NamedTuple):
    """Resources that a job holds from `start` until `until`. `amounts` maps the index of a node to (cores, memory,
    GPUs)."""

    start: float
    until: float
    amounts: dict[int, tuple[int, int, int]]


class Plain:
    """Machine of nodes, which finds free resources from the list of all jobs that hold some."""

    def __init__(self, case: dict[str, Any]) -> None:
        self.sizes = [(node["cores"], node["mem"], node["gpus"]) for node in case["nodes"]]
        self.placement = case["placement"]
        self.parts = {part["name"]: part for part in case.get("partitions", [])}
        self.kept = case.get("reservations", [])
        self.by_name = any("reservation" in job for job in case["jobs"])
        self.shut = frozenset[int]()

    def without(self, nodes: set[int]) -> Plain:
        found = copy(self)
        found.shut = frozenset(nodes)
        return found

    def worst(self, held: list[Held], start: float, until: float) -> list[tuple[int, ...]]:
        """Return for each node the least (cores, memory, GPUs) that is free at any time from `start` until `until`."""
        moments = {start} | {one.start for one in held if start < one.start < until}
        return [
            tuple(
                min(
                    size[kind]
                    - sum(
                        one.amounts[node][kind] for one in held if node in one.amounts and one.start <= at < one.until
                    )
                    for at in moments
                )
                for kind in range(3)
            )
            for node, size in enumerate(self.sizes)
        ]

    def choose(self, job: dict[str, Any], free: list[tuple[int, ...]]) -> dict[int, tuple[int, int, int]] | None:
        """Return what the job gets of which nodes if these amounts are free, None if it does not fit."""
        found = (self.choose_in(job, free, self.parts.get(name, {})) for name in job.get("partitions", [""]))
        return next((chosen for chosen in found if chosen is not None), None)

    def timed(self, job: dict[str, Any]) -> dict[str, Any]:
        names = [name for name in job.get("partitions", []) if job["estimate"] <= self.parts[name].get("max_time", inf)]
        return {**job, "partitions": names} if names else job

    def choose_in(
        self, job: dict[str, Any], free: list[tuple[int, ...]], part: dict[str, Any]
    ) -> dict[int, tuple[int, int, int]] | None:
        """Return what the job gets in one partition."""
        if job["estimate"] > part.get("max_time", inf):
            return None
        whole = job["exclusive"] or part.get("exclusive", False)
        if self.placement == "consecutive":
            return self.choose_in_runs(job, free, part, whole)
        sign = {"lowest": 0, "best": 1, "spread": -1}[self.placement]
        chosen: dict[int, tuple[int, int, int]] = {}
        left = job.get("tasks", job.get("nodes", 0))
        each = (job["cores"], job["mem"], job.get("gpus", 0))
        for node in sorted(range(len(free)), key=lambda node: (sign * free[node][0], node)):
            if node not in part.get("nodes", [node]) or (whole and free[node] != self.sizes[node]):
                continue
            room = min(have // wants for have, wants in zip(free[node], each, strict=True) if wants)
            count = min(room, left if "tasks" in job else 1)
            if count > 0 and left and len(chosen) < job.get("most_nodes", len(free)):
                wanted = (each[0] * count, each[1] * count, each[2] * count)
                chosen[node] = self.sizes[node] if whole else wanted
                left -= count
        return None if left or len(chosen) > part.get("max_nodes", len(free)) else chosen

    def choose_in_runs(
        self, job: dict[str, Any], free: list[tuple[int, ...]], part: dict[str, Any], whole: bool
    ) -> dict[int, tuple[int, int, int]] | None:
        """Return what the job gets if runs of consecutive nodes are filled."""
        each = (job["cores"], job["mem"], job.get("gpus", 0))
        by_tasks = "tasks" in job
        wanted = job["tasks"] if by_tasks else job["nodes"]
        least = 1 if by_tasks else wanted
        most = min(job.get("most_nodes", len(free)), wanted) if by_tasks else wanted
        room = {}
        for node in part.get("nodes", range(len(free))):
            fit = min(have // wants for have, wants in zip(free[node], each, strict=True) if wants)
            if fit > 0 and not (whole and free[node] != self.sizes[node]):
                room[node] = fit if by_tasks else 1
        for little in range(max(room.values(), default=0)):
            for node in sorted(room):
                if little and room[node] == little and len(room) > least:
                    del room[node]
            counts = fill_runs(room, wanted, least, most)
            if counts is None:
                continue
            if len(counts) > part.get("max_nodes", len(free)):
                return None
            takes = {node: (each[0] * n, each[1] * n, each[2] * n) for node, n in counts.items()}
            return {node: self.sizes[node] if whole else takes[node] for node in takes}
        return None

    def is_kept_from(self, job: dict[str, Any], at: float) -> bool:
        """Return True if a reservation keeps nodes from the job while it would run."""
        others = [each for each in self.kept if each["name"] != job.get("reservation")]
        if not self.by_name:
            others = [each for each in others if job["user"] not in each["users"]]
        return any(each["start"] < at + job["estimate"] and at < each["end"] for each in others)

    def may_use(self, job: dict[str, Any], at: float) -> list[int]:
        """Return the nodes on which no reservation forbids a start of the job at this time."""
        own = job.get("reservation")
        if own and not any(each["name"] == own and each["start"] <= at < each["end"] for each in self.kept):
            return []
        others = [each for each in self.kept if each["name"] != own]
        if not self.by_name:
            others = [each for each in others if job["user"] not in each["users"]]
        near = [each for each in others if each["start"] < at + job["estimate"] and at < each["end"]]
        taken = self.shut | {node for each in near for node in each["nodes"]}
        mine = [each["nodes"] for each in self.kept if own and each["name"] == own]
        return [node for node in (mine[0] if mine else range(len(self.sizes))) if node not in taken]

    def fits_empty(self, job: dict[str, Any]) -> bool:
        """Return True if the job fits the empty machine, or the empty nodes of its reservation."""
        mine = [each["nodes"] for each in self.kept if "reservation" in job and each["name"] == job["reservation"]]
        allowed = mine[0] if mine else range(len(self.sizes))
        return (
            self.choose(job, [size if node in allowed else (0, 0, 0) for node, size in enumerate(self.sizes)])
            is not None
        )

    def choose_at(
        self, job: dict[str, Any], free: list[tuple[int, ...]], at: float
    ) -> dict[int, tuple[int, int, int]] | None:
        allowed = self.may_use(job, at)
        return self.choose(job, [have if node in allowed else (0, 0, 0) for node, have in enumerate(free)])

    def earliest(self, job: dict[str, Any], held: list[Held], now: float) -> Held | None:
        """Return the resources from the first time, from now on, at which the job fits for its whole estimate; None if
        it never fits."""
        moments = {time for one in held for time in (one.start, one.until)}
        moments |= {each[word] for each in self.kept for word in ("start", "end")}
        for at in sorted({now} | {time for time in moments if time > now}):
            amounts = self.choose_at(job, self.worst(held, at, at + job["estimate"]), at)
            if amounts is not None:
                return Held(at, at + job["estimate"], amounts)
        return None


def waits_for(jobs: list[dict[str, Any]], job: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (kind of dependency, id) of each job on which this job depends; only jobs earlier in the list count."""
    before = jobs[: jobs.index(job)]
    found = []
    for part in filter(None, job.get("dependency", "").replace("?", ",").split(",")):
        kind, *ids = part.split(":")
        if kind == "singleton":
            ids = [other["id"] for other in before if (other["user"], other["name"]) == (job["user"], job["name"])]
        found += [(kind, other["id"]) for other in before if other["id"] in ids]
    return found


def conditions(jobs: list[dict[str, Any]], job: dict[str, Any], present: set[str]) -> list[tuple[str, str]]:
    """Return (kind, id) of each job in `present` that this one waits for; none if one of several is not present."""
    found = waits_for(jobs, job)
    if "?" in job.get("dependency", "") and any(one not in present for _, one in found):
        return []
    return [(kind, one) for kind, one in found if one in present]


def is_met(kind: str, ended_badly: bool) -> bool:
    return kind != ("afterok" if ended_badly else "afternotok")


def is_bad(job: dict[str, Any]) -> bool:
    return bool(job.get("fails")) or job["run"] > job["estimate"]


def possible(
    jobs: list[dict[str, Any]], fitting: list[dict[str, Any]], may_cancel: bool
) -> dict[str, list[tuple[str, str]]]:
    """Return what each job waits for whose dependencies can be met; a job that can never run counts as one that ended
    with an error. With `may_cancel` a limit may cancel any job."""
    bad = {job["id"] for job in fitting if is_bad(job)}
    present, found = {job["id"] for job in fitting}, dict[str, list[tuple[str, str]]]()
    for job in fitting:
        waits = conditions(jobs, job, present)
        met = [(kind, one) for kind, one in waits if is_met(kind, one in bad) or (may_cancel and is_met(kind, True))]
        if waits and (not met if "?" in job["dependency"] else met != waits):
            bad.add(job["id"])
        else:
            found[job["id"]] = met
    for job in [job for job in fitting if job["id"] in found]:
        waits = found[job["id"]]
        kept = [(kind, one) for kind, one in waits if one in found]
        found[job["id"]] = [] if "?" in job.get("dependency", "") and kept != waits else kept
    return found


def amount(job: dict[str, Any], word: str) -> int:
    units = int(job.get("tasks", job.get("nodes", 0)))
    return {"jobs": 1, "nodes": int(job.get("nodes", 1))}.get(word, units * int(job.get(word, 0)))


class Slurm:
    """Slurm's two halves, by rules that are written down in the text of the policy."""

    def __init__(self, case: dict[str, Any], spec: str) -> None:
        words = dict(part.split("=") for part in spec.partition(":")[2].split(",") if part)
        self.has_priorities = words.pop("order", "") != "fcfs"
        given = {name: float(value) for name, value in words.items()}
        usual = {"bf_interval": 30, "bf_window": 86400, "bf_resolution": 60, "bf_max_job_test": 500,
                 "bf_max_job_user": 0, "age": 1000, "fairshare": 10000, "size": 1000, "maxage": 604800,
                 "halflife": 604800, "partition": 0}  # fmt: skip
        assert given.keys() <= usual.keys()
        self.set: dict[str, float] = {**usual, **given}
        self.parts = {part["name"]: part for part in case.get("partitions", [])}
        self.cores = sum(node["cores"] for node in case["nodes"])
        self.nodes = len(case["nodes"])
        self.last, self.again = -inf, inf
        """Time of the last backfill half, and of the next one if nothing else happens before"""

    def usage(self, user: str, now: float, ran: list[tuple[dict[str, Any], float, float]]) -> float:
        """Return the decayed core-hours of a user; `ran` are all jobs so far with their starts and ends."""
        life = self.set["halflife"]
        return sum(
            amount(job, "cores") * life / log(2) / 3600 * (exp2((min(end, now) - now) / life) - exp2((at - now) / life))
            for job, at, end in ran
            if job["user"] == user
        )

    def priority(
        self,
        job: dict[str, Any],
        came: float,
        now: float,
        users: set[str],
        ran: list[tuple[dict[str, Any], float, float]],
        names: list[str],
    ) -> float:
        """Return the sum of the weighted factors of a waiting job that is tried in the partitions `names`."""
        used: dict[str, float] = {user: self.usage(user, now, ran) for user in users}
        total = sum(used.values())
        share = used[job["user"]] / total * len(users) if total else 0
        most = max((part["factor"] for part in self.parts.values()), default=1)
        own = max((self.parts[name]["factor"] for name in names), default=0) / most
        weighed: float = (
            self.set["age"] * min((now - came) / self.set["maxage"], 1)
            + self.set["fairshare"] * exp2(-share)
            + self.set["size"] * (min(amount(job, "cores") / self.cores, 1) + self.least(job) / self.nodes) / 2
            + self.set["partition"] * own
        )
        return weighed

    @staticmethod
    def least(job: dict[str, Any]) -> int:
        return int(job.get("nodes", job.get("least_nodes", 1)))

    def tier(self, job: dict[str, Any], names: list[str]) -> int:
        if "reservation" in job:
            return 99
        return max((self.parts[name]["priority"] for name in names), default=0)

    @staticmethod
    def tries(job: dict[str, Any], machine: Plain) -> list[list[str]]:
        """Return the lists of partitions in which the job is tried: each alone, unless a reservation is named."""
        names = job.get("partitions", [])
        if len(names) < 2 or "reservation" in job:
            return [names]
        return [[name] for name in names if machine.fits_empty({**job, "partitions": [name]})]

    def run(
        self,
        now: float,
        order: Callable[[], list[tuple[int, list[str]]]],
        jobs: list[dict[str, Any]],
        machine: Plain,
        running: dict[int, Held],
        start: Callable[[int, Held], None],
        over: Callable[[int], bool],
    ) -> None:
        """Start what both halves start now; `order` gives the waiting jobs, and where they are tried, by priority."""
        closed: set[str] = set()  # reservations
        shut: set[int] = set()  # nodes
        begun = set[int]()
        for rank, names in order():
            job, own = {**jobs[rank], **({"partitions": names} if names else {})}, jobs[rank].get("reservation")
            least = self.least(job)
            every = range(len(machine.sizes))
            sets = [set(self.parts.get(name, {}).get("nodes", every)) for name in names or [""]]
            wide = [nodes for nodes in sets if len(nodes - shut) >= least]
            if rank in begun or over(rank) or own in closed:
                continue
            if not own and not wide:
                shut |= set().union(*sets)
                continue
            held = machine.without(set() if own else shut).earliest(job, [*running.values()], now)
            if held and held.start == now:
                begun.add(rank)
                start(rank, held)
            elif own:
                closed.add(own)
            else:
                shut |= set().union(*wide)
        self.again = inf
        if not order() or now < self.last + self.set["bf_interval"]:
            self.again = self.last + self.set["bf_interval"] if order() else inf
            return
        self.last = now
        future = Map(machine, [*running.values()], now, self.set["bf_resolution"])
        seen: list[str] = []
        begun = set()
        for rank, names in order()[: int(self.set["bf_max_job_test"])]:
            if rank in begun:
                continue
            job = {**jobs[rank], **({"partitions": names} if names else {})}
            seen.append(jobs[rank]["user"])
            if seen.count(jobs[rank]["user"]) > (self.set["bf_max_job_user"] or inf) or over(rank):
                continue
            found = future.find(job, now + self.set["bf_window"])
            if found and found[0] == now:
                held = Held(now, now + job["estimate"], found[1])
                future.running.append(held)
                begun.add(rank)
                start(rank, held)
            elif found:
                future.plan(found[0], found[0] + job["estimate"], {*found[1]})


def schedule(case: dict[str, Any], policy: str) -> dict[str, tuple[float, list[int]]]:
    """Return for each job that can ever start, by its id: (start, indices of its nodes)."""
    machine = Plain(case)
    limits = [(word, most) for limit in case.get("limits", []) for word, most in limit.items() if word != "user"]
    limits = [(word, most) for word, most in limits if word != "submit"]
    alone = [job for job in case["jobs"] if all(amount(job, word) <= most for word, most in limits)]
    may_cancel = any("submit" in limit for limit in case.get("limits", []))
    known = possible(case["jobs"], [job for job in alone if machine.fits_empty(job)], may_cancel)
    jobs = [job for job in case["jobs"] if job["id"] in known]
    after = [known[job["id"]] for job in jobs]
    order = sorted(range(len(jobs)), key=lambda rank: (jobs[rank]["submit"], rank))
    jobs, after = [machine.timed(jobs[rank]) for rank in order], [after[rank] for rank in order]
    places = {job["id"]: rank for rank, job in enumerate(jobs)}
    ends, cancelled = [inf] * len(jobs), set[int]()

    def misses(kind: str, one: str) -> bool:
        other = places[one]
        return ends[other] <= now and not is_met(kind, other in cancelled or is_bad(jobs[other]))

    def is_hopeless(rank: int) -> bool:
        return (all if "?" in jobs[rank]["dependency"] else any)(misses(*each) for each in after[rank])

    def comes(rank: int) -> float:
        met = [
            inf
            if misses(kind, one)
            else started.get(one, [ends[places[one]]])[0]
            if kind == "after"
            else ends[places[one]]
            for kind, one in after[rank]
        ]
        first_of = min if "?" in jobs[rank].get("dependency", "") else max
        return max(float(jobs[rank]["submit"]), first_of(met)) if met else float(jobs[rank]["submit"])

    running: dict[int, Held] = {}
    planned: dict[int, Held] = {}
    waiting: list[int] = []
    arrived: dict[int, float] = {}
    started: dict[str, tuple[float, list[int]]] = {}
    to_come, now, first = list(range(len(jobs))), -inf, min((job["submit"] for job in jobs), default=inf)
    slurm = Slurm(case, policy if policy.startswith("slurm") else "")

    def start(rank: int, held: Held) -> None:
        running[rank], ends[rank] = held, now + min(jobs[rank]["run"], jobs[rank]["estimate"])
        started[jobs[rank]["id"]] = (now, sorted(held.amounts))
        waiting.remove(rank)
        planned.pop(rank, None)

    def fits(rank: int) -> Held | None:
        held = machine.earliest(jobs[rank], [*running.values()], now)
        return held if held and held.start == now else None

    def by_priority() -> list[tuple[int, list[str]]]:
        entries = [(rank, names) for rank in waiting for names in slurm.tries(jobs[rank], machine)]
        if not slurm.has_priorities:
            return sorted(entries, key=lambda entry: -slurm.tier(jobs[entry[0]], entry[1]))
        users = {jobs[rank]["user"] for rank in range(len(jobs)) if rank not in to_come}
        ran = [(job, started[job["id"]][0], ends[rank]) for rank, job in enumerate(jobs) if job["id"] in started]
        keyed = [
            (-slurm.tier(jobs[rank], own), -slurm.priority(jobs[rank], arrived[rank], now, users, ran, own), rank, own)
            for rank, own in entries
        ]
        return [(rank, own) for *_, rank, own in sorted(keyed, key=lambda each: each[:3])]

    def over(rank: int) -> bool:
        for limit in case.get("limits", []):
            mine = [jobs[rank], *(jobs[other] for other in running)]
            own = [job for job in mine if all(job[word] == jobs[rank][word] for word in ("user",) if word in limit)]
            for word in set(limit) - {"user", "submit"}:
                if sum(amount(job, word) for job in own) > limit[word] and own:
                    return True
        return False

    def one_pass() -> bool:
        """Make one pass over the queue. Return True if it started a job that brings others to a limit, so that another
        pass is needed."""
        head: tuple[int, Held] | None = None
        before = [rank for rank in waiting if over(rank)]
        for rank in [rank for rank in waiting if rank not in before]:
            held = fits(rank)
            if head is None and held is None:
                shadow = machine.earliest(jobs[rank], [*running.values()], now)
                over_at = [each["end"] for each in machine.kept if each["name"] == jobs[rank].get("reservation")]
                head = (rank, shadow or Held(over_at[0], over_at[0], {}))
                if policy == "fcfs":
                    return False
            elif held is not None:
                late = policy == "easy" and head is not None and held.until > head[1].start
                if late and head is not None:
                    at = head[1].start
                    then = machine.worst([*running.values(), held], at, at + jobs[head[0]]["estimate"])
                    if machine.choose_at(jobs[head[0]], then, at) is None:
                        continue
                start(rank, held)
                if [rank for rank in waiting if over(rank)] != before:
                    return True
        return False

    while to_come or running or waiting:
        times = [comes(rank) for rank in to_come if comes(rank) >= now] + [ends[rank] for rank in running]
        times += [slurm.again] if policy.startswith("slurm") else []
        times += [each[word] for each in machine.kept for word in ("start", "end") if each[word] > max(now, first)]
        now = min(times + [held.start for held in planned.values() if held.start > now])
        gone = [rank for rank in running if ends[rank] == now]
        early = any(running[rank].until > now for rank in gone)
        for rank in gone:
            del running[rank]
        came = [rank for rank in to_come if comes(rank) <= now]
        to_come = [rank for rank in to_come if rank not in came]
        for limit in case.get("limits", []):
            for rank in [rank for rank in came if "submit" in limit]:
                here = [*waiting, *running, *(other for other in came if other < rank)]
                own = [other for other in here if "user" not in limit or jobs[other]["user"] == jobs[rank]["user"]]
                if len(own) >= limit["submit"]:
                    came, ends[rank] = [other for other in came if other != rank], now
                    cancelled.add(rank)
        for rank in to_come.copy():
            if comes(rank) == inf and is_hopeless(rank):
                to_come.remove(rank)
                cancelled.add(rank)
                ends[rank] = now
        over_now = {each["name"] for each in machine.kept if each["end"] <= now}
        in_order = sorted([*waiting, *came], key=lambda rank: (arrived.get(rank, now), rank))
        waiting = [rank for rank in in_order if jobs[rank].get("reservation") not in over_now]
        ends = [now if rank in came and rank not in waiting else end for rank, end in enumerate(ends)]
        came = [rank for rank in came if rank in waiting]
        arrived |= dict.fromkeys(came, now)
        if policy.startswith("conservative"):
            if early and not policy.endswith("none"):
                for rank in sorted(planned, key=lambda rank: (planned[rank].start, rank)):
                    others = [held for other, held in planned.items() if other != rank]
                    found = machine.earliest(jobs[rank], [*running.values(), *others], now)
                    if found and found.start < planned[rank].start:
                        planned[rank] = found
            for rank in came:
                found = machine.earliest(jobs[rank], [*running.values(), *planned.values()], now)
                assert found is not None
                planned[rank] = found
            for rank in [rank for rank in waiting if planned[rank].start <= now]:
                start(rank, planned[rank])
            continue
        if policy.startswith("slurm"):
            slurm.run(now, by_priority, jobs, machine, running, start, over)
            continue
        while one_pass():
            pass
    return started
