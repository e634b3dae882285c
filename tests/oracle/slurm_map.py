"""Slurm's search for the start of a job beside planned jobs, which hold whole nodes, and its choice of nodes, both in
a plain form."""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.oracle.nodes import Held, Plain


def fill_runs(room: dict[int, int], wanted: int, least: int, most: int) -> dict[int, int] | None:
    """Return how many tasks each node gets, by the rule `consecutive`; `room` has how many fit on which node."""
    runs: list[list[int]] = []
    for node in sorted(room):
        if runs and runs[-1][-1] == node - 1:
            runs[-1].append(node)
        else:
            runs.append([node])
    counts: dict[int, int] = {}

    def left() -> tuple[int, int]:
        return wanted - sum(counts.values()), least - len(counts)

    while runs and len(counts) < most:
        tasks, nodes = left()
        sums = [sum(room[node] for node in run) for run in runs]
        enough = [has for has, run in zip(sums, runs, strict=True) if has >= tasks and len(run) >= nodes]
        run = runs.pop(
            next(n for n, has in enumerate(sums) if has == min(enough) and len(runs[n]) >= nodes)
            if enough
            else sums.index(max(sums))
        )
        single = [node for node in run if room[node] >= tasks] if nodes <= 1 else []
        for node in sorted(single, key=lambda node: room[node])[:1] or run:
            tasks, nodes = left()
            if (tasks <= 0 and nodes <= 0) or len(counts) == most:
                break
            if len(counts) + 1 < most or room[node] >= tasks:
                counts[node] = max(1, min(room[node], tasks - max(nodes - 1, 0)))
        tasks, nodes = left()
        if tasks <= 0 and nodes <= 0:
            return counts
    return None


class Map:
    """Jobs that run and jobs that are planned, as Slurm's backfill sees them at the time `now`."""

    def __init__(self, machine: Plain, running: list[Held], now: float, step: float) -> None:
        self.machine, self.running, self.now, self.step = machine, running, now, step
        self.planned: list[tuple[float, float, set[int]]] = []
        """For each planned job: (start, end, indices of its nodes)."""

    def open_at(self, time: float) -> frozenset[int]:
        taken = [nodes for start, end, nodes in self.planned if start <= time < end]
        return frozenset(range(len(self.machine.sizes))).difference(*taken)

    def records(self) -> list[tuple[float, float, frozenset[int]]]:
        """Return (start, end, open nodes) for each time in which the same nodes are open."""
        times = sorted({self.now, *(t0 for start, end, _ in self.planned for t0 in (start, end) if t0 > self.now)})
        kept = [at for n, at in enumerate(times) if not n or self.open_at(at) != self.open_at(times[n - 1])]
        return [(at, until, self.open_at(at)) for at, until in zip(kept, [*kept[1:], inf], strict=True)]

    def plan(self, start: float, end: float, nodes: set[int]) -> None:
        first, last = self.rounded(start, end)
        self.planned.append((first, last, nodes))

    def rounded(self, start: float, end: float) -> tuple[float, float]:
        first = max(start // self.step * self.step, self.now)
        return first, max(end // self.step * self.step, first + self.step)

    def find(self, job: dict[str, Any], until: float) -> tuple[float, dict[int, tuple[int, int, int]]] | None:
        """Return the start of the job and what it gets of which nodes; None if there is no start up to `until`."""
        time: float | None = self.now
        mine = [each for each in self.machine.kept if each["name"] == job.get("reservation", "-")]
        while time is not None:
            begin = max([time, *(each["start"] for each in mine)])
            if any(begin >= each["end"] for each in mine):
                return None
            usable, time = self.usable(job, begin)
            found = self.beside_running(job, usable)
            if found is None:
                continue
            start = max(found[0], begin)
            if start == self.now:
                return start, found[1]
            if time is not None and start > time:
                continue
            if start > until:
                return None
            first, last = self.rounded(start, start + job["estimate"])
            near = [nodes for at, end, nodes in self.planned if at < last and end > first]
            if start == begin or not any(nodes & found[1].keys() for nodes in near):
                return start, found[1]
            time = start
        return None

    def usable(self, job: dict[str, Any], begin: float) -> tuple[set[int], float | None]:
        """Return the nodes open to the job from `begin` to its end, and when to try next if that is too little."""
        end = begin + job["estimate"]
        names = job.get("partitions", [])
        every = range(len(self.machine.sizes))
        own = {node for name in names or [""] for node in self.machine.parts.get(name, {}).get("nodes", every)}
        allowed = own.intersection(self.machine.may_use(job, begin))
        nodes, following = set(allowed), list[float]()
        records = self.records()
        for (at, until, free), after in zip(records, [*records[1:], None], strict=True):
            if until <= begin:
                continue
            if after is not None and (allowed & after[2]) - (nodes & free):
                following.append(until)
            if at > end:
                break
            nodes &= free
        ends = [each["end"] for each in self.machine.kept if each["end"] > begin]
        if self.machine.is_kept_from(job, begin):
            following = [*following[:1], min(ends)]
        return nodes, min(following[:1] + following[-1:], default=None)

    def beside_running(
        self, job: dict[str, Any], usable: set[int]
    ) -> tuple[float, dict[int, tuple[int, int, int]]] | None:
        """Return when the job fits on these nodes as running jobs end, in groups of ends, and what it gets then."""
        left = list(self.running)

        def chosen() -> dict[int, tuple[int, int, int]] | None:
            free = self.machine.worst([one._replace(start=self.now) for one in left], self.now, self.now + 1)
            return self.machine.choose(job, [have if n in usable else (0, 0, 0) for n, have in enumerate(free)])

        if (found := chosen()) is not None:
            return self.now, found
        edge, window = inf, 30.0
        while mine := sorted(one.until for one in left if usable & one.amounts.keys()):
            edge = min(edge, mine[0] // 30 * 30 + 30)
            limit = max(edge + window, mine[0])
            left = [one for one in left if one.until > limit]
            window *= 2
            while left and min(one.until for one in left) > edge + window:
                window *= 2
            if (found := chosen()) is not None:
                return max(end for end in mine if end <= limit), found
        return None
